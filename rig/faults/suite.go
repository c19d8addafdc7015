// Package faults proves that nothing is lost and nothing is done twice, with
// faults injected on purpose: real backends with their real supervisors on a
// real database, hosts and an Ansible that are stood in for, clients that note
// what they were told, and something that goes wrong.
//
// After each scenario everything is made good again, and then all of it must
// hold: kloigos-backend verify with the hosts' token logs and the clients'
// notes, what the hosts say they heard, what they carry, and that no process
// of any run is left. It is run by ./task test:faults.
package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"kloigos/crdb/localdb"
)

// Options say what to run, and where.
type Options struct {
	Root string    // of the source tree
	Dir  string    // for everything that is made
	Out  io.Writer // progress
	Seed uint64    // of all draws
	Long bool      // an hour instead of minutes
	Only []string  // names of scenarios; all if empty
	// Lanes is how many scenarios run beside each other; 0 for one. They mostly wait, and share nothing but the database's server.
	Lanes int
	// Database is a server to use instead of a private one; "" for a private
	// one. Scenarios that end their database have one of their own all the same.
	Database string
	// Cockroach puts a proxy before each database, which speaks as a CockroachDB does (crdb/proxy).
	Cockroach bool
}

// refusedShare is the share of transactions that the proxy refuses.
const refusedShare = 0.03

// Scenario is one way in which things go wrong.
type Scenario struct {
	Name string
	Goes string // what goes wrong, and what must come of it
	Spec Spec
	// Run brings the fault about, with clients or without. What must hold after
	// any scenario is looked at when it has returned.
	Run func(ctx context.Context, w *World) error
}

// Suite is what all scenarios have in common.
type Suite struct {
	options Options
	server  *localdb.Server // nil where Options.Database names one
	points  []string        // the backend's failpoints

	said   sync.Mutex // of a line
	mu     sync.Mutex // of what is told of a scenario, and of what follows
	failed []error
	short  []string // names of scenarios that were not shown in full
}

// perScenario bounds one scenario; the long ones take what they say.
const perScenario = 6 * time.Minute

// Run runs the scenarios and returns what did not hold.
func Run(ctx context.Context, o Options) (err error) {
	scenarios, err := named(o.Only)
	if err != nil {
		return err
	}
	s := &Suite{options: o}
	if err := s.build(ctx); err != nil {
		return err
	}
	if o.Database == "" {
		if s.server, err = localdb.Start(ctx, localdb.Options{Engine: localdb.Postgres}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.server.Stop()) }()
	}
	var lanes sync.WaitGroup
	left := make(chan Scenario, len(scenarios))
	for _, one := range scenarios {
		left <- one
	}
	close(left)
	for range max(1, o.Lanes) {
		lanes.Go(func() {
			for one := range left {
				if ctx.Err() == nil {
					s.judge(ctx, one)
				}
			}
		})
	}
	lanes.Wait()
	if ctx.Err() != nil {
		return errors.Join(append(s.failed, ctx.Err())...)
	}
	s.say("%d scenarios: %d failed, %d not shown or not in full%s", len(scenarios), len(s.failed), len(s.short), listed(s.short))
	return errors.Join(s.failed...)
}

// judge runs a scenario and tells how it ended, in one piece.
func (s *Suite) judge(ctx context.Context, one Scenario) {
	begun := time.Now()
	told, err := s.scenario(ctx, one)
	took := time.Since(begun).Round(100 * time.Millisecond)
	if err != nil && ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil:
		s.say("FAIL  %-18s %s (%s)\n      %s", one.Name, one.Goes, took, strings.ReplaceAll(err.Error(), "\n", "\n      "))
		s.failed = append(s.failed, fmt.Errorf("%s failed; again: %s", one.Name, s.options.again(one)))
	case len(told.skipped) > 0:
		s.say("SKIP  %-18s %s (%s): not shown, %s", one.Name, one.Goes, took, strings.Join(told.skipped, "; "))
		s.short = append(s.short, one.Name)
	default:
		s.say("ok    %-18s %s (%s)", one.Name, one.Goes, took)
	}
	for _, line := range told.lines {
		s.say("      %s", line)
	}
}

// listed is ": a, b", or nothing.
func listed(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, ", ")
}

// again is how to run a scenario once more with the same draws.
func (o Options) again(one Scenario) string {
	flags := fmt.Sprintf("--seed %d --only %s", o.Seed, one.Name)
	if o.Long {
		flags += " --long"
	}
	if o.Cockroach {
		flags += " --cockroach"
	}
	return flags
}

func (s *Suite) say(format string, args ...any) {
	s.said.Lock()
	defer s.said.Unlock()
	_, _ = fmt.Fprintf(s.options.Out, format+"\n", args...)
}

// build makes the programs: the backend, and the Ansible that it will find.
func (s *Suite) build(ctx context.Context) error {
	for into, program := range map[string]string{"bin": "./backend/cmd/kloigos-backend", "path": "./rig/faults/cmd/ansible-playbook"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(s.options.Dir, into)+string(filepath.Separator), program)
		cmd.Dir = s.options.Root
		if err := os.MkdirAll(filepath.Join(s.options.Dir, into), 0o711); err != nil {
			return fmt.Errorf("make a directory: %w", err)
		}
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(output))
		}
	}
	// Behind the wall a program has what is beside it, and not itself alone, where this says so (backend/internal/wall).
	if err := os.WriteFile(filepath.Join(s.options.Dir, "path", "pyvenv.cfg"), nil, 0o600); err != nil {
		return fmt.Errorf("have what is beside Ansible shown to it: %w", err)
	}
	out, err := exec.CommandContext(ctx, s.program(), "failpoints").Output()
	if err != nil {
		return fmt.Errorf("ask the backend for its failpoints: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(line, " ")
		s.points = append(s.points, strings.TrimSpace(name))
	}
	if len(s.points) < 5 {
		return fmt.Errorf("the backend names only %d failpoints", len(s.points))
	}
	return nil
}

func (s *Suite) program() string { return filepath.Join(s.options.Dir, "bin", "kloigos-backend") }

// told is what is said of a scenario beside its end.
type told struct {
	skipped []string // what could not be shown here, and why
	lines   []string // how much it was
}

// scenario builds a world, lets things go wrong in it, and looks at what came
// of it.
func (s *Suite) scenario(ctx context.Context, one Scenario) (said told, err error) {
	limit := perScenario
	if s.options.Long {
		limit = time.Hour
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	w, err := s.newWorld(ctx, one)
	if w != nil {
		defer func() { err = errors.Join(err, w.close()) }()
	}
	if err != nil {
		return said, fmt.Errorf("build a world: %w", err)
	}
	if err = one.Run(ctx, w); err == nil {
		err = w.holds(ctx)
	}
	if err = errors.Join(err, w.noted()); err != nil {
		err = fmt.Errorf("%w\n%s", err, w.tails())
	}
	return w.told(), err
}

// drawOf makes a scenario's own draws: the same for the same seed and name,
// whatever ran before.
func drawOf(seed uint64, name string) *rand.Rand {
	h := uint64(14695981039346656037) // FNV-1a
	for _, b := range []byte(name) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, h))
}
