package kubework

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/testkit/realkube"
)

// playedEtcd runs the module as Ansible does, with another place for what kubeadm keeps on a host.
const playedEtcd = `
import importlib.util, json, os, sys
places, params, module = json.load(sys.stdin)
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
import ansible.module_utils.basic as basic
spec = importlib.util.spec_from_file_location("played", "library/%s.py" % module)
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
cut = places.pop("CUT", None)
for name, value in places.items():
    setattr(m, name, value)
if cut:
    def killed(*_, **__):
        print(json.dumps({"failed": True, "msg": "killed at " + cut}), flush=True)
        os._exit(1)
    setattr(m.Restore, cut, killed)
basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": params}).encode()
m.main()
`

// hostOfEtcd is a host with a member of etcd, and the module that plays run there.
type hostOfEtcd struct {
	*testing.T
	*realkube.Etcd
	places map[string]any
}

func newHostOfEtcd(t *testing.T) hostOfEtcd {
	t.Helper()
	return newHostsOfEtcd(t, 1)[0]
}

func newHostsOfEtcd(t *testing.T, members int) (all []hostOfEtcd) {
	t.Helper()
	for _, e := range realkube.NewEtcds(t, members) {
		h := hostOfEtcd{t, e, map[string]any{
			"PKI": e.PKI, "ENDPOINT": e.Endpoint, "DATA": e.Data, "PEER": "https://%s:" + e.PeerPort, "SNAPSHOTS": filepath.Join(filepath.Dir(e.Data), "snapshots"),
			"HERE": filepath.Join(filepath.Dir(e.Data), "restore"), "MANIFESTS": filepath.Join(t.TempDir(), "manifests"), "ETCDUTL": e.Builder.Path("etcdutl"),
			"PORTS": map[string]int{}, "STOPS": 60, "STARTS": 60, "PAUSE": 0.1, "ROOM": 0,
		}}
		if err := os.Mkdir(h.places["MANIFESTS"].(string), 0o700); err != nil {
			t.Fatal(err)
		}
		text := "kind: Pod\nspec:\n  containers:\n  - command:\n    - etcd\n    - " + strings.Join(e.Args(), "\n    - ") + "\n    image: registry.k8s.io/etcd:3.6.16-0\n"
		if err := os.WriteFile(h.manifest(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, h)
	}
	return all
}

func (h hostOfEtcd) manifest() string {
	return filepath.Join(h.places["MANIFESTS"].(string), "etcd.yaml")
}

// kubelet ends etcd when its manifest goes, and starts it when the manifest is back, until the returned function is called.
func (h hostOfEtcd) kubelet() (stop func() (restarts int)) {
	ended, done, restarts, runs := make(chan struct{}), make(chan struct{}), 0, true
	go func() {
		defer close(done)
		for {
			select {
			case <-ended:
				return
			case <-time.After(20 * time.Millisecond):
			}
			_, err := os.Stat(h.manifest())
			switch {
			case err != nil && runs:
				h.Etcd.Kill()
				runs = false
			case err == nil && !runs:
				h.Etcd.Launch()
				runs = true
				restarts++
			}
		}
	}()
	return func() int {
		close(ended)
		<-done
		return restarts
	}
}

// play runs the module. What it answers as failed is an error.
func (h hostOfEtcd) play(params map[string]any) (json.RawMessage, error) {
	h.Helper()
	params["_ansible_remote_tmp"], params["node"] = h.TempDir(), h.Name
	module := "kloigos_etcd"
	if params["restore"] != nil {
		module = "kloigos_etcd_restore"
	}
	given, err := json.Marshal([]any{h.places, params, module})
	if err != nil {
		h.Fatal(err)
	}
	cmd := exec.Command("/usr/bin/python3", "-B", "-c", playedEtcd)
	cmd.Stdin = bytes.NewReader(given)
	cmd.Dir = "../../../../../playbooks"
	out, err := cmd.Output()
	var said struct {
		Failed bool            `json:"failed"`
		Msg    string          `json:"msg"`
		Result json.RawMessage `json:"kloigos_result"`
	}
	if bad := json.Unmarshal(out, &said); bad != nil {
		h.Fatalf("%v: %v\n%s", bad, err, out)
	}
	if said.Failed {
		return nil, fmt.Errorf("%s", said.Msg)
	}
	return said.Result, nil
}

func (h hostOfEtcd) must(params map[string]any) json.RawMessage {
	h.Helper()
	out, err := h.play(params)
	if err != nil {
		h.Fatalf("%v: %v", params, err)
	}
	return out
}

func (h hostOfEtcd) put(key, value string) {
	h.Helper()
	_, err := h.Ask("/v3/kv/put", map[string]any{"key": base64.StdEncoding.EncodeToString([]byte(key)), "value": base64.StdEncoding.EncodeToString([]byte(value))})
	if err != nil {
		h.Fatal(err)
	}
}

// value is what a key has; "" for none.
func (h hostOfEtcd) value(key string) string {
	h.Helper()
	said, err := h.Ask("/v3/kv/range", map[string]any{"key": base64.StdEncoding.EncodeToString([]byte(key))})
	if err != nil {
		h.Fatal(err)
	}
	found, _ := said["kvs"].([]any)
	if len(found) == 0 {
		return ""
	}
	text, err := base64.StdEncoding.DecodeString(found[0].(map[string]any)["value"].(string))
	if err != nil {
		h.Fatal(err)
	}
	return string(text)
}

// snapshot takes one by the module, and brings its parts.
func (h hostOfEtcd) snapshot(id uuid.UUID) (taken kube.TakenSnapshot, packed []byte) {
	h.Helper()
	if err := json.Unmarshal(h.must(map[string]any{"state": "snapshot", "snapshot": id}), &taken); err != nil {
		h.Fatal(err)
	}
	if err := taken.Check(); err != nil {
		h.Fatalf("%+v: %v", taken, err)
	}
	of := kube.Snapshot{Stored: taken.Stored, Parts: taken.Parts}
	b := batch{of: of, plain: map[int64][]byte{}}
	for number := range taken.Parts {
		b.wanted = append(b.wanted, number)
		if err := b.take(h.must(map[string]any{"state": "part", "snapshot": id, "number": number})); err != nil {
			h.Fatal(err)
		}
		packed = append(packed, b.plain[number]...)
	}
	return taken, packed
}

// TestRealSnapshotOfEtcd: taken through TLS by the module, brought in parts, and what etcdutl reads again.
func TestRealSnapshotOfEtcd(t *testing.T) {
	t.Parallel()
	h := newHostOfEtcd(t)
	if members := h.must(map[string]any{"state": "status"}); !strings.Contains(string(members), `"name": "k1"`) {
		t.Fatalf("members %s", members)
	}
	random := rand.NewChaCha8([32]byte{7})
	for n := range 40 {
		value := make([]byte, 50_000) // which no compression makes much smaller
		_, _ = random.Read(value)
		h.put(fmt.Sprintf("/registry/%d", n), string(value))
	}
	h.put("/registry/word", "kept")
	id := uuid.New()
	taken, packed := h.snapshot(id)
	if taken.Parts < 2 {
		t.Errorf("%d parts", taken.Parts)
	}
	unpacked, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(unpacked)
	if err != nil || int64(len(content)) != taken.Size {
		t.Fatalf("%d bytes of %d: %v", len(content), taken.Size, err)
	}
	file := filepath.Join(t.TempDir(), "snapshot.db")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command(h.Builder.Path("etcdutl"), "snapshot", "status", file, "-w", "json").CombinedOutput()
	if err != nil || !bytes.Contains(said, []byte(`"totalKey":41`)) {
		t.Errorf("etcdutl says %s, %v", said, err)
	}

	// Only root reads what is on the host, and a second one takes its place.
	at := filepath.Join(h.places["SNAPSHOTS"].(string), id.String())
	if info, err := os.Stat(at); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	h.snapshot(uuid.New())
	if _, err := os.Stat(at); err == nil {
		t.Error("the first is still there")
	}
	if _, err := h.play(map[string]any{"state": "part", "snapshot": id, "number": 0}); err == nil {
		t.Error("a part of the first was sent")
	}
	if _, err := h.play(map[string]any{"state": "part", "snapshot": "../../etc/passwd", "number": 0}); err == nil || !strings.Contains(err.Error(), "malformed") {
		t.Errorf("another file: %v", err)
	}
	h.must(map[string]any{"state": "forgotten"})
	if _, err := os.Stat(h.places["SNAPSHOTS"].(string)); err == nil {
		t.Error("snapshots are left")
	}
	h.must(map[string]any{"state": "forgotten"})
	h.must(map[string]any{"state": "snapshot", "snapshot": id, "_ansible_check_mode": true})
	if _, err := os.Stat(h.places["SNAPSHOTS"].(string)); err == nil {
		t.Error("a check took a snapshot")
	}

	// A disk that etcd needs itself, and a snapshot that is too large, leave nothing behind.
	for _, place := range []string{"LARGEST", "ROOM"} { // of kloigos_etcd
		h.places[place] = map[string]int64{"LARGEST": 1000, "ROOM": 1 << 60}[place]
		if _, err := h.play(map[string]any{"state": "snapshot", "snapshot": id}); err == nil || !strings.Contains(err.Error(), "MiB") && !strings.Contains(err.Error(), "GiB") {
			t.Errorf("%s: %v", place, err)
		}
		if left, _ := os.ReadDir(h.places["SNAPSHOTS"].(string)); len(left) > 0 {
			t.Errorf("%s left %v", place, left)
		}
		delete(h.places, place)
	}
	h.Kill()
	if _, err := h.play(map[string]any{"state": "snapshot", "snapshot": id}); err == nil {
		t.Error("a snapshot of an etcd that is down")
	}
}
