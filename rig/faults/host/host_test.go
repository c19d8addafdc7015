package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

const ours = "11111111-2222-3333-4444-555555555555"

func setup(t *testing.T) (h *Host, logs string) {
	t.Helper()
	logs = t.TempDir()
	h, err := New("h1", logs, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	if a, code := h.system.unfenced(Task{Playbook: "bootstrap", Part: 1, Parts: 1, Vars: map[string]any{"host_bootstrap_incarnation": ours}}); code != 0 {
		t.Fatalf("%d %+v", code, a)
	}
	return h, logs
}

func task(playbook, tenant string) Task {
	return Task{Playbook: playbook, Part: 1, Parts: 1, Vars: map[string]any{
		"host_initialize_units": []any{map[string]any{"id": "u1"}}, playbook + "_unit": map[string]any{"id": "u1"},
		playbook + "_allocation": map[string]any{"id": tenant},
	}}
}

// play runs one task of a run.
func (h *Host) play(t *testing.T, number int64, run string, what Task) int {
	t.Helper()
	g, code, _ := h.fence.admit(ours, number, run)
	if code != 0 {
		return code
	}
	defer g.leave()
	_, code = h.system.module(g, what)
	return code
}

// TestFenceKeepsItsPromises, or the suite would prove nothing about Kloigos.
func TestFenceKeepsItsPromises(t *testing.T) {
	t.Parallel()
	h, logs := setup(t)
	if code := h.play(t, 2, "a", task("host_initialize", "")); code != 0 {
		t.Fatalf("the first run: %d", code)
	}
	h.Behave(Manners{Pause: time.Minute})
	old := make(chan int, 1)
	g, code, why := h.fence.admit(ours, 2, "a")
	if code != 0 {
		t.Fatal(why)
	}
	go func() {
		defer g.leave()
		_, code := h.system.module(g, task("unit_allocate", "t1"))
		old <- code
	}()
	for len(h.Active()) == 0 {
		time.Sleep(time.Millisecond)
	}
	h.Behave(Manners{})
	if code := h.play(t, 3, "b", task("unit_allocate", "t2")); code != 0 {
		t.Errorf("the newer run: %d", code)
	}
	if code := <-old; code != ExitKilled || h.Ended() != 1 {
		t.Errorf("the older run: %d", code)
	}
	if code := h.play(t, 2, "a", task("unit_allocate", "t1")); code != ExitRefused {
		t.Errorf("the older run once more: %d", code)
	}
	if _, code, _ := h.fence.admit("another", 9, "c"); code != ExitRefused {
		t.Errorf("another control plane: %d", code)
	}
	if h.Tenants()["u1"] != "t2" || len(h.Violations()) > 0 {
		t.Errorf("%v, %q", h.Tenants(), h.Violations())
	}
	log, err := os.ReadFile(filepath.Join(logs, "h1.log"))
	if lines := strings.Split(strings.TrimSpace(string(log)), "\n"); err != nil || len(lines) != 2 || !strings.HasSuffix(lines[1], ours+" 3 b") {
		t.Errorf("%q, %v", log, err)
	}
}

// TestRefenceTellsHowFarTheHostHadCome, and ends what runs there: the database
// may have been restored from before.
func TestRefenceTellsHowFarTheHostHadCome(t *testing.T) {
	t.Parallel()
	h, _ := setup(t)
	h.play(t, 2, "a", task("host_initialize", ""))
	h.Behave(Manners{Pause: time.Minute})
	g, _, why := h.fence.admit(ours, 7, "lost")
	if why != "" {
		t.Fatal(why)
	}
	old := make(chan int, 1)
	go func() {
		defer g.leave()
		_, code := h.system.module(g, task("unit_allocate", "t1"))
		old <- code
	}()
	for len(h.Active()) == 0 {
		time.Sleep(time.Millisecond)
	}
	bootstrap := Task{Playbook: "bootstrap", Part: 1, Parts: 1, Vars: map[string]any{"host_bootstrap_incarnation": ours}}
	if a, code := h.system.unfenced(bootstrap); code != 0 || a.Result != nil || len(h.Active()) == 0 {
		t.Errorf("no re-fence: %d, %+v", code, a)
	}
	bootstrap.Vars["host_bootstrap_refence"] = true
	if a, code := h.system.unfenced(bootstrap); code != 0 || a.Result["number"] != int64(7) {
		t.Errorf("%d, %+v", code, a)
	}
	if code := <-old; code != ExitKilled {
		t.Errorf("the older run: %d", code)
	}
	bootstrap.Vars["host_bootstrap_incarnation"] = "another"
	if a, code := h.system.unfenced(bootstrap); code != 0 || a.Result["number"] != int64(0) {
		t.Errorf("of another control plane: %d, %+v", code, a)
	}
	bootstrap.Vars["host_bootstrap_incarnation"] = ours
	if a, code := h.system.unfenced(bootstrap); code != 0 || a.Result["number"] != int64(7) {
		t.Errorf("and back: %d, %+v", code, a)
	}
}

// TestHostNotesWhatItMayNeverHear: each of these is what a bug of Kloigos would
// look like from here.
func TestHostNotesWhatItMayNeverHear(t *testing.T) {
	t.Parallel()
	for want, do := range map[string]func(t *testing.T, h *Host){
		"came with one number": func(t *testing.T, h *Host) {
			t.Helper()
			if code := h.play(t, 2, "b", task("unit_allocate", "t1")); code != ExitRefused {
				t.Errorf("it was not refused: %d", code)
			}
		},
		"changes it beside run": func(t *testing.T, h *Host) {
			t.Helper()
			defer h.system.enter(&group{run: "x", number: 1})()
			h.play(t, 2, "a", task("unit_allocate", "t1"))
		},
		"holds what t1 left": func(t *testing.T, h *Host) {
			t.Helper()
			h.play(t, 2, "a", task("unit_allocate", "t1"))
			h.play(t, 3, "b", task("unit_allocate", "t2"))
		},
		"is wiped for": func(t *testing.T, h *Host) {
			t.Helper()
			h.play(t, 2, "a", task("unit_allocate", "t1"))
			h.play(t, 3, "b", task("unit_deallocate", "t2"))
		},
		"around the fence": func(t *testing.T, h *Host) {
			t.Helper()
			h.system.unfenced(task("unit_allocate", "t1"))
		},
		"is removed with": func(t *testing.T, h *Host) {
			t.Helper()
			h.play(t, 2, "a", task("unit_allocate", "t1"))
			h.play(t, 3, "b", Task{Playbook: "host_initialize", Part: 1, Parts: 2})
		},
		"holds what t3 left": func(t *testing.T, h *Host) {
			t.Helper()
			wipe := task("unit_deallocate", "t3")
			wipe.Parts = 2
			h.play(t, 2, "a", wipe)
			h.play(t, 3, "b", task("unit_allocate", "t2"))
		},
		"decommissioned while": func(t *testing.T, h *Host) {
			t.Helper()
			h.play(t, 2, "a", task("unit_allocate", "t1"))
			h.play(t, 3, "b", task("host_decommission", ""))
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			h, _ := setup(t)
			h.play(t, 2, "a", task("host_initialize", ""))
			if v := h.Violations(); len(v) > 0 {
				t.Fatalf("already: %q", v)
			}
			do(t, h)
			if v := h.Violations(); len(v) != 1 || !strings.Contains(v[0], want) {
				t.Errorf("%q", v)
			}
		})
	}
}

// TestHostSaysWhatIsHalfMade: a job that is written as done after a play that
// was cut shows by nothing else.
func TestHostSaysWhatIsHalfMade(t *testing.T) {
	t.Parallel()
	h, _ := setup(t)
	h.play(t, 2, "a", task("host_initialize", ""))
	first, last := task("unit_allocate", "t1"), task("unit_allocate", "t1")
	first.Parts, last.Part, last.Parts = 2, 2, 2
	for _, step := range []struct {
		what Task
		half bool
	}{{first, true}, {last, false}, {first, false}, {last, false}} { // the second time for other keys
		if code := h.play(t, 2, "a", step.what); code != 0 || h.Half()["u1"] != step.half {
			t.Errorf("part %d: %d, %v", step.what.Part, code, h.Half())
		}
	}
}

// TestDiskIsFullFromOneMomentToTheNext: a run that was let in meets it too.
func TestDiskIsFullFromOneMomentToTheNext(t *testing.T) {
	t.Parallel()
	h, _ := setup(t)
	h.play(t, 2, "a", task("host_initialize", ""))
	h.Behave(Manners{Full: true})
	if code := h.play(t, 2, "a", task("unit_allocate", "t1")); code != ExitFailed || h.Tenants()["u1"] != "" {
		t.Errorf("the run that is there: %d, %v", code, h.Tenants())
	}
	if code := h.play(t, 3, "b", task("unit_allocate", "t1")); code != ExitBroken {
		t.Errorf("a newer one: %d", code)
	}
}

// TestSilentHostSaysNothing, on connections that are open and on new ones, until
// it speaks again.
func TestSilentHostSaysNothing(t *testing.T) {
	t.Parallel()
	h, _ := setup(t)
	to := fmt.Sprintf("127.0.0.1:%d", h.Port)
	config := &ssh.ClientConfig{User: "operator1", Auth: []ssh.AuthMethod{ssh.PublicKeys(h.signer)}, HostKeyCallback: ssh.FixedHostKey(h.signer.PublicKey())}
	open, err := ssh.Dial("tcp", to, config)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	h.Behave(Manners{Silent: true})
	heard := make(chan error, 2)
	go func() { _, _, err := open.SendRequest("keepalive@openssh.com", true, nil); heard <- err }()
	go func() {
		c, err := ssh.Dial("tcp", to, config)
		if err == nil {
			_ = c.Close()
		}
		heard <- err
	}()
	select {
	case err := <-heard:
		t.Fatalf("a silent host was heard: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	h.Behave(Manners{})
	for range 2 {
		if err := <-heard; err != nil {
			t.Error(err)
		}
	}
}
