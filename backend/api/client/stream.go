package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"

	"kloigos/backend/api"
)

const (
	// silence is how long a stream may be quiet before it counts as dead: three
	// of the API's heartbeats (10 s each).
	silence   = 30 * time.Second
	maxEvent  = 4 << 20 // bytes of one event
	firstRoom = 4 << 10 // bytes to begin with: a web app has a stream for each who watches
)

// JobEvent is one thing that the stream of a job tells; one of the fields is
// set. Job comes on every change of the job's state or steps. End is the last
// event: the job has ended and all of its log was sent.
type JobEvent struct {
	Log *api.LogEntry
	Job *api.Job
	End bool
}

// StreamJobLog follows a job: its log after the given sequence (0 is the
// beginning), in order and without gaps or repeats, and its state. A broken
// connection is made again where it broke, for as long as ctx lasts. An answer
// such as "not found" is yielded as an error and ends the stream.
func (c *Client) StreamJobLog(ctx context.Context, id string, after int64) iter.Seq2[JobEvent, error] {
	return func(yield func(JobEvent, error) bool) {
		s := jobStream{client: c, id: id, last: after, yield: yield}
		for failed := 0; ; {
			before := s.last
			err := s.connect(ctx)
			if s.done {
				return
			}
			if ctx.Err() != nil {
				yield(JobEvent{}, ctx.Err())
				return
			}
			var p *api.Problem
			if errors.As(err, &p) && p.Status < http.StatusInternalServerError && p.Status != http.StatusTooManyRequests {
				yield(JobEvent{}, err)
				return
			}
			if failed++; s.last > before {
				failed = 1
			}
			wait := backoff(failed)
			if p != nil {
				wait = max(wait, min(time.Duration(p.RetryAfter)*time.Second, longestPause))
			}
			if c.pause(ctx, wait) != nil {
				yield(JobEvent{}, ctx.Err())
				return
			}
		}
	}
}

type jobStream struct {
	client *Client
	id     string
	last   int64 // sequence that was yielded last
	yield  func(JobEvent, error) bool
	done   bool
}

// connect reads one connection until it breaks, or until the stream is done.
func (s *jobStream) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	r := request{method: http.MethodGet, path: pathOf("jobs", s.id, "log", "stream"), accept: "text/event-stream", stream: true}
	if s.last > 0 {
		r.lastID = strconv.FormatInt(s.last, 10)
	}
	resp, err := s.client.do(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return readEvents(resp.Body, func() { quiet.Reset(silence) }, s.handle)
}

func (s *jobStream) handle(name string, data []byte) (more bool, err error) {
	switch name {
	case "log":
		entry := &api.LogEntry{}
		if err := json.Unmarshal(data, entry); err != nil {
			return false, fmt.Errorf("read a log entry: %w", err)
		}
		if entry.Sequence <= s.last {
			return true, nil
		}
		s.last = entry.Sequence
		s.done = !s.yield(JobEvent{Log: entry}, nil)
	case "state":
		job := &api.Job{}
		if err := json.Unmarshal(data, job); err != nil {
			return false, fmt.Errorf("read a job: %w", err)
		}
		s.done = !s.yield(JobEvent{Job: job}, nil)
	case "end":
		s.yield(JobEvent{End: true}, nil)
		s.done = true
	}
	return !s.done, nil
}

// readEvents parses a stream of server-sent events. heard is called for every
// line, heartbeats included; handle for every event, until it wants no more.
func readEvents(r io.Reader, heard func(), handle func(name string, data []byte) (bool, error)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, firstRoom), maxEvent)
	var name string
	var data []byte
	has := false
	for lines.Scan() {
		heard()
		line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
		if len(line) == 0 {
			if has || name != "" {
				more, err := handle(name, data)
				if err != nil || !more {
					return err
				}
			}
			name, data, has = "", data[:0], false
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name = string(value)
		case "data":
			if has {
				data = append(data, '\n')
			}
			data, has = append(data, value...), true
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}
