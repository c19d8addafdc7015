package iam

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// CreateServiceAccount makes an account of a program in an organization. It has no password, and can do nothing until it is
// given a role.
func CreateServiceAccount(ctx context.Context, tx *intent.Tx, organization scope.Ref[Scope], label string) (Account, error) {
	var bad fault.Invalid
	bad.Check("name", checkAccountName(label))
	if len(label) > 63-organizationBytes-1 {
		bad.Add("name", "Use at most %d characters.", 63-organizationBytes-1)
	}
	if err := bad.OrNil(); err != nil {
		return Account{}, err
	}
	at, err := Organizations.keep(ctx, tx.Tx, organization.ID())
	if err != nil {
		return Account{}, err
	}
	if err := at.CanWrite(); err != nil {
		return Account{}, err
	}
	return insertAccount(ctx, tx, serviceName(at.ID, label), noPassword, Service, &at.ID, "")
}

// serviceName is what the accounts table has as name of a service account: unique in the installation, though its label
// is unique in the organization only.
func serviceName(organization uuid.UUID, label string) string {
	return label + "@" + organization.String()[:organizationBytes]
}

// NewKey is a key as somebody asks for it.
type NewKey struct {
	Name        string
	Permissions []string // nil: all that the account has
	At          *Scope   // nil: everywhere the account reaches
	Valid       time.Duration
}

// NewKeySecret makes the secret of a key: a bearer token.
func NewKeySecret() string { return newSecret(tokenPrefix) }

// shownPrefix is how much of a secret is stored, to recognise it by.
const shownPrefix = len(tokenPrefix) + 5

func (k Key) told(ctx context.Context, tx *intent.Tx, account Account, action string, before, after map[string]any) error {
	entry := audit.Entry{Action: KeyNoun + "." + action, ObjectKind: KeyNoun, ObjectID: k.ID, ObjectName: account.Name + " " + k.Name, Before: before, After: after}
	if account.OrganizationID != nil {
		entry.Organization = *account.OrganizationID
	}
	if err := tx.Event(ctx, entry); err != nil {
		return err
	}
	return tx.Made(ctx, KeyNoun, k.ID, uuid.Nil)
}

func (k Key) facts() map[string]any {
	facts := map[string]any{"name": k.Name, "expires_at": k.ExpiresAt}
	if k.Permissions != nil {
		facts["permissions"] = k.Permissions
	}
	if k.Scope != nil && k.ScopeID != nil {
		facts["scope"], facts["scope_id"] = *k.Scope, *k.ScopeID
	}
	return facts
}

// CreateKey makes a key of a service account. Who holds it can do what the account can: so nobody makes one for an account
// that can do more than they can. reach is what the account has.
func CreateKey(ctx context.Context, tx *intent.Tx, ref scope.Ref[Account], draft NewKey, grantable []string, secret string) (Key, error) {
	var bad fault.Invalid
	if strings.TrimSpace(draft.Name) == "" || len(draft.Name) > 64 || strings.ContainsFunc(draft.Name, unicode.IsControl) {
		bad.Add("name", "Say in at most 64 characters what the key is for.")
	}
	for i, p := range draft.Permissions {
		if !slices.Contains(grantable, p) {
			bad.Add(fmt.Sprintf("permissions[%d]", i), "This is no permission that a service account can have.")
		}
	}
	if err := bad.OrNil(); err != nil {
		return Key{}, err
	}
	account, err := holdAccount(ctx, tx.Tx, ref.ID())
	if err != nil {
		return Key{}, err
	}
	if account.State != AccountActive {
		return Key{}, fault.Conflictf("account_state", "The service account is disabled. Enable it first.")
	}
	if at := draft.At; at != nil && account.OrganizationID != nil && at.OrganizationID != *account.OrganizationID {
		return Key{}, fault.Conflictf("other_organization", "A key reaches nothing outside of the organization of its account.")
	}
	id := uuid.New()
	var level *string
	var scopeID *uuid.UUID
	if draft.At != nil {
		level, scopeID = &draft.At.Kind, &draft.At.ID
	}
	many := fault.Conflictf("too_many_keys", "The account has 100 keys. Delete those that nobody uses.")
	err = tx.One(ctx, many, sqlInsertKey, id, account.ID, draft.Name, secret[:shownPrefix], hashOf(tokenPrefix, secret), draft.Permissions, level, scopeID, int64(draft.Valid/time.Second), tx.Call().Actor.ID)
	if err != nil {
		return Key{}, fmt.Errorf("make a key: %w", err)
	}
	made, err := KeyOf(ctx, tx.Reader, account.ID, id)
	if err != nil {
		return Key{}, err
	}
	return made, made.told(ctx, tx, account, "create", nil, made.facts())
}

// RotateKey gives a key another secret. The former one works for the time that is given; an older one ends at once.
func RotateKey(ctx context.Context, tx *intent.Tx, ref scope.Ref[Account], id uuid.UUID, overlap time.Duration, secret string) (Key, error) {
	account, err := holdAccount(ctx, tx.Tx, ref.ID())
	if err != nil {
		return Key{}, err
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlHoldKey, account.ID, id); err != nil {
		return Key{}, err
	}
	before, err := KeyOf(ctx, tx.Reader, account.ID, id)
	if err != nil {
		return Key{}, err
	}
	type row struct {
		Hash  []byte     `db:"hash"`
		Maker *uuid.UUID `db:"maker_id"`
	}
	old, err := db.First[row](ctx, tx.Reader, fault.ErrNotFound, sqlHashOfKey, id)
	if err != nil {
		return Key{}, err
	}
	if _, err := tx.Exec(ctx, sqlDropOldSecret, id); err != nil {
		return Key{}, fmt.Errorf("end the secret before: %w", err)
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlNewSecret, id, hashOf(tokenPrefix, secret), secret[:shownPrefix], tx.Call().Actor.ID); err != nil {
		return Key{}, fmt.Errorf("rotate a key: %w", err)
	}
	if overlap > 0 {
		if err := tx.One(ctx, fault.ErrNotFound, sqlKeepOldSecret, uuid.New(), before.Prefix, old.Hash, int64(overlap/time.Second), id, old.Maker); err != nil {
			return Key{}, fmt.Errorf("keep the former secret: %w", err)
		}
	}
	after, err := KeyOf(ctx, tx.Reader, account.ID, id)
	if err != nil {
		return Key{}, err
	}
	return after, after.told(ctx, tx, account, "rotate", nil, map[string]any{"former_secret_until": after.OldUntil})
}

// DeleteKey ends a key with all of its secrets.
func DeleteKey(ctx context.Context, tx *intent.Tx, ref scope.Ref[Account], id uuid.UUID) error {
	account, err := holdAccount(ctx, tx.Tx, ref.ID())
	if err != nil {
		return err
	}
	key, err := KeyOf(ctx, tx.Reader, account.ID, id)
	if err != nil {
		return err
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlDeleteKey, account.ID, id); err != nil {
		return fmt.Errorf("end a key: %w", err)
	}
	return key.told(ctx, tx, account, "delete", key.facts(), nil)
}
