package app_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
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

// restoreHost takes parts, and restores, as the module on control planes does. Other plays are etcdHost's.
type restoreHost struct {
	*etcdHost
	held func(did string) <-chan struct{} // of a play: "receive 4 k1" for a part, "swapped k2" for a step
	fail map[string]string                // by step and host: why it fails
	tell map[string]map[string]any        // what a host tells of its etcd; without it, what all tell

	lock  sync.Mutex
	parts map[string]map[int64][]byte // by host
	sent  int                         // parts that came
	did   []string                    // what happened, in its order

	members []string // of the last step
}

func (k *kubeSite) restoreHost(h *etcdHost) *restoreHost {
	r := &restoreHost{etcdHost: h, parts: map[string]map[int64][]byte{}, fail: map[string]string{}, tell: map[string]map[string]any{}}
	k.Runner.HandleFunc(kube.EtcdPlaybook, r.play)
	return r
}

type restoreVars struct {
	Parts []struct {
		Number  int64  `json:"number"`
		Content string `json:"content"`
	} `json:"kube_etcd_receive_parts"`
	Do      string              `json:"kube_etcd_restore_do"`
	ID      uuid.UUID           `json:"kube_etcd_restore_id"`
	Count   int                 `json:"kube_etcd_restore_count"`
	Members []map[string]string `json:"kube_etcd_restore_members"`
}

func (r *restoreHost) play(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
	text, err := json.Marshal(play.Vars)
	if err != nil {
		return ansible.Outcome{}, err
	}
	var vars restoreVars
	if err := json.Unmarshal(text, &vars); err != nil {
		return ansible.Outcome{}, err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	var script scripted.Script
	switch host := play.Hosts[0].Name; play.Playbook {
	case "receive.yml":
		script, err = r.receive(host, vars)
	case "restore.yml":
		script = r.step(host, vars)
	case "restart.yml":
		r.did = append(r.did, "restart "+host)
	default:
		return r.etcdHost.play(ctx, play, sink)
	}
	if err != nil {
		return ansible.Outcome{}, err
	}
	return site.Play(ctx, play, sink, script)
}

func (r *restoreHost) receive(host string, vars restoreVars) (script scripted.Script, err error) {
	if r.parts[host] == nil {
		r.parts[host] = map[int64][]byte{}
	}
	for _, p := range vars.Parts {
		if p.Content == "" {
			continue
		}
		if r.held != nil {
			if script.Wait = r.held(fmt.Sprintf("receive %d %s", p.Number, host)); script.Wait != nil {
				return script, nil
			}
		}
		if r.parts[host][p.Number], err = base64.StdEncoding.DecodeString(p.Content); err != nil {
			return script, err
		}
		r.sent++
	}
	script.Result = map[string]any{"parts": append([]int64{}, slices.Sorted(maps.Keys(r.parts[host]))...)}
	return script, nil
}

func (r *restoreHost) step(host string, vars restoreVars) (script scripted.Script) {
	did := vars.Do + " " + host
	r.members = nil
	for _, m := range vars.Members {
		r.members = append(r.members, m["name"])
	}
	r.did = append(r.did, did)
	if r.held != nil {
		if script.Wait = r.held(did); script.Wait != nil {
			return script
		}
	}
	if why := r.fail[did]; why != "" {
		script.Failure = &ansible.Failure{Code: ansible.CodeTaskFailed, Message: why}
		return script
	}
	switch vars.Do {
	case "checked":
		told := maps.Clone(map[string]any{"image": "registry.k8s.io/etcd:3.6.16-0", "etcd": "3.6.16", "etcdutl": "3.6.16"})
		maps.Copy(told, r.tell[host])
		script.Result = told
	case "made":
		var whole []byte
		for number := range int64(vars.Count) {
			whole = append(whole, r.parts[host][number]...)
		}
		if !bytes.Equal(whole, r.packed) {
			r.k.T.Errorf("made on %s from %d bytes that are not what was taken", host, len(whole))
		}
	}
	if !slices.ContainsFunc(vars.Members, func(m map[string]string) bool { return m["name"] == host && m["address"] != "" }) {
		r.k.T.Errorf("%s on %s for the members %v", vars.Do, host, vars.Members)
	}
	return script
}

// playsOn are steps, each on all hosts before the next.
func playsOn(hosts string, steps ...string) (all []string) {
	for _, step := range steps {
		for host := range strings.SplitSeq(hosts, " ") {
			all = append(all, step+" "+host)
		}
	}
	return all
}

func (k *kubeSite) restore(snapshot uuid.UUID, confirm string, without ...string) (job uuid.UUID, err error) {
	return job, k.do(func(tx *kernel.Tx) error {
		_, ref, err := kube.FindSnapshot(k.T.Context(), tx.Reader, k.workspace, snapshot.String())
		if err == nil {
			job, err = kube.AskRestore(k.T.Context(), tx, k.kinds, ref, kube.RestoreDraft{Confirm: confirm, Without: without})
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
	if _, err := k.restore(s.ID, "other"); err == nil || !strings.Contains(err.Error(), "stop on all control planes: k1") {
		t.Errorf("restored without its name: %v", err)
	}
	begun := make(chan struct{}, 1)
	r.held = func(did string) <-chan struct{} {
		if did != "receive 4 k1" {
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
	if c := k.cluster(cluster); c.State != kube.ClusterChanging || !slices.Equal(r.did, []string{"checked k1"}) {
		t.Errorf("cluster %s, %q", c.State, r.did)
	}
	k.killed(first, r)
	k.BackendWith(k.work(), queue.Config{})
	k.Ended(job, domain.JobSucceeded)
	want := append(playsOn("k1", "checked", "made", "stopped", "swapped", "started", "settled", "finished"), playsOn("k1 k2", "restart")...)
	if !slices.Equal(r.did, want) || r.sent != int(s.Parts) {
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

// killed ends a backend at once. What a play of it was held by is gone.
func (k *kubeSite) killed(backend *site.Backend, r *restoreHost) {
	k.T.Helper()
	backend.Stop()
	backend.Kill()
	site.Await(k.T, "the backend's end", backend.Stopped())
	r.lock.Lock()
	defer r.lock.Unlock()
	r.held = nil
}

// TestThreeControlPlanesAreRestored: each takes a step before any takes the next. A backend that takes over in the middle of the exchange makes
// sure that all are stopped, and goes on.
func TestThreeControlPlanesAreRestored(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1", "k2", "k3"}, "k4")
	r := k.restoreHost(k.etcdHost(2 * kube.SnapshotPart))
	first := k.BackendWith(k.work(), queue.Config{})
	k.Ended(k.snapshot(), domain.JobSucceeded)
	s := k.snapshots(cluster)[0]
	if !slices.Equal(s.Planes, []string{"k1", "k2", "k3"}) || len(s.Away) > 0 {
		t.Errorf("control planes %q, away %q", s.Planes, s.Away)
	}
	begun := make(chan struct{}, 1)
	r.held = func(did string) <-chan struct{} {
		if did != "swapped k2" {
			return nil
		}
		begun <- struct{}{}
		return make(chan struct{})
	}
	job, err := k.restore(s.ID, "apps")
	if err != nil {
		t.Fatal(err)
	}
	site.Await(t, "the second swap", begun)
	k.killed(first, r)
	k.BackendWith(k.work(), queue.Config{})
	k.Ended(job, domain.JobSucceeded)
	planes := "k1 k2 k3"
	want := slices.Concat(playsOn(planes, "checked", "made", "stopped"), playsOn("k1 k2", "swapped"), playsOn(planes, "stopped", "swapped", "started", "settled", "finished"), playsOn("k1 k2 k3 k4", "restart"))
	if !slices.Equal(r.did, want) || r.sent != 3*int(s.Parts) {
		t.Errorf("did %q, %d parts came", r.did, r.sent)
	}
	if c := k.cluster(cluster); c.State != kube.ClusterActive {
		t.Errorf("cluster %s: %s", c.State, c.StateMessage)
	}
}

// TestAFailedRestoreGoesBack before anything started on new data, also where some have it in its place. A retry then comes to its end.
func TestAFailedRestoreGoesBack(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1", "k2", "k3"})
	r := k.restoreHost(k.etcdHost(1000))
	k.BackendWith(k.work(), queue.Config{})
	k.Ended(k.snapshot(), domain.JobSucceeded)
	r.fail["swapped k3"] = "the disk is full"
	r.fail["back k2"] = "no answer"
	job, err := k.restore(k.snapshots(cluster)[0].ID, "apps")
	if err != nil {
		t.Fatal(err)
	}
	if j := k.Ended(job, domain.JobFailed); !strings.Contains(j.Error.Message, "the disk is full") || !strings.Contains(j.Error.Message, "On k2 the static pods may be stopped") {
		t.Errorf("%+v", j.Error)
	}
	planes := "k1 k2 k3"
	if want := playsOn(planes, "checked", "made", "stopped", "swapped", "back"); !slices.Equal(r.did, want) {
		t.Errorf("did %q", r.did)
	}
	if c := k.cluster(cluster); c.State != kube.ClusterDegraded || !strings.Contains(c.StateMessage, "the disk is full") {
		t.Errorf("cluster %s: %s", c.State, c.StateMessage)
	}
	r.lock.Lock()
	r.did, r.fail = nil, map[string]string{}
	r.lock.Unlock()
	if err := k.Intents.RetryJob(t.Context(), k.Call, job, false); err != nil {
		t.Fatal(err)
	}
	k.Ended(job, domain.JobSucceeded)
	if want := playsOn(planes, "stopped", "swapped", "started", "settled", "finished", "restart"); !slices.Equal(r.did, want) {
		t.Errorf("did %q", r.did)
	}
}

// TestControlPlanesThatDifferAreNotRestored: nothing is sent, made or stopped.
func TestControlPlanesThatDifferAreNotRestored(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1", "k2", "k3"})
	r := k.restoreHost(k.etcdHost(1000))
	k.BackendWith(k.work(), queue.Config{})
	k.Ended(k.snapshot(), domain.JobSucceeded)
	for _, c := range []struct{ of, told, want string }{
		{"image", "registry.k8s.io/etcd:3.5.21-0", "k2 has the image registry.k8s.io/etcd:3.5.21-0 of etcd, and k1 has"},
		{"etcd", "3.5.21", "k2 runs etcd 3.5.21, and k1 runs 3.6.16"},
		{"etcdutl", "3.5.21", "k2 has etcdutl 3.5.21, and k1 has 3.6.16"},
		{"etcdutl", "", "k2 did not tell the version of its etcdutl"},
	} {
		r.lock.Lock()
		r.tell["k2"], r.did, r.sent = map[string]any{c.of: c.told}, nil, 0
		r.lock.Unlock()
		job, err := k.restore(k.snapshots(cluster)[0].ID, "apps")
		if err != nil {
			t.Fatal(err)
		}
		j := k.Ended(job, domain.JobFailed)
		if j.Error.Code != "restore_versions" || !strings.Contains(j.Error.Message, c.want) || !slices.Equal(r.did, playsOn("k1 k2 k3", "checked")) || r.sent > 0 {
			t.Errorf("%+v, did %q, %d parts", j.Error, r.did, r.sent)
		}
	}
	// A member that does not answer may be why there is a restore.
	r.lock.Lock()
	r.tell["k1"], r.tell["k2"] = map[string]any{"etcd": ""}, nil
	r.lock.Unlock()
	job, err := k.restore(k.snapshots(cluster)[0].ID, "apps")
	if err != nil {
		t.Fatal(err)
	}
	k.Ended(job, domain.JobSucceeded)
}

// TestAFailedRestoreGoesOnWithARetry, and leaves the cluster degraded until then. A snapshot that was changed stops nothing on the host.
func TestAFailedRestoreGoesOnWithARetry(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1"})
	r := k.restoreHost(k.etcdHost(2 * kube.SnapshotPart))
	k.BackendWith(k.work(), queue.Config{})
	k.Ended(k.snapshot(), domain.JobSucceeded)
	s := k.snapshots(cluster)[0]
	r.fail["settled k1"] = "etcd is not well 900 s after its start on what was restored"
	job, err := k.restore(s.ID, "apps")
	if err != nil {
		t.Fatal(err)
	}
	k.Ended(job, domain.JobFailed)
	if c := k.cluster(cluster); c.State != kube.ClusterDegraded || !strings.Contains(c.StateMessage, "is not well") {
		t.Errorf("cluster %s: %s", c.State, c.StateMessage)
	}
	r.lock.Lock()
	r.fail = map[string]string{}
	r.lock.Unlock()
	if err := k.Intents.RetryJob(t.Context(), k.Call, job, false); err != nil {
		t.Fatal(err)
	}
	k.Ended(job, domain.JobSucceeded)
	want := playsOn("k1", "checked", "made", "stopped", "swapped", "started", "settled", "started", "settled", "finished", "restart")
	if !slices.Equal(r.did, want) { // what started on new data goes back by nobody but a person
		t.Errorf("did %q", r.did)
	}

	r.lock.Lock()
	r.did, r.parts = nil, map[string]map[int64][]byte{}
	r.lock.Unlock()
	k.sql(`UPDATE kube_snapshot_parts SET content = set_byte(content, 99, 255 - get_byte(content, 99)) WHERE number = 1`)
	if job, err = k.restore(s.ID, "apps"); err != nil {
		t.Fatal(err)
	}
	if j := k.Ended(job, domain.JobFailed); j.Error.Code != "snapshot_differs" || !slices.Equal(r.did, []string{"checked k1"}) {
		t.Errorf("%+v, did %q", j.Error, r.did)
	}
}

// TestSomeSnapshotsAreNotRestored: with a control plane that is away, of another version, or while another job changes the cluster.
func TestSomeSnapshotsAreNotRestored(t *testing.T) {
	t.Parallel()
	k, cluster := upgradable(t, []string{"k1", "k2", "k3"})
	k.etcdHost(1000)
	backend := k.BackendWith(k.work(), queue.Config{})
	k.Ended(k.snapshot(), domain.JobSucceeded)
	backend.Stop()
	site.Await(t, "the backend's end", backend.Stopped())
	s := k.snapshots(cluster)[0]
	refused := func(code, what string) {
		t.Helper()
		_, err := k.restore(s.ID, "apps")
		var conflict *fault.Conflict
		if !errors.As(err, &conflict) || code != "" && conflict.Code != code || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %s", err, code)
		}
	}
	for _, c := range [][2]string{
		{`UPDATE hosts SET state = 'lost' WHERE name = 'k2'`, `UPDATE hosts SET state = 'ready' WHERE name = 'k2'`},
		{`UPDATE hosts SET health = 'unreachable' WHERE name = 'k2'`, `UPDATE hosts SET health = 'healthy' WHERE name = 'k2'`},
		{`UPDATE kube_nodes SET state = 'leaving' WHERE name = 'k2'`, `UPDATE kube_nodes SET state = 'ready' WHERE name = 'k2'`},
	} {
		k.sql(c[0])
		refused("restore_host", "k2")
		k.sql(c[1])
	}
	k.sql(`UPDATE kube_snapshots SET kube_version = 'v1.35.9'`)
	refused("restore_version", "v1.35.9")
	k.sql(`UPDATE kube_snapshots SET kube_version = 'v1.36.1'`)
	k.sql(`UPDATE kube_clusters SET state = 'changing'`)
	refused("", "")
	k.sql(`UPDATE kube_clusters SET state = 'degraded'`)
	if _, err := k.restore(s.ID, "apps"); err != nil {
		t.Errorf("of the same minor version: %v", err)
	}
}
