package db

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// A column that nobody reads, and a field that nobody fills, are mistakes in a
// statement.
func TestFieldsOfColumns(t *testing.T) {
	t.Parallel()
	type named struct {
		Other string
		Name  string `db:"name"`
	}
	type row struct {
		named
		Other int
		ID    uuid.UUID `db:"id"`
	}
	for _, c := range []struct {
		columns []string
		want    [][]int
	}{
		{[]string{"id", "name"}, [][]int{{2}, {0, 1}}},
		{[]string{"name", "id"}, [][]int{{0, 1}, {2}}},
		{[]string{"id"}, nil},
		{[]string{"id", "name", "other"}, nil},
		{[]string{"id", "name", "id"}, nil},
	} {
		var described []pgconn.FieldDescription
		for _, name := range c.columns {
			described = append(described, pgconn.FieldDescription{Name: name})
		}
		got, err := fieldsOf(reflect.TypeFor[row](), described)
		if (err != nil) != (c.want == nil) || err == nil && !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("%v: %v, %v", c.columns, got, err)
		}
	}
}

func TestScanUUID(t *testing.T) {
	t.Parallel()
	want, got := uuid.New(), uuid.UUID{}
	if err := (scanUUID{}).Scan(want[:], &got); err != nil || got != want {
		t.Errorf("%s instead of %s: %v", got, want, err)
	}
	for _, bad := range [][]byte{nil, want[:15]} {
		if err := (scanUUID{}).Scan(bad, &got); err == nil {
			t.Errorf("%d bytes were taken for a UUID", len(bad))
		}
	}
}

// What is sent is what the driver itself would send, by way of the text.
func TestUUIDsAreSentAsTheDriverSendsThem(t *testing.T) {
	t.Parallel()
	id, other := uuid.New(), uuid.New()
	ours, theirs := pgtype.NewMap(), pgtype.NewMap()
	ours.RegisterType(&pgtype.Type{Name: "uuid", OID: pgtype.UUIDOID, Codec: uuidCodec{}})
	if _, ok := ours.PlanEncode(pgtype.UUIDOID, pgtype.BinaryFormatCode, id).(encodeUUID); !ok {
		t.Error("a UUID takes the driver's way")
	}
	for _, format := range []int16{pgtype.BinaryFormatCode, pgtype.TextFormatCode} {
		for oid, values := range map[uint32][]any{
			pgtype.UUIDOID:      {id, &id, (*uuid.UUID)(nil)},
			pgtype.UUIDArrayOID: {[]uuid.UUID{id, other}, []*uuid.UUID{nil, &other, nil, &id}, []uuid.UUID{}, []uuid.UUID(nil)},
		} {
			for _, v := range values {
				got, err := ours.Encode(oid, format, v, nil)
				want, wantErr := theirs.Encode(oid, format, v, nil)
				if err != nil || wantErr != nil || !slices.Equal(got, want) || (got == nil) != (want == nil) {
					t.Errorf("%T %v in format %d: %x, %v; the driver: %x, %v", v, v, format, got, err, want, wantErr)
				}
			}
		}
	}
}
