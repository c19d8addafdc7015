package agenthttp

import (
	"sync"
	"time"
)

// bucket holds what may still be asked: it fills with time.
type bucket struct {
	left float64
	at   time.Time
}

// take takes one from the bucket; false if there is none.
func (b *bucket) take(now time.Time, perSecond, most float64) bool {
	b.fill(now, perSecond, most)
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

func (b *bucket) fill(now time.Time, perSecond, most float64) {
	if b.at.IsZero() {
		b.left = most
	} else {
		b.left = min(most, b.left+now.Sub(b.at).Seconds()*perSecond)
	}
	b.at = now
}

// Refusals that a stranger may cause: the first are free, then one in two seconds.
const (
	refusalsFree      = 20
	refusalsPerSecond = 0.5
	mostStrangers     = 8192
)

// refusals counts what was refused to whom. Somebody else at the same address, who names another agent, is not held up.
type refusals struct {
	mu      sync.Mutex
	buckets map[string]*bucket
}

// exhausted tells whether somebody was refused so often that nothing is looked up for them now.
func (r *refusals) exhausted(who string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.buckets[who]
	if b == nil {
		return false
	}
	b.fill(now, refusalsPerSecond, refusalsFree)
	return b.left < 1
}

func (r *refusals) note(who string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.buckets == nil || len(r.buckets) >= mostStrangers { // whoever fills it is forgotten with all others, and begins again
		r.buckets = map[string]*bucket{}
	}
	b := r.buckets[who]
	if b == nil {
		b = &bucket{}
		r.buckets[who] = b
	}
	b.take(now, refusalsPerSecond, refusalsFree)
}
