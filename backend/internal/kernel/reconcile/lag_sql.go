package reconcile

import (
	"context"
	"fmt"
	"time"

	"kloigos/backend/internal/kernel/db"
)

// lateAfter is how long an item may be due before its policy is late.
const lateAfter = time.Minute

const sqlOldestDue = `
SELECT p.policy, statement_timestamp() AS now,
       EXISTS (SELECT 1
                 FROM reconcile_pauses s
                WHERE s.policy = p.policy AND s.object_id = '00000000-0000-0000-0000-000000000000' AND s.mode = 'pause'
                  AND (s.until IS NULL OR s.until > statement_timestamp())) AS paused,
       (SELECT i.due_at
          FROM reconcile_items i
         WHERE i.policy = p.policy
           AND ` + claimable + `
         ORDER BY i.due_at
         LIMIT 1) AS oldest
  FROM unnest($1::TEXT[]) AS p (policy)`

// Lag is the policy that says of all others whether their items wait too long. It
// says nothing of a time in which no reconciler runs at all.
func Lag(d *db.DB, all []Policy) Policy {
	names := []string{lagName}
	for _, p := range all {
		names = append(names, p.Name)
	}
	return Policy{
		Name: lagName, Why: "if policies run late, conditions are old and nothing is put right in time",
		Interval: 30 * time.Second, Jitter: 5 * time.Second, Timeout: 30 * time.Second, Observes: true,
		Run: func(ctx context.Context, _ Item) (Outcome, error) { return lag(ctx, d, names) },
	}
}

const lagName = "policy_lag"

func lag(ctx context.Context, d *db.DB, names []string) (out Outcome, err error) {
	type row struct {
		Policy string     `db:"policy"`
		Now    time.Time  `db:"now"`
		Paused bool       `db:"paused"`
		Oldest *time.Time `db:"oldest"`
	}
	all, err := db.Collect[row](ctx, d.Reader, sqlOldestDue, names)
	if err != nil {
		return out, fmt.Errorf("look how late policies are: %w", err)
	}
	for _, r := range all {
		c := Condition{
			Type: "on_time", Status: True, Reason: "on_time", Message: "No due item waits for more than a minute.",
			Threshold: 2, Noun: PolicyNoun, ObjectID: PolicyID(r.Policy), RetryHelps: true,
		}
		switch {
		case r.Paused:
			c.Status, c.Reason, c.Message = Unknown, "paused", "The policy is paused."
		case r.Oldest != nil && r.Now.Sub(*r.Oldest) > lateAfter:
			c.Status, c.Reason, c.Fault = False, "late", FaultCapacity
			c.Message = fmt.Sprintf("The oldest due item waits for %s. Start more reconcilers.", r.Now.Sub(*r.Oldest).Round(time.Second))
		}
		out.Conditions = append(out.Conditions, c)
	}
	return out, nil
}
