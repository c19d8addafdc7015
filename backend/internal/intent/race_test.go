package intent_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// TestDecommissionAgainstAllocate: one of the two wins, never both.
func TestDecommissionAgainstAllocate(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 50)
	wins := map[string]int{}
	for range 12 {
		h := s.ReadyHost(site.HostSpec{Units: []string{"1", "2"}})
		var decommission, allocate error
		var both sync.WaitGroup
		both.Go(func() { _, decommission = s.Intents.DecommissionHost(t.Context(), s.Call, h.ID, 0) })
		both.Go(func() { _, _, allocate = s.Allocate(intent.CreateAllocation{HostID: &h.ID}) })
		both.Wait()
		state, free := s.Host(h.ID), s.Host(h.ID).Units["free"]
		switch {
		case decommission == nil && allocate != nil:
			wins["decommission"]++
			if state.State != domain.HostDecommissioning || state.Units["removing"] != 2 || state.LiveAllocations != 0 {
				t.Errorf("%+v", state)
			}
			whyNot(t, allocate)
		case decommission != nil && allocate == nil:
			wins["allocate"]++
			if state.State != domain.HostReady || free != 1 || state.LiveAllocations != 1 {
				t.Errorf("%+v", state)
			}
			if c := (*domain.Conflict)(nil); !errors.As(decommission, &c) {
				t.Errorf("not a conflict: %v", decommission)
			}
		default:
			t.Errorf("decommission %v, allocate %v", decommission, allocate)
		}
	}
	t.Log(wins)
}

// TestDeclaredLostAgainstAllocate: nothing lives on a host that is lost. The
// placement has its unit and has not committed when the host is declared lost.
func TestDeclaredLostAgainstAllocate(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 3)
	h := s.ReadyHost(site.HostSpec{Units: []string{"1"}})
	unit := s.Units(h.ID)[0]
	lost := make(chan error, 1)
	a := uuid.New()
	err := s.DB.InTx(t.Context(), func(tx *store.Tx) error {
		if _, ok, err := tx.PickUnit(t.Context(), store.Wanted{WorkspaceID: domain.DefaultWorkspace, MinCPUs: 1}); err != nil || !ok {
			return fmt.Errorf("%v: %w", ok, err)
		}
		go func() { lost <- s.Intents.DeclareHostLost(t.Context(), s.Call, h.ID, 0, h.Name) }()
		site.Eventually(t, "the other one to wait", func() bool { return waiting(s) > 0 })
		address, ok, err := tx.ReserveAddress(t.Context(), domain.DefaultWorkspace, "default", a)
		if err != nil || !ok {
			return fmt.Errorf("%v: %w", ok, err)
		}
		return tx.InsertAllocation(t.Context(), store.Allocation{
			ID: a, WorkspaceID: domain.DefaultWorkspace, UnitID: unit.ID, HostID: h.ID, LoginUser: "ada",
			UID: 200001, Address: address, Network: "default", UnitNetwork: domain.NetworkOfHost, SSHKeys: []string{}, Labels: map[string]string{}, State: domain.AllocationAllocating, CreatedBy: "ada",
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := site.Await(t, "the declaration", lost); err != nil {
		t.Fatal(err)
	}
	if got := s.Host(h.ID); got.State != domain.HostLost || got.LiveAllocations != 0 || len(got.Units) != 0 || s.Allocation(a).State != domain.AllocationLost {
		t.Errorf("%+v, allocation %s", got, s.Allocation(a).State)
	}
}

func TestTwoLayoutsAtOnce(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	srv := site.NewSSHServer(t)
	s.Backend()
	host, job, err := s.Intents.RegisterHost(t.Context(), s.Call, intent.RegisterHost{Name: "h1", Address: "127.0.0.1", Port: srv.Port, AdminUser: "operator1", TrustOnFirstUse: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Ended(job, domain.JobSucceeded)
	errs := make([]error, 8)
	var done sync.WaitGroup
	for i := range errs {
		done.Go(func() {
			_, errs[i] = s.Intents.SetLayout(t.Context(), s.Call, host, 0, domain.LayoutRequest{Count: 1 + i%3, CPUsEach: 1, Devices: []string{site.Disk}})
		})
	}
	done.Wait()
	set := 0
	for _, err := range errs {
		c := (*domain.Conflict)(nil)
		switch {
		case err == nil:
			set++
		case !errors.As(err, &c):
			t.Errorf("not a conflict: %v", err)
		}
	}
	if h := s.Host(host); set == 0 || h.Units["preparing"] != len(h.Layout.Units) {
		t.Errorf("%d were set; %v, %d in the layout", set, h.Units, len(h.Layout.Units))
	}
}
