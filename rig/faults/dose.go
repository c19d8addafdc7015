package faults

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// dose is what a scenario under clients must have given to have shown
// anything: with clients that all wait for a unit and backends that die idle,
// nothing can break.
type dose struct {
	clients int
	ended   int     // jobs that end at least, in each minute or in all of a scenario that is shorter
	share   float64 // jobs that are taken over at least, for each kill
}

// work is how much was done up to some moment.
type work struct {
	kills, ended, takeovers int // processes, jobs, jobs
}

func (k work) since(before work) work {
	return work{k.kills - before.kills, k.ended - before.ended, k.takeovers - before.takeovers}
}

// watched has clients work while do lets things go wrong, holds meanwhile what
// must hold at every moment, and afterwards that it was enough.
func (w *World) watched(ctx context.Context, enough dose, do func() error) error {
	stop := w.tenants(ctx, enough.clients)
	watching, end := context.WithCancel(ctx)
	var all sync.WaitGroup
	looks, minutes := 0, []work{{}}
	all.Go(func() { looks = w.verifyAlong(watching) })
	all.Go(func() { minutes = append(minutes, w.eachMinute(watching)...) })
	err := do()
	end()
	all.Wait()
	stop()
	now, logErr := w.done()
	if err = errors.Join(err, logErr); err != nil {
		return err
	}
	if len(minutes) == 1 { // less than a minute is looked at as one
		minutes = append(minutes, now)
	}
	return w.wasEnough(enough, now, minutes, looks)
}

func (w *World) wasEnough(enough dose, now work, minutes []work, looks int) (err error) {
	var ended, takeovers []int
	for i, upTo := range minutes[1:] {
		m := upTo.since(minutes[i])
		ended, takeovers = append(ended, m.ended), append(takeovers, m.takeovers)
		if m.ended < enough.ended {
			err = errors.Join(err, fmt.Errorf("in minute %d %d backends were killed and %d jobs ended, so little is proven", i+1, m.kills, m.ended))
		}
	}
	w.tells("verified %d times meanwhile; a minute: jobs ended %d, taken over %d", looks, ended, takeovers)
	if float64(now.takeovers) < enough.share*float64(now.kills) {
		err = errors.Join(err, fmt.Errorf("%d backends were killed and %d jobs taken over, so little is proven", now.kills, now.takeovers))
	}
	if looks == 0 {
		err = errors.Join(err, errors.New("it was never verified under way"))
	}
	return err
}

// eachMinute returns what was done by the end of each whole minute.
func (w *World) eachMinute(ctx context.Context) (minutes []work) {
	for sleep(ctx, time.Minute) {
		now, err := w.done()
		if err != nil {
			w.sees("%v", err)
			return minutes
		}
		minutes = append(minutes, now)
	}
	return minutes
}

const (
	verifyEvery = 3 * time.Second
	// A job waits for its lease to end, and then for a backend, of which all may
	// be dead for some seconds.
	overdueUnderWay = 20 * time.Second
)

// verifyAlong holds every few moments, until the context ends, what must be
// true at any moment; it returns how often.
func (w *World) verifyAlong(ctx context.Context) (looks int) {
	for sleep(ctx, verifyEvery) {
		switch err := w.verify(ctx, "--overdue", overdueUnderWay.String()); {
		case ctx.Err() != nil:
		case err != nil:
			w.sees("under way: %v", err)
			return looks
		default:
			looks++
		}
	}
	return looks
}

// done is how much was done until now.
func (w *World) done() (work, error) {
	if err := w.readLogs(); err != nil {
		return work{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.work(), nil
}

// work sums up what has been read; the caller holds the lock.
func (w *World) work() work {
	sum := work{kills: w.kills}
	for _, b := range w.backends {
		sum.ended += b.log.ended
		sum.takeovers += b.log.takeovers
	}
	return sum
}

// readLogs reads on in the logs of all backends, and notes what they may never
// say.
func (w *World) readLogs() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.backends {
		panics, err := b.log.read()
		if err != nil {
			return fmt.Errorf("read the log of %s: %w", b.name, err)
		}
		for _, line := range panics {
			w.odd = append(w.odd, b.name+" says: "+line)
		}
	}
	return nil
}

// logReader reads on in a backend's log, which may be long.
type logReader struct {
	path             string
	offset           int64
	ended, takeovers int // jobs, as far as it was read
}

// read counts what has been written since the last time, and returns the lines
// that tell of a panic.
func (r *logReader) read() (panics []string, err error) {
	file, err := os.Open(r.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(r.offset, io.SeekStart); err != nil {
		return nil, err
	}
	for in := bufio.NewReader(file); ; {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // a line without its end is read the next time
			return panics, nil
		}
		if err != nil {
			return panics, err
		}
		r.offset += int64(len(line))
		if r.count(line) {
			panics = append(panics, shortened(line))
		}
	}
}

// count counts a line, and tells whether it is of a panic.
func (r *logReader) count(line []byte) bool {
	has := func(s string) bool { return bytes.Contains(line, []byte(s)) }
	switch {
	case has(`msg="job started"`):
		if has(" takeover=true") {
			r.takeovers++
		}
	case has(`msg="job ended"`):
		if has(" end=succeeded") || has(" end=failed") || has(" end=cancelled") { // and not retried, or handed over
			r.ended++
		}
	case bytes.HasPrefix(line, []byte("panic:")), bytes.HasPrefix(line, []byte("fatal error:")):
		return true
	default:
		return (has("level=ERROR") || has(" ERROR ")) && has("panic") // in both of the forms that backends log in
	}
	return false
}

func shortened(line []byte) string {
	const most = 600
	return strings.TrimSpace(string(line[:min(len(line), most)]))
}
