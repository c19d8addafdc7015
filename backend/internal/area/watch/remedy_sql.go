package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlRemedy = `
SELECT r.id, r.workspace_id, r.name, r.noun, r.condition, r.job, r.wait_seconds, r.per_day, r.at_once, r.enabled, r.version, r.created_at, r.updated_at
  FROM remedies r
 WHERE true`

const sqlInsertRemedy = `
INSERT INTO remedies (id, workspace_id, name, noun, condition, job, wait_seconds, per_day, at_once, enabled)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (workspace_id, name) DO NOTHING`

const sqlChangeRemedy = `
UPDATE remedies
   SET name = $2, noun = $3, condition = $4, job = $5, wait_seconds = $6, per_day = $7, at_once = $8, enabled = $9, version = version + 1, updated_at = now()
 WHERE id = $1`

const sqlDeleteRemedy = `
DELETE FROM remedies
 WHERE id = $1`

// RemedyByID returns a remedy.
func RemedyByID(ctx context.Context, q db.Reader, id uuid.UUID) (Remedy, error) {
	return db.First[Remedy](ctx, q, fault.ErrNotFound, sqlRemedy+" AND r.id = $1", id)
}

// FindRemedy finds a remedy of a workspace by its id or its name.
func FindRemedy(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (Remedy, scope.Ref[Remedy], error) {
	return scope.Find(ctx, q, sqlRemedy+" AND r.workspace_id = $1 AND r.id = $2", sqlRemedy+" AND r.workspace_id = $1 AND r.name = $2", workspace, text,
		func(r Remedy) uuid.UUID { return r.ID })
}

// heldRemedy locks a remedy. version 0 is any.
func heldRemedy(ctx context.Context, q db.Reader, ref scope.Ref[Remedy], version int64) (Remedy, error) {
	r, err := db.First[Remedy](ctx, q, fault.ErrNotFound, sqlRemedy+" AND r.id = $1 FOR UPDATE", ref.ID())
	if err != nil {
		return r, err
	}
	return r, fault.CheckVersion("remedy", r.Version, version)
}

// RemedyIDs lists all remedies.
const RemedyIDs db.Statement = "SELECT id FROM remedies" + db.IDsBehind

// RemedySorting is the orders that remedies can be listed in.
var RemedySorting = db.Sorting[Remedy]{
	{Name: "name", Columns: []db.Column{db.ByText("r.name"), db.ByID("r.id")}, At: func(r Remedy) db.Position { return db.Position{Text: r.Name, ID: r.ID} }},
}

// RemedyFilter narrows a list of remedies.
type RemedyFilter struct {
	WorkspaceID uuid.UUID
	Noun        string
	Sort        string // one of RemedySorting; "" for the first
	After       *db.Position
	Limit       int
}

// Remedies lists remedies.
func Remedies(ctx context.Context, q db.Reader, f RemedyFilter) ([]Remedy, error) {
	l := db.NewList(sqlRemedy).And("r.workspace_id = ?", f.WorkspaceID).AndIf(f.Noun, "r.noun = ?")
	return RemedySorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

// maxIll bounds for how many objects one look asks.
const maxIll = 100

// A run whose backend died before it had its job counts as at work for two minutes.
const atWorkRun = `(n.outcome = 'asking' AND n.at > now() - INTERVAL '2 minutes'
        OR EXISTS (SELECT 1 FROM jobs j WHERE j.id = n.job_id AND j.finished_at IS NULL))`

// Objects whose condition is false for long enough. Their workspace is that of their last event, as for channels; an object that
// is gone may leave its condition behind. What flaps is left to people: a job now and then would not help it.
const sqlIllObjects = `
SELECT c.object_id, c.reason, c.since,
       COALESCE((SELECT e.object_name FROM events e WHERE e.object_id = c.object_id AND e.object_kind = c.noun ORDER BY e.at DESC, e.id DESC LIMIT 1), '') AS name,
       (SELECT count(*) FROM remedy_runs n WHERE n.remedy_id = $1 AND n.object_id = c.object_id AND n.at > now() - INTERVAL '24 hours') AS today,
       EXISTS (SELECT 1
                 FROM remedy_runs n
                WHERE n.remedy_id = $1 AND n.object_id = c.object_id
                  AND (n.at > now() - $5::INT8 * INTERVAL '1 second' OR ` + atWorkRun + `)) AS rests
  FROM conditions c
 WHERE c.noun = $3 AND c.status = 'false' AND c.type = $4 AND NOT c.flapping
   AND c.since <= now() - $5::INT8 * INTERVAL '1 second'
   AND (SELECT e.workspace_id FROM events e WHERE e.object_id = c.object_id ORDER BY e.at DESC, e.id DESC LIMIT 1) = $2
   AND NOT EXISTS (SELECT 1 FROM events e WHERE e.object_id = c.object_id AND e.action IN (c.noun || '.remove', c.noun || '.delete'))`

// Those that have a job asked for: an object that is spent or rests keeps no other waiting.
const sqlIll = `
SELECT i.object_id, i.name, i.reason, i.today
  FROM (` + sqlIllObjects + `) i
 WHERE i.today < $6::INT8 AND NOT i.rests
 ORDER BY i.since, i.object_id
 LIMIT $7`

// IllOf reads the objects that a remedy may have a job asked for about now, the longest first.
func IllOf(ctx context.Context, q db.Reader, r Remedy) ([]Ill, error) {
	return db.Collect[Ill](ctx, q, sqlIll, r.ID, r.WorkspaceID, r.Noun, r.Condition, r.WaitSeconds, r.PerDay, maxIll)
}

const sqlSpent = `
SELECT count(*) AS objects, COALESCE(min(i.name), '') AS example
  FROM (` + sqlIllObjects + `) i
 WHERE i.today >= $6::INT8`

// SpentOn reads the objects about which a remedy has used its jobs of the day, and that are still ill.
func SpentOn(ctx context.Context, q db.Reader, r Remedy) (Spent, error) {
	return db.First[Spent](ctx, q, fault.ErrNotFound, sqlSpent, r.ID, r.WorkspaceID, r.Noun, r.Condition, r.WaitSeconds, r.PerDay)
}

const sqlAtWork = `
SELECT count(*) AS n
  FROM remedy_runs n
 WHERE n.remedy_id = $1 AND ` + atWorkRun

// AtWork counts the jobs of a remedy that have not ended.
func AtWork(ctx context.Context, q db.Reader, remedy uuid.UUID) (int64, error) {
	type row struct {
		N int64 `db:"n"`
	}
	r, err := db.First[row](ctx, q, fault.ErrNotFound, sqlAtWork, remedy)
	return r.N, err
}

// The lock puts backends that look at the same moment in a row: the second one counts what the first one wrote.
const sqlHoldEnabled = sqlRemedy + `
   AND r.id = $1 AND r.enabled AND r.version = $2
   FOR UPDATE`

const sqlBeginRun = `
INSERT INTO remedy_runs (id, remedy_id, object_id, object_name, reason, outcome)
SELECT $1, $2, $3, $4, $5, 'asking'
 WHERE (SELECT count(*) FROM remedy_runs n WHERE n.remedy_id = $2 AND n.object_id = $3 AND n.at > now() - INTERVAL '24 hours') = $6
   AND (SELECT count(*) FROM remedy_runs n WHERE n.remedy_id = $2 AND ` + atWorkRun + `) < $7`

var errRunMeanwhile = fault.Conflictf("remedy_meanwhile", "Another backend took the object up, or the remedy was changed.")

// BeginRun writes that a job is about to be asked for. It refuses where the remedy, or what was read of its runs, is no longer so.
func BeginRun(ctx context.Context, tx *db.Tx, id uuid.UUID, remedy Remedy, ill Ill) error {
	if _, err := db.First[Remedy](ctx, tx.Reader, errRunMeanwhile, sqlHoldEnabled, remedy.ID, remedy.Version); err != nil {
		return err
	}
	return tx.One(ctx, errRunMeanwhile, sqlBeginRun, id, remedy.ID, ill.ObjectID, ill.Name, ill.Reason, ill.Today, remedy.AtOnce)
}

const sqlEndRun = `
UPDATE remedy_runs
   SET outcome = $2, job_id = $3, message = $4
 WHERE id = $1`

// EndRun writes what came of it.
func EndRun(ctx context.Context, tx *db.Tx, id uuid.UUID, outcome string, job *uuid.UUID, message string) error {
	if _, err := tx.Exec(ctx, sqlEndRun, id, outcome, job, message); err != nil {
		return fmt.Errorf("record what came of a remedy: %w", err)
	}
	return nil
}

const sqlRemedyRun = `
SELECT n.id, n.remedy_id, r.name AS remedy, n.object_id, n.object_name, n.reason, n.at, n.outcome, n.job_id, n.message
  FROM remedy_runs n
  JOIN remedies r ON r.id = n.remedy_id
 WHERE true`

// RemedyRunSorting is the order that runs are listed in.
var RemedyRunSorting = db.Sorting[RemedyRun]{
	{Name: "-at", Columns: []db.Column{db.ByTime("n.at"), db.ByID("n.id")}, At: func(r RemedyRun) db.Position { return db.Position{Time: r.At, ID: r.ID} }},
}

// RemedyRunFilter narrows a list of runs.
type RemedyRunFilter struct {
	WorkspaceID uuid.UUID
	RemedyID    uuid.UUID // uuid.Nil for all of the workspace
	Sort        string    // one of RemedyRunSorting; "" for the first
	After       *db.Position
	Limit       int
}

// RemedyRuns lists what remedies did, newest first.
func RemedyRuns(ctx context.Context, q db.Reader, f RemedyRunFilter) ([]RemedyRun, error) {
	l := db.NewList(sqlRemedyRun).And("r.workspace_id = ?", f.WorkspaceID)
	if f.RemedyID != uuid.Nil {
		l.And("n.remedy_id = ?", f.RemedyID)
	}
	return RemedyRunSorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

const sqlExpireRuns = `
DELETE FROM remedy_runs
 WHERE id IN (SELECT n.id FROM remedy_runs n WHERE n.at < now() - $1::INT8 * INTERVAL '1 second' ORDER BY n.at LIMIT $2)`

// ExpireRuns removes runs that are older than keep, a bounded number at once. It returns how many.
func ExpireRuns(ctx context.Context, tx *db.Tx, keep time.Duration, limit int) (int64, error) {
	n, err := tx.Exec(ctx, sqlExpireRuns, int64(keep/time.Second), limit)
	if err != nil {
		return 0, fmt.Errorf("expire runs of remedies: %w", err)
	}
	return n, nil
}
