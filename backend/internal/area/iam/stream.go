package iam

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/webhook"
)

// StreamNoun names streams of events in events, conditions and problems.
const StreamNoun = "event_stream"

// Types of a stream.
const (
	StreamWebhook = "webhook"
	StreamSyslog  = "syslog"
)

// syslogPort is that of syslog over TLS (RFC 5425).
const syslogPort = "6514"

const (
	maxStreams   = 10 // of an organization
	maxAuthority = 64 << 10
)

// Stream is where the sealed events of an organization, or of the installation, go.
type Stream struct {
	ID             uuid.UUID `db:"id"`
	OrganizationID uuid.UUID `db:"organization_id"` // zeros for the installation
	Name           string    `db:"name"`
	Type           string    `db:"type"`
	URL            string    `db:"url"`
	Server         string    `db:"server"`
	Authority      string    `db:"authority"`
	SecretSealed   []byte    `db:"secret_sealed"`
	Enabled        bool      `db:"enabled"`
	Version        int64     `db:"version"`
	CreatedAt      time.Time `db:"created_at"`
	UpdatedAt      time.Time `db:"updated_at"`

	// How far it is.
	Seal    int64      `db:"seal"`
	At      time.Time  `db:"at"`
	EventID uuid.UUID  `db:"event_id"`
	Sent    int64      `db:"sent"`
	SentAt  *time.Time `db:"sent_at"`
}

// Position is the last event that the receiver has.
func (s Stream) Position() audit.Position {
	return audit.Position{Seal: s.Seal, At: s.At, ID: s.EventID}
}

// OfInstallation tells whether it is the installation's.
func (s Stream) OfInstallation() bool { return s.OrganizationID == uuid.Nil }

// StreamDraft is a stream as somebody writes it. Fields of the other type stay empty.
type StreamDraft struct {
	Name, Type, URL, Server, Authority string
	Secret                             *string // nil keeps the one that is there; "" for no signature
	Enabled                            bool
}

// check returns the draft in canonical form, or a fault.Invalid with all mistakes. A webhook has to use https, but on this
// machine's loopback: events tell who did what.
func (d StreamDraft) check(rule egress.Rule) (StreamDraft, error) {
	var bad fault.Invalid
	bad.Check("name", checkName(d.Name))
	bad.Check("authority", checkAuthority(d.Authority))
	if d.Secret != nil && *d.Secret != "" {
		_, err := webhook.ParseSecret(*d.Secret)
		bad.Check("secret", err)
	}
	var err error
	switch d.Type {
	case StreamWebhook:
		d.URL, err = rule.CheckURL(d.URL)
		if err == nil && !private(d.URL) {
			err = sentence("Use https.")
		}
		bad.Check("url", err)
		if d.Server != "" {
			bad.Add("server", "A webhook has none.")
		}
	case StreamSyslog:
		d.Server, err = rule.CheckServer(d.Server, syslogPort)
		bad.Check("server", err)
		if d.URL != "" {
			bad.Add("url", "Syslog has none.")
		}
		if d.Secret != nil && *d.Secret != "" {
			bad.Add("secret", "Only what goes to a webhook is signed.")
		}
	default:
		bad.Add("type", "Use webhook or syslog.")
	}
	return d, bad.OrNil()
}

// private tells whether what is sent to a URL is encrypted, or stays on this machine. A name is no loopback, whatever it
// begins with.
func private(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "https" {
		return err == nil
	}
	address, err := netip.ParseAddr(u.Hostname())
	return err == nil && address.IsLoopback()
}

func checkAuthority(text string) error {
	if text == "" {
		return nil
	}
	block, rest := pem.Decode([]byte(text))
	for ; block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return sentence("Use certificates in PEM form only.")
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return sentence("One of the certificates can't be read.")
		}
		text = ""
	}
	if text != "" || len(strings.TrimSpace(string(rest))) > 0 {
		return sentence("Use certificates in PEM form.")
	}
	return nil
}

func (s Stream) draft() StreamDraft {
	return StreamDraft{Name: s.Name, Type: s.Type, URL: s.URL, Server: s.Server, Authority: s.Authority, Enabled: s.Enabled}
}

// facts are what an event tells of a stream.
func (s Stream) facts() map[string]any {
	return map[string]any{"name": s.Name, "type": s.Type, "url": s.URL, "server": s.Server, "enabled": s.Enabled, "signed": s.SecretSealed != nil}
}

// sealedForStream is what the secret of a stream is bound to.
func sealedForStream(id uuid.UUID) string { return "event_streams/" + id.String() }

// OpenSecret returns the secret that a stream signs with; nil if it has none.
func (s Stream) OpenSecret(keys *secret.Keyset) ([]byte, error) {
	if s.SecretSealed == nil {
		return nil, nil
	}
	plain, err := keys.Open(s.SecretSealed, sealedForStream(s.ID))
	if err != nil {
		return nil, fmt.Errorf("open the secret of event stream %s: %w", s.ID, err)
	}
	return plain, nil
}
