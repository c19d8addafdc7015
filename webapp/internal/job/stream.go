package job

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const (
	heartbeat = 10 * time.Second
	// gather is how long lines are collected into one piece, so that a browser
	// draws ten times a second and not a thousand; of many, less often.
	gather     = 100 * time.Millisecond
	gatherMany = 400 * time.Millisecond
	many       = 20 // lines within gather
	mostInOne  = 500
	roomBefore = 16 // each up to some hundred KiB
)

// stream sends a job to a browser as server-sent events of HTML that is
// rendered here: "log" (lines; the id is the last one's sequence), "state" (the
// region above the log), "end". It goes on by itself when a backend dies; when
// the web app itself dies, the browser comes back with Last-Event-ID.
func stream(a *page.App) fiber.Handler {
	return func(c *fiber.Ctx) error {
		speaker, ok := a.Speaker(c)
		if !ok {
			return c.SendStatus(fiber.StatusNoContent) // tells an EventSource to stay away
		}
		id, scoped := strings.Clone(c.Params("id")), page.ScopeOf(c)
		after, _ := strconv.ParseInt(c.Query("after"), 10, 64)
		if last, err := strconv.ParseInt(c.Get("Last-Event-ID"), 10, 64); err == nil {
			after = last
		}
		c.Set(fiber.HeaderContentType, "text/event-stream")
		c.Set(fiber.HeaderCacheControl, "no-store")
		c.Set("X-Accel-Buffering", "no")
		page.Stream(c, func(w *bufio.Writer) {
			ctx, cancel := context.WithCancel(a.Closing)
			defer cancel()
			who, err := speaker.Whoami(ctx)
			if err != nil {
				who.Permissions = nil // shown without buttons; the page has them
			}
			s := sender{may: who.Permissions, w: w, ctx: ctx, speaker: speaker, now: a.Now, pause: gather, scoped: scoped}
			s.run(feed(ctx, speaker, id, max(after, 0)))
		})
		return nil
	}
}

type fed struct {
	client.JobEvent
	err error
}

// feed reads the API's stream into a channel, which is closed at its end.
func feed(ctx context.Context, speaker *client.Client, id string, after int64) <-chan fed {
	events := make(chan fed, roomBefore)
	go func() {
		defer close(events)
		for e, err := range speaker.StreamJobLog(ctx, id, after) {
			select {
			case events <- fed{e, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return events
}

// sender writes to one browser. A write that fails is the only sign that the
// browser has left; heartbeats see to it that there is one.
type sender struct {
	w       *bufio.Writer
	ctx     context.Context
	speaker *client.Client
	now     func() time.Time
	may     []string            // permissions of the session
	scoped  func([]byte) []byte // puts the workspace before the addresses
	lines   bytes.Buffer
	count   int
	pause   time.Duration // gather, or gatherMany
	last    int64
	failure error
}

func (s *sender) run(events <-chan fed) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	flush := time.NewTimer(gather)
	flush.Stop()
	fmt.Fprint(s.w, "retry: 1000\n\n")
	s.failure = s.w.Flush()
	for s.failure == nil {
		select {
		case e, ok := <-events:
			if !ok || e.err != nil {
				s.flush()
				var p *api.Problem
				if ok && errors.As(e.err, &p) {
					s.event("gone", "", []byte(p.Code)) // the browser loads the page again, which says why
				}
				return
			}
			switch {
			case e.Log != nil:
				if s.count == 0 {
					flush.Reset(s.pause)
				}
				s.add(*e.Log)
			case e.Job != nil:
				s.flush()
				waits, _ := waitsFor(s.ctx, s.speaker, *e.Job) // what can't be told now is told by the page
				s.event("state", "", render(s.context(), stateRegion(s.permitted(*e.Job), waits)))
			case e.End:
				s.flush()
				s.event("end", "", []byte("end"))
				return
			}
		case <-flush.C:
			s.flush()
		case <-beat.C:
			fmt.Fprint(s.w, ": alive\n\n")
			s.failure = s.w.Flush()
		}
	}
}

// context is what is drawn with. It does not end when this process is about to:
// nothing would be drawn then of lines that the browser is told it has.
func (s *sender) context() context.Context {
	return ui.WithAllowed(ui.WithNow(context.WithoutCancel(s.ctx), s.now()), ui.Allowed{Permissions: s.may})
}

// permitted is a job with the operations that the session may carry out: everybody who follows a job is told the same.
func (s *sender) permitted(j api.Job) api.Job {
	if !slices.Contains(s.may, "project.workspace.job:update") {
		for i := range j.Operations {
			j.Operations[i].Allowed = false
		}
	}
	return j
}

func (s *sender) add(e api.LogEntry) {
	s.lines.Write(render(s.context(), logLine(lineOf(e))))
	s.last = e.Sequence
	if s.count++; s.count >= mostInOne {
		s.flush()
	}
}

func (s *sender) flush() {
	if s.count == 0 {
		return
	}
	s.event("log", strconv.FormatInt(s.last, 10), s.lines.Bytes())
	s.lines.Reset()
	if s.pause = gather; s.count >= many {
		s.pause = gatherMany
	}
	s.count = 0
}

func (s *sender) event(name, id string, data []byte) {
	if s.failure != nil {
		return
	}
	if id != "" {
		fmt.Fprintf(s.w, "id: %s\n", id)
	}
	fmt.Fprintf(s.w, "event: %s\n", name)
	data = bytes.ReplaceAll(data, []byte("\r"), nil) // it would end a line of the stream
	if s.scoped != nil {
		data = s.scoped(data)
	}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		fmt.Fprintf(s.w, "data: %s\n", line)
	}
	fmt.Fprint(s.w, "\n")
	s.failure = s.w.Flush()
}

func render(ctx context.Context, c templ.Component) []byte {
	var b bytes.Buffer
	_ = c.Render(ctx, &b) // into memory: fails only with the context
	return b.Bytes()
}
