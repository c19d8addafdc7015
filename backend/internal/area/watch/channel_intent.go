package watch

import (
	"context"
	"fmt"
	"maps"
	"slices"

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

// ChannelNoun names channels in events, jobs and problems.
const ChannelNoun = "channel"

const uniqueViolation = "23505" // SQLSTATE

// told records a change: for policies, as an event, and for a repetition of the request.
func (c Channel) told(ctx context.Context, tx *intent.Tx, action string, before, after map[string]any) error {
	return tx.Changed(ctx, c.entry(action, before, after))
}

func (c Channel) entry(action string, before, after map[string]any) audit.Entry {
	return audit.Entry{
		Workspace: c.WorkspaceID, Action: ChannelNoun + "." + action, ObjectKind: ChannelNoun, ObjectID: c.ID, ObjectName: c.Name,
		Before: before, After: after,
	}
}

func taken(name string) error {
	return fault.Conflictf("channel_exists", "The workspace already has a channel %s.", name)
}

var errMeanwhile = fault.Conflictf("version_mismatch", "Another request changed the channel at the same time. Reload it.")

// CreateChannel adds a channel to the workspace of the call. signWith is the first secret of a webhook; "" for none.
func CreateChannel(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, rule egress.Rule, draft Draft, signWith string) (Channel, error) {
	made, err := draft.check(rule)
	if err != nil {
		return Channel{}, err
	}
	id := uuid.New()
	sealed, err := sealPassword(keys, id, made.Password)
	if err != nil {
		return Channel{}, err
	}
	err = tx.One(ctx, taken(made.Name), sqlInsertChannel, id, tx.Call().Workspace, made.Name, made.Type, made.Enabled, orNone(made.Subscribes), made.URL,
		made.Server, made.TLS, made.Username, sealed, made.Sender, orNone(made.Recipients))
	if err != nil {
		return Channel{}, fmt.Errorf("insert a channel: %w", err)
	}
	if signWith != "" {
		if err := addSecret(ctx, tx.Tx, keys, Channel{ID: id, Type: made.Type}, signWith); err != nil {
			return Channel{}, err
		}
	}
	channel, err := ChannelByID(ctx, tx.Reader, id)
	if err != nil {
		return Channel{}, err
	}
	return channel, channel.told(ctx, tx, "create", nil, channel.facts())
}

func sealPassword(keys *secret.Keyset, id uuid.UUID, password string) ([]byte, error) {
	if password == "" {
		return nil, nil
	}
	sealed, err := keys.Seal([]byte(password), passwordOf(id))
	if err != nil {
		return nil, fmt.Errorf("seal the password of a channel: %w", err)
	}
	return sealed, nil
}

func orNone(texts []string) []string { return append([]string{}, texts...) }

// hold returns the channel of a reference, if it is at the version that the change was made for; 0 for any.
func hold(ctx context.Context, tx *intent.Tx, ref scope.Ref[Channel], version int64) (Channel, error) {
	c, err := holdChannel(ctx, tx.Tx, ref.ID())
	if err != nil {
		return c, err
	}
	return c, fault.CheckVersion("channel", c.Version, version)
}

// ChangeChannel changes settings: change is given them as they are, without the password; an empty one keeps it. The type
// stays. A password is not sent to another server than the one that it was given for.
func ChangeChannel(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, rule egress.Rule, ref scope.Ref[Channel], version int64, change func(*Draft)) (Channel, error) {
	before, err := hold(ctx, tx, ref, version)
	if err != nil {
		return Channel{}, err
	}
	draft := before.draft()
	change(&draft)
	made, err := draft.check(rule)
	if err != nil {
		return Channel{}, err
	}
	sealed := before.PasswordSealed
	switch {
	case made.Password != "":
		if sealed, err = sealPassword(keys, before.ID, made.Password); err != nil {
			return Channel{}, err
		}
	case made.Username == "":
		sealed = nil
	case sealed != nil && made.Server != before.Server:
		var bad fault.Invalid
		bad.Add("password", "Give the password again: the server is another.")
		return Channel{}, bad.OrNil()
	}
	err = tx.One(ctx, errMeanwhile, sqlChangeChannel, before.ID, before.Version, made.Name, made.Enabled, orNone(made.Subscribes), made.URL, made.Server,
		made.TLS, made.Username, sealed, made.Sender, orNone(made.Recipients))
	if db.SQLState(err) == uniqueViolation {
		return Channel{}, taken(made.Name)
	}
	if err != nil {
		return Channel{}, fmt.Errorf("change a channel: %w", err)
	}
	after, err := ChannelByID(ctx, tx.Reader, before.ID)
	if err != nil {
		return Channel{}, err
	}
	facts := after.facts()
	if made.Password != "" {
		facts["password"] = "replaced"
	}
	return after, after.told(ctx, tx, "change", before.facts(), facts)
}

// AddSecret adds a secret that messages are signed with besides those that are there.
func AddSecret(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, ref scope.Ref[Channel], text string) (Channel, error) {
	return changeSecrets(ctx, tx, ref, "add_secret", func(c Channel) (map[string]any, error) {
		return map[string]any{"secrets": len(c.Secrets) + 1}, addSecret(ctx, tx.Tx, keys, c, text)
	})
}

// RemoveSecret removes one secret.
func RemoveSecret(ctx context.Context, tx *intent.Tx, ref scope.Ref[Channel], id uuid.UUID) (Channel, error) {
	return changeSecrets(ctx, tx, ref, "remove_secret", func(c Channel) (map[string]any, error) {
		if !slices.ContainsFunc(c.Secrets, func(s Secret) bool { return s.ID == id }) {
			return nil, fault.Conflictf("channel_no_secret", "The channel has no such secret.")
		}
		_, err := tx.Exec(ctx, sqlDeleteSecret, c.ID, id)
		return map[string]any{"secrets": len(c.Secrets) - 1, "secret": id}, err
	})
}

func changeSecrets(ctx context.Context, tx *intent.Tx, ref scope.Ref[Channel], action string, change func(Channel) (map[string]any, error)) (Channel, error) {
	before, err := hold(ctx, tx, ref, 0)
	if err != nil {
		return Channel{}, err
	}
	facts, err := change(before)
	if err != nil {
		return Channel{}, err
	}
	if err := tx.One(ctx, errMeanwhile, sqlCountChange, before.ID, before.Version); err != nil {
		return Channel{}, err
	}
	after, err := ChannelByID(ctx, tx.Reader, before.ID)
	if err != nil {
		return Channel{}, err
	}
	return after, after.told(ctx, tx, action, map[string]any{"secrets": len(before.Secrets)}, maps.Clone(facts))
}

func addSecret(ctx context.Context, tx *db.Tx, keys *secret.Keyset, c Channel, text string) error {
	var bad fault.Invalid
	switch {
	case c.Type != Webhook:
		bad.Add("secret", "Only messages to a webhook are signed.")
		return bad.OrNil()
	case len(c.Secrets) >= MaxSecrets:
		return fault.Conflictf("channel_secrets", "The channel has %d secrets. Remove one first.", MaxSecrets)
	}
	key, err := webhook.ParseSecret(text)
	if err != nil {
		bad.Check("secret", err)
		return bad.OrNil()
	}
	id := uuid.New()
	sealed, err := keys.Seal(key, secretOf(id))
	if err != nil {
		return fmt.Errorf("seal a secret of a channel: %w", err)
	}
	if _, err := tx.Exec(ctx, sqlInsertSecret, id, c.ID, sealed); err != nil {
		return fmt.Errorf("insert a secret of a channel: %w", err)
	}
	return nil
}

// DeleteChannel deletes a channel. Its deliveries stay until they expire.
func DeleteChannel(ctx context.Context, tx *intent.Tx, ref scope.Ref[Channel], version int64) error {
	before, err := hold(ctx, tx, ref, version)
	if err != nil {
		return err
	}
	for _, sql := range []db.Statement{sqlDeleteSecrets, sqlForgetNotices} {
		if _, err := tx.Exec(ctx, sql, before.ID); err != nil {
			return fmt.Errorf("delete what belongs to a channel: %w", err)
		}
	}
	if err := tx.One(ctx, errMeanwhile, sqlDeleteChannel, before.ID, before.Version); err != nil {
		return fmt.Errorf("delete a channel: %w", err)
	}
	return before.told(ctx, tx, "delete", before.facts(), nil)
}
