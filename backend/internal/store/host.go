package store

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// Host is one row of hosts, with what jobs and intents read beside it.
type Host struct {
	ID              uuid.UUID         `db:"id"`
	WorkspaceID     uuid.UUID         `db:"workspace_id"`
	OrganizationID  uuid.UUID         `db:"organization_id"`
	Name            string            `db:"name"`
	Address         string            `db:"address"`
	Port            int               `db:"port"`
	AdminUser       string            `db:"admin_user"`
	Region          string            `db:"region"`
	Zone            string            `db:"zone"`
	Networks        []string          `db:"networks"`
	Labels          map[string]string `db:"labels"`
	Profile         string            `db:"profile"`
	Purpose         string            `db:"purpose"`
	TrustOnFirstUse bool              `db:"trust_on_first_use"`
	HostKey         string            `db:"host_key"`
	OfferedHostKey  string            `db:"offered_host_key"`
	State           domain.HostState  `db:"state"`
	Health          domain.HostHealth `db:"health"`
	HealthMessage   string            `db:"health_message"`
	HealthAt        *time.Time        `db:"health_at"`
	MachineID       *string           `db:"machine_id"`
	Facts           *domain.Facts     `db:"facts"`
	FactsAt         *time.Time        `db:"facts_at"`
	Layout          *domain.Layout    `db:"layout"`
	NextOrdinal     int               `db:"next_ordinal"`
	Incarnation     uuid.UUID         `db:"incarnation"`
	Version         int64             `db:"version"`
	CreatedAt       time.Time         `db:"created_at"`
	UpdatedAt       time.Time         `db:"updated_at"`
	RemovedAt       *time.Time        `db:"removed_at"`
	FenceNumber     int64             `db:"fence_number"`
	Units           map[string]int    `db:"units"`
	LiveAllocations int               `db:"live_allocations"`
	Fenced          bool              `db:"fenced"` // the fence of this incarnation was put there
	ClusterNodes    int               `db:"cluster_nodes"`
}

// ShownHost is a host as who looks on is shown it.
type ShownHost struct {
	Host
	ActiveJob *uuid.UUID `db:"active_job"` // of its workspace, that holds the host, or runs there, or is the newest that waits
}

const (
	// The filter leaves nothing out. CockroachDB would make a join of the aggregate
	// without it, and refuse the key that a host without units then has (its issue
	// 158207).
	hostColumns = `h.id, h.workspace_id, h.organization_id, h.name, h.address, h.port, h.admin_user, h.region, h.zone, h.networks, h.labels,
       h.profile, h.purpose, h.trust_on_first_use, h.host_key, h.offered_host_key, h.state, h.health, h.health_message, h.health_at,
       h.machine_id, h.facts, h.facts_at, h.layout, h.next_ordinal, h.incarnation, h.fenced, h.version, h.created_at, h.updated_at, h.removed_at,
       COALESCE((SELECT l.number FROM host_locks l WHERE l.host_id = h.id), 0) AS fence_number,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.ended_at IS NULL) AS live_allocations,
       (SELECT count(*) FROM kube_nodes n WHERE n.host_id = h.id) AS cluster_nodes`

	hostRows = `
  FROM hosts h
 WHERE true`

	sqlHost = `
SELECT ` + hostColumns + hostRows

	// On CockroachDB whoever reads this waits for all leases that are being written.
	sqlShownHost = `
SELECT ` + hostColumns + `,
       COALESCE((SELECT l.job_id FROM host_locks l JOIN jobs lj ON lj.id = l.job_id AND lj.workspace_id = h.workspace_id WHERE l.host_id = h.id),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.lease_expires_at IS NOT NULL ORDER BY j.lease_expires_at DESC LIMIT 1),
                (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.workspace_id = h.workspace_id AND j.state = 'queued' ORDER BY j.created_at DESC LIMIT 1)) AS active_job` + hostRows
)

// Host returns a host by its id, removed or not.
func (r Reads) Host(ctx context.Context, id uuid.UUID) (Host, error) {
	return db.First[Host](ctx, r.q, domain.ErrNotFound, sqlHost+" AND h.id = $1", id)
}

// ShownHost is Host with the job that is active there.
func (r Reads) ShownHost(ctx context.Context, id uuid.UUID) (ShownHost, error) {
	return db.First[ShownHost](ctx, r.q, domain.ErrNotFound, sqlShownHost+" AND h.id = $1", id)
}

// ShownHostByName returns the host of a workspace with this name that is not removed.
func (r Reads) ShownHostByName(ctx context.Context, workspace uuid.UUID, name string) (ShownHost, error) {
	return db.First[ShownHost](ctx, r.q, domain.ErrNotFound, sqlShownHost+" AND h.workspace_id = $1 AND h.name = $2 AND h.removed_at IS NULL", workspace, name)
}

// HostSorting is the orders that hosts can be listed in.
var HostSorting = db.Sorting[ShownHost]{
	{Name: "name", Columns: []db.Column{db.ByText("h.name"), db.ByID("h.id")}, At: func(h ShownHost) db.Position { return db.Position{Text: h.Name, ID: h.ID} }},
	{Name: "created_at", Columns: []db.Column{db.ByTime("h.created_at"), db.ByID("h.id")}, At: func(h ShownHost) db.Position { return db.Position{Time: h.CreatedAt, ID: h.ID} }},
	{Name: "state", Columns: []db.Column{db.ByText("h.state"), db.ByID("h.id")}, At: func(h ShownHost) db.Position { return db.Position{Text: string(h.State), ID: h.ID} }},
}

// HostFilter narrows a list of hosts.
type HostFilter struct {
	WorkspaceID                 uuid.UUID
	State, Region, Zone, Search string
	Labels                      map[string]string // that it has
	Sort                        string            // one of HostSorting; "" for the first
	After                       *db.Position
	Limit                       int
}

// Hosts lists hosts.
func (r Reads) Hosts(ctx context.Context, f HostFilter) ([]ShownHost, error) {
	l := db.NewList(sqlShownHost).And("h.workspace_id = ?", f.WorkspaceID).And("h.removed_at IS NULL")
	l.AndIf(f.State, "h.state = ?").AndIf(f.Region, "h.region = ?").AndIf(f.Zone, "h.zone = ?")
	if len(f.Labels) > 0 {
		l.And("h.labels @> ?", f.Labels)
	}
	if f.Search != "" {
		text := strings.ToLower(f.Search)
		l.And("(position(? IN lower(h.name)) > 0 OR position(? IN lower(h.address)) > 0)", text, text)
	}
	return HostSorting.Read(ctx, r.q, l, f.Sort, f.After, f.Limit)
}

const sqlInsertHost = `
INSERT INTO hosts (id, workspace_id, organization_id, name, address, port, admin_user, region, zone, networks, labels,
                   profile, trust_on_first_use, host_key, state, incarnation, purpose, ssh_key_version, ssh_key_only)
SELECT $1, $2, o.id, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
       COALESCE(k.version + CASE WHEN k.next_public_key IS NULL THEN 0 ELSE 1 END, 1),
       COALESCE(k.version + CASE WHEN k.next_public_key IS NULL THEN 0 ELSE 1 END, 1)
  FROM (SELECT COALESCE($3::UUID, p.organization_id) AS id
          FROM workspaces w
          JOIN projects p ON p.id = w.project_id
         WHERE w.id = $2) o
  LEFT JOIN organization_keys k ON k.organization_id = o.id`

const sqlWorkspaceType = `
SELECT w.type
  FROM workspaces w
 WHERE w.id = $1`

// WorkspaceType is what a workspace is for.
func (r Reads) WorkspaceType(ctx context.Context, workspace uuid.UUID) (string, error) {
	var kind string
	err := r.q.QueryRow(ctx, sqlWorkspaceType, workspace).Scan(&kind)
	if db.IsNoRows(err) {
		return "", domain.ErrNotFound
	}
	return kind, err
}

const sqlInsertHostLock = `
INSERT INTO host_locks (host_id)
VALUES ($1)`

// InsertHost adds a host; a name in use is a Conflict. Where it names no organization,
// it is that of its workspace, whose key reaches the host.
func (tx *Tx) InsertHost(ctx context.Context, h Host) error {
	tx.Touch(nounHost, h.ID)
	_, err := tx.Exec(ctx, sqlInsertHost, h.ID, h.WorkspaceID, db.OrNull(h.OrganizationID), h.Name, h.Address, h.Port, h.AdminUser, h.Region,
		h.Zone, h.Networks, h.Labels, h.Profile, h.TrustOnFirstUse, h.HostKey, h.State, h.Incarnation, cmp.Or(h.Purpose, PurposeUnits))
	if _, dup := db.UniqueViolation(err); dup {
		return domain.Conflictf("name_taken", "a host is already called %q", h.Name)
	}
	if err != nil {
		return fmt.Errorf("insert host: %w", err)
	}
	if _, err = tx.Exec(ctx, sqlInsertHostLock, h.ID); err != nil {
		return err
	}
	return tx.setHostAddresses(ctx, h.ID, h.Address, nil)
}

const sqlUpdateHost = `
UPDATE hosts
   SET address = $2, port = $3, host_key = $4, region = $5, zone = $6, networks = $7, labels = $8, profile = $9, purpose = $10,
       offered_host_key = CASE WHEN address = $2 AND port = $3 THEN offered_host_key ELSE '' END, version = version + 1, updated_at = now()
 WHERE id = $1 AND removed_at IS NULL`

const sqlMoveUnitsToZone = `
UPDATE compute_units
   SET zone = $2
 WHERE host_id = $1 AND zone IS DISTINCT FROM $2
RETURNING id`

// UpdateHost writes what a person may change of a host, which the caller holds
// and which was so before. A key that was offered elsewhere is forgotten.
func (tx *Tx) UpdateHost(ctx context.Context, was, h Host) error {
	tx.Touch(nounHost, h.ID)
	err := tx.One(ctx, movedMeanwhile("host"), sqlUpdateHost, h.ID, h.Address, h.Port, h.HostKey, h.Region, h.Zone, h.Networks, h.Labels, h.Profile, h.Purpose)
	if err != nil {
		return err
	}
	if was.Zone != h.Zone {
		if _, err := tx.touching(ctx, nounUnit, sqlMoveUnitsToZone, h.ID, h.Zone); err != nil {
			return fmt.Errorf("move units to the zone: %w", err)
		}
	}
	if was.Address == h.Address { // what was noted beside a probe stays
		return nil
	}
	return tx.setHostAddresses(ctx, h.ID, h.Address, h.Facts)
}

const sqlMoveHost = `
UPDATE hosts
   SET state = $3, version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2 AND removed_at IS NULL`

// MoveHost takes a host through its lifecycle and returns its new state.
func (tx *Tx) MoveHost(ctx context.Context, id uuid.UUID, from domain.HostState, on domain.Event) (domain.HostState, error) {
	tx.Touch(nounHost, id)
	to, err := domain.HostLifecycle.Next(from, on)
	if err != nil || to == from {
		return to, err
	}
	return to, tx.One(ctx, movedMeanwhile("host"), sqlMoveHost, id, from, to)
}

func movedMeanwhile(noun string) error {
	return domain.Conflictf(noun+"_changed", "the %s changed in the meantime; look at it again", noun)
}

const sqlSetHostKey = `
UPDATE hosts
   SET host_key = $2, offered_host_key = '', version = version + 1, updated_at = now()
 WHERE id = $1 AND removed_at IS NULL AND host_key = $3`

// SetHostKey confirms a key in the place of another (” before the first).
func (tx *Tx) SetHostKey(ctx context.Context, id uuid.UUID, key, instead string) error {
	tx.Touch(nounHost, id)
	return tx.One(ctx, movedMeanwhile("host"), sqlSetHostKey, id, key, instead)
}

const sqlOfferHostKey = `
UPDATE hosts
   SET offered_host_key = $2, version = version + 1, updated_at = now()
 WHERE id = $1`

// OfferHostKey notes the key that a host showed and that a person must confirm.
func (tx *Tx) OfferHostKey(ctx context.Context, id uuid.UUID, key string) error {
	tx.Touch(nounHost, id)
	return tx.One(ctx, domain.ErrNotFound, sqlOfferHostKey, id, key)
}

const sqlSetHostFacts = `
UPDATE hosts
   SET facts = $2, facts_at = now(), machine_id = $3, job_health = $4::TEXT, job_health_message = $5::TEXT,
       health = CASE WHEN 'unreachable' IN ($4::TEXT, agent_health) THEN 'unreachable'
                     WHEN 'degraded' IN ($4::TEXT, agent_health) THEN 'degraded'
                     WHEN 'healthy' IN ($4::TEXT, agent_health) THEN 'healthy'
                     ELSE 'unknown' END,
       health_message = CASE WHEN $5::TEXT = '' THEN agent_health_message
                             WHEN agent_health_message = '' THEN $5::TEXT
                             ELSE agent_health_message || chr(10) || $5::TEXT END,
       health_at = now(), unit_networks = $6,
       version = version + 1, updated_at = now()
 WHERE id = $1
RETURNING address`

const sqlSameMachine = `
SELECT h.name
  FROM hosts h
 WHERE h.machine_id = $2 AND h.id <> $1 AND h.removed_at IS NULL AND h.state NOT IN ('lost', 'decommissioned')
   AND h.workspace_id = (SELECT o.workspace_id FROM hosts o WHERE o.id = $1)
 LIMIT 1`

const sqlLostMachine = `
SELECT h.name
  FROM hosts h
 WHERE h.machine_id = $2 AND h.id <> $1 AND h.state = 'lost'
 ORDER BY h.updated_at DESC
 LIMIT 1`

// SetHostFacts stores what a probe read. A machine that is registered already
// is a Conflict, and so is one that was declared lost, under whatever name.
func (tx *Tx) SetHostFacts(ctx context.Context, id uuid.UUID, f domain.Facts) error {
	tx.Touch(nounHost, id)
	// Before the write, which on PostgreSQL ends the transaction if it fails.
	same := "another host"
	switch err := tx.q.QueryRow(ctx, sqlSameMachine, id, f.MachineID).Scan(&same); {
	case err == nil:
		same = "host " + same
	case !db.IsNoRows(err):
		return fmt.Errorf("look for the machine among the hosts: %w", err)
	}
	health, why := f.Health()
	var address string
	err := tx.q.QueryRow(ctx, sqlSetHostFacts, id, f, f.MachineID, health, why, f.Capabilities.UnitNetworks == domain.Possible).Scan(&address)
	if _, dup := db.UniqueViolation(err); dup {
		return domain.Conflictf(domain.ErrCodeDuplicate, "the machine with id %s is already registered as %s; if this is another machine, its machine-id was copied with an image: remove /etc/machine-id there, run systemd-machine-id-setup, and probe again", f.MachineID, same)
	}
	switch {
	case db.IsNoRows(err):
		return domain.ErrNotFound
	case err != nil:
		return fmt.Errorf("set facts of the host: %w", err)
	}
	if err := tx.setHostAddresses(ctx, id, address, &f); err != nil {
		return err
	}
	// After the write: as long as the machine was another live host's, that
	// would have been refused, so a loss that is being declared was waited for.
	var lost string
	switch err := tx.q.QueryRow(ctx, sqlLostMachine, id, f.MachineID).Scan(&lost); {
	case db.IsNoRows(err):
		return nil
	case err != nil:
		return fmt.Errorf("look for the machine among the lost: %w", err)
	}
	return domain.Conflictf(domain.ErrCodeMachineLost, "the machine with id %s was declared lost as host %s", f.MachineID, lost)
}

const sqlSetHostHealth = `
UPDATE hosts
   SET job_health = $2::TEXT, job_health_message = $3::TEXT,
       health = CASE WHEN 'unreachable' IN ($2::TEXT, agent_health) THEN 'unreachable'
                     WHEN 'degraded' IN ($2::TEXT, agent_health) THEN 'degraded'
                     WHEN 'healthy' IN ($2::TEXT, agent_health) THEN 'healthy'
                     ELSE 'unknown' END,
       health_message = CASE WHEN $3::TEXT = '' THEN agent_health_message
                             WHEN agent_health_message = '' THEN $3::TEXT
                             ELSE agent_health_message || chr(10) || $3::TEXT END,
       health_at = now()
 WHERE id = $1`

// SetHostHealth notes what a job just saw of a host. Its health is the worse of
// that and of what its agent says; area/agent has the same rule for agents.
func (tx *Tx) SetHostHealth(ctx context.Context, id uuid.UUID, health domain.HostHealth, message string) error {
	tx.Touch(nounHost, id)
	return tx.One(ctx, domain.ErrNotFound, sqlSetHostHealth, id, health, message)
}

const sqlSetHostLayout = `
UPDATE hosts
   SET layout = $2, next_ordinal = $3, version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $4 AND version = $5`

// What area/agent compares the host with from now on.
const sqlSetInventory = `
INSERT INTO host_inventories (host_id, laid_out)
SELECT h.id, jsonb_build_object('cpus', h.facts->'cpus', 'nodes', h.facts->'nodes', 'memory_bytes', h.facts->'memory_bytes', 'devices', h.facts->'devices')
  FROM hosts h
 WHERE h.id = $1 AND h.facts IS NOT NULL
ON CONFLICT (host_id) DO UPDATE
   SET laid_out = excluded.laid_out, laid_out_at = now()`

// SetHostLayout stores a layout that was computed from this version of the host, and the facts that it was computed from.
func (tx *Tx) SetHostLayout(ctx context.Context, h Host, l domain.Layout, nextOrdinal int) error {
	tx.Touch(nounHost, h.ID)
	if err := tx.One(ctx, movedMeanwhile("host"), sqlSetHostLayout, h.ID, l, nextOrdinal, h.State, h.Version); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlSetInventory, h.ID); err != nil {
		return fmt.Errorf("set the inventory of the host: %w", err)
	}
	return nil
}

const sqlSetStorage = `
UPDATE hosts
   SET facts = jsonb_set(jsonb_set(facts, '{volume_groups}', $2), '{devices}', $3), updated_at = now()
 WHERE id = $1 AND facts IS NOT NULL`

// SetStorage renews the parts of a host's facts that initialization changed.
func (tx *Tx) SetStorage(ctx context.Context, id uuid.UUID, groups []domain.VolumeGroup, devices []domain.Device) error {
	tx.Touch(nounHost, id)
	_, err := tx.Exec(ctx, sqlSetStorage, id, groups, devices)
	return err
}

const sqlSetFenced = `
UPDATE hosts
   SET fenced = $2, updated_at = now()
 WHERE id = $1`

// SetFenced notes whether the host has our fence.
func (tx *Tx) SetFenced(ctx context.Context, id uuid.UUID, fenced bool) error {
	tx.Touch(nounHost, id)
	return tx.One(ctx, domain.ErrNotFound, sqlSetFenced, id, fenced)
}

const sqlRemoveHost = `
UPDATE hosts
   SET removed_at = now(), version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2 AND removed_at IS NULL`

// RemoveHost takes a host in this state out of every list.
func (tx *Tx) RemoveHost(ctx context.Context, id uuid.UUID, in domain.HostState) error {
	tx.Touch(nounHost, id)
	if err := tx.One(ctx, movedMeanwhile("host"), sqlRemoveHost, id, in); err != nil {
		return err
	}
	return iam.HostEnds(ctx, tx.Tx, id)
}

const sqlLockHost = `
UPDATE host_locks
   SET number = number + 1, job_id = $2, attempt = $3, taken_at = now()
 WHERE host_id = $1 AND (job_id IS NULL OR job_id = $2)
   AND EXISTS (SELECT 1 FROM jobs j WHERE j.id = $2 AND j.attempt = $3 AND j.state IN ('running', 'cancelling'))
RETURNING number`

// ErrHostBusy says that another job holds the host.
var ErrHostBusy = domain.Conflictf("host_busy", "another job holds the host")

// LockHost makes an attempt of a job the one holder of a host and returns the
// number that fences all earlier ones.
func (tx *Tx) LockHost(ctx context.Context, host, job uuid.UUID, attempt int) (int64, error) {
	var number int64
	err := tx.q.QueryRow(ctx, sqlLockHost, host, job, attempt).Scan(&number)
	if db.IsNoRows(err) {
		return 0, ErrHostBusy
	}
	return number, err
}

const sqlRaiseNumber = `
UPDATE host_locks
   SET number = GREATEST(number, $2)
 WHERE host_id = $1`

// RaiseNumber makes the next holder's number higher than one that the host has
// seen: a database that was restored has given it before, and forgotten it.
func (tx *Tx) RaiseNumber(ctx context.Context, host uuid.UUID, seen int64) error {
	return tx.One(ctx, domain.ErrNotFound, sqlRaiseNumber, host, seen)
}

const sqlUnlockHost = `
UPDATE host_locks
   SET job_id = NULL, taken_at = NULL
 WHERE host_id = (SELECT j.host_id FROM jobs j WHERE j.id = $1) AND job_id = $1 AND attempt <= $2`

// UnlockHost lets go of the job's host if an attempt of it holds it, or an
// earlier one held it when its worker died. The number stays: the next holder's
// is higher.
func (tx *Tx) UnlockHost(ctx context.Context, job uuid.UUID, attempt int) error {
	_, err := tx.Exec(ctx, sqlUnlockHost, job, attempt)
	return err
}

const sqlUnlockHostsOf = `
UPDATE host_locks
   SET job_id = NULL, taken_at = NULL
 WHERE host_id IN (SELECT o.object_id FROM job_objects o WHERE o.job_id = $1 AND o.noun = 'host') AND job_id = $1 AND attempt <= $2`

// UnlockHostsOf is UnlockHost for a job that has its hosts among its objects.
func (tx *Tx) UnlockHostsOf(ctx context.Context, job uuid.UUID, attempt int) error {
	_, err := tx.Exec(ctx, sqlUnlockHostsOf, job, attempt)
	return err
}

// SharedHost is the id of a host that is granted to a workspace, by its id or its name.
func (r Reads) SharedHost(ctx context.Context, workspace uuid.UUID, ref string) (uuid.UUID, error) {
	h, err := iam.FindSharedHost(ctx, r.q, workspace, ref)
	return h.ID, err
}
