package api

import "time"

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
	Mount           string            `json:"mount" doc:"mount point of its volume on the host"`
	AllocationID    string            `json:"allocation_id,omitempty" doc:"id of the allocation that has it"`
	LoginUser       string            `json:"login_user,omitempty"`
	UnitNetwork     string            `json:"unit_network,omitempty" doc:"host: its tenant's address lies on the host; unit: in a network of the unit's own; absent without a tenant"`
	OtherTenant     bool              `json:"other_tenant,omitempty" doc:"an allocation of another workspace has it, to which the host is granted"`
	Use             *Use              `json:"use,omitempty" doc:"usage by its tenant at the last measurement; absent if it was never measured"`
	Wipe            *Wipe             `json:"wipe,omitempty" doc:"evidence of the last wipe; earlier ones are in the events"`
	WipedAt         *time.Time        `json:"wiped_at,omitempty"`
	Version         int64             `json:"version" doc:"changes with every change of the object; also its ETag"`
	CreatedAt       time.Time         `json:"created_at"`
	UpdatedAt       time.Time         `json:"updated_at"`
}

// Wipe is the evidence that a unit was wiped when its last tenant gave it back.
type Wipe struct {
	JobID         string    `json:"job_id" format:"uuid"`
	AllocationID  string    `json:"allocation_id" format:"uuid" doc:"allocation whose data was wiped"`
	LoginUser     string    `json:"login_user"`
	UID           int64     `json:"uid" doc:"UID of the tenant whose data was wiped"`
	Method        string    `json:"method" doc:"discard: zeroed by the device, a sample was read back; discard+zero and zero: written, every byte was read back"`
	Device        string    `json:"device"`
	Bytes         int64     `json:"bytes" doc:"size of the volume"`
	BytesReadBack int64     `json:"bytes_read_back" doc:"number of bytes that were read back as zeroes"`
	Seconds       float64   `json:"seconds" doc:"duration of writing the zeroes"`
	FileSystem    string    `json:"file_system" doc:"UUID of the new file system"`
	WipedAt       time.Time `json:"wiped_at" doc:"time of the wipe by the host's clock"`
	Removed       []Removed `json:"removed" nullable:"false" doc:"what the tenant had left outside of the volume"`
	RemovedMore   int       `json:"removed_more" doc:"number of removed things that are not listed"`
	Leftovers     []string  `json:"leftovers" nullable:"false" doc:"what could not be removed"`
	LeftoversMore int       `json:"leftovers_more"`
}

// Removed is one thing that a tenant had left beside the volume.
type Removed struct {
	Kind string `json:"kind" doc:"crontab, at, mail, linger, journal, ipc, core_dump, subordinate_ids or file"`
	What string `json:"what" doc:"its name on the host"`
}

// UnitFilter narrows a list of compute units.
type UnitFilter struct {
	PageQuery
	State   string `query:"state" maxLength:"32"`
	Host    string `query:"host" maxLength:"64" doc:"id or name"`
	Region  string `query:"region" maxLength:"63"`
	Zone    string `query:"zone" maxLength:"63"`
	Labels  string `query:"labels" maxLength:"1024" doc:"labels that its host must have, as key=value,key=value"`
	Search  string `query:"search" maxLength:"64" doc:"part of the name; ignores case"`
	MinCPUs int    `query:"min_cpus" minimum:"0" maximum:"8192" doc:"minimum number of CPUs"`
}
