// Package failpoint owns the named places at which a backend can be made to
// die as a crash would, so that a test meets a moment that a killer from
// outside would hit once in a thousand runs. It refuses everything else: no
// delays, no errors, nothing that goes on.
//
// A failpoint is armed by a file with its name in the directory that
// KLOIGOS_FAILPOINT_DIR names. Whichever backend gets there first removes the
// file and ends by SIGKILL: once for each file, among any number of backends.
// Where no directory is named, a failpoint costs one comparison.
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

// The failpoints, but for those of PlayDone and CallDone.
const (
	RequestCommitted = "request_committed"
	Claiming         = "claiming"
	Claimed          = "claimed"
	StepBegun        = "step_begun"
	PlayUnderWay     = "play_under_way"
	LogFlushed       = "log_flushed"
	LeaseRenewed     = "lease_renewed"
	StepEnded        = "step_ended"
	BeforeEnd        = "before_end"
	EndWritten       = "end_written"
)

// Point is one place at which a backend can be made to die.
type Point struct {
	Name  string
	Means string // what has happened there, and what has not
}

// All returns every failpoint, in the order in which a job meets them; PlayDone
// and CallDone stand there once, as the patterns of their names.
func All() []Point {
	return []Point{
		{RequestCommitted, "what a request asks for is committed, and the client has no answer yet"},
		{Claiming, "a job's play may have been made ready, and its claim is not committed"},
		{Claimed, "a job has been claimed or taken over, and nothing of it has begun"},
		{StepBegun, "a step is marked as running and its host is held, and no play has started"},
		{PlayUnderWay, "a play has told of its first task, and goes on"},
		{LogFlushed, "a piece of the log is written, and the play goes on"},
		{LeaseRenewed, "the lease has just been renewed"},
		{PlayDone("<playbook>", "<file>"), "a play has ended well on the host, and nothing of that is written"},
		{CallDone("<kind>"), "a call to an outside system has ended well, and nothing of that is written"},
		{StepEnded, "the end of a step is written and its host let go, and the next has not begun"},
		{BeforeEnd, "all of a job's work is done, and its end is not written"},
		{EndWritten, "the end of a job is written, and nobody in this process knows"},
	}
}

// PlayDone is the moment after a play has ended well on the host and before
// anything of it is written: whoever takes over runs the whole play again.
// playbook is the bundle's name, file the play's ("playbook.yml").
func PlayDone(playbook, file string) string { return "play_done." + playbook + "." + file }

// CallDone is the moment after a step of a job without a play has done its work and before anything of it is written:
// whoever takes over does it again.
func CallDone(kind string) string { return "call_done." + kind }

// Hit ends the process if the failpoint is armed.
func (p Points) Hit(name string) {
	if p.dir == "" || os.Remove(filepath.Join(p.dir, filepath.Base(name))) != nil {
		return
	}
	slog.Warn("failpoint: simulate a crash of this backend", "failpoint", name)
	p.kill()
}

func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // nothing more is done until the signal arrives
}
