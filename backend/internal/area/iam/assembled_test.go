package iam

import (
	"context"
	"errors"
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
	"kloigos/backend/internal/kernel/fault"
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

func (noRows) Next() bool                                   { return false }
func (noRows) Close()                                       {}
func (noRows) Err() error                                   { return nil }
func (noRows) CommandTag() pgconn.CommandTag                { return pgconn.CommandTag{} }
func (noRows) FieldDescriptions() []pgconn.FieldDescription { return nil }

// TestAssembledStatements writes down what the grammar test is to parse: each list in each order, with each filter alone
// and with all of them, each way to find an object.
func TestAssembledStatements(t *testing.T) {
	t.Parallel()
	p := &paper{}
	q := db.Over(p)
	check := func(_ any, err error) {
		t.Helper()
		if err != nil && !errors.Is(err, fault.ErrNotFound) {
			t.Fatal(err)
		}
	}
	id := uuid.New()
	viewers := []Viewer{{Account: id}, {Account: id, Within: id}}
	for _, level := range []Level{Organizations, Projects, Workspaces} {
		for _, who := range viewers {
			for _, text := range []string{id.String(), "a", "a/b", "a/b/c"} {
				_, _, err := level.Find(t.Context(), q, who, text)
				check(nil, err)
			}
		}
		check(level.byID(t.Context(), q, id))
		check(level.locked(t.Context(), q, id, forChange))
		check(level.locked(t.Context(), q, id, forKeeping))
		check(inside(t.Context(), q, Scope{Kind: level.Noun, ID: id}))
	}
	check(accountByID(t.Context(), q, id))
	check(FindSharedHost(t.Context(), q, id, "h1"))
	check(FindSharedHost(t.Context(), q, id, id.String()))
	check(FindAccount(t.Context(), q, uuid.Nil, "a"))
	check(FindAccount(t.Context(), q, uuid.Nil, id.String()))
	check(FindAccount(t.Context(), q, id, "a"))
	check(FindAccount(t.Context(), q, id, id.String()))
	for _, after := range []*db.Position{nil, {}} {
		for _, sort := range ScopeSorting.Names() {
			for _, level := range []Level{Organizations, Projects, Workspaces} {
				for _, who := range viewers {
					all := ScopeFilter{State: "active", Organization: id, Project: id}
					for _, f := range []ScopeFilter{{}, {State: "active"}, {Organization: id}, {Project: id}, {Organization: id, Project: id}, {Organization: id, State: "active"}, {Project: id, State: "active"}, all} {
						f.Sort, f.After, f.Limit = sort, after, 1
						check(level.List(t.Context(), q, who, f))
					}
				}
			}
		}
		for _, sort := range AccountSorting.Names() {
			for _, f := range []AccountFilter{{}, {Kind: "person"}, {State: "active"}, {Kind: "person", State: "active"}, {In: id}, {In: id, Kind: "person"}, {Of: id, Kind: "service"}, {Of: id, Kind: "service", State: "active"}} {
				f.Sort, f.After, f.Limit = sort, after, 1
				check(Accounts(t.Context(), q, f))
			}
		}
		for _, sort := range UsageSorting.Names() {
			for _, kind := range []string{OrganizationNoun, ProjectNoun, WorkspaceNoun} {
				check(Usage(t.Context(), q, UsageFilter{Scope: Scope{Kind: kind, ID: id, OrganizationID: id}, Sort: sort, After: after, Limit: 1}))
			}
		}
		for _, sort := range InvitationSorting.Names() {
			for _, kind := range []string{OrganizationNoun, ProjectNoun, WorkspaceNoun} {
				check(Invitations(t.Context(), q, Scope{Kind: kind, ID: id, OrganizationID: id}, sort, after, 1))
			}
		}
		for _, sort := range HostGrantSorting.Names() {
			for _, host := range []string{"", "h1", id.String()} {
				check(HostGrants(t.Context(), q, HostGrantFilter{WorkspaceID: id, Host: host, Sort: sort, After: after, Limit: 1}))
			}
		}
		for _, sort := range ZoneGrantSorting.Names() {
			for _, zone := range []string{"", "example.org", id.String()} {
				check(ZoneGrants(t.Context(), q, ZoneGrantFilter{WorkspaceID: id, Zone: zone, Sort: sort, After: after, Limit: 1}))
			}
		}
		for _, sort := range NetworkGrantSorting.Names() {
			for _, network := range []string{"", "lan", id.String()} {
				check(NetworkGrants(t.Context(), q, NetworkGrantFilter{WorkspaceID: id, Network: network, Sort: sort, After: after, Limit: 1}))
			}
		}
		for _, sort := range SharedNetworkSorting.Names() {
			check(SharedNetworks(t.Context(), q, id, sort, after, 1))
		}
		for _, sort := range SharedHostSorting.Names() {
			check(SharedHosts(t.Context(), q, id, sort, after, 1))
		}
		for _, sort := range GrantSorting.Names() {
			for _, f := range []GrantFilter{{}, {Account: id}} {
				f.Sort, f.After, f.Limit = sort, after, 1
				check(Grants(t.Context(), q, f))
			}
		}
	}
	slices.Sort(p.sent)
	var text strings.Builder
	text.WriteString("-- Statements that the area puts together at run time; written by go test ./backend/internal/area/iam -run Assembled -update\n")
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
