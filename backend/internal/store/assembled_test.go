package store

import (
	"context"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/testkit/sqlguard"
)

var update = flag.Bool("update", false, "write testdata/assembled.sql anew")

// paper is a connection that notes what is sent and finds nothing.
type paper struct {
	sent []string
	args [][]any
}

func (p *paper) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	p.sent, p.args = append(p.sent, sql), append(p.args, args)
	return noRows{}, nil
}

func (p *paper) QueryRow(_ context.Context, sql string, _ ...any) pgx.Row {
	p.sent = append(p.sent, sql)
	return noRows{}
}

func (p *paper) SendBatch(_ context.Context, b *pgx.Batch) pgx.BatchResults {
	for _, q := range b.QueuedQueries {
		p.sent, p.args = append(p.sent, q.SQL), append(p.args, q.Arguments)
	}
	return noAnswers{}
}

type noAnswers struct{ pgx.BatchResults }

func (noAnswers) Close() error { return nil }

type noRows struct{ pgx.Rows }

func (noRows) Next() bool                                   { return false }
func (noRows) Close()                                       {}
func (noRows) Err() error                                   { return nil }
func (noRows) CommandTag() pgconn.CommandTag                { return pgconn.CommandTag{} }
func (noRows) FieldDescriptions() []pgconn.FieldDescription { return nil }
func (noRows) Scan(...any) error                            { return nil }

// words are the values of a text filter that change more than an argument.
var words = []string{"x", "live", "active", "ended", "ready", "expired", "queued", "running", "failed", "succeeded"}

// fills returns a struct with nothing set, with each field set alone, and with
// all of them set; always, for each, in all that always gives.
func fills(t *testing.T, of reflect.Type) (all []reflect.Value) {
	t.Helper()
	set := func(v reflect.Value, i, word int) {
		f := v.Field(i)
		if of.Field(i).Name == "Sort" || !of.Field(i).IsExported() {
			return
		}
		switch f.Interface().(type) {
		case string:
			f.SetString(words[word])
		case int:
			f.SetInt(7)
		case bool:
			f.SetBool(true)
		case *uuid.UUID:
			id := uuid.New()
			f.Set(reflect.ValueOf(&id))
		case uuid.UUID:
			f.Set(reflect.ValueOf(uuid.New()))
		case *time.Time:
			at := time.Now()
			f.Set(reflect.ValueOf(&at))
		case map[string]string:
			f.Set(reflect.ValueOf(map[string]string{"a": "b"}))
		case *Position:
			f.Set(reflect.ValueOf(&Position{Text: "a", Number: 1, Time: time.Now(), ID: uuid.New()}))
		default:
			t.Fatalf("%s.%s: say here how a %s is filled", of.Name(), of.Field(i).Name, f.Type())
		}
	}
	all = append(all, reflect.New(of).Elem())
	if _, sorts := of.FieldByName("Sort"); sorts {
		names := sortings()[of]
		if len(names) == 0 {
			t.Fatalf("say in sortings how a %s is sorted", of.Name())
		}
		for _, name := range names {
			for _, after := range []*Position{nil, {}} {
				one := reflect.New(of).Elem()
				one.FieldByName("Sort").SetString(name)
				one.FieldByName("After").Set(reflect.ValueOf(after))
				all = append(all, one)
				if _, hasState := of.FieldByName("State"); !hasState {
					continue
				}
				for _, word := range words { // a state may lead to another index
					sorted := reflect.New(of).Elem()
					sorted.Set(one)
					sorted.FieldByName("State").SetString(word)
					all = append(all, sorted)
				}
			}
		}
	}
	for i := range of.NumField() {
		for w := range words {
			one := reflect.New(of).Elem()
			set(one, i, w)
			all = append(all, one)
			if of.Field(i).Type.Kind() != reflect.String {
				break
			}
		}
	}
	for w := range words {
		full := reflect.New(of).Elem()
		for i := range of.NumField() {
			set(full, i, w)
		}
		all = append(all, full)
	}
	return all
}

// sortings are the orders of each list.
func sortings() map[reflect.Type][]string {
	return map[reflect.Type][]string{
		reflect.TypeFor[HostFilter](): HostSorting.Names(), reflect.TypeFor[UnitFilter](): UnitSorting.Names(),
		reflect.TypeFor[AllocationFilter](): AllocationSorting.Names(), reflect.TypeFor[AddressFilter](): AddressSorting.Names(),
		reflect.TypeFor[JobFilter](): JobSorting.Names(), reflect.TypeFor[EventFilter](): EventSorting.Names(), reflect.TypeFor[PlanFilter](): PlanSorting.Names(),
		reflect.TypeFor[PlaybookFilter](): PlaybookSorting.Names(), reflect.TypeFor[TokenFilter](): TokenSorting.Names(),
		reflect.TypeFor[PlaybookVersionFilter](): PlaybookVersionSorting.Names(),
	}
}

// assembled is everything that is put together at run time: by each list, found
// by its shape, and by placement.
func assembled(t *testing.T) []string {
	t.Helper()
	p := &paper{}
	reads := Reads{over(p), &artifacts{}}
	lists := 0
	for i := range reflect.TypeOf(reads).NumMethod() {
		m := reflect.TypeOf(reads).Method(i)
		if m.Type.NumIn() != 3 || m.Type.In(2).Kind() != reflect.Struct || !strings.HasSuffix(m.Type.In(2).Name(), "Filter") {
			continue
		}
		lists++
		for _, f := range fills(t, m.Type.In(2)) {
			m.Func.Call([]reflect.Value{reflect.ValueOf(reads), reflect.ValueOf(t.Context()), f})
		}
	}
	if lists < 9 {
		t.Errorf("only %d lists were found", lists)
	}
	for _, f := range fills(t, reflect.TypeFor[Wanted]()) {
		w := f.Interface().(Wanted)
		for _, tx := range []*Tx{{Reads: reads, Tx: &db.Tx{}}, {Reads: reads, Tx: db.PostgresTx(p)}} { // CockroachDB's, PostgreSQL's
			if _, _, err := tx.PickUnit(t.Context(), w); err != nil {
				t.Error(err)
			}
		}
		if _, err := reads.WhyNot(t.Context(), w); err != nil {
			t.Error(err)
		}
	}
	slices.Sort(p.sent)
	return slices.Compact(p.sent)
}

// TestAssembledStatements writes down what the grammar test is to parse. No
// filter can be forgotten: they are found by reflection.
func TestAssembledStatements(t *testing.T) {
	t.Parallel()
	const file = "testdata/assembled.sql"
	var text strings.Builder
	text.WriteString("-- Statements that the store puts together at run time; written by go test ./backend/internal/store -run Assembled -update\n")
	for _, sql := range assembled(t) {
		if strings.Contains(sql, ";") {
			t.Errorf("a semicolon in\n%s", sql)
		}
		fmt.Fprintf(&text, "\n%s;\n", strings.TrimSpace(sql))
	}
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
		t.Errorf("%s is not what the store assembles; run with -update and look at the difference", file)
	}
}

// TestOnlyListsAssemble: what the compiler lets pass as a statement is constant in
// all packages but in the lists of kernel/db.
func TestOnlyListsAssemble(t *testing.T) {
	t.Parallel()
	constants, conversions, err := sqlguard.Constants(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(conversions) != 0 {
		t.Errorf("text is turned into statements in %v", conversions)
	}
	dirs, err := sqlguard.Dirs()
	if err != nil || len(dirs) < 2 {
		t.Fatalf("packages with SQL: %v, %v", dirs, err)
	}
	for _, dir := range dirs {
		_, conversions, err := sqlguard.Constants(dir)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(dir, "/kernel/db") {
			conversions = slices.DeleteFunc(conversions, func(name string) bool { return name == "list.go" })
		}
		if len(conversions) != 0 {
			t.Errorf("%s: text is turned into statements in %v", dir, conversions)
		}
	}
	for _, sql := range []statement{sqlHost, sqlHost + " AND h.id = $1", sqlUnit + " AND u.host_id = $1 AND u.state <> 'removed' ORDER BY u.ordinal"} {
		if !constants[strings.TrimSpace(string(sql))] {
			t.Errorf("not found among the constants: %s", sql)
		}
	}
}
