package update

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"kloigos/agent/release"
)

// Environment of a version that was started by another one.
const (
	childEnv  = "KLOIGOS_AGENT_CHILD"  // the version that it was started as
	BaseEnv   = "KLOIGOS_AGENT_BASE"   // the version that came with the package
	failedEnv = "KLOIGOS_AGENT_FAILED" // version and reason that could not be written down
)

const (
	mostTries = 3
	tryPause  = time.Second
	lookEvery = 200 * time.Millisecond
)

// Child tells whether this process was started as a version by another one.
func Child() bool { return os.Getenv(childEnv) != "" }

// ToldFailed is a failure that the process before this one could not write down.
func ToldFailed() (version, reason string) {
	version, reason, _ = strings.Cut(os.Getenv(failedEnv), " ")
	return version, reason
}

// trial is how often a version was tried.
type trial struct {
	Version string `json:"version"`
	Tries   int    `json:"tries"`
}

// Launch runs the version that should run. One that has proven itself takes this process over. One that has not is started and
// watched: it has a time to bring a heartbeat through, or it is ended for good and the version before it runs. It returns if this
// build itself is to run.
func Launch(ctx context.Context, p Place, log *slog.Logger) error {
	l := launcher{p}
	var not []string
	told := ""
	for ctx.Err() == nil {
		version := p.Choose(not...)
		switch {
		case version == p.Base:
			if told != "" {
				return os.Setenv(failedEnv, told)
			}
			return nil
		case version == p.Proven():
			err := l.exec(version, "run", told)
			log.Error("a version can't be started", "version", version, "error", err)
			not = append(not, version)
		default:
			reason, unsure, tried := l.try(ctx, version, log)
			switch {
			case ctx.Err() != nil:
			case reason != "":
				log.Error("a version has failed and is not run again", "version", version, "reason", reason)
				not, told = append(not, version), version+" "+reason
				l.sweep()
				if err := p.Fail(version, reason, unsure); err != nil {
					log.Error("the failure can't be written down", "error", err)
				}
				_ = os.Remove(filepath.Join(p.State, trialFile))
			case !tried:
				log.Error("no trial can be written down, so the version before runs", "version", version)
				not = append(not, version)
			default: // it had proven itself, and ended: begin anew
				return errEnded
			}
		}
	}
	return ctx.Err()
}

var errEnded = fmt.Errorf("the version that ran has ended")

// launcher starts the versions of a place.
type launcher struct{ Place }

// exec makes this process another version.
func (l launcher) exec(version, command, told string) error {
	env := append(os.Environ(), childEnv+"="+version, BaseEnv+"="+l.Base)
	if told != "" {
		env = append(env, failedEnv+"="+told)
	}
	return syscall.Exec(l.binary(version), []string{binaryFile, command}, env) // root checked its signature
}

// ExecReader makes this process the version that root's reader runs, if that is another one.
func ExecReader(p Place) error {
	version := p.ChooseProven()
	if version == p.Base {
		return nil
	}
	return launcher{p}.exec(version, "read", "")
}

// tries counts one more trial; false if that can't be remembered.
func (l launcher) tries(version string) (int, bool) {
	var t trial
	file := filepath.Join(l.State, trialFile)
	if content, err := release.Limited(file, 4<<10); err == nil {
		_ = json.Unmarshal(content, &t)
	}
	if t.Version != version {
		t = trial{Version: version}
	}
	t.Tries++
	content, err := json.Marshal(t)
	if err != nil {
		return 0, false
	}
	return t.Tries, writeFile(file, content, 0o600) == nil
}

// try runs a version until it ends. reason says why it failed; "" if it proved itself before.
func (l launcher) try(ctx context.Context, version string, log *slog.Logger) (reason string, unsure, tried bool) {
	for ctx.Err() == nil {
		n, ok := l.tries(version)
		switch {
		case !ok:
			return "", false, false
		case n > mostTries:
			return fmt.Sprintf("It ended by itself %d times before a heartbeat was accepted.", mostTries), false, true
		}
		log.Info("a new version is tried", "version", version, "try", n, "within", l.Trial)
		ended, err := l.once(ctx, version)
		switch {
		case !ended:
			return fmt.Sprintf("No heartbeat of it was accepted within %s.", l.Trial), true, true
		case l.Proven() == version || ctx.Err() != nil:
			return "", false, true
		}
		log.Warn("a new version has ended", "version", version, "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(tryPause):
		}
	}
	return "", false, true
}

// once starts a version and waits for its end; ended is false if it did not prove itself in its time, and was ended.
func (l launcher) once(ctx context.Context, version string) (ended bool, err error) {
	runtime.LockOSThread() // the child dies with the thread that made it, see prctl(2)
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, l.binary(version), "run") // root checked its signature
	cmd.Env = append(os.Environ(), childEnv+"="+version, BaseEnv+"="+l.Base)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return true, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	deadline := time.NewTimer(l.Trial)
	defer deadline.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case err := <-done:
			return true, err
		case <-look.C:
			if l.Proven() == version {
				return true, <-done
			}
		case <-deadline.C:
			if l.Proven() == version {
				continue
			}
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-done //nolint:errcheck // it was killed
			return false, nil
		}
	}
}

// sweep removes what a version that failed may have left in the state folder, which a full disk would keep from working.
func (l launcher) sweep() {
	kept := []string{
		"identity.json", "identity.json.new", "token", "token.refused", incomingDir, requestFile, provenFile, failedFile, trialFile,
	}
	entries, err := os.ReadDir(l.State)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !slices.Contains(kept, e.Name()) {
			_ = os.RemoveAll(filepath.Join(l.State, e.Name()))
		}
	}
}
