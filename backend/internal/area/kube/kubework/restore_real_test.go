package kubework

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/kube"
)

// realRestore takes the steps of one restore on hosts as the job does, by the module.
type realRestore struct {
	*testing.T
	hosts  []hostOfEtcd
	id     uuid.UUID
	taken  kube.TakenSnapshot
	packed []byte
	cuts   []string // "k2 swap": where the module is killed, once each
}

// written fills etcd with more than one part, and a word.
func (h hostOfEtcd) written(word string) {
	h.Helper()
	random := rand.NewChaCha8([32]byte{9})
	for n := range 40 {
		value := make([]byte, 50_000) // which no compression makes much smaller
		_, _ = random.Read(value)
		h.put(fmt.Sprintf("/registry/%d", n), string(value))
	}
	h.put("/registry/word", word)
}

// newRestore takes a snapshot on the first host.
func newRestore(t *testing.T, hosts []hostOfEtcd) *realRestore {
	t.Helper()
	r := &realRestore{T: t, hosts: hosts, id: uuid.New()}
	r.taken, r.packed = hosts[0].snapshot(uuid.New())
	return r
}

// again is another restore of the same snapshot.
func (r *realRestore) again() *realRestore {
	return &realRestore{T: r.T, hosts: r.hosts, id: uuid.New(), taken: r.taken, packed: r.packed}
}

// send sends parts of the snapshot to a host, some of them.
func (r *realRestore) send(h hostOfEtcd, packed []byte, numbers ...int) string {
	r.Helper()
	said := ""
	for _, n := range numbers {
		part := packed[n*kube.SnapshotPart : min((n+1)*kube.SnapshotPart, len(packed))]
		said = string(h.must(map[string]any{"state": "parts", "restore": r.id, "number": n, "content": base64.StdEncoding.EncodeToString(part)}))
	}
	return said
}

func (r *realRestore) sendAll() {
	r.Helper()
	for _, h := range r.hosts {
		for n := range int(r.taken.Parts) {
			r.send(h, r.packed, n)
		}
	}
}

// do takes one step on a host.
func (r *realRestore) do(h hostOfEtcd, state string, more ...map[string]any) (json.RawMessage, error) {
	r.Helper()
	members := []map[string]string{}
	for _, other := range r.hosts {
		members = append(members, map[string]string{"name": other.Name, "address": other.Address})
	}
	params := map[string]any{"state": state, "restore": r.id, "size": r.taken.Size, "sha256": r.taken.SHA256, "count": r.taken.Parts, "members": members}
	for _, m := range more {
		for name, value := range m {
			params[name] = value
		}
	}
	cut := slices.IndexFunc(r.cuts, func(at string) bool { return strings.HasPrefix(at, h.Name+" "+state+" ") })
	if cut < 0 {
		return h.play(params)
	}
	h.places["CUT"] = r.cuts[cut][strings.LastIndexByte(r.cuts[cut], ' ')+1:]
	answer, err := h.play(params)
	delete(h.places, "CUT")
	if err == nil || !strings.Contains(err.Error(), "killed at") {
		r.Fatalf("not cut at %s: %v", r.cuts[cut], err)
	}
	r.cuts = slices.Delete(r.cuts, cut, cut+1)
	return answer, errCut
}

var errCut = errors.New("the run was killed")

// onAll takes steps on all hosts, as the job does. After a cut run it begins with the first of these steps again, as the job's step does.
func (r *realRestore) onAll(states ...string) error {
	r.Helper()
	for _, state := range states {
		for _, h := range r.hosts {
			_, err := r.do(h, state)
			if errors.Is(err, errCut) {
				return r.onAll(states...)
			}
			if err != nil {
				return fmt.Errorf("%s on %s: %w", state, h.Name, err)
			}
		}
	}
	return nil
}

// whole is the job, from the snapshot on the hosts to its end.
func (r *realRestore) whole() {
	r.Helper()
	for _, step := range [][]string{{doCheck}, {doMake}, {doStop, doSwap}, {doStart, doSettle, doFinish}} {
		if err := r.onAll(step...); err != nil {
			r.Fatal(err)
		}
	}
	if len(r.cuts) > 0 {
		r.Errorf("never came to %q", r.cuts)
	}
}

// word asks a host for what it has itself, until that is a word: members that follow may be a moment behind.
func (r *realRestore) word(h hostOfEtcd, want string) {
	r.Helper()
	got := ""
	for ended := time.Now().Add(20 * time.Second); time.Now().Before(ended); time.Sleep(50 * time.Millisecond) {
		said, err := h.Ask("/v3/kv/range", map[string]any{"key": base64.StdEncoding.EncodeToString([]byte("/registry/word")), "serializable": true})
		if err != nil {
			got = err.Error()
			continue
		}
		got = ""
		if found, _ := said["kvs"].([]any); len(found) > 0 {
			text, _ := base64.StdEncoding.DecodeString(found[0].(map[string]any)["value"].(string))
			got = string(text)
		}
		if got == want {
			return
		}
	}
	r.Errorf("the word on %s is %q, not %q", h.Name, got, want)
}

func (r *realRestore) words(want string) {
	r.Helper()
	for _, h := range r.hosts {
		r.word(h, want)
	}
}

// left are the names in the directory of restores of a host.
func (h hostOfEtcd) left() (names []string) {
	h.Helper()
	found, err := os.ReadDir(h.places["HERE"].(string))
	if err != nil {
		h.Fatal(err)
	}
	for _, f := range found {
		names = append(names, f.Name())
	}
	return names
}

// TestRealRestoreOfEtcd: what was written after a snapshot is gone, what was there is back, and revisions only go up.
func TestRealRestoreOfEtcd(t *testing.T) {
	t.Parallel()
	h := newHostOfEtcd(t)
	h.written("before")
	r := newRestore(t, []hostOfEtcd{h})
	h.put("/registry/word", "after")
	h.put("/registry/more", "after")
	make := func() error { return r.onAll(doMake) }
	if err := make(); err == nil || !strings.Contains(err.Error(), "not on the host") {
		t.Errorf("without parts: %v", err)
	}
	if got := r.send(h, r.packed, 0); got != `{"parts": [0]}` {
		t.Errorf("parts %s", got)
	}
	if err := make(); err == nil {
		t.Error("made with a part that is missing")
	}
	var rest []int
	for n := 1; n < int(r.taken.Parts); n++ {
		rest = append(rest, n)
	}
	bad := bytes.Clone(r.packed)
	bad[len(bad)-2000] ^= 1
	r.send(h, bad, rest...)
	if err := make(); err == nil {
		t.Error("made with a part that was changed")
	}
	if err := r.onAll(doStop); err == nil || !strings.Contains(err.Error(), "no data directory") {
		t.Errorf("stopped before there is data: %v", err)
	}
	r.send(h, r.packed, rest...)
	for _, state := range []string{doMake, doStop, doSwap, doStart, doFinish} { // a check of each changes nothing
		if _, err := r.do(h, state, map[string]any{"_ansible_check_mode": true}); err != nil {
			t.Errorf("check of %s: %v", state, err)
		}
	}
	if got := h.left(); !slices.Equal(got, []string{"mark.json", "parts", "snapshot.db"}) || h.value("/registry/word") != "after" {
		t.Errorf("after checks there is %q", got)
	}
	stop := h.kubelet()
	r.whole()
	if got, more := h.value("/registry/word"), h.value("/registry/more"); got != "before" || more != "" {
		t.Errorf("afterwards %q, %q", got, more)
	}
	said, err := h.Ask("/v3/kv/range", map[string]any{"key": base64.StdEncoding.EncodeToString([]byte("/registry/word"))})
	if err != nil {
		t.Fatal(err)
	}
	revision, err := strconv.ParseInt(fmt.Sprint(said["header"].(map[string]any)["revision"]), 10, 64)
	if err != nil || revision < 1_000_000_000 {
		t.Errorf("revision %d, %v", revision, err)
	}
	// What etcd had stays aside, and no content of it elsewhere.
	if got := h.left(); !slices.Equal(got, []string{"before-" + r.id.String(), "mark.json"}) {
		t.Errorf("left %q", got)
	}

	// Twice is once. Another restore of the same snapshot is one, and takes the place of what is aside.
	h.put("/registry/word", "later")
	r.whole()
	r.words("later")
	more := r.again()
	more.sendAll()
	more.whole()
	r.words("before")
	if got := h.left(); !slices.Equal(got, []string{"before-" + more.id.String(), "mark.json"}) {
		t.Errorf("left %q", got)
	}
	if n := stop(); n != 2 {
		t.Errorf("etcd was started %d times", n)
	}
}

// TestRealRestoreOfThreeMembers: killed within and between steps, all three have the old data, are well, and replicate what is new.
func TestRealRestoreOfThreeMembers(t *testing.T) {
	t.Parallel()
	hosts := newHostsOfEtcd(t, 3)
	hosts[1].put("/registry/word", "before")
	r := newRestore(t, hosts)
	hosts[2].put("/registry/word", "after")
	for _, h := range hosts {
		defer h.kubelet()()
	}
	r.sendAll()
	r.words("after") // all that comes before the stop changes nothing
	r.cuts = []string{
		"k2 made make", "k3 made note", "k1 stopped stop", "k2 stopped runs", "k1 swapped swap", "k2 swapped aside", "k3 swapped place",
		"k1 started note", "k2 started start", "k1 settled unsettled", "k3 finished note",
	}
	r.whole()
	r.words("before")

	var said struct{ Members []member }
	if err := json.Unmarshal(hosts[1].must(map[string]any{"state": "status"}), &said); err != nil || len(said.Members) != 3 {
		t.Fatalf("%+v, %v", said.Members, err)
	}
	if err := etcdWell(said.Members); err != nil {
		t.Error(err)
	}
	for _, h := range hosts {
		h.put("/registry/word", h.Name)
		r.words(h.Name)
	}

	// The way back by hand that the documentation tells.
	for _, h := range hosts {
		h.move(h.manifest(), h.manifest()+".kept")
	}
	for _, h := range hosts {
		h.unlocked()
		h.move(h.Data, h.Data+".restored")
		h.move(filepath.Join(h.places["HERE"].(string), "before-"+r.id.String()), h.Data)
	}
	for _, h := range hosts {
		h.move(h.manifest()+".kept", h.manifest())
	}
	r.words("after")
}

func (h hostOfEtcd) move(from, to string) {
	h.Helper()
	if err := os.Rename(from, to); err != nil {
		h.Fatal(err)
	}
}

// unlocked waits until etcd has ended.
func (h hostOfEtcd) unlocked() {
	h.Helper()
	for ended := time.Now().Add(20 * time.Second); time.Now().Before(ended); time.Sleep(20 * time.Millisecond) {
		if _, err := h.Ask("/v3/maintenance/status", map[string]any{}); err != nil {
			return
		}
	}
	h.Fatal("etcd runs on")
}

// TestRealRestoreGoesBack: what fails before the start of new data leaves all members as they were, after some have it in its place too.
func TestRealRestoreGoesBack(t *testing.T) {
	t.Parallel()
	hosts := newHostsOfEtcd(t, 3)
	hosts[0].put("/registry/word", "before")
	r := newRestore(t, hosts)
	hosts[0].put("/registry/word", "after")
	for _, h := range hosts[:2] {
		defer h.kubelet()()
	}
	r.sendAll()

	// Another host, other members, or another etcd behind the manifest are refused before anything is made.
	strange := *r
	strange.hosts = []hostOfEtcd{hosts[1], hosts[0], hosts[2]}
	strange.hosts[0].places = map[string]any{}
	for name, value := range hosts[1].places {
		strange.hosts[0].places[name] = value
	}
	strange.hosts[0].places["MANIFESTS"] = hosts[0].places["MANIFESTS"]
	if err := strange.onAll(doCheck); err == nil || !strings.Contains(err.Error(), "--name=k1, not k2") {
		t.Errorf("the manifest of another host: %v", err)
	}
	if err := r.onAll(doCheck, doMake); err != nil {
		t.Fatal(err)
	}
	fewer := *r
	fewer.hosts = hosts[:1]
	if err := fewer.onAll(doStop); err == nil || !strings.Contains(err.Error(), "for these control planes") {
		t.Errorf("for other members: %v", err)
	}

	// The third does not stop: nobody ends its pod.
	hosts[2].places["STOPS"] = 1
	if err := r.onAll(doStop, doSwap); err == nil || !strings.Contains(err.Error(), "stopped on k3: etcd did not stop") {
		t.Errorf("with a pod that runs on: %v", err)
	}
	if err := r.onAll(doBack); err != nil {
		t.Fatal(err)
	}
	r.words("after")
	hosts[0].put("/registry/word", "more")
	r.words("more")

	// The third has lost what was made for it, when the others have theirs in its place.
	defer hosts[2].kubelet()()
	hosts[2].places["STOPS"] = 60
	made := filepath.Join(hosts[2].places["HERE"].(string), "new")
	hosts[2].move(made, made+".lost")
	if err := r.onAll(doStop, doSwap); err == nil || !strings.Contains(err.Error(), "swapped on k3") {
		t.Errorf("without its data: %v", err)
	}
	for _, h := range hosts[:2] {
		if !slices.Contains(h.left(), "before-"+r.id.String()) {
			t.Errorf("%s has its data not in its place: %q", h.Name, h.left())
		}
	}
	r.cuts = []string{"k1 back start"}
	if err := r.onAll(doBack); err != nil {
		t.Fatal(err)
	}
	r.words("more")

	// A retry comes to its end, also where another restore is asked for in between.
	hosts[2].move(made+".lost", made)
	if err := r.onAll(doStop, doSwap); err != nil {
		t.Fatal(err)
	}
	more := r.again()
	more.sendAll() // takes the one that was given up back first
	r.words("more")
	more.whole()
	r.words("before")
}
