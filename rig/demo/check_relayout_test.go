package demo

import (
	"fmt"
	"testing"

	"kloigos/backend/api"
)

// TestRelayoutShowsVolumes: whichever of the two units is free, its volume goes and one with a new number comes.
func TestRelayoutShowsVolumes(t *testing.T) {
	t.Parallel()
	volume := func(action string, ordinal int) api.PlanChange {
		return api.PlanChange{Action: action, Kind: "volume", Name: fmt.Sprintf("kloigos-vg/cu%02d", ordinal)}
	}
	unit := func(ordinal int) api.ComputeUnit {
		return api.ComputeUnit{Ordinal: ordinal, Mount: fmt.Sprintf("/mnt/kloigos/demo/cu%02d", ordinal)}
	}
	for _, c := range []struct {
		goes, stays int
		changes     []api.PlanChange
		well        bool
	}{
		{goes: 2, stays: 1, changes: []api.PlanChange{volume("remove", 2), volume("create", 3)}, well: true},
		{goes: 1, stays: 2, changes: []api.PlanChange{volume("remove", 1), volume("create", 3)}, well: true},
		{goes: 1, stays: 2, changes: []api.PlanChange{volume("remove", 1), volume("create", 2)}},
		{goes: 1, stays: 2, changes: []api.PlanChange{volume("remove", 2), volume("create", 3)}},
		{goes: 1, stays: 2, changes: []api.PlanChange{volume("remove", 1)}},
		{goes: 1, stays: 2, changes: []api.PlanChange{volume("create", 3)}},
		{goes: 1, stays: 2, changes: []api.PlanChange{
			volume("remove", 1), volume("create", 3), {Action: "change", Kind: "mount", Name: "/mnt/kloigos/demo/cu02"},
		}},
	} {
		if err := showsVolumes(api.Plan{Changes: c.changes}, unit(c.goes), unit(c.stays)); (err == nil) != c.well {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
