package iam

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/multitracer"
	"github.com/jackc/pgx/v5/pgxpool"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/sqlguard"
	"kloigos/backend/internal/testkit/writeguard"
)

// place is a database, a keyset, and the account ada.
type place struct {
	*db.DB
	url  string
	keys *secret.Keyset
	ada  Account
}

const release = "v1.2.3"

// builtIn are roles with few permissions, so that a test says what they may.
var builtIn = BuiltIn{
	RoleOwner: {"organization:delete": true, "organization.member:grant": true, "project.workspace.host:read": true},
	"admin":   {"organization.member:grant": true, "project.workspace.host:read": true},
	"viewer":  {"project.workspace.host:read": true},
}

func newPlace(t *testing.T) *place {
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
	opened.TryTwice() // every transaction of the area may run twice
	p := &place{DB: opened, url: url, keys: keys}
	p.ada = p.account(t, "ada")
	return p
}

// sql writes rows behind the area's back.
func (p *place) sql(t *testing.T, text string, args ...any) {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), p.url)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.Exec(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}

// texts reads rows of texts behind the area's back.
func (p *place) texts(t *testing.T, sql string, args ...any) [][]string {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), p.url)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	rows, err := pool.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]string, error) {
		columns := make([]string, len(row.FieldDescriptions()))
		into := make([]any, len(columns))
		for i := range columns {
			into[i] = &columns[i]
		}
		return columns, row.Scan(into...)
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (p *place) account(t *testing.T, name string) Account {
	t.Helper()
	id := uuid.New()
	p.sql(t, "INSERT INTO accounts (id, name, password_hash, role) VALUES ($1, $2, 'a hash', 'account')", id, name)
	made, err := accountByID(t.Context(), p.Reader, id)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// do runs one intent of ada and returns what it made.
func do[T any](t *testing.T, p *place, ask func(ctx context.Context, tx *intent.Tx) (T, error)) (T, error) {
	t.Helper()
	var made T
	call := intent.Call{Actor: audit.Actor{Kind: audit.Account, ID: p.ada.ID, Name: "ada"}, Installation: true}
	err := intent.Engine{DB: p.DB}.Do(t.Context(), call, func(tx *intent.Tx) (err error) {
		made, err = ask(t.Context(), tx)
		return err
	})
	return made, err
}

func must[T any](t *testing.T, p *place, ask func(ctx context.Context, tx *intent.Tx) (T, error)) T {
	t.Helper()
	made, err := do(t, p, ask)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// none is what an intent makes that only ends something.
type none struct{}

func (p *place) organization(t *testing.T, name string) Scope {
	t.Helper()
	return must(t, p, func(ctx context.Context, tx *intent.Tx) (Scope, error) {
		return CreateOrganization(ctx, tx, p.keys, NewOrganization{Name: name, Owner: p.ada.ID, Release: release})
	})
}

func (p *place) project(t *testing.T, organization Scope, name string) Scope {
	t.Helper()
	return must(t, p, func(ctx context.Context, tx *intent.Tx) (Scope, error) {
		return CreateProject(ctx, tx, refOf(organization), name)
	})
}

func (p *place) workspace(t *testing.T, project Scope, name string) Scope {
	t.Helper()
	return must(t, p, func(ctx context.Context, tx *intent.Tx) (Scope, error) {
		return CreateWorkspace(ctx, tx, refOf(project), name, bareMetal)
	})
}

func refOf(s Scope) scope.Ref[Scope] { return scope.Found[Scope](s.ID, s.ID) }

// everything lets the one who asks give any role.
func everything(string, Scope) bool { return true }

func (p *place) give(t *testing.T, may May, at Scope, account Account, role string) (Grant, error) {
	t.Helper()
	return do(t, p, func(ctx context.Context, tx *intent.Tx) (Grant, error) {
		return GiveRole(ctx, tx, builtIn, may, refOf(at), at.Kind, account, role)
	})
}

func (p *place) mustGive(t *testing.T, at Scope, account Account, role string) Grant {
	t.Helper()
	made, err := p.give(t, everything, at, account, role)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (p *place) take(t *testing.T, may May, grant Grant, by uuid.UUID) error {
	t.Helper()
	_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (none, error) {
		return none{}, TakeRole(ctx, tx, builtIn, may, scope.Found[Grant](grant.ID, grant.ScopeID), by)
	})
	return err
}

// sees are the paths of the scopes of a level that an account sees.
func (p *place) sees(t *testing.T, l Level, who Viewer) []string {
	t.Helper()
	rows, err := l.List(t.Context(), p.Reader, who, ScopeFilter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{}
	for _, s := range rows {
		paths = append(paths, s.Path())
	}
	return paths
}

func wantConflict(t *testing.T, err error, code string) {
	t.Helper()
	var conflict *fault.Conflict
	if !errors.As(err, &conflict) || conflict.Code != code {
		t.Errorf("got %v, want conflict %s", err, code)
	}
}

func wantInvalid(t *testing.T, err error, field string) {
	t.Helper()
	var invalid *fault.Invalid
	if !errors.As(err, &invalid) || len(invalid.Fields) != 1 || invalid.Fields[0].Field != field {
		t.Errorf("got %v, want bad field %s", err, field)
	}
}
