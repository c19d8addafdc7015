package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// Proposal is what a plan is about as it would be, an allocation or a layout:
// nothing of it is taken until the plan is applied.
type Proposal struct {
	LoginUser string `json:"login_user,omitempty"`
	UID       int64  `json:"uid,omitempty"`
	Address   string `json:"address,omitempty"`
	Network   string `json:"network,omitempty"`

	UnitNetwork domain.UnitNetwork `json:"unit_network,omitempty"` // "" in plans of backends before it: on the host

	SSHKeys []string `json:"ssh_keys,omitempty"`

	Layout   *domain.Layout `json:"layout,omitempty"`
	Units    []ProposedUnit `json:"units,omitempty"`    // that it makes
	Replaced []uuid.UUID    `json:"replaced,omitempty"` // that go
}

// ProposedUnit is a unit that is not there yet.
type ProposedUnit struct {
	ID      uuid.UUID         `json:"id"`
	Ordinal int               `json:"ordinal"`
	Layout  domain.UnitLayout `json:"layout"`
}

// On is the unit as its row would be.
func (p ProposedUnit) On(h Host) Unit {
	l := p.Layout
	return Unit{
		ID: p.ID, WorkspaceID: h.WorkspaceID, HostID: h.ID, Host: h.Name, Ordinal: p.Ordinal, Name: domain.UnitName(h.Name, p.Ordinal),
		State: domain.UnitLifecycle.Initial, CPUs: l.CPUs, CPUCount: l.CPUCount, MemoryNodes: l.MemoryNodes, MemoryMaxBytes: l.MemoryMaxBytes,
		MemoryHighBytes: l.MemoryHighBytes, VolumeBytes: l.VolumeBytes, TasksMax: l.TasksMax,
	}
}

// Plan is one row of plans, with the names of what it is about. Lists leave
// Result out.
type Plan struct {
	ID                uuid.UUID          `db:"id"`
	WorkspaceID       uuid.UUID          `db:"workspace_id"`
	Kind              domain.JobKind     `db:"kind"`
	Action            string             `db:"action"`
	Request           json.RawMessage    `db:"request"`
	HostID            uuid.UUID          `db:"host_id"`
	Host              string             `db:"host"`
	HostWorkspace     uuid.UUID          `db:"host_workspace_id"`
	UnitID            *uuid.UUID         `db:"unit_id"`
	Unit              *string            `db:"unit"`
	AllocationID      *uuid.UUID         `db:"allocation_id"`
	LoginUser         *string            `db:"login_user"`
	Proposal          *Proposal          `db:"proposal"`
	State             domain.PlanState   `db:"state"`
	JobID             uuid.UUID          `db:"job_id"`
	AppliedJobID      *uuid.UUID         `db:"applied_job_id"`
	PlaybookVersionID uuid.UUID          `db:"playbook_version_id"`
	Playbook          string             `db:"playbook"`
	PlaybookVersion   int                `db:"playbook_version"`
	Seeded            bool               `db:"seeded"` // the version came with a release
	PlaybookSHA256    string             `db:"playbook_sha256"`
	VariablesSHA256   string             `db:"variables_sha256"`
	RowsSHA256        string             `db:"rows_sha256"`
	ReportSHA256      string             `db:"report_sha256"`
	Counts            *domain.PlanCounts `db:"counts"`
	Result            *domain.PlanResult `db:"result"`
	RequestedBy       string             `db:"requested_by"`
	CreatedAt         time.Time          `db:"created_at"`
	CheckedAt         *time.Time         `db:"checked_at"`
	ExpiresAt         time.Time          `db:"expires_at"`
	Expired           bool               `db:"expired"`
	AskedBy           []uuid.UUID        `db:"asked_by"`    // accounts, none of which approves it; nil: made by an older backend
	AgeSeconds        int64              `db:"age_seconds"` // of the check; 0 before it ends
	// Of a plan to delete a scope, which has no host, playbook and job of a check.
	Scope     *string     `db:"scope"` // 'organization', 'project' or 'workspace'
	ScopeID   *uuid.UUID  `db:"scope_id"`
	ScopePath *string     `db:"scope_path"`
	ScopeIDs  []uuid.UUID `db:"scope_ids"` // of all that go
	// Of a plan that lists what a job would do, such as that: what its action is about, and what the list is made from.
	ObjectKind *string         `db:"object_kind"`
	ObjectID   *uuid.UUID      `db:"object_id"` // zeros: the action makes it
	ObjectName *string         `db:"object_name"`
	Subject    json.RawMessage `db:"subject"`
}

// What the check told is large, and read only where it is asked for ($1).
const sqlPlan = `
SELECT p.id, p.workspace_id, p.kind, p.action, p.request, COALESCE(p.host_id, '00000000-0000-0000-0000-000000000000') AS host_id, COALESCE(h.name, '') AS host,
       COALESCE(h.workspace_id, p.workspace_id) AS host_workspace_id, p.unit_id, u.name AS unit, p.allocation_id,
       COALESCE(a.login_user, p.proposal->>'login_user') AS login_user, p.proposal, p.state, p.job_id, p.applied_job_id,
       COALESCE(p.playbook_version_id, '00000000-0000-0000-0000-000000000000') AS playbook_version_id, COALESCE(v.playbook, '') AS playbook,
       COALESCE(v.version, 0) AS playbook_version, COALESCE(v.seeded, false) AS seeded, p.playbook_sha256, p.variables_sha256, p.rows_sha256,
       p.report_sha256, p.counts, p.requested_by, p.created_at, p.checked_at, p.expires_at, p.expires_at <= now() AS expired, p.asked_by,
       p.scope, p.scope_id, p.scope_path, p.scope_ids, p.object_kind, p.object_id, p.object_name, p.subject,
       COALESCE(EXTRACT(EPOCH FROM now() - p.checked_at), 0)::INT8 AS age_seconds,
       CASE WHEN $1::BOOL THEN p.result END AS result
  FROM plans p
  LEFT JOIN hosts h ON h.id = p.host_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
  LEFT JOIN compute_units u ON u.id = p.unit_id
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true`

// Plan returns a plan by its id.
func (r Reads) Plan(ctx context.Context, id uuid.UUID) (Plan, error) {
	return db.First[Plan](ctx, r.q, domain.ErrNotFound, sqlPlan+" AND p.id = $2", true, id)
}

// PlanSorting is the orders that plans can be listed in.
var PlanSorting = db.Sorting[Plan]{
	{Name: "-created_at", Columns: []db.Column{db.ByTime("p.created_at"), db.ByID("p.id")}, At: func(p Plan) db.Position { return db.Position{Time: p.CreatedAt, ID: p.ID} }},
}

// PlanFilter narrows a list of plans.
type PlanFilter struct {
	WorkspaceID          uuid.UUID
	State                string // "expired": ready, but can't be applied any more
	HostID, AllocationID *uuid.UUID
	Login                string     // of the allocation; any that has it or had it
	Approval             string     // "pending": they wait for approvals
	WaitsFor             *uuid.UUID // they wait for approvals, and this account can still give one
	Action               string     // "": all but those that policies make to look
	Sort                 string     // one of PlanSorting; "" for the first
	After                *db.Position
	Limit                int
}

// Plans lists plans without what their checks told.
func (r Reads) Plans(ctx context.Context, f PlanFilter) ([]Plan, error) {
	l := db.NewList(sqlPlan, false).And("p.workspace_id = ?", f.WorkspaceID)
	switch f.State {
	case "expired":
		l.And("p.state = 'ready' AND p.expires_at <= now()")
	case string(domain.PlanReady):
		l.And("p.state = 'ready' AND p.expires_at > now()")
	default:
		l.AndIf(f.State, "p.state = ?")
	}
	if f.Action == "" {
		l.And("p.action <> ?", domain.ActionCrossCheck)
	} else {
		l.And("p.action = ?", f.Action)
	}
	if f.HostID != nil {
		l.And("p.host_id = ?", *f.HostID)
	}
	if f.AllocationID != nil {
		l.And("p.allocation_id = ?", *f.AllocationID)
	}
	if f.Login != "" {
		l.And("p.allocation_id IN (SELECT a.id FROM allocations a WHERE a.workspace_id = ? AND a.login_user = ?)", f.WorkspaceID, f.Login)
	}
	if f.Approval != "" || f.WaitsFor != nil {
		l.And(sqlPlanPending)
	}
	if f.WaitsFor != nil {
		l.And("NOT (?::UUID = ANY(p.asked_by))", *f.WaitsFor).And("NOT (?::UUID = ANY(p.asked_by))", uuid.Nil)
		l.And("NOT EXISTS (SELECT 1 FROM plan_decisions m WHERE m.plan_id = p.id AND m.account_id = ?)", *f.WaitsFor)
	}
	return PlanSorting.Read(ctx, r.q, l, f.Sort, f.After, f.Limit)
}

const sqlInsertPlan = `
INSERT INTO plans (id, workspace_id, kind, action, request, host_id, unit_id, allocation_id, proposal, state, job_id, playbook_version_id,
                   playbook_sha256, requested_by, expires_at, asked_by)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, v.id, v.sha256, $12, now() + $13::INT8 * INTERVAL '1 second',
       (SELECT array_agg(DISTINCT b.id)
          FROM (SELECT $15::UUID AS id
                 UNION ALL
                SELECT CASE WHEN m.kind = 'person' THEN m.id ELSE '00000000-0000-0000-0000-000000000000'::UUID END AS id
                  FROM accounts s
                  JOIN tokens t ON t.account_id = s.id
                  LEFT JOIN accounts m ON m.id = t.maker_id
                 WHERE s.id = $15 AND s.kind = 'service') AS b)
  FROM playbook_versions v
 WHERE v.id = $14`

// InsertPlan adds a plan whose check has not run. Whoever made a key of the service account that asks, asks with it.
func (tx *Tx) InsertPlan(ctx context.Context, p Plan, asker uuid.UUID) error {
	tx.Touch(nounPlan, p.ID)
	err := tx.One(ctx, domain.ErrNotFound, sqlInsertPlan, p.ID, p.WorkspaceID, p.Kind, p.Action, p.Request, p.HostID, p.UnitID, p.AllocationID,
		p.Proposal, domain.PlanLifecycle.Initial, p.JobID, p.RequestedBy, int64(domain.PlanLifetime/time.Second), p.PlaybookVersionID, asker)
	if err != nil {
		return fmt.Errorf("insert plan: %w", err)
	}
	return nil
}

const sqlMovePlan = `
UPDATE plans
   SET state = $3
 WHERE id = $1 AND state = $2`

// MovePlan takes a plan through its lifecycle. It is applied by ApplyPlan.
func (tx *Tx) MovePlan(ctx context.Context, id uuid.UUID, from domain.PlanState, on domain.Event) (domain.PlanState, error) {
	tx.Touch(nounPlan, id)
	to, err := domain.PlanLifecycle.Next(from, on)
	if err != nil || to == from {
		return to, err
	}
	return to, tx.One(ctx, movedMeanwhile("plan"), sqlMovePlan, id, from, to)
}

const sqlSetPlanResult = `
UPDATE plans
   SET variables_sha256 = $2, rows_sha256 = $3, report_sha256 = $4, counts = $5, result = $6, checked_at = now(),
       expires_at = now() + $7::INT8 * INTERVAL '1 second'
 WHERE id = $1 AND state = 'checking'`

// SetPlanResult stores what the check told and what it stands on, in the
// transaction that makes the plan ready. Its time begins to run: where rules ask
// for approvals, the one that they leave.
func (tx *Tx) SetPlanResult(ctx context.Context, p Plan) (iam.Approval, error) {
	tx.Touch(nounPlan, p.ID)
	rules, err := tx.PlanRules(ctx, p)
	if err != nil {
		return iam.Approval{}, err
	}
	asked := iam.ApprovalFor(rules, string(p.Kind))
	if p.Action == domain.ActionCrossCheck { // nobody applies it
		asked = iam.Approval{}
	}
	lifetime := domain.Approval{Needed: int(asked.Needed), Within: time.Duration(asked.Hours) * time.Hour}.Lifetime()
	return asked, tx.One(ctx, movedMeanwhile("plan"), sqlSetPlanResult, p.ID, p.VariablesSHA256, p.RowsSHA256, p.ReportSHA256, p.Result.Counts,
		p.Result, int64(lifetime/time.Second))
}

const sqlApplyPlan = `
UPDATE plans
   SET state = $3, applied_job_id = $4
 WHERE id = $1 AND state = $2 AND expires_at > now()`

// ApplyPlan notes which job is bound to the plan; a plan is applied once.
func (tx *Tx) ApplyPlan(ctx context.Context, p Plan, job uuid.UUID) error {
	tx.Touch(nounPlan, p.ID)
	to, err := domain.PlanLifecycle.Next(p.State, domain.ApplyRequested)
	if err != nil {
		return err
	}
	return tx.One(ctx, movedMeanwhile("plan"), sqlApplyPlan, p.ID, p.State, to, job)
}

const sqlFailPlansOfHost = `
UPDATE plans
   SET state = 'failed'
 WHERE host_id = $1 AND state = 'checking'
RETURNING id`

const sqlDeleteOldPlans = `
DELETE FROM plans
 WHERE id IN (SELECT p.id
                FROM plans p
               WHERE p.applied_job_id IS NULL AND p.state <> 'checking' AND p.expires_at < now() - INTERVAL '30 days'
               ORDER BY p.expires_at
               LIMIT $1)
RETURNING id`

// DeleteOldPlans forgets plans that were never applied.
func (tx *Tx) DeleteOldPlans(ctx context.Context) (n int64, more bool, err error) {
	n, err = tx.touching(ctx, nounPlan, sqlDeleteOldPlans, expiryRows)
	return n, n == expiryRows, err
}

const sqlRuns = `
SELECT COALESCE(sum(s.attempt), 0)
  FROM (SELECT q.id, q.kind, q.unit_id FROM jobs q WHERE q.host_id = $1 AND q.state = 'queued'
        UNION ALL
        SELECT l.id, l.kind, l.unit_id FROM jobs l WHERE l.host_id = $1 AND l.lease_expires_at IS NOT NULL
        UNION ALL
        SELECT e.id, e.kind, e.unit_id FROM jobs e WHERE e.host_id = $1 AND e.finished_at IS NOT NULL) AS j
  JOIN job_steps s ON s.job_id = j.id
 WHERE j.kind = ANY($2) AND j.id <> $3 AND ($4::UUID IS NULL OR j.unit_id IS NULL OR j.unit_id = $4)`

// Runs counts how often a job that may have changed a host has begun a step
// there, which a claim that was put back has not; with a unit, only jobs about
// that unit or about the whole host. One job can be left out.
func (r Reads) Runs(ctx context.Context, host, unit, except uuid.UUID) (int64, error) {
	var kinds []string
	for _, j := range domain.JointTable {
		if j.Changes() {
			kinds = append(kinds, string(j.Kind))
		}
	}
	var n int64
	err := r.q.QueryRow(ctx, sqlRuns, host, kinds, except, orNull(unit)).Scan(&n)
	return n, err
}
