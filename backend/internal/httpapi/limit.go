package httpapi

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
)

// Limits is how many requests a second are answered, over time; 0 for any number. Each who asks has a leaky bucket: each request adds
// one to its level, which falls at the rate, and a request that does not fit is refused with 429. Who asks is an account, one of its
// tokens that is no session, or, without a valid token, a prefix of addresses. A valid token is looked at first: strangers limit nobody
// who has one, whatever address they share. Backends tell each other of full buckets once a second, through the database.
type Limits struct {
	Account float64       // of one account, whatever it asks with
	Key     float64       // of one API token or key of a service account
	Address float64       // of one address without a valid token; of IPv6, of a /64
	Burst   time.Duration // so much of a rate can come at once; 0: 10 s
}

const (
	limitBurst = 10 * time.Second
	limitEvery = time.Second // between two looks at what other backends counted
	limitQuery = 2 * time.Second
	// What is told to other backends: only of those who have used a tenth of what they may, at once or since the last time. So no
	// row is written for most, and even ten backends let through no more than they should.
	toldFrom = 0.1
	// The most that is told at once, the fullest first: a flood of addresses does not become a flood of rows.
	maxLevelsTold = 1000
	// The most that one backend counts for. Beyond it those are forgotten who have used least, so that a flood of addresses can't fill
	// the memory, and locks nobody out.
	maxBuckets = 50_000
)

// bucket is how many requests of one key count now. Its level falls by itself, at the rate.
type bucket struct {
	level   float64
	pending float64 // requests that other backends do not know yet; these do not fall
	rate    float64
	at      time.Time
}

// limiter counts requests of this backend, and learns once a second what others counted.
type limiter struct {
	limits Limits
	mu     sync.Mutex
	all    map[string]*bucket
}

func newLimiter(l Limits) *limiter {
	if l.Burst == 0 {
		l.Burst = limitBurst
	}
	return &limiter{limits: l, all: map[string]*bucket{}}
}

// size is how many requests fit into a bucket.
func (l *limiter) size(b *bucket) float64 { return max(1, b.rate*l.limits.Burst.Seconds()) }

func (b *bucket) fall(now time.Time) {
	b.level, b.at = max(0, b.level-b.rate*max(0, now.Sub(b.at).Seconds())), now
}

// limited is one bucket that a request counts in.
type limited struct {
	by   string // account, key or address
	of   string // which one
	rate float64
}

// take counts a request in all of its buckets, or in none: one that is refused counts nothing, so that who waits as long as they were
// told gets through. It returns what refused it, and for how long to wait; 0 for a request that is let through.
func (l *limiter) take(now time.Time, in ...limited) (by string, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	counted := make([]*bucket, 0, len(in))
	for _, i := range in {
		if i.rate <= 0 {
			continue
		}
		b := l.bucket(i.by+":"+i.of, i.rate, now)
		if over := b.level + 1 - l.size(b); over > 0 {
			return i.by, time.Duration(math.Ceil(over / b.rate * float64(time.Second)))
		}
		counted = append(counted, b)
	}
	for _, b := range counted {
		b.level++
		b.pending++
	}
	return "", 0
}

func (l *limiter) bucket(key string, rate float64, now time.Time) *bucket {
	b := l.all[key]
	if b == nil {
		if len(l.all) >= maxBuckets {
			l.forget(now)
		}
		b = &bucket{rate: rate, at: now}
		l.all[key] = b
	}
	b.fall(now)
	return b
}

// forget drops the buckets that are nearly empty. If more than half are left, it drops all. The caller holds the lock.
func (l *limiter) forget(now time.Time) {
	for key, b := range l.all {
		if b.fall(now); b.level < l.size(b)*toldFrom {
			delete(l.all, key)
		}
	}
	if len(l.all) > maxBuckets/2 {
		l.all = map[string]*bucket{}
	}
}

// told is what other backends have to know, in the order of the keys. What is empty is forgotten.
func (l *limiter) told(now time.Time) (counted []store.RequestLevel) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, b := range l.all {
		b.fall(now)
		switch {
		case b.level >= l.size(b)*toldFrom, b.pending >= max(1, b.rate*limitEvery.Seconds()*toldFrom):
			counted = append(counted, store.RequestLevel{Key: key, Level: b.pending, Rate: b.rate})
		case b.level == 0:
			delete(l.all, key)
		default:
			b.pending = min(b.pending, b.level)
		}
	}
	if len(counted) > maxLevelsTold {
		slices.SortFunc(counted, func(a, b store.RequestLevel) int { return cmp.Compare(b.Level/b.Rate, a.Level/a.Rate) })
		for _, c := range counted[maxLevelsTold:] { // told later, if it still counts by then
			if b := l.all[c.Key]; b.level > 0 {
				b.pending = min(b.pending, b.level)
			} else {
				delete(l.all, c.Key)
			}
		}
		counted = counted[:maxLevelsTold]
	}
	slices.SortFunc(counted, func(a, b store.RequestLevel) int { return strings.Compare(a.Key, b.Key) })
	return counted
}

// learn takes what all backends counted. Requests that came since are added to it.
func (l *limiter) learn(told, all []store.RequestLevel, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range told {
		if b := l.all[t.Key]; b != nil {
			b.pending = max(0, b.pending-t.Level)
		}
	}
	for _, a := range all {
		if b := l.all[a.Key]; b != nil {
			b.level, b.at = a.Level+b.pending, now
		}
	}
}

// SyncLimits tells other backends what this one counted, and learns what they did, in one statement. Without the database each
// backend limits by what it counted itself.
func (s *Server) SyncLimits(ctx context.Context) {
	counted := s.limiter.told(time.Now())
	if len(counted) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limitQuery)
	defer cancel()
	var all []store.RequestLevel
	err := s.db.InTx(ctx, func(tx *store.Tx) (err error) {
		all, err = tx.AddRequests(ctx, counted)
		return err
	})
	if err != nil {
		s.log.Warn("count requests together with other backends failed", "error", err)
		return
	}
	s.limiter.learn(counted, all, time.Now())
}

// limitBearer counts a request of one who has shown a valid token. Where it comes from does not matter: a web app asks for many.
func (s admission) limitBearer(b store.Bearer) error {
	in := []limited{{"account", b.AccountID.String(), s.limiter.limits.Account}}
	if b.Kind != intent.TokenSession {
		in = []limited{{"key", b.TokenID.String(), s.limiter.limits.Key}, in[0]}
	}
	return s.limit(in...)
}

// limitStranger counts a request without a valid token. One from this machine, or from a trusted proxy that does not tell from whom,
// could be anybody's: it counts for nobody, or one could keep all out.
func (s admission) limitStranger(client string) error {
	a, err := netip.ParseAddr(client)
	if known := err == nil; !known || a.IsLoopback() || s.cfg.trusts(a) {
		return nil
	}
	return s.limit(limited{"address", prefixOf(a).String(), s.limiter.limits.Address})
}

func (s admission) limit(in ...limited) error {
	by, wait := s.limiter.take(time.Now(), in...)
	if wait > 0 {
		return s.tooMany(by, wait)
	}
	return nil
}

// prefixOf is what one client has of addresses: of IPv6 a whole /64.
func prefixOf(a netip.Addr) netip.Prefix {
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // never fails with bits of its own length
	return p
}

func (s admission) tooMany(by string, wait time.Duration) error {
	s.metrics.limited.WithLabelValues(by).Inc()
	seconds := strconv.Itoa(int(math.Ceil(wait.Seconds())))
	what := map[string]string{"key": "this API key", "account": "your account", "address": "your address"}[by]
	return withHeader(problem(http.StatusTooManyRequests, "too_many_requests", "Too many requests of "+what+"."), "Retry-After", seconds)
}
