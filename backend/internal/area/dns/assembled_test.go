package dns

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"kloigos/backend/internal/kernel/db"
)

var update = flag.Bool("update", false, "write testdata/assembled.sql anew")

// paper is a connection that notes what is sent and finds nothing.
type paper struct {
	db.Conn
	sent []string
}

func (p *paper) Query(_ context.Context, sql string, _ ...any) (pgx.Rows, error) {
	p.sent = append(p.sent, strings.TrimSpace(sql))
	return noRows{}, nil
}

type noRows struct{ pgx.Rows }

func (noRows) Next() bool                    { return false }
func (noRows) Close()                        {}
func (noRows) Err() error                    { return nil }
func (noRows) CommandTag() pgconn.CommandTag { return pgconn.CommandTag{} }

// TestAssembledStatements writes down what the grammar test is to parse: each list in each order, with each filter alone
// and with all of them.
func TestAssembledStatements(t *testing.T) {
	t.Parallel()
	p := &paper{}
	q := db.Over(p)
	for _, after := range []*db.Position{nil, {}} {
		for _, sort := range ZoneSorting.Names() {
			for _, f := range []ZoneFilter{{}, {State: "live"}, {Mode: "sync"}, {State: "live", Mode: "sync"}} {
				f.Sort, f.After, f.Limit = sort, after, 1
				if _, err := Zones(t.Context(), q, f); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, sort := range SharedZoneSorting.Names() {
			if _, err := SharedZones(t.Context(), q, uuid.New(), sort, after, 1); err != nil {
				t.Fatal(err)
			}
		}
		for _, text := range []string{uuid.NewString(), "example.org"} {
			if _, err := sharedNamed(t.Context(), q, uuid.New(), text); err != nil {
				t.Fatal(err)
			}
		}
		for _, sort := range ForeignSorting.Names() {
			for _, zone := range []uuid.UUID{uuid.Nil, uuid.New()} {
				if _, err := ForeignRecords(t.Context(), q, ForeignFilter{ZoneID: zone, Sort: sort, After: after, Limit: 1}); err != nil {
					t.Fatal(err)
				}
			}
		}
		all := RecordSetFilter{ZoneID: uuid.New(), Name: "a.", Type: "A", State: "live", Owner: "user"}
		for _, sort := range RecordSetSorting.Names() {
			for _, f := range []RecordSetFilter{{}, {ZoneID: uuid.New()}, {Name: "a."}, {Type: "A"}, {State: "live"}, {Owner: "user"}, all} {
				f.Sort, f.After, f.Limit = sort, after, 1
				if _, err := RecordSets(t.Context(), q, f); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	slices.Sort(p.sent)
	var text strings.Builder
	text.WriteString("-- Statements that the area puts together at run time; written by go test ./backend/internal/area/dns -run Assembled -update\n")
	for _, sql := range slices.Compact(p.sent) {
		fmt.Fprintf(&text, "\n%s;\n", sql)
	}
	const file = "testdata/assembled.sql"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(golden) != text.String() {
		t.Errorf("%s is not what the area assembles; run with -update and look at the difference", file)
	}
}
