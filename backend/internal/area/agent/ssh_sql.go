package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

// sqlBySSH holds for a host h that is prepared and for which no agent speaks.
const sqlBySSH = `h.removed_at IS NULL AND h.state IN ('ready', 'draining') AND h.host_key <> ''
   AND NOT EXISTS (SELECT 1 FROM agents a WHERE a.host_id = h.id AND a.state = 'enrolled')`

const sqlHostsBySSH = `
SELECT h.id
  FROM hosts h
 WHERE h.id > $1 AND ` + sqlBySSH + `
 ORDER BY h.id
 LIMIT $2`

// HostsBySSH lists the ids of hosts that are asked over SSH, behind one of them, ascending.
func HostsBySSH(ctx context.Context, q db.Reader, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	return db.IDs(ctx, q, "list hosts without an agent", sqlHostsBySSH, after, limit)
}

const sqlIsBySSH = `
SELECT h.id
  FROM hosts h
 WHERE h.id = $1 AND ` + sqlBySSH

// IsBySSH tells whether a host is asked over SSH.
func IsBySSH(ctx context.Context, q db.Reader, host uuid.UUID) (bool, error) {
	found, err := db.IDs(ctx, q, "look for a host without an agent", sqlIsBySSH, host)
	return len(found) > 0, err
}

const sqlAnswered = `
INSERT INTO ssh_liveness (host_id)
VALUES ($1)
ON CONFLICT (host_id) DO UPDATE
   SET answered_at = now(), failed_at = NULL, why = ''`

const sqlNotAnswered = `
INSERT INTO ssh_liveness (host_id, failed_at, why)
VALUES ($1, now(), $2)
ON CONFLICT (host_id) DO UPDATE
   SET failed_at = now(), why = excluded.why`

// maxWhy is how much is kept of why a host did not answer, in bytes.
const maxWhy = 300

// Asked notes whether a host answered over SSH. why is empty if it did.
func Asked(ctx context.Context, d *db.DB, host uuid.UUID, why string) error {
	return d.InTx(ctx, func(tx *db.Tx) (err error) {
		if why == "" {
			_, err = tx.Exec(ctx, sqlAnswered, host)
		} else {
			_, err = tx.Exec(ctx, sqlNotAnswered, host, strings.ToValidUTF8(why[:min(len(why), maxWhy)], ""))
		}
		if err != nil {
			return fmt.Errorf("note whether host %s answered: %w", host, err)
		}
		return nil
	})
}

const sqlForgetSSH = `
DELETE FROM ssh_liveness
 WHERE host_id = $1
RETURNING host_id AS id`

// ForgetSSH ends the watch over a host. What it said counts no more, unless an agent speaks for the host by now.
func ForgetSSH(ctx context.Context, d *db.DB, host uuid.UUID) error {
	return d.InTx(ctx, func(tx *db.Tx) error {
		gone, err := db.IDs(ctx, tx.Reader, "forget the answers of a host", sqlForgetSSH, host)
		if err != nil || len(gone) == 0 {
			return err
		}
		if speaks, err := Speaks(ctx, tx.Reader, host); err != nil || speaks {
			return err
		}
		return setHealth(ctx, tx, []judged{{Host: host, Health: NoHealth}})
	})
}

// The four statements are those of agents (health_sql.go), for hosts that are asked over SSH.
const sshColumns = `
SELECT l.host_id AS agent_id, l.host_id, h.workspace_id, h.name AS host_name, h.region, h.zone, h.agent_health AS health, NULL::JSONB AS causes, l.told,
       COALESCE(l.lost_at < now() - $1::INT8 * INTERVAL '1 millisecond', false) AS ripe, now() AS now, l.why
  FROM ssh_liveness l
  JOIN hosts h ON h.id = l.host_id
`

// A host that nobody asked is not silent: the last question must be a late one.
const sqlOverdueSSH = sshColumns + `
 WHERE l.lost_at IS NULL AND l.answered_at < now() - $1::INT8 * INTERVAL '1 millisecond' AND l.failed_at > now() - $1::INT8 * INTERVAL '1 millisecond'
 ORDER BY l.answered_at
 LIMIT 1000`

const sqlLostSSH = sshColumns + `
 WHERE l.lost_at IS NOT NULL AND NOT l.told
 ORDER BY l.lost_at
 LIMIT 5000`

// A host that answers for the first time is judged too.
const sqlBackSSH = sshColumns + `
 WHERE l.failed_at IS NULL AND (l.lost_at IS NOT NULL OR h.agent_health = '') AND l.answered_at > now() - $1::INT8 * INTERVAL '1 millisecond'
 ORDER BY l.lost_at
 LIMIT 1000`

const sqlLoseSSH = `
UPDATE ssh_liveness
   SET lost_at = now(), told = false
 WHERE host_id = ANY($1::UUID[]) AND lost_at IS NULL AND answered_at < now() - $2::INT8 * INTERVAL '1 millisecond'
RETURNING host_id AS id`

const sqlTellSSH = `
UPDATE ssh_liveness
   SET told = true
 WHERE host_id = ANY($1::UUID[]) AND lost_at IS NOT NULL AND NOT told`

const sqlComeBackSSH = `
UPDATE ssh_liveness
   SET lost_at = NULL, told = false
 WHERE host_id = ANY($1::UUID[]) AND lost_at IS NOT NULL`

const sqlSSHAnswers = `
SELECT count(*) AS hosts, count(*) FILTER (WHERE l.answered_at > now() - $1::INT8 * INTERVAL '1 millisecond') AS answered
  FROM ssh_liveness l`

// sshReaches tells whether questions over SSH arrive at all: where none of several hosts answers, the fault is most likely ours.
func sshReaches(ctx context.Context, q db.Reader) (bool, error) {
	type row struct {
		Hosts    int64 `db:"hosts"`
		Answered int64 `db:"answered"`
	}
	r, err := db.First[row](ctx, q, errNoRow, sqlSSHAnswers, SilentAfter.Milliseconds())
	return r.Hosts < 2 || r.Answered > 0, err
}
