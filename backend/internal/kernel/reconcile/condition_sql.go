package reconcile

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

const conditionColumns = `c.noun, c.object_id, c.type, c.status, c.reason, c.message, c.fault, c.retry_helps, c.failing, c.results, c.flapping,
       c.since, c.observed_at, c.policy, c.history`

const sqlConditionsOf = `
SELECT ` + conditionColumns + `
  FROM unnest($1::TEXT[], $2::UUID[], $3::TEXT[]) AS w (noun, object_id, type)
  JOIN conditions c ON c.noun = w.noun AND c.object_id = w.object_id AND c.type = w.type`

const sqlWriteConditions = `
INSERT INTO conditions (noun, object_id, type, status, reason, message, fault, retry_helps, failing, results, flapping, since, observed_at, policy, history)
SELECT w.noun, w.object_id, w.type, w.status, w.reason, w.message, w.fault, w.retry_helps, w.failing, w.results, w.flapping, w.since, w.observed_at,
       w.policy, w.history::JSONB
  FROM unnest($1::TEXT[], $2::UUID[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::TEXT[], $8::BOOL[], $9::INT4[], $10::TEXT[], $11::BOOL[],
              $12::TIMESTAMPTZ[], $13::TIMESTAMPTZ[], $14::TEXT[], $15::TEXT[])
       AS w (noun, object_id, type, status, reason, message, fault, retry_helps, failing, results, flapping, since, observed_at, policy, history)
ON CONFLICT (noun, object_id, type) DO UPDATE
   SET status = excluded.status, reason = excluded.reason, message = excluded.message, fault = excluded.fault, retry_helps = excluded.retry_helps,
       failing = excluded.failing, results = excluded.results, flapping = excluded.flapping, since = excluded.since,
       observed_at = excluded.observed_at, policy = excluded.policy, history = excluded.history`

const sqlForgetConditions = `
DELETE FROM conditions
 WHERE noun = $1 AND object_id = ANY($2::UUID[]) AND policy = $3`

const sqlConditions = `
SELECT ` + conditionColumns + `
  FROM conditions c
 WHERE c.noun = $1 AND c.object_id = $2
 ORDER BY c.type`

const sqlConditionsNotTrue = `
SELECT ` + conditionColumns + `
  FROM conditions c
 WHERE c.status <> 'true' AND c.noun = $1
 ORDER BY c.status, c.since, c.object_id, c.type
 LIMIT $2`

// Conditions are those of one object, by type.
func Conditions(ctx context.Context, r db.Reader, noun string, object uuid.UUID) ([]Found, error) {
	all, err := db.Collect[Found](ctx, r, sqlConditions, noun, object)
	if err != nil {
		return nil, fmt.Errorf("read conditions: %w", err)
	}
	return all, nil
}

// ConditionsNotTrue are those of a noun that are not as they should be: false
// before progressing and unknown, the oldest first.
func ConditionsNotTrue(ctx context.Context, r db.Reader, noun string, limit int) ([]Found, error) {
	all, err := db.Collect[Found](ctx, r, sqlConditionsNotTrue, noun, limit)
	if err != nil {
		return nil, fmt.Errorf("read conditions: %w", err)
	}
	return all, nil
}

// observed is one condition of a run that ended.
type observed struct {
	Condition
	policy string
}

type conditionKey struct {
	noun   string
	object uuid.UUID
	kind   string
}

func (o observed) key() conditionKey { return conditionKey{o.Noun, o.ObjectID, o.Type} }

// writeConditions adds observations to what is known. Two at once of one condition
// are written by whoever holds the lease of its item, so nothing is lost between
// reading and writing.
func writeConditions(ctx context.Context, tx *db.Tx, all []observed, at time.Time) error {
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b observed) int {
		return cmp.Or(cmp.Compare(a.Noun, b.Noun), cmp.Compare(a.ObjectID.String(), b.ObjectID.String()), cmp.Compare(a.Type, b.Type))
	})
	var nouns, types []string
	var objects []uuid.UUID
	for _, o := range all {
		nouns, objects, types = append(nouns, o.Noun), append(objects, o.ObjectID), append(types, o.Type)
	}
	stored, err := db.Collect[Found](ctx, tx.Reader, sqlConditionsOf, nouns, objects, types)
	if err != nil {
		return fmt.Errorf("read conditions: %w", err)
	}
	before := map[conditionKey]Found{}
	for _, f := range stored {
		before[conditionKey{f.Noun, f.ObjectID, f.Type}] = f
	}
	var now []Found
	for i, o := range all {
		was, there := before[o.key()]
		if o.IfThere && !there || i+1 < len(all) && all[i+1].key() == o.key() {
			continue // the last word on a condition counts
		}
		was.Noun, was.ObjectID = o.Noun, o.ObjectID
		now = append(now, was.observe(o.Condition, o.policy, at))
	}
	return insertConditions(ctx, tx, now)
}

func insertConditions(ctx context.Context, tx *db.Tx, all []Found) error {
	if len(all) == 0 {
		return nil
	}
	n := len(all)
	noun, object, kind, status, reason := make([]string, n), make([]uuid.UUID, n), make([]string, n), make([]string, n), make([]string, n)
	message, whose, helps, failing := make([]string, n), make([]string, n), make([]bool, n), make([]int32, n)
	results, flapping, since, at := make([]string, n), make([]bool, n), make([]time.Time, n), make([]time.Time, n)
	policy, history := make([]string, n), make([]string, n)
	for i, f := range all {
		noun[i], object[i], kind[i], status[i], reason[i], message[i] = f.Noun, f.ObjectID, f.Type, string(f.Status), f.Reason, f.Message
		whose[i], helps[i], failing[i], results[i], flapping[i] = string(f.Fault), f.RetryHelps, int32(f.Failing), f.Results, f.Flapping
		since[i], at[i], policy[i] = f.Since, f.ObservedAt, f.Policy
		text, err := json.Marshal(append([]Change{}, f.History...))
		if err != nil {
			return fmt.Errorf("write conditions: %w", err)
		}
		history[i] = string(text)
	}
	_, err := tx.Exec(ctx, sqlWriteConditions, noun, object, kind, status, reason, message, whose, helps, failing, results, flapping, since, at, policy, history)
	if err != nil {
		return fmt.Errorf("write conditions: %w", err)
	}
	return nil
}

// ErrNoPolicy says that no policy is called so.
var ErrNoPolicy = fmt.Errorf("policy: %w", fault.ErrNotFound)
