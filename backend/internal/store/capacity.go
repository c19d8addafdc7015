package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// PlaceHosts is how many hosts of one place are in one state.
type PlaceHosts struct {
	Region string           `db:"region"`
	Zone   string           `db:"zone"`
	State  domain.HostState `db:"state"`
	Hosts  int              `db:"hosts"`
}

// PlaceUnits is what the units of one place that are in one state have together.
type PlaceUnits struct {
	Region      string           `db:"region"`
	Zone        string           `db:"zone"`
	State       domain.UnitState `db:"state"`
	Units       int              `db:"units"`
	CPUs        int              `db:"cpus"`
	MemoryBytes int64            `db:"memory_bytes"`
	VolumeBytes int64            `db:"volume_bytes"`
}

// HostInShort is the little of a host that an overview shows.
type HostInShort struct {
	ID            uuid.UUID         `db:"id"`
	Name          string            `db:"name"`
	Region        string            `db:"region"`
	Zone          string            `db:"zone"`
	State         domain.HostState  `db:"state"`
	Health        domain.HostHealth `db:"health"`
	HealthMessage string            `db:"health_message"`
	OffersKey     bool              `db:"offers_key"`
	LaidOut       bool              `db:"laid_out"`
	Units         map[string]int    `db:"units"`
}

// Capacity is what there is in a workspace.
type Capacity struct {
	Hosts []PlaceHosts
	Units []PlaceUnits
	Short []HostInShort
	// Shared is what hosts of other workspaces have that this one may use.
	Shared iam.SharedCapacity
}

const sqlHostsByPlace = `
SELECT h.region, h.zone, h.state, count(*) AS hosts
  FROM hosts h
 WHERE h.workspace_id = $1 AND h.removed_at IS NULL
 GROUP BY h.region, h.zone, h.state
 ORDER BY h.region, h.zone, h.state`

// Added up by host first: a place is looked up for each host then, not for
// each unit.
const sqlUnitsByPlace = `
SELECT h.region, h.zone, s.state, sum(s.units)::INT8 AS units, sum(s.cpus)::INT8 AS cpus,
       sum(s.memory_bytes)::INT8 AS memory_bytes, sum(s.volume_bytes)::INT8 AS volume_bytes
  FROM (SELECT u.host_id, u.state, count(*) AS units, sum(u.cpu_count) AS cpus, sum(u.memory_max_bytes) AS memory_bytes,
               sum(u.volume_bytes) AS volume_bytes
          FROM compute_units u
         WHERE u.workspace_id = $1 AND u.state <> 'removed'
         GROUP BY u.host_id, u.state) s
  JOIN hosts h ON h.id = s.host_id
 WHERE h.removed_at IS NULL
 GROUP BY h.region, h.zone, s.state
 ORDER BY h.region, h.zone, s.state`

const sqlHostsInShort = `
SELECT h.id, h.name, h.region, h.zone, h.state, h.health, h.health_message, h.offered_host_key <> '' AS offers_key,
       h.layout IS NOT NULL AS laid_out,
       COALESCE((SELECT jsonb_object_agg(s.state, s.n) FILTER (WHERE s.n > 0)
                   FROM (SELECT u.state, count(*) AS n FROM compute_units u WHERE u.host_id = h.id AND u.state <> 'removed' GROUP BY u.state) s), '{}') AS units
  FROM hosts h
 WHERE h.workspace_id = $1 AND h.removed_at IS NULL
 ORDER BY CASE WHEN h.state IN ('registered', 'awaiting_host_key', 'probed', 'init_failed', 'decommission_failed')
                 OR h.health IN ('unreachable', 'degraded') OR h.offered_host_key <> '' THEN 0 ELSE 1 END, h.name
 LIMIT $2`

// Capacity counts what there is in a workspace, and lists some of its hosts:
// those first that wait for a person.
func (r Reads) Capacity(ctx context.Context, workspace uuid.UUID, hosts int) (c Capacity, err error) {
	if c.Hosts, err = db.Collect[PlaceHosts](ctx, r.q, sqlHostsByPlace, workspace); err != nil {
		return c, fmt.Errorf("count hosts: %w", err)
	}
	if c.Units, err = db.Collect[PlaceUnits](ctx, r.q, sqlUnitsByPlace, workspace); err != nil {
		return c, fmt.Errorf("count units: %w", err)
	}
	if c.Short, err = db.Collect[HostInShort](ctx, r.q, sqlHostsInShort, workspace, hosts); err != nil {
		return c, fmt.Errorf("list hosts in short: %w", err)
	}
	c.Shared, err = iam.CapacityOfShared(ctx, r.q, workspace)
	return c, err
}
