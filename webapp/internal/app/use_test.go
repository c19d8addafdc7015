package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

const useAt = "/allocations/" + apitest.AllocationID + "/use"

func measuringJob(state string) api.Job {
	j := apitest.Job("host_measure", state)
	j.AllocationID = ""
	return j
}

// The use of an allocation in each of its states: what is known, in words, and
// what a person can do about the rest.
func TestUse(t *testing.T) {
	t.Parallel()
	n := func(v int64) *int64 { return &v }
	part := func(change func(*api.Use)) *api.Use {
		u := apitest.Use()
		change(u)
		return u
	}
	failed := measuringJob("failed")
	failed.Error = &api.JobError{Code: "unreachable", Message: "No connection to <b>192.0.2.10</b>.", NextStep: "See that the host is up."}
	late := apitest.Now.Add(-time.Second)
	failed.FinishedAt = &late
	before := failed
	earlier := apitest.Now.Add(-time.Hour)
	before.FinishedAt = &earlier
	again := measuringJob("queued")
	again.Error = failed.Error
	for name, c := range map[string]struct {
		use        *api.Use
		job        *api.Job
		has, lacks []string
	}{
		"never measured": {nil, nil, []string{"not measured yet", "Measure now", "Watch for a minute", "not measured</span>"}, []string{"data-watched", "<rect", "Measured"}},
		"measured": {apitest.Use(), nil, []string{
			"1.3 of 3 CPUs", "42 %", "2 GiB of 3 GiB", "1 GiB of it is file cache", "1,900 of 2,048", "nearly at the limit", "26 GiB of 27 GiB", "nearly full", `datetime="2026-03-14T15:09:14Z"`, "Sat 14 Mar 2026 15:09:14 UTC", "ago",
			`<rect class="" x="0" y="0" width="420" height="8">`, `width="333" height="2"`,
		}, []string{"data-watched", "not measured", "NaN", "Network:"}},
		"measuring":         {apitest.Use(), jobOf("running"), []string{"data-watched", "measuring", "/jobs/" + apitest.JobID, "15:09:14 UTC", "1.3 of 3 CPUs", "Measure now"}, nil},
		"waiting":           {nil, jobOf("queued"), []string{"data-watched", "waiting for a measurement"}, []string{"Measured"}},
		"will retry":        {nil, &again, []string{"data-watched", "the host did not answer", "Kloigos tries again"}, nil},
		"the last failed":   {apitest.Use(), &failed, []string{"measurement failed", "No connection to &lt;b&gt;", "See that the host is up.", "1.3 of 3 CPUs"}, []string{"<b>192", "data-watched"}},
		"one before failed": {apitest.Use(), &before, []string{"measured"}, []string{"measurement failed"}},
		"no processes": {part(func(u *api.Use) { u.CPUMillis, u.MemoryBytes, u.CacheBytes, u.Processes = nil, nil, nil, nil }), nil, []string{
			"no processes", "The host has no processes of ada.", "26 GiB of 27 GiB", "not measured</span>",
		}, []string{"0 of 2,048", "0 B of"}},
		"a network of its own": {part(func(u *api.Use) {
			u.ReceivedBytes, u.SentBytes, u.ReceiveRate, u.SendRate = n(5<<30), n(1<<20), n(2048), n(0)
		}), nil, []string{
			"Network: receives 2 KiB and sends 0 B a second; 5 GiB received and 1 MiB sent since its link was made.",
		}, nil},
		"no volume":   {part(func(u *api.Use) { u.DiskUsedBytes, u.DiskBytes = nil, nil }), nil, []string{"no volume", "1.3 of 3 CPUs"}, []string{"of 27 GiB"}},
		"nothing":     {&api.Use{MeasuredAt: apitest.Now}, nil, []string{"nothing to measure", "Measured"}, nil},
		"zero is one": {part(func(u *api.Use) { u.CPUMillis, u.Processes = n(0), n(0) }), nil, []string{"0.00 of 3 CPUs", "0 of 2,048"}, []string{"not measured"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			a := apitest.Allocation()
			a.Use = c.use
			s.api.Answer("get-allocation", http.StatusOK, a)
			jobs := api.Page[api.Job]{Items: []api.Job{}}
			if c.job != nil {
				jobs.Items = append(jobs.Items, *c.job)
			}
			s.api.Answer("list-jobs", http.StatusOK, jobs)
			fragment := s.get(useAt)
			s.wantStatus(fragment, http.StatusOK)
			s.wantText(fragment, c.has...)
			for _, no := range c.lacks {
				if strings.Contains(fragment.body, no) {
					t.Errorf("page has %q\n%s", no, fragment.body)
				}
			}
			if strings.Contains(fragment.body, "<html") || strings.Contains(fragment.body, "style=") {
				t.Error("the part is a page, or has a style of its own")
			}
			if query := s.only("list-jobs").Query; query != "host="+apitest.HostID+"&kind=host_measure&limit=1" {
				t.Errorf("asked for jobs by %s", query)
			}
			if whole := s.get("/allocations/" + apitest.AllocationID); !strings.Contains(whole.body, `id="use"`) || !strings.Contains(whole.body, c.has[0]) {
				t.Error("the page does not have the part")
			}
		})
	}
}

func jobOf(state string) *api.Job {
	j := measuringJob(state)
	return &j
}

func TestUseOfAnAllocationThatEnded(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := apitest.Allocation()
	ended := apitest.Now
	a.State, a.EndedAt = "deallocated", &ended
	s.api.Answer("get-allocation", http.StatusOK, a)
	if page := s.get("/allocations/" + apitest.AllocationID); strings.Contains(page.body, `id="use"`) || strings.Contains(page.body, "Measure now") {
		t.Error("what has ended can be measured")
	}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	at := "/allocations/" + apitest.AllocationID + "/measure"
	for _, c := range []struct {
		form    url.Values
		samples string
	}{{nil, "1"}, {url.Values{"watch": {"true"}}, "20"}, {url.Values{"watch": {"1000"}}, "1"}} {
		s := setup(t)
		s.api.Answer("measure-host", http.StatusAccepted, apitest.Host(), apitest.JobID)
		s.wantRedirect(s.post(at, c.form), "/allocations/"+apitest.AllocationID+"#use")
		if call := s.only("measure-host"); call.Query != "samples="+c.samples {
			t.Errorf("%v asks for %s", c.form, call.Query)
		}
	}
	// With scripts the part comes at once, with the focus where it was.
	s := setup(t)
	s.api.Answer("measure-host", http.StatusAccepted, apitest.Host(), apitest.JobID)
	s.api.Answer("list-jobs", http.StatusOK, apitest.Page(measuringJob("queued")))
	part := s.post(at, nil, header("HX-Request", "true"))
	s.wantStatus(part, http.StatusOK)
	s.wantText(part, "waiting for a measurement", `id="measure-now"`)

	s.api.Refuse("measure-host", api.Problem{Status: http.StatusConflict, Code: "nothing_to_measure", Detail: "none of its units has a tenant"})
	part = s.post(at, nil, header("HX-Request", "true"))
	s.wantStatus(part, http.StatusOK)
	s.wantText(part, "None of its units has a tenant")
	s.wantStatus(s.post(at, nil), http.StatusConflict)

	s = setup(t)
	s.api.Answer("measure-host", http.StatusAccepted, apitest.Host(), apitest.JobID)
	s.wantRedirect(s.post("/hosts/"+apitest.HostID+"/measure", nil), "/hosts/"+apitest.HostID+"?said=measuring")
}

// The units of a host show what was measured, and what was not.
func TestUseOfAHost(t *testing.T) {
	t.Parallel()
	s := setup(t)
	measured, other := apitest.Unit(1, "allocated"), apitest.Unit(3, "allocated")
	measured.Use = apitest.Use()
	idle := apitest.Unit(4, "allocated")
	idle.Use = &api.Use{MeasuredAt: apitest.Now}
	s.api.Answer("list-compute-units", http.StatusOK, apitest.Page(measured, apitest.Unit(2, "free"), other, idle))
	page := s.get("/hosts/" + apitest.HostID)
	s.wantStatus(page, http.StatusOK)
	s.wantText(page, "1.3 CPUs, 2 GiB", "26 GiB on disk", "15:09:14 UTC", "not measured", "no processes", "Measure usage")
}
