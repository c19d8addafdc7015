package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

const inventoried = `h.layout IS NOT NULL AND h.facts IS NOT NULL AND h.removed_at IS NULL AND h.state NOT IN ('decommissioned', 'lost')`

const sqlInventoried = `
SELECT h.id
  FROM hosts h
 WHERE h.id > $1 AND ` + inventoried + `
 ORDER BY h.id
 LIMIT $2`

// InventoryHosts lists the ids of hosts that have a layout, behind one of them, ascending.
func InventoryHosts(ctx context.Context, q db.Reader, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	return db.IDs(ctx, q, "list hosts with a layout", sqlInventoried, after, limit)
}

// What an agent counted before the last probe is left out.
const sqlInventory = `
SELECT h.id, h.workspace_id, h.name, h.facts, i.laid_out, i.laid_out_at, COALESCE(i.told, '') AS told,
       COALESCE((r.report->>'cpu_count')::INT8, 0) AS cpus, COALESCE((r.report->>'memory_total')::INT8, 0) AS memory
  FROM hosts h
  LEFT JOIN host_inventories i ON i.host_id = h.id
  LEFT JOIN agents a ON a.host_id = h.id AND a.state = 'enrolled'
  LEFT JOIN agent_reports r ON r.agent_id = a.id AND r.reported_at > h.facts_at
 WHERE h.id = $1 AND ` + inventoried + `
 ORDER BY a.created_at DESC
 LIMIT 1`

// Stock is the inventory of a host now, and when its layout was made.
type Stock struct {
	HostID      uuid.UUID  `db:"id"`
	WorkspaceID uuid.UUID  `db:"workspace_id"`
	Name        string     `db:"name"`
	Facts       Inventory  `db:"facts"`
	LaidOut     *Inventory `db:"laid_out"` // nil: the layout is older than this table
	LaidOutAt   *time.Time `db:"laid_out_at"`
	Told        string     `db:"told"`
	CPUs        int64      `db:"cpus"` // by the agent; 0: it said nothing since the last probe
	Memory      int64      `db:"memory"`
}

// StockOf reads the inventory of a host; fault.ErrNotFound for one without a layout.
func StockOf(ctx context.Context, q db.Reader, host uuid.UUID) (Stock, error) {
	return db.First[Stock](ctx, q, fault.ErrNotFound, sqlInventory, host)
}

// Differences says in sentences what changed since the layout was made.
func (s Stock) Differences() []string {
	if s.LaidOut == nil {
		return nil
	}
	return s.Facts.Since(*s.LaidOut, Counted{s.CPUs, s.Memory})
}

const sqlAdoptInventory = `
INSERT INTO host_inventories (host_id, laid_out)
SELECT h.id, jsonb_build_object('cpus', h.facts->'cpus', 'nodes', h.facts->'nodes', 'memory_bytes', h.facts->'memory_bytes', 'devices', h.facts->'devices')
  FROM hosts h
 WHERE h.id = $1 AND h.facts IS NOT NULL
ON CONFLICT (host_id) DO NOTHING`

const sqlTellInventory = `
UPDATE host_inventories
   SET told = $3
 WHERE host_id = $1 AND told = $2`

// RecordStock tells of differences by an event, once. A layout that is older than the table begins with what the host has now.
func RecordStock(ctx context.Context, d *db.DB, by string, s Stock) (changed int64, err error) {
	told := strings.Join(s.Differences(), " ")
	if s.LaidOut != nil && told == s.Told {
		return 0, nil
	}
	err = d.InTx(ctx, func(tx *db.Tx) error {
		changed = 0
		if s.LaidOut == nil {
			_, err := tx.Exec(ctx, sqlAdoptInventory, s.HostID)
			return err
		}
		n, err := tx.Exec(ctx, sqlTellInventory, s.HostID, s.Told, told)
		if err != nil || n == 0 { // another run told it
			return err
		}
		changed = 1
		entry := audit.Entry{
			Workspace: s.WorkspaceID, Action: "host.inventory_change", ObjectKind: HostNoun, ObjectID: s.HostID, ObjectName: s.Name,
			Before: map[string]any{"differences": s.Told}, After: map[string]any{"differences": told},
		}
		if told == "" {
			entry.Action = "host.inventory_match"
		}
		return audit.Append(ctx, tx, audit.Actor{Kind: audit.Policy, Name: by}, entry)
	})
	if err != nil {
		return 0, fmt.Errorf("record the inventory of host %s: %w", s.HostID, err)
	}
	return changed, nil
}
