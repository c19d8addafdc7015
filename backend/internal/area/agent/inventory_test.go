package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
)

const laidOut = `{"cpus": [{"cpu": 0, "node": 0}, {"cpu": 1, "node": 0}, {"cpu": 2, "node": 1}, {"cpu": 3, "node": 1}],
 "nodes": [{"node": 0, "memory_bytes": 8589934592}, {"node": 1, "memory_bytes": 8589934592}], "memory_bytes": 17179869184,
 "devices": [{"by_id": "/dev/disk/by-id/nvme-a", "model": "m", "size_bytes": 1000000000}, {"by_id": "", "model": "virtio", "size_bytes": 5000000000}]}`

// TestInventorySince checks the sentences: one for each difference, with the old value and the new one.
func TestInventorySince(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what     string
		from, to string // replaced in the facts
		counted  Counted
		want     []string
	}{
		{what: "nothing"},
		{what: "another path, and memory that a kernel keeps", from: `"memory_bytes": 17179869184`, to: `"memory_bytes": 17100000000`},
		{what: "a CPU", from: `{"cpu": 3, "node": 1}`, to: `{"cpu": 9, "node": 1}`, want: []string{
			"It had 4 CPUs (0-3), and has 4 (0-2,9).", "NUMA node 1 had CPUs 2-3 and 8.0 GiB of memory, and has CPUs 2,9 and 8.0 GiB.",
		}},
		{what: "a CPU on another node", from: `{"cpu": 3, "node": 1}`, to: `{"cpu": 3, "node": 0}`, want: []string{
			"NUMA node 0 had CPUs 0-1 and 8.0 GiB of memory, and has CPUs 0-1,3 and 8.0 GiB.", "NUMA node 1 had CPUs 2-3 and 8.0 GiB of memory, and has CPUs 2 and 8.0 GiB.",
		}},
		{what: "fewer by the agent", counted: Counted{CPUs: 2, MemoryBytes: 8 << 30}, want: []string{
			"It had 4 CPUs (0-3), and its agent counts 2.", "It had 16.0 GiB of memory, and has 8.0 GiB.",
		}},
		{what: "back by the agent", from: `"memory_bytes": 17179869184`, to: `"memory_bytes": 1`, counted: Counted{CPUs: 4, MemoryBytes: 16 << 30}},
		{what: "a disk", from: "nvme-a", to: "nvme-b\x1b[1m", want: []string{"Disk nvme-a (1.0 GB) is gone.", "Disk nvme-b?[1m (1.0 GB) is new."}},
		{what: "a disk of another size", from: `"size_bytes": 5000000000`, to: `"size_bytes": 4000000000`, want: []string{"Disk without an id, virtio had 5.0 GB, and has 4.0 GB."}},
	} {
		var was, is Inventory
		if err := json.Unmarshal([]byte(laidOut), &was); err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(laidOut, c.from, strings.ReplaceAll(c.to, "\x1b", `\u001b`), 1)
		if err := json.Unmarshal([]byte(changed), &is); err != nil {
			t.Fatal(err)
		}
		if got := is.Since(was, c.counted); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

// TestInventoryIsToldOnce: by an event when it changes, and when it matches again.
func TestInventoryIsToldOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	host := p.host("h1", "z")
	look := func(changed int64) Stock {
		t.Helper()
		s, err := StockOf(t.Context(), p.Reader, host)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []int64{changed, 0} { // the second run finds that it was told
			n, err := RecordStock(t.Context(), p.DB, "host_inventory", s)
			if err != nil || n != want {
				t.Fatalf("%d changed, want %d: %v", n, want, err)
			}
		}
		return s
	}
	facts := func(text string) {
		p.sql("UPDATE hosts SET facts = $2, facts_at = now(), layout = '{}' WHERE id = $1", host, text)
	}
	events := func() string {
		return readOne[string](p, "SELECT COALESCE(string_agg(action, ' ' ORDER BY at), '') FROM events WHERE object_id = $1 AND action LIKE 'host.inventory%'", host)
	}
	facts(laidOut)
	if all, err := InventoryHosts(t.Context(), p.Reader, uuid.Nil, 10); err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	look(0) // a layout from before
	facts(strings.Replace(laidOut, "nvme-a", "nvme-b", 1))
	if s := look(1); len(s.Differences()) != 2 {
		t.Errorf("%q", s.Differences())
	}
	if got := events(); got != "host.inventory_change" {
		t.Error(got)
	}
	facts(laidOut)
	look(1)
	if got := events(); got != "host.inventory_change host.inventory_match" {
		t.Error(got)
	}
	m := p.enrol(host)
	p.beat(uuid.New(), Causes{}, m)
	p.sql(`UPDATE agent_reports SET report = '{"cpu_count": 3, "memory_total": 17179869184}', reported_at = now() + INTERVAL '1 second' WHERE agent_id = $1`, m.Agent)
	if s := look(1); len(s.Differences()) != 1 || !strings.Contains(s.Differences()[0], "counts 3") {
		t.Errorf("%q", s.Differences())
	}
	facts(laidOut)
	p.sql(`UPDATE hosts SET facts_at = now() + INTERVAL '1 minute' WHERE id = $1`, host)
	look(1) // the probe is newer
}
