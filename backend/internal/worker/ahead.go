package worker

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"sync"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/store"
)

// ahead is the first play of an attempt, made ready while its claim is being
// committed: the play waits for the slower of the two, and not for both.
type ahead struct {
	w       *Worker
	attempt int
	what    inputs.Play
	done    chan struct{} // closed when the rest is there
	play    ansible.Ready // nil: nothing was at hand
	to      *access       // how the host is reached, which has answered; nil: that is not known
	err     error         // the host does not answer
}

// Ahead makes ready what Work will need, and does not wait for it. The claim is
// not committed yet, and may never be: nothing that is done here is seen outside
// of this process, but for a look whether the host answers. What can't be made
// ready, for whatever reason, is left to Work, which tells of it. forget undoes
// it where Work never comes; it may be called at any time and repeated, and
// waits for nothing. It is nil if nothing is made ready.
func (w *Worker) Ahead(c store.Claim) (forget func()) {
	caught(c.ID, func() { forget = w.begin(c) })
	return forget
}

func (w *Worker) begin(c store.Claim) (forget func()) {
	if !c.IsRead() || !w.runner.AtHand() {
		return nil
	}
	r := &run{w: w, claim: c, fence: c.Begun.Number}
	if r.load(context.Background()) != nil || r.job.PlaybookVersionID == nil || r.doubtful() {
		return nil
	}
	first := r.beginsWith()
	if first == nil {
		return nil
	}
	a := &ahead{w: w, attempt: c.Attempt, what: first(r), done: make(chan struct{})}
	w.ahead.Store(c.ID, a)
	w.readying.Go(func() {
		defer close(a.done)
		caught(c.ID, func() { a.make(r) })
	})
	return func() {
		if w.ahead.CompareAndDelete(c.ID, a) {
			a.giveUp()
		}
	}
}

// caught runs f, whose panic ends nothing but f: Work meets it again, where a
// job that panics fails.
func caught(job uuid.UUID, f func()) {
	defer func() {
		if p := recover(); p != nil {
			slog.Error("prepare play failed", "job", job, "panic", p)
		}
	}()
	f()
}

// doubtful tells whether the host may well not answer: then what is at hand is
// left to the plays of others.
func (r *run) doubtful() bool {
	return r.host.Health == domain.HealthUnreachable || r.job.Failures > 0
}

// beginsWith is how the play is made that the step begins with that was begun
// when the job was claimed; nil if that can't be told yet.
func (r *run) beginsWith() func(*run) inputs.Play {
	for _, s := range r.job.Steps {
		if s.Position == r.claim.Begun.Position {
			return r.w.handlers[r.job.Kind].steps[s.Name].first
		}
	}
	return nil
}

// make looks at the host and fills the run's directory, side by side.
func (a *ahead) make(r *run) {
	ctx := context.Background() // the looks have bounds of their own
	address, err := r.resolve(ctx)
	if err != nil {
		a.err = err
		return
	}
	var looked sync.WaitGroup
	answers := false
	looked.Go(func() {
		caught(r.claim.ID, func() {
			a.err = r.look(ctx, address)
			answers = a.err == nil
		})
	})
	var to *access
	caught(r.claim.ID, func() {
		key, err := r.privateKey()
		if err != nil {
			return
		}
		to = &access{address, key}
		a.play = a.w.runner.MakeReady(r.playOf(a.what, *to, true, false))
	})
	looked.Wait()
	switch {
	case answers:
		a.to = to
	case a.play != nil:
		a.w.readying.Go(a.play.GiveUp)
		a.play = nil
	}
}

// Settle waits until nothing is left of what was made ready and not wanted. No
// job runs any more.
func (w *Worker) Settle() { w.readying.Wait() }

// takeAhead is what was made ready for this attempt; nil if nothing was.
func (w *Worker) takeAhead(id uuid.UUID, attempt int) *ahead {
	v, _ := w.ahead.LoadAndDelete(id)
	a, _ := v.(*ahead)
	if a != nil && a.attempt != attempt {
		a.giveUp()
		return nil
	}
	return a
}

// giveUp ends what was made ready and is not wanted. It does not wait for it.
func (a *ahead) giveUp() {
	a.w.readying.Go(func() {
		if <-a.done; a.play != nil {
			a.play.GiveUp()
		}
	})
}

// atHand is what was made ready of a play, if it is this very one, and otherwise
// empty; what was made for another one is given up.
func (r *run) atHand(ctx context.Context, what inputs.Play, fenced, check bool) (*ahead, error) {
	a := r.ahead
	r.ahead = nil
	if a == nil {
		return &ahead{}, nil
	}
	if !fenced || check || !reflect.DeepEqual(what, a.what) {
		a.giveUp()
		return &ahead{}, nil
	}
	select {
	case <-a.done:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		a.giveUp()
		return nil, fmt.Errorf("wait for the play to be ready: %w", ctx.Err())
	}
	return a, a.err
}
