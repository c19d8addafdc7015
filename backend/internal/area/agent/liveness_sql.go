package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

// Known is what a backend keeps of an enrolled agent between its heartbeats.
type Known struct {
	Agent        uuid.UUID `db:"agent_id"`
	Hash         []byte    `db:"hash"`
	ValidMS      int64     `db:"valid_ms"` // how long the credential is valid
	Seq          int64     `db:"seq"`
	AgentVersion *string   `db:"agent_version"`
	BootID       *string   `db:"boot_id"`
	Causes       Causes    `db:"causes"`
	Run          string    `db:"run"`     // the version that it is to run; "": the one that it runs
	Trouble      string    `db:"trouble"` // the version that it does not run, by its own word
}

// A host that no delivery has told of a version runs the one of its group: of the last delivery that reached all such hosts.
const sqlKnown = `
SELECT c.agent_id, c.hash, (EXTRACT(EPOCH FROM c.expires_at - now()) * 1000)::INT8 AS valid_ms, l.seq, r.agent_version, r.boot_id, r.causes,
       COALESCE(t.version, '') AS trouble,
       COALESCE(v.version,
                (SELECT d.version
                   FROM update_deliveries d
                   JOIN rollouts o ON o.id = d.id
                   JOIN hosts h ON h.id = l.host_id
                  WHERE d.workspace_id = h.workspace_id AND o.state = 'done' AND d.region IN ('', h.region) AND d.zone IN ('', h.zone)
                  ORDER BY o.ended_at DESC
                  LIMIT 1), '') AS run
  FROM agent_credentials c
  JOIN agent_liveness l ON l.agent_id = c.agent_id
  LEFT JOIN agent_reports r ON r.agent_id = c.agent_id
  LEFT JOIN agent_versions v ON v.host_id = l.host_id
  LEFT JOIN agent_update_troubles t ON t.agent_id = c.agent_id
 WHERE c.agent_id = $1`

// Know reads what is known of an enrolled agent; ErrRefused if it is none.
func Know(ctx context.Context, q db.Reader, agent uuid.UUID) (Known, error) {
	return db.First[Known](ctx, q, ErrRefused, sqlKnown, agent)
}

const sqlChanged = `
SELECT a.id
  FROM agents a
 WHERE a.updated_at > now() - INTERVAL '30 seconds'
 LIMIT 10000`

// ChangedLately lists agents whose state changed within the last half minute.
func ChangedLately(ctx context.Context, q db.Reader) ([]uuid.UUID, error) {
	return db.IDs(ctx, q, "list agents that changed", sqlChanged)
}

// Beat is a heartbeat that is to be written.
type Beat struct {
	Agent uuid.UUID
	Hash  [32]byte // of the credential that it came with
	Seq   int64
	// Said is nil where there is nothing new to write, and so is Trouble.
	Said    *Said
	Trouble *Trouble
}

// Said is what a heartbeat says beside that the agent lives.
type Said struct {
	Version, BootID string
	SkewMS          int64
	Report          *Report
	Causes          Causes
	State           string // hash of what it sees of the promises on its host
}

const sqlReceive = `
UPDATE agent_liveness
   SET received_at = now(), seq = b.seq
  FROM unnest($1::UUID[], $2::BYTEA[], $3::INT8[]) AS b (agent_id, hash, seq)
  JOIN agent_credentials c ON c.agent_id = b.agent_id AND c.hash = b.hash
 WHERE agent_liveness.agent_id = b.agent_id AND agent_liveness.seq < b.seq
RETURNING agent_liveness.agent_id AS id`

// A first report that finds nothing wrong is judged at once.
const sqlReport = `
INSERT INTO agent_reports (agent_id, agent_version, boot_id, skew_ms, report, causes, state_hash, dirty_at)
SELECT b.agent_id, b.agent_version, b.boot_id, b.skew_ms, b.report::JSONB, b.causes::JSONB, b.state_hash,
       CASE WHEN b.causes = '{}' THEN now() - INTERVAL '1 minute' ELSE now() END
  FROM unnest($1::UUID[], $2::TEXT[], $3::TEXT[], $4::INT8[], $5::TEXT[], $6::TEXT[], $7::TEXT[]) AS b (agent_id, agent_version, boot_id, skew_ms, report, causes, state_hash)
ON CONFLICT (agent_id) DO UPDATE
   SET agent_version = excluded.agent_version, boot_id = excluded.boot_id, skew_ms = excluded.skew_ms, report = excluded.report,
       dirty_at = CASE WHEN agent_reports.causes = excluded.causes THEN agent_reports.dirty_at ELSE COALESCE(agent_reports.dirty_at, now()) END,
       causes = excluded.causes, state_hash = excluded.state_hash, reported_at = now()`

// gapAfter is how long a backend may write nothing before that is a gap in its receiving.
const gapAfter = 5 * time.Second

const sqlReceived = `
INSERT INTO agent_receivers (backend_id)
VALUES ($1)
ON CONFLICT (backend_id) DO UPDATE
   SET since = CASE WHEN agent_receivers.flushed_at < now() - $2::INT8 * INTERVAL '1 millisecond' THEN now() ELSE agent_receivers.since END,
       flushed_at = now()`

// Receive writes heartbeats in one transaction, and that this backend receives. Those that are not in the answer count for
// nothing: their credential is another by now, or a later heartbeat came before them.
func Receive(ctx context.Context, d *db.DB, backend uuid.UUID, beats []Beat) (taken []uuid.UUID, err error) {
	err = d.InTx(ctx, func(tx *db.Tx) error {
		taken = nil
		if len(beats) > 0 {
			if taken, err = receive(ctx, tx, beats); err != nil {
				return err
			}
			if err := report(ctx, tx, beats, taken); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, sqlReceived, backend, gapAfter.Milliseconds()); err != nil {
			return fmt.Errorf("note that this backend receives: %w", err)
		}
		return nil
	})
	return taken, err
}

func receive(ctx context.Context, tx *db.Tx, beats []Beat) ([]uuid.UUID, error) {
	agents, hashes, seqs := make([]uuid.UUID, len(beats)), make([][]byte, len(beats)), make([]int64, len(beats))
	for i := range beats {
		agents[i], hashes[i], seqs[i] = beats[i].Agent, beats[i].Hash[:], beats[i].Seq
	}
	return db.IDs(ctx, tx.Reader, "write heartbeats", sqlReceive, agents, hashes, seqs)
}

func report(ctx context.Context, tx *db.Tx, beats []Beat, taken []uuid.UUID) error {
	counts := make(map[uuid.UUID]bool, len(taken))
	for _, id := range taken {
		counts[id] = true
	}
	var agents []uuid.UUID
	var versions, boots, reports, found, states []string
	var skews []int64
	for _, b := range beats {
		if b.Said == nil || !counts[b.Agent] {
			continue
		}
		text, err := json.Marshal(b.Said.Report)
		if err != nil {
			return fmt.Errorf("encode a report: %w", err)
		}
		causes, err := json.Marshal(b.Said.Causes)
		if err != nil {
			return fmt.Errorf("encode the causes of a report: %w", err)
		}
		agents, versions, boots = append(agents, b.Agent), append(versions, b.Said.Version), append(boots, b.Said.BootID)
		skews, reports, found = append(skews, b.Said.SkewMS), append(reports, string(text)), append(found, string(causes))
		states = append(states, b.Said.State)
	}
	for _, b := range beats {
		if b.Trouble != nil && counts[b.Agent] {
			if err := putTrouble(ctx, tx, b.Agent, *b.Trouble); err != nil {
				return err
			}
		}
	}
	if len(agents) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, sqlReport, agents, versions, boots, skews, reports, found, states); err != nil {
		return fmt.Errorf("write reports: %w", err)
	}
	return nil
}

const sqlStopReceiving = `
DELETE FROM agent_receivers
 WHERE backend_id = $1`

// StopReceiving notes that a backend ends in good order: its agents go to another one, and no gap begins.
func StopReceiving(ctx context.Context, d *db.DB, backend uuid.UUID) error {
	return d.InTx(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, sqlStopReceiving, backend)
		return err
	})
}
