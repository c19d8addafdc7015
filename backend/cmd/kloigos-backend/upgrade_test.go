package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/internal/testkit"
)

// acknowledged is what a client was told: a host and the job that probes it.
type acknowledged struct{ name, job string }

// TestRollingUpgrade replaces backends of the version before by this one, one
// after the other, then the web apps, while hosts are registered, jobs run,
// pages are looked at, and logs are followed, in a browser as well: no job is
// lost or done by halves, no request fails that is asked again with its key,
// and no stream misses or repeats an entry.
func TestRollingUpgrade(t *testing.T) {
	u := newUpgrade(t)
	// Nothing here is about speed: while other packages are compiled beside it, Ansible gets a tenth of a processor.
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Minute)
	defer cancel()
	l := u.load(ctx)
	eventually(t, "some load", func() bool { return l.count() >= 4 })
	// First the schema grows under the old backends, then they go, one by one.
	if said, err := u.command(false, "127.0.0.1:0", "init").CombinedOutput(); err != nil {
		t.Errorf("init of the new version: %v\n%s", err, said)
	}
	for n, listen := range u.proxy.Backends {
		l.more(3)
		u.replace(&u.backends[n], func() *node { return u.serve(false, listen) })
	}
	// A web app finds another backend by itself: who looks at it sees nothing.
	if n := u.browser.resumed.Load(); n != 0 {
		t.Errorf("%d streams of browsers broke while backends were replaced", n)
	}
	for n, listen := range u.proxy.Webapps {
		l.more(3)
		eventually(t, "streams through each web app", func() bool { return u.browser.streams.Load() >= 4 })
		before := u.browser.resumed.Load()
		u.replace(&u.webapps[n], func() *node { return u.show(false, listen) })
		eventually(t, "a stream that goes on at the other one", func() bool { return u.browser.resumed.Load() > before })
	}
	l.more(3)
	l.end()
	u.nothingIsLost(ctx, l.all)
	u.countedWell(len(l.all))
	// What is refused in the middle of a change is asked again by the client. It is seldom: the load balancer is told first.
	if failed, requests := u.http.failed.Load(), u.http.requests.Load(); failed*20 > requests {
		t.Errorf("%d of %d requests had to be asked again", failed, requests)
	}
	t.Logf("%d hosts, %d requests, of which %d had to be asked again", len(l.all), u.http.requests.Load(), u.http.failed.Load())
	t.Logf("%d pages; %d streams, resumed %d times; %d forms sent again", u.browser.pages.Load(), u.browser.ended.Load(), u.browser.resumed.Load(), u.browser.again.Load())
}

// replace stops a process and starts its successor.
func (u *upgrade) replace(n **node, successor func() *node) {
	u.t.Helper()
	from := time.Now()
	u.stop(*n)
	stopped := time.Since(from)
	*n = successor()
	u.t.Logf("%s stopped in %s, its successor was ready %s after", (*n).name, stopped.Round(time.Millisecond), (time.Since(from) - stopped).Round(time.Millisecond))
}

// follow reads the log of a job to its end, over as many connections as it
// takes, and holds its sequence against 1, 2, 3, ...
func (u *upgrade) follow(ctx context.Context, job string) {
	next := int64(1)
	for event, err := range u.api.StreamJobLog(ctx, job, 0) {
		switch {
		case err != nil:
			u.t.Errorf("stream of %s: %v", job, err)
			return
		case event.Log != nil && event.Log.Sequence != next:
			u.t.Errorf("stream of %s: entry %d comes after %d", job, event.Log.Sequence, next-1)
			return
		case event.Log != nil:
			next++
		case event.End && next < 20:
			u.t.Errorf("stream of %s ended after %d entries", job, next-1)
		}
	}
}

// countedWell scrapes the backends of the new version, each by its own address.
func (u *upgrade) countedWell(jobs int) {
	u.t.Helper()
	var claims, plays float64
	for _, listen := range u.proxy.Backends {
		req, err := http.NewRequestWithContext(u.t.Context(), http.MethodGet, "http://"+listen+"/metrics", nil)
		if err != nil {
			u.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+u.token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			u.t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			u.t.Fatalf("metrics: %s, %v", resp.Status, err)
		}
		series := testkit.Series(u.t, string(text))
		claims += series[`kloigos_job_claims_total{kind="host_probe"}`]
		plays += series[`kloigos_play_seconds_count{end="ok",kind="host_probe",playbook="host_probe"}`]
		for name, want := range map[string]float64{
			"kloigos_queue_known": 1, "kloigos_queue_paused": 0, "kloigos_job_slots": 4, "kloigos_jobs_running": 0,
			`kloigos_backends_alive{role="worker"}`: 2, `kloigos_backends_alive{role="reconciler"}`: 0,
		} {
			if got, ok := series[name]; !ok || got != want {
				u.t.Errorf("%s: %s is %v (there: %v), want %v", listen, name, got, ok, want)
			}
		}
		if series["kloigos_memory_available_bytes"] <= 0 || series["process_resident_memory_bytes"] <= 0 {
			u.t.Errorf("%s tells nothing of memory", listen)
		}
	}
	if claims < 3 || plays < 3 || claims > float64(2*jobs) {
		u.t.Errorf("%v claims and %v plays of %d jobs", claims, plays, jobs)
	}
}

func (u *upgrade) nothingIsLost(ctx context.Context, all []acknowledged) {
	u.t.Helper()
	workers := map[string]int{}
	for _, a := range all {
		var job api.Job
		var err error
		eventually(u.t, "the end of "+a.job, func() bool {
			job, err = u.api.GetJob(ctx, a.job)
			return err == nil && job.FinishedAt != nil || errors.Is(err, context.DeadlineExceeded)
		})
		if job.State != "succeeded" || job.Host != a.name {
			u.t.Errorf("job %s of %s is %s: %+v", a.job, a.name, job.State, job.Error)
		}
		workers[job.Worker]++
	}
	if len(workers) < 3 { // two of the old version, two of the new one
		u.t.Errorf("only %v did jobs: this test would show nothing", workers)
	}
	var names, want []string
	for host, err := range u.api.AllHosts(ctx, api.HostFilter{}) {
		if err != nil {
			u.t.Fatal(err)
		}
		names = append(names, host.Name)
	}
	jobs := 0
	for _, err := range u.api.AllJobs(ctx, api.JobFilter{}) {
		if err != nil {
			u.t.Fatal(err)
		}
		jobs++
	}
	for _, a := range all {
		want = append(want, a.name)
	}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) || jobs != len(all) {
		u.t.Errorf("%d hosts and %d jobs were made; clients were told of %d", len(names), jobs, len(all))
	}
}
