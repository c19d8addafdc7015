package queue

import (
	"sync"

	"github.com/google/uuid"
)

// Signals tells viewers in this process that something about a job moved, so
// that they need not wait for their next look at the database. Viewers of
// other backends poll.
type Signals struct {
	mu       sync.Mutex
	watchers map[uuid.UUID]map[chan struct{}]struct{}
}

// NewSignals makes an empty Signals.
func NewSignals() *Signals {
	return &Signals{watchers: map[uuid.UUID]map[chan struct{}]struct{}{}}
}

// Watch returns a channel that gets a value, at least one, after each Notify
// of the job, and a function that ends the watch.
func (s *Signals) Watch(job uuid.UUID) (moved <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchers[job] == nil {
		s.watchers[job] = map[chan struct{}]struct{}{}
	}
	s.watchers[job][c] = struct{}{}
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers[job], c)
		if len(s.watchers[job]) == 0 {
			delete(s.watchers, job)
		}
	}
}

// Notify tells the viewers of a job that it moved.
func (s *Signals) Notify(job uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.watchers[job] {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
