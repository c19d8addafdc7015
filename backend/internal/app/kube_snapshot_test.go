package app_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/testkit/site"
)

// etcdHost answers plays as the module on a control plane does.
type etcdHost struct {
	k       *kubeSite
	content []byte // of etcd
	packed  []byte
	stored  int64                                     // that it claims to have; 0: what it has
	sick    []string                                  // members that are not well
	applied map[string]int                            // of those that answer though they are not well
	part    func(number int64, content []byte) []byte // changes what is sent; nil: nothing is
	begun   func(ctx context.Context, first int64) <-chan struct{}

	mu    sync.Mutex
	id    uuid.UUID // of the snapshot on the host
	sent  []int64   // numbers of parts
	taken []string  // hosts that took one
}

func (k *kubeSite) etcdHost(size int) *etcdHost {
	h := &etcdHost{k: k, content: make([]byte, size)}
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(h.content) // no compression makes it smaller
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, err := w.Write(h.content)
	if err = errors.Join(err, w.Close()); err != nil {
		k.T.Fatal(err)
	}
	h.packed = packed.Bytes()
	k.Runner.HandleFunc(kube.EtcdPlaybook, h.play)
	return h
}

func (h *etcdHost) play(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
	text, err := json.Marshal(play.Vars)
	if err != nil {
		return ansible.Outcome{}, err
	}
	var vars struct {
		ID      uuid.UUID `json:"kube_etcd_snapshot_id"`
		PartsOf uuid.UUID `json:"kube_etcd_parts_id"`
		Numbers []int64   `json:"kube_etcd_parts_numbers"`
	}
	if err := json.Unmarshal(text, &vars); err != nil {
		return ansible.Outcome{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	script := scripted.Script{}
	switch play.Playbook {
	case "playbook.yml":
		all := []any{}
		for _, name := range []string{"k1", "k2", "k3"} {
			all = append(all, map[string]any{"name": name, "healthy": !slices.Contains(h.sick, name), "why": "no answer", "size": h.applied[name], "applied": h.applied[name]})
		}
		script.Result = map[string]any{"members": all}
	case "snapshot.yml":
		h.id, h.taken = vars.ID, append(h.taken, play.Hosts[0].Name)
		sum := sha256.Sum256(h.content)
		stored := max(h.stored, int64(len(h.packed)))
		script.Result = map[string]any{"size": len(h.content), "stored": stored, "parts": (stored + kube.SnapshotPart - 1) / kube.SnapshotPart, "sha256": hex.EncodeToString(sum[:])}
	case "parts.yml":
		if h.id != vars.PartsOf {
			script.Failure = &ansible.Failure{Code: ansible.CodeTaskFailed, Message: "No such file or directory"}
			break
		}
		if h.begun != nil {
			script.Wait = h.begun(ctx, vars.Numbers[0])
		}
		if script.Wait != nil {
			break
		}
		for _, number := range vars.Numbers {
			part := bytes.Clone(h.packed[number*kube.SnapshotPart : min((number+1)*kube.SnapshotPart, int64(len(h.packed)))])
			if h.part != nil {
				part = h.part(number, part)
			}
			text, err := json.Marshal(map[string]any{"number": number, "content": base64.StdEncoding.EncodeToString(part)})
			if err != nil {
				return ansible.Outcome{}, err
			}
			h.sent = append(h.sent, number)
			script.Events = append(script.Events, ansible.Event{Kind: ansible.EventResult, Host: play.Hosts[0].Name, Result: text})
		}
	case "forget.yml":
		h.id = uuid.Nil
	}
	return site.Play(ctx, play, sink, script)
}

func (k *kubeSite) snapshot() uuid.UUID {
	k.T.Helper()
	job, err := k.ask(func(tx *kernel.Tx, ref scope.Ref[kube.Cluster]) (uuid.UUID, error) {
		return kube.AskSnapshot(k.T.Context(), tx, k.kinds, ref)
	})
	if err != nil {
		k.T.Fatal(err)
	}
	return job
}

func (k *kubeSite) snapshots(cluster uuid.UUID) []kube.Snapshot {
	k.T.Helper()
	all, err := kube.SnapshotsOf(k.T.Context(), k.DB.Reader, cluster)
	if err != nil {
		k.T.Fatal(err)
	}
	return all
}

func (k *kubeSite) count(sql string, args ...any) (n int) {
	k.T.Helper()
	if err := k.pool.QueryRow(k.T.Context(), sql, args...).Scan(&n); err != nil {
		k.T.Fatal(err)
	}
	return n
}

func (k *kubeSite) unpack(s kube.Snapshot, keys *secret.Keyset) ([]byte, error) {
	var into bytes.Buffer
	err := kubework.Unpack(k.T.Context(), k.DB.Reader, keys, s, &into)
	return into.Bytes(), err
}

// TestASnapshotIsTakenAndKept: on a control plane that is well, brought by more than one play, encrypted, and deleted on the host.
func TestASnapshotIsTakenAndKept(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1", "k2", "k3"})
	h := k.etcdHost(21*kube.SnapshotPart + 1000)
	h.sick = []string{"k1"}
	k.BackendWith(k.work(), queue.Config{})
	job := k.snapshot()
	k.Ended(job, domain.JobSucceeded)
	all := k.snapshots(cluster)
	if len(all) != 1 || all[0].Node != "k2" || !slices.Equal(h.taken, []string{"k2"}) || h.id != uuid.Nil {
		t.Fatalf("%+v, taken on %q, left %s", all, h.taken, h.id)
	}
	got, err := k.unpack(all[0], k.keys)
	if err != nil || !bytes.Equal(got, h.content) {
		t.Errorf("%d bytes come back, of %d: %v", len(got), len(h.content), err)
	}
	if c := k.cluster(cluster); c.State != kube.ClusterActive {
		t.Errorf("cluster %s", c.State)
	}
	if n := k.count(`SELECT count(*) FROM events WHERE action = 'cluster_snapshot.create' AND object_id = $1 AND job_id = $2`, all[0].ID, job); n != 1 {
		t.Errorf("%d events", n)
	}
	// Neither rows nor the log have what a host sent.
	for number := range all[0].Parts {
		stored, err := kube.Part(t.Context(), k.DB.Reader, all[0].ID, number)
		if err != nil || bytes.Contains(stored, h.packed[number*kube.SnapshotPart+10:][:50]) {
			t.Errorf("part %d is stored as it is, %v", number, err)
		}
	}
	piece := base64.StdEncoding.EncodeToString(h.packed[:kube.SnapshotPart])[100:140]
	for _, table := range []string{"jobs", "job_steps", "job_log", "events"} {
		if n := k.count("SELECT count(*) FROM "+table+" x WHERE x::TEXT LIKE $1", "%"+piece+"%"); n > 0 {
			t.Errorf("%d rows of %s have content of etcd", n, table)
		}
	}
}

// TestOneBadPartRefusesAll: whatever is missing, changed or in another's place, nothing is taken for the snapshot.
func TestOneBadPartRefusesAll(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1"})
	h := k.etcdHost(3 * kube.SnapshotPart)
	k.BackendWith(k.work(), queue.Config{})
	// On its way: the host sends another byte.
	h.part = func(number int64, content []byte) []byte {
		if number == 1 {
			content[77] ^= 1
		}
		return content
	}
	j := k.Ended(k.snapshot(), domain.JobFailed)
	if j.Error.Code != "snapshot_differs" || len(k.snapshots(cluster)) > 0 || k.count(`SELECT count(*) FROM kube_snapshots`) > 0 {
		t.Errorf("%+v, and %d snapshots", j.Error, len(k.snapshots(cluster)))
	}
	if c := k.cluster(cluster); c.State != kube.ClusterActive {
		t.Errorf("cluster %s", c.State)
	}
	// Too short, too long.
	for _, change := range []func([]byte) []byte{func(b []byte) []byte { return b[1:] }, func(b []byte) []byte { return append(b, 0) }} {
		h.part = func(_ int64, content []byte) []byte { return change(content) }
		if j := k.Ended(k.snapshot(), domain.JobFailed); j.Error.Code != "host_answer" {
			t.Errorf("parts of another size: %+v", j.Error)
		}
	}
	h.part = nil
	k.Ended(k.snapshot(), domain.JobSucceeded)
	s := k.snapshots(cluster)[0]
	for _, c := range []struct{ name, sql string }{
		{"a changed part", `UPDATE kube_snapshot_parts SET content = set_byte(content, 99, 255 - get_byte(content, 99)) WHERE number = 2`},
		{"one in another's place", `UPDATE kube_snapshot_parts SET content = (SELECT p.content FROM kube_snapshot_parts p WHERE p.number = 0) WHERE number = 1`},
		{"a missing part", `DELETE FROM kube_snapshot_parts WHERE number = 1`},
	} {
		k.sql(`CREATE TABLE kept AS SELECT * FROM kube_snapshot_parts`)
		k.sql(c.sql)
		if _, err := k.unpack(s, k.keys); !errors.Is(err, kubework.ErrDiffers) {
			t.Errorf("%s: %v", c.name, err)
		}
		k.sql(`DELETE FROM kube_snapshot_parts`)
		k.sql(`INSERT INTO kube_snapshot_parts SELECT * FROM kept`)
		k.sql(`DROP TABLE kept`)
	}
	// A sum that does not fit, and fewer bytes than there are.
	other := s
	other.SHA256 = strings.Repeat("0", 64)
	if _, err := k.unpack(other, k.keys); !errors.Is(err, kubework.ErrDiffers) {
		t.Errorf("another sum: %v", err)
	}
	other = s
	other.Size--
	if _, err := k.unpack(other, k.keys); !errors.Is(err, kubework.ErrDiffers) {
		t.Errorf("another size: %v", err)
	}
	if got, err := k.unpack(s, k.keys); err != nil || !bytes.Equal(got, h.content) {
		t.Errorf("as it was: %v", err)
	}
}

// TestALargeSnapshotIsRefused before a part of it is asked for.
func TestALargeSnapshotIsRefused(t *testing.T) {
	t.Parallel()
	k, _ := upgradable(t, []string{"k1"})
	h := k.etcdHost(1000)
	h.stored = kube.LargestSnapshot + 1
	k.BackendWith(k.work(), queue.Config{})
	if j := k.Ended(k.snapshot(), domain.JobFailed); j.Error.Code != "snapshot_refused" || !strings.Contains(j.Error.Message, "at most 256 MiB") {
		t.Errorf("%+v", j.Error)
	}
	if len(h.sent) > 0 {
		t.Errorf("parts %v were sent", h.sent)
	}
}

// TestATakenOverSnapshotGoesOn with the parts that are not here yet, after the backend was killed while it waited for some.
func TestATakenOverSnapshotGoesOn(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1"})
	h := k.etcdHost(22 * kube.SnapshotPart)
	begun := make(chan struct{}, 1)
	held := make(chan struct{})
	h.begun = func(_ context.Context, first int64) <-chan struct{} {
		if first == 0 {
			return nil
		}
		begun <- struct{}{}
		return held
	}
	first := k.BackendWith(k.work(), queue.Config{})
	job := k.snapshot()
	site.Await(t, "the second play", begun)
	if n := k.count(`SELECT count(*) FROM kube_snapshot_parts`); n != 20 || len(k.snapshots(cluster)) > 0 {
		t.Errorf("%d parts are here, and %d snapshots are shown", n, len(k.snapshots(cluster)))
	}
	first.Stop()
	first.Kill()
	site.Await(t, "the backend's end", first.Stopped())
	h.mu.Lock()
	h.begun = nil
	h.mu.Unlock()
	k.BackendWith(k.work(), queue.Config{})
	k.Ended(job, domain.JobSucceeded)
	if len(h.taken) != 1 || len(h.sent) != len(slices.Compact(slices.Sorted(slices.Values(h.sent)))) {
		t.Errorf("taken %d times, parts %v", len(h.taken), h.sent)
	}
	if got, err := k.unpack(k.snapshots(cluster)[0], k.keys); err != nil || !bytes.Equal(got, h.content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func (k *kubeSite) lookAtSnapshots(cluster uuid.UUID, observe bool) reconcile.Condition {
	k.T.Helper()
	for _, c := range lookAt(k.T, kubework.SnapshotPolicies(k.config)[0], cluster, observe).Conditions {
		if c.Type == "snapshot_fresh" {
			return c
		}
	}
	k.T.Fatal("no condition")
	return reconcile.Condition{}
}

func (k *kubeSite) plan(p kube.SnapshotPlan) error {
	return k.do(func(tx *kernel.Tx) error {
		c, ref, err := kube.FindCluster(k.T.Context(), tx.Reader, k.workspace, "apps")
		if err != nil {
			return err
		}
		return kube.SetSnapshotPlan(k.T.Context(), tx, ref, c.Version, p)
	})
}

// TestSnapshotsAreTakenOnSchedule, once for each time, and old ones expire by number and by age.
func TestSnapshotsAreTakenOnSchedule(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1"})
	k.config.Kinds = k.kinds
	k.etcdHost(1000)
	if c := k.lookAtSnapshots(cluster, false); c.Status != reconcile.True || c.Reason != "not_planned" || k.jobOf(cluster, "cluster_snapshot") != uuid.Nil {
		t.Errorf("without a plan: %+v", c)
	}
	if err := k.plan(kube.SnapshotPlan{Hours: 6, Keep: 0, Days: 4000}); err == nil {
		t.Error("a plan that keeps none was taken")
	}
	if err := k.plan(kube.SnapshotPlan{Hours: 6, Keep: 3, Days: 10}); err != nil {
		t.Fatal(err)
	}
	k.lookAtSnapshots(cluster, true)
	if k.jobOf(cluster, "cluster_snapshot") != uuid.Nil {
		t.Error("a policy that observes asked for a job")
	}
	if c := k.lookAtSnapshots(cluster, false); c.Status != reconcile.True || c.Reason != "first_is_due" {
		t.Errorf("before the first: %+v", c)
	}
	job := k.jobOf(cluster, "cluster_snapshot")
	if job == uuid.Nil {
		t.Fatal("no job")
	}
	k.lookAtSnapshots(cluster, false)
	if n := k.count(`SELECT count(*) FROM jobs WHERE kind = 'cluster_snapshot'`); n != 1 {
		t.Errorf("%d jobs for one time", n)
	}
	k.BackendWith(k.work(), queue.Config{})
	k.Ended(job, domain.JobSucceeded)
	k.sql(`UPDATE kube_clusters SET snapshot_asked_at = now() - INTERVAL '5 hours', created_at = now() - INTERVAL '30 days'`)
	if c := k.lookAtSnapshots(cluster, false); c.Reason != "fresh" || k.jobOf(cluster, "cluster_snapshot") != uuid.Nil {
		t.Errorf("right after one: %+v", c)
	}
	k.sql(`UPDATE kube_snapshots SET begun_at = now() - INTERVAL '9 hours'`)
	if c := k.lookAtSnapshots(cluster, false); c.Status != reconcile.False || c.Reason != "old" || !strings.Contains(c.Message, "A job takes one now") {
		t.Errorf("after nine hours: %+v", c)
	}
	k.Ended(k.jobOf(cluster, "cluster_snapshot"), domain.JobSucceeded)
	if c := k.lookAtSnapshots(cluster, false); c.Reason != "fresh" {
		t.Errorf("afterwards: %+v", c)
	}

	for range 3 {
		k.Ended(k.snapshot(), domain.JobSucceeded)
	}
	newest := k.snapshots(cluster)[0]
	k.lookAtSnapshots(cluster, false)
	if all := k.snapshots(cluster); len(all) != 3 || all[0].ID != newest.ID {
		t.Errorf("%d are left of five", len(all))
	}
	k.sql(`UPDATE kube_snapshots SET begun_at = begun_at - INTERVAL '11 days'`)
	k.sql(`UPDATE kube_clusters SET snapshot_hours = 0`)
	// One that a job left before it was whole goes too.
	k.sql(`INSERT INTO kube_snapshots (id, workspace_id, cluster_id, node, kube_version, key_sealed, size, stored, parts, sha256, begun_at)
SELECT $1, s.workspace_id, s.cluster_id, s.node, s.kube_version, s.key_sealed, s.size, s.stored, s.parts, s.sha256, now() FROM kube_snapshots s LIMIT 1`, uuid.New())
	k.lookAtSnapshots(cluster, false)
	if all := k.snapshots(cluster); len(all) != 1 || all[0].ID != newest.ID || k.count(`SELECT count(*) FROM kube_snapshots`) != 1 {
		t.Errorf("%d are left that are eleven days old", len(all))
	}
	if n := k.count(`SELECT count(*) FROM events WHERE action = 'cluster_snapshot.expire'`); n != 4 {
		t.Errorf("%d events of expiry", n)
	}
	if n := k.count(`SELECT count(*) FROM kube_snapshot_parts`); n != 1 {
		t.Errorf("%d parts are left", n)
	}
}

// TestSnapshotsOutliveAKey: a rotation seals the key of a snapshot anew, and leaves its parts.
func TestSnapshotsOutliveAKey(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1"})
	h := k.etcdHost(5000)
	k.BackendWith(k.work(), queue.Config{})
	k.Ended(k.snapshot(), domain.JobSucceeded)
	for _, step := range []func(string) (uint32, error){secret.AddKey, secret.Promote} {
		if _, err := step(k.keyFile); err != nil {
			t.Fatal(err)
		}
	}
	both, err := secret.Load(k.keyFile)
	if err != nil {
		t.Fatal(err)
	}
	values, err := secret.Values(t.Context(), k.DB.Reader)
	if err != nil {
		t.Fatal(err)
	}
	d, err := db.Open(t.Context(), k.URL) // without the guard: what is sealed anew wakes no policy
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	for _, v := range values {
		if v.Place != "kube_snapshots" && v.Place != "kube_clusters" {
			continue
		}
		if err := both.Reseal(t.Context(), d, v); err != nil {
			t.Fatalf("%s: %v", v.Place, err)
		}
	}
	if _, err := secret.Retire(k.keyFile); err != nil {
		t.Fatal(err)
	}
	only, err := secret.Load(k.keyFile)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := k.unpack(k.snapshots(cluster)[0], only); err != nil || !bytes.Equal(got, h.content) {
		t.Errorf("with the new key alone: %d bytes, %v", len(got), err)
	}
	if err := kubework.Unpack(t.Context(), k.DB.Reader, k.keys, k.snapshots(cluster)[0], io.Discard); err == nil {
		t.Error("the old key still opens it")
	}
	if time.Since(k.snapshots(cluster)[0].BegunAt) > time.Hour {
		t.Error("the time of the snapshot changed")
	}
}
