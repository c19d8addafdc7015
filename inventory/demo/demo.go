// Package demo sets up a whole installation on one machine, for a person to try and for the end-to-end test to look at:
// a database, two backends and two web apps behind HAProxy on one TLS origin, and a host to cut into units.
package demo
