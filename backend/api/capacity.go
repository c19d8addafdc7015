package api

import "time"

// Capacity is what there is, by place, and the hosts in short: what an overview
// of a large installation is made of.
type Capacity struct {
	At      time.Time       `json:"at" doc:"when this was counted; an answer can be some seconds old"`
	Places  []CapacityPlace `json:"places" nullable:"false" doc:"by region and zone"`
	Hosts   []CapacityHost  `json:"hosts" nullable:"false" doc:"hosts that need attention first, then by name; at most 1000"`
	LeftOut int             `json:"left_out" doc:"number of hosts that are counted but not listed"`
	Shared  CapacityShared  `json:"shared" doc:"what hosts of other workspaces have that this one may use; not counted above"`
}

// CapacityShared is what is granted to a workspace on hosts of others.
type CapacityShared struct {
	Hosts int   `json:"hosts" doc:"number of hosts"`
	Free  int64 `json:"free" doc:"units that can be allocated there now"`
	InUse int64 `json:"in_use" doc:"units that allocations of this workspace have there"`
}

// CapacityPlace is the hosts and units of one region and zone.
type CapacityPlace struct {
	Region string                   `json:"region"`
	Zone   string                   `json:"zone"`
	Hosts  map[string]int           `json:"hosts" nullable:"false" doc:"number of hosts by state"`
	Units  map[string]CapacityShare `json:"units" nullable:"false" doc:"sum over the units of each state"`
}

// CapacityShare is what some units have together.
type CapacityShare struct {
	Units       int   `json:"units"`
	CPUs        int   `json:"cpu_count" doc:"total number of CPUs"`
	MemoryBytes int64 `json:"memory_bytes"`
	VolumeBytes int64 `json:"volume_bytes"`
}

// CapacityHost is a host in short.
type CapacityHost struct {
	ID            string         `json:"id" format:"uuid"`
	Name          string         `json:"name"`
	Region        string         `json:"region"`
	Zone          string         `json:"zone"`
	State         string         `json:"state"`
	StateMeans    string         `json:"state_means"`
	Health        string         `json:"health"`
	HealthMessage string         `json:"health_message,omitempty"`
	OffersKey     bool           `json:"offers_key,omitempty" doc:"it offered a host key that a person has to confirm or reject"`
	LaidOut       bool           `json:"laid_out,omitempty" doc:"whether its layout is set"`
	Units         map[string]int `json:"units" nullable:"false" doc:"number of its units by state"`
}
