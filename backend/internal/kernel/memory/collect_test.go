package memory

import (
	"runtime"
	"testing"
)

func TestCollectorCollectsAfterSoManyBytes(t *testing.T) {
	collections := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumForcedGC
	}
	c := Collector{Every: 100}
	before := collections()
	c.Done(60)
	if n := collections() - before; n != 0 {
		t.Errorf("%d collections after 60 bytes of 100", n)
	}
	c.Done(60)
	if n := collections() - before; n != 1 {
		t.Errorf("%d collections after 120 bytes of 100", n)
	}
	c.Done(60)
	if n := collections() - before; n != 1 {
		t.Errorf("%d collections after 60 more", n)
	}
}
