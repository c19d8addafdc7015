package domain_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kloigos/backend/internal/domain"
)

// keeping says which of a layout's units stay, and names them.
func keeping(l domain.Layout, stays func(i int) bool) (kept []domain.UnitLayout) {
	for i, u := range l.Units {
		if stays(i) {
			u.Kept = domain.UnitName("h1", i+1)
			kept = append(kept, u)
		}
	}
	return kept
}

// TestRelayoutsKeepTheirPromises: whatever is asked for on whatever host, what
// stays is not touched, and all of it together is a layout like any other.
func TestRelayoutsKeepTheirPromises(t *testing.T) {
	t.Parallel()
	laid, beside := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		f := machine(rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "nodes"), rapid.SampledFrom([]int{2, 4, 7}).Draw(t, "cores"),
			rapid.SampledFrom([]int{1, 2}).Draw(t, "threads"), rapid.SampledFrom([]int64{gib, 7 * gib, 64*gib + 1}).Draw(t, "memory"), 100*gib)
		each := rapid.IntRange(1, 3).Draw(t, "each")
		count := rapid.IntRange(1, max(len(f.CPUs)/each-1, 1)).Draw(t, "count")
		first, err := domain.PlanLayout(f, domain.LayoutRequest{Count: count, CPUsEach: each, Devices: blank()})
		if err != nil {
			return
		}
		stays := rapid.SliceOfN(rapid.Bool(), count, count).Draw(t, "stays")
		h := domain.Relayout{Facts: f, Present: first, Kept: keeping(first, func(i int) bool { return stays[i] }), SpaceBytes: first.VolumeSpaceBytes}
		r := domain.LayoutRequest{
			SystemCPUs: rapid.SampledFrom([]string{"", "", first.SystemCPUs, "1", "0-1"}).Draw(t, "system"),
			Devices:    rapid.SampledFrom([][]string{nil, blank()}).Draw(t, "devices"),
		}
		if rapid.Bool().Draw(t, "by sets") {
			for range rapid.IntRange(1, 3).Draw(t, "sets") {
				lo := rapid.IntRange(0, len(f.CPUs)-1).Draw(t, "from")
				r.Units = append(r.Units, domain.LayoutUnit{
					CPUs:        fmt.Sprintf("%d-%d", lo, rapid.IntRange(lo, min(lo+3, len(f.CPUs)-1)).Draw(t, "to")),
					VolumeBytes: rapid.SampledFrom([]int64{0, 0, gib, 50 * gib}).Draw(t, "volume"),
				})
			}
		} else {
			r.Count, r.CPUsEach = rapid.IntRange(1, 4).Draw(t, "new count"), rapid.IntRange(1, 4).Draw(t, "new each")
			r.DefaultVolumeBytes = rapid.SampledFrom([]int64{0, 0, gib, 90 * gib}).Draw(t, "volume")
		}
		before := slices.Clone(h.Kept)
		l, err := domain.PlanRelayout(h, r)
		if diff := cmp.Diff(before, h.Kept); diff != "" {
			t.Fatalf("planning changed what stays:\n%s", diff)
		}
		if err != nil {
			var bad *domain.Invalid
			if !errors.As(err, &bad) || len(bad.Fields) == 0 {
				t.Fatalf("refused without a field: %v", err)
			}
			return
		}
		laid++
		if diff := cmp.Diff(before, l.Units[:len(before)]); diff != "" && len(before) > 0 {
			t.Fatalf("what stays was changed:\n%s", diff)
		}
		if len(before) > 0 {
			beside++
			if l.SystemCPUs != first.SystemCPUs || l.SystemMemoryBytes != first.SystemMemoryBytes {
				t.Fatalf("the system's part moved from %s to %s beside units that stay", first.SystemCPUs, l.SystemCPUs)
			}
		}
		if slices.ContainsFunc(l.Units[len(before):], func(u domain.UnitLayout) bool { return u.Kept != "" }) {
			t.Fatalf("a new unit is called kept: %+v", l.Units)
		}
		if l.VolumeGroup != first.VolumeGroup || !slices.Equal(l.Devices, first.Devices) || l.VolumeSpaceBytes != first.VolumeSpaceBytes {
			t.Fatalf("%+v\nwas %+v", l, first)
		}
		promises(t, f, l, first.VolumeSpaceBytes)
	})
	if laid < 10 || beside < 5 {
		t.Fatalf("only %d layouts, %d of them beside units that stay: the draws are too narrow", laid, beside)
	}
}

// cut is a host of two nodes with four cores each, cut into two units of three
// CPUs beside the system's CPU 0; the first unit stays.
func cut(t *testing.T) domain.Relayout {
	t.Helper()
	f := machine(2, 4, 1, 8*gib, 64*gib)
	l, err := domain.PlanLayout(f, domain.LayoutRequest{
		Units: []domain.LayoutUnit{{CPUs: "1-3"}, {CPUs: "4-6"}}, Devices: blank(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return domain.Relayout{Facts: f, Present: l, Kept: keeping(l, func(i int) bool { return i == 0 }), SpaceBytes: l.VolumeSpaceBytes}
}

func TestRelayoutTakesWhatIsFree(t *testing.T) {
	t.Parallel()
	h := cut(t)
	l, err := domain.PlanRelayout(h, domain.LayoutRequest{Count: 2, CPUsEach: 2})
	if err != nil {
		t.Fatal(err)
	}
	var cpus []string
	for _, u := range l.Units {
		cpus = append(cpus, u.CPUs)
	}
	// CPU 7 belonged to nobody and is taken with the others.
	if want := []string{"1-3", "4-5", "6-7"}; !slices.Equal(cpus, want) {
		t.Errorf("units have CPUs %v, not %v", cpus, want)
	}
	// Two units of two of the four CPUs that are left share all that is left.
	left := l.VolumeSpaceBytes - l.Units[0].VolumeBytes
	if l.Units[1].VolumeBytes != l.Units[2].VolumeBytes || left-2*l.Units[1].VolumeBytes > 8<<20*2 || left < 2*l.Units[1].VolumeBytes {
		t.Errorf("of %d bytes the new units have %d each", left, l.Units[1].VolumeBytes)
	}
	// The same CPUs have the same share of memory as before.
	again, err := domain.PlanRelayout(h, domain.LayoutRequest{Units: []domain.LayoutUnit{{CPUs: "4-6"}}})
	if err != nil || again.Units[1].MemoryMaxBytes != h.Present.Units[1].MemoryMaxBytes {
		t.Errorf("memory %d, was %d; %v", again.Units[1].MemoryMaxBytes, h.Present.Units[1].MemoryMaxBytes, err)
	}
}

func TestRelayoutNamesEveryProblem(t *testing.T) {
	t.Parallel()
	h := cut(t)
	lean := h
	lean.Facts.Nodes = []domain.Node{{Node: 0, MemoryBytes: gib}, {Node: 1, MemoryBytes: 5 * gib}}
	for name, c := range map[string]struct {
		h    domain.Relayout
		r    domain.LayoutRequest
		want []string // field: part of the problem
	}{
		"all at once": {h, domain.LayoutRequest{
			SystemCPUs: "0-1", VolumeGroup: "other", SystemMemoryBytes: gib, Devices: []string{"/dev/disk/by-id/virtio-full", "/dev/disk/by-id/none"},
			Units: []domain.LayoutUnit{{CPUs: "3-4"}, {CPUs: "0"}, {CPUs: "9"}, {CPUs: "4"}, {CPUs: "x"}},
		}, []string{
			"volume_group: stays", "system_cpus: stay 0 while", "system_memory_bytes: stays", "devices[0]: ", "devices[1]: ",
			"units[0].cpus: CPUs 3 already belong to h1-cu01", "units[1].cpus: CPUs 0 already belong to the system", "units[2].cpus: CPUs 9 are not online",
			"units[3].cpus: CPUs 4 already belong to units[0]", "units[4].cpus: ",
		}},
		"more CPUs than are left": {h, domain.LayoutRequest{Count: 3, CPUsEach: 2}, []string{"count: 3 units of 2 CPUs do not fit: 4 of the host's 8 CPUs are left after those of the system and those of the units that stay"}},
		"more space than is left": {h, domain.LayoutRequest{Units: []domain.LayoutUnit{{CPUs: "4", VolumeBytes: 60 * gib}}}, []string{"units: their volumes need"}},
		"nothing asked for":       {h, domain.LayoutRequest{}, []string{"count: "}},
		"less memory than before": {lean, domain.LayoutRequest{Units: []domain.LayoutUnit{{CPUs: "4-7"}}}, []string{"units: all units together need"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := domain.PlanRelayout(c.h, c.r)
			var bad *domain.Invalid
			if !errors.As(err, &bad) {
				t.Fatalf("got %v", err)
			}
			for _, want := range c.want {
				if !slices.ContainsFunc(bad.Fields, func(f domain.FieldError) bool { return strings.HasPrefix(f.Field+": "+f.Problem, want) }) {
					t.Errorf("nobody says %q:\n%s", want, strings.ReplaceAll(err.Error(), "; ", "\n"))
				}
			}
		})
	}
}

func TestRelayoutOfAHostWithoutTenants(t *testing.T) {
	t.Parallel()
	h := cut(t)
	h.Kept = nil
	l, err := domain.PlanRelayout(h, domain.LayoutRequest{SystemCPUs: "0-1", SystemMemoryBytes: 2 * gib, Count: 3, CPUsEach: 2, Devices: blank()})
	if err != nil {
		t.Fatal(err)
	}
	if l.SystemCPUs != "0-1" || l.SystemMemoryBytes != 2*gib || len(l.Units) != 3 || !slices.Equal(l.Devices, blank()) || l.VolumeSpaceBytes != h.SpaceBytes {
		t.Errorf("%+v", l)
	}
}

func TestVolumeSpace(t *testing.T) {
	t.Parallel()
	group := domain.Facts{VolumeGroups: []domain.VolumeGroup{{Name: "other", FreeBytes: 1}, {Name: "kloigos-vg", FreeBytes: 10}}}
	present := domain.Layout{VolumeGroup: "kloigos-vg", VolumeSpaceBytes: 100}
	having := []domain.UnitLayout{{VolumeBytes: 20}, {VolumeBytes: 30}}
	for name, c := range map[string]struct {
		f     domain.Facts
		l     domain.Layout
		fresh bool
		want  int64
	}{
		"as it was read":             {group, present, true, 60},
		"read before a run that cut": {group, present, false, 100},
		"never noted":                {group, domain.Layout{VolumeGroup: "kloigos-vg"}, false, 60},
		"no such group yet":          {domain.Facts{}, present, true, 100},
	} {
		if got := domain.VolumeSpace(c.f, c.l, having, c.fresh); got != c.want {
			t.Errorf("%s: %d, not %d", name, got, c.want)
		}
	}
}
