package faults

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kloigos/backend/api"
)

func TestLogIsReadOn(t *testing.T) {
	t.Parallel()
	r := logReader{path: filepath.Join(t.TempDir(), "b.log")}
	var all string
	say := func(text string, panics int) {
		t.Helper()
		all += text
		if err := os.WriteFile(r.path, []byte(all), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := r.read()
		if err != nil || len(got) != panics {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if got, err := r.read(); err != nil || got != nil {
		t.Errorf("before it is there: %q, %v", got, err)
	}
	say("level=INFO msg=\"job started\" job=1 takeover=false\nlevel=INFO msg=\"job started\" job=2 takeover=true\n", 0)
	say("level=INFO msg=\"job ended\" job=1 end=succeeded outcome=\"no panic\"\nlevel=INFO msg=\"job ended\" job=2 end=\"handed over\"\n", 0)
	say("level=INFO msg=\"job ended\" job=2 end=fai", 0)
	say("led\nlevel=INFO msg=\"job ended\" job=3 end=retry\n", 0)
	if r.takeovers != 1 || r.ended != 2 {
		t.Errorf("%d taken over, %d ended", r.takeovers, r.ended)
	}
	say("panic: runtime error\n\ngoroutine 1 [running]:\nfatal error: all goroutines are asleep\n", 2)
	say("2026/11/23 07:36:38 ERROR job failed with an internal error job=1 error=\"panic: no\"\n", 1)
	say("level=ERROR msg=\"job failed with an internal error\" error=\"panic: no\"\nlevel=ERROR msg=request status=503\n", 1)
}

// TestTooLittleIsNoProof: a soak whose clients all wait ends with nothing broken.
func TestTooLittleIsNoProof(t *testing.T) {
	t.Parallel()
	enough := dose{ended: 10, share: 0.5}
	good := []work{{}, {5, 20, 4}, {9, 40, 6}} // sums
	for want, run := range map[string]struct {
		minutes []work
		looks   int
	}{
		"":                                  {good, 1},
		"never verified":                    {good, 0},
		"minute 3 1 backends":               {append(slices.Clone(good), work{10, 45, 9}), 1},
		"9 backends were killed and 4 jobs": {[]work{{}, {9, 20, 4}}, 1},
	} {
		w := &World{}
		err := w.wasEnough(enough, run.minutes[len(run.minutes)-1], run.minutes, run.looks)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
		if len(w.said.lines) != 1 {
			t.Errorf("%q: the figures are not told: %q", want, w.said.lines)
		}
	}
}

func TestWhatIsNoted(t *testing.T) {
	t.Parallel()
	failed := func(code string) api.Job { return api.Job{State: "failed", Error: &api.JobError{Code: code}} }
	waits := func(code string, failures int, wait time.Duration) api.Job {
		return api.Job{State: "queued", Failures: failures, RunAfter: time.Now().Add(wait), Error: &api.JobError{Code: code}}
	}
	for name, one := range map[string]struct {
		do    func(*World)
		notes int
	}{
		"a failure that the hosts explain": {func(w *World) { w.excuse(failed("task_failed"), false) }, 0},
		"a failure that nothing explains":  {func(w *World) { w.excuse(failed("internal"), false) }, 1},
		"cancelled by a client":            {func(w *World) { w.excuse(api.Job{State: "cancelled"}, true) }, 0},
		"cancelled by nobody":              {func(w *World) { w.excuse(api.Job{State: "cancelled"}, false) }, 1},
		"500":                              {func(w *World) { w.judge(errors.Join(&api.Problem{Status: http.StatusInternalServerError})) }, 1},
		"503":                              {func(w *World) { w.judge(&api.Problem{Status: http.StatusServiceUnavailable}) }, 0},
		"waits for its host":               {func(w *World) { w.waitsLong(waits("unreachable", 5, 30*time.Second)) }, 0},
		"waits as its failures tell":       {func(w *World) { w.waitsLong(waits("internal", 3, 8*time.Second)) }, 0},
		"waits for nothing":                {func(w *World) { w.waitsLong(waits("internal", 1, 30*time.Second)) }, 1},
	} {
		w := &World{spec: Spec{MayFail: roughly}}
		if one.do(w); len(w.odd) != one.notes {
			t.Errorf("%s: %q", name, w.odd)
		}
	}
}
