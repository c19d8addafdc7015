package app

import (
	"net/url"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

// TestTheStepsOfANewHost: which step is shown follows from the host alone.
func TestTheStepsOfANewHost(t *testing.T) {
	t.Parallel()
	host := func(state string, change func(*api.Host)) api.Host {
		h := apitest.WaitingHost()
		h.State, h.OfferedKey, h.OfferedPrint = state, "", ""
		if change != nil {
			change(&h)
		}
		return h
	}
	probed := func(h *api.Host) { h.Fingerprint, h.Facts = "SHA256:abc", apitest.Facts() }
	laidOut := func(h *api.Host) { probed(h); h.Layout = apitest.Layout() }
	for name, c := range map[string]struct {
		host api.Host
		want []string
	}{
		"being asked for its key":  {host("probing", func(h *api.Host) { h.ActiveJob = apitest.JobID }), []string{"Step 2 of 6", "Reading the SSH host key of 192.0.2.11", "/jobs/" + apitest.JobID}},
		"not reached":              {host("registered", nil), []string{"Step 2 of 6", "Failed: Initialize host h1", "authorized_keys", "Try again"}},
		"waits for a confirmation": {apitest.WaitingHost(), []string{"Step 2 of 6", "Confirm the key", `name="from" value="setup"`}},
		"being read":               {host("probing", func(h *api.Host) { h.Fingerprint, h.ActiveJob = "SHA256:abc", apitest.JobID }), []string{"Step 3 of 6", "Reading CPUs, memory"}},
		"probed":                   {host("probed", probed), []string{"Step 3 of 6", "8 CPUs, 8 GiB of memory, 2 NUMA nodes", "/layout\">Continue to the layout"}},
		"laid out":                 {host("probed", laidOut), []string{"Step 5 of 6", "Create a plan", "Initialize now", "Not now: it has a bad day"}},
		"Initializing the host":    {host("initializing", laidOut), []string{"Step 6 of 6", "Initializing the host"}},
		"initialize failed":        {host("init_failed", laidOut), []string{"Step 6 of 6", "Initialize again", "Open the job"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			c.host.Operations = []api.Operation{{Name: "initialize", Prevents: "it has a bad day"}, {Name: "confirm-host-key", Allowed: true}}
			s.api.Answer("get-host", 200, c.host)
			s.api.Answer("list-jobs", 200, apitest.Page(apitest.Job("host_initialize", "failed")))
			s.wantText(s.get("/hosts/h2/setup"), c.want...)
		})
	}
}

// TestAStepThatIsNotReachedIsNotShown: an address can name an earlier step, to
// look back, and no later one.
func TestAStepThatIsNotReachedIsNotShown(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.wantText(s.get("/hosts/h2/setup?step=1"), "Step 1 of 6: Address and key", `href="/hosts/`+apitest.WaitingHost().ID+`/setup?step=2"`)
	s.wantText(s.get("/hosts/h2/setup?step=6"), "Step 2 of 6")
	s.wantText(s.get("/hosts/h2/setup?step=x"), "Step 2 of 6")
	s.wantText(s.get("/hosts/h2"), "Continue the setup", "Step 2 of 6")
	if strings.Contains(s.get("/hosts/h1").body, "Continue the setup") {
		t.Error("a host that is ready is said to be set up")
	}
}

// TestAStepLeadsBackToTheSteps: what is done in a step does not lead away.
func TestAStepLeadsBackToTheSteps(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("confirm-host-key", 202, apitest.Host(), apitest.JobID)
	s.api.Answer("initialize-host", 202, apitest.Host(), apitest.JobID)
	s.api.Answer("probe-host", 202, apitest.Host(), apitest.JobID)
	from := url.Values{"from": {"setup"}, "fingerprint": {"SHA256:abc"}}
	s.wantRedirect(s.post("/hosts/h2/host-key", from), "/hosts/h2/setup?said=key-confirmed")
	s.wantRedirect(s.post("/hosts/h2/probe", from), "/hosts/h2/setup")
	s.wantRedirect(s.post("/hosts/h2/initialize", from), "/hosts/h2/setup")
	s.wantRedirect(s.post("/hosts/h2/initialize", nil), "/jobs/"+apitest.JobID)
}
