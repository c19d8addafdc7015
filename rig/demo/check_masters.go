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
	"time"

	"kloigos/backend/api"
	"kloigos/rig/runs"
)

// What the fence of the host keeps (docs/host-contract.md).
const (
	fenceLog  = "/var/log/kloigos/tokens.log"
	fenceRuns = "/sys/fs/cgroup/system.slice/kloigos-runs.service"
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
	c.heard = append(c.heard, first.line)
	worker, err := c.workerOf(ctx, job)
	if err != nil {
		return err
	}
	at, err := c.i.backendOf(worker)
	if err != nil {
		return err
	}
	victim := *at
	s, err := c.stall(ctx, victim, first)
	defer func() { _ = s.goOn() }()
	if err != nil {
		return fmt.Errorf("stop %s: %w", victim.Name, err)
	}
	second, err := c.holder(ctx, func(h holder) bool { return h.number > first.number })
	if err != nil {
		return fmt.Errorf("after %s had stopped: %w", victim.Name, err)
	}
	c.heard = append(c.heard, second.line)
	if err := c.wakesTooLate(ctx, s, first, second); err != nil {
		return err
	}
	if err := s.goOn(); err != nil {
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

// wakesTooLate lets the Ansible of a stopped backend go on, on a host that has another holder. Nothing of it was at work
// there when that came, so it goes on with its next task, which the fence has to refuse.
func (c *checker) wakesTooLate(ctx context.Context, s *stalled, first, second holder) error {
	knocked, err := c.knocks(ctx, first)
	if err != nil {
		return err
	}
	if err := s.playGoesOn(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for len(runs.Processes(s.dir)) > 0 { // the supervisor among them, which ends last
		if wait(ctx, 100*time.Millisecond) != nil {
			return errors.New("an Ansible that lost its host a minute ago goes on")
		}
	}
	again, err := c.knocks(ctx, first)
	if err != nil {
		return err
	}
	c.i.stages.Note("run %d asked the fence %d times while it held the host, and %d times after", first.number, knocked, again-knocked)
	if again <= knocked {
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
	idle        bool   // it has been at work there, and nothing of any run is now
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
		if late := wait(ctx, time.Second); late != nil { // each look is a login, which takes a moment in emulation
			return h, fmt.Errorf("the host's holder stays %q: %w", h.line, errors.Join(late, err))
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
	h = holder{line: line, incarnation: fields[1], run: fields[3]}
	h.idle = strings.Contains(events, "populated 0") && !strings.Contains(events, "populated 1")
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
	lines := strings.Split(strings.TrimSpace(log), "\n")
	unknown := func(line string) bool { return !slices.Contains(lines, line) }
	if lines[0] == "" || slices.ContainsFunc(c.heard, unknown) {
		return fmt.Errorf("the host's log of %d bytes does not have all of %q, which it had", len(log), c.heard)
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
