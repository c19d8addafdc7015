package httpapi

import (
	"strconv"
	"testing"
	"time"
)

// Requests that come as fast as the level falls fill no bucket here. Other backends have to know of them all the same, or each of them
// would let through as many.
func TestSteadyRequestsAreTold(t *testing.T) {
	t.Parallel()
	l := newLimiter(Limits{})
	now := time.Unix(0, 0)
	for range 90 {
		if _, wait := l.take(now, limited{"account", "a", 100}); wait > 0 {
			t.Fatalf("wait %s", wait)
		}
		if _, wait := l.take(now, limited{"account", "b", 5000}); wait > 0 {
			t.Fatalf("wait %s", wait)
		}
		now = now.Add(time.Second / 90)
	}
	told := l.told(now)
	if len(told) != 1 || told[0].Key != "account:a" || told[0].Level != 90 {
		t.Errorf("told %+v", told)
	}
}

// A request that its key refuses does not count for its account.
func TestRefusedRequestsCountNothing(t *testing.T) {
	t.Parallel()
	l := newLimiter(Limits{Burst: time.Second})
	now := time.Unix(0, 0)
	refused := 0
	for range 50 {
		if by, wait := l.take(now, limited{"key", "k", 5}, limited{"account", "a", 20}); wait > 0 {
			if refused++; by != "key" || wait != 200*time.Millisecond {
				t.Fatalf("refused by %s for %s", by, wait)
			}
		}
	}
	if level := l.all["account:a"].level; refused != 45 || level != 5 {
		t.Errorf("%d refused, level of the account %v", refused, level)
	}
	if _, wait := l.take(now.Add(200*time.Millisecond), limited{"key", "k", 5}); wait > 0 {
		t.Error("refused after the time that was told")
	}
}

// A flood of addresses neither fills the memory nor refuses anybody, and few of them are told.
func TestManyAddresses(t *testing.T) {
	t.Parallel()
	l := newLimiter(Limits{})
	now := time.Unix(0, 0)
	for i := range 3 * maxBuckets {
		for range 3 {
			if _, wait := l.take(now, limited{"address", strconv.Itoa(i), 1}); wait > 0 {
				t.Fatalf("address %d: wait %s", i, wait)
			}
		}
	}
	if len(l.all) > maxBuckets {
		t.Errorf("%d buckets", len(l.all))
	}
	if told := l.told(now); len(told) != maxLevelsTold {
		t.Errorf("%d told", len(told))
	}
	if l.told(now.Add(time.Hour)); len(l.all) > maxLevelsTold {
		t.Errorf("%d buckets an hour later", len(l.all))
	}
}
