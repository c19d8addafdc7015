package app_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/fault"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/testkit/site"
)

// restoreHost takes parts, and restores, as the module on a control plane does. Other plays are etcdHost's.
type restoreHost struct {
	*etcdHost
	held func(number int64) <-chan struct{} // of a play that sends a part
	fail *ansible.Failure                   // of the restore

	lock  sync.Mutex
	parts map[int64][]byte
	sent  int      // parts that came
	did   []string // what happened, in its order
}

func (k *kubeSite) restoreHost(h *etcdHost) *restoreHost {
	r := &restoreHost{etcdHost: h, parts: map[int64][]byte{}}
	k.Runner.HandleFunc(kube.EtcdPlaybook, r.play)
	return r
}

func (r *restoreHost) play(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
	text, err := json.Marshal(play.Vars)
	if err != nil {
		return ansible.Outcome{}, err
	}
	var vars struct {
		Parts []struct {
			Number  int64  `json:"number"`
			Content string `json:"content"`
		} `json:"kube_etcd_receive_parts"`
		SHA256 string `json:"kube_etcd_restore_sha256"`
		Count  int    `json:"kube_etcd_restore_count"`
	}
	if err := json.Unmarshal(text, &vars); err != nil {
		return ansible.Outcome{}, err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	script := scripted.Script{}
	switch play.Playbook {
	case "receive.yml":
		for _, p := range vars.Parts {
			if p.Content == "" {
				continue
			}
			if r.held != nil {
				if script.Wait = r.held(p.Number); script.Wait != nil {
					return site.Play(ctx, play, sink, script)
				}
			}
			if r.parts[p.Number], err = base64.StdEncoding.DecodeString(p.Content); err != nil {
				return ansible.Outcome{}, err
			}
			r.sent++
		}
		numbers := slices.Sorted(maps.Keys(r.parts))
		script.Result = map[string]any{"parts": append([]int64{}, numbers...)}
	case "restore.yml":
		var whole []byte
		for number := range int64(vars.Count) {
			whole = append(whole, r.parts[number]...)
		}
		if !bytes.Equal(whole, r.packed) {
			r.k.T.Errorf("restored from %d bytes that are not what was taken", len(whole))
		}
		script.Failure = r.fail
		r.did = append(r.did, "restore "+play.Hosts[0].Name)
	case "restart.yml":
		r.did = append(r.did, "restart "+play.Hosts[0].Name)
	default:
		return r.etcdHost.play(ctx, play, sink)
	}
	return site.Play(ctx, play, sink, script)
}

func (k *kubeSite) restore(snapshot uuid.UUID, confirm string) (job uuid.UUID, err error) {
	return job, k.do(func(tx *kernel.Tx) error {
		_, ref, err := kube.FindSnapshot(k.T.Context(), tx.Reader, k.workspace, snapshot.String())
		if err == nil {
			job, err = kube.AskRestore(k.T.Context(), tx, k.kinds, ref, confirm)
		}
		return err
	})
}

// TestASnapshotIsRestored: all parts come first, then the control plane restores, and every kubelet starts anew. A backend that is killed
// while it sends parts costs none of those that are there.
func TestASnapshotIsRestored(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1"}, "k2")
	r := k.restoreHost(k.etcdHost(9 * kube.SnapshotPart))
	first := k.BackendWith(k.work(), queue.Config{})
	k.Ended(k.snapshot(), domain.JobSucceeded)
	s := k.snapshots(cluster)[0]
	if _, err := k.restore(s.ID, "other"); err == nil {
		t.Error("restored without its name")
	}
	begun := make(chan struct{}, 1)
	r.held = func(number int64) <-chan struct{} {
		if number < 4 {
			return nil
		}
		begun <- struct{}{}
		return make(chan struct{})
	}
	job, err := k.restore(s.ID, "apps")
	if err != nil {
		t.Fatal(err)
	}
	site.Await(t, "the second play", begun)
	if c := k.cluster(cluster); c.State != kube.ClusterChanging || len(r.did) > 0 {
		t.Errorf("cluster %s, %q", c.State, r.did)
	}
	first.Stop()
	first.Kill()
	site.Await(t, "the backend's end", first.Stopped())
	r.lock.Lock()
	r.held = nil
	r.lock.Unlock()
	k.BackendWith(k.work(), queue.Config{})
	k.Ended(job, domain.JobSucceeded)
	if want := []string{"restore k1", "restart k1", "restart k2"}; !slices.Equal(r.did, want) || r.sent != int(s.Parts) {
		t.Errorf("did %q, %d parts came, of %d", r.did, r.sent, s.Parts)
	}
	if c := k.cluster(cluster); c.State != kube.ClusterActive {
		t.Errorf("cluster %s: %s", c.State, c.StateMessage)
	}
	if n := k.count(`SELECT count(*) FROM events WHERE action = 'cluster.restore' AND job_id = $1`, job); n != 1 {
		t.Errorf("%d events", n)
	}
	piece := base64.StdEncoding.EncodeToString(r.packed[:kube.SnapshotPart])[100:140]
	if n := k.count("SELECT count(*) FROM job_log x WHERE x::TEXT LIKE $1", "%"+piece+"%"); n > 0 {
		t.Errorf("%d rows of the log have content of etcd", n)
	}
}

// TestAFailedRestoreGoesOnWithARetry, and leaves the cluster degraded until then. A snapshot that was changed stops nothing on the host.
func TestAFailedRestoreGoesOnWithARetry(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1"})
	r := k.restoreHost(k.etcdHost(2 * kube.SnapshotPart))
	k.BackendWith(k.work(), queue.Config{})
	k.Ended(k.snapshot(), domain.JobSucceeded)
	s := k.snapshots(cluster)[0]
	r.fail = &ansible.Failure{Code: ansible.CodeTaskFailed, Message: "etcd did not start within 900 s on what was restored"}
	job, err := k.restore(s.ID, "apps")
	if err != nil {
		t.Fatal(err)
	}
	k.Ended(job, domain.JobFailed)
	if c := k.cluster(cluster); c.State != kube.ClusterDegraded || !strings.Contains(c.StateMessage, "did not start") {
		t.Errorf("cluster %s: %s", c.State, c.StateMessage)
	}
	r.fail = nil
	if err := k.Intents.RetryJob(t.Context(), k.Call, job, false); err != nil {
		t.Fatal(err)
	}
	k.Ended(job, domain.JobSucceeded)
	if want := []string{"restore k1", "restore k1", "restart k1"}; !slices.Equal(r.did, want) {
		t.Errorf("did %q", r.did)
	}

	r.did, r.parts = nil, map[int64][]byte{}
	k.sql(`UPDATE kube_snapshot_parts SET content = set_byte(content, 99, 255 - get_byte(content, 99)) WHERE number = 1`)
	if job, err = k.restore(s.ID, "apps"); err != nil {
		t.Fatal(err)
	}
	if j := k.Ended(job, domain.JobFailed); j.Error.Code != "snapshot_differs" || len(r.did) > 0 {
		t.Errorf("%+v, did %q", j.Error, r.did)
	}
}

// TestSomeSnapshotsAreNotRestored: with several control planes, of another version, or while another job changes the cluster.
func TestSomeSnapshotsAreNotRestored(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1", "k2", "k3"})
	k.etcdHost(1000)
	backend := k.BackendWith(k.work(), queue.Config{})
	k.Ended(k.snapshot(), domain.JobSucceeded)
	backend.Stop()
	site.Await(t, "the backend's end", backend.Stopped())
	s := k.snapshots(cluster)[0]
	refused := func(code string) {
		t.Helper()
		_, err := k.restore(s.ID, "apps")
		var conflict *fault.Conflict
		if !errors.As(err, &conflict) || code != "" && conflict.Code != code {
			t.Errorf("%v, want %s", err, code)
		}
	}
	refused("restore_control_planes")
	k.sql(`UPDATE kube_nodes SET role = 'worker' WHERE name <> 'k1'`)
	k.sql(`UPDATE kube_snapshots SET kube_version = 'v1.35.9'`)
	refused("restore_version")
	k.sql(`UPDATE kube_snapshots SET kube_version = 'v1.36.1'`)
	k.sql(`UPDATE hosts SET state = 'lost' WHERE name = 'k1'`)
	refused("restore_host")
	k.sql(`UPDATE hosts SET state = 'ready' WHERE name = 'k1'`)
	k.sql(`UPDATE kube_clusters SET state = 'changing'`)
	refused("")
	k.sql(`UPDATE kube_clusters SET state = 'degraded'`)
	if _, err := k.restore(s.ID, "apps"); err != nil {
		t.Errorf("of the same minor version: %v", err)
	}
}
