package store

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// Unit is one row of compute_units, with its host's and its tenant's names.
type Unit struct {
	ID              uuid.UUID         `db:"id"`
	WorkspaceID     uuid.UUID         `db:"workspace_id"`
	HostID          uuid.UUID         `db:"host_id"`
	Host            string            `db:"host"`
	HostState       domain.HostState  `db:"host_state"`
	HostLabels      map[string]string `db:"host_labels"`
	Region          string            `db:"region"`
	Zone            string            `db:"zone"`
	Ordinal         int               `db:"ordinal"`
	Name            string            `db:"name"`
	State           domain.UnitState  `db:"state"`
	StateMessage    string            `db:"state_message"`
	CPUs            string            `db:"cpus"`
	CPUCount        int               `db:"cpu_count"`
	MemoryNodes     string            `db:"memory_nodes"`
	MemoryMaxBytes  int64             `db:"memory_max_bytes"`
	MemoryHighBytes int64             `db:"memory_high_bytes"`
	VolumeBytes     int64             `db:"volume_bytes"`
	TasksMax        int               `db:"tasks_max"`
	Wipe            *domain.Wipe      `db:"wipe"`
	WipedAt         *time.Time        `db:"wiped_at"`
	AllocationID    *uuid.UUID        `db:"allocation_id"`
	LoginUser       *string           `db:"login_user"`
	Tenant          *uuid.UUID        `db:"tenant_workspace_id"` // of its allocation
	UnitNetwork     *string           `db:"unit_network"`        // of its allocation
	Use             *domain.Use       `db:"use"`                 // of its tenant, when it was last measured
	Version         int64             `db:"version"`
	CreatedAt       time.Time         `db:"created_at"`
	UpdatedAt       time.Time         `db:"updated_at"`
}

const sqlUnit = `
SELECT u.id, u.workspace_id, u.host_id, h.name AS host, h.state AS host_state, h.labels AS host_labels, h.region, h.zone, u.ordinal,
       u.name, u.state, u.state_message, u.cpus, u.cpu_count, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.volume_bytes,
       u.tasks_max, u.wipe, u.wiped_at, a.id AS allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, a.unit_network, u.version, u.created_at,
       u.updated_at,` + useColumn + `
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
  LEFT JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE true`

// Unit returns a compute unit by its id.
func (r Reads) Unit(ctx context.Context, id uuid.UUID) (Unit, error) {
	return db.First[Unit](ctx, r.q, domain.ErrNotFound, sqlUnit+" AND u.id = $1", id)
}

// UnitByName returns the unit of a workspace with this name that is not removed.
func (r Reads) UnitByName(ctx context.Context, workspace uuid.UUID, name string) (Unit, error) {
	return db.First[Unit](ctx, r.q, domain.ErrNotFound, sqlUnit+" AND u.workspace_id = $1 AND u.name = $2 AND u.state <> 'removed'", workspace, name)
}

// UnitsOfHost returns the units of a host that are not removed, by ordinal.
func (r Reads) UnitsOfHost(ctx context.Context, host uuid.UUID) ([]Unit, error) {
	return db.Collect[Unit](ctx, r.q, sqlUnit+" AND u.host_id = $1 AND u.state <> 'removed' ORDER BY u.ordinal", host)
}

// UnitSorting is the orders that compute units can be listed in.
var UnitSorting = db.Sorting[Unit]{
	{Name: "name", Columns: []db.Column{db.ByText("u.name"), db.ByID("u.id")}, At: func(u Unit) db.Position { return db.Position{Text: u.Name, ID: u.ID} }},
	{Name: "state", Columns: []db.Column{db.ByText("u.state"), db.ByID("u.id")}, At: func(u Unit) db.Position { return db.Position{Text: string(u.State), ID: u.ID} }},
	{Name: "cpu_count", Columns: []db.Column{db.ByNumber("u.cpu_count", math.MaxInt32), db.ByID("u.id")}, At: func(u Unit) db.Position { return db.Position{Number: int64(u.CPUCount), ID: u.ID} }},
}

// UnitFilter narrows a list of units.
type UnitFilter struct {
	WorkspaceID                 uuid.UUID
	State, Region, Zone, Search string
	Labels                      map[string]string // of its host
	HostID                      *uuid.UUID
	MinCPUs                     int
	Sort                        string // one of UnitSorting; "" for the first
	After                       *db.Position
	Limit                       int
}

// Units lists units; removed ones only if they are asked for.
func (r Reads) Units(ctx context.Context, f UnitFilter) ([]Unit, error) {
	l := db.NewList(sqlUnit).And("u.workspace_id = ?", f.WorkspaceID)
	l.AndIf(f.State, "u.state = ?").AndIf(f.Region, "h.region = ?").AndIf(f.Zone, "h.zone = ?")
	l.AndIf(strings.ToLower(f.Search), "position(? IN lower(u.name)) > 0")
	if len(f.Labels) > 0 {
		l.And("h.labels @> ?", f.Labels)
	}
	if f.State == "" {
		l.And("u.state <> 'removed'")
	}
	if f.HostID != nil {
		l.And("u.host_id = ?", *f.HostID)
	}
	if f.MinCPUs > 0 {
		l.And("u.cpu_count >= ?", f.MinCPUs)
	}
	return UnitSorting.Read(ctx, r.q, l, f.Sort, f.After, f.Limit)
}

const sqlInsertUnit = `
INSERT INTO compute_units (id, workspace_id, host_id, ordinal, name, state, cpus, cpu_count, memory_nodes, memory_max_bytes,
                           memory_high_bytes, volume_bytes, tasks_max, shuffle, zone)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`

const sqlInsertUnitCPU = `
INSERT INTO unit_cpus (host_id, cpu, unit_id)
SELECT $1, c.cpu, $2
  FROM unnest($3::INT4[]) AS c(cpu)`

// InsertUnit adds the next unit of a host and takes its CPUs.
func (tx *Tx) InsertUnit(ctx context.Context, h Host, id uuid.UUID, ordinal int, u domain.UnitLayout) error {
	tx.Touch(nounUnit, id)
	cpus, err := domain.ParseCPUSet(u.CPUs)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, sqlInsertUnit, id, h.WorkspaceID, h.ID, ordinal, domain.UnitName(h.Name, ordinal), domain.UnitLifecycle.Initial,
		u.CPUs, u.CPUCount, u.MemoryNodes, u.MemoryMaxBytes, u.MemoryHighBytes, u.VolumeBytes, u.TasksMax, shuffle(), h.Zone)
	if _, dup := db.UniqueViolation(err); dup {
		return movedMeanwhile("host") // someone else sets a layout
	}
	if err != nil {
		return fmt.Errorf("insert unit: %w", err)
	}
	numbers := make([]int32, len(cpus))
	for i, c := range cpus {
		numbers[i] = int32(c)
	}
	if _, err = tx.Exec(ctx, sqlInsertUnitCPU, h.ID, id, numbers); err != nil {
		if _, dup := db.UniqueViolation(err); dup {
			return domain.Conflictf("cpu_taken", "a CPU of %s already belongs to another unit", u.CPUs)
		}
		return fmt.Errorf("take CPUs: %w", err)
	}
	return nil
}

func shuffle() int32 { return rand.Int32() }

const sqlDropPlannedCPUs = `
DELETE FROM unit_cpus
 WHERE host_id = $1`

const sqlDropPlannedUnits = `
DELETE FROM compute_units
 WHERE host_id = $1 AND state = 'preparing'
RETURNING id`

// DropPlannedUnits forgets the units of a host that never got them: a layout
// that was set again before the first initialization.
func (tx *Tx) DropPlannedUnits(ctx context.Context, host uuid.UUID) error {
	if _, err := tx.Exec(ctx, sqlDropPlannedCPUs, host); err != nil {
		return err
	}
	_, err := tx.touching(ctx, nounUnit, sqlDropPlannedUnits, host)
	return err
}

const sqlMoveUnit = `
UPDATE compute_units
   SET state = $3, state_message = $4, shuffle = $5, version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2`

// MoveUnit takes a unit through its lifecycle; message says why where the new
// state is a bad one.
func (tx *Tx) MoveUnit(ctx context.Context, id uuid.UUID, from domain.UnitState, on domain.Event, message string) (domain.UnitState, error) {
	tx.Touch(nounUnit, id)
	to, err := domain.UnitLifecycle.Next(from, on)
	if err != nil || to == from {
		return to, err
	}
	return to, tx.One(ctx, movedMeanwhile("unit"), sqlMoveUnit, id, from, to, message, shuffle())
}

const sqlMoveUnitsOfHost = `
UPDATE compute_units
   SET state = $3, state_message = $4, version = version + 1, updated_at = now()
 WHERE host_id = $1 AND state = ANY($2)
RETURNING id`

const sqlFreeUnitCPUs = `
DELETE FROM unit_cpus
 WHERE host_id = $1
   AND unit_id IN (SELECT u.id FROM compute_units u WHERE u.host_id = $1 AND u.state = 'removed')`

// MoveUnitsOfHost takes those units of a host through an event that can take
// it, and returns how many there were.
func (tx *Tx) MoveUnitsOfHost(ctx context.Context, host uuid.UUID, on domain.Event, message string) (int64, error) {
	byTarget := map[domain.UnitState][]string{}
	for _, t := range domain.UnitLifecycle.Transitions {
		if t.On == on && t.From != t.To {
			byTarget[t.To] = append(byTarget[t.To], string(t.From))
		}
	}
	var moved int64
	for to, from := range byTarget {
		n, err := tx.touching(ctx, nounUnit, sqlMoveUnitsOfHost, host, from, to, message)
		if err != nil {
			return 0, fmt.Errorf("move units: %w", err)
		}
		moved += n
	}
	if _, removes := byTarget[domain.UnitRemoved]; removes {
		if _, err := tx.Exec(ctx, sqlFreeUnitCPUs, host); err != nil {
			return 0, fmt.Errorf("free CPUs of removed units: %w", err)
		}
	}
	return moved, nil
}

const sqlFreeReplacedCPUs = `
DELETE FROM unit_cpus
 WHERE host_id = $1
   AND unit_id IN (SELECT u.id FROM compute_units u WHERE u.host_id = $1 AND u.state = 'removing')`

// ReplaceUnits takes the CPUs from those units of a host that go with a new
// layout, or with one that is withdrawn, and returns how many they were.
func (tx *Tx) ReplaceUnits(ctx context.Context, host uuid.UUID, on domain.Event) (int64, error) {
	why := "replaced by a new layout"
	if on == domain.LayoutWithdrawn {
		why = "its layout was given up"
	}
	n, err := tx.MoveUnitsOfHost(ctx, host, on, why)
	if err != nil {
		return 0, err
	}
	if _, err := tx.Exec(ctx, sqlFreeReplacedCPUs, host); err != nil {
		return 0, fmt.Errorf("free CPUs of replaced units: %w", err)
	}
	return n, nil
}

// The owner of a shared host is not told whose data it was.
const sqlSetWipe = `
UPDATE compute_units
   SET wipe = CASE WHEN EXISTS (SELECT 1
                                  FROM allocations a
                                 WHERE a.unit_id = compute_units.id AND a.id::TEXT = $2::JSONB->>'allocation_id' AND a.workspace_id <> compute_units.workspace_id)
                   THEN $2::JSONB || '{"allocation_id": "00000000-0000-0000-0000-000000000000", "login_user": ""}'::JSONB
                   ELSE $2::JSONB END,
       wiped_at = now()
 WHERE id = $1`

// SetWipe stores the evidence of a wipe on the unit's record.
func (tx *Tx) SetWipe(ctx context.Context, unit uuid.UUID, evidence domain.Wipe) error {
	tx.Touch(nounUnit, unit)
	return tx.One(ctx, domain.ErrNotFound, sqlSetWipe, unit, evidence)
}
