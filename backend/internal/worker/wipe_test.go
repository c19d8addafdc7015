package worker_test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// TestTheEvidenceOfWipesStays: the last one on the unit's record, also while
// the next tenant has the unit, and all of them among its events.
func TestTheEvidenceOfWipesStays(t *testing.T) {
	t.Parallel()
	p := place{Site: site.New(t)}
	p.AddAddresses("default", 1)
	h := p.ReadyHost(site.HostSpec{Units: []string{"1"}})
	p.Backend()
	unit := func() store.Unit { return p.Units(h.ID)[0] }
	var tenants, jobs []uuid.UUID
	for range 2 {
		a, job, err := p.Allocate(intent.CreateAllocation{})
		if err != nil {
			t.Fatal(err)
		}
		p.Ended(job, domain.JobSucceeded)
		if n := len(tenants); n > 0 && (unit().Wipe == nil || unit().Wipe.AllocationID != tenants[n-1].String()) {
			t.Errorf("with the next tenant in it, the unit's record says %+v", unit().Wipe)
		}
		done := p.deallocate(a)
		p.Ended(done, domain.JobSucceeded)
		tenants, jobs = append(tenants, a), append(jobs, done)
		got := p.Allocation(a)
		w := unit().Wipe
		if w == nil || w.AllocationID != a.String() || w.JobID != done.String() || w.LoginUser != got.LoginUser || w.UID != got.UID || unit().WipedAt == nil ||
			w.Device != "/dev/kloigos-vg/cu01" || w.Bytes != unit().VolumeBytes || len(w.Removed) != 1 || w.Removed[0].Kind != "crontab" {
			t.Errorf("the record says %+v", w)
		}
	}
	var told []string
	for _, e := range p.Events(unit().ID) {
		var after struct{ Wipe domain.Wipe }
		if e.Action != "unit.wipe" || json.Unmarshal(e.After, &after) != nil {
			continue
		}
		told = append(told, after.Wipe.JobID)
	}
	if len(told) != 2 || told[0] != jobs[0].String() || told[1] != jobs[1].String() {
		t.Errorf("the events tell of the wipes of %v, not of %v", told, jobs)
	}
}
