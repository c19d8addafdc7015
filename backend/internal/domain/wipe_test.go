package domain_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/internal/domain"
)

var wipeOf = domain.WipeOf{
	JobID: "job", AllocationID: "allocation", UnitID: "unit", LoginUser: "ada", UID: 200001, VolumeGroup: "kloigos-vg", Volume: "cu03", MinBytes: 1 << 30,
}

func told(change func(map[string]any)) []byte {
	m := map[string]any{
		"allocation_id": "allocation", "unit_id": "unit", "method": "discard", "device": "/dev/kloigos-vg/cu03", "bytes": 1 << 30, "bytes_read_back": 66 << 20,
		"seconds": 1.5, "file_system": "0f1e2d3c-0000-4000-8000-00000000abcd", "wiped_at": "2026-03-01T10:00:00Z",
		"removed": []string{"/var/spool/cron/crontabs/ada", "ipc shm 3", "/opt/ada"}, "leftovers": []string{},
	}
	if change != nil {
		change(m)
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return text
}

func TestEvidenceOfAWipe(t *testing.T) {
	t.Parallel()
	got, err := domain.ReadWipe(told(nil), wipeOf)
	if err != nil {
		t.Fatal(err)
	}
	want := domain.Wipe{
		JobID: "job", AllocationID: "allocation", LoginUser: "ada", UID: 200001, Method: "discard", Device: "/dev/kloigos-vg/cu03", Bytes: 1 << 30,
		BytesReadBack: 66 << 20, Seconds: 1.5, FileSystem: "0f1e2d3c-0000-4000-8000-00000000abcd", WipedAt: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC),
		Removed:   []domain.Removed{{Kind: "crontab", What: "/var/spool/cron/crontabs/ada"}, {Kind: "ipc", What: "ipc shm 3"}, {Kind: "file", What: "/opt/ada"}},
		Leftovers: []string{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestEvidenceThatIsNone: what a host tells is believed only if it agrees with
// what is known and with itself.
func TestEvidenceThatIsNone(t *testing.T) {
	t.Parallel()
	set := func(key string, value any) func(map[string]any) { return func(m map[string]any) { m[key] = value } }
	for name, raw := range map[string][]byte{
		"nothing": nil, "null": []byte("null"), "a list": []byte("[]"), "an empty object": []byte("{}"), "text": []byte(`"wiped"`),
		"of another allocation":     told(set("allocation_id", "other")),
		"of another unit":           told(set("unit_id", "other")),
		"of another volume":         told(set("device", "/dev/kloigos-vg/cu04")),
		"no way":                    told(set("method", "")),
		"another way":               told(set("method", "rm -rf")),
		"too few bytes":             told(set("bytes", 1<<30-1)),
		"more bytes than there are": told(set("bytes", int64(1)<<60)),
		"negative bytes":            told(set("bytes", -1)),
		"nothing read back":         told(set("bytes_read_back", 0)),
		"more read back than is":    told(set("bytes_read_back", 1<<31)),
		"written, not all read":     told(set("method", "zero")),
		"discarded, not all read":   told(set("method", "discard+zero")),
		"negative time":             told(set("seconds", -1)),
		"endless time":              told(set("seconds", 1e300)),
		"no file system":            told(set("file_system", "")),
		"a hostile file system":     told(set("file_system", "{{ lookup('pipe', 'id') }}")),
		"no time":                   told(set("wiped_at", "")),
		"a time that is none":       told(set("wiped_at", "yesterday")),
		"wrong types":               told(set("removed", "everything")),
	} {
		if got, err := domain.ReadWipe(raw, wipeOf); err == nil {
			t.Errorf("%s was believed: %+v", name, got)
		}
	}
}

func TestEvidenceIsBoundedAndPlain(t *testing.T) {
	t.Parallel()
	var removed, left []string
	for i := range 10_000 {
		removed = append(removed, fmt.Sprintf("/tmp/%d\x1b[31m\u202e\n%s", i, strings.Repeat("x", 5000)))
		left = append(left, fmt.Sprintf("/var/\x00%d is still there", i))
	}
	w, err := domain.ReadWipe(told(func(m map[string]any) { m["removed"], m["leftovers"] = removed, left }), wipeOf)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Removed)+w.RemovedMore != 10_000 || len(w.Leftovers)+w.LeftoversMore != 10_000 || len(w.Removed) > 200 || len(w.Leftovers) > 200 {
		t.Errorf("%d and %d more, %d and %d more", len(w.Removed), w.RemovedMore, len(w.Leftovers), w.LeftoversMore)
	}
	for _, r := range w.Removed {
		if len(r.What) > 256 || strings.ContainsAny(r.What, "\x1b\n\x00\u202e") {
			t.Fatalf("%q was kept", r.What)
		}
	}
}
