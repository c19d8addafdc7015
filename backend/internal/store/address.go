package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// Address is one row of addresses.
type Address struct {
	ID           uuid.UUID           `db:"id"`
	WorkspaceID  uuid.UUID           `db:"workspace_id"`
	Network      string              `db:"network"`
	Address      string              `db:"address"`
	SortKey      int64               `db:"sort_key"`
	Endpoint     string              `db:"endpoint"`
	State        domain.AddressState `db:"state"`
	AllocationID *uuid.UUID          `db:"allocation_id"`
	LoginUser    *string             `db:"login_user"`
	Tenant       *uuid.UUID          `db:"tenant_workspace_id"` // of its allocation
	Version      int64               `db:"version"`
	CreatedAt    time.Time           `db:"created_at"`
	UpdatedAt    time.Time           `db:"updated_at"`
}

const sqlAddress = `
SELECT p.id, p.workspace_id, p.network, p.address, p.sort_key, p.endpoint, p.state, p.allocation_id, a.login_user, a.workspace_id AS tenant_workspace_id, p.version,
       p.created_at, p.updated_at
  FROM addresses p
  LEFT JOIN allocations a ON a.id = p.allocation_id
 WHERE true`

// Address returns an address by its id.
func (r Reads) Address(ctx context.Context, id uuid.UUID) (Address, error) {
	return db.First[Address](ctx, r.q, domain.ErrNotFound, sqlAddress+" AND p.id = $1", id)
}

// AddressByValue returns the row of an IPv4 address.
func (r Reads) AddressByValue(ctx context.Context, address string) (Address, error) {
	return db.First[Address](ctx, r.q, domain.ErrNotFound, sqlAddress+" AND p.address = $1", address)
}

// AddressesByValue returns the rows of some IPv4 addresses, in their order.
func (r Reads) AddressesByValue(ctx context.Context, workspace uuid.UUID, addresses []string) ([]Address, error) {
	return db.Collect[Address](ctx, r.q, sqlAddress+" AND p.workspace_id = $1 AND p.address = ANY($2) ORDER BY p.sort_key", workspace, addresses)
}

// AddressOfAllocation returns the address that an allocation has.
func (r Reads) AddressOfAllocation(ctx context.Context, allocation uuid.UUID) (Address, error) {
	return db.First[Address](ctx, r.q, domain.ErrNotFound, sqlAddress+" AND p.allocation_id = $1", allocation)
}

// AddressSorting is the orders that addresses can be listed in.
var AddressSorting = db.Sorting[Address]{
	{Name: "address", Columns: []db.Column{db.ByText("p.network"), db.ByNumber("p.sort_key", math.MaxInt64), db.ByID("p.id")}, At: func(p Address) db.Position {
		return db.Position{Text: p.Network, Number: p.SortKey, ID: p.ID}
	}},
	{Name: "state", Columns: []db.Column{db.ByText("p.state"), db.ByID("p.id")}, At: func(p Address) db.Position { return db.Position{Text: string(p.State), ID: p.ID} }},
}

// AddressFilter narrows a list of addresses.
type AddressFilter struct {
	WorkspaceID    uuid.UUID
	State, Network string
	Sort           string // one of AddressSorting; "" for the first
	After          *db.Position
	Limit          int
}

// Addresses lists addresses.
func (r Reads) Addresses(ctx context.Context, f AddressFilter) ([]Address, error) {
	l := db.NewList(sqlAddress).And("p.workspace_id = ?", f.WorkspaceID).AndIf(f.State, "p.state = ?").AndIf(f.Network, "p.network = ?")
	return AddressSorting.Read(ctx, r.q, l, f.Sort, f.After, f.Limit)
}

const sqlInsertAddresses = `
INSERT INTO addresses (id, workspace_id, network, network_id, address, sort_key, endpoint, state, shuffle)
SELECT a.id, $1::UUID, $2::TEXT, $9::UUID, a.address, a.sort_key, $3::TEXT, $4::TEXT, a.shuffle
  FROM unnest($5::UUID[], $6::TEXT[], $7::INT8[], $8::INT4[]) AS a(id, address, sort_key, shuffle)
ON CONFLICT DO NOTHING
RETURNING address`

// AddressPool is the pool of a network.
type AddressPool struct {
	Workspace, Network uuid.UUID
	Name               string // of the network
}

// InsertAddresses adds IPv4 addresses to the pool of a network, all of them in
// one statement; if one is there already it is a Conflict.
func (tx *Tx) InsertAddresses(ctx context.Context, pool AddressPool, addresses []netip.Addr, endpoint string) ([]uuid.UUID, error) {
	ids := make([]uuid.UUID, len(addresses))
	text := make([]string, len(addresses))
	numbers := make([]int64, len(addresses))
	shuffles := make([]int32, len(addresses))
	for i, a := range addresses {
		four := a.As4()
		ids[i], text[i], numbers[i], shuffles[i] = uuid.New(), a.String(), int64(binary.BigEndian.Uint32(four[:])), shuffle()
	}
	tx.Touch(nounAddress, ids...)
	rows, err := tx.q.Query(ctx, sqlInsertAddresses, pool.Workspace, pool.Name, endpoint, domain.AddressLifecycle.Initial, ids, text, numbers, shuffles, pool.Network)
	if err != nil {
		return nil, fmt.Errorf("insert addresses: %w", err)
	}
	added, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("insert addresses: %w", err)
	}
	if len(added) < len(addresses) {
		taken := slices.DeleteFunc(text, func(a string) bool { return slices.Contains(added, a) })
		return nil, domain.Conflictf("address_taken", "%d of them are in a pool already, the first is %s", len(taken), taken[0])
	}
	return ids, nil
}

const sqlMoveAddress = `
UPDATE addresses
   SET state = $3, allocation_id = CASE WHEN $3 IN ('free', 'unavailable') THEN NULL ELSE allocation_id END,
       network_grant_id = CASE WHEN $3 IN ('free', 'unavailable') THEN NULL ELSE network_grant_id END, shuffle = $4,
       version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2`

const sqlCloseAddressOfHost = `
UPDATE addresses
   SET state = 'unavailable', updated_at = now()
 WHERE id = $1 AND state = 'free'
   AND EXISTS (SELECT 1 FROM host_addresses o JOIN hosts h ON h.id = o.host_id WHERE o.address = addresses.address AND h.removed_at IS NULL)`

// MoveAddress takes an address through its lifecycle. One that turns out to be
// a host's own is closed instead of being free again.
func (tx *Tx) MoveAddress(ctx context.Context, id uuid.UUID, from domain.AddressState, on domain.Event) (domain.AddressState, error) {
	tx.Touch(nounAddress, id)
	to, err := domain.AddressLifecycle.Next(from, on)
	if err != nil || to == from {
		return to, err
	}
	if err := tx.One(ctx, movedMeanwhile("address"), sqlMoveAddress, id, from, to, shuffle()); err != nil || to != domain.AddressFree {
		return to, err
	}
	n, err := tx.Exec(ctx, sqlCloseAddressOfHost, id)
	if n == 1 {
		to = domain.AddressUnavailable
	}
	return to, err
}

const sqlDeleteAddress = `
DELETE FROM addresses
 WHERE id = $1 AND state IN ('free', 'unavailable')`

// DeleteAddress takes an address that nobody has out of its pool.
func (tx *Tx) DeleteAddress(ctx context.Context, id uuid.UUID) error {
	tx.Touch(nounAddress, id)
	return tx.One(ctx, domain.Conflictf("address_in_use", "only an address that is free or unavailable can be removed"), sqlDeleteAddress, id)
}

const sqlReserveAddress = `
UPDATE addresses
   SET state = 'reserved', allocation_id = $3, version = version + 1, updated_at = now()
 WHERE state = 'free'
   AND id = (SELECT p.id
               FROM addresses p
              WHERE p.workspace_id = $1 AND p.network = $2 AND p.state = 'free' AND p.shuffle >= $4
                AND NOT EXISTS (SELECT 1 FROM host_addresses o JOIN hosts h ON h.id = o.host_id WHERE o.address = p.address AND h.removed_at IS NULL)
              ORDER BY p.workspace_id, p.network, p.shuffle
              LIMIT 1
                FOR UPDATE OF p SKIP LOCKED)
RETURNING id, address`

const sqlReserveAddressWaiting = `
UPDATE addresses
   SET state = 'reserved', allocation_id = $3, version = version + 1, updated_at = now()
 WHERE state = 'free'
   AND id = (SELECT p.id
               FROM addresses p
              WHERE p.workspace_id = $1 AND p.network = $2 AND p.state = 'free'
                AND NOT EXISTS (SELECT 1 FROM host_addresses o JOIN hosts h ON h.id = o.host_id WHERE o.address = p.address AND h.removed_at IS NULL)
              ORDER BY p.workspace_id, p.network, p.shuffle
              LIMIT 1
                FOR UPDATE OF p)
RETURNING id, address`

// ReserveAddress reserves a free address of a network, none that is a host's
// own, for an allocation that is about to be inserted; false if there is none,
// also for one that waits.
func (tx *Tx) ReserveAddress(ctx context.Context, workspace uuid.UUID, network string, allocation uuid.UUID) (string, bool, error) {
	var id uuid.UUID
	var address string
	for _, from := range []int32{shuffle(), 0} {
		err := tx.q.QueryRow(ctx, sqlReserveAddress, workspace, network, allocation, from).Scan(&id, &address)
		if err == nil || !db.IsNoRows(err) {
			tx.Touch(nounAddress, id)
			return address, err == nil, err
		}
	}
	// Skipped rows may be given back: look again and wait for them.
	for range 8 {
		err := tx.q.QueryRow(ctx, sqlReserveAddressWaiting, workspace, network, allocation).Scan(&id, &address)
		if err == nil || !db.IsNoRows(err) {
			tx.Touch(nounAddress, id)
			return address, err == nil, err
		}
		free, err := tx.FreeAddresses(ctx, workspace, []string{network})
		if err != nil || free == 0 {
			return "", false, err
		}
	}
	return "", false, nil
}

const sqlReserveThisAddress = `
UPDATE addresses
   SET state = 'reserved', allocation_id = $4, version = version + 1, updated_at = now()
 WHERE workspace_id = $1 AND network = $2 AND address = $3 AND state = 'free'
   AND NOT EXISTS (SELECT 1 FROM host_addresses o JOIN hosts h ON h.id = o.host_id WHERE o.address = addresses.address AND h.removed_at IS NULL)
RETURNING id`

// ReserveThisAddress reserves one address of a network for an allocation that
// is about to be inserted; false if it is not free.
func (tx *Tx) ReserveThisAddress(ctx context.Context, workspace uuid.UUID, network, address string, allocation uuid.UUID) (bool, error) {
	n, err := tx.touching(ctx, nounAddress, sqlReserveThisAddress, workspace, network, address, allocation)
	return n == 1, err
}

const sqlLendAddress = `
UPDATE addresses
   SET network_grant_id = $2
 WHERE allocation_id = $1 AND state = 'reserved'`

// LendAddress notes by which grant of its network a reserved address is with an allocation. It counts for the grant until it is
// free again.
func (tx *Tx) LendAddress(ctx context.Context, allocation, grant uuid.UUID) error {
	return tx.One(ctx, movedMeanwhile("address"), sqlLendAddress, allocation, grant)
}

const sqlFreeAddresses = `
SELECT count(*)
  FROM addresses p
 WHERE p.workspace_id = $1 AND p.network = ANY($2) AND p.state = 'free'`

// FreeAddresses counts the free addresses of some networks.
func (r Reads) FreeAddresses(ctx context.Context, workspace uuid.UUID, networks []string) (int, error) {
	var n int
	err := r.q.QueryRow(ctx, sqlFreeAddresses, workspace, networks).Scan(&n)
	return n, err
}
