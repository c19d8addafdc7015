package job_test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
)

// all holds one of each kind.
func all(host, unit, allocation uuid.UUID) []job.Args {
	return []job.Args{
		job.HostProbe{HostID: host},
		job.HostsProbe{HostIDs: []uuid.UUID{host, uuid.New()}},
		job.HostMeasure{HostID: host, Samples: 3},
		job.HostInitialize{HostID: host, Refence: true},
		job.HostRelayout{HostID: host},
		job.HostDecommission{HostID: host},
		job.UnitAllocate{HostID: host, UnitID: unit, AllocationID: allocation},
		job.UnitDeallocate{HostID: host, UnitID: unit, AllocationID: allocation},
		job.AllocationKeys{HostID: host, UnitID: unit, AllocationID: allocation},
		job.AllocationNetwork{HostID: host, UnitID: unit, AllocationID: allocation},
		job.Plan{PlanID: uuid.New(), HostID: host, UnitID: unit, AllocationID: allocation},
	}
}

// TestKindsAreThoseOfTheJointTable, one arguments type for each, and they name
// what the table moves.
func TestKindsAreThoseOfTheJointTable(t *testing.T) {
	t.Parallel()
	host, unit, allocation := uuid.New(), uuid.New(), uuid.New()
	seen := map[domain.JobKind]bool{}
	for _, args := range all(host, unit, allocation) {
		joint, ok := domain.JointOf(args.Kind())
		if !ok || seen[args.Kind()] {
			t.Errorf("kind %q is not in the joint table, or twice here", args.Kind())
		}
		seen[args.Kind()] = true
		s := args.Subject()
		of, several := args.(job.OfSeveral)
		if several != joint.Several || several && (len(of.Hosts()) != 2 || len(s) > 0) {
			t.Errorf("%s is about several hosts: %v, %+v", args.Kind(), several, s)
		}
		if !several && s[domain.OfHost] != host || joint.Start.On(domain.OfAllocation) != "" && (s[domain.OfAllocation] != allocation || s[domain.OfUnit] != unit) || joint.Start.On(domain.OfHost) != "" && s[domain.OfUnit] != uuid.Nil {
			t.Errorf("%s is about %+v", args.Kind(), s)
		}
		text, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		for name, value := range fields {
			_, flag := value.(bool)
			_, count := value.(float64)
			id, _ := value.(string)
			if ids, many := value.([]any); many && len(ids) > 0 {
				id, _ = ids[0].(string)
			}
			if _, err := uuid.Parse(id); err != nil && !flag && !count {
				t.Errorf("%s.%s is %v: arguments hold ids only", args.Kind(), name, value)
			}
		}
		if p := job.PolicyOf(args.Kind()); p.MaxAttempts < 1 || p.Deadline <= 0 {
			t.Errorf("%s: %+v", args.Kind(), p)
		}
	}
	for _, j := range domain.JointTable {
		if !seen[j.Kind] {
			t.Errorf("kind %s has no arguments", j.Kind)
		}
		for _, s := range domain.HostLifecycle.States {
			if s.State == domain.HostProbing && j.Kind == domain.KindHostProbe && job.PolicyOf(j.Kind).Deadline > s.Deadline {
				t.Errorf("a probe may take longer than a host may be probing")
			}
		}
	}
}
