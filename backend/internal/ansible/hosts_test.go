package ansible

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// playbooks are the Ansible processes of this bed that no other one has forked.
func (b *bed) playbooks() int {
	ours, n := map[int]bool{}, 0
	for pid, cmdline := range b.processes() {
		if strings.Contains(cmdline, b.root) && strings.Contains(cmdline, "ansible-playbook") {
			ours[pid] = true
		}
	}
	for pid := range ours {
		if parent, _, ok := parentOf(pid); ok && !ours[parent] {
			n++
		}
	}
	return n
}

// TestSeveralHostsInOneProcess: the hosts of one play are worked on side by side
// by one Ansible, each with its own result, events and end.
func TestSeveralHostsInOneProcess(t *testing.T) {
	b := setup(t)
	play, _ := b.longPlay(t)
	const seconds = "2.5"
	play.Vars = map[string]any{"demo_seconds": seconds}
	play.Hosts = nil
	for n := 1; n <= 3; n++ { // ssh shares a connection between equal targets: so each has its address
		h := b.host()
		h.Name, h.Address = fmt.Sprintf("h%d", n), fmt.Sprintf("127.0.0.%d", n)
		play.Hosts = append(play.Hosts, h)
	}
	var most, processes atomic.Int64
	done := make(chan Outcome, 1)
	var log recorder
	go func() {
		out, err := b.runner.Run(t.Context(), play, log.add)
		if err != nil {
			t.Error(err)
		}
		done <- out
	}()
	asleep := func() (n int64) {
		for _, line := range ansibleCommandLines() {
			if line == "sleep\x00"+seconds+"\x00" {
				n++
			}
		}
		return n
	}
	eventually(t, "all hosts to sleep at once", func() bool {
		most.Store(max(most.Load(), asleep()))
		processes.Store(max(processes.Load(), int64(b.playbooks())))
		return most.Load() == 3
	})
	out := <-done
	if processes.Load() != 1 {
		t.Errorf("%d Ansible processes, want 1", processes.Load())
	}
	ok := map[string]int{}
	for _, e := range log.events {
		if e.Kind == EventOK && e.Task == "Wait" {
			ok[e.Host]++
		}
	}
	for _, h := range play.Hosts {
		if out.Failure != nil || out.Stats[h.Name].OK != 2 || ok[h.Name] != 1 {
			t.Errorf("%s: %+v, %d events, %+v", h.Name, out.Stats[h.Name], ok[h.Name], out.Failure)
		}
	}
	b.checkNothingIsLeft(t)
}

// TestOneHostFailsForItself: the others of the play come to their end, and each
// failure tells whose it is.
func TestOneHostFailsForItself(t *testing.T) {
	b := setup(t)
	play := b.play("modules.yml", nil)
	play.Hosts = nil
	_, another := newKey(t)
	for n := 1; n <= 4; n++ {
		h := b.host()
		h.Name, h.Address = fmt.Sprintf("h%d", n), fmt.Sprintf("127.0.0.%d", min(n, 3))
		switch n {
		case 2:
			h.HostKeys = []string{another}
		case 3:
			h.Port = 1 // nobody listens
		}
		play.Hosts = append(play.Hosts, h)
	}
	out, events := b.run(t, play)
	failed := map[string]FailureCode{}
	for _, f := range out.Failures {
		failed[f.Host] = f.Code
	}
	if diff := cmp.Diff(map[string]FailureCode{"h2": CodeHostKeyChanged, "h3": CodeUnreachable}, failed); diff != "" || out.Failure == nil {
		t.Errorf("%+v\n%s", out.Failures, diff)
	}
	read := map[string]bool{}
	for _, e := range events {
		if e.Kind == EventResult {
			read[e.Host] = true
		}
	}
	if diff := cmp.Diff(map[string]bool{"h1": true, "h4": true}, read); diff != "" || len(out.Results) != 2 {
		t.Errorf("results:\n%s", diff)
	}
	b.checkNothingIsLeft(t)
}

// TestEachHostHasItsOwnFence: tokens of several hosts stand in the inventory of
// one play, host by host, and in nothing that all of them share.
func TestEachHostHasItsOwnFence(t *testing.T) {
	t.Parallel()
	hosts, keys := make([]Host, 3), []string{"/run/key-0", "/run/key-1", "/run/key-2"}
	for n := range hosts {
		hosts[n] = validPlay(t).Hosts[0]
		hosts[n].Name = fmt.Sprintf("h%d", n)
		hosts[n].Fence = &Fence{Incarnation: fmt.Sprintf("11111111-2222-3333-4444-55555555555%d", n), Number: int64(40 + n), Run: "run-7"}
	}
	text, err := inventory(hosts, fencePath, keys)
	if err != nil {
		t.Fatal(err)
	}
	var inv struct {
		All struct {
			Hosts map[string]map[string]any
		}
	}
	if err := json.Unmarshal(text, &inv); err != nil {
		t.Fatal(err)
	}
	for n, h := range hosts {
		want := fmt.Sprintf("%s %s %d run-7", fencePath, h.Fence.Incarnation, 40+n)
		if got := inv.All.Hosts[h.Name]; got["ansible_python_interpreter"] != want || got["ansible_ssh_private_key_file"] != keys[n] {
			t.Errorf("%s: %v", h.Name, got)
		}
	}
	for name, value := range fixedConnection(hosts, fencePath, keys, "") {
		if name != connectionVariable && strings.Contains(fmt.Sprint(value), "5555") {
			t.Errorf("all hosts get %s=%v", name, value)
		}
	}
}

// TestSeveralHostsFixWhatOneFixes: no variable of the connection is left to the inventory, which a host's answer may
// change, because a job has several hosts.
func TestSeveralHostsFixWhatOneFixes(t *testing.T) {
	t.Parallel()
	hosts, keys := []Host{validPlay(t).Hosts[0], validPlay(t).Hosts[0]}, []string{"/run/key-0", "/run/key-1"}
	for n := range hosts {
		hosts[n].Name = fmt.Sprintf("h%d", n)
		hosts[n].Fence = &Fence{Incarnation: "11111111-2222-3333-4444-555555555555", Number: int64(40 + n), Run: "run-7"}
	}
	single, several := fixedConnection(hosts[:1], fencePath, keys[:1], ""), fixedConnection(hosts, fencePath, keys, "")
	for name := range single {
		if _, ok := several[name]; !ok {
			t.Errorf("%s is not fixed for several hosts", name)
		}
	}
	if _, ok := single["ansible_ssh_common_args"]; !ok {
		t.Error("this test would show nothing")
	}
}

// TestHostileResultAmongSeveral: a host must not change by its answer how another one is reached.
func TestHostileResultAmongSeveral(t *testing.T) {
	b := setup(t)
	canary := filepath.Join(b.dir, "owned")
	b.write(t, "evil.sh", []byte("#!/bin/sh\ntouch "+canary+"\n"), 0o755)
	play := b.play("hostile_several.yml", map[string]any{"demo_dir": b.dir})
	play.Hosts = nil
	for n := 1; n <= 2; n++ {
		h := b.host()
		h.Name, h.Address = fmt.Sprintf("h%d", n), fmt.Sprintf("127.0.0.%d", n)
		play.Hosts = append(play.Hosts, h)
	}
	out, events := b.run(t, play)
	if _, err := os.Stat(canary); err == nil {
		t.Error("the host's answer ran a command on the controller")
	}
	if all := dump(events); !strings.Contains(all, "add_host") || out.Stats["h1"].OK != 2 || out.Stats["h2"].OK != 1 {
		t.Errorf("this test would show nothing, or a host is not reached: %+v\n%s", out.Stats, all)
	}
}
