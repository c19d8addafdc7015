package ansible

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"kloigos/backend/internal/wall"
)

//go:embed launch/kloigos_launch.py
var launchFile []byte

const (
	launchName = "kloigos_launch.py"
	// standbyAfter leaves the processors to the play that has just begun.
	standbyAfter = time.Second
	// standbyFor is how long one waits for its play. A backend with nothing to do has none, and no play runs with an
	// Ansible that was replaced on the disk long ago.
	standbyFor = 5 * time.Minute
)

// standby is a supervisor that waits for its play, in the directory of the run to come, with Ansible loaded where that
// is possible. Every run begins as one; some are made ahead of time.
type standby struct {
	dir   *runDir
	pipes *pipeSet
	cmd   *exec.Cmd
	died  chan error    // one value: what the supervisor came to
	taken chan struct{} // closed when it waits no longer

	bundle string // BundleSHA256 of what is unpacked already; "" for nothing
}

// newStandby starts a supervisor, whose own start and Ansible's loading go on while the run is prepared.
func (c *Config) newStandby() (_ *standby, err error) {
	b := &standby{died: make(chan error, 1), taken: make(chan struct{})}
	if b.dir, err = newRunDir(c.RunRoot); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = b.dir.remove()
		}
	}()
	if err := c.fillStandby(b.dir); err != nil {
		return nil, err
	}
	if b.pipes, err = openPipes(); err != nil {
		return nil, fmt.Errorf("open pipes: %w", err)
	}
	b.cmd = &exec.Cmd{
		Path: c.SelfExe,
		Args: []string{"kloigos-supervisor", SuperviseArg, b.dir.path},
		Env:  []string{markName + "=" + b.dir.path, "PATH=" + systemPath},
		Dir:  "/",
		// A session of its own: a terminal's signals are for the backend to judge, and ssh finds no terminal to ask on.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
		Stdin:       b.pipes.control.r,
		Stdout:      b.pipes.stdout.w,
		Stderr:      b.pipes.stderr.w,
		ExtraFiles:  []*os.File{b.pipes.status.w, b.pipes.events.w, b.dir.lock, b.pipes.order.r}, // statusFD, eventsFD, lockFD, orderFD
	}
	if err := b.cmd.Start(); err != nil {
		b.pipes.close()
		return nil, fmt.Errorf("start supervisor: %w", err)
	}
	b.pipes.closeTheirs()
	go func() { b.died <- b.cmd.Wait() }()
	return b, nil
}

// fillStandby writes what does not depend on the play.
func (c *Config) fillStandby(dir *runDir) error {
	for _, name := range []string{"tmp", "ansible", "callback"} {
		if err := os.Mkdir(dir.file(name), 0o700); err != nil {
			return fmt.Errorf("prepare: %w", err)
		}
	}
	callback, err := callbackFiles.ReadFile("callback/" + callbackName + ".py")
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	// What a play needs, and nothing of the backend: no keyset, no other run.
	walled, err := wall.Spec{
		ReadOnly: wall.Program(c.AnsibleBin), Writable: append([]string{dir.path}, c.canaries...), Network: true, Dir: dir.path, Limits: wall.Limits{Memory: c.MemoryLimit},
	}.Argv()
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	spec := superviseSpec{Wall: walled, Env: c.environment(dir), Nice: c.Nice, Grace: c.Grace}
	if python := interpreter(c.AnsibleBin); python != nil {
		spec.Load = append(python, dir.file(launchName), c.AnsibleBin)
	}
	encoded, err := json.Marshal(spec)
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	for name, content := range map[string][]byte{
		configFile: []byte("[defaults]\n"), filepath.Join("callback", callbackName+".py"): callback, launchName: launchFile, specFile: encoded,
	} {
		if err := dir.write(name, content); err != nil {
			return err
		}
	}
	return nil
}

// interpreter is the Python that a program names in its first line, nil if it is of another kind.
func interpreter(program string) []string {
	f, err := os.Open(program)
	if err != nil {
		return nil
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, 512)).ReadBytes('\n')
	if err != nil || !bytes.HasPrefix(line, []byte("#!")) {
		return nil
	}
	words := strings.Fields(string(line[2:]))
	if len(words) == 0 || !strings.HasPrefix(filepath.Base(words[len(words)-1]), "python") {
		return nil
	}
	return words
}

// unpack unpacks what is likely to be played next. What can't be is left to the run.
func (b *standby) unpack(last bundle) {
	if last.digest == "" || last.unpack == nil {
		return
	}
	if err := unpackInto(b.dir, last.unpack); err != nil {
		_ = os.RemoveAll(b.dir.file(bundleDirectory))
		return
	}
	b.bundle = last.digest
}

// begin has it play: what has loaded Ansible takes the order itself, which saves a play the supervisor's waking up; then
// the supervisor is told. An error of writing shows as a supervisor that died.
func (b *standby) begin(order []byte) {
	_, _ = b.pipes.order.w.Write(order)
	_, _ = b.pipes.control.w.Write(order)
}

// wait waits for the supervisor, and tells it to end the run when ctx is done.
func (b *standby) wait(ctx context.Context, bound time.Duration) error {
	select {
	case err := <-b.died:
		return errors.Join(err, errors.New("without a word"))
	case <-ctx.Done():
	}
	_ = b.pipes.control.w.Close()
	timer := time.NewTimer(bound)
	defer timer.Stop()
	select {
	case err := <-b.died:
		return errors.Join(err, errors.New("without a word"))
	case <-timer.C:
		_ = b.cmd.Process.Kill()
		return errors.Join(<-b.died, fmt.Errorf("no answer within %s", bound))
	}
}

// giveUp ends one that has no play, and what it has loaded.
func (b *standby) giveUp(bound time.Duration) {
	stopped, stop := context.WithCancel(context.Background())
	stop()
	_ = b.wait(stopped, bound) // however it ends
	b.pipes.close()
	killMarked(b.dir.path, time.Second)
	_ = b.dir.remove()
}

// standbys are those that were made ahead of time.
type standbys struct {
	config *Config
	keep   time.Duration // standbyFor, except in a test
	closed chan struct{}
	hurry  chan struct{} // a play has ended: the processors are free for the next one's beginning

	mu      sync.Mutex
	last    bundle // that was played
	waiting []*standby
	coming  int // being made
	working sync.WaitGroup
}

// bundle is a playbook with all that belongs to it.
type bundle struct {
	digest string
	unpack func(dir string) error
}

func newStandbys(c *Config) *standbys {
	return &standbys{config: c, keep: standbyFor, closed: make(chan struct{}), hurry: make(chan struct{})}
}

// take returns one that waits, and otherwise a new one; and has the next one made, for the same bundle.
func (s *standbys) take(played bundle) (*standby, error) {
	s.mu.Lock()
	s.last = played
	s.mu.Unlock()
	defer s.startAfter(standbyAfter)
	for b := s.pop(); b != nil; b = s.pop() {
		if len(b.died) == 0 {
			return b, nil
		}
		b.giveUp(s.config.Grace + killWithin)
	}
	return s.config.newStandby()
}

func (s *standbys) pop() *standby {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		return nil
	}
	b := s.waiting[0]
	s.waiting = s.waiting[1:]
	close(b.taken)
	return b
}

// startAfter has another one made after a while, if there are too few.
func (s *standbys) startAfter(after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosed() || len(s.waiting)+s.coming >= s.config.Ahead {
		return
	}
	s.coming++
	s.working.Go(func() { s.add(after) })
}

// ended has the next one made at once, since no play is disturbed.
func (s *standbys) ended() {
	s.startAfter(0)
	select {
	case s.hurry <- struct{}{}:
	default:
	}
}

// add makes one and gives it up if it waits for too long.
func (s *standbys) add(after time.Duration) {
	select {
	case <-s.closed:
	case <-s.hurry:
	case <-time.After(after):
	}
	b := s.prepared()
	s.mu.Lock()
	s.coming--
	if b != nil {
		s.waiting = append(s.waiting, b)
	}
	s.mu.Unlock()
	if b == nil {
		return
	}
	select {
	case <-b.taken:
		return
	case <-s.closed:
	case <-time.After(s.keep):
	}
	if s.remove(b) {
		b.giveUp(s.config.Grace + killWithin)
	}
}

// prepared is one that is ready for the bundle that was played last; nil if none can be made now.
func (s *standbys) prepared() *standby {
	if s.isClosed() || !s.config.MayLoad() {
		return nil
	}
	b, err := s.config.newStandby()
	if err != nil { // the run that needs one will meet it, and tell it
		return nil
	}
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	b.unpack(last)
	return b
}

// remove takes one out, and tells whether it was still there.
func (s *standbys) remove(b *standby) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.waiting, b)
	if at >= 0 {
		s.waiting = slices.Delete(s.waiting, at, at+1)
	}
	return at >= 0
}

func (s *standbys) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// close ends those that wait, and returns when they are gone.
func (s *standbys) close() {
	s.mu.Lock()
	if !s.isClosed() {
		close(s.closed)
	}
	s.mu.Unlock()
	s.working.Wait()
}
