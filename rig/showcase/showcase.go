// Package showcase runs an installation that has no host to talk to: a throwaway database, a backend that only serves
// the API, a web app, and rows as if a hundred hosts had been at work for two weeks. It is what the pages are looked at
// and tested with: every state there is, 2,000 units, 500 jobs, one with a log of 100,000 lines, one that tells more as
// one looks.
//
// It refuses to run anything: no job is claimed, no host is reached. What a click asks for is queued and stays so.
package showcase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/crdb/localdb"
	"kloigos/rig/demo"
)

// Options say where an installation is made, and how large.
type Options struct {
	Root string    // of the source tree
	Dir  string    // for the programs and their logs; must be there
	Out  io.Writer // progress
	Port int       // of the web app if it is free; 0 for any
	Size Size
	// Rate is how many lines a second the job that runs tells; 0: it tells nothing.
	Rate int
}

// Showcase is a running installation.
type Showcase struct {
	Web, API          string // URLs
	Account, Password string
	Token             string // of a session
	Jobs              Jobs

	server *localdb.Server
	group  *demo.Group
	live   *live
}

// Jobs are the ids of jobs that have something to show.
type Jobs struct {
	Long    string // failed, after a log of Size.LogLines
	Running string // tells more with every second
	Failed  string // a short one that failed
}

const startLimit = time.Minute

// Start builds the programs and starts everything; Close ends it.
func Start(ctx context.Context, o Options) (_ *Showcase, err error) {
	s := &Showcase{group: demo.NewGroup(o.Dir)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	say := func(what string) { _, _ = fmt.Fprintln(o.Out, "==>", what) }
	say("build")
	build := exec.CommandContext(ctx, "go", "build", "-o", o.Dir+string(filepath.Separator), "./backend/cmd/kloigos-backend", "./webapp/cmd/kloigos-webapp")
	build.Dir = o.Root
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(output))
	}
	say("start a database")
	if s.server, err = localdb.Start(ctx, localdb.Options{}); err != nil {
		return nil, err
	}
	if err := s.initialize(ctx, o); err != nil {
		return nil, err
	}
	say("fill it")
	if err := s.fill(ctx, o); err != nil {
		return nil, err
	}
	say("start a backend and a web app")
	return s, s.serve(ctx, o)
}

func (s *Showcase) environment(o Options) []string {
	return []string{"KLOIGOS_DATABASE_URL=" + s.server.URL, "KLOIGOS_KEYSET_FILE=" + filepath.Join(o.Dir, "keyset.json"), "PATH=" + os.Getenv("PATH")}
}

func (s *Showcase) initialize(ctx context.Context, o Options) error {
	cmd := exec.CommandContext(ctx, filepath.Join(o.Dir, "kloigos-backend"), "init")
	cmd.Env = s.environment(o)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("kloigos-backend init: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	for line := range strings.Lines(string(out)) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), ": "); name {
		case "account":
			s.Account = value
		case "password":
			s.Password = value
		}
	}
	if s.Password == "" {
		return errors.New("kloigos-backend init told no password")
	}
	return nil
}

func (s *Showcase) fill(ctx context.Context, o Options) error {
	conn, err := pgx.Connect(ctx, s.server.URL)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	jobs, run, err := Fill(ctx, conn, o.Size)
	if err != nil || o.Rate == 0 {
		s.Jobs = jobs
		return errors.Join(err, conn.Close(ctx))
	}
	s.Jobs, s.live = jobs, tell(conn, run, o.Rate)
	return nil
}

func (s *Showcase) serve(ctx context.Context, o Options) error {
	ports, err := demo.FreePorts(o.Port, 2)
	if err != nil {
		return err
	}
	web, listen := fmt.Sprintf("127.0.0.1:%d", ports[0]), fmt.Sprintf("127.0.0.1:%d", ports[1])
	s.Web, s.API = "http://"+web, "http://"+listen
	// Only the API: nothing claims the jobs, and nothing puts right what looks stuck.
	backend, err := s.group.Start("backend", filepath.Join(o.Dir, "kloigos-backend"),
		append(s.environment(o), "KLOIGOS_LISTEN="+listen, "KLOIGOS_ROLE=api", "KLOIGOS_MANAGEMENT_NETWORKS=203.0.113.0/24", fmt.Sprintf("KLOIGOS_WEB_URL=http://localhost:%d", ports[0])), "serve") // passkeys belong to a name, not to an address
	if err != nil {
		return err
	}
	if err := awaitReady(ctx, backend, s.API+"/readyz"); err != nil {
		return err
	}
	webapp, err := s.group.Start("webapp", filepath.Join(o.Dir, "kloigos-webapp"),
		[]string{"KLOIGOS_WEB_LISTEN=" + web, "KLOIGOS_API_URL=" + s.API, "KLOIGOS_WEB_INSECURE_COOKIE=true"})
	if err != nil {
		return err
	}
	if err := awaitReady(ctx, webapp, s.Web+"/web/healthz"); err != nil {
		return err
	}
	c, err := client.New(client.Config{BaseURL: s.API, UserAgent: "kloigos-showcase"})
	if err != nil {
		return err
	}
	session, err := c.CreateSession(ctx, api.Login{Account: s.Account, Password: s.Password})
	if err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	s.Token = session.Token
	return nil
}

// Close ends all that was started.
func (s *Showcase) Close() error {
	var errs []error
	if s.live != nil {
		errs = append(errs, s.live.stop())
	}
	errs = append(errs, s.group.Stop())
	if s.server != nil {
		errs = append(errs, s.server.Stop())
	}
	return errors.Join(errs...)
}

// awaitReady asks until the answer is 200.
func awaitReady(ctx context.Context, p *demo.Process, url string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		if p.Ended() {
			return fmt.Errorf("%s ended:\n%s", p.Name, p.Tail())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready:\n%s", p.Name, p.Tail())
		case <-tick.C:
		}
	}
}
