package testhost

import "testing"

// TestTSC: two looks at a counter that counts evenly agree, whatever its frequency.
func TestTSC(t *testing.T) {
	one, two := tscKHz(), tscKHz()
	if one < 500_000 || one > 10_000_000 || two < one*99/100 || two > one*101/100 {
		t.Errorf("%d kHz, then %d", one, two)
	}
}
