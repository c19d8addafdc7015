package rollout

import (
	"slices"
	"testing"
)

// TestStatesAreExplained: each state that a rollout can have is in the table, and the table agrees with Ended.
func TestStatesAreExplained(t *testing.T) {
	t.Parallel()
	all := []State{Running, Paused, Halted, Returning, Done, Returned}
	if len(all) != len(states.States) {
		t.Fatalf("%d states, %d in the table", len(all), len(states.States))
	}
	seen := []string{}
	for _, s := range all {
		info := states.Info(s)
		if !states.Has(s) || slices.Contains(seen, s.Means()) || info.Final != s.Ended() {
			t.Errorf("%s: %+v", s, info)
		}
		seen = append(seen, s.Means())
	}
}
