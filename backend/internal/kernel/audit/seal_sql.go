package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

const (
	// settled is how old an event is when it is sealed: no transaction that could
	// still write an older one lasts as long.
	settled = time.Minute
	// perSeal is how many events one seal holds at most.
	perSeal = 1000
	// longestSeal is for how long one seal goes on at most: retention removes whole
	// seals.
	longestSeal = 24 * time.Hour
	// adopted is how many events without an organization are given one at a time.
	adopted = 1000
)

// Seal is a batch of events that nobody changes unseen.
type Seal struct {
	Organization uuid.UUID  `db:"organization_id"` // zeros: what is in none
	Number       int64      `db:"number"`
	Events       int64      `db:"events"`
	FirstAt      time.Time  `db:"first_at"`
	LastAt       time.Time  `db:"last_at"`
	Hashes       []byte     `db:"hashes"`
	Chain        []byte     `db:"chain"`
	Code         []byte     `db:"code"`
	SealedAt     time.Time  `db:"sealed_at"`
	ExpiredAt    *time.Time `db:"expired_at"`
}

const sqlSeal = `
SELECT s.organization_id, s.number, s.events, s.first_at, s.last_at, s.hashes, s.chain, s.code, s.sealed_at, s.expired_at
  FROM event_seals s
 WHERE s.organization_id = $1`

const sqlRecord = `
SELECT e.id, e.at, e.workspace_id, e.project_id, e.organization_id, e.actor_kind, e.actor_id, e.actor_name, e.client, e.request_id, e.action,
       e.object_kind, e.object_id, e.object_name, e.job_id, e.state_before, e.state_after
  FROM events e
 WHERE e.organization_id = $1`

// An event of a backend of before names no organization; it is sealed with what is
// in none, unless its workspace says better.
const sqlAdopt = `
UPDATE events
   SET organization_id = COALESCE((SELECT p.organization_id
                                     FROM workspaces w
                                     JOIN projects p ON p.id = w.project_id
                                    WHERE w.id = events.workspace_id), '00000000-0000-0000-0000-000000000000')
 WHERE id IN (SELECT e.id
                FROM events e
               WHERE e.organization_id IS NULL AND e.seal IS NULL
               LIMIT $1)`

// Adopt gives events of before an organization, and tells whether more may be left.
func Adopt(ctx context.Context, tx *db.Tx) (n int64, more bool, err error) {
	n, err = tx.Exec(ctx, sqlAdopt, adopted)
	if err != nil {
		return 0, false, fmt.Errorf("give events an organization: %w", err)
	}
	return n, n == adopted, nil
}

const sqlUnsealed = `
SELECT DISTINCT e.organization_id
  FROM events e
 WHERE e.seal IS NULL AND e.organization_id IS NOT NULL AND e.at < now() - $1::INT8 * INTERVAL '1 second'
 LIMIT 1000`

// Unsealed lists the organizations that have events to seal.
func Unsealed(ctx context.Context, q db.Reader) ([]uuid.UUID, error) {
	type row struct {
		ID uuid.UUID `db:"organization_id"`
	}
	rows, err := db.Collect[row](ctx, q, sqlUnsealed, int64(settled/time.Second))
	if err != nil {
		return nil, fmt.Errorf("look for events to seal: %w", err)
	}
	ids := make([]uuid.UUID, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return ids, nil
}

const sqlLastSeal = sqlSeal + `
 ORDER BY s.number DESC
 LIMIT 1`

const sqlToSeal = sqlRecord + ` AND e.seal IS NULL AND e.at < now() - $2::INT8 * INTERVAL '1 second'
 ORDER BY e.at, e.id
 LIMIT $3`

const sqlInsertSeal = `
INSERT INTO event_seals (organization_id, number, events, first_at, last_at, hashes, chain, code)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (organization_id, number) DO NOTHING`

const sqlMarkSealed = `
UPDATE events
   SET seal = $2
 WHERE id = ANY($1) AND seal IS NULL`

var errSealedMeanwhile = errors.New("another backend sealed these events")

// SealNext seals the oldest events of an organization, and tells how many, and
// whether more may be left. vouch makes the code of a chain value.
func SealNext(ctx context.Context, tx *db.Tx, organization uuid.UUID, vouch func(purpose string, message []byte) []byte) (n int64, more bool, err error) {
	last, err := db.First[Seal](ctx, tx.Reader, errNoSeal, sqlLastSeal, organization)
	if err != nil && !errors.Is(err, errNoSeal) {
		return 0, false, fmt.Errorf("read the last seal: %w", err)
	}
	events, err := db.Collect[record](ctx, tx.Reader, sqlToSeal, organization, int64(settled/time.Second), perSeal)
	if err != nil || len(events) == 0 {
		return 0, false, err
	}
	for i, e := range events {
		if e.At.Sub(events[0].At) > longestSeal {
			events, more = events[:i], true
			break
		}
	}
	hashes, err := hashesOf(events)
	if err != nil {
		return 0, false, err
	}
	ids := make([]uuid.UUID, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	chain := chainOf(last.Chain, organization, last.Number+1, hashes)
	err = tx.One(ctx, errSealedMeanwhile, sqlInsertSeal, organization, last.Number+1, len(events), events[0].At, events[len(events)-1].At, hashes, chain, vouch(sealPurpose, chain))
	if err != nil {
		return 0, false, err
	}
	marked, err := tx.Exec(ctx, sqlMarkSealed, ids, last.Number+1)
	if err != nil {
		return 0, false, fmt.Errorf("mark the sealed events: %w", err)
	}
	if marked != int64(len(events)) {
		return 0, false, errSealedMeanwhile
	}
	return marked, more || len(events) == perSeal, nil
}

var errNoSeal = errors.New("nothing is sealed")

const sqlOldSeal = `
SELECT s.organization_id, s.number
  FROM event_seals s
 WHERE s.last_at < now() - $1::INT8 * INTERVAL '1 second' AND s.expired_at IS NULL
 ORDER BY s.last_at
 LIMIT 1`

const sqlExpireSeal = `
UPDATE event_seals
   SET expired_at = now()
 WHERE organization_id = $1 AND number = $2 AND expired_at IS NULL`

const sqlDeleteSealed = `
DELETE FROM events
 WHERE organization_id = $1 AND seal = $2`

// Expire removes the events of the oldest seal that is wholly older than keep, and
// tells how many, and whether there may be another. The seal stays.
func Expire(ctx context.Context, tx *db.Tx, keep time.Duration) (n int64, more bool, err error) {
	type old struct {
		Organization uuid.UUID `db:"organization_id"`
		Number       int64     `db:"number"`
	}
	seal, err := db.First[old](ctx, tx.Reader, errNoSeal, sqlOldSeal, int64(keep/time.Second))
	if errors.Is(err, errNoSeal) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("look for old seals: %w", err)
	}
	if err := tx.One(ctx, errSealedMeanwhile, sqlExpireSeal, seal.Organization, seal.Number); err != nil {
		return 0, false, err
	}
	n, err = tx.Exec(ctx, sqlDeleteSealed, seal.Organization, seal.Number)
	if err != nil {
		return 0, false, fmt.Errorf("remove events: %w", err)
	}
	return n, true, nil
}

const sqlSealedOrganizations = `
SELECT DISTINCT s.organization_id
  FROM event_seals s
 ORDER BY s.organization_id`

const sqlSealsFrom = sqlSeal + ` AND s.number > $2
 ORDER BY s.number
 LIMIT 50`

const sqlThisSeal = sqlSeal + ` AND s.number = $2`

const sqlEventsOfSeals = sqlRecord + ` AND e.seal BETWEEN $2 AND $3
 ORDER BY e.at, e.id`

const sqlSealOfEvent = `
SELECT e.id, e.seal
  FROM events e
 WHERE e.organization_id = $1 AND e.seal BETWEEN $2 AND $3`

const sqlOverdue = `
SELECT count(*)
  FROM events e
 WHERE e.seal IS NULL AND e.at < now() - INTERVAL '1 hour'`

// Check reads the whole trail and says what is not as it was sealed: events that were
// changed, taken away or moved, seals that do not follow each other. vouched tells
// whether a code is one of the keyset; nil leaves the codes out.
func Check(ctx context.Context, q db.Reader, vouched func(purpose string, message, code []byte) bool) (faults []string, err error) {
	type row struct {
		ID uuid.UUID `db:"organization_id"`
	}
	all, err := db.Collect[row](ctx, q, sqlSealedOrganizations)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		found, err := checkChain(ctx, q, o.ID, vouched)
		if err != nil {
			return nil, err
		}
		faults = append(faults, found...)
	}
	return faults, nil
}

// Overdue counts the events that should have been sealed long ago.
func Overdue(ctx context.Context, q db.Reader) (n int64, err error) {
	err = q.QueryRow(ctx, sqlOverdue).Scan(&n)
	return n, err
}

func checkChain(ctx context.Context, q db.Reader, organization uuid.UUID, vouched func(purpose string, message, code []byte) bool) (faults []string, err error) {
	tell := func(number int64, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("organization %s, seal %d: ", organization, number)+fmt.Sprintf(format, args...))
	}
	var last Seal
	for {
		seals, err := db.Collect[Seal](ctx, q, sqlSealsFrom, organization, last.Number)
		if err != nil || len(seals) == 0 {
			return faults, err
		}
		events, err := eventsOf(ctx, q, organization, seals[0].Number, seals[len(seals)-1].Number)
		if err != nil {
			return nil, err
		}
		for _, s := range seals {
			if s.Number != last.Number+1 {
				tell(s.Number, "the %d seals before it are missing", s.Number-last.Number-1)
			} else if string(chainOf(last.Chain, organization, s.Number, s.Hashes)) != string(s.Chain) {
				tell(s.Number, "it does not follow from the seal before it")
			}
			if vouched != nil && !vouched(sealPurpose, s.Chain, s.Code) {
				tell(s.Number, "it was not made with the keyset of this installation")
			}
			found, err := s.compare(events[s.Number])
			if err == nil && len(found) > 0 && s.ExpiredAt == nil { // retention may have removed them meanwhile
				var now Seal
				if now, err = db.First[Seal](ctx, q, errNoSeal, sqlThisSeal, organization, s.Number); err == nil && now.ExpiredAt != nil {
					found = nil
				}
			}
			if err != nil && !errors.Is(err, errNoSeal) {
				return nil, err
			}
			for _, f := range found {
				tell(s.Number, "%s", f)
			}
			last = s
		}
	}
}

func eventsOf(ctx context.Context, q db.Reader, organization uuid.UUID, from, to int64) (map[int64][]record, error) {
	type member struct {
		ID   uuid.UUID `db:"id"`
		Seal int64     `db:"seal"`
	}
	members, err := db.Collect[member](ctx, q, sqlSealOfEvent, organization, from, to)
	if err != nil {
		return nil, err
	}
	of := make(map[uuid.UUID]int64, len(members))
	for _, m := range members {
		of[m.ID] = m.Seal
	}
	rows, err := db.Collect[record](ctx, q, sqlEventsOfSeals, organization, from, to)
	if err != nil {
		return nil, err
	}
	events := map[int64][]record{}
	for _, r := range rows {
		events[of[r.ID]] = append(events[of[r.ID]], r)
	}
	return events, nil
}
