package faults

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
)

// Purpose is what a transaction is for, as far as one who reads along can tell.
type Purpose int

const (
	// Anything is any transaction at all.
	Anything Purpose = iota
	// Keyed is a request with an idempotency key.
	Keyed
	// Claims are jobs that are claimed or taken over.
	Claims
	// Ends are jobs that end.
	Ends
	// Logs are parts of a job's log.
	Logs
	begins // of no purpose: what was before was rolled back
	purposes
)

func (p Purpose) String() string {
	return [...]string{"anything", "requests with a key", "claims", "ends", "logs", "begins"}[p]
}

// What the statements of a purpose have in them, and no others.
var tellTale = [purposes][][]byte{
	Keyed:  {[]byte("INSERT INTO idempotency_keys")},
	Claims: {[]byte("attempt + 1, worker_id")},
	Ends:   {[]byte("state = 'succeeded', finished_at"), []byte("state = $3, finished_at = now(), lease_expires_at")},
	Logs:   {[]byte("INSERT INTO job_log")},
	begins: {relaxed, strictly, always},
}

// Messages of the simple protocol: its letter, its length, and a text that ends
// with a zero. Both forms of BEGIN have the same length.
var (
	commitMessage = []byte("Q\x00\x00\x00\x0bcommit\x00")
	relaxed       = []byte("begin isolation level read committed\x00")
	strictly      = []byte("begin isolation level serializable  \x00")
	// On CockroachDB: BEGIN, and what commits.
	always        = []byte("begin isolation level serializable\x00")
	releaseCommit = []byte("RELEASE SAVEPOINT cockroach_restart")
	// How the driver names statements that it has prepared.
	preparedPrefix = []byte("stmtcache_")
	// Of an error: the field of its code.
	serializationFailure = []byte("C40001\x00")
)

// transaction is what is known of the one that a connection is in.
type transaction struct {
	of   [purposes]bool
	deaf atomic.Pointer[Purpose] // the answer to its COMMIT is not to come through, as one of these
}

// losses says which answers to a COMMIT are to be lost, and counts those that
// were.
type losses struct {
	mu     sync.Mutex
	names  [purposes][][]byte // of prepared statements
	due    [purposes]atomic.Int64
	silent [purposes]atomic.Int64 // 1: silence begins with the next COMMIT
	lost   [purposes]atomic.Int64
}

func (l *losses) none() {
	for p := range purposes {
		l.due[p].Store(0)
		l.silent[p].Store(0)
	}
}

// Lose makes the next n COMMITs for a purpose arrive and their answers not.
func (w *Wire) Lose(n int, of Purpose) { w.losses.due[of].Store(int64(n)) }

// LoseCommits is Lose for whatever comes.
func (w *Wire) LoseCommits(n int) { w.Lose(n, Anything) }

// LoseKeyed is Lose for requests with an idempotency key.
func (w *Wire) LoseKeyed(n int) { w.Lose(n, Keyed) }

// Lost is how many answers to a COMMIT for a purpose were lost; Anything are
// those that were lost for no other.
func (w *Wire) Lost(of Purpose) int { return int(w.losses.lost[of].Load()) }

// readRequest looks at what a client sends.
func (w *Wire) readRequest(part []byte, t *transaction) []byte {
	if w.strict.Load() {
		part = bytes.ReplaceAll(part, relaxed, strictly)
	}
	w.losses.read(part, t)
	if bytes.Contains(part, commitMessage) || bytes.Contains(part, releaseCommit) {
		for p := Logs; p >= Anything; p-- {
			if p != Anything && !t.of[p] {
				continue
			}
			if countDown(&w.losses.silent[p]) {
				w.Silence()
			}
			if countDown(&w.losses.due[p]) {
				t.deaf.Store(&p)
				break
			}
		}
		t.of = [purposes]bool{}
	}
	return part
}

// read notes what the transaction is for: by the text of a statement, or by its
// name if it was prepared before.
func (l *losses) read(part []byte, t *transaction) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var here [purposes]bool
	for p := range purposes {
		for _, text := range tellTale[p] {
			if at := bytes.Index(part, text); at >= 0 {
				here[p] = true
				l.learn(p, part[:at])
			}
		}
		here[p] = here[p] || slices.ContainsFunc(l.names[p], func(name []byte) bool { return bytes.Contains(part, name) })
	}
	if here[begins] {
		t.of = [purposes]bool{}
	}
	for p := range purposes {
		t.of[p] = t.of[p] || here[p]
	}
}

// learn keeps the name of a statement that is prepared here and now: it stands
// before its text.
func (l *losses) learn(p Purpose, before []byte) {
	from := bytes.LastIndex(before, preparedPrefix)
	if from < 0 {
		return
	}
	name, _, _ := bytes.Cut(before[from:], []byte{0})
	if !slices.ContainsFunc(l.names[p], func(known []byte) bool { return bytes.Equal(known, name) }) {
		l.names[p] = append(l.names[p], bytes.Clone(name))
	}
}

// answered looks at what the database answers.
func (w *Wire) answered(part []byte, t *transaction) []byte {
	if bytes.Contains(part, serializationFailure) {
		w.refused.Add(1)
	}
	if of := t.deaf.Load(); of != nil {
		w.losses.lost[*of].Add(1)
		return nil
	}
	return part
}

// countDown takes one, if there is one left.
func countDown(n *atomic.Int64) bool {
	for have := n.Load(); have > 0; have = n.Load() {
		if n.CompareAndSwap(have, have-1) {
			return true
		}
	}
	return false
}
