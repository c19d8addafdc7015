package audit

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

const sqlInsertEvent = `
INSERT INTO events (id, workspace_id, actor_kind, actor_id, actor_name, client, request_id, action, object_kind, object_id, object_name,
                    job_id, state_before, state_after)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`

// Append writes an audit record in the transaction of what it tells of.
func Append(ctx context.Context, tx *db.Tx, who Actor, e Entry) error {
	_, err := tx.Exec(ctx, sqlInsertEvent, uuid.New(), e.Workspace, who.Kind, db.OrNull(who.ID), who.Name, who.Address, who.RequestID,
		e.Action, e.ObjectKind, db.OrNull(e.ObjectID), e.ObjectName, db.OrNull(e.JobID), orNull(e.Before), orNull(e.After))
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
