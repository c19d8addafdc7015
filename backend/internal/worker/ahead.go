package worker

import (
	"context"
	"reflect"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/store"
)

// ahead is the first play of an attempt, made ready while its claim is being
// committed: the play waits for the slower of the two, and not for both.
type ahead struct {
	attempt int
	what    inputs.Play
	done    chan struct{} // closed when the rest is there
	play    ansible.Ready // nil: nothing was at hand
	err     error         // the host can't be reached
}

// Ahead makes ready what Work will need. The claim is not committed yet, and
// may never be: nothing that is done here is seen outside of this process, but
// for a look whether the host answers. forget undoes it where Work never comes,
// and does nothing where it has come; nil if nothing is made ready.
func (w *Worker) Ahead(c store.Claim) (forget func()) {
	if !c.IsRead() {
		return nil
	}
	r := &run{w: w, claim: c, fence: c.Begun.Number}
	if r.load(context.Background()) != nil || r.job.PlaybookVersionID == nil {
		return nil
	}
	first := r.beginsWith()
	if first == nil {
		return nil
	}
	a := &ahead{attempt: c.Attempt, what: first(r), done: make(chan struct{})}
	w.ahead.Store(c.ID, a)
	go func() {
		defer close(a.done)
		a.play, a.err = r.makeReady(a.what)
	}()
	return func() {
		if w.ahead.CompareAndDelete(c.ID, a) {
			a.giveUp()
		}
	}
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

func (r *run) makeReady(what inputs.Play) (ansible.Ready, error) {
	ctx := context.Background() // the looks at the host have bounds of their own
	address, err := r.resolve(ctx)
	if err != nil {
		return nil, err
	}
	looked := make(chan error, 1)
	go func() { looked <- r.look(ctx, address) }()
	var play ansible.Ready
	key, keyErr := r.privateKey()
	if keyErr == nil {
		play = r.w.runner.MakeReady(r.playOf(what, access{address, key}, true, false))
	}
	if err := <-looked; err != nil {
		if play != nil {
			go play.GiveUp()
		}
		return nil, err
	}
	return play, nil
}

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
	go func() {
		if <-a.done; a.play != nil {
			a.play.GiveUp()
		}
	}()
}

// ready is what was made ready of a play, if it is this very one; what was made
// for another one is given up.
func (r *run) ready(ctx context.Context, what inputs.Play, fenced, check bool) (ansible.Ready, error) {
	a := r.ahead
	if a == nil {
		return nil, nil //nolint:nilnil // not an error, and nothing is ready
	}
	r.ahead = nil
	if !fenced || check || !reflect.DeepEqual(what, a.what) {
		a.giveUp()
		return nil, nil //nolint:nilnil // the same
	}
	select {
	case <-a.done:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		a.giveUp()
		return nil, ctx.Err()
	}
	return a.play, a.err
}
