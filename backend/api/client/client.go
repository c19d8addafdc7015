// Package client is the one typed client of the API: the web app, the command
// line and the tests use it.
//
// It owns the transport: bearer token, idempotency keys, retries that are safe,
// problems as *api.Problem errors, keyset paging as iterators, and the event
// stream of a job's log. It refuses redirects (a bearer token must not follow
// one) and holds no state beside its connections; a Client may be used by any
// number of goroutines.
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
)

// ErrUnreachable is in the chain of every error that is not an answer of the
// API: no connection, a broken one, no answer in time.
var ErrUnreachable = errors.New("the API can't be reached")

const (
	tries           = 3
	firstPause      = 100 * time.Millisecond
	longestPause    = 2 * time.Second
	defaultTimeout  = 30 * time.Second
	maxAnswer       = 64 << 20 // bytes of one JSON answer
	maxProblem      = 1 << 20
	contentTypeJSON = "application/json"
)

// Config says how to reach the API. Only BaseURL is required.
type Config struct {
	BaseURL   string        // https://kloigos.example, without /api/v1
	Token     string        // bearer token; none for logging in
	CA        []byte        // PEM; if given, these and no other authorities are trusted
	UserAgent string        // default: kloigos-client
	Timeout   time.Duration // of each try; default 30 s. Streams and downloads have none
	// Transport replaces the connections, CA included.
	Transport http.RoundTripper
}

// Client talks to the API of one installation.
type Client struct {
	base      *url.URL
	http      *http.Client
	token     string
	forwarded string
	workspace string
	agent     string
	timeout   time.Duration
	pause     func(context.Context, time.Duration) error
}

// New checks the configuration and makes a Client. Nothing is connected yet.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(cfg.BaseURL, "/"))
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") || base.User != nil || base.RawQuery != "" {
		return nil, fmt.Errorf("base URL of the API: %q is not an http or https URL of a server", cfg.BaseURL)
	}
	transport := cfg.Transport
	if transport == nil {
		if transport, err = newTransport(cfg.CA); err != nil {
			return nil, err
		}
	}
	c := &Client{
		base: base, token: cfg.Token, agent: cfg.UserAgent, timeout: cfg.Timeout, pause: pause,
		http: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if c.agent == "" {
		c.agent = "kloigos-client"
	}
	if c.timeout == 0 {
		c.timeout = defaultTimeout
	}
	return c, nil
}

func newTransport(ca []byte) (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // documented type
	t.Proxy = nil                                        // the token goes to the named server and nowhere else
	t.MaxIdleConnsPerHost = 64
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if len(ca) > 0 {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(ca) {
			return nil, errors.New("CA of the API: holds no certificate in PEM")
		}
		t.TLSClientConfig.RootCAs = pool
	}
	return t, nil
}

// WithToken returns a Client that shows another bearer token and shares the
// connections.
func (c *Client) WithToken(token string) *Client {
	other := *c
	other.token = token
	return &other
}

// WithWorkspace returns a Client whose requests are about this workspace: an id, or
// organization/project/workspace; "" leaves it to the server.
func (c *Client) WithWorkspace(workspace string) *Client {
	other := *c
	other.workspace = workspace
	return &other
}

// WithForwarded returns a Client that names, in the header Forwarded (RFC
// 7239), the address of the client that it speaks for.
func (c *Client) WithForwarded(address string) *Client {
	other := *c
	other.forwarded = ""
	if address != "" {
		if strings.Contains(address, ":") {
			address = "[" + strings.Trim(address, "[]") + "]"
		}
		other.forwarded = `for="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(address) + `"`
	}
	return &other
}

// CloseIdle closes the connections that are not in use.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// Option changes one request.
type Option func(*request)

// IfMatch makes a change conditional: it is refused with status 412 unless the
// object still has this version.
func IfMatch(version int64) Option {
	return func(r *request) { r.ifMatch = strconv.Quote(strconv.FormatInt(version, 10)) }
}

// IdempotencyKey names a POST, so that the same key sent again, by another
// process even, does nothing twice. By default each call has a key of its own,
// which its retries share.
func IdempotencyKey(key string) Option {
	return func(r *request) { r.key = key }
}

type request struct {
	method  string
	path    string // below api.Prefix, escaped
	query   url.Values
	body    any
	raw     []byte // instead of body, of type rawType
	rawType string
	key     string
	noKey   bool
	ifMatch string
	accept  string
	lastID  string // of an event stream
	stream  bool   // no timeout for the whole
}

// retryable tells whether a try that may or may not have reached the API can
// safely be made again. A conditional change can't: the second try would be
// refused as a conflict with the first.
func (r *request) retryable() bool {
	switch r.method {
	case http.MethodGet, http.MethodDelete:
		return true
	case http.MethodPost:
		return r.key != ""
	default:
		return r.ifMatch == ""
	}
}

// send carries out a request and decodes the object that is answered.
func send[T any](ctx context.Context, c *Client, r request, opts ...Option) (T, http.Header, error) {
	var out T
	resp, err := c.do(ctx, r, opts...)
	if err != nil {
		return out, nil, err
	}
	defer resp.Body.Close()
	defer drain(resp.Body)
	if resp.StatusCode == http.StatusNoContent {
		return out, resp.Header, nil
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&out); err != nil {
		return out, nil, fmt.Errorf("%s %s: read the answer: %w: %w", r.method, r.path, ErrUnreachable, err)
	}
	return out, resp.Header, nil
}

// do returns the first answer below 300, with its body open, or an error.
func (c *Client) do(ctx context.Context, r request, opts ...Option) (*http.Response, error) {
	for _, o := range opts {
		o(&r)
	}
	if r.method == http.MethodPost && r.key == "" && !r.noKey {
		r.key = uuid.NewString()
	}
	body := r.raw
	if r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
		}
	}
	var wait time.Duration
	for try := 1; ; try++ {
		resp, err := c.try(ctx, r, body)
		if err == nil && resp.StatusCode < http.StatusMultipleChoices {
			return resp, nil
		}
		again := r.retryable() && try < tries && ctx.Err() == nil
		if err == nil {
			again = again && (resp.StatusCode == http.StatusBadGateway || resp.StatusCode == http.StatusServiceUnavailable)
			wait = retryAfter(resp.Header)
			err = problemOf(resp)
			if p := (*api.Problem)(nil); try > 1 && r.method == http.MethodDelete && errors.As(err, &p) && p.Status == http.StatusNotFound {
				// An earlier try, whose answer was lost, did it.
				return &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Body: http.NoBody}, nil
			}
		} else {
			err = fmt.Errorf("%s %s: %w: %w", r.method, r.path, ErrUnreachable, err)
		}
		if !again {
			return nil, err
		}
		if e := c.pause(ctx, max(wait, backoff(try))); e != nil {
			return nil, err
		}
	}
}

func (c *Client) try(ctx context.Context, r request, body []byte) (*http.Response, error) {
	cancel := context.CancelFunc(func() {})
	if !r.stream {
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
	}
	u := c.base.String() + api.Prefix + r.path
	if len(r.query) > 0 {
		u += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, u, bytes.NewReader(body))
	if err != nil {
		cancel()
		return nil, err
	}
	c.header(req, r)
	resp, err := c.http.Do(req)
	if err != nil {
		cancel()
		var wrapped *url.Error
		if errors.As(err, &wrapped) { // its text repeats method and URL
			err = wrapped.Err
		}
		return nil, err
	}
	resp.Body = &timedBody{resp.Body, cancel}
	return resp, nil
}

func (c *Client) header(req *http.Request, r request) {
	accept := r.accept
	if accept == "" {
		accept = contentTypeJSON + ", application/problem+json"
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("User-Agent", c.agent)
	if r.body != nil {
		req.Header.Set("Content-Type", contentTypeJSON)
	} else if r.raw != nil {
		req.Header.Set("Content-Type", r.rawType)
	}
	for name, value := range map[string]string{
		"Forwarded": c.forwarded, api.WorkspaceHeader: c.workspace, "Idempotency-Key": r.key, "If-Match": r.ifMatch, "Last-Event-ID": r.lastID,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
}

// timedBody ends the try's timeout together with its body.
type timedBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *timedBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// drain reads what is left, so that the connection can be used again.
func drain(body io.Reader) {
	_, _ = io.Copy(io.Discard, io.LimitReader(body, maxProblem))
}

// problemOf reads the problem out of an answer that is not a success. An
// answer without one (a proxy's, say) becomes a problem with its status.
func problemOf(resp *http.Response) error {
	defer resp.Body.Close()
	defer drain(resp.Body)
	p := &api.Problem{}
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	if err := json.Unmarshal(raw, p); err != nil || p.Code == "" {
		p = &api.Problem{Code: "http_" + strconv.Itoa(resp.StatusCode), Title: http.StatusText(resp.StatusCode), Detail: p.Detail}
	}
	p.Status = resp.StatusCode
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
		p.RetryAfter = n
	}
	return p
}

func retryAfter(h http.Header) time.Duration {
	s, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || s < 0 {
		return 0
	}
	return min(time.Duration(s)*time.Second, longestPause)
}

// backoff grows with each try and is jittered, so that clients which lost the
// same backend do not come back at once.
func backoff(try int) time.Duration {
	d := min(firstPause<<(2*(min(try, 8)-1)), longestPause)
	return d/2 + rand.N(d/2+1)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
