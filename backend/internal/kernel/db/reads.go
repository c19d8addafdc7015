package db

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Conn is what a pool, a connection and a transaction have in common.
type Conn interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Reader sends statements that only read.
type Reader struct {
	conn Conn
	// again tries a statement outside of a transaction again. CockroachDB does so itself, but not any more once it has
	// sent some of the rows, which it does from 512 KiB on. Nil within a transaction, which is tried as a whole, and on
	// PostgreSQL, which refuses no statement by itself at READ COMMITTED.
	again *DB
}

// Over reads over one connection, and tries nothing again.
func Over(conn Conn) Reader { return Reader{conn: conn} }

// PostgresTx is a transaction of PostgreSQL's which reads over conn and can write
// nothing: with it a test sees what would be sent.
func PostgresTx(conn Conn) *Tx { return &Tx{Reader: Over(conn), tx: &beginning{}} }

func (q Reader) tries(ctx context.Context, read func() error) error {
	if q.again == nil {
		return read()
	}
	return q.again.tries(ctx, read)
}

// Query sends a statement that only reads. The caller closes the rows.
func (q Reader) Query(ctx context.Context, sql Statement, args ...any) (pgx.Rows, error) {
	if q.again == nil {
		return q.conn.Query(ctx, string(sql), args...)
	}
	conn, err := q.again.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	all := &wholeRows{conn: conn}
	err = q.tries(ctx, func() error { return all.read(ctx, string(sql), args) })
	if err != nil && !retryable(err) && all.begun {
		err, all.err = nil, err
	}
	if err != nil {
		conn.Release()
		return nil, err
	}
	return all, nil
}

// QueryRow sends a statement of which the first row counts.
func (q Reader) QueryRow(ctx context.Context, sql Statement, args ...any) pgx.Row {
	if q.again == nil {
		return q.conn.QueryRow(ctx, string(sql), args...)
	}
	rows, err := q.Query(ctx, sql, args...)
	return firstRow{rows, err}
}

// wholeRows are all rows of a statement that was read to its end before the first of them is looked at. They keep the
// connection, which knows how values are read, until they are closed.
type wholeRows struct {
	conn   *pgxpool.Conn
	begun  bool // the server has answered
	types  *pgtype.Map
	fields []pgconn.FieldDescription
	tag    pgconn.CommandTag
	rows   [][][]byte
	next   int
	err    error
}

var _ pgx.Rows = (*wholeRows)(nil)

func (r *wholeRows) read(ctx context.Context, sql string, args []any) error {
	r.rows, r.begun = nil, false
	rows, err := r.conn.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	r.begun = true
	for rows.Next() {
		raw := rows.RawValues()
		length := 0
		for _, v := range raw {
			length += len(v)
		}
		row, room := make([][]byte, len(raw)), make([]byte, 0, length)
		for i, v := range raw {
			if v != nil { // nil is NULL
				from := len(room)
				room = append(room, v...)
				row[i] = room[from:len(room):len(room)]
			}
		}
		r.rows = append(r.rows, row)
	}
	r.types, r.fields, r.tag = rows.TypeMap(), slices.Clone(rows.FieldDescriptions()), rows.CommandTag()
	return rows.Err()
}

// Close implements pgx.Rows, as all that follow.
func (r *wholeRows) Close() {
	if r.conn != nil {
		r.conn.Release()
	}
	r.conn, r.next = nil, len(r.rows)+1
}

func (r *wholeRows) Err() error { return r.err }

func (r *wholeRows) CommandTag() pgconn.CommandTag { return r.tag }

func (r *wholeRows) FieldDescriptions() []pgconn.FieldDescription { return r.fields }

func (r *wholeRows) Next() bool {
	if r.err != nil || r.next >= len(r.rows) {
		r.Close()
		return false
	}
	r.next++
	return true
}

func (r *wholeRows) Scan(into ...any) error {
	if one, ok := r.scanner(into); ok {
		return one.ScanRow(r)
	}
	if err := pgx.ScanRow(r.types, r.fields, r.RawValues(), into...); err != nil {
		r.err = err
		r.Close()
		return err
	}
	return nil
}

func (r *wholeRows) scanner(into []any) (pgx.RowScanner, bool) {
	if len(into) != 1 {
		return nil, false
	}
	one, ok := into[0].(pgx.RowScanner)
	return one, ok
}

func (r *wholeRows) Values() ([]any, error) {
	types, values := r.types, make([]any, len(r.fields))
	for i, raw := range r.RawValues() {
		field := r.fields[i]
		if raw == nil {
			continue
		}
		t, ok := types.TypeForOID(field.DataTypeOID)
		if !ok {
			values[i] = string(raw)
			continue
		}
		var err error
		if values[i], err = t.Codec.DecodeValue(types, field.DataTypeOID, field.Format, raw); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func (r *wholeRows) RawValues() [][]byte { return r.rows[r.next-1] }

func (r *wholeRows) TypeMap() *pgtype.Map { return r.types }

func (r *wholeRows) Conn() *pgx.Conn { return r.conn.Conn() }
