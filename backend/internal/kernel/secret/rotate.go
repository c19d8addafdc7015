package secret

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
)

// Key is one key of a keyset file. Its id is no secret.
type Key struct {
	ID      uint32
	Primary bool // seals; all that are not retired open
	Retired bool // opens nothing any more; codes that it made for the audit trail still count
}

// Errors of a rotation that is not at this step.
var (
	ErrNoNewKey = errors.New("the keyset has no key that is newer than the primary one; add one first")
	ErrNoOldKey = errors.New("the keyset has no key beside the primary one that is not retired")
)

// Keys lists the keys of a keyset file, oldest first.
func Keys(path string) ([]Key, error) {
	handle, err := read(path)
	if err != nil {
		return nil, err
	}
	return keysOf(handle), nil
}

func keysOf(handle *keyset.Handle) []Key {
	info := handle.KeysetInfo()
	keys := make([]Key, 0, len(info.GetKeyInfo()))
	for _, k := range info.GetKeyInfo() {
		keys = append(keys, Key{ID: k.GetKeyId(), Primary: k.GetKeyId() == info.GetPrimaryKeyId(), Retired: k.GetStatus().String() != "ENABLED"})
	}
	return keys
}

// AddKey adds a key that opens, and does not seal yet: every backend must have it before one of them seals with it.
func AddKey(path string) (id uint32, err error) {
	return id, change(path, func(m *keyset.Manager, _ []Key) (err error) {
		id, err = m.Add(aead.AES256GCMKeyTemplate())
		return err
	})
}

// Promote has the newest key seal. Those before it still open.
func Promote(path string) (id uint32, err error) {
	return id, change(path, func(m *keyset.Manager, keys []Key) error {
		newest := keys[len(keys)-1]
		if newest.Primary || newest.Retired {
			return ErrNoNewKey
		}
		id = newest.ID
		return m.SetPrimary(id)
	})
}

// Retire takes the older keys out of use. They stay in the file, because what they vouched for in the audit trail must still be
// known for ours.
func Retire(path string) (ids []uint32, err error) {
	return ids, change(path, func(m *keyset.Manager, keys []Key) error {
		for _, k := range keys {
			if k.Primary || k.Retired {
				continue
			}
			if err := m.Disable(k.ID); err != nil {
				return err
			}
			ids = append(ids, k.ID)
		}
		if len(ids) == 0 {
			return ErrNoOldKey
		}
		return nil
	})
}

// change replaces a keyset file in one step. It keeps the owner.
func change(path string, how func(*keyset.Manager, []Key) error) error {
	handle, err := read(path)
	if err != nil {
		return err
	}
	m := keyset.NewManagerFromHandle(handle)
	if err := how(m, keysOf(handle)); err != nil {
		return err
	}
	if handle, err = m.Handle(); err != nil {
		return fmt.Errorf("change the keyset: %w", err)
	}
	var text bytes.Buffer
	if err := insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&text)); err != nil {
		return fmt.Errorf("write the keyset: %w", err)
	}
	if err := replace(path, text.Bytes()); err != nil {
		return fmt.Errorf("write the keyset: %w", err)
	}
	return nil
}

func replace(path string, content []byte) (err error) {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".keyset-*") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	if _, err = f.Write(content); err == nil {
		err = f.Sync()
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); err == nil && ok && os.Geteuid() == 0 {
		err = f.Chown(int(owner.Uid), int(owner.Gid))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// tinkPrefix begins what a key of Tink sealed; its id follows.
const tinkPrefix = 1

// SealedBy tells which key sealed a value.
func SealedBy(sealed []byte) (id uint32, ok bool) {
	if len(sealed) < 5 || sealed[0] != tinkPrefix {
		return 0, false
	}
	return binary.BigEndian.Uint32(sealed[1:5]), true
}

// Primary is the id of the key that seals.
func (k *Keyset) Primary() uint32 { return k.primary }
