package secret

import (
	"context"
	"fmt"

	"kloigos/backend/internal/kernel/db"
)

// Value is a sealed value in the database.
type Value struct {
	Place      string `db:"place"` // its table, or table.column of a second one
	ID         string `db:"id"`    // of its row
	Sealed     []byte `db:"sealed"`
	Associated string `db:"associated"` // what it was sealed for
}

const sqlSealed = `
SELECT 'settings' AS place, s.name AS id, s.value AS sealed, s.name AS associated FROM settings s WHERE s.name = 'keyset_canary'
UNION ALL
SELECT 'organization_keys', k.organization_id::TEXT, k.private_sealed, k.organization_id::TEXT FROM organization_keys k
UNION ALL
SELECT 'organization_keys.next_sealed', k.organization_id::TEXT, k.next_sealed, k.organization_id::TEXT FROM organization_keys k WHERE k.next_sealed IS NOT NULL
UNION ALL
SELECT 'dns_zones', z.id::TEXT, z.key_sealed, 'dns_zones/' || z.id::TEXT FROM dns_zones z WHERE length(z.key_sealed) > 0
UNION ALL
SELECT 'channels', c.id::TEXT, c.password_sealed, 'channels/' || c.id::TEXT FROM channels c WHERE length(c.password_sealed) > 0
UNION ALL
SELECT 'channel_secrets', c.id::TEXT, c.sealed, 'channel_secrets/' || c.id::TEXT FROM channel_secrets c
UNION ALL
SELECT 'second_factors', f.account_id::TEXT, f.secret_sealed, 'second_factors/' || f.account_id::TEXT FROM second_factors f
UNION ALL
SELECT 'identity_providers', p.id::TEXT, p.secret_sealed, 'identity_providers/' || p.id::TEXT FROM identity_providers p WHERE length(p.secret_sealed) > 0
UNION ALL
SELECT 'identity_logins', l.id::TEXT, l.sealed, 'identity_logins/' || l.id::TEXT FROM identity_logins l
UNION ALL
SELECT 'kube_clusters', c.id::TEXT, c.admin_key_sealed, 'kube_clusters/' || c.id::TEXT FROM kube_clusters c WHERE length(c.admin_key_sealed) > 0
UNION ALL
SELECT 'kube_management_clusters', m.id::TEXT, m.credentials_sealed, 'kube_management_clusters/' || m.id::TEXT FROM kube_management_clusters m
UNION ALL
SELECT 'kube_snapshots', s.id::TEXT, s.key_sealed, 'kube_snapshots/' || s.id::TEXT FROM kube_snapshots s
UNION ALL
SELECT 'event_streams', e.id::TEXT, e.secret_sealed, 'event_streams/' || e.id::TEXT FROM event_streams e WHERE length(e.secret_sealed) > 0`

// Each writes only if the value is still what was read. It wakes no policy, because the secret itself stays the same.
const (
	sqlResealSetting  = `UPDATE settings SET value = $2 WHERE name = $1 AND value = $3`
	sqlResealKey      = `UPDATE organization_keys SET private_sealed = $2 WHERE organization_id = $1::UUID AND private_sealed = $3`
	sqlResealNextKey  = `UPDATE organization_keys SET next_sealed = $2 WHERE organization_id = $1::UUID AND next_sealed = $3`
	sqlResealZone     = `UPDATE dns_zones SET key_sealed = $2 WHERE id = $1::UUID AND key_sealed = $3`
	sqlResealChannel  = `UPDATE channels SET password_sealed = $2 WHERE id = $1::UUID AND password_sealed = $3`
	sqlResealSecret   = `UPDATE channel_secrets SET sealed = $2 WHERE id = $1::UUID AND sealed = $3`
	sqlResealFactor   = `UPDATE second_factors SET secret_sealed = $2 WHERE account_id = $1::UUID AND secret_sealed = $3`
	sqlResealProvider = `UPDATE identity_providers SET secret_sealed = $2 WHERE id = $1::UUID AND secret_sealed = $3`
	sqlResealLogin    = `UPDATE identity_logins SET sealed = $2 WHERE id = $1::UUID AND sealed = $3`
	sqlResealCluster  = `UPDATE kube_clusters SET admin_key_sealed = $2 WHERE id = $1::UUID AND admin_key_sealed = $3`
	sqlResealManager  = `UPDATE kube_management_clusters SET credentials_sealed = $2 WHERE id = $1::UUID AND credentials_sealed = $3`
	sqlResealSnapshot = `UPDATE kube_snapshots SET key_sealed = $2 WHERE id = $1::UUID AND key_sealed = $3`
	sqlResealStream   = `UPDATE event_streams SET secret_sealed = $2 WHERE id = $1::UUID AND secret_sealed = $3`
)

var resealing = map[string]db.Statement{
	"settings": sqlResealSetting, "organization_keys": sqlResealKey, "organization_keys.next_sealed": sqlResealNextKey, "dns_zones": sqlResealZone, "channels": sqlResealChannel,
	"channel_secrets": sqlResealSecret, "second_factors": sqlResealFactor, "identity_providers": sqlResealProvider,
	"identity_logins": sqlResealLogin, "kube_clusters": sqlResealCluster, "event_streams": sqlResealStream,
	"kube_management_clusters": sqlResealManager, "kube_snapshots": sqlResealSnapshot,
}

// Values reads all sealed values.
func Values(ctx context.Context, q db.Reader) ([]Value, error) {
	values, err := db.Collect[Value](ctx, q, sqlSealed)
	if err != nil {
		return nil, fmt.Errorf("read the sealed values: %w", err)
	}
	return values, nil
}

// Reseal has the primary key seal a value that another one sealed. Nothing is written if the value is another one by now.
func (k *Keyset) Reseal(ctx context.Context, d *db.DB, v Value) error {
	plain, err := k.Open(v.Sealed, v.Associated)
	if err != nil {
		return err
	}
	sealed, err := k.Seal(plain, v.Associated)
	if err != nil {
		return err
	}
	return d.InTx(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, resealing[v.Place], v.ID, sealed, v.Sealed)
		return err
	})
}
