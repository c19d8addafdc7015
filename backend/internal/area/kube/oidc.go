package kube

import (
	"net/url"
	"regexp"
	"strings"

	"kloigos/backend/internal/kernel/fault"
)

// OIDC is the provider that people log in to a cluster itself with. The zero value is none.
type OIDC struct {
	Issuer        string // https URL, as its tokens have it
	ClientID      string // that tokens are made for
	UsernameClaim string
	GroupsClaim   string // "" for no groups
}

// OIDCPrefix begins the names of users and groups of the provider. Without it a provider could name a user of Kloigos or a group of
// the cluster.
const OIDCPrefix = "oidc:"

var (
	oidcClient = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,199}$`)
	oidcClaim  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.:/-]{0,99}$`)
	oidcIssuer = regexp.MustCompile(`^https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?$`)
)

// checked adds all mistakes, and fills in what has a default.
func (o OIDC) checked(bad *fault.Invalid) OIDC {
	if o.Issuer == "" {
		if o.ClientID != "" || o.UsernameClaim != "" || o.GroupsClaim != "" {
			bad.Add("oidc_issuer", "Name the provider whose client and claims these are.")
		}
		return OIDC{}
	}
	if u, err := url.Parse(o.Issuer); err != nil || !oidcIssuer.MatchString(o.Issuer) || strings.Contains(u.Path, "//") || len(o.Issuer) > 500 {
		bad.Add("oidc_issuer", "Use the issuer's URL with https, as it stands in its tokens, without a login, a query or a fragment.")
	}
	if !oidcClient.MatchString(o.ClientID) {
		bad.Add("oidc_client_id", "Use the id of the client that tokens are made for: letters, digits and . _ : / @ -.")
	}
	if o.UsernameClaim == "" {
		o.UsernameClaim = "sub"
	}
	if !oidcClaim.MatchString(o.UsernameClaim) {
		bad.Add("oidc_username_claim", "Use the name of a claim, such as sub or email.")
	}
	if o.GroupsClaim != "" && !oidcClaim.MatchString(o.GroupsClaim) {
		bad.Add("oidc_groups_claim", "Use the name of a claim, such as groups.")
	}
	return o
}
