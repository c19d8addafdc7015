package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// passed is how rapid tells how many schedules one of those has drawn that draw
// side by side: fewer than it was asked for where the time is short.
var passed = regexp.MustCompile(`\[rapid\] OK, passed (\d+) tests`)

// schedules runs the model test of the queue with hundreds of schedules, and with
// thousands in the long form.
func schedules(ctx context.Context, w *World) error {
	// By each of three. A few dozen might not meet all that the test wants to have
	// met.
	checks, limit := 100, 4*time.Minute
	if w.long {
		checks, limit = 3000, 55*time.Minute
	}
	seed := strconv.FormatUint(w.someSeed(), 10)
	cmd := exec.CommandContext(ctx, "go", "test", "./backend/internal/queue", "-v", "-vet=off", "-count=1", "-timeout="+limit.String(), "-run=^TestSchedules$",
		"-rapid.seed="+seed, "-rapid.checks="+strconv.Itoa(checks), "-rapid.nofailfile")
	cmd.Dir = w.suite.options.Root
	cmd.Env = append(os.Environ(), "KLOIGOS_TEST_DATABASE_URL="+w.database)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("schedules with -rapid.seed %s -rapid.checks %d: %w\n%s", seed, checks, err, bytes.TrimSpace(out))
	}
	drawn := 0
	for _, told := range passed.FindAllSubmatch(out, -1) {
		n, err := strconv.Atoi(string(told[1]))
		if err != nil {
			return fmt.Errorf("read how many schedules were drawn: %w", err)
		}
		drawn += n
	}
	if drawn == 0 {
		return errors.New("no schedule was drawn, so nothing is proven")
	}
	w.suite.say("      %d schedules with -rapid.seed %s", drawn, seed)
	return nil
}
