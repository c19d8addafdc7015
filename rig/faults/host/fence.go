package host

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// fence is the wrapper around every module's start, as
// playbooks/roles/host_bootstrap/templates has it: whoever comes with a higher
// number first ends all older runs and waits until nothing of them is left.
type fence struct {
	host *Host
	path string // of the token log

	mu          sync.Mutex // the wrapper's lock; held while older runs are ended
	there       bool
	incarnation string
	number      int64
	groups      map[string]*group
	newest      map[string]int64 // number in the log, by incarnation
	ended       int              // runs that still ran when a newer one came
}

// group is a run's cgroup.
type group struct {
	run    string
	number int64
	ctx    context.Context
	kill   context.CancelFunc
	inside sync.WaitGroup
	alive  atomic.Int64 // how many are inside
}

func (g *group) enter() {
	g.alive.Add(1)
	g.inside.Add(1)
}

func (g *group) leave() {
	g.alive.Add(-1)
	g.inside.Done()
}

func (g *group) String() string { return fmt.Sprintf("%d (%s)", g.number, g.run) }

// admit lets a module of a run in, or tells why not: ExitRefused, ExitNoFence,
// ExitBroken.
func (f *fence) admit(incarnation string, number int64, run string) (g *group, code int, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !f.there:
		return nil, ExitNoFence, ""
	case f.incarnation != incarnation:
		return nil, ExitRefused, fmt.Sprintf("incarnation %s is not this host's %s", incarnation, f.incarnation)
	case number < f.number:
		return nil, ExitRefused, fmt.Sprintf("token %d is older than %d", number, f.number)
	case number > f.number && f.host.manners.Load().Full:
		f.end()
		return nil, ExitBroken, "the log cannot be written"
	case number > f.number:
		f.end()
		f.write(number, run)
		f.number = number
	}
	key := fmt.Sprintf("%d-%s", number, run)
	if g = f.groups[key]; g == nil && len(f.groups) > 0 {
		f.host.violate("runs %s and %s came with one number", slices.Collect(maps.Values(f.groups)), run)
		return nil, ExitRefused, fmt.Sprintf("number %d is another run's", number)
	}
	if g == nil {
		g = &group{run: run, number: number}
		g.ctx, g.kill = context.WithCancel(context.Background())
		f.groups[key] = g
	}
	g.enter()
	return g, 0, ""
}

// end ends every run and waits; the caller holds the lock.
func (f *fence) end() {
	for key, g := range f.groups {
		if g.alive.Load() > 0 { // asked before the kill, which is quick
			f.ended++
		}
		g.kill()
		delete(f.groups, key)
		g.inside.Wait()
	}
}

func (f *fence) endAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end()
}

func (f *fence) write(number int64, run string) {
	if f.newest == nil {
		f.newest = map[string]int64{}
	}
	f.newest[f.incarnation] = number
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		f.host.violate("its token log can't be written: %v", err)
		return
	}
	_, _ = fmt.Fprintf(file, "%s %s %d %s\n", time.Now().UTC().Format(time.RFC3339), f.incarnation, number, run)
	_ = file.Close()
}

// claim is the bootstrap: it brings the fence and makes the host one control
// plane's. Where there is no fence to check it, the number is held against the log.
// known is the highest number of that control plane that the host knows.
func (f *fence) claim(ctx context.Context, incarnation string, refence bool, number int64) (known int64, why string, alive bool) {
	if !f.lockUnlessEnded(ctx) {
		return 0, "", false
	}
	defer f.mu.Unlock()
	newest := f.newest[incarnation]
	switch {
	case !refence && number != 0 && number < newest:
		return 0, fmt.Sprintf("token %d is older than %d", number, newest), true
	case f.incarnation != "" && f.incarnation != incarnation && !refence:
		return 0, "this host belongs to another Kloigos", true
	case f.incarnation != incarnation:
		f.end()
		f.number = newest
	case refence:
		f.end()
	}
	f.there, f.incarnation = true, incarnation
	return max(newest, f.number), "", true
}

// remove takes the fence away, at the end of a decommission.
func (f *fence) remove(ctx context.Context) (alive bool) {
	if !f.lockUnlessEnded(ctx) {
		return false
	}
	defer f.mu.Unlock()
	f.there, f.incarnation, f.number = false, "", 0
	clear(f.groups)
	return true
}

// lockUnlessEnded takes the lock for a module that runs under the fence: whoever
// has the lock may be waiting for just this module's end.
func (f *fence) lockUnlessEnded(ctx context.Context) bool {
	for !f.mu.TryLock() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(time.Millisecond):
		}
	}
	return true
}

// Number is the newest number that the host let in.
func (h *Host) Number() int64 {
	h.fence.mu.Lock()
	defer h.fence.mu.Unlock()
	return h.fence.number
}

// Ended is how many runs were still going on when a newer one ended them.
func (h *Host) Ended() int {
	h.fence.mu.Lock()
	defer h.fence.mu.Unlock()
	return h.fence.ended
}
