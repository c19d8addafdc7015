package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/area/iam/iamwork"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/store"
)

func (b *backend) quotas(scope string) map[string]api.Quota {
	b.t.Helper()
	all := map[string]api.Quota{}
	for _, q := range decode[api.Page[api.Quota]](b.t, b.mustDo(http.MethodGet, "/quotas?scope="+scope, nil, 200)).Items {
		all[q.Scope+" "+q.Resource] = q
	}
	return all
}

// aligned fails if a quota or a usage record is not what is in use.
func (b *backend) aligned() {
	b.t.Helper()
	err := b.db.DB.InTx(b.t.Context(), func(tx *db.Tx) error {
		wrong, err := iam.AlignRecords(b.t.Context(), tx)
		if err != nil {
			return err
		}
		ids, err := iam.Limited(b.t.Context(), tx.Reader)
		for _, id := range ids {
			var n int64
			if err == nil {
				n, err = iam.AlignQuotas(b.t.Context(), tx, id)
			}
			wrong += n
		}
		if wrong != 0 {
			b.t.Errorf("%d quotas or records were wrong", wrong)
		}
		return err
	})
	if err != nil {
		b.t.Error(err)
	}
}

// Many ask at once for more than a quota leaves: exactly what it leaves is given, the
// rest is told why, and what ends can be had again.
func TestQuotasHold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ready("h1")
	b.ready("h2")
	b.mustDo(http.MethodPost, "/address-pool", `{"addresses":[{"range":"10.0.0.8-10.0.0.30"}]}`, 201)
	first := decode[api.Allocation](t, b.mustDo(http.MethodPost, "/allocations", api.CreateAllocation{LoginUser: "ada", SSHKeys: []string{sshKey}, CPUs: 1}, 202))
	b.mustDo(http.MethodPost, "/quotas", api.SetQuota{Scope: "default/default", Resource: "units", Amount: 4}, 200)
	b.mustDo(http.MethodPost, "/quotas", api.SetQuota{Scope: "default/default/default", Resource: "cpus", Amount: 100}, 200)
	b.mustDo(http.MethodPost, "/quotas", api.SetQuota{Scope: "default/default/default", Resource: "memory_bytes", Amount: 1 << 49}, 200) // more than 32 bits hold, as is the memory of a unit
	b.mustDo(http.MethodPost, "/quotas", api.SetQuota{Scope: "default", Resource: "hosts", Amount: 2}, 200)
	if q := b.quotas("default")["default/default units"]; q.Used != 1 || q.Amount != 4 {
		t.Errorf("%+v", q)
	}
	if over := b.quotas("default/default/default"); len(over) != 4 || over["default hosts"].Used != 2 {
		t.Errorf("%+v", over)
	}
	var wg sync.WaitGroup
	answers := make([]answer, 5) // there are six units
	for i := range answers {
		wg.Go(func() {
			answers[i] = b.do(http.MethodPost, "/allocations", api.CreateAllocation{LoginUser: fmt.Sprintf("u%d", i), SSHKeys: []string{sshKey}, CPUs: 1})
		})
	}
	wg.Wait()
	given := 0
	for _, a := range answers {
		switch {
		case a.status == http.StatusAccepted:
			given++
		case a.status != http.StatusConflict || a.problem(t).Code != "quota_exceeded" || !strings.Contains(a.problem(t).Detail, "project default/default may have 4 units in use"):
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if q := b.quotas("default")["default/default units"]; given != 3 || q.Used != 4 {
		t.Errorf("%d were given: %+v", given, q)
	}
	b.aligned()
	p := b.mustDo(http.MethodPost, "/allocations?plan=true", api.CreateAllocation{LoginUser: "eve", SSHKeys: []string{sshKey}, CPUs: 1}, 409).problem(t)
	if p.Code != "quota_exceeded" {
		t.Error(p)
	}
	p = b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: "h3", Address: "127.0.0.1"}, 409).problem(t)
	if p.Code != "quota_exceeded" || !strings.Contains(p.Detail, "organization default may have 2 hosts in use; 2 hosts are") {
		t.Error(p)
	}
	b.mustDo(http.MethodPost, "/jobs/"+first.ActiveJob+"/cancel", nil, 202) // it had begun nothing
	if q := b.quotas("default")["default/default units"]; q.Used != 3 {
		t.Errorf("after an end: %+v", q)
	}
	b.mustDo(http.MethodPost, "/allocations", api.CreateAllocation{LoginUser: "eve", SSHKeys: []string{sshKey}, CPUs: 1}, 202)
	b.aligned()
	var open, closed int
	b.row(&open, "SELECT count(*) FROM usage_records WHERE to_at IS NULL AND cpus = 2")
	b.row(&closed, "SELECT count(*) FROM usage_records WHERE to_at >= from_at")
	if open != 4 || closed != 1 {
		t.Errorf("%d records are open, %d closed", open, closed)
	}
	b.mustDo(http.MethodPost, "/quotas/remove", api.QuotaOf{Scope: "default/default", Resource: "units"}, 204)
	b.mustDo(http.MethodPost, "/allocations", api.CreateAllocation{LoginUser: "bob", SSHKeys: []string{sshKey}, CPUs: 1}, 202)
	b.mustDo(http.MethodPost, "/quotas/remove", api.QuotaOf{Scope: "default/default", Resource: "units"}, 404)
}

// A quota is set by who has the permission in the scope above it.
func TestWhoSetsQuotas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.tree()
	operator := b.granted("oper", iam.RoleInstallationOperator, scope.Installation, uuid.Nil)
	owner := b.granted("owner", iam.RoleOwner, scope.Organization, domain.DefaultOrganization)
	ofProject := b.granted("lead", iam.RoleOwner, scope.Project, domain.DefaultProject)
	viewer := b.granted("viewer", "viewer", scope.Organization, domain.DefaultOrganization)
	other := b.granted("other", iam.RoleOwner, scope.Organization, tree.organizations[1])
	for _, c := range []struct {
		token, scope string
		status       int
	}{
		{operator, "default", 200},
		{operator, "other", 200},
		{owner, "default", 403},
		{owner, "default/default", 200},
		{owner, "default/second/second", 200},
		{ofProject, "default/default", 403},
		{ofProject, "default/default/second", 200},
		{ofProject, "default/second", 422},
		{viewer, "default/default", 403},
		{other, "default/default", 422},
		{other, "other/default", 200},
		{other, "nothing", 422},
	} {
		a := b.do(http.MethodPost, "/quotas", api.SetQuota{Scope: c.scope, Resource: "cpus", Amount: 8}, "Authorization", "Bearer "+c.token)
		if a.status != c.status {
			t.Errorf("%s: %d, want %d: %s", c.scope, a.status, c.status, a.body)
		}
	}
	b.token = viewer
	if got := b.quotas("default"); len(got) != 4 {
		t.Errorf("%v", got)
	}
}

// Usage is told once a month at 80 and at 100 %, and what went wrong with the count is
// mended.
func TestQuotaPolicy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ready("h1")
	b.mustDo(http.MethodPost, "/quotas", api.SetQuota{Scope: "default/default/default", Resource: "hosts", Amount: 1}, 200)
	b.sql("UPDATE quotas SET used = 7")
	gone := b.tree().workspaces[1][1][1]
	b.mustDo(http.MethodPost, "/quotas", api.SetQuota{Scope: "default/default/second", Resource: "hosts", Amount: 0}, 200)
	b.sql("UPDATE quotas SET scope_id = $1 WHERE amount = 0", gone)
	b.sql("UPDATE workspaces SET state = 'removed' WHERE id = $1", gone)
	b.sql("UPDATE projects SET state = 'suspended' WHERE name = 'second'")
	if p := b.mustDo(http.MethodPost, "/quotas", api.SetQuota{Scope: "default/second", Resource: "hosts", Amount: 0}, 409).problem(t); p.Code != "scope_suspended" {
		t.Error(p)
	}
	for range 2 {
		if _, err := iamwork.Quotas(b.db.DB).Run(t.Context(), reconcile.Item{}); err != nil {
			t.Fatal(err)
		}
	}
	if q := b.quotas("default")["default/default/default hosts"]; q.Used != 1 {
		t.Errorf("%+v", q)
	}
	events := decode[api.Page[api.Event]](t, b.mustDo(http.MethodGet, "/events?action=quota.warn", nil, 200)).Items
	if len(events) != 1 || !strings.Contains(string(events[0].After), `"percent":100`) && !strings.Contains(string(events[0].After), `"percent": 100`) {
		t.Errorf("%+v", events)
	}
}

// A job beyond a quota is accepted, waits in the queue and says for what, also to who may not read quotas. The usage stays exact.
func TestAJobWaitsForAQuota(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mustDo(http.MethodPost, "/quotas", api.SetQuota{Scope: "default/default", Resource: "jobs", Amount: 1}, 200)
	member := []string{"Authorization", "Bearer " + b.granted("member", "viewer", scope.Workspace, domain.DefaultWorkspace)}
	b.mustDo(http.MethodGet, "/quotas?scope=default", nil, 403, member...)
	for _, name := range []string{"h1", "h2"} {
		b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: name, Address: "127.0.0.1"}, 202)
	}
	waits := func() (all []string) {
		t.Helper()
		for _, j := range decode[api.Page[api.Job]](t, b.mustDo(http.MethodGet, "/jobs", nil, 200, member...)).Items {
			all = append(all, j.State+": "+decode[api.Job](t, b.mustDo(http.MethodGet, "/jobs/"+j.ID, nil, 200, member...)).WaitsFor)
		}
		slices.Sort(all)
		return all
	}
	if got := waits(); !slices.Equal(got, []string{"queued: ", "queued: "}) {
		t.Errorf("before any runs: %q", got)
	}
	claim := func() (claims []store.Claim) {
		t.Helper()
		b.tx(func(tx *store.Tx) (err error) {
			claims, err = tx.ClaimJobs(t.Context(), uuid.New(), time.Minute, 8)
			return err
		})
		return claims
	}
	first := claim()
	const full = "queued: The project default/default may run 1 jobs at once, and 1 run."
	if got := waits(); len(first) != 1 || !slices.Equal(got, []string{full, "running: "}) {
		t.Errorf("%d claimed: %q", len(first), got)
	}
	if q := b.quotas("default")["default/default jobs"]; q.Used != 1 {
		t.Errorf("%+v", q)
	}
	b.aligned()
	b.mustDo(http.MethodPost, "/quotas", api.SetQuota{Scope: "default/default", Resource: "jobs", Amount: 2}, 200)
	if second := claim(); len(second) != 1 {
		t.Errorf("%d claimed of a larger quota", len(second))
	}
	b.aligned()
}

// Who follows a job that waits for a quota is told of it, and when that is over, without asking again.
func TestTheStreamTellsOfAQuota(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.running()
	b.mustDo(http.MethodPost, "/quotas", api.SetQuota{Scope: "default/default", Resource: "jobs", Amount: 1}, 200)
	h2 := decode[api.Host](t, b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: "h2", Address: "127.0.0.1"}, 202))
	waiting := &running{b: b, id: uuid.MustParse(h2.ActiveJob)}
	events, stop := waiting.follow(b.url, "")
	defer stop()
	told := func(want bool) {
		t.Helper()
		end := time.After(30 * time.Second)
		for {
			select {
			case e, open := <-events:
				if !open {
					t.Fatal("the stream ended")
				}
				if e.event == "state" && strings.Contains(e.data, `"waits_for"`) == want {
					return
				}
			case <-end:
				t.Fatalf("not told that it waits: %t", want)
			}
		}
	}
	told(true)
	b.mustDo(http.MethodPost, "/quotas", api.SetQuota{Scope: "default/default", Resource: "jobs", Amount: 2}, 200)
	told(false)
}
