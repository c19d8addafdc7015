package iam

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlProviders = `
SELECT p.id, p.organization_id, p.name, p.issuer, p.client_id, p.secret_sealed, p.scopes, p.groups_claim, p.state, p.failed_at, p.failure,
       p.version, p.created_at, p.updated_at
  FROM identity_providers p
 WHERE true`

const (
	sqlProviderByID = sqlProviders + `
   AND p.id = $1`

	sqlProvidersOf = sqlProviders + `
   AND p.organization_id = $1
 ORDER BY p.name
 LIMIT 200`

	sqlProviderNamed = sqlProviders + `
   AND p.organization_id = $1 AND p.name = $2`

	sqlEnabledProvidersOf = sqlProviders + `
   AND p.organization_id = $1 AND p.state = 'enabled'
 ORDER BY p.name
 LIMIT 200`

	// What a person can link their account to: the installation's, and those of organizations where they have a role.
	sqlProvidersForAccount = sqlProviders + `
   AND p.state = 'enabled'
   AND p.organization_id IN (SELECT $2::UUID
                             UNION ALL
                             SELECT g.scope_id FROM grants g WHERE g.account_id = $1
                             UNION ALL
                             SELECT j.organization_id FROM grants g JOIN projects j ON j.id = g.scope_id WHERE g.account_id = $1
                             UNION ALL
                             SELECT j.organization_id
                               FROM grants g
                               JOIN workspaces w ON w.id = g.scope_id
                               JOIN projects j ON j.id = w.project_id
                              WHERE g.account_id = $1)
 ORDER BY p.organization_id, p.name
 LIMIT 200`

	sqlHoldProvider = sqlProviders + `
   AND p.id = $1
   FOR UPDATE`

	sqlKeepProvider = sqlProviders + `
   AND p.id = $1
   FOR SHARE`

	// An organization has no more providers than a page shows.
	sqlInsertProvider = `
INSERT INTO identity_providers (id, organization_id, name, issuer, client_id, secret_sealed, scopes, groups_claim, state)
SELECT $1::UUID, $2::UUID, $3::TEXT, $4::TEXT, $5::TEXT, $6::BYTEA, $7::TEXT[], $8::TEXT, $9::TEXT
 WHERE (SELECT count(*)
          FROM identity_providers p
         WHERE p.organization_id = $2) < 20
ON CONFLICT (organization_id, name) DO NOTHING`

	sqlChangeProvider = `
UPDATE identity_providers
   SET name = $2, issuer = $3, client_id = $4, secret_sealed = $5, scopes = $6, groups_claim = $7, state = $8, failed_at = NULL, failure = '',
       version = version + 1, updated_at = now()
 WHERE id = $1`

	sqlDeleteProvider = `
DELETE FROM identity_providers
 WHERE id = $1`

	sqlDeleteProvidersOf = `
DELETE FROM identity_providers
 WHERE organization_id = $1`

	sqlEndSessionsOfProvider = `
DELETE FROM tokens
 WHERE identity_provider_id = $1`

	sqlEndSessionsOfProviders = `
DELETE FROM tokens
 WHERE identity_provider_id IN (SELECT p.id FROM identity_providers p WHERE p.organization_id = $1)`

	// Written at most once in 10 seconds, so that nobody makes the row hot by failing.
	sqlNoteFailure = `
UPDATE identity_providers
   SET failed_at = now(), failure = $2
 WHERE id = $1 AND (failed_at IS NULL OR failed_at < now() - INTERVAL '10 seconds')`

	sqlForgetFailure = `
UPDATE identity_providers
   SET failed_at = NULL, failure = ''
 WHERE id = $1 AND failed_at IS NOT NULL`
)

// Providers lists the identity providers of an organization; of the installation for uuid.Nil.
func Providers(ctx context.Context, q db.Reader, organization uuid.UUID) ([]Provider, error) {
	return db.Collect[Provider](ctx, q, sqlProvidersOf, organization)
}

// LoginProviders lists the enabled providers of the installation, which the login page offers to everybody.
func LoginProviders(ctx context.Context, q db.Reader) ([]Provider, error) {
	return db.Collect[Provider](ctx, q, sqlEnabledProvidersOf, uuid.Nil)
}

// ProvidersFor lists the enabled providers that an account can be linked to.
func ProvidersFor(ctx context.Context, q db.Reader, account uuid.UUID) ([]Provider, error) {
	return db.Collect[Provider](ctx, q, sqlProvidersForAccount, account, uuid.Nil)
}

// EnabledProvider finds an enabled provider by its id, which is also its address for logins.
func EnabledProvider(ctx context.Context, q db.Reader, id uuid.UUID) (Provider, error) {
	p, err := db.First[Provider](ctx, q, fault.ErrNotFound, sqlProviderByID, id)
	if err == nil && p.State != ProviderEnabled {
		err = fault.ErrNotFound
	}
	return p, err
}

// FindProvider finds a provider of an organization that the viewer sees, by its id, with the organization.
func FindProvider(ctx context.Context, q db.Reader, who Viewer, id uuid.UUID) (Provider, Scope, scope.Ref[Provider], error) {
	none := scope.Ref[Provider]{}
	p, err := db.First[Provider](ctx, q, fault.ErrNotFound, sqlProviderByID, id)
	if err != nil || p.OfInstallation() {
		return Provider{}, Scope{}, none, orNotFound(err)
	}
	at, _, err := Organizations.Find(ctx, q, who, p.OrganizationID.String())
	if err != nil {
		return Provider{}, Scope{}, none, err
	}
	return p, at, scope.Found[Provider](p.ID, at.ID), nil
}

// FindInstallationProvider finds a provider of the installation by its id or name.
func FindInstallationProvider(ctx context.Context, q db.Reader, text string) (Provider, scope.Ref[Provider], error) {
	p, err := ProviderNamed(ctx, q, uuid.Nil, text)
	return p, scope.Found[Provider](p.ID, p.ID), err
}

// ProviderNamed finds a provider of an organization by its id or name; of the installation for uuid.Nil.
func ProviderNamed(ctx context.Context, q db.Reader, organization uuid.UUID, text string) (Provider, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		if checkName(text) != nil {
			return Provider{}, fault.ErrNotFound
		}
		return db.First[Provider](ctx, q, fault.ErrNotFound, sqlProviderNamed, organization, text)
	}
	p, err := db.First[Provider](ctx, q, fault.ErrNotFound, sqlProviderByID, id)
	if err == nil && p.OrganizationID != organization {
		return Provider{}, fault.ErrNotFound
	}
	return p, err
}

func providerByID(ctx context.Context, q db.Reader, id uuid.UUID) (Provider, error) {
	return db.First[Provider](ctx, q, fault.ErrNotFound, sqlProviderByID, id)
}

// ForgetFailure takes back what NoteFailure kept: a login went well.
func ForgetFailure(ctx context.Context, tx *db.Tx, provider uuid.UUID) error {
	if _, err := tx.Exec(ctx, sqlForgetFailure, provider); err != nil {
		return fmt.Errorf("forget a failure of an identity provider: %w", err)
	}
	return nil
}

// NoteFailure keeps why the last login failed because of the provider, for those who run it.
func NoteFailure(ctx context.Context, tx *db.Tx, provider uuid.UUID, why string) error {
	if _, err := tx.Exec(ctx, sqlNoteFailure, provider, why); err != nil {
		return fmt.Errorf("note a failure of an identity provider: %w", err)
	}
	return nil
}
