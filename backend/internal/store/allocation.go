package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// Allocation is one row of allocations, with what is shown of its unit, host
// and address.
type Allocation struct {
	ID             uuid.UUID              `db:"id"`
	WorkspaceID    uuid.UUID              `db:"workspace_id"`
	UnitID         uuid.UUID              `db:"unit_id"`
	Unit           string                 `db:"unit"`
	Ordinal        int                    `db:"ordinal"` // of its unit
	HostID         uuid.UUID              `db:"host_id"`
	Host           string                 `db:"host"`
	HostWorkspace  uuid.UUID              `db:"host_workspace_id"`
	HostGrant      *uuid.UUID             `db:"host_grant_id"` // by which it is on a host of another workspace
	HostState      domain.HostState       `db:"host_state"`
	HostKey        string                 `db:"host_key"`
	Region         string                 `db:"region"`
	Zone           string                 `db:"zone"`
	LoginUser      string                 `db:"login_user"`
	UID            int64                  `db:"uid"`
	Address        string                 `db:"address"`
	Endpoint       *string                `db:"endpoint"`
	Network        string                 `db:"network"`
	UnitNetwork    domain.UnitNetwork     `db:"unit_network"`
	HostCanOwn     bool                   `db:"host_can_own"` // units of its host can have networks of their own
	SSHKeys        []string               `db:"ssh_keys"`
	Labels         map[string]string      `db:"labels"`
	State          domain.AllocationState `db:"state"`
	StateMessage   string                 `db:"state_message"`
	CPUs           string                 `db:"cpus"`
	CPUCount       int                    `db:"cpu_count"`
	MemoryMaxBytes int64                  `db:"memory_max_bytes"`
	VolumeBytes    int64                  `db:"volume_bytes"`
	TasksMax       int                    `db:"tasks_max"`
	Use            *domain.Use            `db:"use"` // when it was last measured
	CreatedBy      string                 `db:"created_by"`
	Version        int64                  `db:"version"`
	KeysVersion    int64                  `db:"keys_version"`
	KeysApplied    int64                  `db:"keys_applied"`
	ActiveJob      *uuid.UUID             `db:"active_job"`
	CreatedAt      time.Time              `db:"created_at"`
	UpdatedAt      time.Time              `db:"updated_at"`
	EndedAt        *time.Time             `db:"ended_at"`
}

const sqlAllocation = `
SELECT a.id, a.workspace_id, a.unit_id, u.name AS unit, u.ordinal, a.host_id, h.name AS host, h.workspace_id AS host_workspace_id, a.host_grant_id, h.state AS host_state, h.host_key, h.region, h.zone,
       a.login_user, a.uid, a.address, p.endpoint, a.network, a.unit_network, h.unit_networks AS host_can_own, a.ssh_keys, a.labels, a.state, a.state_message, u.cpus, u.cpu_count,
       u.memory_max_bytes, u.volume_bytes, u.tasks_max, a.created_by, a.version, a.keys_version, a.keys_applied,
       (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.state IN ('queued', 'running', 'cancelling') ORDER BY j.created_at DESC LIMIT 1) AS active_job,
       a.created_at, a.updated_at, a.ended_at,` + useColumn + `
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
  JOIN hosts h ON h.id = a.host_id
  LEFT JOIN addresses p ON p.allocation_id = a.id
 WHERE true`

// Allocation returns an allocation by its id.
func (r Reads) Allocation(ctx context.Context, id uuid.UUID) (Allocation, error) {
	return db.First[Allocation](ctx, r.q, domain.ErrNotFound, sqlAllocation+" AND a.id = $1", id)
}

// LiveAllocationsOfHost returns the allocations of a host that have not ended.
func (r Reads) LiveAllocationsOfHost(ctx context.Context, host uuid.UUID) ([]Allocation, error) {
	return db.Collect[Allocation](ctx, r.q, sqlAllocation+" AND a.host_id = $1 AND a.ended_at IS NULL ORDER BY a.created_at, a.id", host)
}

// OnSharedHost tells whether its host is of another workspace.
func (a Allocation) OnSharedHost() bool { return a.HostWorkspace != a.WorkspaceID }

// AllocationSorting is the orders that allocations can be listed in.
var AllocationSorting = db.Sorting[Allocation]{
	{Name: "-created_at", Columns: []db.Column{db.ByTime("a.created_at"), db.ByID("a.id")}, At: func(a Allocation) db.Position { return db.Position{Time: a.CreatedAt, ID: a.ID} }},
	{Name: "login_user", Columns: []db.Column{db.ByText("a.login_user"), db.ByID("a.id")}, At: func(a Allocation) db.Position { return db.Position{Text: a.LoginUser, ID: a.ID} }},
	{Name: "state", Columns: []db.Column{db.ByText("a.state"), db.ByID("a.id")}, At: func(a Allocation) db.Position { return db.Position{Text: string(a.State), ID: a.ID} }},
}

// AllocationFilter narrows a list of allocations.
type AllocationFilter struct {
	WorkspaceID              uuid.UUID
	State, LoginUser, Search string // State "live": all that have not ended
	Region, Zone             string // of its host
	UnitNetwork              string // kind of its unit's network
	Labels                   map[string]string
	HostID                   *uuid.UUID
	Sort                     string // one of AllocationSorting; "" for the first
	After                    *db.Position
	Limit                    int
}

// Allocations lists allocations.
func (r Reads) Allocations(ctx context.Context, f AllocationFilter) ([]Allocation, error) {
	l := db.NewList(sqlAllocation).And("a.workspace_id = ?", f.WorkspaceID).AndIf(f.LoginUser, "a.login_user = ?").AndIf(f.UnitNetwork, "a.unit_network = ?")
	if f.State == "live" {
		l.And("a.ended_at IS NULL")
	} else {
		l.AndIf(f.State, "a.state = ?")
	}
	if f.HostID != nil {
		l.And("a.host_id = ?", *f.HostID)
	}
	l.AndIf(f.Region, "h.region = ?").AndIf(f.Zone, "h.zone = ?")
	if len(f.Labels) > 0 {
		l.And("a.labels @> ?", f.Labels)
	}
	if f.Search != "" {
		text := strings.ToLower(f.Search)
		l.And("(position(? IN lower(a.login_user)) > 0 OR position(? IN lower(u.name)) > 0 OR position(? IN a.address) > 0)", text, text, text)
	}
	return AllocationSorting.Read(ctx, r.q, l, f.Sort, f.After, f.Limit)
}

const sqlInsertAllocation = `
INSERT INTO allocations (id, workspace_id, unit_id, host_id, login_user, uid, address, network, unit_network, ssh_keys, labels, state, created_by, host_grant_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`

// ErrLoginTaken says that another allocation on the host logs in under the
// same name, committed since the unit was picked.
var ErrLoginTaken = domain.Conflictf("login_user_taken", "another allocation on this host has this login user")

// InsertAllocation adds an allocation.
func (tx *Tx) InsertAllocation(ctx context.Context, a Allocation) error {
	tx.Touch(nounAllocation, a.ID)
	_, err := tx.Exec(ctx, sqlInsertAllocation, a.ID, a.WorkspaceID, a.UnitID, a.HostID, a.LoginUser, a.UID, a.Address, a.Network,
		a.UnitNetwork, a.SSHKeys, a.Labels, a.State, a.CreatedBy, a.HostGrant)
	switch constraint, dup := db.UniqueViolation(err); {
	case dup && constraint == "allocations_live_login":
		return ErrLoginTaken
	case dup && constraint == "allocations_live_unit":
		return domain.Conflictf("unit_taken", "the unit has an allocation that has not ended")
	}
	if err != nil {
		return fmt.Errorf("insert allocation: %w", err)
	}
	return nil
}

const sqlMoveAllocation = `
UPDATE allocations
   SET state = $3, state_message = $4, version = version + 1, updated_at = now(),
       ended_at = CASE WHEN $3 IN ('deallocated', 'lost') THEN now() END
 WHERE id = $1 AND state = $2`

// MoveAllocation takes an allocation through its lifecycle.
func (tx *Tx) MoveAllocation(ctx context.Context, id uuid.UUID, from domain.AllocationState, on domain.Event, message string) (domain.AllocationState, error) {
	tx.Touch(nounAllocation, id)
	to, err := domain.AllocationLifecycle.Next(from, on)
	if err != nil || to == from {
		return to, err
	}
	if err := tx.One(ctx, movedMeanwhile("allocation"), sqlMoveAllocation, id, from, to, message); err != nil || !domain.AllocationLifecycle.Info(to).Final {
		return to, err
	}
	return to, iam.AllocationEnds(ctx, tx.Tx, id)
}

const sqlIsWhole = `
SELECT EXISTS (SELECT 1 FROM jobs j WHERE j.allocation_id = $1 AND j.kind = 'unit_allocate' AND j.state = 'succeeded')
       AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.allocation_id = $1 AND j.kind = 'unit_deallocate' AND j.attempt > 0)`

// IsWhole tells whether an allocation was set up and nothing of it was ever
// begun to be taken away.
func (r Reads) IsWhole(ctx context.Context, id uuid.UUID) (whole bool, err error) {
	err = r.q.QueryRow(ctx, sqlIsWhole, id).Scan(&whole)
	return whole, err
}

const sqlIsUntouched = `
SELECT NOT EXISTS (SELECT 1
                     FROM jobs j
                     JOIN job_steps s ON s.job_id = j.id
                    WHERE j.allocation_id = $1 AND j.kind = ANY($2) AND s.attempt > 0)`

// IsUntouched tells whether no job has begun to change anything on a host for
// an allocation.
func (r Reads) IsUntouched(ctx context.Context, id uuid.UUID) (untouched bool, err error) {
	err = r.q.QueryRow(ctx, sqlIsUntouched, id, kindsThat(domain.Joint.Changes)).Scan(&untouched)
	return untouched, err
}

const sqlReplaceKeys = `
UPDATE allocations
   SET ssh_keys = $2, keys_version = keys_version + 1, version = version + 1, updated_at = now()
 WHERE id = $1 AND state = 'allocated'`

// ReplaceKeys stores other keys; the job that follows brings them to the host.
func (tx *Tx) ReplaceKeys(ctx context.Context, id uuid.UUID, keys []string) error {
	tx.Touch(nounAllocation, id)
	return tx.One(ctx, movedMeanwhile("allocation"), sqlReplaceKeys, id, keys)
}

const sqlKeysApplied = `
UPDATE allocations
   SET keys_applied = $2, updated_at = now()
 WHERE id = $1 AND keys_applied < $2`

// KeysApplied notes which version of the keys is on the host.
func (tx *Tx) KeysApplied(ctx context.Context, id uuid.UUID, version int64) error {
	tx.Touch(nounAllocation, id)
	_, err := tx.Exec(ctx, sqlKeysApplied, id, version)
	return err
}

const sqlMovedToOwnNetwork = `
UPDATE allocations
   SET unit_network = 'unit', version = version + 1, updated_at = now()
 WHERE id = $1 AND unit_network = 'host'`

// MovedToOwnNetwork notes that the unit has a network of its own now.
func (tx *Tx) MovedToOwnNetwork(ctx context.Context, id uuid.UUID) error {
	tx.Touch(nounAllocation, id)
	_, err := tx.Exec(ctx, sqlMovedToOwnNetwork, id)
	return err
}

const sqlInsertUID = `
INSERT INTO uids (uid, allocation_id)
SELECT c.uid, $2
  FROM unnest($1::INT8[]) AS c(uid)
 WHERE NOT EXISTS (SELECT 1 FROM uids t WHERE t.uid = c.uid)
 LIMIT 1
ON CONFLICT (uid) DO NOTHING
RETURNING uid`

const sqlLowestFreeUID = `
SELECT c.uid
  FROM generate_series($1::INT8, $2::INT8) AS c(uid)
 WHERE NOT EXISTS (SELECT 1 FROM uids t WHERE t.uid = c.uid)
 LIMIT 1`

// TakeUID takes the first of the candidates that was never given to anyone;
// false if all of them were.
func (tx *Tx) TakeUID(ctx context.Context, candidates []int64, allocation uuid.UUID) (int64, bool, error) {
	var uid int64
	err := tx.q.QueryRow(ctx, sqlInsertUID, candidates, allocation).Scan(&uid)
	if db.IsNoRows(err) {
		return 0, false, nil
	}
	return uid, err == nil, err
}

const sqlUIDWiped = `
UPDATE uids
   SET wiped_at = now()
 WHERE uid = $1 AND allocation_id = $2`

// UIDWiped notes that nothing is on a host of the allocation that had the UID.
func (tx *Tx) UIDWiped(ctx context.Context, uid int64, allocation uuid.UUID) error {
	_, err := tx.Exec(ctx, sqlUIDWiped, uid, allocation)
	return err
}

const sqlReuseUID = `
UPDATE uids
   SET allocation_id = $3, wiped_at = NULL
 WHERE wiped_at IS NOT NULL
   AND uid = (SELECT t.uid
                FROM uids t
               WHERE t.wiped_at IS NOT NULL AND t.uid >= $1 AND t.uid <= $2
               ORDER BY t.wiped_at, t.uid
               LIMIT 1
                 FOR UPDATE SKIP LOCKED)
RETURNING uid`

// ReuseUID takes the UID of a range whose last tenant was wiped longest ago;
// false if there is none.
func (tx *Tx) ReuseUID(ctx context.Context, first, last int64, allocation uuid.UUID) (int64, bool, error) {
	var uid int64
	err := tx.q.QueryRow(ctx, sqlReuseUID, first, last, allocation).Scan(&uid)
	if db.IsNoRows(err) {
		return 0, false, nil
	}
	return uid, err == nil, err
}

// LowestFreeUID finds a UID of a range that was never given; false if there is
// none. It reads the whole range: a last resort.
func (r Reads) LowestFreeUID(ctx context.Context, first, last int64) (int64, bool, error) {
	var uid int64
	err := r.q.QueryRow(ctx, sqlLowestFreeUID, first, last).Scan(&uid)
	if db.IsNoRows(err) {
		return 0, false, nil
	}
	return uid, err == nil, err
}
