package speaker

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// identity is what an agent is: the key that it made and the name that the backend gave it. It never leaves the host.
type identity struct {
	Agent string `json:"agent"`
	Seed  []byte `json:"seed"`
}

func (i identity) key() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(i.Seed) }

const (
	identityFile = "identity.json"
	tokenFile    = "token"
)

var errNoIdentity = errors.New("the agent is not enrolled and has no token: make one with kloigos agent token, and write it to the file token of the state folder")

func newSeed() []byte {
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // never fails (crypto/rand)
	return seed
}

func loadIdentity(state string) (identity, error) {
	content, err := os.ReadFile(filepath.Join(state, identityFile))
	if errors.Is(err, fs.ErrNotExist) {
		return identity{}, errNoIdentity
	}
	if err != nil {
		return identity{}, fmt.Errorf("read the key: %w", err)
	}
	var i identity
	if err := json.Unmarshal(content, &i); err != nil || len(i.Seed) != ed25519.SeedSize {
		return identity{}, fmt.Errorf("%s cannot be read; enrol the agent again", identityFile)
	}
	return i, nil
}

// save writes the identity so that a crash leaves the old one or the new one.
func (i identity) save(state string) error {
	content, err := json.Marshal(i)
	if err != nil {
		return err
	}
	path := filepath.Join(state, identityFile)
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write the key: %w", err)
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write the key: %w", err)
	}
	return os.Rename(path+".new", path)
}

func loadToken(state string) string {
	content, err := os.ReadFile(filepath.Join(state, tokenFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

func (i identity) sign(text []byte) []byte { return ed25519.Sign(i.key(), text) }

func (i identity) public() []byte { return i.key().Public().(ed25519.PublicKey) }
