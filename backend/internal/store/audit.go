package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
)

// Audit is one audit record to be written.
type Audit struct {
	Workspace  uuid.UUID
	Action     string // 'host.register', 'allocation.create', ...
	ObjectKind string
	ObjectID   uuid.UUID
	ObjectName string
	JobID      uuid.UUID      // uuid.Nil if there is none
	Before     map[string]any // the fields that changed; no secrets
	After      map[string]any
}

const sqlInsertEvent = `
INSERT INTO events (id, workspace_id, actor_kind, actor_id, actor_name, client, request_id, action, object_kind, object_id, object_name,
                    job_id, state_before, state_after)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`

// AddEvent writes an audit record in the transaction of what it tells of.
func (tx *Tx) AddEvent(ctx context.Context, who domain.Actor, a Audit) error {
	_, err := tx.Exec(ctx, sqlInsertEvent, uuid.New(), a.Workspace, who.Kind, orNull(who.ID), who.Name, who.Address, who.RequestID,
		a.Action, a.ObjectKind, orNull(a.ObjectID), a.ObjectName, orNull(a.JobID), orNullMap(a.Before), orNullMap(a.After))
	if err != nil {
		return fmt.Errorf("write audit event: %w", err)
	}
	return nil
}

func orNull(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

func orNullMap(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}
