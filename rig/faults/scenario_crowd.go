package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kloigos/rig/faults/host"
)

const (
	crowdLines = 400      // that each task tells: more than sockets hold
	slowOne    = 10       // of so many viewers reads a byte a second
	roomEach   = 64 << 10 // of a backend's memory, for each viewer
	roomAtAll  = 64 << 20 // beside what it has without any
)

// crowd has very many follow one job through one backend, some of which read a
// byte a second: all others hear everything in time, who wants something else
// is answered, and the memory that it takes while all are there is bounded.
func crowd(ctx context.Context, w *World) error {
	many, pause := 300, 8*time.Second
	if w.long {
		many, pause = 5000, 90*time.Second
	}
	h, b := w.hosts[0], w.backends[0]
	h.Behave(host.Manners{Lines: crowdLines, Pause: pause})
	_, job, err := w.create(ctx, h.Name)
	if err != nil {
		return err
	}
	if err := w.underWay(ctx, 1); err != nil {
		return err
	}
	h.Behave(host.Manners{Lines: crowdLines}) // the first task waits for all to come
	before, err := resident(b.PID())
	if err != nil {
		return err
	}
	watching, leave := context.WithCancel(ctx)
	var slow, fast sync.WaitGroup
	defer slow.Wait()
	defer leave()
	var there atomic.Int64
	errs := make(chan error, many)
	for n := range many {
		v := w.raw(b, job)
		v.once, v.there = true, func() { there.Add(1) }
		if n%slowOne == 0 {
			slow.Go(func() { errs <- v.crawl(watching) })
			continue
		}
		fast.Go(func() { errs <- v.follow(watching, 2*crowdLines) })
		if n%50 == 0 { // the queue of connections that nobody has taken yet is short
			sleep(ctx, 20*time.Millisecond)
		}
	}
	err = await(ctx, "all viewers to be there", pause, func() bool { return there.Load() == int64(many) })
	if err != nil {
		return fmt.Errorf("%w: %d of %d are", err, there.Load(), many)
	}
	most, measured := b.mostResident(watching)
	err = w.succeeds(ctx, job) // asks all the while, within the patience of any client
	fast.Wait()
	leave()
	slow.Wait()
	<-measured
	for range many {
		err = errors.Join(err, <-errs)
	}
	if err == nil && *most > before+int64(many)*roomEach+roomAtAll {
		err = fmt.Errorf("%d viewers took %d MiB of a backend that had %d", many, *most>>20, before>>20)
	}
	if err == nil && *most <= before {
		err = errors.New("the viewers took no memory at all, so nothing is proven")
	}
	return err
}

// mostResident measures a backend's memory until ctx is done; the most that it
// had is known when the channel is closed.
func (b *Backend) mostResident(ctx context.Context) (most *int64, measured <-chan struct{}) {
	most = new(int64)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if now, err := resident(b.PID()); err == nil {
				*most = max(*most, now)
			}
			if !sleep(ctx, 100*time.Millisecond) {
				return
			}
		}
	}()
	return most, done
}

// resident is the memory of a process that is not mapped from files, in bytes.
func resident(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("look at process %d: %w", pid, err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("the kernel does not tell how much memory a process has")
}
