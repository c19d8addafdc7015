// Package kubeapi speaks to the API server of a cluster with the few requests that Kloigos needs, in JSON over HTTP. It pins
// the authority of the cluster, follows no redirects, and takes answers of a bounded size only.
//
// It refuses decisions: what should be in a cluster is for its callers.
//
// Source: the API reference of Kubernetes 1.36 (core/v1, certificates.k8s.io/v1, rbac.authorization.k8s.io/v1).
package kubeapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

const (
	// maxAnswer bounds what an API server may answer: 5,000 nodes fit.
	maxAnswer = 64 << 20
	// callTimeout bounds one request.
	callTimeout = 15 * time.Second
	// dialTimeout bounds a connection.
	dialTimeout = 5 * time.Second
)

// Config says how a cluster is reached.
type Config struct {
	Endpoint    string // host:port
	CA          []byte // PEM; the only authority that counts
	Certificate []byte // PEM; nil for an anonymous client
	Key         []byte // PEM
	// Check judges the address that a connection goes to; nil allows all.
	Check func(netip.Addr) error
}

// Client speaks to one API server.
type Client struct {
	endpoint string
	http     *http.Client
}

// New makes a client. It connects to nothing yet.
func New(c Config) (*Client, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(c.CA) {
		return nil, errors.New("the cluster has no readable authority")
	}
	config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if c.Certificate != nil {
		pair, err := tls.X509KeyPair(c.Certificate, c.Key)
		if err != nil {
			return nil, fmt.Errorf("read the client certificate of a cluster: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	dialer := &net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || c.Check == nil {
			return err
		}
		return c.Check(at.Addr().Unmap())
	}}
	transport := &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: config, ForceAttemptHTTP2: true, TLSHandshakeTimeout: dialTimeout, MaxIdleConns: 2, IdleConnTimeout: 30 * time.Second}
	return &Client{endpoint: c.Endpoint, http: &http.Client{
		Transport: transport, Timeout: callTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Over makes a client that speaks through a client of HTTP which somebody else bounds and secures.
func Over(endpoint string, client *http.Client) *Client {
	return &Client{endpoint: endpoint, http: client}
}

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Error is an answer of the API server that is no success.
type Error struct {
	Status  int    // of HTTP
	Reason  string // such as AlreadyExists
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("the API server answered %d %s: %s", e.Status, e.Reason, e.Message)
}

// Is tells whether an error is an answer with a status.
func Is(err error, status int) bool {
	var answer *Error
	return errors.As(err, &answer) && answer.Status == status
}

// Heals tells whether the same request may succeed later with nothing changed: no answer, too many requests, or a fault of
// the server.
func Heals(err error) bool {
	var answer *Error
	if !errors.As(err, &answer) {
		return true
	}
	return answer.Status == http.StatusTooManyRequests || answer.Status >= http.StatusInternalServerError
}

// call sends one request; in and out may be nil.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, in, out any) error {
	kind := "application/json"
	if method == http.MethodPatch {
		kind = "application/merge-patch+json"
	}
	return c.send(ctx, method, kind, path, query, in, out)
}

// send is call with a type of what it sends.
func (c *Client) send(ctx context.Context, method, kind, path string, query url.Values, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("write a request to the API server: %w", err)
		}
		body = bytes.NewReader(text)
	}
	target := url.URL{Scheme: "https", Host: c.endpoint, Path: path, RawQuery: query.Encode()}
	request, err := http.NewRequestWithContext(ctx, method, target.String(), body)
	if err != nil {
		return fmt.Errorf("ask the API server: %w", err)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "kloigos")
	if in != nil {
		request.Header.Set("Content-Type", kind)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("ask the API server: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return fmt.Errorf("read the answer of the API server: %w", err)
	}
	if len(text) > maxAnswer {
		return fmt.Errorf("the answer of the API server has more than %d bytes", maxAnswer)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return refusal(answer.StatusCode, text)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("read the answer of the API server: %w", err)
	}
	return nil
}

// patch merges a change into an object.
func (c *Client) patch(ctx context.Context, path string, change any) error {
	return c.call(ctx, http.MethodPatch, path, nil, change, nil)
}

// maxMessage bounds what is shown of an answer.
const maxMessage = 300

func refusal(status int, text []byte) error {
	var said struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
	}
	if json.Unmarshal(text, &said) != nil {
		said.Message = http.StatusText(status)
	}
	return &Error{Status: status, Reason: clean(said.Reason), Message: clean(said.Message)}
}

// Clean keeps what can be shown of a text from outside.
func Clean(text string) string { return clean(text) }

func clean(text string) string {
	out := make([]rune, 0, min(len(text), maxMessage))
	for _, r := range text {
		if len(out) == maxMessage {
			return string(out) + "…"
		}
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xfffd {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}

// Ready asks whether the API server is ready for us. One that has just started refuses everybody until it has read who may do what:
// that is no answer yet, and heals.
func (c *Client) Ready(ctx context.Context) error {
	err := c.call(ctx, http.MethodGet, "/readyz", nil, nil, nil)
	if Is(err, http.StatusForbidden) {
		return errors.New("it does not let us in (yet): " + err.Error()) // not wrapped: its status would say that it is final
	}
	return err
}

// meta is the metadata of an object.
type meta struct {
	Name            string            `json:"name"`
	Namespace       string            `json:"namespace,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
	ResourceVersion string            `json:"resourceVersion,omitempty"`
}

// Node is what a cluster says of one of its nodes.
type Node struct {
	Name    string
	Ready   bool
	Why     string // it is not ready
	Version string // of its kubelet

	ControlPlane bool // it has the label of control planes
	Cordoned     bool // new pods are kept off it
}

// controlPlaneLabel is what kubeadm gives to control planes at the end of a join.
const controlPlaneLabel = "node-role.kubernetes.io/control-plane"

// Nodes lists the nodes of a cluster.
func (c *Client) Nodes(ctx context.Context) ([]Node, error) {
	var found struct {
		Items []struct {
			Metadata meta `json:"metadata"`
			Spec     struct {
				Unschedulable bool `json:"unschedulable"`
			} `json:"spec"`
			Status struct {
				Conditions []struct {
					Type    string `json:"type"`
					Status  string `json:"status"`
					Reason  string `json:"reason"`
					Message string `json:"message"`
				} `json:"conditions"`
				NodeInfo struct {
					KubeletVersion string `json:"kubeletVersion"`
				} `json:"nodeInfo"`
			} `json:"status"`
		} `json:"items"`
	}
	if err := c.call(ctx, http.MethodGet, "/api/v1/nodes", nil, nil, &found); err != nil {
		return nil, fmt.Errorf("list the nodes: %w", err)
	}
	nodes := make([]Node, len(found.Items))
	for i, item := range found.Items {
		nodes[i] = Node{Name: clean(item.Metadata.Name), Version: clean(item.Status.NodeInfo.KubeletVersion), Why: "Its kubelet has not said anything yet."}
		nodes[i].Cordoned = item.Spec.Unschedulable
		_, nodes[i].ControlPlane = item.Metadata.Labels[controlPlaneLabel]
		for _, condition := range item.Status.Conditions {
			if condition.Type == "Ready" {
				nodes[i].Ready = condition.Status == "True"
				nodes[i].Why = clean(condition.Reason + ": " + condition.Message)
			}
		}
		if nodes[i].Ready {
			nodes[i].Why = ""
		}
	}
	return nodes, nil
}

const tokensPath = "/api/v1/namespaces/kube-system/secrets"

// tokenName is the name of the secret that stands for a bootstrap token.
func tokenName(id string) string { return "bootstrap-token-" + id }

// CreateToken makes a token that one node can join with until it ends. id has 6, secret 16 of [a-z0-9].
func (c *Client) CreateToken(ctx context.Context, id, secret string, ends time.Time) error {
	err := c.call(ctx, http.MethodPost, tokensPath, nil, map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token",
		"metadata": meta{Name: tokenName(id), Namespace: "kube-system"},
		"stringData": map[string]string{
			"token-id": id, "token-secret": secret, "expiration": ends.UTC().Format(time.RFC3339), "description": "made by Kloigos for one node",
			"usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true", "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
		},
	}, nil)
	if err != nil {
		return fmt.Errorf("make a token: %w", err)
	}
	return nil
}

// DeleteToken deletes a token by its id. One that is gone is deleted.
func (c *Client) DeleteToken(ctx context.Context, id string) error {
	err := c.call(ctx, http.MethodDelete, tokensPath+"/"+tokenName(id), nil, nil, nil)
	if err != nil && !Is(err, http.StatusNotFound) {
		return fmt.Errorf("delete a token: %w", err)
	}
	return nil
}
