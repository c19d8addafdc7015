package iam

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/intent"
)

func parsedTime(text string) time.Time {
	made, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return made
}

// billed is an organization with two workspaces, and its usage in October 2025.
type billed struct {
	*place
	organization, project, first, second uuid.UUID
}

func newBilled(t *testing.T) billed {
	t.Helper()
	b := billed{newPlace(t), uuid.New(), uuid.New(), uuid.New(), uuid.New()}
	b.sql(t, "INSERT INTO organizations (id, name) VALUES ($1, 'acme')", b.organization)
	b.sql(t, "INSERT INTO projects (id, organization_id, name) VALUES ($1, $2, 'web')", b.project, b.organization)
	b.sql(t, "INSERT INTO workspaces (id, project_id, name) VALUES ($1, $2, 'live'), ($3, $2, 'test')", b.first, b.project, b.second)
	return b
}

func (b billed) used(t *testing.T, organization, workspace uuid.UUID, cpus int64, from string, to any) {
	t.Helper()
	b.sql(t, `INSERT INTO usage_records (id, organization_id, project_id, workspace_id, allocation_id, name, cpus, memory_bytes, volume_bytes, from_at, to_at)
VALUES ($1, $2, $3, $4, $5, 'h1-cu01 alice', $6, $7, 0, $8, $9)`, uuid.New(), organization, b.project, workspace, uuid.New(), cpus, int64(2)<<30, parsedTime(from), to)
}

func (b billed) price(t *testing.T, resource, price, currency, begins string) {
	t.Helper()
	b.sql(t, "INSERT INTO prices (id, resource, price, currency, begins_at, created_by) VALUES ($1, $2, CAST($3::TEXT AS NUMERIC), $4, $5, 'ada')",
		uuid.New(), resource, price, currency, parsedTime(begins))
}

// A statement adds up the part of each record that lies in the month, at the price of its time, and rounds each line once.
func TestStatement(t *testing.T) {
	t.Parallel()
	b := newBilled(t)
	// In October: 24 h of 2 CPUs on the 1st (it began before), and 48 h across a change of the price on the 16th.
	b.used(t, b.organization, b.first, 2, "2025-09-20T00:00:00Z", parsedTime("2025-10-02T00:00:00Z"))
	b.used(t, b.organization, b.first, 4, "2025-10-15T00:00:00Z", parsedTime("2025-10-17T00:00:00Z"))
	b.used(t, b.organization, b.second, 1, "2025-10-31T23:59:59.5Z", parsedTime("2025-11-03T00:00:00Z"))
	b.used(t, uuid.New(), b.first, 64, "2025-10-01T00:00:00Z", parsedTime("2025-10-30T00:00:00Z")) // of somebody else
	b.price(t, "cpu_hour", "0.0125", "EUR", "2025-01-01T00:00:00Z")
	b.price(t, "cpu_hour", "0.02", "EUR", "2025-10-16T00:00:00Z")
	b.price(t, "unit_hour", "0.1", "USD", "2025-01-01T00:00:00Z")

	s, err := StatementOf(t.Context(), b.Reader, b.organization, parsedTime("2025-10-01T00:00:00Z"), parsedTime("2025-11-25T00:00:00Z"), false)
	if err != nil {
		t.Fatal(err)
	}
	want := []StatementLine{
		{Project: "web", Workspace: "live", Resource: "cpu_hour", Quantity: "144.0000", Price: "0.01250000", Currency: "EUR", Cost: "1.80"},
		{Project: "web", Workspace: "live", Resource: "cpu_hour", Quantity: "96.0000", Price: "0.02000000", Currency: "EUR", Cost: "1.92"},
		{Project: "web", Workspace: "live", Resource: "memory_gib_hour", Quantity: "144.0000"},
		{Project: "web", Workspace: "live", Resource: "unit_hour", Quantity: "72.0000", Price: "0.10000000", Currency: "USD", Cost: "7.20"},
		{Project: "web", Workspace: "test", Resource: "cpu_hour", Quantity: "0.0001", Price: "0.02000000", Currency: "EUR", Cost: "0.00"},
		{Project: "web", Workspace: "test", Resource: "memory_gib_hour", Quantity: "0.0003"},
		{Project: "web", Workspace: "test", Resource: "unit_hour", Quantity: "0.0001", Price: "0.10000000", Currency: "USD", Cost: "0.00"},
	}
	if len(s.Lines) != len(want) {
		t.Fatalf("%d lines: %+v", len(s.Lines), s.Lines)
	}
	for i, got := range s.Lines {
		got.quantity, got.cost, got.since = nil, nil, time.Time{}
		if got != want[i] {
			t.Errorf("line %d: %+v, want %+v", i, got, want[i])
		}
	}
	if !s.Over || len(s.Totals) != 2 || s.Totals[0] != (Total{"EUR", "3.72"}) || s.Totals[1] != (Total{"USD", "7.20"}) || len(s.Missing) != 1 || s.Missing[0] != "memory_gib_hour" {
		t.Errorf("%+v %v %v", s.Totals, s.Missing, s.Over)
	}

	s, err = StatementOf(t.Context(), b.Reader, b.organization, parsedTime("2025-10-01T00:00:00Z"), parsedTime("2025-10-25T00:00:00Z"), true)
	if err != nil || s.Over || len(s.Lines) != 4 || s.Lines[0].Workspace != "" || s.Lines[0].Project != "" {
		t.Errorf("sums alone: %+v, %v", s.Lines, err)
	}
}

// Usage has one line for each day and allocation, and its days add up to the record.
func TestUsage(t *testing.T) {
	t.Parallel()
	b := newBilled(t)
	b.used(t, b.organization, b.first, 2, "2025-10-01T18:00:00Z", parsedTime("2025-10-03T06:30:00Z"))
	b.used(t, b.organization, b.second, 1, "2025-10-03T00:00:00Z", nil)
	whole := Scope{Kind: OrganizationNoun, ID: b.organization, OrganizationID: b.organization}
	list := func(f UsageFilter) []UsageLine {
		t.Helper()
		f.Limit = 100
		lines, err := Usage(t.Context(), b.Reader, f)
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	lines := list(UsageFilter{Scope: whole, First: parsedTime("2025-10-01T00:00:00Z"), Last: parsedTime("2025-10-03T00:00:00Z")})
	total := 0.0
	for _, l := range lines {
		if l.Workspace == "live" {
			total += l.Seconds
		}
	}
	if len(lines) != 4 || lines[0].Seconds != 6*3600 || lines[1].Seconds != 24*3600 || total != 36.5*3600 || lines[0].Name != "h1-cu01 alice" {
		t.Errorf("%v %+v", total, lines)
	}
	page := UsageSorting.At("", lines[1])
	rest := list(UsageFilter{Scope: whole, First: parsedTime("2025-10-01T00:00:00Z"), Last: parsedTime("2025-10-03T00:00:00Z"), After: &page})
	if len(rest) != 2 || rest[0].ID != lines[2].ID || rest[1].ID != lines[3].ID {
		t.Errorf("the second page: %+v", rest)
	}
	only := list(UsageFilter{Scope: Scope{Kind: WorkspaceNoun, ID: b.second, OrganizationID: b.organization}, First: parsedTime("2025-10-01T00:00:00Z"), Last: parsedTime("2025-10-04T00:00:00Z")})
	if len(only) != 2 || only[0].Seconds != 86400 || only[1].Seconds != 86400 {
		t.Errorf("one workspace, still in use: %+v", only)
	}
	tomorrow := time.Now().Add(48 * time.Hour)
	if future := list(UsageFilter{Scope: whole, First: tomorrow, Last: tomorrow.Add(48 * time.Hour)}); len(future) != 0 {
		t.Errorf("days to come: %+v", future)
	}
}

// One price of a resource is in force: the last that has begun.
func TestStatesOfPrices(t *testing.T) {
	t.Parallel()
	b := newBilled(t)
	b.price(t, "cpu_hour", "1", "EUR", "2025-01-01T00:00:00Z")
	b.price(t, "cpu_hour", "2", "EUR", "2025-02-01T00:00:00Z")
	b.price(t, "cpu_hour", "3", "EUR", "2125-01-01T00:00:00Z")
	b.price(t, "cpu_hour", "4", "EUR", "2126-01-01T00:00:00Z")
	b.price(t, "unit_hour", "5", "EUR", "2125-01-01T00:00:00Z")
	all, err := Prices(t.Context(), b.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range all {
		one, err := PriceByID(t.Context(), b.Reader, p.ID)
		if err != nil || one.State != p.State {
			t.Errorf("%+v, %v", one, err)
		}
		got = append(got, p.Resource+" "+p.Price[:1]+" "+p.State)
	}
	if want := []string{"cpu_hour 4 later", "cpu_hour 3 later", "cpu_hour 2 in_force", "cpu_hour 1 past", "unit_hour 5 later"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A price that counts stays; one to come can be taken back.
func TestPrices(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	do := func(f func(tx *intent.Tx) error) error {
		return intent.Engine{DB: p.DB}.Do(t.Context(), intent.Call{Actor: audit.Actor{Kind: audit.Account, ID: p.ada.ID, Name: "ada"}, Installation: true}, f)
	}
	add := func(price string, begins time.Time) (made Price, err error) {
		err = do(func(tx *intent.Tx) (err error) {
			made, err = AddPrice(context.WithoutCancel(t.Context()), tx, PriceDraft{Resource: "cpu_hour", Price: price, Currency: "EUR", BeginsAt: begins})
			return err
		})
		return made, err
	}
	now, err := add("0.5", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	later, err := add("0.6", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for name, begins := range map[string]time.Time{"last month": monthOf(time.Now()).Add(-time.Second), "the same time": later.BeginsAt} {
		if _, err := add("0.7", begins); err == nil {
			t.Errorf("%s: added", name)
		}
	}
	for _, price := range []string{"", "-1", "1e3", "0.123456789", "12345678901", "NaN"} {
		if _, err := add(price, time.Now().Add(2*time.Hour)); err == nil {
			t.Errorf("%q: added", price)
		}
	}
	if err := do(func(tx *intent.Tx) error { return DeletePrice(t.Context(), tx, now.ID) }); err == nil {
		t.Error("a price that counts was deleted")
	}
	if err := do(func(tx *intent.Tx) error { return DeletePrice(t.Context(), tx, later.ID) }); err != nil {
		t.Error(err)
	}
	if all, err := Prices(t.Context(), p.Reader); err != nil || len(all) != 1 || all[0].Price != "0.50000000" {
		t.Errorf("%+v, %v", all, err)
	}
}
