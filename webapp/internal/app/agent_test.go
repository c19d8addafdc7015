package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

const agentID = "6a1e0000-0000-4000-8000-000000000041"

var _ = addPages(map[string]string{
	"/agents":                   "/ is 95 % full.",
	"/agents?state=quarantined": `href="/agents">Clear<`,
	"/agents/" + agentID:        "Free space on the file system",
	"/hosts/h1":                 "Free space on the file system",
}, func(a *apitest.API) {
	a.Answer("list-agents", 200, apitest.Page(sampleAgent()))
	a.Answer("get-agent", 200, sampleAgent())
})

func sampleAgent() api.Agent {
	return api.Agent{
		ID: agentID, HostID: apitest.HostID, Host: "h1", MachineID: "3f9d1c5a7b2e4d608f1a2b3c4d5e6f70", State: "enrolled", StateMeans: "its heartbeats count for its host",
		Liveness: "late", ReceivedAt: &apitest.Now, AgentVersion: "1.0", BootID: "b", SkewMS: 12, ReportedAt: &apitest.Now, ExpiresAt: &apitest.Now,
		Report: &api.AgentReport{
			CPUs: 8, Load: [3]float64{1, 0.5, 0.25}, MemoryTotal: 8 << 30, MemoryAvailable: 6 << 30, FailedUnits: []string{"kloigos-<b>.service"},
			Disks: []api.AgentDisk{{Path: "/", Total: 100 << 30, Free: 5 << 30}},
		},
		Causes:     []api.AgentCause{{Name: "disk_nearly_full", Message: "/ is 95 % full.", Next: "Free space on the file system, or make it larger.", Since: apitest.Now}},
		Operations: append(allowed("revoke", "quarantine"), api.Operation{Name: "release", Prevents: "The agent is enrolled."}), Version: 3,
	}
}

// TestAgentsAreRevokedWithTheNameOfTheirHost, and released.
func TestAgentsAreRevokedWithTheNameOfTheirHost(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("revoke-agent", 200, sampleAgent())
	s.api.Answer("release-agent", 200, sampleAgent())
	at := "/agents/" + agentID
	if a := s.post(at+"/revoke", url.Values{"confirm": {"another"}}); a.StatusCode == http.StatusSeeOther {
		t.Errorf("%d for another name", a.StatusCode)
	}
	s.wantRedirect(s.post(at+"/revoke", url.Values{"confirm": {"h1"}, "version": {"3"}}), at+"?said=agent-revoked")
	s.wantRedirect(s.post(at+"/release", nil), at+"?said=agent-released")
}

// TestTheHostPageSaysWhatChangedSinceTheLayout, above everything that is fine.
func TestTheHostPageSaysWhatChangedSinceTheLayout(t *testing.T) {
	t.Parallel()
	s := setup(t)
	c := api.Condition{Noun: "host", ObjectID: apitest.HostID, Type: "inventory", Status: "false", Message: "Disk <b>x is gone.", Since: apitest.Now, ObservedAt: apitest.Now}
	s.api.Answer("list-object-conditions", 200, apitest.Page(c))
	s.wantText(s.get("/hosts/h1"), "The machine is not what its layout was made for.", "Disk &lt;b&gt;x is gone.")
	c.Status = "true"
	s.api.Answer("list-object-conditions", 200, apitest.Page(c))
	if a := s.get("/hosts/h1"); strings.Contains(a.body, "not what its layout was made for") {
		t.Error("it is said of a host that matches")
	}
}
