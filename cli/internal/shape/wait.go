package shape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/show"
)

const (
	firstLook   = 150 * time.Millisecond
	longestLook = time.Second
	// How long the API may be away while a job is waited for; the job does not
	// mind.
	awayLimit = 2 * time.Minute
)

// Wait waits for a job to end and shows how far it is. A job that failed is a
// Failure; a cancelled one is, unless that was asked for.
func (a *App) Wait(ctx context.Context, c *client.Client, id string, cancelled bool) (api.Job, error) {
	p := &progress{w: a.Err, live: Terminal(a.Err)}
	defer p.end()
	pause, away := firstLook, time.Time{}
	for {
		j, err := c.GetJob(ctx, id)
		switch {
		case err == nil:
			away = time.Time{}
			p.show(j)
			if j.FinishedAt != nil {
				p.end()
				return j, a.Outcome(j, cancelled)
			}
		case ctx.Err() != nil:
			p.end()
			a.Say("The job continues. Follow it with: kloigos job follow %s", id)
			return j, ctx.Err()
		case !passing(err):
			return j, err
		case away.IsZero():
			away = time.Now()
		case time.Since(away) > awayLimit:
			return j, fmt.Errorf("wait for job %s, which continues: %w", id, err)
		}
		wait := pause
		if p := (*api.Problem)(nil); errors.As(err, &p) { // nothing is asked before the time that the API names
			wait = max(wait, time.Duration(p.RetryAfter)*time.Second)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		pause = min(pause*3/2, longestLook)
	}
}

// passing tells whether an error may be over in a moment.
func passing(err error) bool {
	var p *api.Problem
	if errors.As(err, &p) {
		return p.Status >= http.StatusInternalServerError || p.Status == http.StatusTooManyRequests
	}
	return errors.Is(err, client.ErrUnreachable)
}

// Outcome says how a job ended; cancelled is whether that was wanted.
func (a *App) Outcome(j api.Job, cancelled bool) error {
	took := ""
	if j.StartedAt != nil && j.FinishedAt != nil && j.FinishedAt.Sub(*j.StartedAt) >= time.Second {
		took = " after " + show.Span(j.FinishedAt.Sub(*j.StartedAt))
	}
	switch {
	case j.State == "succeeded":
		a.Say("%s: succeeded%s", j.Title(), took)
		return nil
	case j.State == "cancelled" && cancelled:
		a.Say("%s: cancelled%s", j.Title(), took)
		return nil
	}
	return jobFailed(j)
}

func jobFailed(j api.Job) error {
	parts := []string{fmt.Sprintf("%s: %s", show.Line(j.Title()), show.Line(j.State))}
	if e := j.Error; e != nil && j.State != "cancelled" {
		if e.Task != "" {
			parts = append(parts, "  task: "+show.Line(e.Task))
		}
		if e.Host != "" {
			parts = append(parts, "  host: "+show.Line(e.Host))
		}
		for _, line := range strings.Split(strings.TrimSpace(e.Message), "\n") {
			parts = append(parts, "  "+show.Line(line))
		}
		if e.NextStep != "" {
			parts = append(parts, "  "+show.Line(e.NextStep))
		}
	}
	parts = append(parts, "  The log: kloigos job log "+j.ID)
	return &Failure{CodeJobFailed, errors.New(strings.Join(parts, "\n"))}
}

// progress is one line that is written over at a terminal, and a line for each
// step elsewhere.
type progress struct {
	w    io.Writer
	live bool
	last string
	open bool
}

func (p *progress) show(j api.Job) {
	if p.live {
		from := j.CreatedAt
		if j.StartedAt != nil {
			from = *j.StartedAt
		}
		line := stage(j)
		if j.FinishedAt == nil {
			line += ", " + show.Span(time.Since(from))
		}
		fmt.Fprint(p.w, "\r\x1b[K"+show.Line(line))
		p.open = true
		return
	}
	if line := stage(j); line != p.last && j.FinishedAt == nil {
		fmt.Fprintln(p.w, show.Line(line))
		p.last = line
	}
}

func (p *progress) end() {
	if p.open {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.open = false
	}
}

// stage is where a job is: its state, or the step that runs.
func stage(j api.Job) string {
	for i, s := range j.Steps {
		if s.State == "running" {
			return fmt.Sprintf("%s: step %d of %d, %s", j.Title(), i+1, len(j.Steps), s.Name)
		}
	}
	return fmt.Sprintf("%s: %s", j.Title(), j.State)
}
