package kubework

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// lost ends the members of etcd on hosts for good, and makes sure that nobody can write any more.
func lost(t *testing.T, left hostOfEtcd, hosts ...hostOfEtcd) {
	t.Helper()
	for _, h := range hosts {
		h.Kill()
	}
	if err := left.tryPut("/registry/nobody", "nobody"); err == nil {
		t.Fatal("written without a quorum")
	}
}

func (h hostOfEtcd) tryPut(key, value string) error {
	encode := base64.StdEncoding.EncodeToString
	_, err := h.Ask("/v3/kv/put", map[string]any{"key": encode([]byte(key)), "value": encode([]byte(value))})
	return err
}

// members are those that a host tells of, in the order of their names. All of them have to be well.
func (h hostOfEtcd) members() (names []string) {
	h.Helper()
	var said struct{ Members []member }
	if err := json.Unmarshal(h.must(map[string]any{"state": "status"}), &said); err != nil {
		h.Fatal(err)
	}
	if err := etcdWell(said.Members); err != nil {
		h.Error(err)
	}
	for _, m := range said.Members {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return names
}

// TestRealRestoreWithoutTheLost: two of three members are gone for good. The snapshot is restored on the third alone, killed within and between
// the steps. It takes writes, members that come back with the old data change nothing in it, and a new one can join it.
func TestRealRestoreWithoutTheLost(t *testing.T) {
	t.Parallel()
	hosts := newHostsOfEtcd(t, 3)
	left := hosts[0]
	hosts[1].written("before")
	r := newRestore(t, hosts)
	hosts[2].put("/registry/word", "after")
	r.words("after")
	lost(t, left, hosts[1:]...)
	r.hosts = hosts[:1]
	defer left.kubelet()()
	r.sendAll()

	// What fails before the start leaves it as it was, without a quorum.
	if err := r.onAll(doCheck, doMake); err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(left.places["HERE"].(string), "new")
	left.move(made, made+".lost")
	if err := r.onAll(doStop, doSwap); err == nil || !strings.Contains(err.Error(), "swapped on k1") {
		t.Fatalf("without its data: %v", err)
	}
	if err := r.onAll(doBack); err != nil {
		t.Fatal(err)
	}
	hosts[1].Launch() // a member without a quorum answers no more once it was started anew
	r.word(left, "after")
	hosts[1].Kill()

	more := r.again()
	more.sendAll()
	more.cuts = []string{
		"k1 made make", "k1 made note", "k1 stopped stop", "k1 stopped runs", "k1 swapped swap", "k1 swapped aside", "k1 swapped place",
		"k1 started note", "k1 started start", "k1 settled unsettled", "k1 finished note",
	}
	more.whole()
	more.words("before")
	if got := left.members(); !slices.Equal(got, []string{"k1"}) {
		t.Errorf("members %q", got)
	}
	if !slices.Contains(left.left(), "before-"+more.id.String()) {
		t.Errorf("the old data is not kept: %q", left.left())
	}
	left.put("/registry/word", "new")

	// Two of three are a quorum of what was before, and the third is not one of them any more.
	for _, h := range hosts[1:] {
		h.Launch()
	}
	r.word(hosts[1], "after")
	hosts[1].put("/registry/word", "old")
	r.word(hosts[2], "old")
	more.words("new")
	left.put("/registry/word", "newer")
	if got := left.members(); !slices.Equal(got, []string{"k1"}) {
		t.Errorf("members %q, with those that came back", got)
	}
	for _, h := range hosts[1:] {
		h.Kill()
	}

	// As cluster add-nodes --control-plane does: every member is well, then another joins.
	if err := hosts[1].Join(left.Etcd); err != nil {
		t.Fatal(err)
	}
	if got := left.members(); !slices.Equal(got, []string{"k1", "k2"}) {
		t.Errorf("members %q", got)
	}
	r.word(hosts[1], "newer")
	hosts[1].put("/registry/word", "last")
	r.word(left, "last")
}

// TestRealSnapshotWithoutQuorum: the one member that is left gives a snapshot of what it has, and is restored to that.
func TestRealSnapshotWithoutQuorum(t *testing.T) {
	t.Parallel()
	hosts := newHostsOfEtcd(t, 3)
	left := hosts[1]
	hosts[0].put("/registry/word", "last")
	everywhere := &realRestore{T: t, hosts: hosts}
	everywhere.words("last")
	lost(t, left, hosts[0], hosts[2])
	var said struct{ Members []member }
	if err := json.Unmarshal(left.must(map[string]any{"state": "status"}), &said); err != nil {
		t.Fatal(err)
	}
	for _, m := range said.Members { // it still tells of itself, and that it can't decide
		if answers := m.Name == "k2"; m.Healthy || answers != (m.Size > 0 && m.Applied > 0) {
			t.Errorf("%+v", m)
		}
	}
	r := newRestore(t, hosts[1:2])
	defer left.kubelet()()
	r.sendAll()
	r.whole()
	r.words("last")
	if got := left.members(); !slices.Equal(got, []string{"k2"}) {
		t.Errorf("members %q", got)
	}
	left.put("/registry/word", "new")
	r.words("new")
}

// TestRealMemberStartedWithoutQuorum gives no snapshot: etcd serves nobody before it has had a leader.
func TestRealMemberStartedWithoutQuorum(t *testing.T) {
	t.Parallel()
	hosts := newHostsOfEtcd(t, 2)
	hosts[1].Kill()
	hosts[0].Kill()
	hosts[0].Launch()
	for _, params := range []map[string]any{{"state": "status"}, {"state": "snapshot", "snapshot": uuid.New()}} {
		if answer, err := hosts[0].play(params); err == nil {
			t.Errorf("%v: %s", params, answer)
		}
	}
}
