package iamoidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"kloigos/backend/internal/area/iam"
)

// Settings are a provider with what only this installation knows.
type Settings struct {
	iam.Provider
	Secret      string // of the client; "" for a client without
	RedirectURI string
}

// Proof is what binds the answer of a provider to a login that was begun here. It is sealed while the browser is away.
type Proof struct {
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
}

// Answer is what the browser brought back.
type Answer struct {
	Code   string
	Issuer string // RFC 9207; "" if the provider told none
}

func (s Settings) oauth(is *described) oauth2.Config {
	style := oauth2.AuthStyleInHeader // the default of the specification
	if s.Secret == "" || len(is.AuthMethods) > 0 && !slices.Contains(is.AuthMethods, "client_secret_basic") {
		style = oauth2.AuthStyleInParams
	}
	return oauth2.Config{
		ClientID: s.ClientID, ClientSecret: s.Secret, RedirectURL: s.RedirectURI, Scopes: append([]string{oidc.ScopeOpenID}, s.Scopes...),
		Endpoint: oauth2.Endpoint{AuthURL: is.Authorize, TokenURL: is.Token, AuthStyle: style},
	}
}

// Begin returns the address that a browser is sent to, and what its answer is proved with.
func (c *Client) Begin(ctx context.Context, s Settings, state string) (string, Proof, error) {
	k := c.remembered(s.Provider)
	leave, err := k.enter()
	if err != nil {
		return "", Proof{}, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, patience+time.Second)
	defer cancel()
	is, err := c.describe(ctx, k, s.Provider)
	if err != nil {
		return "", Proof{}, err
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	proof := Proof{Nonce: base64.RawURLEncoding.EncodeToString(raw), Verifier: oauth2.GenerateVerifier()}
	config := s.oauth(is)
	return config.AuthCodeURL(state, oidc.Nonce(proof.Nonce), oauth2.S256ChallengeOption(proof.Verifier)), proof, nil
}

// Finish exchanges a code and proves who came back.
func (c *Client) Finish(ctx context.Context, s Settings, proof Proof, answer Answer) (iam.Claims, error) {
	k := c.remembered(s.Provider)
	leave, err := k.enter()
	if err != nil {
		return iam.Claims{}, err
	}
	defer leave()
	asked := c.http()
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, asked.Client), 3*patience)
	defer cancel()
	is, err := c.describe(ctx, k, s.Provider)
	if err != nil {
		return iam.Claims{}, err
	}
	if answer.Issuer != "" && answer.Issuer != s.Issuer || answer.Issuer == "" && is.TellsIssuer {
		return iam.Claims{}, failed("The answer came from the issuer %q, not from %q.", answer.Issuer, s.Issuer)
	}
	config := s.oauth(is)
	token, err := config.Exchange(ctx, answer.Code, oauth2.VerifierOption(proof.Verifier))
	if err != nil {
		return iam.Claims{}, failed("The code was not exchanged: %s", asked.why(err))
	}
	text, _ := token.Extra("id_token").(string)
	if text == "" {
		return iam.Claims{}, failed("The answer to the code has no ID token.")
	}
	claims, err := c.prove(ctx, asked, s, is, proof, token, text)
	if err != nil {
		return iam.Claims{}, err
	}
	return c.person(ctx, asked, s, is, token, claims)
}

// claims are those of an ID token, or of the answer about a person.
type claims map[string]json.RawMessage

func (all claims) text(name string) string {
	var text string
	_ = json.Unmarshal(all[name], &text)
	return text
}

// email is the person's mail address, if the same document says that it was verified. Some providers write that as a text.
func (all claims) email() string {
	var verified bool
	if json.Unmarshal(all["email_verified"], &verified) != nil {
		verified = all.text("email_verified") == "true"
	}
	if !verified {
		return ""
	}
	return all.text("email")
}

// strong are the values of acr that say that more than a password was asked for: of OpenID Connect EAP ACR Values, REFEDS and PAPE.
func strong() []string {
	return []string{"phr", "phrh", "https://refeds.org/profile/mfa", "http://schemas.openid.net/pape/policies/2007/06/multi-factor"}
}

// secondFactor tells whether the provider asked for more than a password: by amr (RFC 8176), or by acr. A claim of another form
// says nothing.
func (all claims) secondFactor() bool {
	var methods []string
	if json.Unmarshal(all["amr"], &methods) != nil {
		methods = nil
	}
	return slices.Contains(methods, "mfa") || slices.Contains(strong(), all.text("acr"))
}

// prove verifies an ID token: who signed it, for whom, when, and in answer to which login.
func (c *Client) prove(ctx context.Context, asked *requests, s Settings, is *described, proof Proof, token *oauth2.Token, text string) (claims, error) {
	verifier := oidc.NewVerifier(s.Issuer, keysOf{is.keys, asked.Client, is.Keys}, &oidc.Config{ClientID: s.ClientID, SupportedSigningAlgs: algorithms(), SkipExpiryCheck: true}) // the skew is ours
	id, err := verifier.Verify(ctx, text)
	if err != nil {
		return nil, failed("The ID token is not valid: %s", asked.why(err))
	}
	all := claims{}
	if err := id.Claims(&all); err != nil {
		return nil, failed("The ID token is not valid: its claims are no object.")
	}
	var notBefore float64
	_ = json.Unmarshal(all["nbf"], &notBefore)
	now, party := c.now(), all.text("azp")
	switch {
	case id.Expiry.IsZero() || now.After(id.Expiry.Add(skew)):
		return nil, failed("The ID token has expired at %s. Compare the clocks.", id.Expiry.UTC().Format(time.RFC3339))
	case id.IssuedAt.After(now.Add(skew)), notBefore > float64(now.Add(skew).Unix()):
		return nil, failed("The ID token is from the future. Compare the clocks.")
	case party != "" && party != s.ClientID, party == "" && len(id.Audience) > 1:
		return nil, failed("The ID token was issued to another client.")
	case subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(proof.Nonce)) != 1:
		return nil, failed("The ID token answers another login: its nonce is another.")
	case id.Subject == "" || len(id.Subject) > 255 || strings.ContainsFunc(id.Subject, unicode.IsControl):
		return nil, failed("The ID token has no subject that can be used.")
	}
	if id.AccessTokenHash != "" && id.VerifyAccessToken(token.AccessToken) != nil {
		return nil, failed("The access token is not the one that the ID token was issued with.")
	}
	return all, nil
}

// person reads who somebody is and in which groups: of the ID token, and of the provider's answer about the person where that
// tells more.
func (c *Client) person(ctx context.Context, asked *requests, s Settings, is *described, token *oauth2.Token, id claims) (iam.Claims, error) {
	out := iam.Claims{Issuer: s.Issuer, Subject: id.text("sub"), SecondFactor: id.secondFactor()}
	more, silent := claims{}, ""
	if _, told := id[s.GroupsClaim]; is.UserInfo != "" && (!told || id.text("preferred_username") == "" && id.email() == "") {
		info, err := is.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
		switch {
		case err != nil:
			silent = " The provider did not answer about the person either: " + shown(asked.why(err))
		case info.Subject != out.Subject:
			return iam.Claims{}, failed("The answer about the person is about somebody else.")
		default:
			if err := info.Claims(&more); err != nil {
				more = claims{}
			}
		}
	}
	for _, all := range []claims{id, more} {
		if out.Name == "" {
			out.Name = all.text("preferred_username")
		}
		if out.Email == "" {
			out.Email = all.email()
		}
	}
	raw, told := id[s.GroupsClaim]
	if !told {
		raw, told = more[s.GroupsClaim]
	}
	if !told {
		out.NoGroups = "The claim " + s.GroupsClaim + " is missing." + silent
		return out, nil
	}
	var err error
	if out.Groups, err = groupsOf(raw); err != nil {
		out.NoGroups = "The claim " + s.GroupsClaim + " is no list of names."
	}
	return out, nil
}

var errNoList = errors.New("no list of names")

// groupsOf reads the claim: a list of names, or one name. null says nothing, as a claim that is missing.
func groupsOf(raw json.RawMessage) ([]string, error) {
	var one *string
	if json.Unmarshal(raw, &one) == nil {
		if one == nil {
			return nil, errNoList
		}
		return []string{*one}, nil
	}
	var all []*string
	if json.Unmarshal(raw, &all) != nil {
		return nil, errNoList
	}
	groups := []string{}
	for _, g := range all {
		if g == nil {
			return nil, errNoList
		}
		if *g != "" && !strings.ContainsRune(*g, 0) { // no text of the database has a zero
			groups = append(groups, *g)
		}
	}
	return groups, nil
}

// RedirectURI is where a provider sends browsers back to: each has its own, so that the answer of one is never taken for that
// of another (RFC 9700, section 4.4). "" if the installation has no address for browsers.
func RedirectURI(web *url.URL, p iam.Provider) string {
	if web == nil {
		return ""
	}
	return web.JoinPath("login", p.ID.String(), "callback").String()
}
