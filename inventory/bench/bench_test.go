package bench_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kloigos/crdb/localdb"
	"kloigos/inventory/bench"
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
	results, err := bench.Run(t.Context(), bed, bench.Short, []string{"allocations", "last-units", "lists", "idle"})
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
		if strings.Contains(r.What, "last 20 units") && !r.Met() || strings.Contains(r.What, "refused") && !r.Met() {
			t.Errorf("%s: %v, %s", r.What, r.Measured, r.Raw)
		}
	}
	if n := len(slices.Collect(strings.Lines(table.String()))); n != len(results)+2 {
		t.Errorf("%d lines for %d results", n, len(results))
	}
}
