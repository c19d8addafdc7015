package app_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/fault"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/queue"
)

// glass asks for a file of an administrator.
func (k *kubeSite) glass(t *testing.T, reason string, valid time.Duration) error {
	t.Helper()
	return k.do(func(tx *kernel.Tx) error {
		_, ref, err := kube.FindCluster(t.Context(), tx.Reader, k.workspace, "apps")
		if err == nil {
			err = kube.BreakGlass(t.Context(), tx, ref, kube.User(uuid.New()), reason, valid)
		}
		return err
	})
}

func TestBreakGlass(t *testing.T) {
	t.Parallel()
	k := newKubeSite(t)
	k.BackendWith(k.work(), queue.Config{})
	k.host("k1")
	cluster, job := k.create("k1")
	k.Ended(job, domain.JobSucceeded)
	told := func() (n int) {
		if err := k.pool.QueryRow(t.Context(), `SELECT count(*) FROM events WHERE action = 'cluster.break_glass'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	const why = "The nodes do not come back."
	for field, wrong := range map[string][]struct {
		reason string
		valid  time.Duration
	}{
		"reason": {
			{"", time.Hour},
			{"too short", time.Hour},
			{strings.Repeat(" ", 50), time.Hour},
			{strings.Repeat("r", 501), time.Hour},
			{strings.Repeat("r", 10<<20), time.Hour},
			{why + "\x00", time.Hour},
			{why + "\x1b[2J", time.Hour},
			{why + "\u202e", time.Hour},
			{why + "\xff", time.Hour},
		},
		"minutes": {{why, 0}, {why, 9 * time.Minute}, {why, 61 * time.Minute}, {why, -time.Hour}},
	} {
		for _, w := range wrong {
			var bad *fault.Invalid
			if err := k.glass(t, w.reason, w.valid); !errors.As(err, &bad) || len(bad.Fields) != 1 || bad.Fields[0].Field != field {
				t.Errorf("%.40q for %s: %v", w.reason, w.valid, err)
			}
		}
	}
	if n := told(); n != 0 || k.cluster(cluster).OpenGlass() {
		t.Fatalf("%d events of what was refused", n)
	}
	if err := k.glass(t, "  The nodes\r\ndo not come back.  ", time.Hour); err != nil {
		t.Fatal(err)
	}
	first := k.cluster(cluster)
	if !first.OpenGlass() || first.BreakGlassReason != why || first.BreakGlassBy == "" || told() != 1 {
		t.Errorf("%q by %q, %d events", first.BreakGlassReason, first.BreakGlassBy, told())
	}
	// One that ends sooner does not hide the one that is good for longer.
	if err := k.glass(t, "Once more, for a moment.", 10*time.Minute); err != nil {
		t.Fatal(err)
	}
	if c := k.cluster(cluster); !c.BreakGlassUntil.Equal(*first.BreakGlassUntil) || c.BreakGlassReason != why || told() != 2 {
		t.Errorf("until %s because %q, %d events", c.BreakGlassUntil, c.BreakGlassReason, told())
	}
	k.sql(`UPDATE kube_clusters SET state = 'failed' WHERE id = $1`, cluster)
	if err := k.glass(t, why, time.Hour); err == nil || told() != 2 {
		t.Errorf("of a cluster that is none: %v, %d events", err, told())
	}
}
