package drift

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/agent"
)

// reading is what a real agent read on a Debian 12 host with one tenant.
func reading(t *testing.T) agent.Seen {
	t.Helper()
	text, err := os.ReadFile("testdata/reading.json")
	if err != nil {
		t.Fatal(err)
	}
	var parts []struct {
		Part, Hash   string
		Facts, Units map[string]string
	}
	if err := json.Unmarshal(text, &parts); err != nil {
		t.Fatal(err)
	}
	seen := agent.Seen{Parts: map[string]agent.Part{}}
	for _, p := range parts {
		part := agent.Part(p)
		if err := part.Check(); err != nil {
			t.Fatalf("%s: %v", p.Part, err)
		}
		seen.Parts[p.Part], seen.Hash = part, p.Hash
	}
	return seen
}

func text(s string) *string { return &s }

// promised are the rows of that host.
func promised() (Host, []Unit) {
	h := Host{
		Name: "demo", Incarnation: uuid.MustParse("5bda7fe7-b0dc-489a-bfb2-707899b476ac"), SystemCPUs: text("0,4"), VolumeGroup: text("kloigos-vg"),
		Uplink: text("ens3"), Gateway: text("10.0.2.2"),
	}
	return h, []Unit{{
		ID: uuid.MustParse("dea7d607-e8c9-4017-910e-cf3da5cece5c"), Name: "demo-cu02", Ordinal: 2, CPUs: "5-7", MemoryNodes: "1", MemoryMaxBytes: 1749557248,
		MemoryHighBytes: 1662078976, TasksMax: 2048, AllocationID: uuid.MustParse("1092a1e8-ce57-46cd-bafc-bf097aaf8875"), LoginUser: "alice", UID: 98660,
		Address: "10.0.2.101", SSHKeys: []string{testKey}, Settled: true,
	}}
}

// TestARealHostIsAsPromised: what the rows promise is what the agent of a host sees there, to the last rule of the packet filter.
func TestARealHostIsAsPromised(t *testing.T) {
	t.Parallel()
	seen := reading(t)
	if !seen.Current() {
		t.Error("the hashes of the parts do not fit")
	}
	h, units := promised()
	for _, f := range Verdict(h, units, seen) {
		t.Errorf("%+v", f)
	}
}

// TestEachPromiseIsNamed: any one fact that differs is found, as its promise, and as nothing else.
func TestEachPromiseIsNamed(t *testing.T) {
	t.Parallel()
	h, units := promised()
	for part, all := range map[string]map[string]string{agent.HostPart: h.promises(), units[0].ID.String(): units[0].promises(h, "4096")} {
		for name := range all {
			seen := reading(t)
			seen.Parts[part].Facts[name] = "something else"
			promise, fact, _ := strings.Cut(name, ".")
			found := Verdict(h, units, seen)
			if len(found) != 1 || found[0].Promise != promise || found[0].Promised != fact+"="+all[name] || found[0].Found != fact+"=something else" || (found[0].Unit == uuid.Nil) != (part == agent.HostPart) {
				t.Errorf("%s: %+v", name, found)
			}
			delete(seen.Parts[part].Facts, name)
			if found = Verdict(h, units, seen); len(found) != 1 || found[0].Found != fact+"=missing" {
				t.Errorf("without %s: %+v", name, found)
			}
		}
	}
}

// TestAHiddenUnitIsFound: a host that says nothing of a unit is not believed to have none.
func TestAHiddenUnitIsFound(t *testing.T) {
	t.Parallel()
	seen := reading(t)
	h, units := promised()
	delete(seen.Parts, units[0].ID.String())
	if found := Verdict(h, units, seen); len(found) != 1 || found[0].Promise != "manifest" || found[0].Found != "missing" {
		t.Errorf("%+v", found)
	}
	units[0].Settled = false // its tenant comes or goes
	if found := Verdict(h, units, seen); len(found) != 0 {
		t.Errorf("%+v", found)
	}
}

// TestANetworkOfItsOwnIsPromised: a unit with one has nothing of its address on the host's stack, and a chain that refuses all.
func TestANetworkOfItsOwnIsPromised(t *testing.T) {
	t.Parallel()
	seen := reading(t)
	h, units := promised()
	units[0].UnitNetwork = "unit"
	facts := seen.Parts[units[0].ID.String()].Facts
	if found := Verdict(h, units, seen); len(found) != 2 || found[0].Promise != "address" || found[1].Promise != "nftables" {
		t.Errorf("a unit on the host: %+v", found)
	}
	delete(facts, "address.rule")
	facts["address.on"], facts["address.route"], facts["address.namespace"], facts["address.sshd"] = "none", "via 10.0.2.2 dev ens3 src none", "nsfs", "active, enabled"
	facts["nftables.path"] = testPath
	facts["nftables.rules"] = "587bc9f8" // as nft 1.0.6 lists network.nft.j2 and the agent hashes it
	if found := Verdict(h, units, seen); len(found) != 0 {
		t.Errorf("%+v", found)
	}
}

func TestWindows(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		parsed, err := time.Parse("2006-01-02 15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	sunday := Setting{Mode: Window, WindowDay: "sun", WindowFrom: 22, WindowHours: 4} // 2026-11-29 is a Sunday
	for when, want := range map[string]bool{
		"2026-11-29 21:59": false, "2026-11-29 22:00": true, "2026-11-30 01:59": true, "2026-11-30 02:00": false, "2026-11-30 22:30": false,
	} {
		if sunday.Repairs(at(when)) != want {
			t.Errorf("at %s it is open: %v", when, !want)
		}
	}
	daily := Setting{Mode: Window, WindowFrom: 3, WindowHours: 1}
	if !daily.Repairs(at("2026-11-25 03:30")) || daily.Repairs(at("2026-11-25 04:00")) {
		t.Error("a window of each day")
	}
	if (Setting{Mode: Observe}).Repairs(at("2026-11-25 03:30")) || !(Setting{Mode: Repair}).Repairs(at("2026-11-25 03:30")) {
		t.Error("modes without a window")
	}
}

const testKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKODqBVcWHzVaQt7F3BTOwJZ0ewwCRpIsd0d2UrUnztl alice"
