package iam

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// NewInvitationLink makes the secret of a link with which an invitation is accepted.
func NewInvitationLink() string { return newSecret(invitePrefix) }

func (i Invitation) told(ctx context.Context, tx *intent.Tx, at Scope, action string, before, after map[string]any) error {
	return tx.Event(ctx, at.entry(audit.Entry{
		Action: InvitationNoun + "." + action, ObjectKind: InvitationNoun, ObjectID: i.ID, ObjectName: i.Person() + " at " + at.Path(), Before: before, After: after,
	}))
}

// Invite makes an invitation to a role at a scope. Nobody invites to a role with permissions that they lack there themselves.
func Invite(ctx context.Context, tx *intent.Tx, builtIn BuiltIn, may May, ref scope.Ref[Scope], level string, draft NewInvitation, secret string) (Invitation, error) {
	account, email, err := draft.whom()
	if err != nil {
		return Invitation{}, err
	}
	at, err := levelOf(level).keep(ctx, tx.Tx, ref.ID())
	if err != nil {
		return Invitation{}, err
	}
	if err := at.CanWrite(); err != nil {
		return Invitation{}, err
	}
	role, err := roleNamed(ctx, tx, builtIn, at.OrganizationID, draft.Role)
	if err != nil {
		return Invitation{}, err
	}
	if err := role.within(may, at); err != nil {
		return Invitation{}, err
	}
	name, by, id := role.name, tx.Call().Actor, uuid.New()
	if role.id != nil {
		name = customRole
	}
	many := fault.Conflictf("too_many_invitations", "The organization has 1000 open invitations. Withdraw some first.")
	err = tx.One(ctx, many, sqlInsertInvitation, id, at.OrganizationID, at.Kind, at.ID, name, role.id, account, email, hashOf(invitePrefix, secret), by.ID, draft.Days, by.Name)
	if err != nil {
		return Invitation{}, fmt.Errorf("make an invitation: %w", err)
	}
	made, err := db.First[Invitation](ctx, tx.Reader, fault.ErrNotFound, sqlInvitationByID, id)
	if err != nil {
		return Invitation{}, err
	}
	if err := made.told(ctx, tx, at, "create", nil, made.facts()); err != nil {
		return Invitation{}, err
	}
	return made, tx.Made(ctx, InvitationNoun, id, uuid.Nil)
}

// Withdraw ends an invitation that nobody has accepted.
func Withdraw(ctx context.Context, tx *intent.Tx, ref scope.Ref[Invitation]) error {
	i, err := db.First[Invitation](ctx, tx.Reader, fault.ErrNotFound, sqlInvitationByID, ref.ID())
	if err != nil {
		return err
	}
	at, err := levelOf(i.Scope).byID(ctx, tx.Reader, i.ScopeID)
	if err != nil {
		return err
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlDeleteInvitation, i.ID); err != nil {
		return fmt.Errorf("withdraw an invitation: %w", err)
	}
	if err := i.told(ctx, tx, at, "delete", i.facts(), nil); err != nil {
		return err
	}
	return tx.Made(ctx, InvitationNoun, i.ID, uuid.Nil)
}

// held is an invitation that is about to be accepted.
type held struct {
	Invitation
	at   Scope
	role rolePermits
}

// holdInvitation returns the invitation of a link, which nobody else accepts until the transaction ends. It is fault.ErrNotFound
// for one that is used, expired or none, and for one whose inviter may no longer give the role.
func holdInvitation(ctx context.Context, tx *intent.Tx, builtIn BuiltIn, secret string) (h held, err error) {
	hash := hashOf(invitePrefix, secret)
	if hash == nil {
		return h, fault.ErrNotFound
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlHoldInvitation, hash); err != nil {
		return h, err
	}
	if h.Invitation, err = db.First[Invitation](ctx, tx.Reader, fault.ErrNotFound, sqlInvitationByHash, hash); err != nil {
		return h, err
	}
	if h.at, err = levelOf(h.Scope).keep(ctx, tx.Tx, h.ScopeID); err != nil {
		return h, err
	}
	if err := h.at.CanWrite(); err != nil {
		return h, err
	}
	if h.role, err = roleNamed(ctx, tx, builtIn, h.OrganizationID, h.Role); err != nil {
		return h, err
	}
	return h, h.stillGiven(ctx, tx, builtIn)
}

// stillGiven looks whether the inviter could give the role now.
func (h held) stillGiven(ctx context.Context, tx *intent.Tx, builtIn BuiltIn) error {
	if h.InviterID == nil {
		return fault.ErrNotFound
	}
	inviter, err := accountByID(ctx, tx.Reader, *h.InviterID)
	if err != nil {
		return err
	}
	access, err := scope.AccessOf(ctx, tx.Reader, inviter.ID, builtIn)
	if err != nil {
		return err
	}
	may := func(permission string, at Scope) bool { return access.At(permission, at.Place()) }
	if inviter.State != AccountActive || h.role.within(may, h.at) != nil {
		return fault.ErrNotFound
	}
	return nil
}

// give ends the invitation and gives its role to an account.
func (h held) give(ctx context.Context, tx *intent.Tx, account Account) (Grant, error) {
	grant, err := insertGrant(ctx, tx, h.at, account, h.role, h.CreatedBy)
	if err != nil {
		return Grant{}, err
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlDeleteInvitation, h.ID); err != nil {
		return Grant{}, fmt.Errorf("use an invitation: %w", err)
	}
	return grant, h.told(ctx, tx, h.at, "accept", h.facts(), map[string]any{"account": account.Name})
}

// AcceptInvitation gives the role of an invitation to the one who asks. within is the organization that a narrowed session
// reaches; uuid.Nil for one that reaches everything.
func AcceptInvitation(ctx context.Context, tx *intent.Tx, builtIn BuiltIn, ref scope.Ref[Account], within uuid.UUID, secret string) (Grant, error) {
	account, err := holdAccount(ctx, tx.Tx, ref.ID())
	if err != nil {
		return Grant{}, err
	}
	h, err := holdInvitation(ctx, tx, builtIn, secret)
	if err != nil {
		return Grant{}, err
	}
	if account.State != AccountActive {
		return Grant{}, fault.ErrNotFound
	}
	if account.Kind != Person || within != uuid.Nil && within != h.OrganizationID {
		return Grant{}, fault.Conflictf("other_login", "This login can't accept the invitation: it belongs to one organization. Log in with a password.")
	}
	if err := h.mayAccept(account.Name); err != nil {
		return Grant{}, err
	}
	grant, err := h.give(ctx, tx, account)
	if err != nil {
		return Grant{}, err
	}
	return grant, tx.Made(ctx, GrantNoun, grant.ID, uuid.Nil)
}

// JoinByInvitation makes an account with the role of an invitation. A name that another account has is counted and told by joined,
// and is no error: that is kept. Too many of them end the invitation.
func JoinByInvitation(ctx context.Context, tx *intent.Tx, builtIn BuiltIn, secret, name, passwordHash string) (joined bool, err error) {
	h, err := holdInvitation(ctx, tx, builtIn, secret)
	if err != nil {
		return false, err
	}
	if err := h.mayAccept(name); err != nil {
		return false, err
	}
	account, err := insertAccount(ctx, tx, name, passwordHash, Person, nil, h.Email)
	if taken := (*fault.Conflict)(nil); errors.As(err, &taken) {
		return false, h.countTaken(ctx, tx)
	}
	if err != nil {
		return false, err
	}
	_, err = h.give(ctx, tx, account)
	return err == nil, err
}

func (h held) countTaken(ctx context.Context, tx *intent.Tx) error {
	sql, action := db.Statement(sqlCountTakenName), "refuse"
	if h.TakenNames+1 >= maxTakenNames {
		sql, action = sqlDeleteInvitation, "end"
	}
	if err := tx.One(ctx, fault.ErrNotFound, sql, h.ID); err != nil {
		return fmt.Errorf("count a taken name: %w", err)
	}
	return h.told(ctx, tx, h.at, action, h.facts(), map[string]any{"because": "the name is taken"})
}

// DropExpiredInvitations takes away at most so many invitations that nobody accepted in time, and tells it.
func DropExpiredInvitations(ctx context.Context, tx *db.Tx, by audit.Actor, limit int64) (int64, error) {
	ended, err := db.Collect[Invitation](ctx, tx.Reader, sqlExpiredInvitations, limit)
	if err != nil {
		return 0, fmt.Errorf("read expired invitations: %w", err)
	}
	for _, i := range ended {
		if _, err := tx.Exec(ctx, sqlDeleteInvitation, i.ID); err != nil {
			return 0, fmt.Errorf("take away an expired invitation: %w", err)
		}
		at, err := levelOf(i.Scope).byID(ctx, tx.Reader, i.ScopeID)
		if isNotFound(err) { // the scope was removed
			continue
		}
		if err != nil {
			return 0, err
		}
		err = audit.Append(ctx, tx, by, at.entry(audit.Entry{
			Action: InvitationNoun + ".expire", ObjectKind: InvitationNoun, ObjectID: i.ID, ObjectName: i.Person() + " at " + at.Path(), Before: i.facts(),
		}))
		if err != nil {
			return 0, err
		}
	}
	return int64(len(ended)), nil
}
