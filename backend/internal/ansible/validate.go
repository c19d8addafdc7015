package ansible

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// ErrInvalidPlay is wrapped by every refusal of a play before anything was run.
var ErrInvalidPlay = errors.New("invalid play")

var (
	hostNamePattern    = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	dnsLabelPattern    = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$`)
	userPattern        = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]{0,31}$`)
	playbookPattern    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}\.ya?ml$`)
	playNamePattern    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
	incarnationPattern = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	runPattern         = regexp.MustCompile(`^[a-zA-Z0-9-]{1,64}$`)
)

// keyAlgorithms names, for a type of host key, the signature algorithms that prove it. A type that is not here is
// refused: DSA is broken, certificates would need an authority, and SHA-1 signatures of RSA keys are forgeable.
var keyAlgorithms = map[string][]string{
	ssh.KeyAlgoED25519:  {ssh.KeyAlgoED25519},
	ssh.KeyAlgoECDSA256: {ssh.KeyAlgoECDSA256},
	ssh.KeyAlgoECDSA384: {ssh.KeyAlgoECDSA384},
	ssh.KeyAlgoECDSA521: {ssh.KeyAlgoECDSA521},
	ssh.KeyAlgoRSA:      {ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256},
}

// Validate tells everything that is wrong with a play, at once. The error wraps [ErrInvalidPlay].
func (p *Play) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !playNamePattern.MatchString(p.Name) {
		bad("name %q", p.Name)
	}
	if !playbookPattern.MatchString(p.playbook()) {
		bad("playbook %q", p.Playbook)
	}
	if (p.Bundle == "") == (p.Unpack == nil) {
		bad("exactly one of Bundle and Unpack is needed")
	}
	if p.Bundle != "" && !filepath.IsAbs(p.Bundle) {
		bad("bundle %q is not an absolute path", p.Bundle)
	}
	if p.Verbosity < 0 || p.Verbosity > 3 {
		bad("verbosity %d", p.Verbosity)
	}
	if p.Timeout < 0 {
		bad("timeout %s", p.Timeout)
	}
	if len(p.Hosts) == 0 {
		bad("no hosts")
	}
	names := map[string]bool{}
	for i := range p.Hosts {
		h := &p.Hosts[i]
		if names[h.Name] {
			bad("host %q is there twice", h.Name)
		}
		names[h.Name] = true
		for _, err := range h.problems() {
			bad("host %q: %w", h.Name, err)
		}
	}
	if _, err := encodeVars(p.Vars); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 0 {
		return fmt.Errorf("%w: %w", ErrInvalidPlay, errors.Join(errs...))
	}
	return nil
}

func (p *Play) playbook() string {
	if p.Playbook == "" {
		return "playbook.yml"
	}
	return p.Playbook
}

func (h *Host) port() int {
	if h.Port == 0 {
		return 22
	}
	return h.Port
}

func (h *Host) problems() []error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch {
	case !hostNamePattern.MatchString(h.Name):
		bad("name")
	case h.Name == "all" || h.Name == "ungrouped" || h.Name == "localhost":
		bad("the name means something else to Ansible")
	}
	if !validAddress(h.Address) {
		bad("address %q", h.Address)
	}
	if h.port() < 1 || h.port() > 65535 {
		bad("port %d", h.Port)
	}
	if !userPattern.MatchString(h.User) {
		bad("user %q", h.User)
	}
	if _, err := ssh.ParsePrivateKey(h.PrivateKey); err != nil {
		// The parser's text could hold a part of the key.
		bad("private key is not a PEM key without a passphrase")
	}
	if len(h.HostKeys) == 0 {
		bad("no host key is known")
	}
	for _, line := range h.HostKeys {
		if _, err := parseHostKey(line); err != nil {
			errs = append(errs, err)
		}
	}
	if f := h.Fence; f != nil {
		if !incarnationPattern.MatchString(f.Incarnation) {
			bad("fence: incarnation %q", f.Incarnation)
		}
		if f.Number < 1 {
			bad("fence: number %d", f.Number)
		}
		if !runPattern.MatchString(f.Run) {
			bad("fence: run %q", f.Run)
		}
	}
	return errs
}

// parseHostKey takes only what is a bare key of a type that we accept: no options, no comment that would end up in a
// file of ours.
func parseHostKey(line string) (ssh.PublicKey, error) {
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil {
		return nil, errors.New("host key is not in the form of authorized_keys")
	}
	if len(options) > 0 || len(rest) > 0 {
		return nil, errors.New("host key has options or is more than one line")
	}
	if keyAlgorithms[key.Type()] == nil {
		return nil, fmt.Errorf("host key of type %s", key.Type())
	}
	return key, nil
}

// validAddress accepts an IP address without a zone, or a DNS name. Neither can begin with a dash or hold a template.
func validAddress(address string) bool {
	if ip, err := netip.ParseAddr(address); err == nil {
		return ip.Zone() == ""
	}
	if len(address) > 253 {
		return false
	}
	labels := strings.Split(address, ".")
	// A name of digits alone would be read as a strange form of an IP address (2130706433 is 127.0.0.1).
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" || strings.HasPrefix(strings.ToLower(last), "0x") {
		return false
	}
	return !slices.ContainsFunc(labels, func(l string) bool { return !dnsLabelPattern.MatchString(l) })
}
