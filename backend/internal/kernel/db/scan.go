package db

import (
	"fmt"
	"reflect"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// AppendRows reads rows behind others, each column into the field that its db
// tag names. Pages of lists are most of what is read, so that a row takes no
// memory but its own, as it does with pgx.RowToStructByName.
func AppendRows[R any](all []R, rows pgx.Rows) ([]R, error) {
	defer rows.Close()
	var fields [][]int
	var targets []any
	for rows.Next() {
		if fields == nil {
			var err error
			if fields, err = fieldsOf(reflect.TypeFor[R](), rows.FieldDescriptions()); err != nil {
				return nil, err
			}
			targets = make([]any, len(fields))
		}
		var empty R
		all = append(all, empty)
		row := reflect.ValueOf(&all[len(all)-1]).Elem()
		for i, field := range fields {
			targets[i] = row.FieldByIndex(field).Addr().Interface()
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
	}
	return all, rows.Err()
}

// fieldsOf finds the field of each column; every column has one, and every
// field with a tag has a column.
func fieldsOf(row reflect.Type, columns []pgconn.FieldDescription) ([][]int, error) {
	named := map[string][]int{}
	for _, f := range reflect.VisibleFields(row) {
		if name, ok := f.Tag.Lookup("db"); ok {
			named[name] = f.Index
		}
	}
	fields := make([][]int, len(columns))
	for i, c := range columns {
		field, ok := named[c.Name]
		if !ok {
			return nil, fmt.Errorf("%s has no field for the Column %q", row, c.Name)
		}
		fields[i] = field
		delete(named, c.Name) // nor does a second column of the name have one
	}
	for name := range named {
		return nil, fmt.Errorf("no Column is called %q, as a field of %s is", name, row)
	}
	return fields, nil
}

// uuidCodec is the driver's, which knows no uuid.UUID and would go through its
// text.
type uuidCodec struct{ pgtype.UUIDCodec }

// PlanScan implements pgtype.Codec.
func (c uuidCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if _, ok := target.(*uuid.UUID); ok && format == pgtype.BinaryFormatCode {
		return scanUUID{}
	}
	return c.UUIDCodec.PlanScan(m, oid, format, target)
}

// PlanEncode implements pgtype.Codec.
func (c uuidCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	switch value.(type) {
	case uuid.UUID, *uuid.UUID:
		if format == pgtype.BinaryFormatCode {
			return encodeUUID{}
		}
	}
	return c.UUIDCodec.PlanEncode(m, oid, format, value)
}

type encodeUUID struct{}

// Encode implements pgtype.EncodePlan. The driver keeps pointers to nothing for
// itself.
func (encodeUUID) Encode(value any, buf []byte) ([]byte, error) {
	switch id := value.(type) {
	case uuid.UUID:
		return append(buf, id[:]...), nil
	case *uuid.UUID:
		return append(buf, id[:]...), nil
	}
	return nil, fmt.Errorf("a %T is no UUID", value)
}

type scanUUID struct{}

// Scan implements pgtype.ScanPlan.
func (scanUUID) Scan(src []byte, target any) error {
	id, ok := target.(*uuid.UUID)
	if !ok || len(src) != len(id) {
		return fmt.Errorf("%d bytes are no UUID for a %T", len(src), target)
	}
	copy(id[:], src)
	return nil
}
