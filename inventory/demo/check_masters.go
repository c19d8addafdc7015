package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kloigos/backend/api"
	"kloigos/inventory/runs"
)

// What the fence of the host keeps (docs/host-contract.md).
const (
	fenceLog  = "/var/log/kloigos/tokens.log"
	fenceRuns = "/sys/fs/cgroup/system.slice/kloigos-runs.service"

	// settles is how long what was just asked of the host may take to begin there.
	settles = 3 * time.Second
)

// twoMasters stops the backend that puts a tenant's keys again, and its Ansible with it, for longer than its lease. When
// another backend has taken over, Ansible alone goes on: the host must not hear it any more.
func (c *checker) twoMasters(ctx context.Context) error {
	if c.first.a.ID == "" {
		return errNoGround
	}
	job, err := c.replaceKeys(ctx)
	if err != nil {
		return err
	}
	first, err := c.holder(ctx, func(h holder) bool { return h.run == job })
	if err != nil {
		return fmt.Errorf("the first run of the job: %w", err)
	}
	running, err := c.i.Client.GetJob(ctx, job)
	if err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	at, err := c.backendOf(running.Worker)
	if err != nil {
		return err
	}
	victim := *at
	stalled, err := stall(victim)
	defer func() { _ = stalled.goOn() }()
	if err != nil {
		return err
	}
	idle, from := false, time.Now()
	second, err := c.holder(ctx, func(h holder) bool {
		idle = idle || h.number == first.number && h.idle && time.Since(from) > settles
		return h.number > first.number
	})
	if err != nil {
		return fmt.Errorf("after %s had stopped: %w", victim.Name, err)
	}
	if err := c.wakesTooLate(ctx, victim, stalled, first, second, idle); err != nil {
		return err
	}
	if err := stalled.goOn(); err != nil {
		return err
	}
	if err := c.i.follow(ctx, job); err != nil {
		return err
	}
	ended, err := c.i.Client.GetJob(ctx, job)
	if err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	if ended.Attempt < 2 || victim.Ended() {
		return fmt.Errorf("%s has ended: %t; the job is at attempt %d", victim.Name, victim.Ended(), ended.Attempt)
	}
	return c.unchanged(ctx, job)
}

// wakesTooLate lets the Ansible of a stopped backend go on, on a host that has another holder. What had ended on the host
// before that came (idle) has Ansible go on with its next task, which the fence refuses; else it had been ended there.
func (c *checker) wakesTooLate(ctx context.Context, victim *Process, s *stalled, first, second holder, idle bool) error {
	knocked, err := c.knocks(ctx, first)
	if err != nil {
		return err
	}
	if err := s.ansibleGoesOn(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for len(runs.Supervisors(victim.PID)) > 0 {
		select {
		case <-ctx.Done():
			return errors.New("an Ansible that lost its host a minute ago goes on")
		case <-time.After(100 * time.Millisecond):
		}
	}
	again, err := c.knocks(ctx, first)
	if err != nil {
		return err
	}
	c.i.stages.Note("run %d asked the fence %d times while it held the host, and %d times after", first.number, knocked, again-knocked)
	if idle && again == knocked {
		return errors.New("an Ansible with a result of its host asked nothing more of it: nothing is proven")
	}
	let, err := c.i.VM.Run(ctx, fmt.Sprintf("ls %s; sudo tail -n 1 %s", fenceRuns, fenceLog))
	if err != nil {
		return err
	}
	if strings.Contains(let, fmt.Sprintf("run-%d-", first.number)) || !strings.Contains(let, second.line) {
		return fmt.Errorf("number %d was let in after %d: %s", first.number, second.number, let)
	}
	return nil
}

// holder is who a host listens to: the last line of its fence's log.
type holder struct {
	line        string
	incarnation string
	number      int64
	run         string // the job's id
	idle        bool   // nothing of any run is at work there now
}

// holder waits until the host's holder is as wanted. It asks the host itself, which needs no backend.
func (c *checker) holder(ctx context.Context, wanted func(holder) bool) (holder, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		h, err := c.readHolder(ctx)
		if err == nil && wanted(h) {
			return h, nil
		}
		select {
		case <-ctx.Done():
			return h, fmt.Errorf("the host's holder stays %q: %w", h.line, errors.Join(ctx.Err(), err))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (c *checker) readHolder(ctx context.Context) (h holder, err error) {
	said, err := c.i.VM.Run(ctx, fmt.Sprintf("sudo tail -n 1 %s; cat %s/run-*/cgroup.events 2>/dev/null; true", fenceLog, fenceRuns))
	if err != nil {
		return h, err
	}
	line, events, _ := strings.Cut(said, "\n")
	fields := strings.Fields(line)
	if len(fields) != 4 {
		return h, fmt.Errorf("the fence's log ends with %q", line)
	}
	h = holder{line: line, incarnation: fields[1], run: fields[3], idle: !strings.Contains(events, "populated 1")}
	if h.number, err = strconv.ParseInt(fields[2], 10, 64); err != nil {
		return h, fmt.Errorf("the fence's log ends with %q", line)
	}
	return h, nil
}

// knocks counts how often a run has asked the fence, let in or not: with sudo, which tells the journal.
func (c *checker) knocks(ctx context.Context, h holder) (int, error) {
	said, err := c.i.VM.Run(ctx, fmt.Sprintf("sudo journalctl --boot --identifier sudo --output cat --no-pager | grep -cF 'fence-python %s %d %s'; true",
		h.incarnation, h.number, h.run))
	if err != nil {
		return 0, err
	}
	count, err := strconv.Atoi(strings.TrimSpace(said))
	if err != nil || count == 0 {
		return 0, fmt.Errorf("the journal knows %q executions of the run that held the host", said)
	}
	return count, nil
}

// stalled is a backend that stands still, and the run that it had begun.
type stalled struct {
	backend int
	run     []int // the supervisor, Ansible, and all that comes of it
}

// stall stops a backend in its play, and the play.
func stall(p *Process) (*stalled, error) {
	s := &stalled{backend: p.PID}
	if err := syscall.Kill(p.PID, syscall.SIGSTOP); err != nil {
		return s, fmt.Errorf("stop %s: %w", p.Name, err)
	}
	supervisors := runs.Supervisors(p.PID)
	if len(supervisors) != 1 {
		return s, fmt.Errorf("%s has %d plays, not one", p.Name, len(supervisors))
	}
	dir := runs.Of(supervisors[0])
	for fresh := true; fresh; { // one that was not stopped yet may have begun another
		fresh = false
		for _, pid := range runs.Processes(dir) {
			if slices.Contains(s.run, pid) {
				continue
			}
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil && !errors.Is(err, syscall.ESRCH) {
				return s, fmt.Errorf("stop the play of %s: %w", p.Name, err)
			}
			s.run, fresh = append(s.run, pid), true
		}
	}
	return s, nil
}

// ansibleGoesOn lets the play go on, and its backend not.
func (s *stalled) ansibleGoesOn() error {
	for _, pid := range s.run {
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("let the play go on: %w", err)
		}
	}
	return nil
}

func (s *stalled) goOn() error {
	return errors.Join(s.ansibleGoesOn(), syscall.Kill(s.backend, syscall.SIGCONT))
}

// verified has kloigos-backend verify look at the database, the host's own log of numbers, and what was acknowledged here.
func (c *checker) verified(ctx context.Context) error {
	told, err := os.MkdirTemp(c.i.Dir, "verify-")
	if err != nil {
		return fmt.Errorf("make a directory for verify: %w", err)
	}
	log, err := c.i.VM.Run(ctx, "sudo cat "+fenceLog)
	if err != nil {
		return err
	}
	var acknowledged strings.Builder
	for _, a := range []api.Allocation{c.i.Allocation, c.first.a, c.second.a, c.next.a} {
		if a.ID == "" {
			return errNoGround
		}
		acknowledged.WriteString(a.ID + "\n")
	}
	err = errors.Join(
		os.WriteFile(filepath.Join(told, hostName+".log"), []byte(log), 0o600),
		os.WriteFile(filepath.Join(told, "acknowledged"), []byte(acknowledged.String()), 0o600),
	)
	if err != nil {
		return fmt.Errorf("keep what was told: %w", err)
	}
	cmd := exec.CommandContext(ctx, c.i.path("bin", "kloigos-backend"), "verify",
		"--token-logs", told, "--acknowledged", filepath.Join(told, "acknowledged"))
	cmd.Env = c.i.backendEnv()
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("verify: %w: %s", err, output)
	}
	return nil
}
