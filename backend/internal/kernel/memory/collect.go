package memory

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Collector collects garbage whenever enough bytes were told to it, for work that makes much garbage faster than the
// collector by itself begins. The zero value collects after each call.
type Collector struct {
	Every int64 // bytes between two collections
	since atomic.Int64
}

// Done tells that work on so many bytes has ended. It returns when a collection that this began is over.
func (c *Collector) Done(bytes int) {
	if c.since.Add(int64(bytes)) < c.Every {
		return
	}
	c.since.Store(0)
	runtime.GC()
}

// returnAfter is how long Return waits, so that one collection serves many that ask.
const returnAfter = 5 * time.Second

var returning atomic.Bool // of the process, whose memory it is

// Return has what is free given back to the machine in a few seconds. By itself the runtime keeps it for minutes.
func Return() {
	if returning.CompareAndSwap(false, true) {
		time.AfterFunc(returnAfter, func() {
			returning.Store(false)
			debug.FreeOSMemory()
		})
	}
}
