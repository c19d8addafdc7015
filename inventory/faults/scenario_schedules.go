package faults

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// schedules runs the model test of the queue with thousands of schedules.
func schedules(ctx context.Context, w *World) error {
	if !w.long {
		w.suite.say("      go test ./backend/internal/queue draws some hundred; more are drawn in the long form")
		return nil
	}
	const checks = 3000 // by each of three that draw side by side
	seed := strconv.FormatUint(w.someSeed(), 10)
	cmd := exec.CommandContext(ctx, "go", "test", "./backend/internal/queue", "-count=1", "-timeout=55m", "-run=^TestSchedules$",
		"-rapid.seed="+seed, "-rapid.checks="+strconv.Itoa(checks), "-rapid.nofailfile")
	cmd.Dir = w.suite.options.Root
	cmd.Env = append(os.Environ(), "KLOIGOS_TEST_DATABASE_URL="+w.database)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%d schedules with -rapid.seed %s: %w\n%s", 3*checks, seed, err, bytes.TrimSpace(out))
	}
	w.suite.say("      %d schedules with -rapid.seed %s", 3*checks, seed)
	return nil
}
