package dns

import (
	"context"
	"encoding/base64"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
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

// place is a database with a workspace, and a keyset.
type place struct {
	*db.DB
	keys      *secret.Keyset
	workspace uuid.UUID
	url       string
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
	p := &place{opened, keys, uuid.New(), url}
	addScopes(t, url, p.workspace)
	return p
}

// addScopes adds a workspace with what it lies in.
func addScopes(t *testing.T, url string, workspace uuid.UUID) {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	organization, project := uuid.New(), uuid.New()
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{"INSERT INTO organizations (id, name) VALUES ($1, $2)", []any{organization, organization.String()}},
		{"INSERT INTO projects (id, organization_id, name) VALUES ($1, $2, 'p')", []any{project, organization}},
		{"INSERT INTO workspaces (id, project_id, name) VALUES ($1, $2, 'w')", []any{workspace, project}},
	} {
		if _, err := pool.Exec(t.Context(), step.sql, step.args...); err != nil {
			t.Fatal(err)
		}
	}
}

var testSecret = base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))

func draftZone(name string) ZoneDraft {
	return ZoneDraft{
		Name: name, Server: "127.0.0.1:5353", AllowPrivate: true, KeyName: "kloigos-key", KeyAlgorithm: "hmac-sha256",
		KeySecret: testSecret, Mode: Sync,
	}
}

// do runs one intent and returns what it made.
func do[T any](t *testing.T, p *place, ask func(ctx context.Context, tx *intent.Tx) (T, error)) (T, error) {
	t.Helper()
	var made T
	call := intent.Call{Actor: audit.Actor{Kind: audit.Account, Name: "ada"}, Workspace: p.workspace}
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

func (p *place) zone(t *testing.T, draft ZoneDraft) Zone {
	t.Helper()
	return must(t, p, func(ctx context.Context, tx *intent.Tx) (Zone, error) { return CreateZone(ctx, tx, p.keys, draft) })
}

func zoneRef(z Zone) scope.Ref[Zone] { return scope.Found[Zone](z.ID, z.WorkspaceID) }

func (p *place) changeZone(t *testing.T, id uuid.UUID, version int64, change func(*ZoneDraft)) (Zone, error) {
	t.Helper()
	return do(t, p, func(ctx context.Context, tx *intent.Tx) (Zone, error) {
		return ChangeZone(ctx, tx, p.keys, scope.Found[Zone](id, p.workspace), version, change)
	})
}

func (p *place) setMode(t *testing.T, id uuid.UUID, mode Mode) {
	t.Helper()
	if _, err := p.changeZone(t, id, 0, func(d *ZoneDraft) { d.Mode = mode }); err != nil {
		t.Fatal(err)
	}
}

func (p *place) deleteZone(t *testing.T, id uuid.UUID) error {
	t.Helper()
	_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (struct{}, error) {
		return struct{}{}, DeleteZone(ctx, tx, scope.Found[Zone](id, p.workspace), 0)
	})
	return err
}

func (p *place) create(t *testing.T, zone Zone, name string, kind Type, values ...string) (ManagedSet, error) {
	t.Helper()
	return do(t, p, func(ctx context.Context, tx *intent.Tx) (ManagedSet, error) {
		return CreateRecordSet(ctx, tx, zoneRef(zone), OwnedByUser, Draft{Name: name, Type: string(kind), TTL: 300, Values: values})
	})
}

func (p *place) mustCreate(t *testing.T, zone Zone, name string, kind Type, values ...string) ManagedSet {
	t.Helper()
	set, err := p.create(t, zone, name, kind, values...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func wantConflict(t *testing.T, err error, code string) {
	t.Helper()
	var conflict *fault.Conflict
	if !errors.As(err, &conflict) || conflict.Code != code {
		t.Errorf("got %v, want conflict %s", err, code)
	}
}

func wantInvalid(t *testing.T, err error, fields ...string) {
	t.Helper()
	var invalid *fault.Invalid
	if !errors.As(err, &invalid) {
		t.Errorf("got %v, want bad fields %v", err, fields)
		return
	}
	var got []string
	for _, field := range invalid.Fields {
		got = append(got, field.Field)
	}
	if strings.Join(got, " ") != strings.Join(fields, " ") {
		t.Errorf("bad fields %v, want %v (%v)", got, fields, err)
	}
}
