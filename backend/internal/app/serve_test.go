package app_test

import (
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/app"
	"kloigos/backend/internal/config"
	"kloigos/backend/internal/testkit"
)

// prepared is the configuration of a backend with all roles, on a database that
// init has prepared.
func prepared(t *testing.T) config.Config {
	t.Helper()
	settings := map[string]string{
		"KLOIGOS_DATABASE_URL": testkit.DatabaseURL(t), "KLOIGOS_KEYSET_FILE": filepath.Join(t.TempDir(), "keyset.json"), "KLOIGOS_LISTEN": "127.0.0.1:0",
	}
	cfg, err := config.Load(nil, func(name string) string { return settings[name] })
	if err != nil {
		t.Fatal(err)
	}
	if err := app.Init(t.Context(), cfg, io.Discard); err != nil {
		t.Fatal(err)
	}
	return cfg
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
