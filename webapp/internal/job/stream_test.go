package job

import (
	"bufio"
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
)

// TestLinesOfAWebAppThatStops: what an event says to end with is in it, also
// when the web app is about to stop; the browser goes on behind it.
func TestLinesOfAWebAppThatStops(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out bytes.Buffer
	s := sender{w: bufio.NewWriter(&out), ctx: ctx, now: time.Now, pause: gather}
	events := make(chan fed, 2)
	for n := range int64(2) {
		events <- fed{JobEvent: client.JobEvent{Log: &api.LogEntry{Sequence: n + 1, Kind: "ok", Task: "Install"}}}
	}
	close(events)
	s.run(events)
	for _, want := range []string{"id: 2\n", `<li id="L1"`, `<li id="L2"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
