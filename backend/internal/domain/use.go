package domain

import (
	"encoding/json"
	"fmt"
	"time"
)

// MaxSamples is how often one job measures a host at most.
const MaxSamples = 30

// maxLacks limits how much of what a unit has lost is told.
const maxLacks = 8

// maxTraffic bounds what a link has carried: years of the fastest one.
const maxTraffic = 1 << 60

// maxProcesses is the kernel's own bound of process numbers.
const maxProcesses = 1 << 22

// Use is what the tenant of a unit used when it was measured. What the host
// told nothing of is nil, which is not zero: no slice of the tenant's (the
// first four), no volume (the next two), no network of the unit's own (the
// last four).
type Use struct {
	MeasuredAt    time.Time `json:"measured_at"`
	CPUMillis     *int64    `json:"cpu_millis"`   // thousandths of a CPU, over one second
	MemoryBytes   *int64    `json:"memory_bytes"` // cache included
	CacheBytes    *int64    `json:"cache_bytes"`  // file cache that the kernel takes back first
	Processes     *int64    `json:"processes"`    // and threads
	DiskUsedBytes *int64    `json:"disk_used_bytes"`
	DiskBytes     *int64    `json:"disk_bytes"`     // size of the file system
	ReceivedBytes *int64    `json:"received_bytes"` // since the unit's link was made
	SentBytes     *int64    `json:"sent_bytes"`
	ReceiveRate   *int64    `json:"receive_rate"` // bytes a second, over one second
	SendRate      *int64    `json:"send_rate"`
}

// Measured is what a measurement tells of one unit.
type Measured struct {
	Use
	Lacks []string // what the unit has lost of what its host gave it, in words
}

// ParseUse reads what a host told of the use of its units, which may be a lie.
// Units that were not asked about are passed over; what is left is safe to
// store and to compute with.
func ParseUse(raw []byte, asked map[string]bool) (map[string]Measured, error) {
	var told struct {
		Units []struct {
			ID    string   `json:"id"`
			Lacks []string `json:"lacks"`
			Use
		} `json:"units"`
	}
	if err := json.Unmarshal(raw, &told); err != nil {
		return nil, fmt.Errorf("it is not what a measurement tells")
	}
	found := map[string]Measured{}
	for _, u := range told.Units {
		if !asked[u.ID] {
			continue
		}
		if _, twice := found[u.ID]; twice {
			return nil, fmt.Errorf("it tells of one unit twice")
		}
		use := u.Use
		use.MeasuredAt = time.Time{} // the host's clock is not ours
		if err := use.clean(); err != nil {
			return nil, err
		}
		measured := Measured{Use: use}
		for _, s := range u.Lacks[:min(len(u.Lacks), maxLacks)] {
			if s = plain(s, 64); s != "" {
				measured.Lacks = append(measured.Lacks, s)
			}
		}
		found[u.ID] = measured
	}
	if len(found) != len(asked) {
		return nil, fmt.Errorf("it tells of %d units, not of %d", len(found), len(asked))
	}
	return found, nil
}

func (u *Use) clean() error {
	for _, n := range []struct {
		what  string
		value *int64
		below int64
	}{
		{"CPU", u.CPUMillis, (MaxCPU + 1) * 1000},
		{"memory", u.MemoryBytes, maxBytes},
		{"cache", u.CacheBytes, maxBytes},
		{"processes", u.Processes, maxProcesses},
		{"disk use", u.DiskUsedBytes, maxBytes},
		{"disk", u.DiskBytes, maxBytes},
		{"received traffic", u.ReceivedBytes, maxTraffic},
		{"sent traffic", u.SentBytes, maxTraffic},
		{"rate of reception", u.ReceiveRate, maxBytes},
		{"rate of sending", u.SendRate, maxBytes},
	} {
		if n.value != nil && (*n.value < 0 || *n.value > n.below) {
			return fmt.Errorf("its %s is %d", n.what, *n.value)
		}
	}
	if u.CPUMillis == nil || u.MemoryBytes == nil || u.CacheBytes == nil || u.Processes == nil {
		u.CPUMillis, u.MemoryBytes, u.CacheBytes, u.Processes = nil, nil, nil, nil
	} else {
		*u.CacheBytes = min(*u.CacheBytes, *u.MemoryBytes) // they are read one after the other
	}
	if u.ReceivedBytes == nil || u.SentBytes == nil || u.ReceiveRate == nil || u.SendRate == nil {
		u.ReceivedBytes, u.SentBytes, u.ReceiveRate, u.SendRate = nil, nil, nil, nil
	}
	if u.DiskUsedBytes == nil || u.DiskBytes == nil {
		u.DiskUsedBytes, u.DiskBytes = nil, nil
	} else if *u.DiskUsedBytes > *u.DiskBytes {
		return fmt.Errorf("it uses %d bytes of a disk of %d", *u.DiskUsedBytes, *u.DiskBytes)
	}
	return nil
}
