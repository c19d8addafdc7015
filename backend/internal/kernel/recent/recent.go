// Package recent owns reads that many ask for at once and that may be a moment
// old: one of them reads, all take what it found. It knows nothing of what is
// read.
package recent

import (
	"context"
	"sync"
	"time"
)

// Reads gives what was read last for a key. Set its fields before the first
// Get.
type Reads[K comparable, T any] struct {
	// Read reads for a key. Its context is nobody's who asked: others wait for
	// the same, and a request's is not to be used after its end.
	Read func(ctx context.Context, key K) (T, error)
	// For is how old a result may be. An error is no result.
	For time.Duration
	// Ahead is the age from which a result is read anew while it is still given, so that who asks often never waits; 0: not before For.
	Ahead time.Duration
	// Within is how long a read may take.
	Within time.Duration

	mu    sync.Mutex
	reads map[K]*read[T]
}

// read is one read, under way or done.
type read[T any] struct {
	done  chan struct{}
	at    time.Time // of its end, by this process' clock; zero: under way
	value T
	err   error
	next  bool // it is being read anew
}

// Get gives what was read for the key a moment ago, or waits for the read that
// is under way, or for one that it begins; no longer than its context lasts.
func (r *Reads[K, T]) Get(ctx context.Context, key K) (T, error) {
	now := r.current(key)
	select {
	case <-now.done:
		return now.value, now.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

func (r *Reads[K, T]) current(key K) *read[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, old := range r.reads {
		if !old.at.IsZero() && time.Since(old.at) >= r.For {
			delete(r.reads, k)
		}
	}
	if have, ok := r.reads[key]; ok {
		if r.Ahead > 0 && !have.at.IsZero() && !have.next && time.Since(have.at) >= r.Ahead {
			have.next = true
			go r.run(key, &read[T]{done: make(chan struct{})}, have)
		}
		return have
	}
	if r.reads == nil {
		r.reads = map[K]*read[T]{}
	}
	one := &read[T]{done: make(chan struct{})}
	r.reads[key] = one
	go r.run(key, one, nil)
	return one
}

// run reads. before is the result that is read anew, nil for none.
func (r *Reads[K, T]) run(key K, one, before *read[T]) {
	ctx, cancel := context.WithTimeout(context.Background(), r.Within)
	defer cancel()
	value, err := r.Read(ctx, key)
	r.mu.Lock()
	defer r.mu.Unlock()
	one.value, one.err, one.at = value, err, time.Now()
	switch {
	case before != nil && err != nil:
		before.next = false // it stays as long as it may
	case before != nil:
		if r.reads[key] == before { // else it is too old by now, and somebody else reads
			r.reads[key] = one
		}
	case err != nil:
		delete(r.reads, key)
	}
	close(one.done)
}
