package httpapi_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/api"
)

// TestUpdateHost: what is left out stays, the event tells before and after, and the lifecycle says what may change.
func TestUpdateHost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.ready("h1")
	update := func(body string, status int, more ...string) answer {
		t.Helper()
		return b.mustDo(http.MethodPatch, "/hosts/h1", body, status, more...)
	}
	a := update(`{"labels":{"rack":"r9"},"region":"eu","zone":"eu1","networks":["default","storage"],"profile":"build"}`, 200, "If-Match", etagOf(b, "h1"))
	got := decode[api.Host](t, a)
	want := h
	want.Labels, want.Region, want.Zone, want.Networks, want.Profile = map[string]string{"rack": "r9"}, "eu", "eu1", []string{"default", "storage"}, "build"
	want.Version, want.UpdatedAt = got.Version, got.UpdatedAt
	if d := cmp.Diff(want, got); d != "" || got.Version == h.Version || a.header.Get("Location") != "" {
		t.Errorf("after the change (-want +got, version %d, job %q):\n%s", got.Version, a.header.Get("Location"), d)
	}
	units := decode[api.Page[api.ComputeUnit]](t, b.mustDo(http.MethodGet, "/compute-units?zone=eu1&region=eu", nil, 200)).Items
	var stale int
	b.row(&stale, "SELECT count(*) FROM compute_units WHERE zone IS DISTINCT FROM 'eu1'")
	if len(units) != 3 || stale != 0 {
		t.Errorf("%d units are in the new zone, placement looks for %d elsewhere", len(units), stale)
	}
	event := decode[api.Page[api.Event]](t, b.mustDo(http.MethodGet, "/events?action=host.update", nil, 200)).Items[0]
	var before, after map[string]any
	if json.Unmarshal(event.Before, &before) != nil || json.Unmarshal(event.After, &after) != nil {
		t.Fatalf("%s %s", event.Before, event.After)
	}
	if before["zone"] != "" || after["zone"] != "eu1" || before["profile"] != "minimal" || after["profile"] != "build" || len(after) != 5 {
		t.Errorf("the event says %v, then %v", before, after)
	}
	// The same again changes nothing, and nobody overwrites what they have not seen.
	same := decode[api.Host](t, update(`{"zone":"eu1"}`, 200))
	if same.Version != got.Version {
		t.Errorf("version %d after a change of nothing, want %d", same.Version, got.Version)
	}
	update(`{"zone":"eu2"}`, 412, "If-Match", `"1"`)
	for body, field := range map[string]string{
		`{"region":"No Place"}`: "region", `{"labels":{"A":"x"}}`: "labels", `{"networks":["a","a"]}`: "networks[1]", `{"networks":[]}`: "networks", `{"address":"169.254.169.254"}`: "address",
		`{"port":0}`: "port", `{"profile":"huge"}`: "profile", `{"host_key":"` + sshKey + `"}`: "host_key", `{"name":"h2"}`: "name",
	} {
		if p := update(body, 422).problem(t); len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%s: %+v, want %s", body, p.Errors, field)
		}
	}
	// A network that an allocation has its address of stays.
	b.mustDo(http.MethodPost, "/address-pool", api.AddAddresses{Network: "default", Addresses: []api.AddRange{{Range: "10.9.9.7"}}}, 201)
	b.mustDo(http.MethodPost, "/allocations", api.CreateAllocation{Unit: "h1-cu03", LoginUser: "ada", SSHKeys: []string{sshKey}}, 202)
	if p := update(`{"networks":["storage"]}`, 409).problem(t); p.Code != "network_in_use" {
		t.Errorf("a network in use: %+v", p)
	}
}

// TestAHostAtAnotherAddress is probed there, and must show the key that was confirmed or the one that is given.
func TestAHostAtAnotherAddress(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.ready("h1")
	b.sql("UPDATE hosts SET offered_host_key = $1 WHERE id = $2", sshKey, h.ID)
	a := b.mustDo(http.MethodPatch, "/hosts/h1", `{"address":"127.0.0.2","port":2222}`, 200)
	got := decode[api.Host](t, a)
	if got.Address != "127.0.0.2" || got.Port != 2222 || got.HostKey != h.HostKey || got.OfferedKey != "" {
		t.Errorf("after the move: %s:%d, key %q, offered %q", got.Address, got.Port, got.HostKey, got.OfferedKey)
	}
	job := decode[api.Job](t, b.mustDo(http.MethodGet, a.header.Get("Location")[len(api.Prefix):], nil, 200))
	if job.Kind != "host_probe" || job.HostID != h.ID {
		t.Errorf("the job is a %s of %s", job.Kind, job.Host)
	}
	moved := decode[api.Host](t, b.mustDo(http.MethodPatch, "/hosts/h1", `{"address":"127.0.0.3","host_key":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGcuSTj/XYbfp1fSoSq0yNuRb3Xmx83A8cHi3/XTrqde"}`, 200))
	if moved.HostKey == h.HostKey || moved.Fingerprint == h.Fingerprint {
		t.Errorf("the key that was given is not the one that it must show: %s", moved.Fingerprint)
	}
	for state, change := range map[string]string{"initializing": `{"address":"127.0.0.4"}`, "decommissioning": `{"profile":"build"}`, "lost": `{"labels":{}}`, "decommissioned": `{"zone":"z"}`} {
		b.sql("UPDATE hosts SET state = $1 WHERE id = $2", state, h.ID)
		if p := b.mustDo(http.MethodPatch, "/hosts/"+h.ID, change, 409).problem(t); p.Code != "host_state" {
			t.Errorf("%s of a host that is %s: %+v", change, state, p)
		}
	}
	b.sql("UPDATE hosts SET state = 'initializing' WHERE id = $1", h.ID)
	b.mustDo(http.MethodPatch, "/hosts/"+h.ID, `{"labels":{"rack":"r2"}}`, 200)
}

func etagOf(b *backend, host string) string {
	b.t.Helper()
	return b.mustDo(http.MethodGet, "/hosts/"+host, nil, 200).header.Get("ETag")
}
