package secret_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"

	"kloigos/backend/internal/kernel/secret"
)

func setup(t *testing.T) (*secret.Keyset, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keyset.json")
	k, err := secret.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return k, path
}

func TestSealedForOneRowOnly(t *testing.T) {
	t.Parallel()
	k, path := setup(t)
	sealed, err := k.Seal([]byte("private"), "organization_keys/1")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte("private")) {
		t.Fatal("the sealed value holds the plain one")
	}
	again, err := secret.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := again.Open(sealed, "organization_keys/1"); err != nil || string(plain) != "private" {
		t.Errorf("opened %q, %v", plain, err)
	}
	if _, err := again.Open(sealed, "organization_keys/2"); !errors.Is(err, secret.ErrSealed) {
		t.Errorf("for another row: %v, want ErrSealed", err)
	}
	sealed[len(sealed)-1] ^= 1
	if _, err := again.Open(sealed, "organization_keys/1"); !errors.Is(err, secret.ErrSealed) {
		t.Errorf("when changed: %v, want ErrSealed", err)
	}
	other, _ := setup(t)
	sealed[len(sealed)-1] ^= 1
	if _, err := other.Open(sealed, "organization_keys/1"); !errors.Is(err, secret.ErrSealed) {
		t.Errorf("with another keyset: %v, want ErrSealed", err)
	}
}

// TestVouched: every process with the keyset file believes a code, for its message and its purpose only; a newer primary
// key does not end those of the one before.
func TestVouched(t *testing.T) {
	t.Parallel()
	k, path := setup(t)
	again, err := secret.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	code := k.Vouch("list", []byte("place"))
	short := code[:16]
	if len(code) != 32 || !again.Vouched("list", []byte("place"), code) || !again.Vouched("list", []byte("place"), short) {
		t.Error("a code of the same keyset is not believed")
	}
	other, _ := setup(t)
	changed := bytes.Clone(code)
	changed[0] ^= 1
	for name, believed := range map[string]bool{
		"another keyset": other.Vouched("list", []byte("place"), code), "another message": k.Vouched("list", []byte("places"), code),
		"another purpose": k.Vouched("lis", []byte("tplace"), code), "a changed code": k.Vouched("list", []byte("place"), changed),
		"too short a code": k.Vouched("list", []byte("place"), code[:15]), "no code": k.Vouched("list", []byte("place"), nil),
		"too long a code": k.Vouched("list", []byte("place"), append(bytes.Clone(code), 0)),
	} {
		if believed {
			t.Errorf("%s is believed", name)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	manager := keyset.NewManagerFromHandle(handle)
	id, err := manager.Add(aead.AES256GCMKeyTemplate())
	if err == nil {
		err = manager.SetPrimary(id)
	}
	if err == nil {
		handle, err = manager.Handle()
	}
	var rotated bytes.Buffer
	if err == nil {
		err = insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&rotated))
	}
	if err == nil {
		err = os.WriteFile(path, rotated.Bytes(), 0o600)
	}
	newer, loaded := secret.Load(path)
	if err != nil || loaded != nil {
		t.Fatal(err, loaded)
	}
	if !newer.Vouched("list", []byte("place"), code) || bytes.Equal(newer.Vouch("list", []byte("place")), code) {
		t.Error("a new primary key ends the codes of the old one, or is not used")
	}
}

func TestCreateKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	_, path := setup(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := secret.Create(path); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second Create: %v, want ErrExist", err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the keyset was changed (%v)", err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".keyset-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("temporary files are left: %v %v", left, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	_, path := setup(t)
	for name, c := range map[string]struct {
		change func(path string) error
		want   string
	}{
		"readable by others": {func(p string) error { return os.Chmod(p, 0o604) }, "mode 0604"},
		"by its group":       {func(p string) error { return os.Chmod(p, 0o640) }, "mode 0640"},
		"not a keyset":       {func(p string) error { return os.WriteFile(p, []byte(`{"key":"hunter2"}`), 0o600) }, "not a Tink keyset"},
		"missing":            {os.Remove, "no such file"},
		"a directory":        {func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) }, "is not a file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			mine := filepath.Join(t.TempDir(), "keyset.json")
			if err := os.WriteFile(mine, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := c.change(mine); err != nil {
				t.Fatal(err)
			}
			_, err = secret.Load(mine)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Load: %v, want %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error quotes the file: %v", err)
			}
		})
	}
}

func TestCanary(t *testing.T) {
	t.Parallel()
	k, _ := setup(t)
	other, _ := setup(t)
	canary, err := k.Canary()
	if err != nil {
		t.Fatal(err)
	}
	stored := func(value []byte) func(context.Context, string) ([]byte, error) {
		return func(_ context.Context, name string) ([]byte, error) {
			if name != secret.CanarySetting {
				t.Errorf("asked for %q", name)
			}
			return value, nil
		}
	}
	if err := k.CheckCanary(t.Context(), stored(canary)); err != nil {
		t.Errorf("the right keyset: %v", err)
	}
	if err := other.CheckCanary(t.Context(), stored(canary)); err == nil {
		t.Error("another keyset is taken for the right one")
	}
	if err := k.CheckCanary(t.Context(), stored(nil)); err == nil {
		t.Error("a database without a canary is taken for the right one")
	}
}
