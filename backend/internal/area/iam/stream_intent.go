package iam

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/webhook"
)

func (s Stream) told(ctx context.Context, tx *intent.Tx, action string, before, after map[string]any) error {
	return tx.Changed(ctx, audit.Entry{
		Organization: s.OrganizationID, Action: StreamNoun + "." + action, ObjectKind: StreamNoun, ObjectID: s.ID, ObjectName: s.Name, Before: before, After: after,
	})
}

func sealStream(keys *secret.Keyset, id uuid.UUID, text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	key, err := webhook.ParseSecret(text)
	if err != nil {
		return nil, err
	}
	sealed, err := keys.Seal(key, sealedForStream(id))
	if err != nil {
		return nil, fmt.Errorf("seal the secret of an event stream: %w", err)
	}
	return sealed, nil
}

// CreateStream makes a stream of an organization; of the installation for uuid.Nil. It begins with the next event, or with the
// oldest that is kept.
func CreateStream(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, rule egress.Rule, organization uuid.UUID, draft StreamDraft, history bool) (Stream, error) {
	draft, err := draft.check(rule)
	if err != nil {
		return Stream{}, err
	}
	if _, err := writable(ctx, tx, organization); err != nil {
		return Stream{}, err
	}
	id, text := uuid.New(), ""
	if draft.Secret != nil {
		text = *draft.Secret
	}
	sealed, err := sealStream(keys, id, text)
	if err != nil {
		return Stream{}, err
	}
	there := fault.Conflictf("event_stream_exists", "There is an event stream %s here already, or there are %d.", draft.Name, maxStreams)
	err = tx.One(ctx, there, sqlInsertStream, id, organization, draft.Name, draft.Type, draft.URL, draft.Server, draft.Authority, sealed, draft.Enabled, maxStreams)
	if err != nil {
		return Stream{}, fmt.Errorf("make an event stream: %w", err)
	}
	var from audit.Position
	if !history {
		if from, err = audit.LastSealed(ctx, tx.Reader, organization); err != nil {
			return Stream{}, fmt.Errorf("find the newest event: %w", err)
		}
	}
	if _, err := tx.Exec(ctx, sqlInsertPosition, id, from.Seal, from.At, from.ID); err != nil {
		return Stream{}, fmt.Errorf("note where a stream begins: %w", err)
	}
	made, err := StreamByID(ctx, tx.Reader, id)
	if err != nil {
		return Stream{}, err
	}
	return made, made.told(ctx, tx, "create", nil, made.facts())
}

// holdStream returns a stream for a change of the version that somebody looked at; 0 for any.
func holdStream(ctx context.Context, tx *intent.Tx, ref scope.Ref[Stream], version int64) (Stream, error) {
	type row struct {
		ID uuid.UUID `db:"id"`
	}
	if _, err := db.First[row](ctx, tx.Reader, fault.ErrNotFound, sqlHoldStream, ref.ID()); err != nil {
		return Stream{}, err
	}
	before, err := StreamByID(ctx, tx.Reader, ref.ID())
	if err != nil {
		return Stream{}, err
	}
	return before, fault.CheckVersion("event stream", before.Version, version)
}

// ChangeStream changes a stream; its type stays. change is given it as it is; a secret that stays nil is kept. The position
// stays too: another receiver gets what comes next.
func ChangeStream(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, rule egress.Rule, ref scope.Ref[Stream], version int64, change func(*StreamDraft)) error {
	before, err := holdStream(ctx, tx, ref, version)
	if err != nil {
		return err
	}
	if _, err := writable(ctx, tx, before.OrganizationID); err != nil {
		return err
	}
	draft := before.draft()
	change(&draft)
	if draft, err = draft.check(rule); err != nil {
		return err
	}
	sealed := before.SecretSealed
	if draft.Secret != nil {
		if sealed, err = sealStream(keys, before.ID, *draft.Secret); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, sqlChangeStream, before.ID, draft.Name, draft.URL, draft.Server, draft.Authority, sealed, draft.Enabled)
	if _, taken := db.UniqueViolation(err); taken {
		return fault.Conflictf("event_stream_exists", "There is an event stream %s here already.", draft.Name)
	}
	if err != nil {
		return fmt.Errorf("change an event stream: %w", err)
	}
	after, err := StreamByID(ctx, tx.Reader, before.ID)
	if err != nil {
		return err
	}
	return after.told(ctx, tx, "change", before.facts(), after.facts())
}

// DeleteStream deletes a stream. What was not sent is not sent any more; the events stay here.
func DeleteStream(ctx context.Context, tx *intent.Tx, ref scope.Ref[Stream], version int64) error {
	before, err := holdStream(ctx, tx, ref, version)
	if err != nil {
		return err
	}
	for _, sql := range []db.Statement{sqlDeletePosition, sqlDeleteStream} {
		if _, err := tx.Exec(ctx, sql, before.ID); err != nil {
			return fmt.Errorf("delete an event stream: %w", err)
		}
	}
	return before.told(ctx, tx, "delete", before.facts(), nil)
}
