// Package failpoint owns the named places at which a backend can be made to
// die as a crash would, so that a test meets a moment that a killer from
// outside would hit once in a thousand runs. It refuses everything else: no
// delays, no errors, nothing that goes on.
//
// A failpoint is armed by a file with its name in the directory that
// KLOIGOS_FAILPOINT_DIR names. Whichever backend gets there first removes the
// file and ends by SIGKILL: once for each file, among any number of backends.
package failpoint

import (
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
)

// Points are the failpoints of one process. The zero value has none.
type Points struct {
	dir  string
	kill func()
}

// In arms failpoints by files in the directory; "" for none.
func In(dir string) Points { return Points{dir: dir, kill: killSelf} }

// PlayDone is the moment after a play has ended well on the host and before
// anything of it is written: whoever takes over runs the whole play again.
// playbook is the bundle's name, file the play's ("playbook.yml").
func PlayDone(playbook, file string) string { return "play_done." + playbook + "." + file }

// Hit ends the process if the failpoint is armed.
func (p Points) Hit(name string) {
	if p.dir == "" || os.Remove(filepath.Join(p.dir, filepath.Base(name))) != nil {
		return
	}
	slog.Warn("failpoint: this backend ends as in a crash", "failpoint", name)
	p.kill()
}

func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // nothing more is done until the signal arrives
}
