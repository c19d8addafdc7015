package secret

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/testkit"
)

// A new key opens before it seals, an old one opens until it is retired, and its codes are known for ever.
func TestKeysAreReplacedStepByStep(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keyset.json")
	first, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	load := func() *Keyset {
		k, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	sealed, err := first.Seal([]byte("secret"), "a/1")
	if err != nil {
		t.Fatal(err)
	}
	code := first.Vouch("trail", []byte("seal 1"))
	if _, err := Promote(path); !errors.Is(err, ErrNoNewKey) {
		t.Errorf("promoted without a new key: %v", err)
	}
	if _, err := Retire(path); !errors.Is(err, ErrNoOldKey) {
		t.Errorf("retired the only key: %v", err)
	}

	added, err := AddKey(path)
	if err != nil {
		t.Fatal(err)
	}
	if k := load(); k.Primary() != first.Primary() || k.Primary() == added {
		t.Errorf("an added key seals: %08x", k.Primary())
	}
	if _, err := Promote(path); err != nil {
		t.Fatal(err)
	}
	promoted := load()
	again, err := promoted.Seal([]byte("secret"), "a/1")
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := SealedBy(again); !ok || id != added {
		t.Errorf("sealed by %08x, want %08x", id, added)
	}
	if id, _ := SealedBy(sealed); id != first.Primary() {
		t.Errorf("the first value is sealed by %08x", id)
	}
	if plain, err := promoted.Open(sealed, "a/1"); err != nil || string(plain) != "secret" {
		t.Errorf("%q, %v", plain, err)
	}
	if _, err := Promote(path); !errors.Is(err, ErrNoNewKey) {
		t.Errorf("an older key was promoted: %v", err)
	}

	ids, err := Retire(path)
	if err != nil || len(ids) != 1 || ids[0] != first.Primary() {
		t.Fatalf("retired %v, %v", ids, err)
	}
	last := load()
	if _, err := last.Open(sealed, "a/1"); !errors.Is(err, ErrSealed) {
		t.Errorf("a retired key opens: %v", err)
	}
	if plain, err := last.Open(again, "a/1"); err != nil || string(plain) != "secret" {
		t.Errorf("%q, %v", plain, err)
	}
	if !last.Vouched("trail", []byte("seal 1"), code) {
		t.Error("what a retired key vouched for is not known any more")
	}
	keys, err := Keys(path)
	if err != nil || len(keys) != 2 || !keys[0].Retired || !keys[1].Primary {
		t.Errorf("keys %+v, %v", keys, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// Whoever adds a sealed column adds it to what is sealed again, or a rotation would lose it.
func TestEverySealedColumnIsSealedAgain(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), testkit.MigratedURL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), `SELECT table_name::TEXT, column_name::TEXT FROM information_schema.columns
 WHERE table_schema = 'public' AND data_type = 'bytea' AND column_name LIKE '%sealed%' ORDER BY 1, 2`)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		found++
		sql := cmp.Or(resealing[table+"."+column], resealing[table])
		if !strings.Contains(sqlSealed, "'"+table+"'") || !strings.Contains(sqlSealed, "."+column+",") || !strings.Contains(string(sql), "SET "+column+" =") {
			t.Errorf("%s.%s is not sealed again by a rotation", table, column)
		}
	}
	if err := rows.Err(); err != nil || found != len(resealing)-1 { // the canary's column is called value
		t.Errorf("%d sealed columns, %d are sealed again, %v", found, len(resealing)-1, err)
	}
}
