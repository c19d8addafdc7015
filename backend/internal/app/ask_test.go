package app_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"kloigos/backend/api"
	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/testkit/site"
)

// A host without an agent is asked by whoever runs policies, and what it answers is its health.
func TestABackendAsksHostsWithoutAnAgent(t *testing.T) {
	t.Parallel()
	cfg, password := preparedWith(t, map[string]string{"KLOIGOS_ALLOW_LOOPBACK_HOSTS": "true"})
	runner := scripted.New()
	runner.HandleFunc("host_probe", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		return site.Play(ctx, p, sink, scripted.Script{Result: site.Facts(p.Hosts[0].Name)})
	})
	c, _ := serve(t, cfg, runner, password)
	server := site.NewSSHServer(t)
	h, _, err := c.RegisterHost(t.Context(), api.RegisterHost{Name: "h1", Address: "127.0.0.1", Port: server.Port, TrustOnFirstUse: true})
	if err != nil {
		t.Fatal(err)
	}
	state := func() api.Host {
		now, err := c.GetHost(t.Context(), h.ID)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	site.Eventually(t, "the host is probed", func() bool { return state().State == "probed" })
	conn, err := pgx.Connect(t.Context(), cfg.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	sql := func(sql string) {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	// A write of the host makes the policy look at it. The item of a host that is not ready goes, so nothing else could be asked for.
	zone := 0
	ask := func() {
		zone++
		name := fmt.Sprintf("z%d", zone)
		if _, _, err := c.UpdateHost(t.Context(), h.ID, api.UpdateHost{Zone: &name}); err != nil {
			t.Fatal(err)
		}
	}
	// As its initialization leaves it.
	sql("UPDATE hosts SET state = 'ready', layout = '{}', job_health = 'unknown', health = 'unknown'")
	ask()
	site.Eventually(t, "the host is healthy", func() bool { return state().Health == "healthy" })

	server.Stop()
	asked := func() (failed bool) {
		if err := conn.QueryRow(t.Context(), "SELECT failed_at IS NOT NULL FROM ssh_liveness").Scan(&failed); err != nil {
			t.Fatal(err)
		}
		return failed
	}
	ask()
	site.Eventually(t, "the host did not answer", asked)
	sql("UPDATE ssh_liveness SET answered_at = answered_at - INTERVAL '61 seconds'")
	site.Eventually(t, "the host is unreachable", func() bool { return state().Health == "unreachable" })
	if why := state().HealthMessage; !strings.Contains(why, "connection refused") {
		t.Errorf("it says %q", why)
	}
}
