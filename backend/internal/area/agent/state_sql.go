package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
)

const sqlPutState = `
INSERT INTO agent_states (agent_id, part, hash, facts, units)
SELECT c.agent_id, $2, $3, $4::TEXT::JSONB, $5::TEXT::JSONB
  FROM agent_credentials c
 WHERE c.agent_id = $1
ON CONFLICT (agent_id, part) DO UPDATE
   SET hash = excluded.hash, facts = excluded.facts, units = excluded.units, received_at = now()`

const sqlKeepStates = `
DELETE FROM agent_states
 WHERE agent_id = $1 AND part <> 'host' AND NOT (part = ANY($2::TEXT[]))`

// PutState stores a part of what an agent sees. The part of the host comes last of all: it makes the policy look at the host at
// once, and units that it does not name are forgotten.
func PutState(ctx context.Context, d *db.DB, agent, host uuid.UUID, p Part, policy string) error {
	facts, err := json.Marshal(p.Facts)
	if err != nil {
		return fmt.Errorf("encode facts: %w", err)
	}
	units := []byte("{}")
	names := make([]string, 0, len(p.Units))
	if p.Part == HostPart {
		if units, err = json.Marshal(p.Units); err != nil {
			return fmt.Errorf("encode the hashes of units: %w", err)
		}
		for name := range p.Units {
			names = append(names, name)
		}
	}
	return d.InTx(ctx, func(tx *db.Tx) error {
		if err := tx.One(ctx, ErrRefused, sqlPutState, agent, p.Part, p.Hash, string(facts), string(units)); err != nil {
			return err
		}
		if p.Part != HostPart || policy == "" {
			return nil
		}
		if _, err := tx.Exec(ctx, sqlKeepStates, agent, names); err != nil {
			return fmt.Errorf("forget parts of units that are gone: %w", err)
		}
		_, err := reconcile.Wake(ctx, tx, policy, host)
		return err
	})
}

const sqlForgetStates = `
DELETE FROM agent_states
 WHERE agent_id = $1`

const sqlHostOf = `
SELECT l.host_id AS id
  FROM agent_liveness l
 WHERE l.agent_id = $1`

// HostOf is the host that an enrolled agent speaks for.
func HostOf(ctx context.Context, q db.Reader, agent uuid.UUID) (uuid.UUID, error) {
	type row struct {
		ID uuid.UUID `db:"id"`
	}
	r, err := db.First[row](ctx, q, ErrRefused, sqlHostOf, agent)
	return r.ID, err
}

// Seen is all that the agent of a host sees of the promises there.
type Seen struct {
	AgentID    uuid.UUID
	ReceivedAt time.Time // of its last heartbeat
	AgeMS      int64     // since then
	Hash       string    // in that heartbeat, of the host's part; "" if the agent cannot tell
	Parts      map[string]Part
}

const sqlSeen = `
SELECT l.agent_id, l.received_at, (EXTRACT(EPOCH FROM now() - l.received_at) * 1000)::INT8 AS age_ms, COALESCE(r.state_hash, '') AS state_hash
  FROM agent_liveness l
  LEFT JOIN agent_reports r ON r.agent_id = l.agent_id
 WHERE l.host_id = $1
 ORDER BY l.received_at DESC
 LIMIT 1`

const sqlParts = `
SELECT s.part, s.hash, s.facts, s.units
  FROM agent_states s
 WHERE s.agent_id = $1
 ORDER BY s.part`

// SeenOn reads what the agent of a host sees; ok is false if no agent speaks for it.
func SeenOn(ctx context.Context, q db.Reader, host uuid.UUID) (s Seen, ok bool, err error) {
	type live struct {
		AgentID    uuid.UUID `db:"agent_id"`
		ReceivedAt time.Time `db:"received_at"`
		AgeMS      int64     `db:"age_ms"`
		StateHash  string    `db:"state_hash"`
	}
	found, err := db.Collect[live](ctx, q, sqlSeen, host)
	if err != nil || len(found) == 0 {
		return Seen{}, false, err
	}
	s = Seen{AgentID: found[0].AgentID, ReceivedAt: found[0].ReceivedAt, AgeMS: found[0].AgeMS, Hash: found[0].StateHash, Parts: map[string]Part{}}
	type row struct {
		Part  string            `db:"part"`
		Hash  string            `db:"hash"`
		Facts map[string]string `db:"facts"`
		Units map[string]string `db:"units"`
	}
	rows, err := db.Collect[row](ctx, q, sqlParts, s.AgentID)
	if err != nil {
		return Seen{}, false, fmt.Errorf("read the state of host %s: %w", host, err)
	}
	for _, r := range rows {
		s.Parts[r.Part] = Part(r)
	}
	return s, true, nil
}

// Current tells whether all that is stored is what the agent saw when it sent its last heartbeat.
func (s Seen) Current() bool {
	host, ok := s.Parts[HostPart]
	if !ok || s.Hash == "" || s.Hash != host.Hash {
		return false
	}
	for unit, hash := range host.Units {
		if s.Parts[unit].Hash != hash {
			return false
		}
	}
	return true
}
