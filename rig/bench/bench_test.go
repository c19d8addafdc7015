package bench_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kloigos/crdb/localdb"
	"kloigos/rig/bench"
)

// TestRound runs one tiny round of every figure that needs a database only, so that the bench itself is known to run
// before somebody has a quiet machine for it. What it measures is looked at only where it cannot depend on the machine.
func TestRound(t *testing.T) {
	t.Parallel()
	if engine, err := localdb.Find(); err != nil || engine != localdb.Postgres {
		t.Skip("the bench compares with pgbench: it needs PostgreSQL")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	bed, err := bench.NewBed(t.Context(), bench.Options{Root: root, Dir: t.TempDir(), Out: &log, Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bed.Close(); err != nil {
			t.Error(err)
		}
	})
	results, err := bench.Run(t.Context(), bed, bench.Short,
		[]string{"allocations", "last-units", "lists", "records", "idle", "log", "stream", "viewers", "history", "expiry", "queue", "long-queue", "starts", "takeovers", "backends", "items", "heartbeats", "access"})
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	var table strings.Builder
	bench.Print(&table, results)
	t.Log("\n" + table.String())
	for _, r := range results {
		if r.Measured < 0 || r.Raw == "" || r.What == "" {
			t.Errorf("%+v", r)
		}
		// Counts, not times: they hold on any machine.
		if strings.Contains(r.What, "last 20 units") && !r.Met() || strings.Contains(r.What, "refused") && !r.Met() || strings.Contains(r.What, "unreachable") && !r.Met() {
			t.Errorf("%s: %v, %s", r.What, r.Measured, r.Raw)
		}
	}
	if n := len(slices.Collect(strings.Lines(table.String()))); n != len(results)+2 {
		t.Errorf("%d lines for %d results", n, len(results))
	}
}

func TestWriteKeepsTheRest(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "benchmarks.md")
	const begin, end = "<!-- ./task bench -- --write: begin -->\n", "<!-- ./task bench -- --write: end -->\n"
	if err := os.WriteFile(file, []byte("before\n"+begin+"old\n"+end+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	results := []bench.Result{{What: "a", Limit: bench.Limit{Value: 0.6, AtLeast: true}, Measured: 0.5, Raw: "1 of 2"}}
	for range 2 { // twice is once
		if err := bench.Write(file, "A machine.", results); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := "before\n" + begin + "A machine.\n\n| figure | target | measured | met | medians |\n|---|---|---|---|---|\n" +
		"| a | at least 0.6 | 0.5 | **no** | 1 of 2 |\n" + end + "after\n"
	if string(got) != want {
		t.Errorf("%s", got)
	}
	if err := os.WriteFile(file, []byte("no place\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if bench.Write(file, "A machine.", results) == nil {
		t.Error("written into a file that has no place for it")
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit    bench.Limit
		measured float64
		met      bool
		text     string
	}{
		{bench.Limit{Value: 1.05}, 1.05, true, "at most 1.05"},
		{bench.Limit{Value: 1.05}, 1.06, false, "at most 1.05"},
		{bench.Limit{Value: 0.6, AtLeast: true}, 0.59, false, "at least 0.6"},
		{bench.Limit{Value: 60, Unit: "MB"}, 51, true, "at most 60 MB"},
	} {
		if got := (bench.Result{Limit: c.limit, Measured: c.measured}).Met(); got != c.met || c.limit.String() != c.text {
			t.Errorf("%v, %v: %v, %q", c.limit, c.measured, got, c.limit)
		}
	}
}
