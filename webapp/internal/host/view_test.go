package host

import (
	"testing"

	"kloigos/backend/api"
)

// TestWhatAHostCarries: a host that is not set up does not deny the units that stand below on its page.
func TestWhatAHostCarries(t *testing.T) {
	t.Parallel()
	for want, units := range map[string]map[string]int{
		"It carries no units yet.":                                               {"removed": 3},
		"Its units are not prepared yet.":                                        {"planned": 2, "removed": 1},
		"Not all of its units could be prepared, and none can be allocated yet.": {"planned": 1, "free": 1},
	} {
		if got := carries(api.Host{State: "init_failed", Units: units}); got != want {
			t.Errorf("%v: %q, want %q", units, got, want)
		}
	}
}
