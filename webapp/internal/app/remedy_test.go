package app

import (
	"net/http"
	"net/url"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

const remedyID = "6a1e0000-0000-4000-8000-000000000031"

var _ = addPages(map[string]string{
	"/remedies":                       "host: healthy",
	"/remedies?noun=host":             `href="/remedies">Clear<`,
	"/remedies/new":                   "Seconds to wait",
	"/remedies/" + remedyID:           "refused &lt;b&gt;it",
	"/remedies/" + remedyID + "/edit": "Edit probe-again",
}, func(a *apitest.API) {
	a.Answer("list-remedies", 200, apitest.Page(probeAgain()))
	a.Answer("get-remedy", 200, probeAgain())
	a.Answer("list-remedy-runs", 200, apitest.Page(api.RemedyRun{
		ID: "r1", At: apitest.Now, Outcome: "refused", ObjectID: remedyID, Object: "h1", Reason: "unreachable", Message: "Somebody refused <b>it.",
	}))
})

func probeAgain() api.Remedy {
	return api.Remedy{
		ID: remedyID, Name: "probe-again", Noun: "host", Condition: "healthy", Job: "host_probe", WaitSeconds: 90, PerDay: 3, AtOnce: 2, Enabled: true,
		Operations: allowed("change", "delete"), Version: 4, CreatedAt: apitest.Now, UpdatedAt: apitest.Now,
	}
}

// A form is sent as it was typed, and drawn again with what the API refuses.
func TestRemedyForms(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("create-remedy", 422, api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "body.wait_seconds", Message: "is <short>"}}})
	a := s.post("/remedies/new", url.Values{
		"name": {"probe-again"}, "noun": {"host"}, "condition": {"healthy"}, "job": {"host_probe"}, "wait_seconds": {"59"}, "per_day": {"3"}, "at_once": {"x"}, "enabled": {"true"},
	})
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "&lt;short&gt;", `value="59"`)
	var made api.CreateRemedy
	s.only("create-remedy").Into(t, &made)
	if made.Name != "probe-again" || made.WaitSeconds != 59 || made.AtOnce != 0 || !*made.Enabled {
		t.Errorf("%+v", made)
	}

	s.wantText(s.get("/remedies/"+remedyID+"/edit"), `value="90"`)
	s.api.Answer("change-remedy", 200, probeAgain())
	a = s.post("/remedies/"+remedyID+"/edit", url.Values{
		"version": {"4"}, "name": {"probe-again"}, "condition": {"healthy"}, "job": {"host_probe"}, "wait_seconds": {"90"}, "per_day": {"1"}, "at_once": {"2"},
	})
	s.wantStatus(a, http.StatusSeeOther)
	var changed api.ChangeRemedy
	call := s.only("change-remedy")
	call.Into(t, &changed)
	if *changed.WaitSeconds != 90 || *changed.PerDay != 1 || *changed.Enabled || call.Header.Get("If-Match") == "" {
		t.Errorf("%+v with %v", changed, call.Header)
	}
}

func TestRemedyIsDeletedByItsName(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.wantStatus(s.post("/remedies/"+remedyID+"/delete", url.Values{"confirm": {"other"}}), http.StatusConflict)
	s.api.Answer("delete-remedy", 204, nil)
	s.wantStatus(s.post("/remedies/"+remedyID+"/delete", url.Values{"confirm": {"probe-again"}, "version": {"4"}}), http.StatusSeeOther)
}
