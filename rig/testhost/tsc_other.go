//go:build !amd64

package testhost

// tscKHz is 0: the emulator has no counter of this processor to hand on.
func tscKHz() int64 { return 0 }
