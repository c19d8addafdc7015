package app

import (
	"net/url"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

const zoneGrantID = "6a1e0000-0000-4000-8000-00000000005c"

var _ = addPages(map[string]string{
	"/dns-zone-grants":                          `href="/dns-zone-grants/` + zoneGrantID + `"`,
	"/dns-zone-grants/new":                      "Who may use it",
	"/dns-zone-grants/" + zoneGrantID:           "with all that is in it",
	"/dns-zone-grants/" + zoneGrantID + "/edit": `value="web.example.org"`,
	"/shared-dns-zones":                         "shared.example",
	"/shared-dns-zones/" + zoneGrantID:          "which keeps the name server",
}, func(a *apitest.API) {
	a.Answer("list-dns-zone-grants", 200, apitest.Page(zoneGrantOf()))
	a.Answer("get-dns-zone-grant", 200, zoneGrantOf())
	a.Answer("list-shared-dns-zones", 200, apitest.Page(sharedZoneOf()))
	a.Answer("get-shared-dns-zone", 200, sharedZoneOf())
})

func zoneGrantOf() api.DNSZoneGrant {
	return api.DNSZoneGrant{
		ID: zoneGrantID, ZoneID: apitest.HostID, Zone: "example.org", ScopeKind: "project", Scope: "acme/web", Suffix: "web.example.org", InUse: 2, State: "granted", Version: 4,
		Operations: []api.Operation{{Name: "change", Allowed: true}, {Name: "delete", Allowed: true}, {Name: "remove-names", Prevents: "The grant counts."}},
		CreatedBy:  "ada", CreatedAt: apitest.Now, UpdatedAt: apitest.Now,
	}
}

func sharedZoneOf() api.SharedDNSZone {
	return api.SharedDNSZone{
		ID: zoneGrantID, ZoneID: apitest.HostID, Name: "shared.example", Suffix: "web.shared.example", Organization: "corp", State: "live", Mode: "sync", InUse: 1,
		Operations: []api.Operation{{Name: "name-allocations", Allowed: true}, {Name: "stop-naming", Prevents: "It does not."}}, CreatedAt: apitest.Now,
	}
}

// A zone is granted, whole where no names are given, and revoked by its name; its page says who uses it.
func TestDNSZoneGrants(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("create-dns-zone-grant", 201, zoneGrantOf())
	s.wantRedirect(s.post("/dns-zone-grants/new", url.Values{"zone": {"example.org"}, "scope": {"acme/web"}, "suffix": {"web"}}), "/dns-zone-grants/"+zoneGrantID+"?said=dns-zone-granted")
	var sent api.CreateDNSZoneGrant
	s.only("create-dns-zone-grant").Into(t, &sent)
	if sent != (api.CreateDNSZoneGrant{Zone: "example.org", Scope: "acme/web", Suffix: "web"}) {
		t.Errorf("%+v", sent)
	}
	s.api.Answer("change-dns-zone-grant", 200, zoneGrantOf())
	s.wantRedirect(s.post("/dns-zone-grants/"+zoneGrantID+"/edit", url.Values{"suffix": {""}, "version": {"4"}}), "/dns-zone-grants/"+zoneGrantID+"?said=dns-zone-grant-changed")
	s.api.Answer("delete-dns-zone-grant", 204, nil)
	s.post("/dns-zone-grants/"+zoneGrantID+"/delete", url.Values{"confirm": {"example.net"}, "version": {"4"}})
	if n := len(s.api.Calls("delete-dns-zone-grant")); n != 0 {
		t.Errorf("revoked without the name %d times", n)
	}
	s.wantRedirect(s.post("/dns-zone-grants/"+zoneGrantID+"/delete", url.Values{"confirm": {"example.org"}, "version": {"4"}}), "/dns-zone-grants?said=dns-zone-grant-revoked")
	s.api.Answer("remove-dns-zone-names", 200, zoneGrantOf())
	s.wantRedirect(s.post("/dns-zone-grants/"+zoneGrantID+"/remove-names", url.Values{"confirm": {"example.org"}}), "/dns-zone-grants?said=dns-zone-names-removed")
	var removed api.RemoveDNSZoneNames
	s.only("remove-dns-zone-names").Into(t, &removed)
	if removed.Confirm != "example.org" {
		t.Errorf("%+v", removed)
	}
	s.wantText(s.get("/dns-zones/example.org"), "Shared with", "acme/web", "web.example.org and below", "2 record sets")
}

// Who uses a zone of others sees by whom it is shared, and may have allocations named there.
func TestSharedDNSZone(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.wantText(s.get("/shared-dns-zones/"+zoneGrantID), "Shared by", "corp", "Name allocations here")
	s.api.Answer("name-in-shared-dns-zone", 200, sharedZoneOf())
	s.wantRedirect(s.post("/shared-dns-zones/"+zoneGrantID+"/naming?names=true", url.Values{}), "/shared-dns-zones/"+zoneGrantID+"?said=dns-naming-set")
	var sent api.NameInSharedDNSZone
	s.only("name-in-shared-dns-zone").Into(t, &sent)
	if !sent.NamesAllocations {
		t.Error("it stopped")
	}
	s.wantText(s.get("/dns-record-sets/new"), "shared.example, shared by corp")
	set := dnsRecordSet()
	set.SharedZoneID = zoneGrantID
	s.api.Answer("get-dns-record-set", 200, set)
	s.wantText(s.get("/dns-record-sets/"+set.ID), `href="/shared-dns-zones/`+zoneGrantID)
}
