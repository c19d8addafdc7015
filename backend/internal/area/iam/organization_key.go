package iam

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/crypto/ssh"

	"kloigos/backend/internal/kernel/secret"
)

// NewOrganizationKey makes the key pair with which the hosts of an organization are reached: the public one as a line of
// authorized_keys, the private one as an OpenSSH PEM that is sealed for the organization.
func NewOrganizationKey(keys *secret.Keyset, organization uuid.UUID) (public string, sealed []byte, err error) {
	open, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", nil, fmt.Errorf("make the organization's key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, "kloigos")
	if err != nil {
		return "", nil, fmt.Errorf("write the organization's key: %w", err)
	}
	if sealed, err = keys.Seal(pem.EncodeToMemory(block), organization.String()); err != nil {
		return "", nil, fmt.Errorf("seal the organization's key: %w", err)
	}
	line, err := ssh.NewPublicKey(open)
	if err != nil {
		return "", nil, fmt.Errorf("write the organization's public key: %w", err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(line))) + " kloigos", sealed, nil
}
