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

const (
	zoneID      = "6a1e0000-0000-4000-8000-000000000001"
	recordSetID = "6a1e0000-0000-4000-8000-000000000002"
)

var _ = addPages(map[string]string{
	"/dns-zones":                                "example.org",
	"/dns-zones?state=held&mode=sync":           `href="/dns-zones">Clear<`,
	"/dns-zones/new":                            "It is sealed and never shown again",
	"/dns-zones/" + zoneID:                      "sealed and never shown",
	"/dns-zones/" + zoneID + "/edit":            "Empty to keep the one that is there",
	"/dns-foreign-records":                      "mail.example.org",
	"/dns-record-sets":                          "www.example.org",
	"/dns-record-sets/new":                      "IPv4 addresses, one in each line",
	"/dns-record-sets/new?type=MX":              "Preference and mail server, one in each line",
	"/dns-record-sets/" + recordSetID:           "ns1.example.org",
	"/dns-record-sets/" + recordSetID + "/edit": "Resolvers may tell the old values for the old TTL, 300 seconds.",
}, func(a *apitest.API) {
	a.Answer("list-dns-zones", 200, apitest.Page(dnsZone()))
	a.Answer("get-dns-zone", 200, dnsZone())
	a.Answer("list-dns-record-sets", 200, apitest.Page(dnsRecordSet()))
	a.Answer("get-dns-record-set", 200, dnsRecordSet())
	a.Answer("list-dns-foreign-records", 200, apitest.Page(
		api.DNSForeignRecord{ID: "f1", Zone: "example.org", Name: "mail.example.org", Type: "MX", TTL: 300, Values: []string{"10 mx.example.org."}, Outcome: "foreign", SeenAt: apitest.Now},
		api.DNSForeignRecord{ID: "f2", Zone: "example.org", Name: "api.example.org", Type: "A", TTL: 300, Values: []string{"192.0.2.7"}, Outcome: "foreign", Message: "Its ownership record names installation <x>.", SeenAt: apitest.Now},
		api.DNSForeignRecord{ID: "f3", Zone: "example.org", Name: "example.org", Type: "NS", TTL: 300, Values: []string{"ns1.example.org."}, Outcome: "foreign", SeenAt: apitest.Now},
		api.DNSForeignRecord{ID: "f4", Zone: "example.org", Name: "example.org", Type: "SOA", TTL: 300, Values: []string{"ns1 admin 1 2 3 4 5"}, Outcome: "foreign", SeenAt: apitest.Now},
	))
})

func allowed(names ...string) (all []api.Operation) {
	for _, name := range names {
		all = append(all, api.Operation{Name: name, Allowed: true})
	}
	return all
}

func dnsZone() api.DNSZone {
	serial := int64(7)
	return api.DNSZone{
		ID: zoneID, Name: "example.org", ASCIIName: "example.org.", Provider: "rfc2136", Server: "ns1.example.org:53", KeyName: "kloigos-key", KeyAlgorithm: "hmac-sha256",
		Patterns: []string{"*.apps.example.org"}, Mode: "sync", State: "live", StateMeans: "the last synchronization succeeded", Serial: &serial, NegativeTTL: 300, SyncedAt: &apitest.Now,
		Operations: append(allowed("change", "synchronize"), api.Operation{Name: "confirm", Prevents: "No plan waits."}, api.Operation{Name: "delete", Prevents: "It has record sets."}), Version: 4,
	}
}

func dnsRecordSet() api.DNSRecordSet {
	return api.DNSRecordSet{
		ID: recordSetID, ZoneID: zoneID, Zone: "example.org", Name: "www.example.org", ASCIIName: "www.example.org.", Type: "A", TTL: 300, Values: []string{"192.0.2.1", "192.0.2.2"},
		Owner: "user", State: "live", StateMeans: "the name server holds it", Operations: allowed("change", "delete", "check"), Version: 9,
		Check: &api.DNSCheck{
			At: apitest.Now, Servers: []api.DNSAnswer{
				{Server: "ns1.example.org", Address: "192.0.2.53:53", Status: "current", Values: []string{"192.0.2.1"}, TTL: 300},
				{Server: "ns2.example.org", Address: "192.0.2.54:53", Status: "unreachable", Message: "no answer <b>in time</b>"},
			},
			Resolver: &api.DNSAnswer{Server: "resolver", Address: "127.0.0.1:53", Status: "different", Values: []string{"192.0.2.9"}, TTL: 20}, Notes: []string{"Asked 2 of 3."},
		},
	}
}

// The secret of a zone goes to the API and nowhere else: not back into the form that was refused, and not into one
// that a login brings back.
func TestTheSecretOfAZoneIsNeverShown(t *testing.T) {
	t.Parallel()
	s := setup(t)
	form := url.Values{"name": {"example.org"}, "server": {"ns1.example.org"}, "key_name": {"k"}, "key_algorithm": {"hmac-sha512"}, "key_secret": {"c2VjcmV0c2VjcmV0c2VjcmV0"}, "patterns": {"*.a.example.org\nb.example.org"}, "mode": {"observe"}, "allow_private": {"true"}}
	s.api.Answer("create-dns-zone", 422, api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "body.key_name", Message: "is <not> a name"}}})
	a := s.post("/dns-zones/new", form)
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "Is &lt;not&gt; a name", `value="ns1.example.org"`, `value="hmac-sha512" selected`, "*.a.example.org\nb.example.org", `value="true" checked`)
	expired := s.post("/dns-zones/new", form, header("Cookie", "__Host-kloigos=kl_expired"))
	for _, body := range []string{a.body, expired.body} {
		if strings.Contains(body, "c2VjcmV0") {
			t.Error("the secret came back")
		}
	}
	s.api.Answer("create-dns-zone", 201, dnsZone())
	s.wantRedirect(s.post("/dns-zones/new", form), "/dns-zones/"+zoneID+"?said=dns-zone-created")
	var sent api.CreateDNSZone
	calls := s.api.Calls("create-dns-zone")
	calls[len(calls)-1].Into(t, &sent)
	if sent.KeySecret != "c2VjcmV0c2VjcmV0c2VjcmV0" || sent.Mode != "observe" || !sent.AllowPrivate || len(sent.Patterns) != 2 {
		t.Errorf("sent %+v", sent)
	}
}

// A change keeps the secret where none is typed, and overwrites nothing that was not seen.
func TestEditOfAZone(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.wantText(s.get("/dns-zones/"+zoneID+"/edit"), `name="version" value="4"`, `name="key_secret" type="password" value=""`)
	s.api.Answer("change-dns-zone", 200, dnsZone())
	form := url.Values{"version": {"3"}, "server": {"ns2.example.org"}, "key_name": {"k"}, "key_algorithm": {"hmac-sha256"}, "key_secret": {""}, "patterns": {""}, "allow_private": {""}, "mode": {"sync"}}
	s.wantRedirect(s.post("/dns-zones/"+zoneID+"/edit", form), "/dns-zones/"+zoneID+"?said=dns-zone-changed")
	call := s.only("change-dns-zone")
	if call.Header.Get("If-Match") != `"3"` || strings.Contains(call.Body, "key_secret") || !strings.Contains(call.Body, `"patterns":[]`) || !strings.Contains(call.Body, `"allow_private":false`) {
		t.Errorf("sent %q %s", call.Header.Get("If-Match"), call.Body)
	}
	s.api.Refuse("change-dns-zone", api.Problem{Status: 412, Code: "changed"})
	a := s.post("/dns-zones/"+zoneID+"/edit", form)
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "Someone else changed this first", `value="ns2.example.org"`)
}

// A held plan is confirmed as it was shown; the zone's page shows what it is about.
func TestConfirmAPlanOfAZone(t *testing.T) {
	t.Parallel()
	s := setup(t)
	z := dnsZone()
	z.State, z.StateMeans, z.Plan = "held", "the plan changes many records", &api.DNSPlan{Checksum: "4f1c9a0be27d3358", Owned: 20, Touched: 12}
	s.api.Answer("get-dns-zone", 200, z)
	a := s.get("/dns-zones/" + zoneID)
	s.wantText(a, "12 of 20 record sets", `name="checksum" value="4f1c9a0be27d3358"`, "Confirm this plan", "tone-wait", "Differences")
	s.api.Answer("confirm-dns-plan", 202, z, apitest.JobID)
	s.wantRedirect(s.post("/dns-zones/"+zoneID+"/confirm", url.Values{"checksum": {"4f1c9a0be27d3358"}, "version": {"4"}}), "/jobs/"+apitest.JobID)
	var sent api.ConfirmDNSPlan
	call := s.only("confirm-dns-plan")
	if call.Into(t, &sent); sent.Checksum != "4f1c9a0be27d3358" || call.Header.Get("If-Match") != `"4"` {
		t.Errorf("sent %+v with %s", sent, call.Header.Get("If-Match"))
	}
}

// A record of nobody is adopted by a click, one of another owner after a question; what can't be managed is not offered.
func TestAdoptForeignRecords(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.get("/dns-foreign-records?zone=example.org")
	s.wantText(a, `name="from" value="unowned"`, `name="from" value="foreign"`, "names installation &lt;x&gt;", "Take it over only if that one gives it up")
	if n := strings.Count(a.body, `action="/dns-zones/example.org/adopt"`); n != 2 {
		t.Errorf("%d records can be adopted, want 2", n)
	}
	s.api.Answer("adopt-dns-record", 201, dnsRecordSet())
	s.wantRedirect(s.post("/dns-zones/example.org/adopt", url.Values{"name": {"mail.example.org"}, "type": {"MX"}, "from": {"unowned"}}), "/dns-record-sets/"+recordSetID+"?said=dns-record-adopted")
	var sent api.AdoptDNSRecord
	if s.only("adopt-dns-record").Into(t, &sent); sent.Name != "mail.example.org." || sent.Type != "MX" || sent.From != "unowned" {
		t.Errorf("sent %+v", sent)
	}
}

func TestDeleteNeedsTheNameAndTheVersionThatWasShown(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for path, route := range map[string]string{"/dns-zones/" + zoneID: "delete-dns-zone", "/dns-record-sets/" + recordSetID: "delete-dns-record-set"} {
		s.api.Answer(route, 204, nil)
		s.wantStatus(s.post(path+"/delete", url.Values{"confirm": {"other"}, "version": {"9"}}), http.StatusConflict)
		if n := len(s.api.Calls(route)); n != 0 {
			t.Errorf("%s was called without the name", route)
		}
	}
	s.wantText(s.get("/dns-record-sets/"+recordSetID), `name="version" value="9"`, `data-confirm="www.example.org"`)
	s.wantRedirect(s.post("/dns-record-sets/"+recordSetID+"/delete", url.Values{"confirm": {"www.example.org"}, "version": {"9"}}), "/dns-zones/"+zoneID+"?said=dns-record-set-deleted")
	if call := s.only("delete-dns-record-set"); call.Header.Get("If-Match") != `"9"` {
		t.Errorf("deleted whatever version: %q", call.Header.Get("If-Match"))
	}
	s.wantText(s.get("/dns-zones/"+zoneID), "It has record sets.")
}

// What servers told stands beside each; their words stay words.
func TestPropagation(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.wantText(s.get("/dns-record-sets/"+recordSetID), "no answer &lt;b&gt;in time&lt;/b&gt;", "authoritative, 192.0.2.54:53", "resolver, 127.0.0.1:53", "192.0.2.9", "TTL 20 s", "TTL 5 min<", "Asked 2 of 3.")
	s.api.Answer("check-dns-record-set", 202, dnsRecordSet(), apitest.JobID)
	s.wantRedirect(s.post("/dns-record-sets/"+recordSetID+"/check", nil), "/jobs/"+apitest.JobID)
}

func TestFormOfARecordSet(t *testing.T) {
	t.Parallel()
	s := setup(t)
	form := url.Values{"zone": {"example.org"}, "name": {"@"}, "type": {"TXT"}, "ttl": {"60"}, "values": {"v=spf1 -all\r\nhello"}}
	s.api.Answer("create-dns-record-set", 422, api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "body.values[1]", Message: "is <odd>"}}})
	a := s.post("/dns-record-sets/new", form)
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "No. 2: is &lt;odd&gt;", "v=spf1 -all\nhello", `<option value="example.org" selected>`, `aria-current="true" href="/dns-record-sets/new?zone=example.org&amp;type=TXT"`)
	s.wantStatus(s.post("/dns-record-sets/new", url.Values{"ttl": {"soon"}}), http.StatusUnprocessableEntity)
	s.api.Answer("create-dns-record-set", 201, dnsRecordSet())
	s.wantRedirect(s.post("/dns-record-sets/new", form), "/dns-record-sets/"+recordSetID+"?said=dns-record-set-created")
	s.api.Answer("change-dns-record-set", 200, dnsRecordSet())
	s.wantRedirect(s.post("/dns-record-sets/"+recordSetID+"/edit", url.Values{"version": {"9"}, "ttl": {"60"}, "values": {"192.0.2.3"}}), "/dns-record-sets/"+recordSetID+"?said=dns-record-set-changed")
	call := s.only("change-dns-record-set")
	if call.Header.Get("If-Match") != `"9"` || call.Body != `{"ttl":60,"values":["192.0.2.3"]}`+"\n" && call.Body != `{"ttl":60,"values":["192.0.2.3"]}` {
		t.Errorf("sent %q %s", call.Header.Get("If-Match"), call.Body)
	}
}

// An object's page joins what happened to it, and pauses and runs its policies.
func TestTimelineAndPoliciesOfAnObject(t *testing.T) {
	t.Parallel()
	s := setup(t)
	policies := apitest.Policies()
	policies.Items = append(policies.Items, api.Policy{ID: "p", Name: "dns_zone", Noun: "dns_zone", Why: "keeps it in line"})
	s.api.Answer("list-policies", 200, policies)
	s.api.Answer("list-object-conditions", 200, apitest.Page(api.Condition{
		Noun: "dns_zone", ObjectID: zoneID, Type: "synced", Status: "false", Reason: "wrong_key", Message: "The server <does not> know the key.", Fault: "user", Policy: "dns_zone",
		Since: apitest.Now, ObservedAt: apitest.Now, History: []api.ConditionChange{{Status: "true", Reason: "live", Message: "It was well.", Since: apitest.Now.Add(-time.Hour)}},
	}))
	job := apitest.Job("zone_sync", "failed")
	job.Host, job.HostID, job.Playbook, job.Objects = "", "", "", []api.JobObject{{Role: "zone", Noun: "dns_zone", ID: zoneID, Name: "example.org"}}
	s.api.Answer("list-jobs", 200, apitest.Page(job))
	a := s.get("/dns-zones/" + zoneID)
	s.wantText(a, "Synchronize zone example.org", "host · initialize", "The server &lt;does not&gt; know the key.", "It was well.", "at fault: whoever asked for it",
		`action="/objects/dns_zone/`+zoneID+`/pause"`, "Reconcile now: dns zone", `href="/jobs?object=`+zoneID+`"`)
	if strings.Contains(a.body, "old_plans") {
		t.Error("a policy that does not look at zones is offered")
	}
	if q := s.only("list-object-conditions").Query; q != "noun=dns_zone&object="+zoneID {
		t.Errorf("conditions were asked for by %q", q)
	}
	s.api.Answer("get-job", 200, job)
	s.wantText(s.get("/jobs/"+job.ID), `href="/dns-zones/`+zoneID+`"`)

	s.api.Answer("pause-object", 200, api.PolicyPause{})
	s.wantRedirect(s.post("/objects/dns_zone/"+zoneID+"/pause", url.Values{"reason": {"moving"}}), "/dns-zones/"+zoneID+"?said=object-paused")
	var sent api.PauseObject
	if s.only("pause-object").Into(t, &sent); sent.ObjectID != zoneID || sent.Reason != "moving" {
		t.Errorf("sent %+v", sent)
	}
	s.wantRedirect(s.post("/objects/dns_zone/"+zoneID+"/run", url.Values{"policy": {"dns_zone"}}), "/dns-zones/"+zoneID+"?said=object-due")
	s.wantStatus(s.post("/objects/nothing/"+zoneID+"/run", url.Values{"policy": {"dns_zone"}}), http.StatusNotFound)

	policies.Pauses = []api.PolicyPause{{ObjectID: zoneID, Mode: "pause", PausedBy: "ada", Reason: "moving <it>", PausedAt: apitest.Now}}
	s.api.Answer("list-policies", 200, policies)
	a = s.get("/dns-zones/" + zoneID)
	s.wantText(a, "All policies are paused for this object by ada", "moving &lt;it&gt;", `action="/objects/dns_zone/`+zoneID+`/resume"`)
	if strings.Contains(a.body, "Reconcile now: dns zone") || strings.Contains(a.body, zoneID+`/pause"`) {
		t.Error("offers to run or to pause what is paused")
	}
	s.api.Answer("resume-object", 204, nil)
	s.wantRedirect(s.post("/objects/dns_zone/"+zoneID+"/resume", nil), "/dns-zones/"+zoneID+"?said=object-resumed")

	s.api.Answer("pause-object", 422, api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "reason", Message: "give the reason in one line"}}})
	a = s.post("/objects/dns_zone/"+zoneID+"/pause", url.Values{"reason": {"a<b"}})
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "Give the reason in one line", `value="a&lt;b"`)
}
