package config_test

import (
	"errors"
	"flag"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kloigos/backend/internal/kernel/config"
)

func env(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

const url = "postgresql://kloigos:hunter2@db:5432/kloigos"

func TestDefaults(t *testing.T) {
	t.Parallel()
	got, err := config.Load(nil, env("KLOIGOS_DATABASE_URL", url))
	if err != nil {
		t.Fatal(err)
	}
	want := config.Config{
		DatabaseURL: url, Listen: "127.0.0.1:8080", Roles: []config.Role{config.RoleAPI, config.RoleWorker, config.RoleReconciler},
		KeysetFile: "/etc/kloigos/keyset.json", FirstUID: 65536, LastUID: 99999, UnitNetwork: "auto", Workers: 8, JobMemory: 100 << 20, PlaysAhead: 1, Lease: 30 * time.Second, KeepLogs: 30 * 24 * time.Hour, LimitAccount: 200, LimitKey: 100, LimitAddress: 20, DeliverySoak: 40 * time.Second,
		LogLevel: slog.LevelInfo, LogFormat: "json",
	}
	if d := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Prefix{})); d != "" {
		t.Error(d)
	}
}

func TestFlagsGoBeforeVariables(t *testing.T) {
	t.Parallel()
	got, err := config.Load([]string{"--role", "api", "--trusted-proxies=10.0.0.1, 192.168.7.9/24"}, env("KLOIGOS_DATABASE_URL", url,
		"KLOIGOS_ROLE", "worker", "KLOIGOS_WORKERS", "2", "KLOIGOS_ALLOW_LOOPBACK_HOSTS", "true", "KLOIGOS_LOG_LEVEL", "debug"))
	if err != nil {
		t.Fatal(err)
	}
	if !got.Has(config.RoleAPI) || got.Has(config.RoleWorker) || got.Workers != 2 || !got.AllowLoopbackHosts || got.LogLevel != slog.LevelDebug {
		t.Errorf("got %+v", got)
	}
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32"), netip.MustParsePrefix("192.168.7.0/24")}
	if d := cmp.Diff(want, got.TrustedProxies, cmpopts.EquateComparable(netip.Prefix{})); d != "" {
		t.Error(d)
	}
}

func TestAllMistakesAreReported(t *testing.T) {
	t.Parallel()
	_, err := config.Load([]string{"--workers", "0", "--uid-range", "9-3"}, env("KLOIGOS_DATABASE_URL", "mysql://kloigos:hunter2@db",
		"KLOIGOS_AGENT_URL", "http://kloigos.example.org", "KLOIGOS_AGENT_DIR", "bin", "KLOIGOS_LISTEN", "8080", "KLOIGOS_ROLE", "api,ap", "KLOIGOS_TRUSTED_PROXIES", "proxy", "KLOIGOS_LEASE", "30",
		"KLOIGOS_LOG_LEVEL", "loud", "KLOIGOS_LOG_FORMAT", "xml", "KLOIGOS_RUN_ROOT", "run", "KLOIGOS_ALLOW_LOOPBACK_HOSTS", "maybe"))
	if err == nil {
		t.Fatal("no error")
	}
	for _, name := range []string{
		"KLOIGOS_DATABASE_URL", "KLOIGOS_AGENT_URL", "KLOIGOS_AGENT_DIR", "KLOIGOS_LISTEN", "KLOIGOS_ROLE", "KLOIGOS_TRUSTED_PROXIES", "KLOIGOS_LEASE",
		"KLOIGOS_LOG_LEVEL", "KLOIGOS_LOG_FORMAT", "KLOIGOS_RUN_ROOT", "KLOIGOS_ALLOW_LOOPBACK_HOSTS", "--workers", "--uid-range",
	} {
		if !strings.Contains(err.Error(), name+": ") {
			t.Errorf("nothing is said of %s in:\n%v", name, err)
		}
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the error holds the password:\n%v", err)
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"an unknown flag": {"--frobnicate"}, "an argument": {"now"}, "the URL as a flag": {"--database-url", url},
		"nobody among the UIDs": {"--uid-range", "65000-66000"}, "UIDs of the system": {"--uid-range", "100-2000"},
		"a role twice": {"--role", "api,api"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := config.Load(args, env("KLOIGOS_DATABASE_URL", url)); err == nil {
				t.Error("it was taken")
			}
		})
	}
	if _, err := config.Load([]string{"--help"}, env()); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("--help: %v", err)
	}
}

func TestUsageNamesEverything(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	config.Usage(&b)
	for _, want := range []string{"KLOIGOS_DATABASE_URL\n", "KLOIGOS_WORKERS, --workers\n", "(65536-99999)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// TestAWorkerListensWhereItIsTold, and nowhere else: the default address is an
// API's, which may run beside it.
func TestAWorkerListensWhereItIsTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		env  []string
		want string
	}{
		{nil, []string{"KLOIGOS_ROLE", "worker,reconciler"}, ""},
		{nil, []string{"KLOIGOS_ROLE", "worker", "KLOIGOS_LISTEN", "127.0.0.1:9000"}, "127.0.0.1:9000"},
		{[]string{"--listen", "127.0.0.1:9001"}, []string{"KLOIGOS_ROLE", "worker"}, "127.0.0.1:9001"},
		{nil, []string{"KLOIGOS_ROLE", "worker,api"}, "127.0.0.1:8080"},
	} {
		got, err := config.Load(c.args, env(append(c.env, "KLOIGOS_DATABASE_URL", url)...))
		if err != nil || got.Listen != c.want {
			t.Errorf("%v %v: listens on %q, %v; want %q", c.args, c.env, got.Listen, err, c.want)
		}
	}
}
