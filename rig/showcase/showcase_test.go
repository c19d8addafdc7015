package showcase_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/rig/showcase"
)

// A small one: what the programs say of the rows is what the rows say.
func TestShowcase(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	size := showcase.Size{Hosts: 16, UnitsEach: 8, Jobs: 12, Events: 20, LogLines: 700}
	s, err := showcase.Start(t.Context(), showcase.Options{Root: root, Dir: t.TempDir(), Out: io.Discard, Size: size, Rate: 100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	anybody, err := client.New(client.Config{BaseURL: s.API, UserAgent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	c := anybody.WithToken(s.Token)
	hosts, states := 0, map[string]bool{}
	for h, err := range c.AllHosts(t.Context(), api.HostFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		hosts++
		if len(h.Conditions) > 0 {
			t.Errorf("%s is %s and can't run units: %v", h.Name, h.State, h.Conditions)
		}
		states[h.State] = true
	}
	if hosts != size.Hosts || len(states) != 12 {
		t.Errorf("%d hosts in %d states, want %d in all 12", hosts, len(states), size.Hosts)
	}
	long := 0
	for after, complete := int64(0), false; !complete; {
		log, err := c.GetJobLog(t.Context(), s.Jobs.Long, after, 0)
		if err != nil {
			t.Fatal(err)
		}
		long, after, complete = long+len(log.Items), log.Last, log.Complete
	}
	if long < size.LogLines-5 || long > size.LogLines {
		t.Errorf("the long log has %d lines, want about %d", long, size.LogLines)
	}
	plans := map[string]int{} // by state, how many of them have something to show
	found, err := c.ListPlans(t.Context(), api.PlanFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range found.Items {
		whole, err := c.GetPlan(t.Context(), p.ID)
		if err != nil {
			t.Fatal(err)
		}
		plans[p.State] += len(whole.Changes)
		if job, err := c.GetJob(t.Context(), p.JobID); err != nil || job.Kind != "plan" || job.Playbook != p.Playbook {
			t.Errorf("plan %s was checked by %+v, %v", p.State, job, err)
		}
	}
	if len(plans) != 3 || plans["applied"] < 5 || plans["ready"] < 5 {
		t.Errorf("plans have %v changes", plans)
	}
	told := 0
	for e, err := range c.StreamJobLog(t.Context(), s.Jobs.Running, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Log != nil {
			told++
		}
		if told == 50 {
			break
		}
	}
	storiesCanHappen(t, c)
	outlinesAreThoseOfTheEntries(t, c, s, s.Jobs.Long, s.Jobs.Failed)
	for _, path := range []string{"/", "/hosts", "/compute-units", "/allocations", "/jobs", "/jobs/" + s.Jobs.Failed, "/address-pool", "/events", "/system"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Web+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Cookie", "kloigos="+s.Token)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(body), "Log out") {
			t.Errorf("%s: status %d, %v", path, answer.StatusCode, err)
		}
	}
}

// What is stored beside the chunks is what the backend makes of chunks that have nothing beside them.
func outlinesAreThoseOfTheEntries(t *testing.T, c *client.Client, s *showcase.Showcase, jobs ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.DatabaseURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, id := range jobs {
		stored, err := c.GetJobOutline(t.Context(), id)
		if err != nil || len(stored.Tasks) < 5 {
			t.Fatalf("outline of %s: %d tasks, %v", id, len(stored.Tasks), err)
		}
		gone, err := conn.Exec(t.Context(), "UPDATE job_log SET outline = NULL WHERE job_id = $1 AND outline IS NOT NULL", id)
		if err != nil || gone.RowsAffected() == 0 {
			t.Fatalf("%d chunks of %s had an outline: %v", gone.RowsAffected(), id, err)
		}
		made, err := c.GetJobOutline(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(made, stored); d != "" {
			t.Errorf("outline of %s: %s", id, d)
		}
	}
}

// storiesCanHappen: a probe only reads, and what runs has a worker that is alive.
func storiesCanHappen(t *testing.T, c *client.Client) {
	t.Helper()
	probes, err := c.ListJobs(t.Context(), api.JobFilter{Kind: "host_probe", State: "ended"})
	if err != nil || len(probes.Items) == 0 {
		t.Fatalf("%d probes, %v", len(probes.Items), err)
	}
	for _, j := range probes.Items {
		log, err := c.GetJobLog(t.Context(), j.ID, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range log.Items {
			if strings.Contains(e.Task, "Make") || e.Changed {
				t.Errorf("a probe tells of %q, changed %v", e.Task, e.Changed)
			}
		}
		if j.Error != nil && strings.Contains(j.Error.Message, "could not be made") {
			t.Errorf("a probe failed with %q", j.Error.Message)
		}
	}
	system, err := c.GetSystem(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range system.Backends {
		if b.Running > 0 && !b.Alive {
			t.Errorf("%s is gone and has %d jobs", b.Name, b.Running)
		}
	}
}
