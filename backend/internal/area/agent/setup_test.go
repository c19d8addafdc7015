package agent

import (
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/multitracer"
	"github.com/jackc/pgx/v5/pgxpool"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/sqlguard"
	"kloigos/backend/internal/testkit/writeguard"
)

// place is a database with a workspace.
type place struct {
	*db.DB
	t                       *testing.T
	pool                    *pgxpool.Pool // for what a test says has happened
	organization, workspace uuid.UUID
}

func newPlace(t *testing.T) *place {
	t.Helper()
	url := testkit.MigratedURL(t)
	writes := writeguard.New(t)
	opened, err := db.Open(t.Context(), url, db.WithTracer(multitracer.New(sqlguard.Tracer(t), writes)))
	if err != nil {
		t.Fatal(err)
	}
	writes.Watch(opened)
	t.Cleanup(opened.Close)
	opened.TryTwice() // every transaction of the area may run twice
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	p := &place{DB: opened, t: t, pool: pool, organization: uuid.New(), workspace: uuid.New()}
	project := uuid.New()
	p.sql("INSERT INTO organizations (id, name) VALUES ($1, $2)", p.organization, p.organization.String())
	p.sql("INSERT INTO projects (id, organization_id, name) VALUES ($1, $2, 'p')", project, p.organization)
	p.sql("INSERT INTO workspaces (id, project_id, name) VALUES ($1, $2, 'w')", p.workspace, project)
	return p
}

func (p *place) sql(sql string, args ...any) {
	p.t.Helper()
	if _, err := p.pool.Exec(p.t.Context(), sql, args...); err != nil {
		p.t.Fatalf("%s: %v", sql, err)
	}
}

func readOne[T any](p *place, sql string, args ...any) (out T) {
	p.t.Helper()
	if err := p.pool.QueryRow(p.t.Context(), sql, args...).Scan(&out); err != nil {
		p.t.Fatalf("%s: %v", sql, err)
	}
	return out
}

func (p *place) host(name, zone string) uuid.UUID {
	p.t.Helper()
	id := uuid.New()
	p.sql(`INSERT INTO hosts (id, workspace_id, organization_id, name, address, port, admin_user, region, zone, networks, labels, profile, trust_on_first_use, state, incarnation)
VALUES ($1, $2, $3, $4, '192.0.2.1', 22, 'root', 'r', $5, '{}', '{}', 'minimal', true, 'registered', $6)`, id, p.workspace, p.organization, name, zone, uuid.New())
	return id
}

// member is an enrolled agent with what it proves itself by.
type member struct {
	Credential
	host uuid.UUID
	hash [32]byte
	seq  int64
}

func (p *place) enrol(host uuid.UUID) *member {
	p.t.Helper()
	h, err := HostByID(p.t.Context(), p.Reader, host)
	if err != nil {
		p.t.Fatal(err)
	}
	_, ref, err := FindHost(p.t.Context(), p.Reader, p.workspace, h.Name)
	if err != nil {
		p.t.Fatal(err)
	}
	engine := intent.Engine{DB: p.DB}
	var issued Issued
	err = engine.Do(p.t.Context(), intent.Call{Actor: audit.Actor{Kind: audit.Account, Name: "ada"}, Workspace: p.workspace}, func(tx *intent.Tx) (err error) {
		issued, err = IssueToken(p.t.Context(), tx, ref, time.Minute)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	proof := []byte("proof")
	made, err := Enrol(p.t.Context(), engine, Enrolment{
		Hello: Hello{strings.ReplaceAll(uuid.NewString(), "-", ""), uuid.NewString(), "1.0"}, Token: issued.Token, PublicKey: public,
		Proof: proof, Signature: ed25519.Sign(key, proof),
	}, "192.0.2.1")
	if err != nil {
		p.t.Fatal(err)
	}
	_, hash, _ := ParseCredential(made.Secret)
	return &member{Credential: made, host: host, hash: hash}
}

// beat receives a heartbeat of each, with these causes.
func (p *place) beat(backend uuid.UUID, causes Causes, members ...*member) {
	p.t.Helper()
	beats := make([]Beat, len(members))
	for i, m := range members {
		m.seq++
		beats[i] = Beat{Agent: m.Agent, Hash: m.hash, Seq: m.seq, Said: &Said{Version: "1.0", BootID: uuid.NewString(), Report: &Report{}, Causes: causes}}
	}
	taken, err := Receive(p.t.Context(), p.DB, backend, beats)
	if err != nil || len(taken) != len(members) {
		p.t.Fatalf("%d of %d heartbeats taken, %v", len(taken), len(members), err)
	}
}

// pass lets time go by for everything that was received.
func (p *place) pass(d time.Duration) {
	p.t.Helper()
	ms := d.Milliseconds()
	p.sql(`UPDATE agent_liveness SET received_at = received_at - $1::INT8 * INTERVAL '1 millisecond', lost_at = lost_at - $1::INT8 * INTERVAL '1 millisecond'`, ms)
	p.sql(`UPDATE ssh_liveness SET answered_at = answered_at - $1::INT8 * INTERVAL '1 millisecond', failed_at = failed_at - $1::INT8 * INTERVAL '1 millisecond',
       lost_at = lost_at - $1::INT8 * INTERVAL '1 millisecond'`, ms)
	p.sql(`UPDATE agent_reports SET dirty_at = dirty_at - $1::INT8 * INTERVAL '1 millisecond'`, ms)
	p.sql(`UPDATE agent_receivers SET since = since - $1::INT8 * INTERVAL '1 millisecond', flushed_at = flushed_at - $1::INT8 * INTERVAL '1 millisecond'`, ms)
}

// alive is a backend that has received all the time.
func (p *place) alive(backend uuid.UUID) {
	p.t.Helper()
	p.sql(`INSERT INTO agent_receivers (backend_id, since, flushed_at) VALUES ($1, now() - INTERVAL '1 hour', now())
ON CONFLICT (backend_id) DO UPDATE SET flushed_at = now(), since = now() - INTERVAL '1 hour'`, backend)
}

func (p *place) look() Pass {
	p.t.Helper()
	pass, err := Look(p.t.Context(), p.DB, "host_health", false)
	if err != nil {
		p.t.Fatal(err)
	}
	return pass
}

func (p *place) health(host uuid.UUID) string {
	p.t.Helper()
	return readOne[string](p, "SELECT health FROM hosts WHERE id = $1", host)
}

func (p *place) events(action string) int {
	p.t.Helper()
	return readOne[int](p, "SELECT count(*) FROM events WHERE action = $1", action)
}
