package demo

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/crdb/localdb"
)

// Setup says what an installation is made of.
type Setup struct {
	Root     string // the repository
	Dir      string // of this installation; emptied first
	Backends int
	Webapps  int
	Port     int // of the origin, if it is free
}

// Installation is a whole Kloigos on one machine: a database, backends and web
// apps behind HAProxy.
type Installation struct {
	URL      string // of the origin, https://127.0.0.1:port
	CAFile   string
	Account  string
	Password string
	Token    string         // an API token of the administrator
	Client   *client.Client // with that token, through the origin
	Backends []*Process
	Webapps  []*Process
	Group    *Group

	setup    Setup
	ca       []byte
	database *localdb.Server
	backends []string // addresses
}

const readyTimeout = 60 * time.Second

// StartInstallation builds and starts everything. What was started is stopped
// again if it fails.
func StartInstallation(ctx context.Context, stages *Stages, s Setup) (in *Installation, err error) {
	in = &Installation{setup: s, Group: NewGroup(filepath.Join(s.Dir, "log"))}
	defer func() {
		if err != nil {
			err = errors.Join(err, in.Stop())
		}
	}()
	for _, stage := range []struct {
		name string
		run  func() error
	}{
		{"Build the backend and the web app", func() error { return in.build(ctx) }},
		{"Start a database", func() error { return in.startDatabase(ctx, stages) }},
		{"Prepare it: kloigos-backend init", func() error { return in.init(ctx, stages) }},
		{fmt.Sprintf("Start %d backends and %d web apps behind HAProxy", s.Backends, s.Webapps), func() error { return in.serve(ctx) }},
		{"Log in and make an API token", func() error { return in.login(ctx) }},
	} {
		if err := stages.Do(stage.name, stage.run); err != nil {
			return in, err
		}
	}
	return in, nil
}

// Stop stops all of it, the database last.
func (in *Installation) Stop() error {
	err := in.Group.Stop()
	if in.database != nil {
		err = errors.Join(err, in.database.Stop())
	}
	return err
}

func (in *Installation) path(names ...string) string {
	return filepath.Join(append([]string{in.setup.Dir}, names...)...)
}

func (in *Installation) build(ctx context.Context) error {
	if err := os.RemoveAll(in.setup.Dir); err != nil {
		return fmt.Errorf("empty the demo's directory: %w", err)
	}
	if err := os.MkdirAll(in.path("log"), 0o700); err != nil {
		return fmt.Errorf("make the demo's directory: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", in.path("bin")+"/", "./backend/cmd/kloigos-backend", "./webapp/cmd/kloigos-webapp")
	cmd.Dir = in.setup.Root
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, output)
	}
	return nil
}

func (in *Installation) startDatabase(ctx context.Context, stages *Stages) (err error) {
	in.database, err = localdb.Start(ctx, localdb.Options{Dir: in.path("database")})
	if err == nil {
		stages.Note("%s, data in %s", in.database.Engine, in.database.Dir)
	}
	return err
}

// environment is all that a backend is given: nothing of the caller's own
// environment but what programs need to be found.
func (in *Installation) environment(listen string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + in.path(), "LANG=C.UTF-8", "KLOIGOS_DATABASE_URL=" + in.database.URL,
		"KLOIGOS_KEYSET_FILE=" + in.path("keyset.json"), "KLOIGOS_LISTEN=" + listen, "KLOIGOS_TRUSTED_PROXIES=127.0.0.1",
		"KLOIGOS_ALLOW_LOOPBACK_HOSTS=true", "KLOIGOS_LOG_FORMAT=text"}
}

func (in *Installation) init(ctx context.Context, stages *Stages) error {
	cmd := exec.CommandContext(ctx, in.path("bin", "kloigos-backend"), "init")
	cmd.Env = in.environment("127.0.0.1:0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("kloigos-backend init: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	for line := range strings.Lines(string(output)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "account":
			in.Account = value
		case "password":
			in.Password = value
		default:
			stages.Note("%s", strings.TrimSpace(line))
		}
	}
	if in.Password == "" {
		return errors.New("init made no administrator")
	}
	return nil
}

func (in *Installation) serve(ctx context.Context) error {
	ports, err := FreePorts(ctx, in.setup.Port, 2+in.setup.Backends+in.setup.Webapps)
	if err != nil {
		return err
	}
	certificates, err := MakeCertificates(in.path())
	if err != nil {
		return err
	}
	in.ca, in.CAFile = certificates.CA, certificates.CAFile
	address := func(i int) string { return fmt.Sprintf("127.0.0.1:%d", ports[i]) }
	in.URL = "https://" + address(0)
	proxy := Proxy{Listen: address(0), Internal: address(1), Bundle: certificates.Bundle}
	for i := range in.setup.Backends {
		proxy.Backends = append(proxy.Backends, address(2+i))
	}
	for i := range in.setup.Webapps {
		proxy.Webapps = append(proxy.Webapps, address(2+in.setup.Backends+i))
	}
	in.backends = proxy.Backends
	if err := proxy.Write(ctx, in.path("haproxy.cfg")); err != nil {
		return err
	}
	for i := range proxy.Backends {
		if _, err := in.StartBackend(i); err != nil {
			return err
		}
	}
	for i, listen := range proxy.Webapps {
		p, err := in.Group.Start(fmt.Sprintf("webapp-%d", i+1), in.path("bin", "kloigos-webapp"), []string{"PATH=" + os.Getenv("PATH"),
			"HOME=" + in.path(), "LANG=C.UTF-8", "KLOIGOS_WEB_LISTEN=" + listen, "KLOIGOS_API_URL=http://" + proxy.Internal,
			"KLOIGOS_WEB_TRUSTED_PROXIES=127.0.0.1"})
		if err != nil {
			return err
		}
		in.Webapps = append(in.Webapps, p)
	}
	for i, p := range in.Backends {
		if err := p.await(ctx, readyTimeout, answers("http://"+proxy.Backends[i]+"/readyz", nil)); err != nil {
			return err
		}
	}
	for i, p := range in.Webapps {
		if err := p.await(ctx, readyTimeout, answers("http://"+proxy.Webapps[i]+"/web/healthz", nil)); err != nil {
			return err
		}
	}
	program, err := haproxy()
	if err != nil {
		return err
	}
	p, err := in.Group.Start("haproxy", program, []string{"PATH=" + os.Getenv("PATH")}, "-W", "-db", "-f", in.path("haproxy.cfg"))
	if err != nil {
		return err
	}
	for _, path := range []string{"/readyz", "/login"} {
		if err := p.await(ctx, readyTimeout, answers(in.URL+path, in.ca)); err != nil {
			return err
		}
	}
	return nil
}

// StartBackend starts the nth backend, from 0; again if it was killed.
func (in *Installation) StartBackend(n int) (*Process, error) {
	p, err := in.Group.Start(fmt.Sprintf("backend-%d", n+1), in.path("bin", "kloigos-backend"), in.environment(in.backends[n]), "serve")
	if err != nil {
		return nil, err
	}
	if n < len(in.Backends) {
		in.Backends[n] = p
	} else {
		in.Backends = append(in.Backends, p)
	}
	return p, nil
}

// answers returns a check for a URL that answers with 200.
func answers(url string, ca []byte) func(context.Context) error {
	transport := &http.Transport{DisableKeepAlives: true}
	if ca != nil {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(ca)
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	web := &http.Client{Transport: transport, Timeout: 5 * time.Second}
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := web.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, response.Status)
		}
		return nil
	}
}

func (in *Installation) login(ctx context.Context) error {
	c, err := client.New(client.Config{BaseURL: in.URL, CA: in.ca, UserAgent: "kloigos-demo"})
	if err != nil {
		return err
	}
	session, err := c.CreateSession(ctx, api.Login{Account: in.Account, Password: in.Password})
	if err != nil {
		return err
	}
	token, err := c.WithToken(session.Token).CreateToken(ctx, api.CreateToken{Name: "demo", Days: 30})
	if err != nil {
		return err
	}
	in.Token, in.Client = token.Token, c.WithToken(token.Token)
	return nil
}
