package domain_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kloigos/backend/internal/domain"
)

func TestParseCPUSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want domain.CPUSet // nil: refused
		out  string
	}{
		{"0-3", domain.CPUSet{0, 1, 2, 3}, "0-3"},
		{"0,2,4", domain.CPUSet{0, 2, 4}, "0,2,4"},
		{"0-7:2", domain.CPUSet{0, 2, 4, 6}, "0,2,4,6"},
		{"4-6, 0-1", domain.CPUSet{0, 1, 4, 5, 6}, "0-1,4-6"},
		{"1-2:9", domain.CPUSet{1}, "1"},
		{"8191", domain.CPUSet{8191}, "8191"},
		{"3,3", nil, ""},
		{"0-3,2", nil, ""},
		{"3-1", nil, ""},
		{"8192", nil, ""},
		{"", nil, ""},
		{",", nil, ""},
		{"1,", nil, ""},
		{"-1", nil, ""},
		{"1-", nil, ""},
		{"1-2-3", nil, ""},
		{"1:2", nil, ""},
		{"1-4:0", nil, ""},
		{"1-4:", nil, ""},
		{"1-4:2:2", nil, ""},
		{"+1", nil, ""},
		{"0x1", nil, ""},
		{"1e3", nil, ""},
		{"٣", nil, ""},
		{"99999999999999999999", nil, ""},
		{"1\n2", nil, ""},
		{"{{ 1 }}", nil, ""},
		{strings.Repeat("1,", 4096), nil, ""},
	} {
		got, err := domain.ParseCPUSet(c.in)
		if (err == nil) != (c.want != nil) {
			t.Errorf("ParseCPUSet(%.40q): %v, %v", c.in, got, err)
			continue
		}
		if diff := cmp.Diff(c.want, got); err == nil && diff != "" {
			t.Errorf("ParseCPUSet(%q):\n%s", c.in, diff)
		}
		if err == nil && got.String() != c.out {
			t.Errorf("%q is written %q, not %q", c.in, got, c.out)
		}
	}
}

func TestCPUSetsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		set := domain.CPUSet(rapid.SliceOfNDistinct(rapid.IntRange(0, 300), 1, 80, rapid.ID[int]).Draw(t, "set"))
		slices.Sort(set)
		got, err := domain.ParseCPUSet(set.String())
		if err != nil {
			t.Fatalf("%q: %v", set, err)
		}
		if diff := cmp.Diff(set, got); diff != "" {
			t.Fatal(diff)
		}
		for c := range 301 {
			if got.Contains(c) != slices.Contains(set, c) {
				t.Fatalf("Contains(%d) of %s", c, got)
			}
		}
	})
}

func TestAnyTextIsASetOrAnError(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[0-9,:-]{0,20}`)).Draw(t, "text")
		set, err := domain.ParseCPUSet(text)
		if err != nil {
			return
		}
		if len(set) == 0 || !slices.IsSorted(set) || set[0] < 0 || set[len(set)-1] > domain.MaxCPU {
			t.Fatalf("%q is read as %v", text, []int(set))
		}
		if again, err := domain.ParseCPUSet(set.String()); err != nil || !slices.Equal(again, set) {
			t.Fatalf("%q is written %q, which reads as %v, %v", text, set, again, err)
		}
	})
}
