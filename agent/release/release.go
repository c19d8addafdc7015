// Package release owns what a build of the agent is: a signed manifest {version, architecture, lowest version before, expiry,
// SHA-256, size}. It refuses a build that a pinned key did not sign, and one that is not what its manifest says.
//
// No backend has a release key. Whoever holds one can make any host run a program, so it is kept apart.
package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"aead.dev/minisign"
)

// Program is what every manifest names, so that a signature of something else is worth nothing here.
const Program = "kloigos-agent"

// Limits of what is read.
const (
	MaxManifest  = 4 << 10
	MaxSignature = 1 << 10
	MaxSize      = 64 << 20 // of a build, bytes
	maxKeys      = 4
)

// Manifest is what a release key signs.
type Manifest struct {
	Program      string    `json:"program"`
	Version      string    `json:"version"`
	Arch         string    `json:"arch"`          // as Go names it
	LowestBefore string    `json:"lowest_before"` // a host that runs less takes another version first
	Expires      time.Time `json:"expires"`       // not installed afterwards
	Size         int64     `json:"size"`          // bytes
	SHA256       string    `json:"sha256"`        // hexadecimal
}

// Version is a name that is safe as a name of a folder.
var validVersion = regexp.MustCompile(`^v?[0-9]{1,6}(\.[0-9]{1,6}){1,3}([-+~][0-9A-Za-z][0-9A-Za-z.-]{0,30})?$`)

// ValidVersion tells whether a text is the version of a release.
func ValidVersion(text string) bool { return len(text) <= 64 && validVersion.MatchString(text) }

// Compare orders versions by their numbers. One with a suffix behind - or ~ comes before the same one without. Whatever is no version
// of a release comes before all of them.
func Compare(a, b string) int {
	x, y := numbers(a), numbers(b)
	for i := range x {
		if x[i] != y[i] {
			if x[i] < y[i] {
				return -1
			}
			return 1
		}
	}
	return strings.Compare(order(a), order(b))
}

func split(text string) (plain, suffix string) {
	i := strings.IndexAny(text, "-+~")
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i:]
}

func numbers(text string) (n [4]int) {
	if !ValidVersion(text) {
		return [4]int{-1, -1, -1, -1}
	}
	plain, _ := split(strings.TrimPrefix(text, "v"))
	for i, part := range strings.Split(plain, ".") {
		n[i], _ = strconv.Atoi(part)
	}
	return n
}

// order is a suffix as it sorts: "-" and "~" before none, none before "+".
func order(text string) string {
	if !ValidVersion(text) {
		return ""
	}
	_, suffix := split(text)
	switch {
	case suffix == "":
		return "b"
	case suffix[0] == '+':
		return "c" + suffix
	}
	return "a" + suffix[1:]
}

// Parse reads a manifest without looking at its signature.
func Parse(text []byte) (Manifest, error) {
	var m Manifest
	if len(text) > MaxManifest {
		return m, errors.New("the manifest is too large")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("the manifest can't be read: %w", err)
	}
	sum, err := hex.DecodeString(m.SHA256)
	switch {
	case m.Program != Program:
		return m, fmt.Errorf("the manifest is of %q", m.Program)
	case !ValidVersion(m.Version), m.LowestBefore != "" && !ValidVersion(m.LowestBefore):
		return m, errors.New("the manifest has a version of another form")
	case m.Arch != "amd64" && m.Arch != "arm64":
		return m, fmt.Errorf("the manifest is for %q", m.Arch)
	case err != nil || len(sum) != sha256.Size:
		return m, errors.New("the manifest has no SHA-256")
	case m.Size < 1 || m.Size > MaxSize:
		return m, errors.New("the manifest has a size out of bounds")
	case m.Expires.IsZero():
		return m, errors.New("the manifest never expires")
	}
	return m, nil
}

// Keys are the public keys that builds may be signed with: two of them, so that one can be replaced.
type Keys []minisign.PublicKey

// LoadKeys reads a file with a public key a line. Lines that begin with # or with minisign's own comment are passed over.
func LoadKeys(file string) (Keys, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the release keys: %w", err)
	}
	var keys Keys
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "untrusted comment:") {
			continue
		}
		var key minisign.PublicKey
		if err := key.UnmarshalText([]byte(line)); err != nil {
			return nil, fmt.Errorf("%s holds a line that is no public key of minisign", file)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 || len(keys) > maxKeys {
		return nil, fmt.Errorf("%s holds %d keys; it needs 1 to %d", file, len(keys), maxKeys)
	}
	return keys, nil
}

// Verify returns the manifest, if one of the keys signed it.
func (k Keys) Verify(text, signature []byte) (Manifest, error) {
	if len(text) > MaxManifest || len(signature) > MaxSignature {
		return Manifest{}, errors.New("the manifest is too large")
	}
	for _, key := range k {
		if minisign.Verify(key, text, signature) {
			return Parse(text)
		}
	}
	return Manifest{}, errors.New("no release key that this host knows has signed the build")
}

// Copy copies a build and returns an error unless it is the one of the manifest.
func (m Manifest) Copy(to io.Writer, from io.Reader) error {
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, sum), io.LimitReader(from, m.Size+1))
	switch {
	case err != nil:
		return fmt.Errorf("copy the build: %w", err)
	case n != m.Size:
		return fmt.Errorf("the build does not have the %d bytes of its manifest", m.Size)
	case hex.EncodeToString(sum.Sum(nil)) != strings.ToLower(m.SHA256):
		return errors.New("the build is not the one of its manifest")
	}
	return nil
}

// Fits tells why a host that runs a version may not install the build; nil if it may.
func (m Manifest) Fits(running, arch string, now time.Time) error {
	switch {
	case m.Arch != arch:
		return fmt.Errorf("the build is for %s, and the host is %s", m.Arch, arch)
	case Compare(m.Version, running) <= 0:
		return fmt.Errorf("the build %s is no newer than %s", m.Version, running)
	case m.LowestBefore != "" && ValidVersion(running) && Compare(running, m.LowestBefore) < 0:
		return fmt.Errorf("the build needs version %s first, and %s runs", m.LowestBefore, running)
	case now.After(m.Expires):
		return fmt.Errorf("the build expired on %s", m.Expires.Format(time.DateOnly))
	}
	return nil
}

// Sign makes the manifest of a build and signs it.
func Sign(key minisign.PrivateKey, m Manifest, build io.Reader) (text, signature []byte, err error) {
	sum := sha256.New()
	if m.Size, err = io.Copy(sum, build); err != nil {
		return nil, nil, fmt.Errorf("read the build: %w", err)
	}
	m.Program, m.SHA256, m.Expires = Program, hex.EncodeToString(sum.Sum(nil)), m.Expires.UTC().Truncate(time.Second)
	if text, err = json.MarshalIndent(m, "", "  "); err != nil {
		return nil, nil, err
	}
	text = append(text, '\n')
	if _, err := Parse(text); err != nil {
		return nil, nil, err
	}
	return text, minisign.SignWithComments(key, text, fmt.Sprintf("%s %s %s", Program, m.Version, m.Arch), "signature of a build of "+Program), nil
}
