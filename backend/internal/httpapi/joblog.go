package httpapi

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humafiber"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// logHandlers answers the routes about logs of jobs.
type logHandlers struct{ *Server }

const eventStream = "text/event-stream"

func (s logHandlers) register() {
	register(s.Server, "get-job-log", s.getJobLog)
	register(s.Server, "get-job-outline", s.getJobOutline)
	register(s.Server, "stream-job-log", s.streamJobLog, func(o *huma.Operation) {
		o.Description = "Events: `log` with one entry of the log (its `id` is the sequence), `state` with the job whenever it moved, `end` when all was told. " +
			"Resume with Last-Event-ID, or after."
		o.Responses = map[string]*huma.Response{"200": {
			Description: "server-sent events", Content: map[string]*huma.MediaType{eventStream: {Schema: &huma.Schema{Type: huma.TypeString}}},
		}}
	})
}

func ended(state domain.JobState) bool {
	return state != domain.JobQueued && state != domain.JobRunning && state != domain.JobCancelling
}

// presentLogEntry leaves out, for a job on a host of another workspace, what files and commands of the host say: it may tell of
// the host's owner and of other tenants.
func presentLogEntry(e store.LogEntry, sharedHost bool) api.LogEntry {
	if sharedHost {
		e.Output, e.Diff = "", ""
	}
	return api.LogEntry{
		Sequence: e.Sequence, Attempt: e.Attempt, Step: e.Step, Time: e.Time, Kind: e.Kind, Play: e.Play, Role: e.Role, Task: e.Task,
		Action: e.Action, Item: e.Item, Host: e.Host, Changed: e.Changed, Message: e.Message, Output: e.Output, Diff: e.Diff, DurationMS: e.DurationMS,
	}
}

// maxSequence is the greatest number that every JSON reader holds; no log comes near it.
const maxSequence = 1<<53 - 1

func (s logHandlers) streamJobLog(ctx context.Context, in *struct {
	ByID
	After  int64  `query:"after" minimum:"0" maximum:"9007199254740991" doc:"sequence after which to begin"`
	LastID string `header:"Last-Event-ID" maxLength:"20" doc:"sequence after which to go on; sent by browsers by themselves"`
},
) (*huma.StreamResponse, error) {
	j, err := jobHandlers(s).job(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	after := in.After
	if in.LastID != "" {
		if after, err = strconv.ParseInt(in.LastID, 10, 64); err != nil || after < 0 || after > maxSequence {
			return nil, badField("Last-Event-ID", "must be the sequence of an entry")
		}
	}
	select {
	case s.viewers <- struct{}{}:
	default:
		return nil, withHeader(problem(http.StatusServiceUnavailable, "too_many_viewers", "This backend has no room for more viewers; try again in a moment."), "Retry-After", "5")
	}
	r := requestOf(ctx)
	return &huma.StreamResponse{Body: func(c huma.Context) {
		f := humafiber.UnwrapV2(c)
		f.Set("Content-Type", eventStream)
		f.Set("Cache-Control", "no-store")
		f.Set("X-Accel-Buffering", "no")
		// Read after the handler has returned: it must touch neither f nor ctx.
		f.Context().SetBodyStream(s.newViewer(j, after, r, f.Context().Conn()), -1)
	}}, nil
}
