package app

import (
	"net/url"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

const hostGrantID = "6a1e0000-0000-4000-8000-00000000004c"

var _ = addPages(map[string]string{
	"/host-grants":                          `href="/host-grants/` + hostGrantID + `"`,
	"/host-grants/new":                      "Who may use it",
	"/host-grants/" + hostGrantID:           "with all that is in it",
	"/host-grants/" + hostGrantID + "/edit": `value="2"`,
	"/shared-hosts":                         "fra9-001",
}, func(a *apitest.API) {
	a.Answer("list-host-grants", 200, apitest.Page(hostGrantOf()))
	a.Answer("get-host-grant", 200, hostGrantOf())
	a.Answer("list-shared-hosts", 200, apitest.Page(api.SharedHost{ID: apitest.HostID, Name: "fra9-001", Zone: "a", Available: true, Units: hostGrantOf().Units, InUse: 1, Free: 1}))
})

func hostGrantOf() api.HostGrant {
	two := int64(2)
	return api.HostGrant{
		ID: hostGrantID, HostID: apitest.HostID, Host: "h1", ScopeKind: "project", Scope: "acme/web", Units: &two, InUse: 1, State: "granted", Version: 4,
		Operations: []api.Operation{{Name: "change", Allowed: true}, {Name: "delete", Allowed: true}}, CreatedBy: "ada", CreatedAt: apitest.Now, UpdatedAt: apitest.Now,
	}
}

// A host is granted, whole where no number is given, and revoked by its name.
func TestHostGrants(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("create-host-grant", 201, hostGrantOf())
	s.wantRedirect(s.post("/host-grants/new", url.Values{"host": {"h1"}, "scope": {"acme/web"}, "units": {""}}), "/host-grants/"+hostGrantID+"?said=host-granted")
	var sent api.CreateHostGrant
	s.only("create-host-grant").Into(t, &sent)
	if sent.Host != "h1" || sent.Scope != "acme/web" || sent.Units != nil {
		t.Errorf("%+v", sent)
	}
	s.wantText(s.post("/host-grants/new", url.Values{"host": {"h1"}, "scope": {"acme"}, "units": {"some"}}), "nter a whole number")
	s.api.Answer("change-host-grant", 200, hostGrantOf())
	s.wantRedirect(s.post("/host-grants/"+hostGrantID+"/edit", url.Values{"units": {"3"}, "version": {"4"}}), "/host-grants/"+hostGrantID+"?said=host-grant-changed")
	var changed api.ChangeHostGrant
	s.only("change-host-grant").Into(t, &changed)
	if changed.Units == nil || *changed.Units != 3 {
		t.Errorf("%+v", changed)
	}
	s.api.Answer("delete-host-grant", 204, nil)
	s.post("/host-grants/"+hostGrantID+"/delete", url.Values{"confirm": {"h2"}, "version": {"4"}})
	if n := len(s.api.Calls("delete-host-grant")); n != 0 {
		t.Errorf("revoked without the name %d times", n)
	}
	s.wantRedirect(s.post("/host-grants/"+hostGrantID+"/delete", url.Values{"confirm": {"h1"}, "version": {"4"}}), "/host-grants?said=host-grant-revoked")
	s.wantText(s.get("/hosts/h1"), "Granted to", "acme/web", "2 units")
}

// What an allocation or a job on a shared host leads to has no page in this workspace.
func TestNoLinkToASharedHost(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := apitest.Allocation()
	a.SharedHost = true
	s.api.Answer("get-allocation", 200, a)
	page := s.get("/allocations/" + a.ID)
	s.wantText(page, "shared by another workspace")
	for _, link := range []string{`href="/hosts/` + a.HostID, `href="/compute-units/` + a.UnitID} {
		if strings.Contains(page.body, link) {
			t.Errorf("a link %s", link)
		}
	}
}
