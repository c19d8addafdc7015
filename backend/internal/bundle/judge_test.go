package bundle

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"kloigos/backend/internal/bundle/judge"
)

// testJudge serves all tests of the package, as one serves all uploads of a backend.
var testJudge = judge.New("ansible-playbook")

// Calls of filters within each other cost 13 s for so much once, and 52 s for twice of it.
func TestNestedCallsTakeNoTime(t *testing.T) {
	t.Parallel()
	nested := "{{ " + strings.Repeat("x|f(", 15_000) + "x" + strings.Repeat(")", 15_000) + " }}"
	for _, size := range []int{63 << 10, 252 << 10} {
		files := good()
		files["roles/hello/templates/hello.j2"] = []byte(nested[:min(len(nested), size)])
		files["roles/hello/templates/more.j2"] = []byte(strings.Repeat(nested, 7)[:size])
		begin := time.Now()
		faults(t, Gate(t.Context(), testJudge, files, hello))
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%d bytes took %s", size, took)
		}
	}
}

func TestTheLookEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Gate(ctx, testJudge, good(), hello); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the request", err)
	}
}
