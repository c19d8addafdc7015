package testhost

import "time"

// readTSC reads this processor's time stamp counter. The emulator hands it to the guest as it is.
func readTSC() uint64

// tscWindow is how long the counter is watched: reading the two clocks a few microseconds apart is an error of 1 in 10,000 then.
const tscWindow = 100 * time.Millisecond

// tscKHz measures how many thousand times a second the time stamp counter counts.
func tscKHz() int64 {
	began, from := time.Now(), readTSC()
	time.Sleep(tscWindow)
	counted := readTSC() - from
	return int64(float64(counted) / time.Since(began).Seconds() / 1000)
}
