// Package secret owns the master key: a Tink keyset in a file, the same on
// every backend. It seals what must not stand in the database in the clear,
// each value bound to what it belongs to by associated data, so that a sealed
// value can't be moved to another row.
//
// It refuses a keyset file that others may read, and it prints no key.
package secret

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// ErrSealed says that a value can't be opened: by another keyset, for another
// row, or because it was changed.
var ErrSealed = errors.New("the value can't be opened with this keyset")

const maxKeysetFile = 64 << 10

// Keyset seals and opens values, and vouches for values that are no secret.
type Keyset struct {
	aead tink.AEAD
	// macs are keys that are derived from those of the keyset, the primary one's
	// first.
	macs    [][]byte
	primary uint32
}

// Fresh makes a keyset that only this process has.
func Fresh() (*Keyset, error) {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("make a keyset: %w", err)
	}
	return keysetOf(handle)
}

// Create makes a keyset file of mode 0600. One that is there already is left
// alone and is os.ErrExist.
func Create(path string) (*Keyset, error) {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("make a keyset: %w", err)
	}
	var text bytes.Buffer
	// In the clear, because there is nothing on the machine that could protect
	// it better than the file's mode (or systemd's credential store) does.
	if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&text)); err != nil {
		return nil, fmt.Errorf("write the keyset: %w", err)
	}
	if err := writeNew(path, text.Bytes()); err != nil {
		return nil, fmt.Errorf("write the keyset: %w", err)
	}
	return keysetOf(handle)
}

// writeNew makes the file whole or not at all: a half-written keyset would be
// taken for the real one by the next start.
func writeNew(path string, content []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".keyset-*") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	if _, err := f.Write(content); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Link(f.Name(), path) // unlike a rename, it fails if path is there
}

// Load reads a keyset file. One that its group or others can read or write is
// refused.
func Load(path string) (*Keyset, error) {
	handle, err := read(path)
	if err != nil {
		return nil, err
	}
	return keysetOf(handle)
}

func read(path string) (*keyset.Handle, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the keyset: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at the keyset: %w", err)
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("keyset %s is not a file", path)
	case !private(info):
		return nil, fmt.Errorf("keyset %s has mode %04o, so that others than its owner get at it; make it 0600", path, info.Mode().Perm())
	}
	content, err := io.ReadAll(io.LimitReader(f, maxKeysetFile))
	if err != nil {
		return nil, fmt.Errorf("read the keyset: %w", err)
	}
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(content)))
	if err != nil {
		return nil, fmt.Errorf("keyset %s is not a Tink keyset in JSON", path) // the cause may quote it
	}
	return handle, nil
}

// private tells whether only the owner gets at a file. systemd may give a
// credential to its service by an access list on a file of root's, which then
// shows as a right of root's own group.
func private(info os.FileInfo) bool {
	owner, _ := info.Sys().(*syscall.Stat_t)
	switch perm := info.Mode().Perm(); {
	case perm&0o077 == 0:
		return true
	case owner == nil || owner.Uid != 0 || owner.Gid != 0 || os.Geteuid() == 0:
		return false
	default:
		return perm&0o037 == 0
	}
}

func keysetOf(handle *keyset.Handle) (*Keyset, error) {
	a, err := aead.New(handle)
	if err != nil {
		return nil, errors.New("the keyset's keys are not for sealing (AEAD)")
	}
	return &Keyset{aead: a, macs: macKeys(handle), primary: handle.KeysetInfo().GetPrimaryKeyId()}, nil
}

// macKeys derives a key from each one of the keyset, so that every backend with
// the same keyset has the same ones, and those of an older primary key still
// count.
func macKeys(handle *keyset.Handle) (keys [][]byte) {
	material := insecurecleartextkeyset.KeysetMaterial(handle)
	for _, k := range material.GetKey() {
		h := hmac.New(sha256.New, k.GetKeyData().GetValue())
		h.Write([]byte("kloigos: keys for message authentication"))
		key := h.Sum(nil)
		if k.GetKeyId() == material.GetPrimaryKeyId() {
			keys = append([][]byte{key}, keys...)
		} else {
			keys = append(keys, key)
		}
	}
	return keys
}

// Vouch is a code (HMAC-SHA-256) that nobody without the keyset can compute for
// a message of this purpose.
func (k *Keyset) Vouch(purpose string, message []byte) []byte {
	return vouch(k.macs[0], purpose, message)
}

// Vouched tells whether the code begins as one of this keyset for the message
// does. A caller that shortens codes says by its length how far.
func (k *Keyset) Vouched(purpose string, message, code []byte) bool {
	for _, key := range k.macs {
		if own := vouch(key, purpose, message); len(code) >= minCode && len(code) <= len(own) && hmac.Equal(own[:len(code)], code) {
			return true
		}
	}
	return false
}

// minCode is the shortest code that is believed.
const minCode = 16

func vouch(key []byte, purpose string, message []byte) []byte {
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "%d:%s", len(purpose), purpose)
	h.Write(message)
	return h.Sum(nil)
}

// Seal encrypts a value that belongs to what associated names, such as
// "organization_keys/<id>".
func (k *Keyset) Seal(plain []byte, associated string) ([]byte, error) {
	sealed, err := k.aead.Encrypt(plain, []byte(associated))
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return sealed, nil
}

// Open decrypts a value that was sealed for what associated names.
func (k *Keyset) Open(sealed []byte, associated string) ([]byte, error) {
	plain, err := k.aead.Decrypt(sealed, []byte(associated))
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}

// CanarySetting is the name under which the sealed canary stands in settings.
const CanarySetting = "keyset_canary"

const canaryText = "kloigos"

// Canary seals a known value for the settings table.
func (k *Keyset) Canary() ([]byte, error) { return k.Seal([]byte(canaryText), CanarySetting) }

// CheckCanary tells whether this is the keyset that the database's values are
// sealed with; read returns the canary that is stored there.
func (k *Keyset) CheckCanary(ctx context.Context, read func(ctx context.Context, name string) ([]byte, error)) error {
	sealed, err := read(ctx, CanarySetting)
	if err != nil {
		return fmt.Errorf("read the keyset's canary: %w", err)
	}
	if sealed == nil {
		return errors.New("the database has no keyset canary; run init")
	}
	plain, err := k.Open(sealed, CanarySetting)
	if err != nil || string(plain) != canaryText {
		return errors.New("the database was made with another keyset")
	}
	return nil
}
