package db

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Object names one object of a noun.
type Object struct {
	Noun string
	ID   uuid.UUID
}

// Touch records that this transaction writes an object. Whatever writes the
// table of a noun calls it, in the one place where the statement is: what
// depends on the object is then due with the commit.
func (tx *Tx) Touch(noun string, ids ...uuid.UUID) {
	for _, id := range ids {
		if tx.touched == nil {
			tx.touched = map[Object]struct{}{}
		}
		tx.touched[Object{noun, id}] = struct{}{}
	}
}

// Touched are the objects that this transaction has written so far, in any
// order.
func (tx *Tx) Touched() []Object { return slices.Collect(maps.Keys(tx.touched)) }

// Connection is the one that the transaction runs on; nil before its first
// statement.
func (tx *Tx) Connection() *pgx.Conn {
	t, ok := tx.tx.(*beginning)
	if !ok || t.conn == nil {
		return nil
	}
	return t.conn.Conn()
}

// BeforeCommit sets a function that ends every transaction which went well, with
// its last statements. It may run more than once, as what it ends. Several are
// called in their order.
func (db *DB) BeforeCommit(f func(context.Context, *Tx) error) {
	db.last = append(db.last, f)
}

// ended is f with what BeforeCommit has set behind it.
func (db *DB) ended(ctx context.Context, f func(*Tx) error) func(*Tx) error {
	if len(db.last) == 0 {
		return f
	}
	return func(tx *Tx) error {
		if err := f(tx); err != nil {
			return err
		}
		for _, last := range db.last {
			if err := last(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	}
}
