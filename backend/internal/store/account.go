package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// Account is one row of accounts.
type Account struct {
	ID           uuid.UUID `db:"id"`
	Name         string    `db:"name"`
	PasswordHash string    `db:"password_hash"` // argon2id, encoded
	Role         string    `db:"role"`
	CreatedAt    time.Time `db:"created_at"`
}

const sqlAccount = `
SELECT a.id, a.name, a.password_hash, a.role, a.created_at
  FROM accounts a
 WHERE true`

// AccountByName returns the person's account of this name, if it is not disabled.
func (r Reads) AccountByName(ctx context.Context, name string) (Account, error) {
	return db.First[Account](ctx, r.q, domain.ErrNotFound, sqlAccount+" AND a.name = $1 AND a.kind = 'person' AND a.state = 'active'", name)
}

const sqlCountAccounts = `
SELECT count(*)
  FROM accounts`

// CountAccounts tells how many accounts there are.
func (r Reads) CountAccounts(ctx context.Context) (int, error) {
	var n int
	err := r.q.QueryRow(ctx, sqlCountAccounts).Scan(&n)
	return n, err
}

const sqlInsertAccount = `
INSERT INTO accounts (id, name, password_hash, role)
VALUES ($1, $2, $3, $4)`

// InsertAccount adds an account; a name in use is a Conflict.
func (tx *Tx) InsertAccount(ctx context.Context, a Account) error {
	_, err := tx.Exec(ctx, sqlInsertAccount, a.ID, a.Name, a.PasswordHash, a.Role)
	if _, dup := db.UniqueViolation(err); dup {
		return domain.Conflictf("name_taken", "an account is already called %q", a.Name)
	}
	if err != nil {
		return fmt.Errorf("insert account: %w", err)
	}
	return nil
}

const sqlSetPassword = `
UPDATE accounts
   SET password_hash = $2
 WHERE id = $1`

const sqlEndSessions = `
DELETE FROM tokens
 WHERE account_id = $1 AND kind = 'session'`

// SetPassword stores another password's hash and ends the account's sessions.
func (tx *Tx) SetPassword(ctx context.Context, account uuid.UUID, hash string) error {
	if err := tx.One(ctx, domain.ErrNotFound, sqlSetPassword, account, hash); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, sqlEndSessions, account)
	return err
}

const sqlInsertOrganization = `
INSERT INTO organizations (id, name)
VALUES ($1, 'default')
ON CONFLICT DO NOTHING`

const sqlInsertProject = `
INSERT INTO projects (id, organization_id, name)
VALUES ($1, $2, 'default')
ON CONFLICT DO NOTHING`

const sqlInsertWorkspace = `
INSERT INTO workspaces (id, project_id, name)
VALUES ($1, $2, 'default')
ON CONFLICT DO NOTHING`

// EnsureDefaultScopes makes the default organization, project and workspace
// where they are not there yet.
func (tx *Tx) EnsureDefaultScopes(ctx context.Context) error {
	if _, err := tx.Exec(ctx, sqlInsertOrganization, domain.DefaultOrganization); err != nil {
		return fmt.Errorf("insert the default organization: %w", err)
	}
	if _, err := tx.Exec(ctx, sqlInsertProject, domain.DefaultProject, domain.DefaultOrganization); err != nil {
		return fmt.Errorf("insert the default project: %w", err)
	}
	if _, err := tx.Exec(ctx, sqlInsertWorkspace, domain.DefaultWorkspace, domain.DefaultProject); err != nil {
		return fmt.Errorf("insert the default workspace: %w", err)
	}
	return nil
}

// OrganizationKey is the key pair with which an organization's hosts are
// reached.
type OrganizationKey struct {
	OrganizationID uuid.UUID `db:"organization_id"`
	PublicKey      string    `db:"public_key"`     // one authorized_keys line
	PrivateSealed  []byte    `db:"private_sealed"` // OpenSSH PEM, sealed with the organization's id as associated data
	Version        int64     `db:"version"`        // counts replacements
}

const sqlOrganizationKey = `
SELECT k.organization_id, k.public_key, k.private_sealed, k.version
  FROM organization_keys k
 WHERE k.organization_id = $1`

// OrganizationKey returns the key pair of an organization.
func (r Reads) OrganizationKey(ctx context.Context, organization uuid.UUID) (OrganizationKey, error) {
	return db.First[OrganizationKey](ctx, r.q, domain.ErrNotFound, sqlOrganizationKey, organization)
}

// While the key of an organization is replaced, a host has the next one from the moment on at which a login with it succeeded.
const (
	keyOfHost = `k.organization_id, CASE WHEN n.has_next THEN k.next_public_key ELSE k.public_key END AS public_key,
       CASE WHEN n.has_next THEN k.next_sealed ELSE k.private_sealed END AS private_sealed,
       CASE WHEN n.has_next THEN k.version + 1 ELSE k.version END AS version
  FROM (SELECT h.id, h.organization_id, h.ssh_key_version > o.version AND o.next_public_key IS NOT NULL AS has_next
          FROM hosts h
          JOIN organization_keys o ON o.organization_id = h.organization_id) n
  JOIN organization_keys k ON k.organization_id = n.organization_id`

	sqlKeyOfHost = `
SELECT ` + keyOfHost + `
 WHERE n.id = $1`

	sqlKeysOfHosts = `
SELECT n.id AS host_id, ` + keyOfHost + `
 WHERE n.id = ANY($1::UUID[])`
)

// KeyOfHost returns the key pair with which a host is reached.
func (r Reads) KeyOfHost(ctx context.Context, host uuid.UUID) (OrganizationKey, error) {
	return db.First[OrganizationKey](ctx, r.q, domain.ErrNotFound, sqlKeyOfHost, host)
}

// KeysOfHosts returns the key pair of each of several hosts, by the host.
func (r Reads) KeysOfHosts(ctx context.Context, hosts []uuid.UUID) (map[uuid.UUID]OrganizationKey, error) {
	type row struct {
		HostID uuid.UUID `db:"host_id"`
		OrganizationKey
	}
	found, err := db.Collect[row](ctx, r.q, sqlKeysOfHosts, hosts)
	if err != nil {
		return nil, fmt.Errorf("load the keys of hosts: %w", err)
	}
	keys := make(map[uuid.UUID]OrganizationKey, len(found))
	for _, one := range found {
		keys[one.HostID] = one.OrganizationKey
	}
	return keys, nil
}

// ProvedHostKey notes that a login to a host succeeded with a key.
func (tx *Tx) ProvedHostKey(ctx context.Context, host uuid.UUID, key OrganizationKey) error {
	return iam.ProvedHostKey(ctx, tx.Tx, key.OrganizationID, host, key.Version)
}

const sqlNewestPublicKey = `
SELECT COALESCE(k.next_public_key, k.public_key) AS public_key
  FROM organization_keys k
 WHERE k.organization_id = $1`

// NewestPublicKey is the line of authorized_keys that the hosts of an organization are to have; ErrNotFound if it has no key.
func (r Reads) NewestPublicKey(ctx context.Context, organization uuid.UUID) (string, error) {
	type row struct {
		PublicKey string `db:"public_key"`
	}
	k, err := db.First[row](ctx, r.q, domain.ErrNotFound, sqlNewestPublicKey, organization)
	return k.PublicKey, err
}

const sqlInsertOrganizationKey = `
INSERT INTO organization_keys (organization_id, public_key, private_sealed)
VALUES ($1, $2, $3)
ON CONFLICT (organization_id) DO NOTHING`

// InsertOrganizationKey gives an organization its key pair, if it has none.
func (tx *Tx) InsertOrganizationKey(ctx context.Context, k OrganizationKey) error {
	if _, err := tx.Exec(ctx, sqlInsertOrganizationKey, k.OrganizationID, k.PublicKey, k.PrivateSealed); err != nil {
		return fmt.Errorf("insert the organization's key: %w", err)
	}
	return nil
}
