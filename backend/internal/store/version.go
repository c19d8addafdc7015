package store

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

const sqlHoldHost = `
SELECT h.version
  FROM hosts h
 WHERE h.id = $1
   FOR UPDATE`

const sqlHoldUnit = `
SELECT u.version
  FROM compute_units u
 WHERE u.id = $1
   FOR UPDATE`

const sqlHoldAllocation = `
SELECT a.version
  FROM allocations a
 WHERE a.id = $1
   FOR UPDATE`

const sqlHoldAddress = `
SELECT p.version
  FROM addresses p
 WHERE p.id = $1
   FOR UPDATE`

// HoldHost returns a host's version, which nobody changes until the
// transaction ends.
func (tx *Tx) HoldHost(ctx context.Context, id uuid.UUID) (int64, error) {
	return tx.hold(ctx, sqlHoldHost, id)
}

// HoldUnit is HoldHost for a compute unit.
func (tx *Tx) HoldUnit(ctx context.Context, id uuid.UUID) (int64, error) {
	return tx.hold(ctx, sqlHoldUnit, id)
}

// HoldAllocation is HoldHost for an allocation.
func (tx *Tx) HoldAllocation(ctx context.Context, id uuid.UUID) (int64, error) {
	return tx.hold(ctx, sqlHoldAllocation, id)
}

// HoldAddress is HoldHost for an address.
func (tx *Tx) HoldAddress(ctx context.Context, id uuid.UUID) (int64, error) {
	return tx.hold(ctx, sqlHoldAddress, id)
}

func (tx *Tx) hold(ctx context.Context, sql db.Statement, id uuid.UUID) (version int64, err error) {
	err = tx.q.QueryRow(ctx, sql, id).Scan(&version)
	if db.IsNoRows(err) {
		return 0, domain.ErrNotFound
	}
	return version, err
}
