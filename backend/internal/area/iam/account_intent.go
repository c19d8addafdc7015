package iam

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// noPassword stands where an account has none yet. No password has this hash.
const noPassword = "none"

func (a Account) told(ctx context.Context, tx *intent.Tx, action string, before, after map[string]any) error {
	entry := audit.Entry{Action: a.noun() + "." + action, ObjectKind: a.noun(), ObjectID: a.ID, ObjectName: a.Name, Before: before, After: after}
	if a.OrganizationID != nil {
		entry.Organization = *a.OrganizationID
	}
	if err := tx.Event(ctx, entry); err != nil {
		return err
	}
	return tx.Made(ctx, a.noun(), a.ID, uuid.Nil)
}

// CreateAccount makes an account of a person. The secret is that of a link with which they set their password.
func CreateAccount(ctx context.Context, tx *intent.Tx, draft NewAccount, secret string) (Account, error) {
	if err := draft.check(); err != nil {
		return Account{}, err
	}
	made, err := insertAccount(ctx, tx, draft.Name, noPassword, Person, nil, draft.Email)
	if err != nil {
		return Account{}, err
	}
	return made, putLink(ctx, tx, made, secret)
}

func insertAccount(ctx context.Context, tx *intent.Tx, name, hash, kind string, organization *uuid.UUID, email string) (Account, error) {
	id := uuid.New()
	err := tx.One(ctx, fault.Conflictf("name_taken", "Another account has the name %s.", name), sqlInsertAccount, id, name, hash, kind, organization, email)
	if err != nil {
		return Account{}, fmt.Errorf("make an account: %w", err)
	}
	made, err := accountByID(ctx, tx.Reader, id)
	if err != nil {
		return Account{}, err
	}
	return made, made.told(ctx, tx, "create", nil, made.facts())
}

// NewLink makes the secret of a link with which a password is set.
func NewLink() string { return newSecret(linkPrefix) }

func putLink(ctx context.Context, tx *intent.Tx, a Account, secret string) error {
	if _, err := tx.Exec(ctx, sqlPutLink, a.ID, hashOf(linkPrefix, secret), int64(linkLifetime/time.Second)); err != nil {
		return fmt.Errorf("make a link: %w", err)
	}
	return nil
}

// accountAt returns an account for a change of the version that somebody looked at; 0 for any.
func accountAt(ctx context.Context, tx *intent.Tx, ref scope.Ref[Account], version int64) (Account, error) {
	before, err := holdAccount(ctx, tx.Tx, ref.ID())
	if err != nil {
		return Account{}, err
	}
	return before, fault.CheckVersion("account", before.Version, version)
}

// ChangeAccount changes name and address of a person; nil keeps one.
func ChangeAccount(ctx context.Context, tx *intent.Tx, ref scope.Ref[Account], version int64, name, email *string) (Account, error) {
	before, err := accountAt(ctx, tx, ref, version)
	if err != nil {
		return Account{}, err
	}
	draft := NewAccount{before.Name, before.Email}
	if name != nil {
		draft.Name = *name
	}
	if email != nil {
		draft.Email = *email
	}
	if err := draft.checkChange(before); err != nil {
		return Account{}, err
	}
	err = tx.One(ctx, fault.ErrNotFound, sqlChangeAccount, before.ID, draft.Name, draft.Email)
	if _, taken := db.UniqueViolation(err); taken {
		return Account{}, fault.Conflictf("name_taken", "Another account has the name %s.", draft.Name)
	}
	if err != nil {
		return Account{}, fmt.Errorf("change an account: %w", err)
	}
	return accountChanged(ctx, tx, before, "change")
}

func accountChanged(ctx context.Context, tx *intent.Tx, before Account, action string) (Account, error) {
	after, err := accountByID(ctx, tx.Reader, before.ID)
	if err != nil {
		return Account{}, err
	}
	return after, after.told(ctx, tx, action, before.facts(), after.facts())
}

// DisableAccount ends what an account can do, with its sessions and tokens. The last owner of an organization and the last
// operator of the installation stay.
func DisableAccount(ctx context.Context, tx *intent.Tx, ref scope.Ref[Account], version int64) (Account, error) {
	if _, err := holdOwned(ctx, tx, sqlHoldOwned, sqlOperates, ref.ID()); err != nil {
		return Account{}, err
	}
	before, err := accountAt(ctx, tx, ref, version)
	if err != nil {
		return Account{}, err
	}
	if err := before.CanDisable(); err != nil {
		return Account{}, err
	}
	last := fault.Conflictf("last_owner", "The account is the last owner of an organization, or the last operator of the installation, who can log in.")
	if err := tx.One(ctx, last, sqlDisableAccount, before.ID); err != nil {
		return Account{}, fmt.Errorf("disable an account: %w", err)
	}
	for _, sql := range []db.Statement{sqlEndTokens, sqlDropLink, sqlDropPending} {
		if _, err := tx.Exec(ctx, sql, before.ID); err != nil {
			return Account{}, fmt.Errorf("end sessions and tokens: %w", err)
		}
	}
	return accountChanged(ctx, tx, before, "disable")
}

// EnableAccount lets an account be used again. Sessions and tokens that it had do not come back.
func EnableAccount(ctx context.Context, tx *intent.Tx, ref scope.Ref[Account], version int64) (Account, error) {
	before, err := accountAt(ctx, tx, ref, version)
	if err != nil {
		return Account{}, err
	}
	if err := tx.One(ctx, before.CanEnable(), sqlEnableAccount, before.ID); err != nil {
		return Account{}, fmt.Errorf("enable an account: %w", err)
	}
	return accountChanged(ctx, tx, before, "enable")
}

// ResetPassword makes a link with which the person sets another password. The one that is there stays until then.
func ResetPassword(ctx context.Context, tx *intent.Tx, ref scope.Ref[Account], secret string) (Account, error) {
	before, err := holdAccount(ctx, tx.Tx, ref.ID())
	if err != nil {
		return Account{}, err
	}
	if before.State != AccountActive {
		return Account{}, fault.Conflictf("account_state", "The account is disabled. Enable it first.")
	}
	if err := putLink(ctx, tx, before, secret); err != nil {
		return Account{}, err
	}
	return before, before.told(ctx, tx, "reset_password", nil, map[string]any{"valid": linkLifetime.String()})
}

// CheckPassword tells what is wrong with a password; nil if nothing is.
func CheckPassword(account, password string) error {
	var bad fault.Invalid
	bad.Check("password", checkPassword(account, password))
	return bad.OrNil()
}

// AccountOfLink is whose password a link sets; fault.ErrNotFound for one that is used, expired or none.
func AccountOfLink(ctx context.Context, q db.Reader, secret string) (id uuid.UUID, name string, err error) {
	type row struct {
		ID   uuid.UUID `db:"id"`
		Name string    `db:"name"`
	}
	hash := hashOf(linkPrefix, secret)
	if hash == nil {
		return uuid.Nil, "", fault.ErrNotFound
	}
	found, err := db.First[row](ctx, q, fault.ErrNotFound, sqlLink, hash)
	return found.ID, found.Name, err
}

// UseLink sets the password of the account that a link is for, once.
func UseLink(ctx context.Context, tx *intent.Tx, secret, passwordHash string) (Account, error) {
	type row struct {
		ID uuid.UUID `db:"account_id"`
	}
	used, err := db.First[row](ctx, tx.Reader, fault.ErrNotFound, sqlUseLink, hashOf(linkPrefix, secret))
	if err != nil {
		return Account{}, err
	}
	account, err := holdAccount(ctx, tx.Tx, used.ID)
	if err != nil {
		return Account{}, err
	}
	return account, setPassword(ctx, tx, account, passwordHash, uuid.Nil)
}

// SetPassword sets another password of the one who asks, who has shown the old one. Other sessions end; the one that asks
// and API tokens stay.
func SetPassword(ctx context.Context, tx *intent.Tx, ref scope.Ref[Account], passwordHash string, session uuid.UUID) error {
	account, err := holdAccount(ctx, tx.Tx, ref.ID())
	if err != nil {
		return err
	}
	return setPassword(ctx, tx, account, passwordHash, session)
}

func setPassword(ctx context.Context, tx *intent.Tx, account Account, hash string, session uuid.UUID) error {
	if account.State != AccountActive {
		return fault.ErrNotFound
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlSetPassword, account.ID, hash); err != nil {
		return fmt.Errorf("set a password: %w", err)
	}
	if _, err := tx.Exec(ctx, sqlEndSessions, account.ID, session); err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	for _, sql := range []db.Statement{sqlDropLink, sqlDropPending} { // a login that waits for a code has shown the old password
		if _, err := tx.Exec(ctx, sql, account.ID); err != nil {
			return fmt.Errorf("end links: %w", err)
		}
	}
	return account.told(ctx, tx, "set_password", nil, map[string]any{"sessions": "ended"})
}
