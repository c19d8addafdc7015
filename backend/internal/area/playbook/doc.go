// Package playbook owns deliveries of versions of playbooks: canary hosts are given a version first, jobs of each host prove it,
// and the version becomes the default when each host was reached. Playbooks and their versions themselves are still in the
// packages store, intent and httpapi.
package playbook
