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

	"github.com/google/uuid"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/testkit/realkube"
)

// playedEtcd runs the module as Ansible does, with another place for what kubeadm keeps on a host.
const playedEtcd = `
import importlib.util, json, sys
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
import ansible.module_utils.basic as basic
spec = importlib.util.spec_from_file_location("kloigos_etcd", "library/kloigos_etcd.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
places, params = json.loads(sys.argv[1]), json.loads(sys.argv[2])
for name, value in places.items():
    setattr(m, name, value)
basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": params}).encode()
m.main()
`

// hostOfEtcd is a host with an etcd, and the module that plays run there.
type hostOfEtcd struct {
	*testing.T
	*realkube.Etcd
	places map[string]any
}

func newHostOfEtcd(t *testing.T) hostOfEtcd {
	t.Helper()
	e := realkube.NewEtcd(t)
	return hostOfEtcd{t, e, map[string]any{"PKI": e.PKI, "ENDPOINT": e.Endpoint, "SNAPSHOTS": filepath.Join(t.TempDir(), "snapshots")}}
}

// play runs the module. What it answers as failed is an error.
func (h hostOfEtcd) play(params map[string]any) (json.RawMessage, error) {
	h.Helper()
	params["_ansible_remote_tmp"], params["node"] = h.TempDir(), "k1"
	var args []string
	for _, part := range []any{h.places, params} {
		text, err := json.Marshal(part)
		if err != nil {
			h.Fatal(err)
		}
		args = append(args, string(text))
	}
	cmd := exec.Command("/usr/bin/python3", append([]string{"-B", "-c", playedEtcd}, args...)...)
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
	b := batch{plain: make([][]byte, taken.Parts), of: of}
	for number := range taken.Parts {
		if err := b.take(h.must(map[string]any{"state": "part", "snapshot": id, "number": number})); err != nil {
			h.Fatal(err)
		}
	}
	return taken, bytes.Join(b.plain, nil)
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
	for _, place := range []string{"LARGEST", "ROOM"} {
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
