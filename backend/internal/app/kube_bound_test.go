package app_test

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// TestAClusterJobKeepsItsPlaybooks: a default that is changed while a cluster is made is for the next job.
func TestAClusterJobKeepsItsPlaybooks(t *testing.T) {
	t.Parallel()
	k := newKubeSite(t)
	k.kinds.Bind = store.BindPlaybooks
	k.BackendWith(k.work(), queue.Config{})
	k.host("k1")
	before, err := k.DB.VersionOnHost(t.Context(), kube.InitPlaybook, uuid.Nil)
	if err != nil {
		t.Fatal(err)
	}
	k.Runner.HandleFunc(kube.PreparePlaybook, func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		k.sql(`INSERT INTO playbook_versions (id, playbook, version, sha256, content, size_bytes, decoded_bytes, files, seeded, created_by)
		       SELECT gen_random_uuid(), $2, $3, w.sha256, w.content, w.size_bytes, w.decoded_bytes, w.files, false, 'ada'
		         FROM playbook_versions w
		        WHERE w.playbook = $1
		       ON CONFLICT DO NOTHING`, kube.JoinPlaybook, kube.InitPlaybook, before.Version+1)
		k.sql(`UPDATE playbooks SET default_version = $2 WHERE name = $1`, kube.InitPlaybook, before.Version+1)
		return site.Play(ctx, play, sink, scripted.Script{})
	})
	_, job := k.create("k1")
	k.Ended(job, domain.JobSucceeded)
	if now, err := k.DB.VersionOnHost(t.Context(), kube.InitPlaybook, uuid.Nil); err != nil || now.ID == before.ID {
		t.Fatalf("the default is still version %d, %v", now.Version, err)
	}
	played := 0
	for _, c := range k.Runner.Calls() {
		if c.Play.Name != kube.InitPlaybook {
			continue
		}
		played++
		if c.Play.BundleSHA256 != before.SHA256 {
			t.Errorf("played %s, the job was asked for with %s", c.Play.BundleSHA256, before.SHA256)
		}
	}
	if played != 1 {
		t.Errorf("%s was played %d times", kube.InitPlaybook, played)
	}
}
