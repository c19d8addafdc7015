package testhost

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
)

// keyPair is an Ed25519 key in OpenSSH's formats.
type keyPair struct {
	private []byte // PEM
	public  string // "ssh-ed25519 AAAA...", no comment, no newline
	signer  ssh.Signer
}

// ensureKey loads the key pair of a file, making it first if it is not there.
// The public part lies beside it with the suffix .pub, as OpenSSH has it.
func ensureKey(name, comment string) (keyPair, error) {
	if pair, err := loadKey(name); !errors.Is(err, os.ErrNotExist) {
		return pair, err
	}
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return keyPair{}, fmt.Errorf("make a key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, comment)
	if err != nil {
		return keyPair{}, fmt.Errorf("encode a key: %w", err)
	}
	public, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		return keyPair{}, fmt.Errorf("encode a key: %w", err)
	}
	line := authorizedLine(public) + " " + comment + "\n"
	if err := os.WriteFile(name+".pub", []byte(line), 0o644); err != nil {
		return keyPair{}, fmt.Errorf("write a public key: %w", err)
	}
	if err := writeFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
		return keyPair{}, fmt.Errorf("write a key: %w", err)
	}
	return loadKey(name)
}

func loadKey(name string) (keyPair, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return keyPair{}, fmt.Errorf("read a key: %w", err)
	}
	signer, err := ssh.ParsePrivateKey(content)
	if err != nil {
		return keyPair{}, fmt.Errorf("decode the key %s: %w", filepath.Base(name), err)
	}
	return keyPair{private: content, public: authorizedLine(signer.PublicKey()), signer: signer}, nil
}

func authorizedLine(key ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}
