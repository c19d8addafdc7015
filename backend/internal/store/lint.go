package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// Lint is one row of playbook_lints.
type Lint struct {
	VersionID uuid.UUID            `db:"version_id"`
	State     string               `db:"state"`
	Tool      string               `db:"tool"`
	Message   string               `db:"message"`
	Findings  []domain.LintFinding `db:"findings"`
	StartedAt time.Time            `db:"started_at"`
	EndedAt   *time.Time           `db:"ended_at"`
}

const sqlLint = `
SELECT l.version_id, l.state, l.tool, l.message, COALESCE(l.findings, '[]') AS findings, l.started_at, l.ended_at
  FROM playbook_lints l
 WHERE l.version_id = $1`

// Lint returns what was found in a version; domain.ErrNotFound until a backend
// has taken it up.
func (r Reads) Lint(ctx context.Context, version uuid.UUID) (Lint, error) {
	return db.First[Lint](ctx, r.q, domain.ErrNotFound, sqlLint, version)
}

// What is due: what nobody has taken up, what a backend without the tool could
// not do (for one that has it), and what was not ended in ten minutes.
const sqlLintDue = `
SELECT v.id, v.playbook, v.version
  FROM playbook_versions v
  LEFT JOIN playbook_lints l ON l.version_id = v.id
 WHERE l.state IS NULL OR l.state = 'unavailable' AND $1 OR l.state = 'running' AND l.started_at < now() - INTERVAL '10 minutes'
 ORDER BY v.created_at DESC, v.id
 LIMIT 1`

// LintDue is a version whose lint is due.
type LintDue struct {
	ID       uuid.UUID `db:"id"`
	Playbook string    `db:"playbook"`
	Version  int       `db:"version"`
}

// LintDue returns the newest version that is to be linted; domain.ErrNotFound
// if there is none. able: whoever asks has the tool.
func (r Reads) LintDue(ctx context.Context, able bool) (LintDue, error) {
	return db.First[LintDue](ctx, r.q, domain.ErrNotFound, sqlLintDue, able)
}

const sqlStartLint = `
INSERT INTO playbook_lints AS l (version_id, state)
VALUES ($1, 'running')
ON CONFLICT (version_id) DO UPDATE
   SET state = 'running', tool = '', message = '', findings = NULL, started_at = now(), ended_at = NULL
 WHERE l.state = 'unavailable' OR l.state = 'running' AND l.started_at < now() - INTERVAL '10 minutes'
RETURNING started_at`

// StartLint takes a version up; domain.ErrNotFound if another backend was
// faster. What it returns tells this try from later ones.
func (tx *Tx) StartLint(ctx context.Context, version uuid.UUID) (started time.Time, err error) {
	err = tx.q.QueryRow(ctx, sqlStartLint, version).Scan(&started)
	if db.IsNoRows(err) {
		return started, domain.ErrNotFound
	}
	return started, err
}

const sqlEndLint = `
UPDATE playbook_lints
   SET state = $3, tool = $4, message = $5, findings = $6, ended_at = now()
 WHERE version_id = $1 AND state = 'running' AND started_at = $2`

// EndLint writes what a try found; ErrLost if it is no longer the running one.
func (tx *Tx) EndLint(ctx context.Context, version uuid.UUID, started time.Time, l domain.Lint) error {
	var findings []byte
	if l.State == domain.LintDone {
		var err error
		if findings, err = json.Marshal(append([]domain.LintFinding{}, l.Findings...)); err != nil {
			return fmt.Errorf("write lint findings: %w", err)
		}
	}
	return tx.One(ctx, ErrLost, sqlEndLint, version, started, l.State, l.Tool, l.Message, findings)
}
