package agent

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/secret"
)

const (
	tokenPrefix      = "kle_"
	credentialPrefix = "kla_"
	secretBytes      = 32 // nobody guesses it, so that a plain hash is enough to store
)

// CredentialTime is how long a credential is good for. The agent renews it at two thirds of that.
const CredentialTime = time.Hour

func newToken() string {
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(raw)
}

func hashToken(token string) []byte {
	body, ok := strings.CutPrefix(token, tokenPrefix)
	if !ok || len(body) != base64.RawURLEncoding.EncodedLen(secretBytes) {
		return nil
	}
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// newCredential names its agent, so that a backend finds what it knows of it without a search.
func newCredential(agent uuid.UUID) (credential string, hash [32]byte) {
	raw := make([]byte, len(agent)+secretBytes)
	copy(raw, agent[:])
	_, _ = rand.Read(raw[len(agent):])
	return credentialPrefix + base64.RawURLEncoding.EncodeToString(raw), sha256.Sum256(raw)
}

// ParseCredential reads a credential: whose it says that it is, and the hash that shows whether it is.
func ParseCredential(text string) (agent uuid.UUID, hash [32]byte, ok bool) {
	body, ok := strings.CutPrefix(text, credentialPrefix)
	if !ok || len(body) != base64.RawURLEncoding.EncodedLen(len(agent)+secretBytes) {
		return uuid.Nil, hash, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(body)
	if err != nil {
		return uuid.Nil, hash, false
	}
	copy(agent[:], raw)
	return agent, sha256.Sum256(raw), true
}

// challengeTime is how long a challenge may be answered.
const challengeTime = time.Minute

const challengePurpose = "agent challenge"

// NewChallenge makes a challenge for an agent. It is not stored: its code shows that a backend made it, and each agent's row
// keeps the time of the last one that was answered.
func NewChallenge(keys *secret.Keyset, agent uuid.UUID, now time.Time) string {
	raw := make([]byte, 24)
	binary.BigEndian.PutUint64(raw, uint64(now.UnixMicro()))
	_, _ = rand.Read(raw[8:])
	return base64.RawURLEncoding.EncodeToString(append(raw, keys.Vouch(challengePurpose, append(agent[:], raw...))...))
}

// challengeMade reads when a challenge was made for an agent.
func challengeMade(keys *secret.Keyset, agent uuid.UUID, challenge string, now time.Time) (time.Time, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(challenge)
	if err != nil || len(raw) != 24+sha256.Size || !keys.Vouched(challengePurpose, append(agent[:], raw[:24]...), raw[24:]) {
		return time.Time{}, false
	}
	made := time.UnixMicro(int64(binary.BigEndian.Uint64(raw)))
	age := now.Sub(made)
	return made, age < challengeTime && age > -challengeTime
}

func signed(key, text, signature []byte) bool {
	return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, text, signature)
}

var (
	machineID = regexp.MustCompile(`^[0-9a-f]{32}$`)
	bootID    = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	version   = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+~()_-]{0,63}$`)
)

// KnownForm tells whether a boot id and a version look like such.
func KnownForm(boot, running string) bool {
	return bootID.MatchString(boot) && version.MatchString(running)
}
