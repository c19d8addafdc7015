package page

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSize(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int64{"": 0, "20 GiB": 20 << 30, "512M": 512 << 20, "1.5g": 3 << 29, "4096": 4096, "10 GB": 10e9, "7 b": 7} {
		if got, err := Size(in); err != nil || got != want {
			t.Errorf("Size(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"much", "-1", "20 GiBs", "GiB", "99999999 TiB", "0x10"} {
		if got, err := Size(in); err == nil {
			t.Errorf("Size(%q) = %d, no error", in, got)
		}
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	got, err := Labels(" rack = b2,disk=nvme\n\nempty= ,")
	if d := cmp.Diff(map[string]string{"rack": "b2", "disk": "nvme", "empty": ""}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if _, err := Labels("rack"); err == nil {
		t.Error("no pair was taken")
	}
}
