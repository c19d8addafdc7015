package domain

import (
	"fmt"
	"strings"
	"testing"
)

const unitA, unitB = "6a2c8d9e-0000-4000-8000-00000000000a", "6a2c8d9e-0000-4000-8000-00000000000b"

func TestParseUse(t *testing.T) {
	t.Parallel()
	raw := fmt.Sprintf(`{"units": [
		{"id": %q, "cpu_millis": 1500, "memory_bytes": 100, "cache_bytes": 140, "processes": 7, "disk_used_bytes": 10, "disk_bytes": 20, "measured_at": "2001-01-01T00:00:00Z"},
		{"id": %q, "cpu_millis": 3, "memory_bytes": 5, "disk_used_bytes": 1},
		{"id": "somebody else's", "cpu_millis": -1}]}`, unitA, unitB)
	found, err := ParseUse([]byte(raw), map[string]bool{unitA: true, unitB: true})
	if err != nil {
		t.Fatal(err)
	}
	a, b := found[unitA], found[unitB]
	if len(found) != 2 || *a.CPUMillis != 1500 || *a.MemoryBytes != 100 || *a.Processes != 7 || *a.DiskUsedBytes != 10 || *a.DiskBytes != 20 {
		t.Errorf("a: %+v", a)
	}
	if *a.CacheBytes != 100 {
		t.Errorf("the cache is %d of 100 bytes of memory", *a.CacheBytes)
	}
	if !a.MeasuredAt.IsZero() {
		t.Error("the host says when it was measured")
	}
	// Half of a slice or of a volume is nothing: never a zero, never a part.
	if b.Use != (Use{}) || a.Lacks != nil {
		t.Errorf("b: %+v", b)
	}
}

// What a host says that a unit lacks is text for people, and so much of it as they can read.
func TestParseUseBoundsWhatIsLacking(t *testing.T) {
	t.Parallel()
	lacks := strings.Repeat(`"route", `, 20) + fmt.Sprintf("%q", strings.Repeat("x", 200))
	raw := fmt.Sprintf(`{"units": [{"id": %q, "lacks": ["a\u001b[31mddress 10.0.2.101", "", "%s", %s]}]}`, unitA, strings.Repeat("y", 100), lacks)
	found, err := ParseUse([]byte(raw), map[string]bool{unitA: true})
	if got := found[unitA].Lacks; err != nil || len(got) != maxLacks-1 || got[0] != "a[31mddress 10.0.2.101" || got[1] != strings.Repeat("y", 64) {
		t.Errorf("%v, %q", err, got)
	}
}

func TestParseUseRefusesLies(t *testing.T) {
	t.Parallel()
	whole := func(change string) string {
		all := map[string]string{
			"cpu_millis": "1", "memory_bytes": "1", "cache_bytes": "1", "processes": "1", "disk_used_bytes": "1", "disk_bytes": "1",
			"received_bytes": "1", "sent_bytes": "1", "receive_rate": "1", "send_rate": "1",
		}
		if key, value, ok := strings.Cut(change, "="); ok {
			all[key] = value
		}
		var parts []string
		for k, v := range all {
			parts = append(parts, fmt.Sprintf("%q: %s", k, v))
		}
		return fmt.Sprintf(`{"id": %q, %s}`, unitA, strings.Join(parts, ", "))
	}
	asked := map[string]bool{unitA: true}
	if _, err := ParseUse([]byte(`{"units": [`+whole("")+`]}`), asked); err != nil {
		t.Fatalf("what is true is refused: %v", err)
	}
	lies := []string{
		`null`, `[]`, `{}`, `7`, `{"units": {}}`, `{"units": [7]}`, `{"units": []}`, `{"units": [` + whole("") + `, ` + whole("") + `]}`,
		fmt.Sprintf(`{"units": [{"id": %q}]}`, unitB),
	}
	for _, key := range []string{"cpu_millis", "memory_bytes", "cache_bytes", "processes", "disk_used_bytes", "disk_bytes", "received_bytes", "sent_bytes", "receive_rate", "send_rate"} {
		for _, value := range []string{"-1", "1.5", "NaN", "Infinity", "1e400", `"1"`, "9223372036854775807", "9223372036854775808", "true", "{}"} {
			lies = append(lies, `{"units": [`+whole(key+"="+value)+`]}`)
		}
	}
	for _, lie := range lies {
		if found, err := ParseUse([]byte(lie), asked); err == nil {
			t.Errorf("%s is taken as %+v", lie, found)
		}
	}
}
