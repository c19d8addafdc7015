package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

// How notifications are grouped.
const (
	GroupWait = 30 * time.Second // for which a condition is false before it is told, so that what belongs together is told together
	Repeat    = 4 * time.Hour    // after which a condition that is still false is told again
	perNotice = 100              // conditions of one message; the others follow
)

// Trouble is a condition that a channel is told of.
type Trouble struct {
	Noun     string    `db:"noun" json:"noun"`
	ObjectID uuid.UUID `db:"object_id" json:"object_id"`
	Name     string    `db:"name" json:"name"` // of the object
	Type     string    `db:"type" json:"condition"`
	Reason   string    `db:"reason" json:"reason,omitempty"`
	Message  string    `db:"message" json:"message,omitempty"`
	Fault    string    `db:"fault" json:"fault,omitempty"`
	Since    time.Time `db:"since" json:"since"`
}

// The workspace of an object is that of its last event: conditions have none, and every write of an object leaves one.
const sqlTrouble = `
SELECT c.noun, c.object_id, c.type, c.reason, c.message, c.fault, c.since,
       COALESCE((SELECT e.object_name FROM events e WHERE e.object_id = c.object_id AND e.object_kind = c.noun ORDER BY e.at DESC, e.id DESC LIMIT 1), '') AS name
  FROM conditions c
 WHERE c.status = 'false'
   AND c.since <= now() - $3::INT8 * INTERVAL '1 second'
   AND c.object_id <> $1
   AND ('*' = ANY($5::TEXT[]) OR c.noun = ANY($5::TEXT[]) OR c.noun || '/' || c.type = ANY($5::TEXT[]))
   AND (SELECT e.workspace_id FROM events e WHERE e.object_id = c.object_id ORDER BY e.at DESC, e.id DESC LIMIT 1) = $2
   AND NOT EXISTS (SELECT 1
                     FROM channel_notices n
                    WHERE n.channel_id = $1 AND n.noun = c.noun AND n.object_id = c.object_id AND n.type = c.type
                      AND n.told_at > now() - $4::INT8 * INTERVAL '1 second')
 ORDER BY c.since, c.noun, c.object_id, c.type
 LIMIT $6`

// A condition that flaps is not told to be over before it rests.
const sqlOver = `
SELECT n.noun, n.object_id, n.type, n.name, COALESCE(c.reason, 'gone') AS reason, COALESCE(c.message, '') AS message,
       '' AS fault, COALESCE(c.since, n.told_at) AS since
  FROM channel_notices n
  LEFT JOIN conditions c ON c.noun = n.noun AND c.object_id = n.object_id AND c.type = n.type
 WHERE n.channel_id = $1 AND (c.status IS NULL OR c.status = 'true' AND NOT c.flapping)
 ORDER BY n.noun, n.object_id, n.type
 LIMIT $2`

// Untold reads what a channel is to be told: conditions that are false, and those it was told of that are over.
func Untold(ctx context.Context, q db.Reader, c Channel, wait, repeat time.Duration) (trouble, over []Trouble, err error) {
	trouble, err = db.Collect[Trouble](ctx, q, sqlTrouble, c.ID, c.WorkspaceID, int64(wait/time.Second), int64(repeat/time.Second), c.Subscribes, perNotice)
	if err == nil {
		over, err = db.Collect[Trouble](ctx, q, sqlOver, c.ID, perNotice)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read what channel %s is to be told: %w", c.ID, err)
	}
	return trouble, over, nil
}

const sqlNoteTold = `
INSERT INTO channel_notices (channel_id, noun, object_id, type, name, told_at)
SELECT c.id, w.noun, w.object_id, w.type, w.name, now()
  FROM channels c, unnest($2::TEXT[], $3::UUID[], $4::TEXT[], $5::TEXT[]) AS w (noun, object_id, type, name)
 WHERE c.id = $1
ON CONFLICT (channel_id, noun, object_id, type) DO UPDATE
   SET told_at = excluded.told_at, name = excluded.name`

const sqlForgetTold = `
DELETE FROM channel_notices
 WHERE channel_id = $1
   AND (noun, object_id, type) IN (SELECT w.noun, w.object_id, w.type FROM unnest($2::TEXT[], $3::UUID[], $4::TEXT[]) AS w (noun, object_id, type))`

const sqlForgetNotices = `
DELETE FROM channel_notices
 WHERE channel_id = $1`

func columns(all []Trouble) (nouns []string, objects []uuid.UUID, types, names []string) {
	for _, t := range all {
		nouns, objects, types, names = append(nouns, t.Noun), append(objects, t.ObjectID), append(types, t.Type), append(names, t.Name)
	}
	return nouns, objects, types, names
}

// RecordTold notes what a channel was told.
func RecordTold(ctx context.Context, tx *db.Tx, channel uuid.UUID, trouble, over []Trouble) error {
	if nouns, objects, types, names := columns(trouble); len(nouns) > 0 {
		if _, err := tx.Exec(ctx, sqlNoteTold, channel, nouns, objects, types, names); err != nil {
			return fmt.Errorf("note what a channel was told: %w", err)
		}
	}
	if nouns, objects, types, _ := columns(over); len(nouns) > 0 {
		if _, err := tx.Exec(ctx, sqlForgetTold, channel, nouns, objects, types); err != nil {
			return fmt.Errorf("forget what a channel was told: %w", err)
		}
	}
	return nil
}
