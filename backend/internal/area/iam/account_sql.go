package iam

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

// Kinds of accounts.
const (
	Person  = "person"
	Service = "service"
)

// States of an account.
const (
	AccountActive   = "active"
	AccountDisabled = "disabled"
)

// Account is one row of accounts, without its password.
type Account struct {
	ID             uuid.UUID  `db:"id"`
	Name           string     `db:"name"`
	Kind           string     `db:"kind"`
	OrganizationID *uuid.UUID `db:"organization_id"` // of a service account
	Email          string     `db:"email"`
	State          string     `db:"state"`
	Version        int64      `db:"version"`
	CreatedAt      time.Time  `db:"created_at"`
	UpdatedAt      time.Time  `db:"updated_at"`
}

const sqlAccounts = `
SELECT a.id, a.name, a.kind, a.organization_id, a.email, a.state, a.version, a.created_at, a.updated_at
  FROM accounts a
 WHERE true`

func accountByID(ctx context.Context, q db.Reader, id uuid.UUID) (Account, error) {
	return db.First[Account](ctx, q, fault.ErrNotFound, sqlAccounts+" AND a.id = $1", id)
}

// inOrganization is who has a grant somewhere in an organization, or is a service account of it.
const inOrganization = `(a.organization_id = ? OR a.id IN (SELECT g.account_id FROM grants g WHERE g.scope_id = ?
                   UNION ALL
                   SELECT g.account_id FROM grants g JOIN projects p ON p.id = g.scope_id WHERE p.organization_id = ?
                   UNION ALL
                   SELECT g.account_id
                     FROM grants g
                     JOIN workspaces w ON w.id = g.scope_id
                     JOIN projects p ON p.id = w.project_id
                    WHERE p.organization_id = ?))`

// FindAccount finds an account by its id or name: any, or one that is known in an organization.
func FindAccount(ctx context.Context, q db.Reader, organization uuid.UUID, text string) (Account, error) {
	list := db.NewList(sqlAccounts)
	if id, err := uuid.Parse(text); err == nil {
		list.And("a.id = ?", id)
	} else if (Account{Name: text}).named() {
		list.And("a.name = ?", text)
	} else {
		return Account{}, fault.ErrNotFound
	}
	if organization != uuid.Nil {
		list.And(inOrganization, repeat(organization, 4)...)
	}
	sql, args := list.Page("a.id", 1)
	return db.First[Account](ctx, q, fault.ErrNotFound, sql, args...)
}

// AccountSorting is the orders that accounts can be listed in.
var AccountSorting = db.Sorting[Account]{
	{Name: "name", Columns: []db.Column{db.ByText("a.name"), db.ByID("a.id")}, At: func(a Account) db.Position {
		return db.Position{Text: a.Name, ID: a.ID}
	}},
	{Name: "created_at", Columns: []db.Column{db.ByTime("a.created_at"), db.ByID("a.id")}, At: func(a Account) db.Position {
		return db.Position{Time: a.CreatedAt, ID: a.ID}
	}},
}

// AccountFilter narrows a list of accounts.
type AccountFilter struct {
	In    uuid.UUID // an organization in which they have a role, or whose service account they are; uuid.Nil for all
	Of    uuid.UUID // the organization of service accounts; uuid.Nil for all
	Kind  string
	State string
	Sort  string // one of AccountSorting; "" for the first
	After *db.Position
	Limit int
}

// Accounts lists accounts.
func Accounts(ctx context.Context, q db.Reader, f AccountFilter) ([]Account, error) {
	list := db.NewList(sqlAccounts).AndIf(f.Kind, "a.kind = ?").AndIf(f.State, "a.state = ?")
	if f.In != uuid.Nil {
		list.And(inOrganization, repeat(f.In, 4)...)
	}
	if f.Of != uuid.Nil {
		list.And("a.organization_id = ?", f.Of)
	}
	return AccountSorting.Read(ctx, q, list, f.Sort, f.After, f.Limit)
}

// FindPerson finds a person by id or name, for the installation's operator.
func FindPerson(ctx context.Context, q db.Reader, text string) (Account, scope.Ref[Account], error) {
	found, err := FindAccount(ctx, q, uuid.Nil, text)
	if err != nil || found.Kind != Person {
		return Account{}, scope.Ref[Account]{}, orNotFound(err)
	}
	return found, scope.Found[Account](found.ID, found.ID), nil
}

// FindSelf finds the account of the one who asks.
func FindSelf(ctx context.Context, q db.Reader, id uuid.UUID) (Account, scope.Ref[Account], error) {
	found, err := accountByID(ctx, q, id)
	return found, scope.Found[Account](found.ID, found.ID), err
}

// FindServiceAccount finds a service account of an organization that the viewer sees, with the organization.
func FindServiceAccount(ctx context.Context, q db.Reader, who Viewer, text string) (Account, Scope, scope.Ref[Account], error) {
	none := scope.Ref[Account]{}
	found, err := FindAccount(ctx, q, uuid.Nil, text)
	if err != nil || found.OrganizationID == nil {
		return Account{}, Scope{}, none, orNotFound(err)
	}
	at, _, err := Organizations.Find(ctx, q, who, found.OrganizationID.String())
	if err != nil {
		return Account{}, Scope{}, none, err
	}
	return found, at, scope.Found[Account](found.ID, at.ID), nil
}

func orNotFound(err error) error {
	if err == nil {
		return fault.ErrNotFound
	}
	return err
}

const sqlHoldAccount = sqlAccounts + `
   AND a.id = $1
   FOR UPDATE`

// holdAccount returns an account that nobody else changes until the transaction ends.
func holdAccount(ctx context.Context, tx *db.Tx, id uuid.UUID) (Account, error) {
	return db.First[Account](ctx, tx.Reader, fault.ErrNotFound, sqlHoldAccount, id)
}

const (
	sqlInsertAccount = `
INSERT INTO accounts (id, name, password_hash, role, kind, organization_id, email)
VALUES ($1, $2, $3, 'account', $4, $5, $6)
ON CONFLICT (name) DO NOTHING`

	sqlChangeAccount = `
UPDATE accounts
   SET name = $2, email = $3, version = version + 1, updated_at = now()
 WHERE id = $1`

	sqlEnableAccount = `
UPDATE accounts
   SET state = 'active', version = version + 1, updated_at = now()
 WHERE id = $1 AND state = 'disabled'`

	// The last one who can log in stays: of the owners of each organization, and of the installation's operators. Whoever
	// disables holds their rows.
	sqlDisableAccount = `
UPDATE accounts
   SET state = 'disabled', version = version + 1, updated_at = now()
 WHERE id = $1 AND state = 'active'
   AND NOT EXISTS (SELECT 1
                     FROM grants own
                    WHERE own.account_id = $1
                      AND (own.role = 'owner' AND own.scope = 'organization' OR own.role = 'installation_operator')
                      AND NOT EXISTS (SELECT 1
                                        FROM grants other
                                        JOIN accounts a ON a.id = other.account_id
                                       WHERE other.scope_id = own.scope_id AND other.scope = own.scope AND other.role = own.role
                                         AND other.account_id <> $1
                                         AND ` + logsIn + `))`

	// Everybody who ends an owner or an operator holds the rows of what they own, in this order.
	sqlHoldOwned = `
SELECT o.id
  FROM organizations o
 WHERE o.id IN (SELECT g.scope_id FROM grants g WHERE g.account_id = $1 AND g.role = 'owner' AND g.scope = 'organization')
 ORDER BY o.id
   FOR UPDATE`

	sqlOperates = `
SELECT g.id
  FROM grants g
 WHERE g.account_id = $1 AND g.scope = 'installation' AND g.role = 'installation_operator'
 LIMIT 1`

	sqlHoldOperators = `
SELECT g.id
  FROM grants g
 WHERE g.scope = 'installation' AND g.role = 'installation_operator'
 ORDER BY g.id
   FOR UPDATE`

	sqlSetPassword = `
UPDATE accounts
   SET password_hash = $2, version = version + 1, updated_at = now()
 WHERE id = $1 AND kind = 'person'`

	sqlEndTokens = `
DELETE FROM tokens
 WHERE account_id = $1`

	// What a password opened ends with it, but the session that changed it.
	sqlEndSessions = `
DELETE FROM tokens
 WHERE account_id = $1 AND kind = 'session' AND id <> $2`

	sqlPutLink = `
INSERT INTO account_links (account_id, hash, expires_at)
VALUES ($1, $2, now() + $3::INT8 * INTERVAL '1 second')
ON CONFLICT (account_id) DO UPDATE
   SET hash = EXCLUDED.hash, expires_at = EXCLUDED.expires_at, created_at = now()`

	sqlUseLink = `
DELETE FROM account_links
 WHERE hash = $1 AND expires_at > now()
RETURNING account_id`

	sqlLink = `
SELECT a.id, a.name
  FROM account_links l
  JOIN accounts a ON a.id = l.account_id
 WHERE l.hash = $1 AND l.expires_at > now() AND a.state = 'active'`

	sqlDropLink = `
DELETE FROM account_links
 WHERE account_id = $1`
)
