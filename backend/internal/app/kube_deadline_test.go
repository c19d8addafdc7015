package app_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/kube"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/queue"
)

// TestALostClusterJobEnds: a cluster that no job makes or deletes any more fails after minutes; it can then be deleted.
func TestALostClusterJobEnds(t *testing.T) {
	t.Parallel()
	k := newKubeSite(t)
	k.BackendWith(k.work(), queue.Config{})
	k.host("k1")
	if err := k.Intents.PauseQueue(t.Context(), k.Call, "no job of a cluster may begin"); err != nil {
		t.Fatal(err)
	}
	id, job := k.create("k1")
	policy := reconcile.InFlight(k.DB.DB, []reconcile.Deadlines{kube.ClustersInFlight()})[0]
	lost := func(job uuid.UUID) {
		t.Helper()
		k.sql(`UPDATE jobs SET state = 'cancelled', finished_at = now() WHERE id = $1`, job)
		k.sql(`UPDATE kube_clusters SET updated_at = now() - INTERVAL '5 minutes' WHERE id = $1`, id)
		out, err := policy.Run(t.Context(), reconcile.Item{ObjectID: id})
		if err != nil || out.Changed != 1 || !out.AtRest {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	lost(job)
	c := k.cluster(id)
	if c.State != kube.ClusterFailed || !strings.Contains(c.StateMessage, "It was creating with no job at work on it since") {
		t.Fatalf("%s, %q", c.State, c.StateMessage)
	}
	err := k.do(func(tx *kernel.Tx) error {
		_, ref, err := kube.FindCluster(t.Context(), tx.Reader, k.workspace, c.Name)
		if err == nil {
			job, err = kube.AskDelete(t.Context(), tx, k.kinds, ref, 0, c.Name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	lost(job)
	if c := k.cluster(id); c.State != kube.ClusterDeleteFailed {
		t.Errorf("%s, %q", c.State, c.StateMessage)
	}
}
