package app_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/app"
	"kloigos/backend/internal/kernel/config"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/secret"
)

// The key is replaced while people write secrets through backends that are restarted one after the other. Nothing is lost.
func TestTheKeyIsReplacedUnderLoad(t *testing.T) {
	t.Parallel()
	cfg, password := preparedWith(t, map[string]string{"KLOIGOS_CHANNEL_NETWORKS": "127.0.0.0/8"})
	step := func(do func(context.Context, config.Config, *strings.Builder) error, want string) {
		t.Helper()
		var out strings.Builder
		if err := do(t.Context(), cfg, &out); err != nil || !strings.Contains(out.String(), want) {
			t.Fatalf("it said %q, %v; want %q", out.String(), err, want)
		}
	}
	add := func(ctx context.Context, c config.Config, out *strings.Builder) error { return app.AddKey(ctx, c, out) }
	promote := func(ctx context.Context, c config.Config, out *strings.Builder) error {
		return app.PromoteKey(ctx, c, out)
	}
	reseal := func(ctx context.Context, c config.Config, out *strings.Builder) error { return app.Reseal(ctx, c, out) }
	retire := func(ctx context.Context, c config.Config, out *strings.Builder) error {
		return app.RetireKeys(ctx, c, out)
	}
	status := func(ctx context.Context, c config.Config, out *strings.Builder) error {
		return app.KeysetStatus(ctx, c, out)
	}
	backend := func() *client.Client {
		c, _ := serve(t, cfg, scripted.New(), password)
		return c
	}
	made := 0
	var mu sync.Mutex
	// write makes channels with secrets through backends for as long as do takes.
	write := func(through []*client.Client, do func()) {
		t.Helper()
		ctx, end := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		for _, c := range through {
			writers.Go(func() {
				for ctx.Err() == nil {
					mu.Lock()
					made++
					name := fmt.Sprintf("channel-%d", made)
					mu.Unlock()
					_, err := c.CreateChannel(t.Context(), api.CreateChannel{Name: name, Type: "webhook", URL: "http://127.0.0.1:1/hook", Secret: "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA=="})
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					time.Sleep(20 * time.Millisecond)
				}
			})
		}
		do()
		end()
		writers.Wait()
	}

	first := backend()
	write([]*client.Client{first}, func() { step(add, "seals nothing yet") })
	second := backend()
	write([]*client.Client{first, second}, func() { step(promote, "seals from now on") })
	third := backend()
	// Those with the older keyset go on while values are sealed again, and what they write is told.
	write([]*client.Client{second, third}, func() {
		step(reseal, "are sealed by key")
		time.Sleep(100 * time.Millisecond)
	})
	if err := app.RetireKeys(t.Context(), cfg, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "still sealed by older keys") {
		t.Errorf("retired while an older backend wrote: %v", err)
	}
	write([]*client.Client{third}, func() { step(reseal, "Next: keyset retire") })
	write([]*client.Client{third}, func() { step(retire, "opens nothing any more") })
	last := backend()
	if _, err := last.ListChannels(t.Context(), api.ChannelFilter{}); err != nil {
		t.Error(err)
	}

	keys, err := secret.Load(cfg.KeysetFile)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := db.Open(t.Context(), cfg.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	values, err := secret.Values(t.Context(), opened.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if _, err := keys.Open(v.Sealed, v.Associated); err != nil {
			t.Errorf("%s %s: %v", v.Place, v.ID, err)
		}
	}
	if len(values) < made+2 { // and the canary, and the key of the organization
		t.Errorf("%d values, %d channels were made", len(values), made)
	}
	step(status, fmt.Sprintf("seals and opens  %d values", len(values)))
	step(status, "retired          0 values")
}
