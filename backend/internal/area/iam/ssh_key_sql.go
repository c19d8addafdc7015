package iam

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

// What holds for a host h of an organization with the key k. A host without facts was never logged in to, so nothing is proved there.
const (
	keyLogsIn  db.Statement = `h.removed_at IS NULL AND h.facts_at IS NOT NULL AND h.state NOT IN ('lost', 'decommissioned')`
	keyNewest  db.Statement = `(k.version + CASE WHEN k.next_public_key IS NULL THEN 0 ELSE 1 END)`
	keyBehind  db.Statement = `h.ssh_key_version < ` + keyNewest
	keyUnclean db.Statement = `(k.next_public_key IS NULL AND h.fenced AND h.ssh_key_version >= k.version AND h.ssh_key_only < k.version)`
	keyLeft    db.Statement = `h.ssh_key_left >= ` + keyNewest
)

const sqlSSHKey = `
SELECT k.organization_id, k.version, k.public_key, k.private_sealed, k.next_public_key, k.next_sealed, k.former_public_keys, k.replaced_by, k.replaced_at,
       (SELECT count(*) FROM hosts h WHERE h.organization_id = k.organization_id AND ` + keyLogsIn + `) AS hosts,
       (SELECT count(*) FROM hosts h WHERE h.organization_id = k.organization_id AND ` + keyLogsIn + ` AND NOT (` + keyBehind + `) AND NOT ` + keyUnclean + `) AS done,
       (SELECT count(*) FROM hosts h WHERE h.organization_id = k.organization_id AND ` + keyLogsIn + ` AND (` + keyBehind + ` OR ` + keyUnclean + `) AND ` + keyLeft + `) AS left,
       (SELECT count(*) FROM hosts h WHERE h.organization_id = k.organization_id AND ` + keyLogsIn + ` AND ` + keyBehind + ` AND NOT (` + keyLeft + `)) AS behind,
       (SELECT count(*) FROM hosts h WHERE h.organization_id = k.organization_id AND ` + keyLogsIn + ` AND ` + keyUnclean + ` AND NOT (` + keyLeft + `)) AS unclean
  FROM organization_keys k
 WHERE k.organization_id = $1`

// SSHKeyOf is the key of an organization.
func SSHKeyOf(ctx context.Context, q db.Reader, organization uuid.UUID) (SSHKey, error) {
	k, err := db.First[SSHKey](ctx, q, fault.ErrNotFound, sqlSSHKey, organization)
	if err != nil {
		return k, fmt.Errorf("read the SSH key of an organization: %w", err)
	}
	return k, nil
}

const sqlHoldSSHKey = `
SELECT k.organization_id AS id
  FROM organization_keys k
 WHERE k.organization_id = $1
   FOR UPDATE`

// holdSSHKey is SSHKeyOf for a key that nobody else changes before the transaction ends.
func holdSSHKey(ctx context.Context, tx *db.Tx, organization uuid.UUID) (SSHKey, error) {
	if _, err := db.First[oneID](ctx, tx.Reader, fault.ErrNotFound, sqlHoldSSHKey, organization); err != nil {
		return SSHKey{}, fmt.Errorf("hold the SSH key of an organization: %w", err)
	}
	return SSHKeyOf(ctx, tx.Reader, organization)
}

// The error of a job that was queued again is that of an attempt before.
const sqlSSHKeyHosts = `
SELECT x.id, x.name, x.workspace_id, x.workspace, x.fenced, x.behind, x.left_behind, j.id AS job_id, j.state AS job_state, j.error ->> 'message' AS job_message,
       (j.id IS NULL OR j.state = 'succeeded' OR j.state IN ('failed', 'cancelled') AND j.finished_at < now() - $2::INT8 * INTERVAL '1 second') AS idle,
       COALESCE(j.state = 'queued' AND j.attempt > 0, false) AS backing_off
  FROM (SELECT h.id, h.name, h.workspace_id, o.name || '/' || p.name || '/' || w.name AS workspace, h.fenced, (` + keyBehind + `) AS behind, (` + keyLeft + `) AS left_behind,
               (SELECT jo.job_id
                  FROM job_objects jo
                  JOIN jobs l ON l.id = jo.job_id
                 WHERE jo.object_id = h.id AND l.kind IN ('ssh_key_deploy', 'ssh_key_withdraw') AND l.created_at >= COALESCE(k.replaced_at, l.created_at)
                 ORDER BY jo.job_id DESC
                 LIMIT 1) AS last_job
          FROM hosts h
          JOIN organization_keys k ON k.organization_id = h.organization_id
          JOIN workspaces w ON w.id = h.workspace_id
          JOIN projects p ON p.id = w.project_id
          JOIN organizations o ON o.id = p.organization_id
         WHERE h.organization_id = $1 AND ` + keyLogsIn + ` AND (` + keyBehind + ` OR ` + keyUnclean + `)) x
  LEFT JOIN jobs j ON j.id = x.last_job
 ORDER BY x.workspace, x.name, x.id
 LIMIT $3`

// SSHKeyHosts are hosts of an organization that do not have the newest key alone. One is idle again some seconds after its last job
// failed.
func SSHKeyHosts(ctx context.Context, q db.Reader, organization uuid.UUID, pauseSeconds int64, limit int) ([]SSHKeyHost, error) {
	hosts, err := db.Collect[SSHKeyHost](ctx, q, sqlSSHKeyHosts, organization, pauseSeconds, limit)
	if err != nil {
		return nil, fmt.Errorf("list the hosts without the newest SSH key: %w", err)
	}
	return hosts, nil
}

const sqlReplacedSSHKeys = `
SELECT k.organization_id AS id
  FROM organization_keys k
 WHERE k.next_public_key IS NOT NULL
    OR EXISTS (SELECT 1
                 FROM hosts h
                WHERE h.organization_id = k.organization_id AND ` + keyLogsIn + ` AND (` + keyBehind + ` OR ` + keyUnclean + `) AND NOT (` + keyLeft + `))
 ORDER BY k.organization_id`

// ReplacedSSHKeys are the organizations whose key is being replaced, or some of whose hosts do not have the newest one alone.
func ReplacedSSHKeys(ctx context.Context, q db.Reader) ([]uuid.UUID, error) {
	return db.IDs(ctx, q, "list organizations whose SSH key is replaced", sqlReplacedSSHKeys)
}

const (
	sqlReplaceSSHKey = `
UPDATE organization_keys
   SET next_public_key = $2, next_sealed = $3, replaced_by = $4, replaced_at = now()
 WHERE organization_id = $1 AND next_public_key IS NULL`

	// The private key that was in use is gone with this.
	sqlSwitchSSHKey = `
UPDATE organization_keys
   SET version = version + 1, former_public_keys = array_append(former_public_keys, public_key), public_key = next_public_key, private_sealed = next_sealed,
       next_public_key = NULL, next_sealed = NULL
 WHERE organization_id = $1 AND version = $2 AND next_public_key IS NOT NULL`

	// Nobody logged in to these yet, so nothing is to be proved before the other key is told to who registers them.
	sqlUnprovedSSHKey = `
UPDATE hosts
   SET ssh_key_version = $2, ssh_key_only = $2
 WHERE organization_id = $1 AND removed_at IS NULL AND facts_at IS NULL AND ssh_key_version < $2
RETURNING id`

	sqlLeaveSSHKey = `
UPDATE hosts
   SET ssh_key_left = $3
 WHERE organization_id = $1 AND id = ANY($2::UUID[]) AND removed_at IS NULL
RETURNING id`

	sqlProveSSHKey = `
UPDATE hosts
   SET ssh_key_version = $2, ssh_key_left = 0
 WHERE id = $1 AND ssh_key_version < $2
RETURNING id`

	sqlCleanSSHKey = `
UPDATE hosts
   SET ssh_key_only = $2
 WHERE id = $1 AND ssh_key_version >= $2
RETURNING id`
)

// hostWithKey is a host as the jobs about its key see it.
type hostWithKey struct {
	ID             uuid.UUID `db:"id"`
	Name           string    `db:"name"`
	WorkspaceID    uuid.UUID `db:"workspace_id"`
	OrganizationID uuid.UUID `db:"organization_id"`
	AdminUser      string    `db:"admin_user"`
	Fenced         bool      `db:"fenced"`
	Version        int64     `db:"ssh_key_version"`
	There          bool      `db:"there"`
}

const sqlHostWithKey = `
SELECT h.id, h.name, h.workspace_id, h.organization_id, h.admin_user, h.fenced, h.ssh_key_version, (` + keyLogsIn + `) AS there
  FROM hosts h
 WHERE h.id = $1`

func hostForKey(ctx context.Context, q db.Reader, id uuid.UUID) (hostWithKey, error) {
	h, err := db.First[hostWithKey](ctx, q, fault.ErrNotFound, sqlHostWithKey, id)
	if err != nil {
		return h, fmt.Errorf("read a host and its SSH key: %w", err)
	}
	return h, nil
}

// changeKeys runs a statement that changes hosts and returns their ids. If there are any, the policies of these hosts and of the key run.
func changeKeys(ctx context.Context, tx *db.Tx, organization uuid.UUID, sql db.Statement, args ...any) (int, error) {
	changed, err := db.IDs(ctx, tx.Reader, "note the SSH keys of hosts", sql, args...)
	for _, id := range changed {
		tx.Touch(PartHost, id)
	}
	if len(changed) > 0 {
		tx.Touch(SSHKeyNoun, organization)
	}
	return len(changed), err
}
