package watch

import (
	"fmt"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/secret"
)

// Type is how a channel delivers.
type Type string

// Types of channels.
const (
	Webhook Type = "webhook"
	Email   Type = "email"
)

// Types are all types of channels.
func Types() []string { return []string{string(Webhook), string(Email)} }

// How a mail server is connected to.
const (
	TLS      = "tls"      // encrypted from the first byte
	STARTTLS = "starttls" // encrypted before anything is told, or not used
	Plain    = "none"
)

// TLSModes are all ways to connect to a mail server.
func TLSModes() []string { return []string{STARTTLS, TLS, Plain} }

// Bounds of a channel.
const (
	MaxSecrets    = 4 // of a webhook: one, and those that replace it
	MaxRecipients = 20
	MaxSubscribes = 50
)

var (
	channelName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)
	subscribe   = regexp.MustCompile(`^(\*|[a-z][a-z0-9_]{0,62}(/[a-z][a-z0-9_]{0,62})?)$`)
)

// Draft is a channel as a user writes it. Fields of the other type stay empty.
type Draft struct {
	Name       string
	Type       Type
	Enabled    bool
	Subscribes []string
	URL        string
	Server     string // of mail, with a port if it is not that of the mode
	TLS        string // "" for STARTTLS
	Username   string
	Password   string // "" in a change keeps the one that is there
	Sender     string
	Recipients []string
}

// check returns the draft in canonical form, or a fault.Invalid with all mistakes. rule judges addresses that are written as
// such; a name is judged when it is connected to.
func (d Draft) check(rule egress.Rule) (Draft, error) {
	var bad fault.Invalid
	if !channelName.MatchString(d.Name) {
		bad.Add("name", "Use lower-case letters, digits and -; begin with a letter; at most 63.")
	}
	if len(d.Subscribes) > MaxSubscribes {
		bad.Add("subscribes", "Give at most %d.", MaxSubscribes)
	}
	for i, text := range d.Subscribes {
		if !subscribe.MatchString(text) {
			bad.Add(fmt.Sprintf("subscribes[%d]", i), "Use a noun such as dns_zone, a noun with a condition such as dns_zone/synced, or * for all.")
		}
	}
	d.Subscribes = slices.Compact(slices.Sorted(slices.Values(d.Subscribes)))
	switch d.Type {
	case Webhook:
		var err error
		d.URL, err = rule.CheckURL(d.URL)
		bad.Check("url", err)
		for field, set := range map[string]bool{"server": d.Server != "", "tls": d.TLS != "", "username": d.Username != "", "password": d.Password != "", "sender": d.Sender != "", "recipients": len(d.Recipients) > 0} {
			if set {
				bad.Add(field, "A webhook has none.")
			}
		}
	case Email:
		if d.URL != "" {
			bad.Add("url", "Mail has none.")
		}
		d.checkMail(rule, &bad)
	default:
		bad.Add("type", "Use one of: %s.", strings.Join(Types(), ", "))
	}
	slices.SortFunc(bad.Fields, func(a, b fault.FieldError) int { return strings.Compare(a.Field, b.Field) })
	return d, bad.OrNil()
}

func (d *Draft) checkMail(rule egress.Rule, bad *fault.Invalid) {
	if d.TLS == "" {
		d.TLS = STARTTLS
	}
	if !slices.Contains(TLSModes(), d.TLS) {
		bad.Add("tls", "Use one of: %s.", strings.Join(TLSModes(), ", "))
	}
	var err error
	d.Server, err = rule.CheckServer(d.Server, map[string]string{TLS: "465", STARTTLS: "587"}[d.TLS])
	bad.Check("server", err)
	if d.TLS == Plain && d.Username != "" {
		bad.Add("username", "A password is not sent without encryption. Use tls or starttls.")
	}
	if strings.ContainsFunc(d.Username, unicode.IsControl) || len(d.Username) > 255 {
		bad.Add("username", "Use at most 255 bytes without control characters.")
	}
	if strings.ContainsAny(d.Password, "\x00\r\n") || len(d.Password) > 1024 {
		bad.Add("password", "Use at most 1024 bytes in one line.")
	}
	if d.Sender, err = checkMailbox(d.Sender); err != nil {
		bad.Check("sender", err)
	}
	if len(d.Recipients) == 0 || len(d.Recipients) > MaxRecipients {
		bad.Add("recipients", "Give from 1 to %d addresses.", MaxRecipients)
	}
	d.Recipients = slices.Clone(d.Recipients)
	for i, text := range d.Recipients {
		d.Recipients[i], err = checkMailbox(text)
		bad.Check(fmt.Sprintf("recipients[%d]", i), err)
	}
}

// refusal says in a sentence why a value is not accepted.
type refusal string

func (r refusal) Error() string { return string(r) }

// checkMailbox reads one address without a name, so that no text of a user becomes a header.
func checkMailbox(text string) (string, error) {
	if parsed, err := mail.ParseAddress(text); err == nil && parsed.Address == text && len(text) <= 254 && !strings.ContainsFunc(text, unicode.IsControl) {
		return text, nil
	}
	return "", refusal("Use one address such as ops@example.org, without a name.")
}

// Channel is one row of channels.
type Channel struct {
	ID             uuid.UUID `db:"id"`
	WorkspaceID    uuid.UUID `db:"workspace_id"`
	Name           string    `db:"name"`
	Type           Type      `db:"type"`
	Enabled        bool      `db:"enabled"`
	Subscribes     []string  `db:"subscribes"`
	URL            string    `db:"url"`
	Server         string    `db:"server"`
	TLS            string    `db:"tls"`
	Username       string    `db:"username"`
	PasswordSealed []byte    `db:"password_sealed"`
	Sender         string    `db:"sender"`
	Recipients     []string  `db:"recipients"`
	Version        int64     `db:"version"`
	CreatedAt      time.Time `db:"created_at"`
	UpdatedAt      time.Time `db:"updated_at"`
	Secrets        []Secret  `db:"secrets"` // oldest first
}

// Secret is one row of channel_secrets.
type Secret struct {
	ID        uuid.UUID `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	Sealed    []byte    `json:"-"`
}

// draft is the channel as a draft without its password.
func (c Channel) draft() Draft {
	return Draft{
		Name: c.Name, Type: c.Type, Enabled: c.Enabled, Subscribes: c.Subscribes, URL: c.URL, Server: c.Server, TLS: c.TLS,
		Username: c.Username, Sender: c.Sender, Recipients: c.Recipients,
	}
}

// facts are what an event tells of a channel: no secrets. The path of a URL may be one.
func (c Channel) facts() map[string]any {
	facts := map[string]any{"name": c.Name, "type": c.Type, "enabled": c.Enabled, "subscribes": c.Subscribes}
	if c.Type == Webhook {
		facts["receiver"], facts["secrets"] = origin(c.URL), len(c.Secrets)
		return facts
	}
	facts["server"], facts["tls"], facts["username"], facts["sender"], facts["recipients"] = c.Server, c.TLS, c.Username, c.Sender, c.Recipients
	return facts
}

func origin(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// What a secret is bound to, so that it cannot be moved to another row.
func passwordOf(channel uuid.UUID) string { return "channels/" + channel.String() }
func secretOf(id uuid.UUID) string        { return "channel_secrets/" + id.String() }

// OpenPassword returns the password for the mail server; "" if there is none.
func (c Channel) OpenPassword(keys *secret.Keyset) (string, error) {
	if c.PasswordSealed == nil {
		return "", nil
	}
	plain, err := keys.Open(c.PasswordSealed, passwordOf(c.ID))
	if err != nil {
		return "", fmt.Errorf("open the password of channel %s: %w", c.ID, err)
	}
	return string(plain), nil
}

// Wants tells whether the channel subscribes to a condition.
func (c Channel) Wants(noun, condition string) bool {
	return slices.ContainsFunc(c.Subscribes, func(s string) bool { return s == "*" || s == noun || s == noun+"/"+condition })
}
