package iam

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
)

func (p Provider) told(ctx context.Context, tx *intent.Tx, action string, before, after map[string]any) error {
	err := tx.Event(ctx, audit.Entry{
		Organization: p.OrganizationID, Action: ProviderNoun + "." + action, ObjectKind: ProviderNoun, ObjectID: p.ID, ObjectName: p.Name, Before: before, After: after,
	})
	if err != nil {
		return err
	}
	return tx.Made(ctx, ProviderNoun, p.ID, uuid.Nil)
}

// writable refuses a change in an organization that is suspended. uuid.Nil is the installation.
func writable(ctx context.Context, tx *intent.Tx, organization uuid.UUID) (Scope, error) {
	if organization == uuid.Nil {
		return Scope{}, nil
	}
	at, err := Organizations.keep(ctx, tx.Tx, organization)
	if err != nil {
		return Scope{}, err
	}
	return at, at.CanWrite()
}

func sealSecret(keys *secret.Keyset, provider uuid.UUID, plain string) ([]byte, error) {
	if plain == "" {
		return nil, nil
	}
	sealed, err := keys.Seal([]byte(plain), sealedFor(provider))
	if err != nil {
		return nil, fmt.Errorf("seal the secret of an identity provider: %w", err)
	}
	return sealed, nil
}

func stateOf(enabled bool) string {
	if enabled {
		return ProviderEnabled
	}
	return ProviderDisabled
}

// CreateProvider makes an identity provider of an organization; of the installation for uuid.Nil. Nobody gets a role by it
// before a group is mapped.
func CreateProvider(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, rule egress.Rule, organization uuid.UUID, draft ProviderDraft) (Provider, error) {
	draft, err := draft.check(rule)
	if err != nil {
		return Provider{}, err
	}
	if _, err := writable(ctx, tx, organization); err != nil {
		return Provider{}, err
	}
	id := uuid.New()
	plain := ""
	if draft.Secret != nil {
		plain = *draft.Secret
	}
	sealed, err := sealSecret(keys, id, plain)
	if err != nil {
		return Provider{}, err
	}
	there := fault.Conflictf("provider_exists", "There is an identity provider %s here already, or there are 20.", draft.Name)
	err = tx.One(ctx, there, sqlInsertProvider, id, organization, draft.Name, draft.Issuer, draft.ClientID, sealed, orNone(draft.Scopes), draft.GroupsClaim, stateOf(draft.Enabled))
	if err != nil {
		return Provider{}, fmt.Errorf("make an identity provider: %w", err)
	}
	made, err := providerByID(ctx, tx.Reader, id)
	if err != nil {
		return Provider{}, err
	}
	return made, made.told(ctx, tx, "create", nil, made.facts())
}

func orNone(texts []string) []string { return append([]string{}, texts...) }

// providerAt returns a provider for a change of the version that somebody looked at; 0 for any.
func providerAt(ctx context.Context, tx *intent.Tx, ref scope.Ref[Provider], version int64) (Provider, error) {
	before, err := db.First[Provider](ctx, tx.Reader, fault.ErrNotFound, sqlHoldProvider, ref.ID())
	if err != nil {
		return Provider{}, err
	}
	return before, fault.CheckVersion("identity provider", before.Version, version)
}

// ChangeProvider changes a provider. change is given it as it is; a secret that stays nil is kept. Whoever says which provider
// is asked, or which claim has the groups, says who gets the roles that groups are mapped to: so they need all of those. The
// sessions that were opened on the word of another issuer or client end, and so do all if the provider is disabled. An organization
// keeps an owner who can log in, and the installation an operator.
func ChangeProvider(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, rule egress.Rule, builtIn BuiltIn, may May, ref scope.Ref[Provider], version int64, change func(*ProviderDraft)) (Provider, error) {
	before, err := providerAt(ctx, tx, ref, version)
	if err != nil {
		return Provider{}, err
	}
	owns, err := holdOwned(ctx, tx, sqlHoldOwnedBy, sqlOperatedBy, before.ID)
	if err != nil {
		return Provider{}, err
	}
	if _, err := writable(ctx, tx, before.OrganizationID); err != nil {
		return Provider{}, err
	}
	draft := before.draft()
	change(&draft)
	if draft, err = draft.check(rule); err != nil {
		return Provider{}, err
	}
	another := draft.Issuer != before.Issuer || draft.ClientID != before.ClientID
	if another && before.SecretSealed != nil && draft.Secret == nil {
		var bad fault.Invalid
		bad.Add("client_secret", "Give the secret again: the issuer or the client is another.")
		return Provider{}, bad.OrNil()
	}
	if another || draft.Secret != nil || draft.GroupsClaim != before.GroupsClaim || !slices.Equal(draft.Scopes, before.Scopes) {
		if err := mappingsWithin(ctx, tx, builtIn, may, before); err != nil {
			return Provider{}, err
		}
	}
	sealed := before.SecretSealed
	if draft.Secret != nil {
		if sealed, err = sealSecret(keys, before.ID, *draft.Secret); err != nil {
			return Provider{}, err
		}
	}
	err = tx.One(ctx, fault.ErrNotFound, sqlChangeProvider, before.ID, draft.Name, draft.Issuer, draft.ClientID, sealed, orNone(draft.Scopes), draft.GroupsClaim, stateOf(draft.Enabled))
	if _, taken := db.UniqueViolation(err); taken {
		return Provider{}, fault.Conflictf("provider_exists", "There is an identity provider %s here already.", draft.Name)
	}
	if err != nil {
		return Provider{}, fmt.Errorf("change an identity provider: %w", err)
	}
	if another || !draft.Enabled {
		if _, err := tx.Exec(ctx, sqlEndSessionsOfProvider, before.ID); err != nil {
			return Provider{}, fmt.Errorf("end the sessions of an identity provider: %w", err)
		}
		if err := owns.keep(ctx, tx); err != nil {
			return Provider{}, err
		}
	}
	after, err := providerByID(ctx, tx.Reader, before.ID)
	if err != nil {
		return Provider{}, err
	}
	facts := after.facts()
	if draft.Secret != nil {
		facts["secret"] = "replaced"
	}
	return after, after.told(ctx, tx, "change", before.facts(), facts)
}

// DeleteProvider deletes a provider with its mappings and identities. The grants that it gave and the sessions that were opened
// on its word end with it; an organization keeps an owner, and the installation an operator.
func DeleteProvider(ctx context.Context, tx *intent.Tx, builtIn BuiltIn, may May, ref scope.Ref[Provider], version int64) error {
	before, err := providerAt(ctx, tx, ref, version)
	if err != nil {
		return err
	}
	if err := mappingsWithin(ctx, tx, builtIn, may, before); err != nil {
		return err
	}
	owns, err := holdOwned(ctx, tx, sqlHoldOwnedBy, sqlOperatedBy, before.ID)
	if err != nil {
		return err
	}
	if err := takeAll(ctx, tx, sqlGrantsOfSource, before.source()); err != nil {
		return err
	}
	for _, sql := range []db.Statement{sqlEndSessionsOfProvider, sqlDeleteProvider} {
		if _, err := tx.Exec(ctx, sql, before.ID); err != nil {
			return fmt.Errorf("delete an identity provider: %w", err)
		}
	}
	if err := owns.keep(ctx, tx); err != nil {
		return err
	}
	return before.told(ctx, tx, "delete", before.facts(), nil)
}

// takeAll takes away the grants that a statement finds; if one of them must stay, all do.
func takeAll(ctx context.Context, tx *intent.Tx, sql db.Statement, args ...any) error {
	grants, err := db.Collect[Grant](ctx, tx.Reader, sql, args...)
	if err != nil {
		return fmt.Errorf("read the grants of an identity provider: %w", err)
	}
	if err := holdForTaking(ctx, tx, grants); err != nil {
		return err
	}
	for _, g := range grants {
		at, err := g.grantedScope(ctx, tx.Reader)
		if err != nil {
			return err
		}
		taken, err := takeGrant(ctx, tx, g, at)
		if err != nil {
			return err
		}
		if !taken && g.Scope == string(scope.Installation) {
			return fault.Conflictf("last_operator", "%s is the last operator of the installation who can log in. Make somebody else one first.", g.Account)
		}
		if !taken {
			return lastOwner(at)
		}
	}
	return nil
}
