// Package areatest is what the tests of every area begin with: a database with a workspace and a keyset, intents that run
// twice, and the golden file of statements that are put together at run time.
//
// It knows no area.
package areatest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/multitracer"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/sqlguard"
	"kloigos/backend/internal/testkit/writeguard"
)

// Place is a database with a workspace, and a keyset. Every transaction on DB runs twice, and is looked at by the guards.
type Place struct {
	*db.DB
	Keys      *secret.Keyset
	Workspace uuid.UUID
	Pool      *pgxpool.Pool // for what no intent does
}

// New makes a place that ends with the test.
func New(t testing.TB) *Place {
	t.Helper()
	url := testkit.MigratedURL(t)
	keys, err := secret.Create(filepath.Join(t.TempDir(), "keyset.json"))
	if err != nil {
		t.Fatal(err)
	}
	writes := writeguard.New(t)
	opened, err := db.Open(t.Context(), url, db.WithTracer(multitracer.New(sqlguard.Tracer(t), writes)))
	if err != nil {
		t.Fatal(err)
	}
	writes.Watch(opened)
	t.Cleanup(opened.Close)
	opened.TryTwice()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	p := &Place{DB: opened, Keys: keys, Pool: pool}
	p.Workspace = p.NewWorkspace(t)
	return p
}

// NewWorkspace adds a workspace in a project and an organization of its own.
func (p *Place) NewWorkspace(t testing.TB) uuid.UUID {
	t.Helper()
	organization, project, workspace := uuid.New(), uuid.New(), uuid.New()
	p.Exec(t, "INSERT INTO organizations (id, name) VALUES ($1, $2)", organization, organization.String())
	p.Exec(t, "INSERT INTO projects (id, organization_id, name) VALUES ($1, $2, 'p')", project, organization)
	p.Exec(t, "INSERT INTO workspaces (id, project_id, name) VALUES ($1, $2, 'w')", workspace, project)
	return workspace
}

// Exec runs a statement past all guards.
func (p *Place) Exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := p.Pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// Do runs one intent and returns what it made.
func Do[T any](t testing.TB, p *Place, ask func(ctx context.Context, tx *intent.Tx) (T, error)) (T, error) {
	t.Helper()
	var made T
	call := intent.Call{Actor: audit.Actor{Kind: audit.Account, Name: "ada"}, Workspace: p.Workspace}
	err := intent.Engine{DB: p.DB}.Do(t.Context(), call, func(tx *intent.Tx) (err error) {
		made, err = ask(t.Context(), tx)
		return err
	})
	return made, err
}

// Must is Do for an intent that is not refused.
func Must[T any](t testing.TB, p *Place, ask func(ctx context.Context, tx *intent.Tx) (T, error)) T {
	t.Helper()
	made, err := Do(t, p, ask)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

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

// Assembled holds testdata/assembled.sql to the statements that ask sends, which the grammar test parses: each list in each
// order, with each filter alone and with all of them, once from its beginning and once from behind a position.
func Assembled(t *testing.T, ask func(ctx context.Context, q db.Reader, after *db.Position) error) {
	t.Helper()
	p := &paper{}
	for _, after := range []*db.Position{nil, {}} {
		if err := ask(t.Context(), db.Over(p), after); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(p.sent)
	var text strings.Builder
	text.WriteString("-- Statements that the area puts together at run time; written by go test -run Assembled -update\n")
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
