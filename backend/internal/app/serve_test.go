package app_test

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/app"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/config"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/site"
)

// prepared is the configuration of a backend with all roles, on a database that
// init has prepared.
func prepared(t *testing.T) config.Config {
	t.Helper()
	cfg, _ := preparedWith(t, nil)
	return cfg
}

// preparedWith has other settings too, and returns the administrator's password.
func preparedWith(t *testing.T, more map[string]string) (cfg config.Config, password string) {
	t.Helper()
	settings := map[string]string{
		"KLOIGOS_DATABASE_URL": testkit.DatabaseURL(t), "KLOIGOS_KEYSET_FILE": filepath.Join(t.TempDir(), "keyset.json"), "KLOIGOS_LISTEN": "127.0.0.1:0",
	}
	maps.Copy(settings, more)
	cfg, err := config.Load(nil, func(name string) string { return settings[name] })
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := app.Init(t.Context(), cfg, &out); err != nil {
		t.Fatal(err)
	}
	_, password, _ = strings.Cut(out.String(), "password: ")
	return cfg, strings.TrimSpace(password)
}

// TestABackendThatCanNotListenEnds, its worker and reconciler as well: it would
// look alive, and nobody would start it again.
func TestABackendThatCanNotListenEnds(t *testing.T) {
	t.Parallel()
	cfg := prepared(t)
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	cfg.Listen = taken.Addr().String()
	b, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	ended := make(chan error, 1)
	go func() { ended <- b.WithRunner(scripted.New()).Serve(t.Context(), t.Context(), nil) }()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "listen") {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it lives on")
	}
}

// TestABackendNeedsTheKeysetOfItsDatabase before it claims a job.
func TestABackendNeedsTheKeysetOfItsDatabase(t *testing.T) {
	t.Parallel()
	cfg, other := prepared(t), prepared(t)
	cfg.KeysetFile = other.KeysetFile
	if b, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "another keyset") {
		t.Errorf("%v", err)
		if err == nil {
			b.Close()
		}
	}
}

// TestRequestsLeaveConnectionsToJobs: requests that hold every connection they
// can get, and as many that wait for one, end no play for want of a renewal; nor
// do they have a load balancer take this backend for dead, with all the others.
func TestRequestsLeaveConnectionsToJobs(t *testing.T) {
	t.Parallel()
	cfg, password := preparedWith(t, map[string]string{"KLOIGOS_LEASE": "3s", "KLOIGOS_ALLOW_LOOPBACK_HOSTS": "true"})
	runner, hold := scripted.New(), make(chan struct{})
	runner.HandleFunc("host_probe", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		return site.Play(ctx, p, sink, scripted.Script{Wait: hold, Result: site.Facts(p.Hosts[0].Name)})
	})
	c, at := serve(t, cfg, runner, password)
	register := func(name string) (id, jobID string) {
		in := api.RegisterHost{Name: name, Address: "127.0.0.1", Port: site.NewSSHServer(t).Port, TrustOnFirstUse: true}
		h, jobID, err := c.RegisterHost(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return h.ID, jobID
	}
	busy, _ := register("busy")
	_, jobID := register("h")
	site.Eventually(t, "both plays run", func() bool { return len(runner.Calls()) == 2 })

	letGo := holdHost(t, cfg.DatabaseURL, busy)
	var asked sync.WaitGroup
	for range 64 {
		asked.Go(func() { _, _, _ = c.ProbeHost(t.Context(), busy) })
	}
	for end := time.Now().Add(2 * cfg.Lease); time.Now().Before(end); time.Sleep(200 * time.Millisecond) { // two leases in which nobody could renew
		if status := get(t, at+"/readyz"); status != http.StatusOK {
			t.Errorf("/readyz says %d", status)
		}
	}
	letGo()
	asked.Wait()
	close(hold)
	site.Eventually(t, "the job has ended", func() bool {
		j, err := c.GetJob(t.Context(), jobID)
		if err != nil {
			t.Fatal(err)
		}
		if j.Attempt != 1 || j.Error != nil {
			t.Fatalf("%s in attempt %d: %+v", j.State, j.Attempt, j.Error)
		}
		return j.State == string(domain.JobSucceeded)
	})
}

// serve serves what cfg says until the test ends, and logs in to it.
func serve(t *testing.T, cfg config.Config, runner ansible.Runner, password string) (c *client.Client, url string) {
	t.Helper()
	b, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	at, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() { ended <- b.WithRunner(runner).Serve(ctx, ctx, func(a net.Addr) { at <- a }) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		b.Close()
	})
	url = "http://" + site.Await(t, "it listens", at).String()
	return loggedIn(t, url, password), url
}

func loggedIn(t *testing.T, url, password string) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{BaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	session, err := c.CreateSession(t.Context(), api.Login{Account: app.Administrator, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	return c.WithToken(session.Token)
}

// get asks once, for no longer than a load balancer does.
func get(t *testing.T, url string) (status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// holdHost locks a host's row: whoever wants to change it waits, on a
// connection of his own.
func holdHost(t *testing.T, database, id string) (letGo func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `BEGIN`); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `UPDATE hosts SET name = name WHERE id = $1`, id); err != nil {
		t.Fatal(err)
	}
	return func() { _ = conn.Close(context.Background()) }
}
