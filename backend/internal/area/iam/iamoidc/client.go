// Package iamoidc owns what is said to identity providers: discovery, the address that a browser is sent to, the exchange of a
// code, and the proof of an ID token. Whatever a provider answers is taken for hostile.
//
// It refuses to decide who somebody is here and what they may do: that is for package iam.
//
// Sources: OpenID Connect Core 1.0 and Discovery 1.0, RFC 6749, RFC 7636 (PKCE), RFC 9207 (issuer in the answer), RFC 9700.
package iamoidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/uuid"
	"golang.org/x/oauth2"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/kernel/egress"
)

const (
	knownFor    = 300 * time.Second // how old the provider's description and keys may be; a token of an unknown key reads the keys anew
	failedFor   = 5 * time.Second   // how long a failure is answered with before the provider is asked again
	patience    = 5 * time.Second   // of one request
	mostBytes   = 512 << 10         // of an answer, uncompressed
	mostHeaders = 16 << 10
	skew        = 60 * time.Second // between the clocks
	mostAtOnce  = 8                // logins of one provider that wait for it
	mostKnown   = 1000             // providers that are remembered
)

// Failed says for those who run the provider why a login failed because of it. Strangers are not told.
type Failed struct{ Why string }

func (f *Failed) Error() string { return "identity provider: " + f.Why }

func failed(format string, args ...any) error { return &Failed{shown(fmt.Sprintf(format, args...))} }

// ErrBusy says that too many logins of the provider wait for it.
var ErrBusy = errors.New("too many logins wait for the identity provider")

// shown is a text of a provider as people may read it.
func shown(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
	if runes := []rune(text); len(runes) > 300 {
		text = string(runes[:300]) + "…"
	}
	return text
}

// Client asks identity providers. Its zero value needs a rule.
type Client struct {
	Rule egress.Rule
	Now  func() time.Time // nil: time.Now

	mu    sync.Mutex
	known map[uuid.UUID]*known
}

// known is what was read of a provider, at a version of its settings.
type known struct {
	version int64
	slots   chan struct{}
	mu      sync.Mutex // held while the provider is asked
	until   time.Time
	is      *described
	failure error
}

// described is a provider as its discovery document describes it, with its keys.
type described struct {
	metadata
	provider *oidc.Provider
	keys     *keys
}

type metadata struct {
	Issuer      string   `json:"issuer"`
	Authorize   string   `json:"authorization_endpoint"`
	Token       string   `json:"token_endpoint"`
	UserInfo    string   `json:"userinfo_endpoint"`
	Keys        string   `json:"jwks_uri"`
	AuthMethods []string `json:"token_endpoint_auth_methods_supported"`
	TellsIssuer bool     `json:"authorization_response_iss_parameter_supported"`
}

func (c *Client) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

// remembered is what is remembered of a provider.
func (c *Client) remembered(p iam.Provider) *known {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.known[p.ID]
	if k != nil && k.version == p.Version {
		return k
	}
	if c.known == nil || len(c.known) >= mostKnown {
		c.known = map[uuid.UUID]*known{}
	}
	k = &known{version: p.Version, slots: make(chan struct{}, mostAtOnce)}
	c.known[p.ID] = k
	return k
}

// enter lets few logins wait for one provider, so that a slow one keeps nobody else waiting.
func (k *known) enter() (leave func(), err error) {
	select {
	case k.slots <- struct{}{}:
		return func() { <-k.slots }, nil
	default:
		return nil, ErrBusy
	}
}

// describe reads the provider's discovery document, if what is known of it is too old.
func (c *Client) describe(ctx context.Context, k *known, p iam.Provider) (*described, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := c.now()
	if now.Before(k.until) {
		return k.is, k.failure
	}
	is, err := c.discover(ctx, p)
	if errors.Is(ctx.Err(), context.Canceled) { // the client left: nothing is known of the provider
		return nil, err
	}
	k.is, k.failure, k.until = is, err, now.Add(knownFor)
	if err != nil {
		k.until = now.Add(failedFor)
	}
	return is, err
}

func (c *Client) discover(ctx context.Context, p iam.Provider) (*described, error) {
	where := strings.TrimSuffix(p.Issuer, "/") + "/.well-known/openid-configuration"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return nil, failed("The issuer %s is no URL.", p.Issuer)
	}
	asked := c.http()
	answer, err := asked.Do(request)
	if err != nil {
		return nil, failed("The discovery document could not be read: %s", asked.why(err))
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, failed("The discovery document at %s was answered with status %d.", where, answer.StatusCode)
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, failed("The discovery document could not be read: %s", asked.why(err))
	}
	var m metadata
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, failed("The discovery document is not what OpenID Connect Discovery describes.")
	}
	if m.Issuer != p.Issuer {
		return nil, failed("The discovery document names the issuer %q, not %q.", m.Issuer, p.Issuer)
	}
	for name, text := range map[string]string{"authorization_endpoint": m.Authorize, "token_endpoint": m.Token, "jwks_uri": m.Keys, "userinfo_endpoint": m.UserInfo} {
		if text == "" && name == "userinfo_endpoint" {
			continue
		}
		u, err := url.Parse(text)
		if err != nil || len(text) > 2000 {
			return nil, failed("The %s of the discovery document is no URL.", name)
		}
		if err := iam.CheckEndpoint(u, c.Rule); err != nil {
			return nil, failed("The %s of the discovery document is not used: %s", name, err)
		}
	}
	config := oidc.ProviderConfig{IssuerURL: m.Issuer, AuthURL: m.Authorize, TokenURL: m.Token, UserInfoURL: m.UserInfo, JWKSURL: m.Keys, Algorithms: algorithms()}
	// The keys are read when they are needed, by a request of its own.
	return &described{m, config.NewProvider(oidc.ClientContext(context.Background(), c.http().Client)), &keys{}}, nil
}

// algorithms sign with a private key that only the provider has. The others prove nothing: 'none', and those with the
// client's secret.
func algorithms() []string {
	return []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.EdDSA}
}

// requests are those of one login. They connect only to what the rule allows, follow no redirect, and read no more than is needed.
type requests struct {
	*http.Client
	mu    sync.Mutex
	ended error // what ended the last one that failed
}

func (c *Client) http() *requests {
	r := &requests{}
	r.Client = &http.Client{
		Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			r.note(errRedirect)
			return errRedirect
		},
		Transport: bounded{&http.Transport{ // no proxy: the address that is judged has to be the provider's
			DialContext: c.Rule.Dialer().DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: mostHeaders, TLSHandshakeTimeout: patience,
		}, r.note},
	}
	return r
}

func (r *requests) note(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = err
}

// why says in a sentence why a step of the login failed. The libraries keep of a request's error its text only, so what ended
// the request goes first.
func (r *requests) why(err error) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended != nil {
		err = r.ended
	}
	return why(err)
}

var (
	errRedirect = errors.New("redirect")
	errTooLarge = errors.New("too large")
)

// bounded ends an answer that is too large, and notes what ends a request.
type bounded struct {
	http.RoundTripper
	note func(error)
}

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	noted := func(err error) {
		if deadline, ok := r.Context().Deadline(); ok && !time.Now().Before(deadline) {
			err = context.DeadlineExceeded
		}
		b.note(err)
	}
	answer, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		noted(err)
		return answer, err
	}
	answer.Body = &body{answer.Body, mostBytes, noted}
	return answer, nil
}

type body struct {
	io.ReadCloser
	left  int
	noted func(error)
}

func (b *body) Read(into []byte) (int, error) {
	if b.left <= 0 {
		b.noted(errTooLarge)
		return 0, errTooLarge
	}
	if len(into) > b.left {
		into = into[:b.left]
	}
	n, err := b.ReadCloser.Read(into)
	b.left -= n
	if err != nil && !errors.Is(err, io.EOF) {
		b.noted(err)
	}
	return n, err
}

// why says in a sentence why a request failed.
func why(err error) string {
	var (
		refused egress.Refused
		name    *net.DNSError
		timeout net.Error
		answer  *oauth2.RetrieveError
	)
	switch {
	case errors.As(err, &refused):
		return refused.Error()
	case errors.Is(err, errRedirect):
		return "It was answered with a redirect, and redirects are not followed."
	case errors.Is(err, errTooLarge):
		return fmt.Sprintf("The answer is larger than %d bytes.", mostBytes)
	case errors.As(err, &answer):
		return fmt.Sprintf("The provider refused it with status %d (%s).", answer.Response.StatusCode, ErrorCode(answer.ErrorCode))
	case errors.As(err, &name):
		return "The name " + name.Name + " was not resolved."
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("There was no answer within %s.", patience)
	}
	return err.Error()
}

// ErrorCode is an error code of OAuth as a provider sent it, if it has the form of one.
func ErrorCode(text string) string {
	if text == "" || len(text) > 60 || strings.ContainsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' }) {
		return "an error without a known code"
	}
	return text
}
