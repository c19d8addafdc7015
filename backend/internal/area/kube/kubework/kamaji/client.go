// Package kamaji speaks to management clusters, in which Kamaji runs control planes of other clusters: it makes, looks at and
// deletes TenantControlPlanes, and reads the access that Kamaji made for one.
//
// It goes through the dynamic client of client-go, because server-side apply has rules of its own: who owns which field, and
// what a conflict is. The few plain requests to clusters themselves stay with kubeapi. All connections go through a dialer of
// kernel/egress; client-go gets no kubeconfig, so that none of its programs, files and proxies can be named by one. What a
// management cluster answers is bounded, and cut before anybody sees it.
//
// It refuses decisions and rows: those are for its callers.
//
// Sources: the types of Kamaji v1.0.0 (kamaji.clastix.io/v1alpha1), and the documentation of server-side apply.
package kamaji

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
	"kloigos/backend/internal/kernel/egress"
)

const (
	// maxAnswer bounds what an API server may answer: a few hundred objects fit.
	maxAnswer = 16 << 20
	// callTimeout bounds one request with its repetitions.
	callTimeout = 20 * time.Second
	dialTimeout = 5 * time.Second
	// manager owns the fields that we apply.
	manager = "kloigos"
)

// What we put on everything that we make, and adopt by.
const (
	managedBy    = "app.kubernetes.io/managed-by"
	ours         = "kloigos"
	clusterLabel = "kloigos.io/cluster"
)

var (
	group      = schema.GroupVersion{Group: "kamaji.clastix.io", Version: "v1alpha1"}
	planes     = group.WithResource("tenantcontrolplanes")
	dataStores = group.WithResource("datastores")
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	secrets    = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	replicas   = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
)

// Client speaks to one management cluster.
type Client struct {
	dynamic dynamic.Interface
	plain   *kubeapi.Client
	http    *http.Client
}

// New makes a client. It connects to nothing yet.
func New(reach kube.Reach, rule egress.Rule) (*Client, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(reach.CA) {
		return nil, errors.New("the management cluster has no readable authority")
	}
	config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if len(reach.Certificate) > 0 {
		pair, err := tls.X509KeyPair(reach.Certificate, reach.Key)
		if err != nil {
			return nil, errors.New("the client certificate of the management cluster can't be read")
		}
		config.Certificates = []tls.Certificate{pair}
	}
	dialer := rule.Dialer()
	dialer.Timeout = dialTimeout
	transport := &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: config, ForceAttemptHTTP2: true, TLSHandshakeTimeout: dialTimeout, MaxIdleConns: 2, IdleConnTimeout: 30 * time.Second,
	}
	client := &http.Client{
		Transport: bounded{transport, reach.Token}, Timeout: callTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	d, err := dynamic.NewForConfigAndClient(&rest.Config{
		Host: "https://" + reach.Server, UserAgent: "kloigos", WarningHandler: rest.NoWarnings{}, QPS: 20, Burst: 40,
	}, client)
	if err != nil {
		return nil, fmt.Errorf("make a client of a management cluster: %w", err)
	}
	return &Client{dynamic: d, plain: kubeapi.Over(reach.Server, client), http: client}, nil
}

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// bounded adds the token, and ends an answer that is too long: client-go itself reads whatever comes.
type bounded struct {
	next  *http.Transport
	token string
}

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	answer, err := b.next.RoundTrip(r)
	if err == nil {
		answer.Body = &limited{ReadCloser: answer.Body, left: maxAnswer}
	}
	return answer, err
}

// CloseIdleConnections is what http.Client looks for.
func (b bounded) CloseIdleConnections() { b.next.CloseIdleConnections() }

type limited struct {
	io.ReadCloser
	left int
}

var errTooLong = fmt.Errorf("the answer of the management cluster has more than %d bytes", maxAnswer)

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLong
	}
	n, err := l.ReadCloser.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

var errNotKubernetes = errors.New("the answer is none of Kubernetes")

// within bounds one request with its repetitions: client-go itself repeats what is answered with Retry-After.
func within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, callTimeout)
}

// judged makes of an answer that is no success what kubeapi makes of it: with a status, and a text that can be shown. What a
// server wrote beside its status is not taken over.
func judged(doing string, err error) error {
	var status apierrors.APIStatus
	var refused egress.Refused
	switch {
	case err == nil:
		return nil
	case errors.As(err, &status):
		s := status.Status()
		return fmt.Errorf("%s: %w", doing, &kubeapi.Error{Status: int(s.Code), Reason: kubeapi.Clean(string(s.Reason)), Message: kubeapi.Clean(s.Message)})
	case errors.As(err, &refused):
		return fmt.Errorf("%s: %w", doing, refused)
	case errors.Is(err, errTooLong):
		return fmt.Errorf("%s: %w", doing, errTooLong)
	case runtime.IsMissingKind(err), runtime.IsMissingVersion(err), runtime.IsNotRegisteredError(err):
		return fmt.Errorf("%s: %w", doing, errNotKubernetes)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w", doing, &Unanswered{egress.Why(err)})
}

// Unanswered is a request that got no answer. The text of its error may hold what a server said, so that it is not shown.
type Unanswered struct{ Why egress.Unanswered }

func (u *Unanswered) Error() string {
	return "the management cluster did not answer (" + string(u.Why) + ")"
}

// Heals tells whether the same request may succeed later with nothing changed.
func Heals(err error) bool {
	var refused egress.Refused
	return !errors.As(err, &refused) && kubeapi.Heals(err)
}
