//go:build e2e

package e2e_test

import (
	"testing"

	"kloigos/rig/demo"
)

// TestDemo looks at all but what TestNetworks looks at.
func TestDemo(t *testing.T) { checked(t, demo.Options{Backends: 3}, (*demo.Installation).Checks) }
