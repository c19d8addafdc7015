package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	slowOne    = 10   // of so many viewers reads a byte a second
	toldBefore = 2000 // entries
	toldPace   = 10   // entries a second while all are there
)

// viewers has very many people follow one job through one backend, and looks at the memory that it has for them. Most
// follow what is told from now on; some begin at the beginning and read a byte a second, so that all that is kept for
// them stays kept. The log is longer than sockets hold.
func viewers(ctx context.Context, b *Bed, scale Scale) (results []Result, err error) {
	database, err := b.fleet(ctx, unitsAHost, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.dropDatabase(ctx, database) }()
	s, err := b.startBackend(ctx, database, "api")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Kill()) }()
	t, err := b.newTeller(ctx, database)
	if err != nil {
		return nil, err
	}
	if _, err := t.tell(toldBefore, 0); err != nil {
		return nil, err
	}
	before, err := readMemory(s.PID)
	if err != nil {
		return nil, err
	}
	a := newAudience(ctx, s, t.job)
	for n := range scale.Viewers {
		a.follow(toldBefore, n%slowOne == 0)
		if n%100 == 99 { // the queue of connections that nobody has taken yet is short
			if err := a.await(n + 1); err != nil {
				return nil, errors.Join(err, a.leave())
			}
		}
	}
	if err := a.await(scale.Viewers); err != nil {
		return nil, errors.Join(err, a.leave())
	}
	most := memory{}
	watched := make(chan struct{})
	seen := make(chan error, 1)
	go func() {
		for {
			m, err := readMemory(s.PID)
			most.anonymous = max(most.anonymous, m.anonymous)
			select {
			case <-watched:
				seen <- err
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	told := int(scale.Quiet.Seconds()) * toldPace
	_, err = t.tell(told, toldPace)
	close(watched)
	if err = errors.Join(err, <-seen, t.end()); err == nil {
		err = a.heard(int64(toldBefore + told)) // before those leave that read a byte a second
	}
	if err = errors.Join(err, a.leave()); err != nil {
		return nil, err
	}
	each := float64(most.anonymous-before.anonymous) / float64(scale.Viewers) / 1024
	return []Result{{
		What:  fmt.Sprintf("memory of the backend for a viewer of a log, %d at once, one in %d reading a byte a second", scale.Viewers, slowOne),
		Limit: Limit{Value: 64, Unit: "KiB"}, Measured: each,
		Raw: fmt.Sprintf("%.0f MiB before, at most %.0f MiB in %s", float64(before.anonymous)/(1<<20), float64(most.anonymous)/(1<<20), scale.Quiet),
	}}, nil
}
