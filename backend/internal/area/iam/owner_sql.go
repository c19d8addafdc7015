package iam

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
)

// logsIn is true of the account a of the grant other if a person can use that grant: by a password, which passkeys need too, or by
// an identity at a provider that is enabled and proves people where the grant is. Every rule about last owners and operators asks it.
const logsIn = `a.kind = 'person' AND a.state = 'active'
                  AND (a.password_hash <> 'none'
                       OR EXISTS (SELECT 1
                                    FROM identities li
                                    JOIN identity_providers lp ON lp.id = li.provider_id
                                   WHERE li.account_id = a.id AND li.issuer = lp.issuer AND lp.state = 'enabled'
                                     AND lp.organization_id IN ('00000000-0000-0000-0000-000000000000', other.scope_id)))`

const (
	// Organizations with an owner whom a provider lets in. Whoever closes that way holds them.
	sqlHoldOwnedBy = `
SELECT o.id
  FROM organizations o
 WHERE o.id IN (SELECT g.scope_id
                  FROM grants g
                  JOIN accounts a ON a.id = g.account_id
                  JOIN identities i ON i.account_id = a.id
                  JOIN identity_providers p ON p.id = i.provider_id
                 WHERE p.id = $1 AND p.state = 'enabled' AND i.issuer = p.issuer AND a.state = 'active'
                   AND g.role = 'owner' AND g.scope = 'organization'
                   AND p.organization_id IN ('00000000-0000-0000-0000-000000000000', g.scope_id))
 ORDER BY o.id
   FOR UPDATE`

	sqlOperatedBy = `
SELECT g.id
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  JOIN identities i ON i.account_id = a.id
  JOIN identity_providers p ON p.id = i.provider_id
 WHERE p.id = $1 AND p.state = 'enabled' AND i.issuer = p.issuer AND a.state = 'active'
   AND g.role = 'installation_operator' AND g.scope = 'installation'
   AND p.organization_id = '00000000-0000-0000-0000-000000000000'
 LIMIT 1`

	sqlUnowned = `
SELECT o.id, o.name
  FROM organizations o
 WHERE o.id = ANY($1) AND o.state <> 'removed'
   AND NOT EXISTS (SELECT 1
                     FROM grants other
                     JOIN accounts a ON a.id = other.account_id
                    WHERE other.scope_id = o.id AND other.scope = 'organization' AND other.role = 'owner'
                      AND ` + logsIn + `)
 ORDER BY o.name
 LIMIT 1`

	sqlOperator = `
SELECT other.id
  FROM grants other
  JOIN accounts a ON a.id = other.account_id
 WHERE other.scope = 'installation' AND other.role = 'installation_operator'
   AND ` + logsIn + `
 LIMIT 1`
)

// owned is what somebody owns whose way in is about to be closed.
type owned struct {
	organizations []uuid.UUID
	installation  bool
}

type idRow struct {
	ID uuid.UUID `db:"id"`
}

// holdOwned holds the rows that everybody holds who ends an owner or an operator, in their order. by finds the organizations,
// operates a grant for the installation; both for one id.
func holdOwned(ctx context.Context, tx *intent.Tx, by, operates db.Statement, id uuid.UUID) (owned, error) {
	var o owned
	rows, err := db.Collect[idRow](ctx, tx.Reader, by, id)
	if err != nil {
		return owned{}, fmt.Errorf("hold organizations: %w", err)
	}
	for _, r := range rows {
		o.organizations = append(o.organizations, r.ID)
	}
	operators, err := db.Collect[idRow](ctx, tx.Reader, operates, id)
	if err != nil {
		return owned{}, fmt.Errorf("look for operators: %w", err)
	}
	if len(operators) == 0 {
		return o, nil
	}
	o.installation = true
	if _, err := tx.Exec(ctx, sqlHoldOperators); err != nil {
		return owned{}, fmt.Errorf("hold the operators: %w", err)
	}
	return o, nil
}

// keep refuses what was done since if an organization has no owner left who can log in, or the installation no operator.
func (o owned) keep(ctx context.Context, tx *intent.Tx) error {
	type row struct {
		ID   uuid.UUID `db:"id"`
		Name string    `db:"name"`
	}
	if len(o.organizations) > 0 {
		left, err := db.Collect[row](ctx, tx.Reader, sqlUnowned, o.organizations)
		if err != nil {
			return fmt.Errorf("look for owners: %w", err)
		}
		if len(left) > 0 {
			return fault.Conflictf("last_owner", "No owner of %s could log in after this. Give an owner a password first, or make somebody else an owner.", left[0].Name)
		}
	}
	if !o.installation {
		return nil
	}
	_, err := db.First[idRow](ctx, tx.Reader, fault.ErrNotFound, sqlOperator)
	if isNotFound(err) {
		return fault.Conflictf("last_operator", "No operator of the installation could log in after this. Give one a password first.")
	}
	return err
}
