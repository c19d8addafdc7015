package api

import "time"

// Use is what the tenant of a unit used when its host was measured. A number
// that is not there was not measured: the host had no processes of the tenant's
// (the first four), no volume (the next two), or the unit has no network of its
// own (the last four).
type Use struct {
	MeasuredAt    time.Time `json:"measured_at"`
	CPUMillis     *int64    `json:"cpu_millis,omitempty" doc:"thousandths of a CPU, measured over one second"`
	MemoryBytes   *int64    `json:"memory_bytes,omitempty" doc:"memory in use, file cache included"`
	CacheBytes    *int64    `json:"cache_bytes,omitempty" doc:"file cache that the kernel reclaims first"`
	Processes     *int64    `json:"processes,omitempty" doc:"number of processes and threads"`
	DiskUsedBytes *int64    `json:"disk_used_bytes,omitempty"`
	DiskBytes     *int64    `json:"disk_bytes,omitempty" doc:"size of the file system on its volume"`
	ReceivedBytes *int64    `json:"received_bytes,omitempty" doc:"traffic to the unit since its link was made, which each boot of the host does; only of a unit with a network of its own"`
	SentBytes     *int64    `json:"sent_bytes,omitempty" doc:"traffic from the unit since its link was made"`
	ReceiveRate   *int64    `json:"receive_rate,omitempty" doc:"bytes a second to the unit, measured over one second"`
	SendRate      *int64    `json:"send_rate,omitempty" doc:"bytes a second from the unit, measured over one second"`
}

// Measuring says how a host is to be measured.
type Measuring struct {
	Samples int `query:"samples" minimum:"1" maximum:"30" default:"1" doc:"number of samples, a few seconds apart; each is stored at once"`
}
