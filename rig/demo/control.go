package demo

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/crdb/localdb"
	"kloigos/rig/testhost"
)

const (
	readyTimeout = 60 * time.Second
	tokenDays    = 7
	defaultPort  = 8443
)

// installPackages leaves the terminal to sudo, which may ask for a password.
func (i *Installation) installPackages(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, filepath.Join(i.options.Root, "inventory", "install-packages"), "demo")
	cmd.Stdout, cmd.Stderr, cmd.Stdin = i.stages.Writer(), i.stages.Writer(), os.Stdin
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("install what is missing: %w", err)
	}
	return nil
}

func (i *Installation) build(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", i.path("bin")+string(filepath.Separator),
		"./backend/cmd/kloigos-backend", "./webapp/cmd/kloigos-webapp")
	cmd.Dir = i.options.Root
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(output))
	}
	if err := i.buildAgent(ctx, "", "bin", "kloigos-agent-"+runtime.GOARCH); err != nil || !i.options.Check || !steady() {
		return err
	}
	return i.makeRelease(ctx)
}

func (i *Installation) startDatabase(ctx context.Context) (err error) {
	if i.database, err = localdb.Start(ctx, localdb.Options{Dir: i.path("db")}); err != nil {
		return err
	}
	i.stages.Note("%s in %s", i.database.Engine, i.database.Dir)
	return nil
}

// backendEnv is what a backend needs; where it listens goes on top.
func (i *Installation) backendEnv() []string {
	env := append([]string{
		"KLOIGOS_DATABASE_URL=" + i.database.URL,
		"KLOIGOS_KEYSET_FILE=" + i.path("keyset.json"),
		"KLOIGOS_TRUSTED_PROXIES=127.0.0.1/32",
		"KLOIGOS_ALLOW_LOOPBACK_HOSTS=true",
		"KLOIGOS_LOG_FORMAT=text",
	}, i.env...)
	// A host of the caller's may have no way to this machine's loopback: it gets no agent.
	if i.CAFile != "" && i.options.Target == nil {
		_, port, _ := strings.Cut(strings.TrimPrefix(i.Web, "https://"), ":")
		env = append(env, "KLOIGOS_AGENT_URL=https://"+machineGateway+":"+port, "KLOIGOS_AGENT_CA_FILE="+i.CAFile)
	}
	if i.options.UnitNetwork != "" {
		env = append(env, "KLOIGOS_UNIT_NETWORK="+i.options.UnitNetwork)
	}
	if i.options.Check {
		env = append(env, "KLOIGOS_LEASE="+checkLease.String(), "KLOIGOS_FAILPOINT_DIR="+i.path(failpointDir))
	}
	if i.options.Check && steady() {
		env = append(env, "KLOIGOS_AGENT_RELEASE_DIR="+i.path(releaseDir), "KLOIGOS_AGENT_RELEASE_KEYS_FILE="+i.path(releaseKeysFile), "KLOIGOS_DELIVERY_SOAK=20s")
	}
	return env
}

// initialize runs `kloigos-backend init`, which tells the first administrator's password once. It is kept beside the
// database, because a demo of a real host is started again on the same one.
func (i *Installation) initialize(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, i.path("bin", "kloigos-backend"), "init")
	cmd.Env = i.backendEnv()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("kloigos-backend init: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	kept := i.path("administrator")
	var administrator []string
	lines := bufio.NewScanner(bytes.NewReader(output))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "account", "password":
			administrator = append(administrator, value)
		default:
			i.stages.Note("%s", lines.Text())
		}
	}
	if len(administrator) == 2 {
		if err := os.WriteFile(kept, []byte(strings.Join(administrator, "\n")+"\n"), 0o600); err != nil {
			return fmt.Errorf("keep the administrator's password: %w", err)
		}
	}
	text, err := os.ReadFile(kept)
	if err != nil {
		return fmt.Errorf("read the administrator's password: %w", err)
	}
	words := strings.Fields(string(text))
	if len(words) != 2 {
		return fmt.Errorf("%s is damaged", kept)
	}
	i.Account, i.Password = words[0], words[1]
	return nil
}

// startControlPlane starts backends, web apps and the proxy, and waits until the origin answers for both.
func (i *Installation) startControlPlane(ctx context.Context) error {
	wanted := i.options.Port
	if wanted == 0 {
		wanted = defaultPort
	}
	ports, err := FreePorts(wanted, 3+i.options.Backends+i.options.Webapps)
	if err != nil {
		return err
	}
	address := func(at int) string { return fmt.Sprintf("127.0.0.1:%d", ports[at]) }
	certificates, err := MakeCertificates(i.Dir)
	if err != nil {
		return err
	}
	i.CAFile = certificates.CAFile
	i.Web, i.API = fmt.Sprintf("https://localhost:%d", ports[0]), fmt.Sprintf("https://localhost:%d/api/v1", ports[0])
	proxy := Proxy{Listen: address(0), Internal: address(1), Metrics: address(2), Bundle: certificates.Bundle}
	for n := range i.options.Backends {
		proxy.Backends = append(proxy.Backends, address(3+n))
	}
	for n := range i.options.Webapps {
		proxy.Webapps = append(proxy.Webapps, address(3+i.options.Backends+n))
	}
	for n, listen := range proxy.Backends {
		backend, err := i.group.Start(fmt.Sprintf("backend-%d", n+1), i.path("bin", "kloigos-backend"),
			append(i.backendEnv(), "KLOIGOS_LISTEN="+listen), "serve")
		if err != nil {
			return err
		}
		i.Backends = append(i.Backends, backend)
	}
	for n, listen := range proxy.Webapps {
		webapp, err := i.group.Start(fmt.Sprintf("webapp-%d", n+1), i.path("bin", "kloigos-webapp"), append([]string{
			"KLOIGOS_WEB_LISTEN=" + listen, "KLOIGOS_API_URL=http://" + proxy.Internal, "KLOIGOS_WEB_TRUSTED_PROXIES=127.0.0.1/32",
		}, i.env...))
		if err != nil {
			return err
		}
		i.Webapps = append(i.Webapps, webapp)
	}
	if i.proxy, err = proxy.Start(ctx, i.group, i.env, i.path("haproxy.cfg")); err != nil {
		return err
	}
	for n, backend := range i.Backends {
		if err := backend.await(ctx, readyTimeout, answers("http://"+proxy.Backends[n]+"/readyz")); err != nil {
			return err
		}
	}
	for n, webapp := range i.Webapps {
		if err := webapp.await(ctx, readyTimeout, answers("http://"+proxy.Webapps[n]+"/web/healthz")); err != nil {
			return err
		}
	}
	i.Client, err = client.New(client.Config{BaseURL: i.Web, CA: certificates.CA, UserAgent: "kloigos-demo"})
	return err
}

// answers asks one address for status 200.
func answers(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return fmt.Errorf("ask %s: %w", url, err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return fmt.Errorf("ask %s: %w", url, err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, response.Status)
		}
		return nil
	}
}

// logIn goes through the origin, as a person would, and makes a token for programs.
func (i *Installation) logIn(ctx context.Context) error {
	var session api.Session
	err := i.proxy.await(ctx, readyTimeout, func(ctx context.Context) (err error) {
		session, err = i.Client.CreateSession(ctx, api.Login{Account: i.Account, Password: i.Password})
		var problem *api.Problem
		if errors.As(err, &problem) && problem.Status < http.StatusInternalServerError {
			return nil // an answer; looked at below
		}
		return err
	})
	if err != nil {
		return err
	}
	if session.Token == "" {
		return errors.New("the API refuses the administrator's password")
	}
	i.Client = i.Client.WithToken(session.Token)
	token, err := i.Client.CreateToken(ctx, api.CreateToken{Name: "demo", Days: tokenDays})
	if err != nil {
		return fmt.Errorf("make a token: %w", err)
	}
	i.session, i.Token = i.Client, token.Token
	i.Client = i.Client.WithToken(token.Token)
	return nil
}

// startMachine builds the image, once, and boots the VM, beside the other stages.
func (i *Installation) startMachine(ctx context.Context) {
	var options testhost.Options
	vm, err := func() (*testhost.VM, error) {
		cache, err := testhost.DefaultCacheDir()
		if err != nil {
			return nil, err
		}
		log, err := os.OpenFile(i.path("logs", "image.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open the image's log: %w", err)
		}
		defer func() { _ = log.Close() }()
		image, err := testhost.EnsureImage(ctx, cache, log)
		if errors.Is(err, testhost.ErrNeedsRoot) {
			if err := i.imageAsRoot(ctx, cache, log); err != nil {
				return nil, err
			}
			image, err = testhost.EnsureImage(ctx, cache, log)
		}
		if err != nil {
			return nil, err
		}
		options = i.options.Machine
		options.Image, options.Dir, options.Hostname = image, i.path("machine"), cmp.Or(options.Hostname, hostName)
		return testhost.Start(ctx, options)
	}()
	i.machine <- machine{vm, options, err}
}

// imageAsRoot builds the image with sudo, which asks for a password on the terminal if it wants one.
func (i *Installation) imageAsRoot(ctx context.Context, cache string, log io.Writer) error {
	program := i.path("testhost")
	compile := exec.CommandContext(ctx, "go", "build", "-o", program, "./rig/testhost/cmd/testhost")
	compile.Dir, compile.Stdout, compile.Stderr = i.options.Root, log, log
	if err := compile.Run(); err != nil {
		return fmt.Errorf("build the builder of the image: %w", err)
	}
	i.stages.Note("building the VM's image once, with sudo: its files belong to several users")
	build := exec.CommandContext(ctx, "sudo", "--", program, "image", "--cache", cache)
	build.Stdin, build.Stdout, build.Stderr = os.Stdin, log, log
	if err := build.Run(); err != nil {
		return fmt.Errorf("build the image with sudo: %w (see %s)", err, i.path("logs", "image.log"))
	}
	return nil
}

// script is what the checks bring into units.
func (i *Installation) script() string { return filepath.Join(i.options.Root, insideScript) }

func (i *Installation) path(parts ...string) string {
	return filepath.Join(append([]string{i.Dir}, parts...)...)
}
