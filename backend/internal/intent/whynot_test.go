package intent_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

func whyNot(t *testing.T, err error) domain.WhyNot {
	t.Helper()
	var none *intent.NoCapacity
	if !errors.As(err, &none) {
		t.Fatalf("not a lack of capacity: %v", err)
	}
	return none.Why
}

func TestWhyNot(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	_, _, err := s.Allocate(intent.CreateAllocation{})
	if why := whyNot(t, err); why.Units != 0 || !strings.Contains(why.Nearest, "add a host") {
		t.Errorf("an empty installation: %+v", why)
	}
	s.AddAddresses("default", 9)
	h1 := s.ReadyHost(site.HostSpec{Name: "h1", Region: "eu", Zone: "a", Labels: map[string]string{"disk": "ssd"}, Units: []string{"1", "2-3"}})
	h2 := s.ReadyHost(site.HostSpec{Name: "h2", Region: "us", Zone: "b", Units: []string{"1-4"}})
	u1 := s.Units(h1.ID)
	if err := s.Intents.CloseUnit(t.Context(), s.Call, u1[0].ID, 0); err != nil {
		t.Fatal(err)
	}
	host := func(id uuid.UUID) *uuid.UUID { return &id }
	for name, c := range map[string]struct {
		r       intent.CreateAllocation
		ruled   map[string]int
		nearest string
	}{
		"too many CPUs":          {intent.CreateAllocation{CPUs: 5}, map[string]int{"unit_state": 1, "cpu_count": 2}, "Ask for 4 CPUs: that is the largest free unit that otherwise fits."},
		"CPUs in a region":       {intent.CreateAllocation{CPUs: 3, Region: "eu"}, map[string]int{"unit_state": 1, "cpu_count": 1, "region": 1}, "Ask for 2 CPUs: that is the largest free unit that otherwise fits."},
		"region":                 {intent.CreateAllocation{CPUs: 1, Region: "ap"}, map[string]int{"unit_state": 1, "region": 2}, `Leave out region "ap".`},
		"zone":                   {intent.CreateAllocation{CPUs: 1, Region: "eu", Zone: "b"}, map[string]int{"unit_state": 1, "region": 1, "zone": 1}, `Leave out region "eu".`},
		"labels":                 {intent.CreateAllocation{CPUs: 1, HostLabels: map[string]string{"disk": "hdd"}}, map[string]int{"unit_state": 1, "host_labels": 2}, "Leave out some of the host labels."},
		"network":                {intent.CreateAllocation{CPUs: 1, Network: "other"}, map[string]int{"unit_state": 1, "network": 2}, ""},
		"a closed unit":          {intent.CreateAllocation{UnitID: &u1[0].ID}, map[string]int{"unit_state": 1, "unit": 2}, "Leave out the unit."},
		"a host with too little": {intent.CreateAllocation{CPUs: 3, HostID: host(h1.ID)}, map[string]int{"unit_state": 1, "host": 1, "cpu_count": 1}, "Leave out the host."},
	} {
		_, _, err := s.Allocate(c.r)
		why := whyNot(t, err)
		got := map[string]int{}
		for _, r := range why.RuledOut {
			got[r.Filter] = r.Units
			if r.Why == "" {
				t.Errorf("%s: %s does not say why", name, r.Filter)
			}
		}
		if diff := cmp.Diff(c.ruled, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if c.nearest != "" && why.Nearest != c.nearest || why.Units != 3 {
			t.Errorf("%s: of %d units: %q", name, why.Units, why.Nearest)
		}
	}
	for _, h := range []store.Host{h1, h2} {
		if err := s.Intents.DrainHost(t.Context(), s.Call, h.ID, 0); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = s.Allocate(intent.CreateAllocation{})
	if why := whyNot(t, err); !strings.Contains(why.Nearest, "host is ready") {
		t.Errorf("drained: %+v", why)
	}
	if err := s.Intents.UndrainHost(t.Context(), s.Call, h1.ID, 0); err != nil {
		t.Fatal(err)
	}
	// Labels that match, a unit that is named, and nothing of it is refused.
	if _, _, err := s.Allocate(intent.CreateAllocation{UnitID: &u1[1].ID, HostLabels: map[string]string{"disk": "ssd"}, Region: "eu", Zone: "a", Network: "default"}); err != nil {
		t.Error(err)
	}
}

func TestBadRequestsNameEveryField(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	_, key := site.NewKey(t)
	unit := uuid.New()
	_, _, err := s.Intents.CreateAllocation(t.Context(), s.Call, intent.CreateAllocation{
		CPUs: 1 << 40, UnitID: &unit, Region: "{{x}}", Zone: "A", Network: "a b", LoginUser: "root", SSHKeys: []string{key, "x", key},
		HostLabels: map[string]string{"A": ""}, Labels: map[string]string{"a": "\n"},
	})
	var bad *domain.Invalid
	if !errors.As(err, &bad) {
		t.Fatal(err)
	}
	var fields []string
	for _, f := range bad.Fields {
		fields = append(fields, f.Field)
	}
	slices.Sort(fields)
	want := []string{"cpu_count", "cpu_count", "host_labels", "labels", "login_user", "network", "region", "ssh_keys[1]", "ssh_keys[2]", "zone"}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Error(diff)
	}
	_, _, err = s.Intents.RegisterHost(t.Context(), s.Call, intent.RegisterHost{
		Name: "all", Address: "169.254.169.254", Port: 70000,
		AdminUser: "-x", Region: "A", Zone: "A", Networks: []string{"a", "a"}, Labels: map[string]string{"A": ""}, Profile: "large", HostKey: "ssh-dss AAAA",
	})
	if !errors.As(err, &bad) || len(bad.Fields) != 10 {
		t.Errorf("%v", err)
	}
	_, err = s.Intents.AddAddresses(t.Context(), s.Call, "A", []intent.AddressRange{
		{Range: "x"}, {Range: "10.0.0.1-10.0.0.2", Endpoint: "h:1"}, {Range: "10.0.0.9", Endpoint: "h:99999"}, {Range: "10.1.0.0-10.1.15.255"},
	})
	if !errors.As(err, &bad) || len(bad.Fields) != 5 {
		t.Errorf("%v", err)
	}
	if _, err = s.Intents.AddAddresses(t.Context(), s.Call, "default", nil); !errors.As(err, &bad) {
		t.Errorf("no addresses: %v", err)
	}
	hosts, err := s.DB.Hosts(t.Context(), store.HostFilter{WorkspaceID: domain.DefaultWorkspace, Limit: 9})
	if err != nil || len(hosts) != 0 {
		t.Errorf("something was written: %v, %v", hosts, err)
	}
}
