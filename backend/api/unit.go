package api

import (
	"encoding/json"
	"time"
)

// ComputeUnit is a set of CPUs of one host with its share of memory and its
// volume.
type ComputeUnit struct {
	ID              string            `json:"id" format:"uuid"`
	Name            string            `json:"name" doc:"<host>-cu01; never used again"`
	Workspace       string            `json:"workspace"`
	HostID          string            `json:"host_id" format:"uuid"`
	Host            string            `json:"host" doc:"name of its host"`
	Region          string            `json:"region"`
	Zone            string            `json:"zone"`
	HostLabels      map[string]string `json:"host_labels" nullable:"false"`
	HostState       string            `json:"host_state"`
	Ordinal         int               `json:"ordinal"`
	State           string            `json:"state"`
	StateMeans      string            `json:"state_means"`
	StateMessage    string            `json:"state_message,omitempty" doc:"why it is failed or unavailable"`
	CPUs            string            `json:"cpus"`
	CPUCount        int               `json:"cpu_count"`
	MemoryNodes     string            `json:"memory_nodes"`
	MemoryMaxBytes  int64             `json:"memory_max_bytes"`
	MemoryHighBytes int64             `json:"memory_high_bytes"`
	VolumeBytes     int64             `json:"volume_bytes"`
	TasksMax        int               `json:"tasks_max"`
	Mount           string            `json:"mount" doc:"where its volume is on the host"`
	AllocationID    string            `json:"allocation_id,omitempty" doc:"who has it"`
	LoginUser       string            `json:"login_user,omitempty"`
	Wipe            json.RawMessage   `json:"wipe,omitempty" doc:"evidence of the last wipe"`
	WipedAt         *time.Time        `json:"wiped_at,omitempty"`
	Version         int64             `json:"version" doc:"also the ETag"`
	CreatedAt       time.Time         `json:"created_at"`
	UpdatedAt       time.Time         `json:"updated_at"`
}

// UnitFilter narrows a list of compute units.
type UnitFilter struct {
	PageQuery
	State   string `query:"state" maxLength:"32"`
	Host    string `query:"host" maxLength:"64" doc:"id or name"`
	Region  string `query:"region" maxLength:"63"`
	Zone    string `query:"zone" maxLength:"63"`
	MinCPUs int    `query:"min_cpus" minimum:"0" maximum:"8192"`
}
