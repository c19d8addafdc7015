//go:build e2e_network

package e2e_test

import (
	"testing"

	"kloigos/rig/demo"
)

// TestNetworks looks at units with networks of their own: how one gets it, what holds it, and what a tenant can't do there.
func TestNetworks(t *testing.T) {
	checked(t, demo.Options{Backends: 2}, (*demo.Installation).NetworkChecks)
}
