package bundle

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	from := map[string][]byte{"same": []byte("x\n"), "gone": []byte("a\nb\n"), "changed": []byte("1\n2\n3\n4\n5\n6\n7\n8\n-- 9\n"), "empty": {}}
	to := map[string][]byte{"same": []byte("x\n"), "new": []byte("<b>\n"), "changed": []byte("1\n2\n3\n4\nfive\n6\n7\n8\n"), "end": []byte("no line feed")}
	want := []FileDiff{
		{Path: "changed", Change: "changed", Added: 1, Removed: 2, Unified: "--- a/changed\n+++ b/changed\n@@ -2,8 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n--- 9\n"},
		{Path: "empty", Change: "removed"},
		{Path: "end", Change: "added", Added: 1, Unified: "--- a/end\n+++ b/end\n@@ -0,0 +1 @@\n+no line feed\n\\ No newline at end of file\n"},
		{Path: "gone", Change: "removed", Removed: 2, Unified: "--- a/gone\n+++ b/gone\n@@ -1,2 +0,0 @@\n-a\n-b\n"},
		{Path: "new", Change: "added", Added: 1, Unified: "--- a/new\n+++ b/new\n@@ -0,0 +1 @@\n+<b>\n"},
	}
	if d := cmp.Diff(want, Diff(from, to)); d != "" {
		t.Error(d)
	}
}

// A version that has nothing in common with another is compared in bounded time and space.
func TestDiffOfAllThatIsAllowed(t *testing.T) {
	t.Parallel()
	from, to := map[string][]byte{}, map[string][]byte{}
	for i := range 4 {
		var a, b strings.Builder
		for j := range 40_000 {
			fmt.Fprintf(&a, "a %d\n", j*7919%40_000)
			fmt.Fprintf(&b, "%s %d\n", "ab"[j%2:j%2+1], j*104_729%40_000)
		}
		from[fmt.Sprint(i)], to[fmt.Sprint(i)] = []byte(a.String()), []byte(b.String())
	}
	total := 0
	for _, d := range Diff(from, to) {
		total += len(d.Unified)
		if !d.Cut || !strings.HasSuffix(d.Unified, "\n") {
			t.Errorf("%s: %d bytes, cut: %v", d.Path, len(d.Unified), d.Cut)
		}
	}
	if total > maxDiff {
		t.Errorf("%d bytes", total)
	}
}
