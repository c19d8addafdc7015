package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

const (
	sqlBindPlaybooks = `
INSERT INTO job_playbooks (job_id, playbook, version_id)
SELECT $1::UUID, v.playbook, v.id
  FROM playbooks p
  JOIN playbook_versions v ON v.playbook = p.name AND v.version = p.default_version
 WHERE p.name = ANY($2::TEXT[])
ON CONFLICT (job_id, playbook) DO NOTHING`

	sqlBoundPlaybook = sqlPlaybookVersion + ` AND v.id = (SELECT b.version_id FROM job_playbooks b WHERE b.job_id = $1 AND b.playbook = $2)`
)

// BindPlaybooks binds a job to the versions of playbooks that are the defaults now. Those that it is bound to already stay.
func BindPlaybooks(ctx context.Context, tx *db.Tx, job uuid.UUID, playbooks []string) error {
	if _, err := tx.Exec(ctx, sqlBindPlaybooks, job, playbooks); err != nil {
		return fmt.Errorf("bind a job to its playbooks: %w", err)
	}
	return nil
}

// BoundPlaybook returns the version of a playbook that a job plays. A job that is bound to none, since a backend of an older
// release made it, is bound to the default.
func (tx *Tx) BoundPlaybook(ctx context.Context, job uuid.UUID, playbook string) (PlaybookVersion, error) {
	if err := BindPlaybooks(ctx, tx.Tx, job, []string{playbook}); err != nil {
		return PlaybookVersion{}, err
	}
	return db.First[PlaybookVersion](ctx, tx.Reads.q, domain.ErrNotFound, sqlBoundPlaybook, job, playbook)
}
