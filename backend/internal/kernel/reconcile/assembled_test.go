package reconcile

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

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/testkit"
)

var update = flag.Bool("update", false, "write testdata/assembled.sql anew")

// sent notes the lists that are sent.
type sent struct{ all *[]string }

func (s sent) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if strings.HasPrefix(data.SQL, sqlItem) {
		*s.all = append(*s.all, data.SQL)
	}
	return ctx
}

func (sent) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestAssembledStatements writes down what the grammar test is to parse: a list with
// each filter, in each order, from the beginning and from a place.
func TestAssembledStatements(t *testing.T) {
	t.Parallel()
	var all []string
	d, err := db.Open(t.Context(), testkit.MigratedURL(t), db.WithTracer(sent{&all}))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	one := uuid.New()
	for _, sort := range ItemSorting.Names() {
		for _, after := range []*db.Position{nil, {ID: one}} {
			for _, f := range []ItemFilter{{}, {ObjectID: &one}, {Failing: true}, {ObjectID: &one, Failing: true}} {
				f.Policy, f.Sort, f.After, f.Limit = "p", sort, after, 7
				if _, err := Items(t.Context(), d.Reader, f); err != nil {
					t.Error(err)
				}
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) < 16 {
		t.Errorf("only %d statements were sent", len(all))
	}
	var text strings.Builder
	text.WriteString("-- Statements that the scheduler puts together at run time; written by go test ./backend/internal/kernel/reconcile -run Assembled -update\n")
	for _, sql := range all {
		fmt.Fprintf(&text, "\n%s;\n", strings.TrimSpace(sql))
	}
	const file = "testdata/assembled.sql"
	if *update {
		if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(golden) != text.String() {
		t.Errorf("%s is not what is assembled; run with -update and look at the difference", file)
	}
}
