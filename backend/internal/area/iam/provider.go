package iam

import (
	"fmt"
	"net/netip"
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

// ProviderNoun names identity providers in events and problems.
const ProviderNoun = "identity_provider"

// States of an identity provider.
const (
	ProviderEnabled  = "enabled"
	ProviderDisabled = "disabled"
)

// DefaultGroupsClaim is the claim with the groups of a person, where nobody says another.
const DefaultGroupsClaim = "groups"

// DefaultScopes are asked for besides openid, where nobody says others.
func DefaultScopes() []string { return []string{"profile", "email"} }

// Provider is an identity provider of OpenID Connect: of an organization, or of the installation.
type Provider struct {
	ID             uuid.UUID  `db:"id"`
	OrganizationID uuid.UUID  `db:"organization_id"` // zeros for the installation
	Name           string     `db:"name"`
	Issuer         string     `db:"issuer"`
	ClientID       string     `db:"client_id"`
	SecretSealed   []byte     `db:"secret_sealed"`
	Scopes         []string   `db:"scopes"`
	GroupsClaim    string     `db:"groups_claim"`
	State          string     `db:"state"`
	FailedAt       *time.Time `db:"failed_at"`
	Failure        string     `db:"failure"`
	Version        int64      `db:"version"`
	CreatedAt      time.Time  `db:"created_at"`
	UpdatedAt      time.Time  `db:"updated_at"`
}

// ProviderDraft is a provider as somebody writes it.
type ProviderDraft struct {
	Name, Issuer, ClientID string
	Secret                 *string // nil keeps the one that is there; "" for a client without
	Scopes                 []string
	GroupsClaim            string
	Enabled                bool
}

var (
	// RFC 6749, section 3.3, without what nobody uses in the name of a scope.
	oauthScope = regexp.MustCompile(`^[!#-\[\]-~]{1,100}$`)
	claimName  = regexp.MustCompile(`^[!-~]{1,200}$`)
	idOfClient = regexp.MustCompile(`^[ -~]{1,500}$`) // RFC 6749, appendix A.1
)

// check returns the draft in canonical form, or a fault.Invalid with all mistakes. rule judges addresses that are written as
// such; a name is judged when it is connected to.
func (d ProviderDraft) check(rule egress.Rule) (ProviderDraft, error) {
	var bad fault.Invalid
	bad.Check("name", checkName(d.Name))
	bad.Check("issuer", checkIssuer(d.Issuer, rule))
	if !idOfClient.MatchString(d.ClientID) {
		bad.Add("client_id", "Use the id that the provider gave to this installation: at most 500 ASCII characters.")
	}
	if d.Secret != nil && (len(*d.Secret) > 1000 || strings.ContainsFunc(*d.Secret, unicode.IsControl)) {
		bad.Add("client_secret", "Use at most 1000 bytes without control characters.")
	}
	d.Scopes = slices.Compact(slices.Sorted(slices.Values(d.Scopes)))
	d.Scopes = slices.DeleteFunc(d.Scopes, func(s string) bool { return s == "openid" })
	if len(d.Scopes) > 20 {
		bad.Add("scopes", "Give at most 20.")
	}
	for i, s := range d.Scopes {
		if !oauthScope.MatchString(s) || s == "offline_access" {
			bad.Add(fmt.Sprintf("scopes[%d]", i), "This is no scope that can be asked for.")
		}
	}
	if !claimName.MatchString(d.GroupsClaim) {
		bad.Add("groups_claim", "Use the name of a claim: at most 200 ASCII characters without spaces.")
	}
	return d, bad.OrNil()
}

// checkIssuer tells what is wrong with the URL of an issuer.
func checkIssuer(text string, rule egress.Rule) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Opaque != "" || len(text) > 500 || strings.ContainsFunc(text, unicode.IsControl) {
		return sentence("Use a URL such as https://login.example.org/realms/acme.")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery {
		return sentence("Use a URL without user, query and fragment.")
	}
	return CheckEndpoint(u, rule)
}

// CheckEndpoint tells why a URL of a provider is not used: only https is, but on this machine's loopback where the installation
// allows that.
func CheckEndpoint(u *url.URL, rule egress.Rule) error {
	address, err := netip.ParseAddr(u.Hostname())
	written := err == nil
	loopback := written && address.IsLoopback()
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback):
		return sentence("Use https.")
	case u.Hostname() == "" || u.User != nil:
		return sentence("Use a URL with a host, and without user and password.")
	case written:
		return rule.Check(address)
	}
	return nil
}

// draft is the provider as a draft that keeps its secret.
func (p Provider) draft() ProviderDraft {
	return ProviderDraft{
		Name: p.Name, Issuer: p.Issuer, ClientID: p.ClientID, Scopes: p.Scopes, GroupsClaim: p.GroupsClaim, Enabled: p.State == ProviderEnabled,
	}
}

// facts are what an event tells of a provider: not its secret.
func (p Provider) facts() map[string]any {
	return map[string]any{
		"name": p.Name, "issuer": p.Issuer, "client_id": p.ClientID, "has_secret": p.SecretSealed != nil, "scopes": p.Scopes, "groups_claim": p.GroupsClaim, "state": p.State,
	}
}

// source is what a grant that the provider gave says of where it comes from.
func (p Provider) source() string { return "idp:" + p.ID.String() }

// OfInstallation tells whether the provider is the installation's, and no organization's.
func (p Provider) OfInstallation() bool { return p.OrganizationID == uuid.Nil }

// sealedFor is what the secret of a provider's client is bound to.
func sealedFor(provider uuid.UUID) string { return "identity_providers/" + provider.String() }

// OpenSecret returns the secret of the client; "" if it has none.
func (p Provider) OpenSecret(keys *secret.Keyset) (string, error) {
	if p.SecretSealed == nil {
		return "", nil
	}
	plain, err := keys.Open(p.SecretSealed, sealedFor(p.ID))
	if err != nil {
		return "", fmt.Errorf("open the secret of identity provider %s: %w", p.ID, err)
	}
	return string(plain), nil
}
