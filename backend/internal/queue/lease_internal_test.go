package queue

import (
	"testing"
	"time"
)

// A renewal leaves time for another try while there is enough of it, and takes all that is left otherwise.
func TestARenewalLeavesTimeForAnother(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for left, want := range map[time.Duration]time.Duration{
		22500 * time.Millisecond: renewWithin, 11 * time.Second: renewWithin,
		10 * time.Second: 10 * time.Second, 1500 * time.Millisecond: 1500 * time.Millisecond,
	} {
		if got := untilWhen(now, now.Add(left)).Sub(now); got != want {
			t.Errorf("with %s left a try may take %s, want %s", left, got, want)
		}
	}
}
