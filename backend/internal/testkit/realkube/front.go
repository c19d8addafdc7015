package realkube

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
)

// How the API server learns from a front whose request it is (the authenticating proxy of Kubernetes).
const (
	frontName   = "front"
	userHeader  = "X-Remote-User"
	groupHeader = "X-Remote-Group"
)

// Front stands between a client and the API server, as a load balancer would: the server itself answers, and the front loses what it
// is told to lose. Who asks is said by the client's certificate, and passed on.
type Front struct {
	Endpoint string // host:port

	mu     sync.Mutex
	before func(method, path string) bool
	after  func(method, path string)
}

// Front starts one until the test ends.
func (c *Cluster) Front() *Front {
	c.t.Helper()
	pair, err := tls.LoadX509KeyPair(c.path("front.crt"), c.path("front.key"))
	c.must(err)
	f := &Front{}
	proxy := &httputil.ReverseProxy{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: c.pool(), Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "https", Host: c.Endpoint})
			who := r.In.TLS.PeerCertificates[0].Subject
			r.Out.Header.Set(userHeader, who.CommonName)
			r.Out.Header.Del(groupHeader)
			for _, group := range who.Organization {
				r.Out.Header.Add(groupHeader, group)
			}
		},
		ModifyResponse: func(answer *http.Response) error {
			f.mu.Lock()
			after := f.after
			f.mu.Unlock()
			if after != nil {
				after(answer.Request.Method, answer.Request.URL.Path)
			}
			return nil
		},
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		before := f.before
		f.mu.Unlock()
		if before != nil && !before(r.Method, r.URL.Path) {
			panic(http.ErrAbortHandler) // the connection is cut
		}
		proxy.ServeHTTP(w, r)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: c.pool(), MinVersion: tls.VersionTLS12}
	server.StartTLS()
	c.t.Cleanup(server.CloseClientConnections)
	c.t.Cleanup(server.Close)
	f.Endpoint = server.Listener.Addr().String()
	return f
}

// Before is asked before a request goes on; false cuts its connection. nil lets all pass.
func (f *Front) Before(pass func(method, path string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = pass
}

// After is called when the API server has done what a request asks for, and before the client knows. nil for nothing.
func (f *Front) After(done func(method, path string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.after = done
}
