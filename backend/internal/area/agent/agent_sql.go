package agent

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlAgent = `
SELECT a.id, a.workspace_id, a.host_id, h.name AS host_name, a.incarnation, a.public_key, a.machine_id, a.state, a.state_message,
       a.version, a.created_at, a.updated_at, c.expires_at, l.received_at,
       (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms,
       r.agent_version, r.boot_id, r.skew_ms, r.report, r.causes, r.reported_at
  FROM agents a
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN agent_credentials c ON c.agent_id = a.id
  LEFT JOIN agent_liveness l ON l.agent_id = a.id
  LEFT JOIN agent_reports r ON r.agent_id = a.id
 WHERE true`

// ByID returns an agent.
func ByID(ctx context.Context, q db.Reader, id uuid.UUID) (Agent, error) {
	return db.First[Agent](ctx, q, fault.ErrNotFound, sqlAgent+" AND a.id = $1", id)
}

// Find finds an agent of a workspace.
func Find(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (Agent, scope.Ref[Agent], error) {
	return scope.FindByID(ctx, q, sqlAgent+" AND a.workspace_id = $1 AND a.id = $2", workspace, text,
		func(a Agent) uuid.UUID { return a.ID })
}

const sqlHold = `
SELECT a.id
  FROM agents a
 WHERE a.id = $1
   FOR NO KEY UPDATE`

// hold returns an agent that nobody else moves until the transaction ends.
func hold(ctx context.Context, tx *db.Tx, id uuid.UUID) (Agent, error) {
	type row struct {
		ID uuid.UUID `db:"id"`
	}
	if _, err := db.First[row](ctx, tx.Reader, fault.ErrNotFound, sqlHold, id); err != nil {
		return Agent{}, err
	}
	return ByID(ctx, tx.Reader, id)
}

func enrolledOn(ctx context.Context, q db.Reader, host uuid.UUID) ([]Agent, error) {
	return db.Collect[Agent](ctx, q, sqlAgent+" AND a.host_id = $1 AND a.state = 'enrolled'", host)
}

// Speaks tells whether an agent is enrolled on a host.
func Speaks(ctx context.Context, q db.Reader, host uuid.UUID) (bool, error) {
	found, err := enrolledOn(ctx, q, host)
	return len(found) > 0, err
}

func enrolledOnMachine(ctx context.Context, q db.Reader, machine string) ([]Agent, error) {
	return db.Collect[Agent](ctx, q, sqlAgent+" AND a.machine_id = $1 AND a.state = 'enrolled' ORDER BY a.id", machine)
}

func withKey(ctx context.Context, q db.Reader, key []byte) ([]Agent, error) {
	return db.Collect[Agent](ctx, q, sqlAgent+" AND a.public_key = $1", key)
}

// Sorting is the orders that agents can be listed in.
var Sorting = db.Sorting[Agent]{
	{Name: "id", Columns: []db.Column{db.ByID("a.id")}, At: func(a Agent) db.Position { return db.Position{ID: a.ID} }},
	{Name: "state", Columns: []db.Column{db.ByText("a.state"), db.ByID("a.id")}, At: func(a Agent) db.Position {
		return db.Position{Text: string(a.State), ID: a.ID}
	}},
}

// Filter narrows a list of agents.
type Filter struct {
	WorkspaceID, HostID uuid.UUID // HostID: uuid.Nil for all
	State               string
	Sort                string // one of Sorting; "" for the first
	After               *db.Position
	Limit               int
}

// Agents lists agents.
func Agents(ctx context.Context, q db.Reader, f Filter) ([]Agent, error) {
	l := db.NewList(sqlAgent).And("a.workspace_id = ?", f.WorkspaceID).AndIf(f.State, "a.state = ?")
	if f.HostID != uuid.Nil {
		l.And("a.host_id = ?", f.HostID)
	}
	return Sorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

// IDs lists all agents.
const IDs db.Statement = "SELECT id FROM agents" + db.IDsBehind

const sqlInsert = `
INSERT INTO agents (id, workspace_id, host_id, incarnation, public_key, machine_id, state, state_message)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

const sqlMove = `
UPDATE agents
   SET state = $3, state_message = $4, version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2`

// Credentials, liveness and reports are those of enrolled agents. Each is a statement of its own.
const (
	sqlForgetCredential = `
DELETE FROM agent_credentials
 WHERE agent_id = $1`
	sqlForgetLiveness = `
DELETE FROM agent_liveness
 WHERE agent_id = $1`
	sqlForgetReport = `
DELETE FROM agent_reports
 WHERE agent_id = $1`
)

const sqlBeginLiveness = `
INSERT INTO agent_liveness (agent_id, host_id)
VALUES ($1, $2)
ON CONFLICT (agent_id) DO NOTHING`

const sqlPutCredential = `
INSERT INTO agent_credentials (agent_id, hash, expires_at, challenged_at, boot_id)
VALUES ($1, $2, now() + $3::INT8 * INTERVAL '1 second', $4, $5)
ON CONFLICT (agent_id) DO UPDATE
   SET hash = excluded.hash, expires_at = excluded.expires_at, challenged_at = excluded.challenged_at,
       previous_boot_id = CASE WHEN agent_credentials.boot_id = excluded.boot_id THEN agent_credentials.previous_boot_id ELSE agent_credentials.boot_id END,
       boot_id = excluded.boot_id, renewed_at = now()
 WHERE agent_credentials.challenged_at < excluded.challenged_at`

// A credential begins its own sequence.
const sqlRestartSequence = `
UPDATE agent_liveness
   SET seq = 0
 WHERE agent_id = $1`

type credentialRow struct {
	ChallengedAt   time.Time `db:"challenged_at"`
	BootID         string    `db:"boot_id"`
	PreviousBootID string    `db:"previous_boot_id"`
}

const sqlCredential = `
SELECT c.challenged_at, c.boot_id, c.previous_boot_id
  FROM agent_credentials c
 WHERE c.agent_id = $1`

func credentialOf(ctx context.Context, q db.Reader, agent uuid.UUID) ([]credentialRow, error) {
	return db.Collect[credentialRow](ctx, q, sqlCredential, agent)
}

// token is a row of agent_tokens.
type token struct {
	ID          uuid.UUID `db:"id"`
	WorkspaceID uuid.UUID `db:"workspace_id"`
	HostID      uuid.UUID `db:"host_id"`
	Incarnation uuid.UUID `db:"incarnation"`
}

const sqlInsertToken = `
INSERT INTO agent_tokens (id, hash, workspace_id, host_id, incarnation, expires_at)
VALUES ($1, $2, $3, $4, $5, now() + $6::INT8 * INTERVAL '1 second')
RETURNING expires_at`

const sqlToken = `
SELECT t.id, t.workspace_id, t.host_id, t.incarnation
  FROM agent_tokens t
 WHERE t.hash = $1 AND t.agent_id IS NULL AND t.expires_at > now()`

func tokenByHash(ctx context.Context, q db.Reader, hash []byte) (token, error) {
	return db.First[token](ctx, q, ErrRefused, sqlToken, hash)
}

const sqlUseToken = `
UPDATE agent_tokens
   SET agent_id = $2
 WHERE id = $1 AND agent_id IS NULL AND expires_at > now()`

const sqlForgetTokens = `
DELETE FROM agent_tokens
 WHERE id IN (SELECT t.id FROM agent_tokens t WHERE t.expires_at < now() - INTERVAL '1 day' ORDER BY t.expires_at LIMIT 1000)`

// Host is what this area knows of a host.
type Host struct {
	ID          uuid.UUID `db:"id"`
	WorkspaceID uuid.UUID `db:"workspace_id"`
	Name        string    `db:"name"`
	Incarnation uuid.UUID `db:"incarnation"`
	MachineID   *string   `db:"machine_id"`
	State       string    `db:"state"`
	Gone        bool      `db:"gone"`
}

const sqlHost = `
SELECT h.id, h.workspace_id, h.name, h.incarnation, h.machine_id, h.state,
       (h.removed_at IS NOT NULL OR h.state IN ('lost', 'decommissioned')) AS gone
  FROM hosts h
 WHERE true`

// HostByID returns a host, removed or not.
func HostByID(ctx context.Context, q db.Reader, id uuid.UUID) (Host, error) {
	return db.First[Host](ctx, q, fault.ErrNotFound, sqlHost+" AND h.id = $1", id)
}

// FindHost finds a host of a workspace, by id or name.
func FindHost(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (Host, scope.Ref[Host], error) {
	return scope.Find(ctx, q, sqlHost+" AND h.removed_at IS NULL AND h.workspace_id = $1 AND h.id = $2", sqlHost+" AND h.removed_at IS NULL AND h.workspace_id = $1 AND h.name = $2", workspace, text,
		func(h Host) uuid.UUID { return h.ID })
}

const sqlOfHost = `
SELECT a.id
  FROM agents a
 WHERE a.host_id = $1 AND a.state <> 'revoked'
 ORDER BY a.id`

// TouchAgents makes the policy of agents look at those of a host, with the transaction's commit.
func TouchAgents(ctx context.Context, tx *db.Tx, host uuid.UUID) error {
	found, err := db.IDs(ctx, tx.Reader, "list the agents of a host", sqlOfHost, host)
	tx.Touch(Noun, found...)
	return err
}
