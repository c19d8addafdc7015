package store

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// HostAddress is an address that is a host's own.
type HostAddress struct {
	Address string `db:"address"`
	Host    string `db:"host"`
}

const sqlAddressesOfHosts = `
SELECT o.address, h.name AS host
  FROM host_addresses o
  JOIN hosts h ON h.id = o.host_id
 WHERE o.address = ANY($1) AND h.removed_at IS NULL
 ORDER BY o.address, h.name`

// AddressesOfHosts returns those of some IPv4 addresses that are hosts' own.
func (r Reads) AddressesOfHosts(ctx context.Context, addresses []string) ([]HostAddress, error) {
	return db.Collect[HostAddress](ctx, r.q, sqlAddressesOfHosts, addresses)
}

const sqlForgetHostAddresses = `
DELETE FROM host_addresses
 WHERE host_id = $1 AND NOT (address = ANY($2))`

const sqlNoteHostAddresses = `
INSERT INTO host_addresses (address, host_id)
SELECT a.address, $1::UUID
  FROM unnest($2::TEXT[]) AS a(address)
ON CONFLICT (address, host_id) DO NOTHING`

const sqlCloseAddressesOfHosts = `
UPDATE addresses
   SET state = 'unavailable', version = version + 1, updated_at = now()
 WHERE address = ANY($1) AND state = 'free'
RETURNING id`

// NoteHostAddress notes one more address as the host's own.
func (tx *Tx) NoteHostAddress(ctx context.Context, host uuid.UUID, address string) error {
	if _, err := tx.Exec(ctx, sqlNoteHostAddresses, host, []string{address}); err != nil {
		return fmt.Errorf("note an address of the host: %w", err)
	}
	return nil
}

// setHostAddresses notes under which address the host is reached, and what a
// probe found on it, and closes those of them that are free in a pool. To be
// called where either changes.
func (tx *Tx) setHostAddresses(ctx context.Context, host uuid.UUID, reached string, f *domain.Facts) error {
	own := []string{}
	if a, err := netip.ParseAddr(reached); err == nil && a.Is4() {
		own = append(own, a.String())
	}
	if f != nil {
		own = append(own, f.OwnAddresses()...)
	}
	if _, err := tx.Exec(ctx, sqlForgetHostAddresses, host, own); err != nil {
		return fmt.Errorf("forget addresses of the host: %w", err)
	}
	if _, err := tx.Exec(ctx, sqlNoteHostAddresses, host, own); err != nil {
		return fmt.Errorf("note addresses of the host: %w", err)
	}
	if _, err := tx.touching(ctx, nounAddress, sqlCloseAddressesOfHosts, own); err != nil {
		return fmt.Errorf("close addresses of the host: %w", err)
	}
	return nil
}
