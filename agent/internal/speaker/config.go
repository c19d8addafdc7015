// Package speaker owns the talk with the backend: the key of the agent, enrolment, renewal of the credential, heartbeats.
//
// It refuses to do anything that an answer asks for, but one thing: to run another version of itself, which package update checks.
package speaker

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"kloigos/agent/internal/update"
)

// Config is what the agent is told by its environment.
type Config struct {
	URL      string // of the load balancer or a backend, without a path
	State    string // folder with the key; only this user reads it
	Socket   string // of the reader; "" for none
	CAFile   string // authorities that sign the server's certificate; "" for those of the system
	Interval time.Duration
	Version  string
	Root     string // folder whose etc/machine-id and boot id say which host this is: "/", or another one in tests
	Update   update.Place
}

// Load reads the configuration, and reports all mistakes together.
func Load(env func(string) string) (Config, error) {
	c := Config{
		URL: env("KLOIGOS_AGENT_URL"), State: env("KLOIGOS_AGENT_STATE"), Socket: env("KLOIGOS_AGENT_SOCKET"), CAFile: env("KLOIGOS_AGENT_CA_FILE"),
		Interval: 10 * time.Second, Root: env("KLOIGOS_AGENT_ROOT"),
	}
	if c.Root == "" {
		c.Root = "/"
	}
	if c.State == "" {
		c.State = "/var/lib/kloigos-agent"
	}
	if c.Socket == "" {
		c.Socket = "/run/kloigos-agent/read.sock"
	}
	var bad []error
	bad = append(bad, checkURL(c.URL))
	if text := env("KLOIGOS_AGENT_INTERVAL"); text != "" {
		interval, err := time.ParseDuration(text)
		if err != nil || interval < 100*time.Millisecond || interval > 10*time.Second {
			bad = append(bad, errors.New("KLOIGOS_AGENT_INTERVAL must be from 100ms to 10s"))
		}
		c.Interval = interval
	}
	if c.CAFile != "" {
		_, err := authorities(c.CAFile)
		bad = append(bad, err)
	}
	return c, errors.Join(bad...)
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Path != "" && u.Path != "/" || u.User != nil || u.RawQuery != "":
		return errors.New("KLOIGOS_AGENT_URL must be such as https://kloigos.example.org")
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	}
	return errors.New("KLOIGOS_AGENT_URL must use https, except on this machine")
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func authorities(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the authorities: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate", file)
	}
	return pool, nil
}

const (
	askWithin     = 5 * time.Second
	partWithin    = time.Minute // a part of a build on a slow line
	connectWithin = 3 * time.Second
)

func newClient(c Config) (*http.Client, error) {
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: connectWithin, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout: connectWithin, MaxIdleConns: 2, MaxConnsPerHost: 2, // a heartbeat does not wait for a build
		IdleConnTimeout: 2 * time.Minute,
		WriteBufferSize: 4 << 10, ReadBufferSize: 4 << 10,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}
	if c.CAFile != "" {
		pool, err := authorities(c.CAFile)
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a credential goes nowhere else
	}, nil
}
