package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

// fleet is a capacity of so many hosts in two places.
func fleet(hosts int) api.Capacity {
	c := api.Capacity{At: apitest.Now, Hosts: []api.CapacityHost{}}
	for n, zone := range []string{"a", "b"} {
		c.Places = append(c.Places, api.CapacityPlace{
			Region: "north", Zone: zone, Hosts: map[string]int{"ready": hosts/2 - 1, "lost": n},
			Units: map[string]api.CapacityShare{
				"free":        {Units: 1200, CPUs: 2400, MemoryBytes: 3 << 40, VolumeBytes: 1 << 40},
				"allocated":   {Units: 800, CPUs: 1600, MemoryBytes: 1 << 40, VolumeBytes: 1 << 40},
				"unavailable": {Units: 1, CPUs: 2, MemoryBytes: 1 << 30, VolumeBytes: 1 << 30},
			},
		})
	}
	for n := range hosts {
		c.Hosts = append(c.Hosts, api.CapacityHost{
			ID: fmt.Sprintf("5d3f1c1e-0000-4000-8000-%012d", n), Name: fmt.Sprintf("h%04d", hosts-n), Region: "north", Zone: []string{"a", "b"}[n%2],
			State: "ready", Health: "healthy", Units: map[string]int{"free": 3, "allocated": 17}, LaidOut: true,
		})
	}
	return c
}

// TestNobodyWorks: jobs that are not begun wait for a person, who finds the reason.
func TestNobodyWorks(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const waits, none = "Jobs do not start", "No backend with the role worker is alive"
	for _, path := range []string{"/", "/system"} {
		if a := s.get(path); strings.Contains(a.body, waits) || strings.Contains(a.body, none) {
			t.Errorf("%s says that nobody works", path)
		}
	}
	s.api.Answer("get-queue", 200, api.Queue{Queued: 3, OldestQueuedSeconds: 3 * 3600})
	s.api.Answer("get-system", 200, api.System{Backends: []api.Backend{
		{ID: apitest.JobID, Name: "backend-1", Roles: "api", Alive: true},
		{ID: apitest.UnitID, Name: "backend-2", Roles: "api,worker"},
	}})
	s.wantText(s.get("/"), waits, "The first in the queue waits for 3 h")
	s.wantText(s.get("/system"), none)
	s.api.Answer("get-queue", 200, api.Queue{Queued: 3, OldestQueuedSeconds: 3 * 3600, Paused: true})
	if strings.Contains(s.get("/").body, waits) {
		t.Error("a queue that is paused is said to be stuck")
	}
}

// TestAreasSayWhatWaits: the overview shows what areas hand in. If one area is refused, the others are shown.
func TestAreasSayWhatWaits(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const zone, promise = "DNS zone example.org: held", "Drift: 1 promise"
	if a := s.get("/"); strings.Contains(a.body, zone) {
		t.Error("a live zone waits for a person")
	}
	held := dnsZone()
	held.State, held.Message = "held", "The plan changes 4 of 10 records."
	s.api.Answer("list-dns-zones", 200, apitest.Page(held))
	s.api.Answer("list-drifts", 200, apitest.Page[api.Drift]())
	s.wantText(s.get("/"), zone, held.Message, `href="/dns-zones/`+zoneID)
	s.api.Answer("list-dns-zones", 403, api.Problem{Status: 403, Code: "forbidden"})
	s.api.Answer("list-drifts", 200, apitest.Page(api.Drift{ID: "d1", Name: "h1-cu01", Promise: "memory", State: "open", UnitID: apitest.UnitID}))
	a := s.get("/")
	s.wantText(a, promise, `href="/drift?state=open"`)
	if strings.Contains(a.body, zone) {
		t.Error("a zone that may not be seen is shown")
	}
}

// TestLeases: which backend has which job, and until when nobody else takes it.
func TestLeases(t *testing.T) {
	t.Parallel()
	s := setup(t)
	held, overdue := apitest.Job("host_initialize", "running"), apitest.Job("unit_allocate", "running")
	soon, past := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	held.LeaseExpires, overdue.LeaseExpires, overdue.Worker = &soon, &past, "backend-7"
	s.api.Answer("list-jobs", 200, api.Page[api.Job]{Items: []api.Job{held, overdue}, NextCursor: "more"})
	s.wantText(s.get("/system"), "5 of 8", "backend-7", "unless renewed", "overdue since", `href="/jobs?state=running">All running jobs<`)
	if q := s.only("list-jobs").Query; q != "limit=20&state=running" {
		t.Errorf("the API was asked %q", q)
	}
	s.api.Answer("list-jobs", 200, apitest.Page[api.Job]())
	s.wantText(s.get("/system"), "No running jobs")
	s.api.Refuse("list-jobs", api.Problem{Status: http.StatusForbidden, Code: "forbidden"})
	if a := s.get("/system"); a.StatusCode != http.StatusOK || strings.Contains(a.body, "Leases") {
		t.Errorf("without the permission: %d", a.StatusCode)
	}
}

func TestOverviewShowsAllHostsAtOnce(t *testing.T) {
	t.Parallel()
	s := setup(t)
	c := fleet(1000)
	c.Hosts[0].Health, c.Hosts[0].HealthMessage = "unreachable", "no answer <for> 12 minutes"
	c.Hosts[1].Units["allocation_failed"] = 2
	c.Hosts[2].State = "lost"
	c.LeftOut = 250
	s.api.Answer("get-capacity", 200, c)
	a := s.get("/")
	s.wantStatus(a, http.StatusOK)
	s.wantText(a, "2,400", "free of 4,002", "4,800", "free of 8,004", "6 TiB", "free of 8 TiB", "north, a", "250 further hosts", "1,600 allocated", "2 failed", "h1000: unreachable", "No answer &lt;for&gt; 12 minutes", "<span>3 free</span>")
	if n := strings.Count(a.body, `class="hoststate`); n != 999 {
		t.Errorf("%d hosts are drawn, want all that are not lost", n)
	}
	if strings.Index(a.body, ">h0002<") > strings.Index(a.body, ">h0004<") {
		t.Error("the hosts of a place are not in the order of their names")
	}
	if n := len(s.api.Calls("list-hosts")); n > 0 {
		t.Errorf("hosts were listed %d times: that costs with their number", n)
	}
}

// What an account may not see, and what an older backend does not have, is left
// out; the rest is drawn.
func TestOverviewDoesWithoutWhatIsRefused(t *testing.T) {
	t.Parallel()
	for _, route := range []string{"get-capacity", "get-queue", "list-jobs", "list-allocations", "list-addresses", "list-events"} {
		for _, status := range []int{http.StatusForbidden, http.StatusNotFound} {
			s := setup(t)
			s.api.Refuse(route, api.Problem{Status: status, Code: "no"})
			a := s.get("/")
			s.wantStatus(a, http.StatusOK)
			s.wantText(a, "Overview", "Failed jobs")
		}
	}
	s := setup(t)
	s.api.Refuse("list-jobs", api.Problem{Status: http.StatusBadRequest, Code: "bad"})
	if a := s.get("/"); a.StatusCode == http.StatusOK {
		t.Errorf("what failed is taken for nothing: status %d", a.StatusCode)
	}
}

// A workspace that has no host, but may use those of others, is not told to register one.
func TestOverviewShowsSharedHosts(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("get-capacity", http.StatusOK, api.Capacity{Shared: api.CapacityShared{Hosts: 2, Free: 1, InUse: 3}})
	a := s.get("/")
	s.wantText(a, "Others share 2 hosts with this workspace: 1 unit free, 3 in use.", "/shared-hosts")
	if strings.Contains(a.body, "Start with a host") {
		t.Error("it is told to register a host")
	}
	s.api.Answer("get-capacity", http.StatusOK, api.Capacity{})
	if a := s.get("/"); strings.Contains(a.body, "Others share") || !strings.Contains(a.body, "Start with a host") {
		t.Error("an empty workspace")
	}
}
