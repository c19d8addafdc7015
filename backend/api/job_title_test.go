package api

import "testing"

func TestJobTitle(t *testing.T) {
	t.Parallel()
	for want, j := range map[string]Job{
		"Initialize host fra2-042":         {Kind: "host_initialize", Host: "fra2-042"},
		"Allocate fra1-076-cu20 to alice":  {Kind: "unit_allocate", Host: "fra1-076", Unit: "fra1-076-cu20", LoginUser: "alice"},
		"Allocate a unit to alice":         {Kind: "unit_allocate", Host: "fra1-076", LoginUser: "alice"},
		"Deallocate unit":                  {Kind: "unit_deallocate"},
		"Probe 12 hosts":                   {Kind: "hosts_probe", HostCount: 12},
		"Probe 1 host":                     {Kind: "hosts_probe", HostCount: 1},
		"Check a plan for fra2-042":        {Kind: "plan", Host: "fra2-042"},
		"kind of newer backend":            {Kind: "kind_of_newer_backend", Host: "h1"},
		"Replace SSH keys of bob on h1-u1": {Kind: "allocation_keys", Unit: "h1-u1", LoginUser: "bob"},
	} {
		if got := j.Title(); got != want {
			t.Errorf("%s: %q, want %q", j.Kind, got, want)
		}
	}
}
