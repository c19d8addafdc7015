package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

const (
	pollEvery   = 200 * time.Millisecond // and up to half of it more, so that backends part
	quotaEvery  = time.Second
	streamQuery = 10 * time.Second // for one look at the database
	// What one part of a log holds, and what a watch keeps of the newest ones.
	// A viewer that takes nothing holds one part.
	partEntries = 100
	partBytes   = 16 << 10
	tailBytes   = 32 << 10
)

// watches are the jobs that somebody follows through this backend: however many
// follow a job, the database is asked of it once.
type watches struct {
	mu   sync.Mutex
	jobs map[uuid.UUID]*watch
}

// watch looks at one job for all of its viewers.
type watch struct {
	s   *Server
	job uuid.UUID
	// The workspace of the job, and whether its host is of another one.
	workspace uuid.UUID
	shared    bool
	asked     time.Time     // when it last looked for a quota that the job waits for
	viewers   int           // guarded by the lock of watches
	look      chan struct{} // a new viewer wants one
	stop      context.CancelFunc
	seen      atomic.Pointer[sight]
}

// sight is what a watch knows at one moment. It is never changed; another one
// takes its place.
type sight struct {
	moves    int         // of the job since the watch began; 0: nobody has looked yet
	state    []byte      // the job, as an event
	pulse    store.Pulse // without the log's end
	waitsFor string      // the quota that the job waits for, in a sentence
	last     int64       // sequence up to which the log can be read
	tail     []part      // its newest parts
	over     bool        // the job has ended, and so has its log
	err      error       // why the watch is over, if it broke off
	replaced chan struct{}
}

// part is a piece of a log as events, the same for all who read it.
type part struct {
	after, last int64 // sequences
	events      []byte
}

// joinWatch adds a viewer to the watch over a job.
func joinWatch(s *Server, j store.Job) *watch {
	job := j.ID
	s.watches.mu.Lock()
	defer s.watches.mu.Unlock()
	w := s.watches.jobs[job]
	if w == nil {
		ctx, stop := context.WithCancel(s.life)
		w = &watch{s: s, job: job, workspace: j.WorkspaceID, shared: j.OnSharedHost(), look: make(chan struct{}, 1), stop: stop}
		w.seen.Store(&sight{replaced: make(chan struct{})})
		s.watches.jobs[job] = w
		go w.run(ctx)
	}
	w.viewers++
	select {
	case w.look <- struct{}{}:
	default:
	}
	return w
}

// leave takes a viewer away; the last one ends the watch.
func (w *watch) leave() {
	w.s.watches.mu.Lock()
	defer w.s.watches.mu.Unlock()
	if w.viewers--; w.viewers == 0 {
		w.stop()
		w.forget()
	}
}

// forget lets the next viewer begin a watch of its own; the caller holds the
// lock.
func (w *watch) forget() {
	if w.s.watches.jobs[w.job] == w {
		delete(w.s.watches.jobs, w.job)
	}
}

// run looks until the job is over or nobody is left.
func (w *watch) run(ctx context.Context) {
	defer func() {
		w.s.watches.mu.Lock()
		defer w.s.watches.mu.Unlock()
		w.forget()
	}()
	var moved <-chan struct{}
	if w.s.cfg.Signals != nil {
		m, stop := w.s.cfg.Signals.Watch(w.job)
		defer stop()
		moved = m
	}
	for !w.seen.Load().over {
		select {
		case <-ctx.Done():
			return
		case <-w.look:
		case <-moved:
		case <-time.After(pollEvery + rand.N(pollEvery/2)):
		}
		if err := w.once(ctx); err != nil {
			broken := *w.seen.Load()
			broken.err = err
			w.show(broken)
			return
		}
	}
}

func (w *watch) show(s sight) {
	s.replaced = make(chan struct{})
	close(w.seen.Swap(&s).replaced)
}

// once shows everything new.
func (w *watch) once(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.s.log.Error("panic while a job was followed", "job", w.job, "panic", fmt.Sprint(p))
			err = errors.New("panic")
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, streamQuery)
	defer cancel()
	pulse, err := w.s.db.JobPulse(ctx, w.job)
	if err != nil {
		return err
	}
	now, last := *w.seen.Load(), pulse.LastSeq
	pulse.LastSeq = 0
	if now.moves == 0 {
		now.last = last // what was told before is read by each who wants it
	}
	waitsFor, err := w.waitsFor(ctx, now, pulse.State)
	if err != nil {
		return err
	}
	if now.moves == 0 || pulse != now.pulse || waitsFor != now.waitsFor {
		j, err := w.s.db.Job(ctx, w.job)
		if err != nil {
			return err
		}
		shown, err := jobHandlers{w.s}.shownJob(ctx, j)
		if err != nil {
			return err
		}
		if j.State == pulse.State {
			shown.WaitsFor = waitsFor
		}
		now.waitsFor = waitsFor
		if now.state, err = event(nil, "state", 0, shown); err != nil {
			return err
		}
		now.pulse = pulse
		now.moves++
		now.over = ended(pulse.State) && now.last >= last
		w.show(now)
	}
	for now.last < last {
		p, err := w.readPart(ctx, now.last, last)
		if err != nil {
			return err
		}
		now.last, now.tail = p.last, newest(now.tail, p)
		now.over = ended(pulse.State) && now.last >= last
		w.show(now)
	}
	return nil
}

// waitsFor is the quota that the job waits for, looked at once a second.
func (w *watch) waitsFor(ctx context.Context, now sight, state domain.JobState) (string, error) {
	if state == domain.JobQueued && time.Since(w.asked) < quotaEvery {
		return now.waitsFor, nil
	}
	w.asked = time.Now()
	return jobHandlers{w.s}.waitsFor(ctx, w.workspace, state)
}

// newest puts a part behind a tail, and leaves out of the oldest what is too
// much. The tail that it is given stays as it was.
func newest(tail []part, p part) []part {
	size, from := len(p.events), len(tail)
	for from > 0 && size+len(tail[from-1].events) <= tailBytes {
		from--
		size += len(tail[from].events)
	}
	return append(append(make([]part, 0, len(tail)-from+1), tail[from:]...), p)
}

// readPart reads entries after one sequence, up to another at most.
func (w *watch) readPart(ctx context.Context, after, until int64) (part, error) {
	entries, err := w.s.db.JobLogPart(ctx, w.job, after, int(min(until-after, partEntries)), partBytes)
	if err != nil {
		return part{}, err
	}
	if len(entries) == 0 {
		return part{}, errors.New("the log ends before its last sequence")
	}
	p := part{after: after, last: entries[len(entries)-1].Sequence}
	for _, e := range entries {
		if p.events, err = event(p.events, "log", e.Sequence, presentLogEntry(e, w.shared)); err != nil {
			return part{}, err
		}
	}
	return p, nil
}

// event appends a server-sent event.
func event(to []byte, name string, sequence int64, data any) ([]byte, error) {
	b, err := json.Marshal(data) // on one line, as data: demands
	if err != nil {
		return to, err
	}
	if sequence > 0 {
		to = append(strconv.AppendInt(append(to, "id: "...), sequence, 10), '\n')
	}
	to = append(append(append(to, "event: "...), name...), "\ndata: "...)
	return append(append(to, b...), "\n\n"...), nil
}
