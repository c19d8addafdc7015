// Package release owns deliveries of releases of Kloigos itself: which machine of a backend or web app is next, whether it runs
// the new version, and when to stop. It replaces no program: people, or their tools, do so on the machines that are told.
package release
