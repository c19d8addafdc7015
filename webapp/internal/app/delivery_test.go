package app

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

const deliveryID = "6a1e0000-0000-4000-8000-000000000064"

var _ = addPages(map[string]string{
	"/update-deliveries":                               "waits for &lt;b&gt;its proof",
	"/update-deliveries?state=halted":                  `href="/update-deliveries">Clear<`,
	"/update-deliveries/new":                           `<option value="v1.4.0"`,
	"/update-deliveries/" + deliveryID:                 "ended by &lt;b&gt;itself",
	"/update-deliveries/" + deliveryID + "?state=told": "All hosts",
	"/agent-builds":                                    "0123456789abcdef",
	"/playbook-deliveries":                             "unit_allocate v4",
	"/release-deliveries":                              "one by one",
	"/release-deliveries?state=halted":                 `href="/release-deliveries">Clear<`,
	"/release-deliveries/new":                          "Deliver a release of Kloigos",
	"/release-deliveries/" + deliveryID:                "v1.4.0 on 2; unknown on 1",
	"/playbook-deliveries?state=halted":                `href="/playbook-deliveries">Clear<`,
	"/playbook-deliveries/new?playbook=unit_allocate":  "Deliver a version of a playbook",
	"/playbook-deliveries/" + deliveryID:               "/playbooks/unit_allocate/versions/4",
	"/agent-builds?arch=arm64":                         `href="/agent-builds">Clear<`,
}, func(a *apitest.API) {
	a.Answer("list-update-deliveries", 200, apitest.Page(sampleDelivery()))
	a.Answer("get-update-delivery", 200, sampleDelivery())
	a.Answer("list-release-deliveries", 200, apitest.Page(sampleReleaseDelivery()))
	a.Answer("get-release-delivery", 200, sampleReleaseDelivery())
	a.Answer("list-release-targets", 200, apitest.Page(api.ReleaseTarget{ID: apitest.HostID, Name: "backend-1", Kind: "backend", Runs: "v1.4.0", Wave: 1, State: "told", Reason: "Replace the program there <b>now."}))
	a.Answer("list-playbook-deliveries", 200, apitest.Page(samplePlaybookDelivery()))
	a.Answer("get-playbook-delivery", 200, samplePlaybookDelivery())
	a.Answer("list-playbook-delivery-targets", 200, apitest.Page(api.DeliveryTarget{HostID: apitest.HostID, Host: "h1", Zone: "fra2", Wave: 1, State: "proven", Reason: "A job ended <b>well."}))
	a.Answer("list-delivery-targets", 200, apitest.Page(api.DeliveryTarget{HostID: apitest.HostID, Host: "h1", Zone: "fra2", Wave: 1, State: "failed", Reason: "It ended by <b>itself.", ToldAt: &apitest.Now}))
	a.Answer("list-agent-builds", 200, apitest.Page(api.AgentBuild{AgentVersion: "v1.4.0", Arch: "amd64", ExpiresAt: apitest.Now, SizeBytes: 7_000_000, SHA256: strings.Repeat("0123456789abcdef", 4), CreatedAt: apitest.Now}))
})

func sampleDelivery() api.UpdateDelivery {
	return api.UpdateDelivery{
		ID: deliveryID, Name: "agent-1.4.0", AgentVersion: "v1.4.0", DeliveryProgress: sampleProgress(),
		Operations: append(allowed("pause", "roll_back"), api.Operation{Name: "resume", Prevents: "It is running."}), CreatedAt: apitest.Now,
	}
}

func sampleProgress() api.DeliveryProgress {
	return api.DeliveryProgress{
		State: "running", StateMeans: "targets are <b>told", Reason: "Wave 1 waits for <b>its proof.", Wave: 1, WaveCount: 2,
		Waves: []api.DeliveryWave{{Wave: 1, State: "failed", Count: 1}, {Wave: 2, State: "waiting", Count: 7}},
		Plan:  api.DeliveryPlan{Canaries: []string{"h1"}, ProofSeconds: 900}, Version: 5,
	}
}

func samplePlaybookDelivery() api.PlaybookDelivery {
	return api.PlaybookDelivery{
		ID: deliveryID, Name: "allocate-4", Playbook: "unit_allocate", PlaybookVersion: 4, Before: 3, DeliveryProgress: sampleProgress(),
		Operations: append(allowed("pause", "roll_back"), api.Operation{Name: "resume", Prevents: "It is running."}), CreatedAt: apitest.Now,
	}
}

func sampleReleaseDelivery() api.ReleaseDelivery {
	return api.ReleaseDelivery{
		ID: deliveryID, Name: "v1.5.0", Release: "v1.5.0", DeliveryProgress: sampleProgress(), CreatedAt: apitest.Now,
		Running:    []api.ReleaseVersion{{Release: "v1.4.0", Count: 2}, {Count: 1}},
		Operations: append(allowed("pause", "roll_back"), api.Operation{Name: "resume", Prevents: "It is running."}),
	}
}

// TestDeliveriesOfReleasesAreBegunAndMoved: the form sends the web apps, and each button what was seen.
func TestDeliveriesOfReleasesAreBegunAndMoved(t *testing.T) {
	t.Parallel()
	s := setup(t)
	at := "/release-deliveries/" + deliveryID
	for operation, said := range map[string]string{"pause": "delivery-paused", "resume": "delivery-resumed", "roll-back": "release-returned"} {
		s.api.Answer(operation+"-release-delivery", 200, sampleReleaseDelivery())
		s.wantRedirect(s.post(at+"/"+operation, url.Values{"version": {"5"}, "confirm": {"v1.5.0"}}), at+"?said="+said)
		if got := s.only(operation + "-release-delivery").Header.Get("If-Match"); got != `"5"` {
			t.Errorf("%s went with the version %s", operation, got)
		}
	}
	s.api.Answer("create-release-delivery", 201, sampleReleaseDelivery())
	s.wantRedirect(s.post("/release-deliveries/new", url.Values{
		"name": {"v1.5.0"}, "release": {"v1.5.0"}, "web_apps": {"https://web-1:8090\nhttps://web-2:8090"}, "canaries": {"backend-2"}, "gap_seconds": {"0"},
	}), at+"?said=delivery-begun")
	var sent api.CreateReleaseDelivery
	s.only("create-release-delivery").Into(t, &sent)
	if strings.Join(sent.WebApps, " ") != "https://web-1:8090 https://web-2:8090" || strings.Join(sent.Canaries, " ") != "backend-2" || sent.GapSeconds == nil || *sent.GapSeconds != 0 {
		t.Errorf("%+v", sent)
	}
}

// TestTheVersionIsToldToWhoAsksDirectly: what came through a proxy finds no such page.
func TestTheVersionIsToldToWhoAsksDirectly(t *testing.T) {
	t.Parallel()
	s := setup(t)
	at := "http://" + listens(t, s) + "/web/version"
	for name, want := range map[string]int{"Accept": http.StatusOK, "Forwarded": http.StatusNotFound, "X-Forwarded-For": http.StatusNotFound} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(name, "for=192.0.2.1")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var told api.WebAppVersion
		err = json.NewDecoder(resp.Body).Decode(&told)
		_ = resp.Body.Close()
		if resp.StatusCode != want || want == http.StatusOK && (err != nil || told.Version == "") {
			t.Errorf("with %s it is %d, %+v, %v", name, resp.StatusCode, told, err)
		}
	}
	s.wantStatus(s.get("/web/version"), http.StatusNotFound) // by the proxy that this web app trusts
}

// TestDeliveriesOfPlaybooksAreBegunAndMoved: the form sends version and plan, and each button what was seen.
func TestDeliveriesOfPlaybooksAreBegunAndMoved(t *testing.T) {
	t.Parallel()
	s := setup(t)
	at := "/playbook-deliveries/" + deliveryID
	for operation, said := range map[string]string{"pause": "delivery-paused", "resume": "delivery-resumed", "roll-back": "playbook-returned"} {
		s.api.Answer(operation+"-playbook-delivery", 200, samplePlaybookDelivery())
		s.wantRedirect(s.post(at+"/"+operation, url.Values{"version": {"5"}, "confirm": {"allocate-4"}}), at+"?said="+said)
		if got := s.only(operation + "-playbook-delivery").Header.Get("If-Match"); got != `"5"` {
			t.Errorf("%s went with the version %s", operation, got)
		}
	}
	if a := s.post(at+"/roll-back", url.Values{"confirm": {"another"}, "version": {"5"}}); a.StatusCode == http.StatusSeeOther {
		t.Error("it is rolled back without its name")
	}
	s.api.Answer("create-playbook-delivery", 201, samplePlaybookDelivery())
	s.wantRedirect(s.post("/playbook-deliveries/new", url.Values{
		"name": {"allocate-4"}, "playbook": {"unit_allocate"}, "playbook_version": {"4"}, "canaries": {"h1\nh2"}, "gap_seconds": {"0"}, "limit": {"2"},
	}), at+"?said=delivery-begun")
	var sent api.CreatePlaybookDelivery
	s.only("create-playbook-delivery").Into(t, &sent)
	if sent.Playbook != "unit_allocate" || sent.PlaybookVersion != 4 || strings.Join(sent.Canaries, " ") != "h1 h2" || sent.GapSeconds == nil || *sent.GapSeconds != 0 || sent.Limit != 2 {
		t.Errorf("%+v", sent)
	}
	a := s.post("/playbook-deliveries/new", url.Values{"name": {"allocate-4"}, "playbook_version": {"newest"}})
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "whole number", `value="allocate-4"`)
}

// TestDeliveriesAreBegunAndMoved: the form sends the plan, and each button what was seen.
func TestDeliveriesAreBegunAndMoved(t *testing.T) {
	t.Parallel()
	s := setup(t)
	at := "/update-deliveries/" + deliveryID
	for operation, said := range map[string]string{"pause-update-delivery": "paused", "resume-update-delivery": "resumed", "roll-back-update-delivery": "returned"} {
		s.api.Answer(operation, 200, sampleDelivery())
		form := url.Values{"version": {"5"}, "confirm": {"agent-1.4.0"}}
		s.wantRedirect(s.post(at+"/"+strings.TrimSuffix(operation, "-update-delivery"), form), at+"?said=delivery-"+said)
		if got := s.only(operation).Header.Get("If-Match"); got != `"5"` {
			t.Errorf("%s went with the version %s", operation, got)
		}
	}
	if a := s.post(at+"/roll-back", url.Values{"confirm": {"another"}, "version": {"5"}}); a.StatusCode == http.StatusSeeOther {
		t.Error("it is rolled back without its name")
	}
	s.api.Answer("create-update-delivery", 201, sampleDelivery())
	s.wantRedirect(s.post("/update-deliveries/new", url.Values{
		"name": {"agent-1.4.0"}, "agent_version": {"v1.4.0"}, "canaries": {"h1\nh2"}, "gap_seconds": {"0"}, "groups": {"4"}, "by_zone": {"true"}, "skip_probe": {"true"}, "limit": {"2"},
	}), at+"?said=delivery-begun")
	var sent api.CreateUpdateDelivery
	s.only("create-update-delivery").Into(t, &sent)
	if sent.Name != "agent-1.4.0" || strings.Join(sent.Canaries, " ") != "h1 h2" || sent.GapSeconds == nil || *sent.GapSeconds != 0 || sent.Groups != 4 || !sent.ByZone || !sent.SkipProbe || sent.Limit != 2 {
		t.Errorf("%+v", sent)
	}
	a := s.post("/update-deliveries/new", url.Values{"name": {"agent-1.4.0"}, "groups": {"many"}})
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "whole number", `value="agent-1.4.0"`)
}
