package app

import (
	"net/url"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

const networkGrantID = "6a1e0000-0000-4000-8000-0000000000a7"

var _ = addPages(map[string]string{
	"/network-grants":                             `href="/network-grants/` + networkGrantID + `"`,
	"/network-grants/new":                         "Whose hosts may carry it",
	"/network-grants/" + networkGrantID:           "with all that is in it",
	"/network-grants/" + networkGrantID + "/edit": `value="2"`,
	"/shared-networks":                            "plant-lan",
}, func(a *apitest.API) {
	a.Answer("list-network-grants", 200, apitest.Page(networkGrantOf()))
	a.Answer("get-network-grant", 200, networkGrantOf())
	a.Answer("list-shared-networks", 200, apitest.Page(api.SharedNetwork{ID: networkGrantID, Name: "plant-lan", CIDR: "10.9.0.0/24", Organization: "acme", Addresses: networkGrantOf().Addresses, InUse: 1, Free: 1, Hosts: 1}))
})

func networkGrantOf() api.NetworkGrant {
	two := int64(2)
	return api.NetworkGrant{
		ID: networkGrantID, NetworkID: networkGrantID, Network: "lan", ScopeKind: "project", Scope: "acme/web", Addresses: &two, InUse: 1, State: "granted", Version: 4,
		Operations: []api.Operation{{Name: "change", Allowed: true}, {Name: "delete", Allowed: true}}, CreatedBy: "ada", CreatedAt: apitest.Now, UpdatedAt: apitest.Now,
	}
}

// A network is granted, the whole pool where no number is given, and revoked by its name.
func TestNetworkGrants(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("create-network-grant", 201, networkGrantOf())
	s.wantRedirect(s.post("/network-grants/new", url.Values{"network": {"lan"}, "scope": {"acme/web"}, "addresses": {""}}), "/network-grants/"+networkGrantID+"?said=network-granted")
	var sent api.CreateNetworkGrant
	s.only("create-network-grant").Into(t, &sent)
	if sent.Network != "lan" || sent.Scope != "acme/web" || sent.Addresses != nil {
		t.Errorf("%+v", sent)
	}
	s.wantText(s.post("/network-grants/new", url.Values{"network": {"lan"}, "scope": {"acme"}, "addresses": {"some"}}), "nter a whole number")
	s.api.Answer("change-network-grant", 200, networkGrantOf())
	s.wantRedirect(s.post("/network-grants/"+networkGrantID+"/edit", url.Values{"addresses": {"3"}, "version": {"4"}}), "/network-grants/"+networkGrantID+"?said=network-grant-changed")
	var changed api.ChangeNetworkGrant
	s.only("change-network-grant").Into(t, &changed)
	if changed.Addresses == nil || *changed.Addresses != 3 {
		t.Errorf("%+v", changed)
	}
	s.api.Answer("delete-network-grant", 204, nil)
	s.post("/network-grants/"+networkGrantID+"/delete", url.Values{"confirm": {"wan"}, "version": {"4"}})
	if n := len(s.api.Calls("delete-network-grant")); n != 0 {
		t.Errorf("revoked without the name %d times", n)
	}
	s.wantRedirect(s.post("/network-grants/"+networkGrantID+"/delete", url.Values{"confirm": {"lan"}, "version": {"4"}}), "/network-grants?said=network-grant-revoked")
}
