package ansible

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// orderable is a supervisor that has loaded an Ansible of the test's own, whose
// part in waiting for the order is a shell script, and a file to be made.
func orderable(t *testing.T, waiting string) (s *standby, file string) {
	t.Helper()
	b := setup(t)
	b.write(t, "bin/python-of-a-test", []byte("#!/bin/sh\ncase $1 in *"+launchName+") "+waiting+" ;; esac\n"), 0o755)
	b.write(t, "bin/ansible-playbook", []byte("#!"+filepath.Join(b.dir, "bin/python-of-a-test")+"\n"), 0o755)
	b.runner.config.AnsibleBin = filepath.Join(b.dir, "bin/ansible-playbook")
	s, err := b.runner.config.newStandby()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.giveUp(killWithin) })
	return s, filepath.Join(b.dir, "made")
}

func statusOf(t *testing.T, s *standby) (status superviseStatus) {
	t.Helper()
	_ = s.pipes.status.r.SetReadDeadline(time.Now().Add(20 * time.Second))
	if err := json.NewDecoder(s.pipes.status.r).Decode(&status); err != nil {
		t.Fatal(err)
	}
	return status
}

// ordered gives an order to make a file, and tells the supervisor of it later:
// how that went, and whether the file is there.
func ordered(t *testing.T, waiting string) (status superviseStatus, made bool) {
	t.Helper()
	s, file := orderable(t, waiting)
	line, err := json.Marshal(order{Argv: []string{"/usr/bin/touch", file}})
	if err != nil {
		t.Fatal(err)
	}
	// begin, with time in between for all that can happen there.
	line = append(line, '\n')
	_, _ = s.pipes.order.w.Write(line)
	time.Sleep(300 * time.Millisecond)
	_, _ = s.pipes.control.w.Write(line)
	status = statusOf(t, s)
	_, err = os.Stat(file)
	return status, err == nil
}

// A backend that dies behind its order, before the supervisor knows of it,
// leaves nothing.
func TestOrderOfADeadBackend(t *testing.T) {
	s, file := orderable(t, "read order; sleep 60; exit 0")
	_, _ = s.pipes.order.w.Write([]byte(`{"argv": ["/usr/bin/touch", "` + file + `"]}` + "\n"))
	time.Sleep(300 * time.Millisecond)
	_ = s.pipes.order.w.Close()
	_ = s.pipes.control.w.Close()
	if status := statusOf(t, s); !status.Stopped || status.Left != 0 {
		t.Errorf("%+v", status)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it played")
	}
	eventually(t, "the supervisor is gone, which bears the run's mark too", func() bool { return len(s.died) > 0 })
	if left := killMarked(s.dir.path, 0); left != 0 {
		t.Errorf("%d processes are left", left)
	}
	if _, err := os.Stat(s.dir.path); err == nil {
		t.Error("its directory is left")
	}
}

// What has loaded Ansible takes its order before its supervisor knows of it. It
// has played then, however soon it ended, and nothing is played again.
func TestOrderIsPlayedOnce(t *testing.T) {
	for _, c := range []struct {
		what, waiting string
		exit          int
		plays         bool // ansible-playbook itself is started
	}{
		{"ended with its play", "read order; exit 3", 3, false},
		{"ended well", "read order; exit 0", 0, false},
		{"died before it read the order", "exit 5", 0, true},
		{"was killed before it read the order", "kill -9 $$", 0, true},
		{"could not load Ansible", "read order; exit 97", 0, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			if status, made := ordered(t, c.waiting); status.Exit != c.exit || status.Signal != 0 || status.Error != "" || made != c.plays {
				t.Errorf("%+v, ansible-playbook was started: %t", status, made)
			}
		})
	}
}
