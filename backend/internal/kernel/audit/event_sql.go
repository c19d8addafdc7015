package audit

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

const sqlInsertEvent = `
INSERT INTO events (id, workspace_id, actor_kind, actor_id, actor_name, client, request_id, action, object_kind, object_id, object_name,
                    job_id, state_before, state_after, project_id, organization_id)
SELECT $1::UUID, $2::UUID, $3::TEXT, $4::UUID, $5::TEXT, $6::TEXT, $7::TEXT, $8::TEXT, $9::TEXT, $10::UUID, $11::TEXT, $12::UUID, $13::JSONB, $14::JSONB,
       COALESCE($15::UUID, (SELECT w.project_id
                              FROM workspaces w
                             WHERE w.id = $2)),
       COALESCE($16::UUID, (SELECT p.organization_id
                              FROM workspaces w
                              JOIN projects p ON p.id = w.project_id
                             WHERE w.id = $2), '00000000-0000-0000-0000-000000000000')`

// Append writes an audit record in the transaction of what it tells of.
func Append(ctx context.Context, tx *db.Tx, who Actor, e Entry) error {
	_, err := tx.Exec(ctx, sqlInsertEvent, uuid.New(), e.Workspace, who.Kind, db.OrNull(who.ID), who.Name, who.Address, who.RequestID,
		e.Action, e.ObjectKind, db.OrNull(e.ObjectID), e.ObjectName, db.OrNull(e.JobID), orNull(e.Before), orNull(e.After), db.OrNull(e.Project), db.OrNull(e.Organization))
	if err != nil {
		return fmt.Errorf("write audit event: %w", err)
	}
	return nil
}

func orNull(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}
