package iam

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

func (i Identity) told(ctx context.Context, tx *intent.Tx, p Provider, action string, before, after map[string]any) error {
	return tx.Event(ctx, audit.Entry{
		Organization: p.OrganizationID, Action: IdentityNoun + "." + action, ObjectKind: AccountNoun, ObjectID: i.AccountID, ObjectName: i.Account, Before: before, After: after,
	})
}

// ProvenSession is a session that was just opened.
type ProvenSession struct {
	ID        uuid.UUID
	Account   string
	ExpiresAt time.Time
}

// kept returns a provider as it was when the claims were proved.
func kept(ctx context.Context, tx *intent.Tx, p Provider) (Provider, error) {
	now, err := db.First[Provider](ctx, tx.Reader, ErrLoginExpired, sqlKeepProvider, p.ID)
	if err == nil && (now.State != ProviderEnabled || now.Version != p.Version) {
		return Provider{}, ErrLoginExpired
	}
	return now, err
}

// LogIn opens a session for whom the claims prove. Somebody without an account gets one if a group of theirs has a role; id is
// its id then. An account is never found by its name or address.
func LogIn(ctx context.Context, tx *intent.Tx, p Provider, c Claims, id uuid.UUID, secret, address string) (ProvenSession, error) {
	p, err := kept(ctx, tx, p)
	if err != nil {
		return ProvenSession{}, err
	}
	identity, err := Proven(ctx, tx.Reader, p.ID, c)
	if isNotFound(err) {
		identity, err = newPerson(ctx, tx, p, c, id)
	}
	if err != nil {
		return ProvenSession{}, err
	}
	if err := align(ctx, tx, p, c, identity); err != nil {
		return ProvenSession{}, err
	}
	if _, err := tx.Exec(ctx, sqlUseIdentity, identity.ID, c.label()); err != nil {
		return ProvenSession{}, fmt.Errorf("note a login: %w", err)
	}
	return openProvenSession(ctx, tx, p, c, identity, secret, address)
}

// newPerson makes an account for somebody who has none, if a group of theirs has a role.
func newPerson(ctx context.Context, tx *intent.Tx, p Provider, c Claims, id uuid.UUID) (Identity, error) {
	if c.NoGroups != "" {
		return Identity{}, fault.Conflictf("no_role", "You have no account here, and the identity provider did not tell your groups. %s", c.NoGroups)
	}
	wanted, err := wanted(ctx, tx, p, c)
	if err != nil {
		return Identity{}, err
	}
	if len(wanted) == 0 {
		return Identity{}, fault.Conflictf("no_role", "You have no account here, and none of your groups has a role. Ask an administrator to map one of them.")
	}
	name, err := freeName(ctx, tx, p, c.accountLabel())
	if err != nil {
		return Identity{}, err
	}
	email := c.Email
	if checkEmail(email) != nil {
		email = ""
	}
	if err := tx.One(ctx, ErrLoginExpired, sqlInsertAccount, id, name, noPassword, Person, nil, email); err != nil {
		return Identity{}, fmt.Errorf("make an account: %w", err)
	}
	made, err := accountByID(ctx, tx.Reader, id)
	if err != nil {
		return Identity{}, err
	}
	entry := audit.Entry{Organization: p.OrganizationID, Action: AccountNoun + ".create", ObjectKind: AccountNoun, ObjectID: made.ID, ObjectName: made.Name, After: made.facts()}
	if err := tx.Event(ctx, entry); err != nil {
		return Identity{}, err
	}
	return link(ctx, tx, p, c, made)
}

// freeName finds a name for an account. One that an organization's provider makes ends with the beginning of the organization's
// id: so it takes no name of anybody else, and does not tell which there are.
func freeName(ctx context.Context, tx *intent.Tx, p Provider, label string) (string, error) {
	for _, name := range []string{label, label + "-" + randomText(2), label + "-" + randomText(6)} {
		if !p.OfInstallation() {
			name = serviceName(p.OrganizationID, name)
		}
		_, err := FindAccount(ctx, tx.Reader, uuid.Nil, name)
		if isNotFound(err) {
			return name, nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", fault.Conflictf("name_taken", "No name was free for your account. Try again.")
}

func randomText(bytes int) string {
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return hex.EncodeToString(raw)
}

func link(ctx context.Context, tx *intent.Tx, p Provider, c Claims, a Account) (Identity, error) {
	taken := fault.Conflictf("identity_linked", "This identity is linked to another account, or your account has 50 identities.")
	if err := tx.One(ctx, taken, sqlInsertIdentity, uuid.New(), a.ID, p.ID, c.Issuer, c.Subject, c.label()); err != nil {
		return Identity{}, fmt.Errorf("link an identity: %w", err)
	}
	made, err := Proven(ctx, tx.Reader, p.ID, c)
	if err != nil {
		return Identity{}, err
	}
	return made, made.told(ctx, tx, p, "link", nil, made.facts())
}

// LinkIdentity links what the claims prove to the account of the one who asks, who is logged in to it.
func LinkIdentity(ctx context.Context, tx *intent.Tx, p Provider, c Claims, ref scope.Ref[Account]) (Identity, error) {
	p, err := kept(ctx, tx, p)
	if err != nil {
		return Identity{}, err
	}
	identity, err := Proven(ctx, tx.Reader, p.ID, c)
	if isNotFound(err) {
		var account Account
		if account, err = accountByID(ctx, tx.Reader, ref.ID()); err == nil {
			identity, err = link(ctx, tx, p, c, account)
		}
	}
	if err != nil {
		return Identity{}, err
	}
	if identity.AccountID != ref.ID() {
		return Identity{}, fault.Conflictf("identity_linked", "This identity is linked to another account.")
	}
	if err := align(ctx, tx, p, c, identity); err != nil {
		return Identity{}, err
	}
	return identity, identity.told(ctx, tx, p, "prove", nil, map[string]any{"provider": p.Name})
}

var errLastWayIn = fault.Conflictf("last_way_in", "This is the only way into your account. Set a password or link another identity first.")

// UnlinkIdentity ends what an identity proves. The sessions that were opened by it end, and the grants that its provider gave.
func UnlinkIdentity(ctx context.Context, tx *intent.Tx, ref scope.Ref[Identity], account uuid.UUID) error {
	identity, err := db.First[Identity](ctx, tx.Reader, fault.ErrNotFound, sqlIdentityByID, account, ref.ID())
	if err != nil {
		return err
	}
	owns, err := holdOwned(ctx, tx, sqlHoldOwned, sqlOperates, account)
	if err != nil {
		return err
	}
	if err := tx.One(ctx, errLastWayIn, sqlOtherWayIn, account, identity.ID); err != nil {
		return err
	}
	p, err := providerByID(ctx, tx.Reader, identity.ProviderID)
	if err != nil {
		return err
	}
	if err := takeAll(ctx, tx, sqlGrantsBySource, account, p.source()); err != nil {
		return err
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlDeleteIdentity, account, identity.ID); err != nil {
		return err
	}
	if err := owns.keep(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlEndSessionsByProvider, account, p.ID); err != nil {
		return fmt.Errorf("end the sessions of an identity: %w", err)
	}
	if err := identity.told(ctx, tx, p, "unlink", identity.facts(), nil); err != nil {
		return err
	}
	return tx.Made(ctx, IdentityNoun, identity.ID, uuid.Nil)
}

func openProvenSession(ctx context.Context, tx *intent.Tx, p Provider, c Claims, i Identity, secret, address string) (ProvenSession, error) {
	account, err := holdAccount(ctx, tx.Tx, i.AccountID)
	if err != nil {
		return ProvenSession{}, err
	}
	if account.State != AccountActive {
		return ProvenSession{}, fault.Conflictf("account_disabled", "Your account is disabled. Ask an operator of the installation.")
	}
	type row struct {
		ExpiresAt time.Time `db:"expires_at"`
	}
	id := uuid.New()
	var level *string
	var at *uuid.UUID
	if !p.OfInstallation() {
		noun := OrganizationNoun
		level, at = &noun, &p.OrganizationID
	}
	var factor *string
	if c.SecondFactor {
		with := withProvider
		factor = &with
	}
	made, err := db.First[row](ctx, tx.Reader, fault.ErrNotFound, sqlInsertProvenSession, id, account.ID, address, secret[:shownPrefix], hashOf(tokenPrefix, secret), level, at, p.ID, int64(sessionLifetime/time.Second), factor)
	if err != nil {
		return ProvenSession{}, fmt.Errorf("open a session: %w", err)
	}
	err = tx.Event(ctx, audit.Entry{
		Organization: p.OrganizationID, Action: "session.create", ObjectKind: "token", ObjectID: id, ObjectName: account.Name,
		After: map[string]any{"kind": "session", "expires_at": made.ExpiresAt, "provider": p.Name, "subject": i.Subject, "second_factor": c.SecondFactor},
	})
	return ProvenSession{id, account.Name, made.ExpiresAt}, err
}

// wanted are the mappings that the groups of a person give.
func wanted(ctx context.Context, tx *intent.Tx, p Provider, c Claims) ([]Mapping, error) {
	if len(c.Groups) == 0 {
		return nil, nil
	}
	all, err := db.Collect[Mapping](ctx, tx.Reader, sqlMappedTo, p.ID, c.Groups)
	if err != nil {
		return nil, fmt.Errorf("read the group mappings: %w", err)
	}
	return all, nil
}

// gives tells whether a mapping gives what a grant is.
func (m Mapping) gives(g Grant) bool {
	same := m.RoleID == nil && g.RoleID == nil || m.RoleID != nil && g.RoleID != nil && *m.RoleID == *g.RoleID
	return same && m.Role == g.Role && m.Scope == g.Scope && m.ScopeID == g.ScopeID
}

// align makes the grants that the provider gave to an account those that its groups are mapped to. It touches no other grant.
// Unknown groups change nothing: a claim that is missing is not an empty list.
func align(ctx context.Context, tx *intent.Tx, p Provider, c Claims, i Identity) error {
	if c.NoGroups != "" {
		return i.told(ctx, tx, p, "groups_missing", nil, map[string]any{"provider": p.Name, "claim": p.GroupsClaim, "why": c.NoGroups, "grants": "kept"})
	}
	want, err := wanted(ctx, tx, p, c)
	if err != nil {
		return err
	}
	have, err := db.Collect[Grant](ctx, tx.Reader, sqlGrantsBySource, i.AccountID, p.source())
	if err != nil {
		return fmt.Errorf("read the grants of an identity provider: %w", err)
	}
	surplus := slices.DeleteFunc(slices.Clone(have), func(g Grant) bool {
		return slices.ContainsFunc(want, func(m Mapping) bool { return m.gives(g) })
	})
	if err := holdForTaking(ctx, tx, surplus); err != nil {
		return err
	}
	for _, g := range surplus {
		if err := alignAway(ctx, tx, g); err != nil {
			return err
		}
	}
	for n, m := range want {
		if slices.ContainsFunc(have, m.gives) || slices.ContainsFunc(want[:n], func(other Mapping) bool { return other.same(m) }) {
			continue
		}
		if err := give(ctx, tx, p, i, m); err != nil {
			return err
		}
	}
	return nil
}

// same tells whether two mappings give the same role at the same scope, by whatever group.
func (m Mapping) same(other Mapping) bool {
	return m.gives(Grant{Role: other.Role, RoleID: other.RoleID, Scope: other.Scope, ScopeID: other.ScopeID})
}

// alignAway takes a grant away, or tells that the last owner or operator stays.
func alignAway(ctx context.Context, tx *intent.Tx, g Grant) error {
	at, err := g.grantedScope(ctx, tx.Reader)
	if err != nil {
		return err
	}
	taken, err := takeGrant(ctx, tx, g, at)
	if err != nil || taken {
		return err
	}
	return g.told(ctx, tx, at, "keep", g.facts(), map[string]any{"why": "last owner or operator who can log in"})
}

// give gives what a mapping says. In a scope that is suspended nothing is given: it is at the first login after that.
func give(ctx context.Context, tx *intent.Tx, p Provider, i Identity, m Mapping) error {
	at := Scope{}
	if m.Scope != string(scope.Installation) {
		var err error
		at, err = levelOf(m.Scope).keep(ctx, tx.Tx, m.ScopeID)
		if isNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if at.suspended() {
			return nil
		}
	}
	name, id := m.Role, uuid.New()
	if m.RoleID != nil {
		name = customRole
	}
	n, err := tx.Exec(ctx, sqlInsertGrant, id, i.AccountID, name, m.RoleID, m.Scope, m.ScopeID, p.source(), createdBy(p))
	if err != nil {
		return fmt.Errorf("give a role: %w", err)
	}
	if n == 0 { // another login of the same person at the same time
		return nil
	}
	g, err := grantByID(ctx, tx.Reader, id)
	if err != nil {
		return err
	}
	facts := g.facts()
	facts["group"] = m.Group
	return g.told(ctx, tx, at, "create", nil, facts)
}

// holdForTaking holds the rows that those hold who take an owner or an operator away, in their order.
func holdForTaking(ctx context.Context, tx *intent.Tx, grants []Grant) error {
	var organizations []uuid.UUID
	operators := false
	for _, g := range grants {
		if g.Scope == OrganizationNoun {
			organizations = append(organizations, g.ScopeID)
		}
		operators = operators || g.Scope == string(scope.Installation)
	}
	if len(organizations) > 0 {
		if _, err := tx.Exec(ctx, sqlHoldOrganizations, organizations); err != nil {
			return fmt.Errorf("hold organizations: %w", err)
		}
	}
	if operators {
		if _, err := tx.Exec(ctx, sqlHoldOperators); err != nil {
			return fmt.Errorf("hold the operators: %w", err)
		}
	}
	return nil
}

// takeGrant takes a grant away; false if it must stay: that of the last owner or operator.
func takeGrant(ctx context.Context, tx *intent.Tx, g Grant, at Scope) (bool, error) {
	var n int64
	var err error
	if g.Scope == string(scope.Installation) {
		n, err = tx.Exec(ctx, sqlDeleteOperator, g.ID)
	} else {
		n, err = tx.Exec(ctx, sqlDeleteGrant, g.ID)
	}
	if err != nil {
		return false, fmt.Errorf("take a role away: %w", err)
	}
	if n > 0 {
		return true, g.told(ctx, tx, at, "delete", g.facts(), nil)
	}
	if _, err := grantByID(ctx, tx.Reader, g.ID); isNotFound(err) { // another request took it away
		return true, nil
	}
	return false, nil
}
