//go:build e2e_steady

package e2e_test

import (
	"testing"

	"kloigos/rig/demo"
)

// TestSteady looks at what keeps hosts as promised while nobody is logged in.
func TestSteady(t *testing.T) {
	checked(t, demo.Options{Backends: 2}, (*demo.Installation).SteadyChecks)
}

// TestPackages looks at the Debian packages, on a machine that is no host yet.
func TestPackages(t *testing.T) {
	checked(t, demo.Options{Backends: 2, Bare: true}, (*demo.Installation).PackageChecks)
}
