package iam

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
)

// defaultWorkspace is where events of sessions and tokens stand, whoever made them.
var defaultWorkspace = uuid.MustParse("00000000-0000-4000-8000-000000000003")

// EnrolSecondFactor stores the secret of a second factor. No login asks for a code until one was shown.
func EnrolSecondFactor(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, ref scope.Ref[Account], codeSecret string) error {
	account, err := holdAccount(ctx, tx.Tx, ref.ID())
	if err != nil {
		return err
	}
	if account.Kind != Person {
		return fault.Conflictf("no_person", "Only people have a second factor.")
	}
	sealed, err := keys.Seal([]byte(codeSecret), SecondFactor{AccountID: account.ID}.sealedAs())
	if err != nil {
		return fmt.Errorf("seal a second factor: %w", err)
	}
	there := fault.Conflictf("second_factor_exists", "The account has a second factor. Remove it first.")
	if err := tx.One(ctx, there, sqlEnrol, account.ID, sealed); err != nil {
		return fmt.Errorf("enrol a second factor: %w", err)
	}
	return account.told(ctx, tx, "enrol_second_factor", nil, map[string]any{"confirmed": false})
}

// What a session is proved with.
const (
	withCode     = "code"
	withRecovery = "recovery code"
	withPasskey  = "passkey"
	withProvider = "provider"
)

// unprove ends what sessions and tokens of an account were proved with.
func unprove(ctx context.Context, tx *intent.Tx, account uuid.UUID, with ...string) error {
	if _, err := tx.Exec(ctx, sqlUnprove, account, with); err != nil {
		return fmt.Errorf("end what sessions were proved with: %w", err)
	}
	return nil
}

// ConfirmSecondFactor makes logins ask for a code: the first one was shown, by a session that is proved so. Backends of another release would not ask, so they are
// kept out from then on.
func ConfirmSecondFactor(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, ref scope.Ref[Account], session uuid.UUID, code string, recovery []string, release string, now time.Time) error {
	account, err := holdAccount(ctx, tx.Tx, ref.ID())
	if err != nil {
		return err
	}
	factor, err := holdSecondFactor(ctx, tx, account.ID)
	if err != nil {
		return err
	}
	if factor.Confirmed() {
		return fault.Conflictf("second_factor_exists", "The second factor is confirmed already.")
	}
	good, err := factor.takeStep(ctx, tx, keys, code, now)
	if err != nil {
		return err
	}
	if !good {
		return badCode()
	}
	if err := OnlyThisRelease(ctx, tx.Tx, release, "they would not ask for a code"); err != nil {
		return err
	}
	if err := tx.One(ctx, noSecondFactor(), sqlConfirm, account.ID); err != nil {
		return fmt.Errorf("confirm a second factor: %w", err)
	}
	if _, err := tx.Exec(ctx, sqlProveSession, account.ID, session); err != nil {
		return fmt.Errorf("note what a session was proved with: %w", err)
	}
	if err := putRecovery(ctx, tx, account.ID, recovery); err != nil {
		return err
	}
	return account.told(ctx, tx, "confirm_second_factor", nil, codesLeft(int64(len(recovery))))
}

// RenewRecoveryCodes replaces the recovery codes of an account.
func RenewRecoveryCodes(ctx context.Context, tx *intent.Tx, ref scope.Ref[Account], recovery []string) error {
	account, err := holdAccount(ctx, tx.Tx, ref.ID())
	if err != nil {
		return err
	}
	factor, err := holdSecondFactor(ctx, tx, account.ID)
	if err != nil {
		return err
	}
	if !factor.Confirmed() {
		return noSecondFactor()
	}
	if err := putRecovery(ctx, tx, account.ID, recovery); err != nil {
		return err
	}
	return account.told(ctx, tx, "renew_recovery_codes", codesLeft(factor.Recovery), codesLeft(int64(len(recovery))))
}

func putRecovery(ctx context.Context, tx *intent.Tx, account uuid.UUID, recovery []string) error {
	if _, err := tx.Exec(ctx, sqlDropRecovery, account); err != nil {
		return fmt.Errorf("end recovery codes: %w", err)
	}
	for _, code := range recovery {
		if _, err := tx.Exec(ctx, sqlInsertRecovery, account, hashOfRecovery(account, code)); err != nil {
			return fmt.Errorf("store a recovery code: %w", err)
		}
	}
	return nil
}

// RemoveSecondFactor ends the second factor of the one who asks, who has shown the password.
func RemoveSecondFactor(ctx context.Context, tx *intent.Tx, ref scope.Ref[Account]) error {
	account, err := holdAccount(ctx, tx.Tx, ref.ID())
	if err != nil {
		return err
	}
	dropped, err := dropSecondFactor(ctx, tx, account)
	if err != nil {
		return err
	}
	if !dropped {
		return noSecondFactor()
	}
	return account.told(ctx, tx, "remove_second_factor", map[string]any{"second_factor": true}, map[string]any{"second_factor": false})
}

// ResetSecondFactor ends the second factor and the passkeys of somebody who lost a device: whoever has it now logs in with neither.
// An operator of the installation does it; the account sees by whom.
func ResetSecondFactor(ctx context.Context, tx *intent.Tx, ref scope.Ref[Account], _ int64) (Account, error) {
	account, err := holdAccount(ctx, tx.Tx, ref.ID())
	if err != nil {
		return Account{}, err
	}
	dropped, err := dropSecondFactor(ctx, tx, account)
	if err != nil {
		return Account{}, err
	}
	passkeys, err := tx.Exec(ctx, sqlDropPasskeys, account.ID)
	if err != nil {
		return Account{}, fmt.Errorf("remove passkeys: %w", err)
	}
	if err := unprove(ctx, tx, account.ID, withPasskey); err != nil {
		return Account{}, err
	}
	if !dropped && passkeys == 0 {
		return Account{}, fault.Conflictf("no_second_factor", "The account has no second factor and no passkey.")
	}
	return account, account.told(ctx, tx, "reset_second_factor",
		map[string]any{"second_factor": dropped, "passkeys": passkeys}, map[string]any{"second_factor": false, "passkeys": 0})
}

// dropSecondFactor tells whether there was one.
func dropSecondFactor(ctx context.Context, tx *intent.Tx, account Account) (bool, error) {
	n, err := tx.Exec(ctx, sqlDropSecondFactor, account.ID)
	if err != nil {
		return false, fmt.Errorf("remove a second factor: %w", err)
	}
	if _, err := tx.Exec(ctx, sqlDropPending, account.ID); err != nil {
		return false, fmt.Errorf("end logins that wait for a code: %w", err)
	}
	return n > 0, unprove(ctx, tx, account.ID, withCode, withRecovery)
}

// holdSecondFactor returns a second factor that nobody else changes until the transaction ends.
func holdSecondFactor(ctx context.Context, tx *intent.Tx, account uuid.UUID) (SecondFactor, error) {
	if err := tx.One(ctx, noSecondFactor(), sqlHoldSecondFactor, account); err != nil {
		return SecondFactor{}, err
	}
	return SecondFactorOf(ctx, tx.Reader, account)
}

// takeStep uses a code up; false if it is none, or was used.
func (f SecondFactor) takeStep(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, code string, now time.Time) (bool, error) {
	plain, err := keys.Open(f.SecretSealed, f.sealedAs())
	if err != nil {
		return false, fmt.Errorf("open a second factor: %w", err)
	}
	step, ok := stepOf(string(plain), digits(code), now)
	if !ok {
		return false, nil
	}
	n, err := tx.Exec(ctx, sqlTakeStep, f.AccountID, step)
	if err != nil {
		return false, fmt.Errorf("use a code: %w", err)
	}
	return n == 1, nil
}

// takeCode uses a code or a recovery code up; how is what the event says.
func (f SecondFactor) takeCode(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, code string, now time.Time) (how string, ok bool, err error) {
	hash := hashOfRecovery(f.AccountID, code)
	if hash == nil {
		ok, err := f.takeStep(ctx, tx, keys, code, now)
		return withCode, ok, err
	}
	n, err := tx.Exec(ctx, sqlTakeRecovery, f.AccountID, hash)
	if err != nil {
		return "", false, fmt.Errorf("use a recovery code: %w", err)
	}
	return withRecovery, n == 1, nil
}

// ConfirmLogin opens the session of a pending login, once. A wrong code is counted and told, and no error: that is kept.
func ConfirmLogin(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, pendingSecret, code, sessionSecret string, now time.Time) (made Session, ok bool, err error) {
	pending, err := PendingLoginOf(ctx, tx.Reader, pendingSecret)
	if err != nil {
		return Session{}, false, err
	}
	account, err := holdAccount(ctx, tx.Tx, pending.AccountID)
	if err != nil {
		return Session{}, false, err
	}
	factor, err := holdSecondFactor(ctx, tx, account.ID)
	var gone *fault.Conflict
	if errors.As(err, &gone) {
		return Session{}, false, fault.ErrNotFound
	}
	if err != nil {
		return Session{}, false, err
	}
	how, ok, err := factor.takeCode(ctx, tx, keys, code, now)
	if err != nil {
		return Session{}, false, err
	}
	if !ok {
		if err := tx.One(ctx, fault.ErrNotFound, sqlWrongCode, pending.ID, pendingTries); err != nil {
			return Session{}, false, fmt.Errorf("count a wrong code: %w", err)
		}
		return Session{}, false, account.told(ctx, tx, "refuse_code", nil, map[string]any{"with": how})
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlTakePending, pending.ID); err != nil {
		return Session{}, false, fmt.Errorf("use a pending login: %w", err)
	}
	if how != withCode {
		if err := account.told(ctx, tx, "use_recovery_code", codesLeft(factor.Recovery), codesLeft(factor.Recovery-1)); err != nil {
			return Session{}, false, err
		}
	}
	made, err = openSession(ctx, tx, account, sessionSecret, how)
	return made, err == nil, err
}

// NewSessionSecret makes the secret of a session: a bearer token.
func NewSessionSecret() string { return newSecret(tokenPrefix) }

// openSession makes a session of an account that has proved itself, and forgets failed logins under its name.
func openSession(ctx context.Context, tx *intent.Tx, account Account, sessionSecret, how string) (Session, error) {
	type row struct {
		ID        uuid.UUID `db:"id"`
		ExpiresAt time.Time `db:"expires_at"`
	}
	client := tx.Call().Actor.Address
	made, err := db.First[row](ctx, tx.Reader, fault.ErrNotFound, sqlInsertSession, uuid.New(), account.ID, client, sessionSecret[:shownPrefix], hashOf(tokenPrefix, sessionSecret), int64(SessionLifetime/time.Second), how)
	if err != nil {
		return Session{}, fmt.Errorf("open a session: %w", err)
	}
	if _, err := tx.Exec(ctx, sqlForgetFailures, loginHash(account.Name)); err != nil {
		return Session{}, fmt.Errorf("forget failed logins: %w", err)
	}
	return Session{ID: made.ID, Account: account.Name, Secret: sessionSecret, ExpiresAt: made.ExpiresAt}, tx.Event(ctx, audit.Entry{
		Workspace: defaultWorkspace, Action: "session.create", ObjectKind: "token", ObjectID: made.ID, ObjectName: client,
		After: map[string]any{"kind": "session", "expires_at": made.ExpiresAt, "second_factor": how},
	})
}
