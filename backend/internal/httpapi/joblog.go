package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humafiber"
	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

const (
	pollEvery    = 200 * time.Millisecond // and up to half of it more, so that viewers part
	heartbeat    = 10 * time.Second       // also how soon an ended token ends its streams
	streamPage   = 100                    // entries in memory for one viewer
	stallTimeout = 30 * time.Second
	streamQuery  = 10 * time.Second // for one look at the database
	maxViewers   = 1024
	eventStream  = "text/event-stream"
	streamLength = 6 * time.Hour // then the viewer comes back by itself
)

func (s *Server) registerJobLog() {
	register(s, "get-job-log", s.getJobLog)
	register(s, "stream-job-log", s.streamJobLog, func(o *huma.Operation) {
		o.Description = "Events: `log` with one entry of the log (its `id` is the sequence), `state` with the job whenever it moved, `end` when all was told. " +
			"Resume with Last-Event-ID, or after."
		o.Responses = map[string]*huma.Response{"200": {
			Description: "server-sent events", Content: map[string]*huma.MediaType{eventStream: {Schema: &huma.Schema{Type: huma.TypeString}}},
		}}
	})
}

func (s *Server) getJobLog(ctx context.Context, in *struct {
	ByID
	After int64 `query:"after" minimum:"0" doc:"sequence after which to begin"`
	Limit int   `query:"limit" minimum:"1" maximum:"2000" default:"500"`
},
) (*object[api.JobLog], error) {
	j, err := s.job(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	pulse, err := s.db.JobPulse(ctx, j.ID)
	if err != nil {
		return nil, err
	}
	entries, err := s.db.JobLog(ctx, j.ID, in.After, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &object[api.JobLog]{Body: api.JobLog{Items: make([]api.LogEntry, len(entries)), Last: in.After}}
	for i, e := range entries {
		out.Body.Items[i] = presentLogEntry(e)
		out.Body.Last = e.Sequence
	}
	out.Body.Complete = ended(pulse.State) && out.Body.Last >= pulse.LastSeq
	return out, nil
}

func ended(state domain.JobState) bool {
	return state != domain.JobQueued && state != domain.JobRunning && state != domain.JobCancelling
}

func presentLogEntry(e store.LogEntry) api.LogEntry {
	return api.LogEntry{
		Sequence: e.Sequence, Attempt: e.Attempt, Step: e.Step, Time: e.Time, Kind: e.Kind, Play: e.Play, Role: e.Role, Task: e.Task,
		Action: e.Action, Item: e.Item, Host: e.Host, Changed: e.Changed, Message: e.Message, Output: e.Output, Diff: e.Diff, DurationMS: e.DurationMS,
	}
}

func (s *Server) streamJobLog(ctx context.Context, in *struct {
	ByID
	After  int64  `query:"after" minimum:"0" doc:"sequence after which to begin"`
	LastID string `header:"Last-Event-ID" maxLength:"20" doc:"sequence after which to go on; sent by browsers by themselves"`
},
) (*huma.StreamResponse, error) {
	j, err := s.job(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	after := in.After
	if in.LastID != "" {
		if after, err = strconv.ParseInt(in.LastID, 10, 64); err != nil || after < 0 {
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
		v := &viewer{s: s, job: j.ID, after: after, hash: r.hash, conn: f.Context().Conn()}
		// Runs after the handler has returned: it must touch neither f nor ctx.
		f.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
			defer func() { <-s.viewers }()
			v.w = w
			v.follow(r.id)
		})
	}}, nil
}

// viewer is one who follows a job. It pulls from the database no more than the
// connection takes, so that a slow one holds a page of entries and no more.
type viewer struct {
	s     *Server
	w     *bufio.Writer
	conn  net.Conn
	job   uuid.UUID
	hash  []byte // of the bearer's token
	after int64
	shown store.Pulse
}

var errViewerDone = errors.New("all was told")

func (v *viewer) follow(request string) {
	v.s.metrics.viewers.Inc()
	defer v.s.metrics.viewers.Dec()
	defer func() {
		if p := recover(); p != nil {
			v.s.log.Error("panic in a stream", "request_id", request, "panic", fmt.Sprint(p))
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), streamLength)
	defer cancel()
	go func() {
		select {
		case <-v.s.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	var moved <-chan struct{}
	if v.s.cfg.Signals != nil {
		m, stop := v.s.cfg.Signals.Watch(v.job)
		defer stop()
		moved = m
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	_, err := v.w.WriteString("retry: 1000\n\n")
	if err == nil {
		err = v.flush()
	}
	for err == nil {
		if err = v.look(ctx); err != nil {
			break
		}
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-moved:
		case <-time.After(pollEvery + rand.N(pollEvery/2)):
		case <-beat.C:
			err = v.beat(ctx)
		}
	}
	v.s.log.Debug("stream ended", "request_id", request, "job", v.job, "after", v.after, "why", err)
}

// look tells everything new.
func (v *viewer) look(ctx context.Context) error {
	query, cancel := context.WithTimeout(ctx, streamQuery)
	defer cancel()
	pulse, err := v.s.db.JobPulse(query, v.job)
	if err != nil {
		return err
	}
	last := pulse.LastSeq
	pulse.LastSeq = 0
	if pulse != v.shown {
		if err := v.state(query); err != nil {
			return err
		}
		v.shown = pulse
	}
	for v.after < last {
		if err := v.page(ctx); err != nil {
			return err
		}
	}
	if !ended(pulse.State) {
		return nil
	}
	if _, err := v.w.WriteString("event: end\ndata: {}\n\n"); err != nil {
		return err
	}
	if err := v.flush(); err != nil {
		return err
	}
	return errViewerDone
}

func (v *viewer) state(ctx context.Context) error {
	j, err := v.s.db.Job(ctx, v.job)
	if err != nil {
		return err
	}
	if err := v.event("state", 0, presentJob(j)); err != nil {
		return err
	}
	return v.flush()
}

func (v *viewer) page(ctx context.Context) error {
	query, cancel := context.WithTimeout(ctx, streamQuery)
	defer cancel()
	entries, err := v.s.db.JobLog(query, v.job, v.after, streamPage)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return errors.New("the log ends before its last sequence")
	}
	for _, e := range entries {
		if err := v.event("log", e.Sequence, presentLogEntry(e)); err != nil {
			return err
		}
		v.after = e.Sequence
	}
	return v.flush()
}

// beat keeps the connection known to be alive, and ends the stream of a token
// that was ended.
func (v *viewer) beat(ctx context.Context) error {
	query, cancel := context.WithTimeout(ctx, streamQuery)
	defer cancel()
	if _, err := v.s.db.Bearer(query, v.hash); err != nil {
		return err
	}
	if _, err := v.w.WriteString(": still here\n\n"); err != nil {
		return err
	}
	return v.flush()
}

func (v *viewer) event(name string, sequence int64, data any) error {
	b, err := json.Marshal(data) // on one line, as data: demands
	if err != nil {
		return err
	}
	if err := v.deadline(); err != nil {
		return err
	}
	if sequence > 0 {
		_, _ = v.w.WriteString("id: " + strconv.FormatInt(sequence, 10) + "\n") // an error stays in the writer
	}
	_, _ = v.w.WriteString("event: " + name + "\ndata: ")
	_, _ = v.w.Write(b)
	_, err = v.w.WriteString("\n\n")
	return err
}

func (v *viewer) flush() error {
	if err := v.deadline(); err != nil {
		return err
	}
	return v.w.Flush()
}

// deadline renews the time that the viewer has for taking what is written.
func (v *viewer) deadline() error {
	return v.conn.SetWriteDeadline(time.Now().Add(v.s.cfg.StallTimeout))
}
