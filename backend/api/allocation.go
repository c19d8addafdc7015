package api

import "time"

// Allocation is the identity that sits on a unit.
type Allocation struct {
	ID           string            `json:"id" format:"uuid"`
	Workspace    string            `json:"workspace"`
	UnitID       string            `json:"unit_id" format:"uuid"`
	Unit         string            `json:"unit" doc:"name of its unit"`
	HostID       string            `json:"host_id" format:"uuid"`
	Host         string            `json:"host" doc:"name of its host"`
	Region       string            `json:"region"`
	Zone         string            `json:"zone"`
	LoginUser    string            `json:"login_user"`
	UID          int64             `json:"uid" doc:"and GID; unique among live allocations, given again only after a wipe that left nothing"`
	Address      string            `json:"address"`
	Network      string            `json:"network"`
	SSHCommand   string            `json:"ssh_command" doc:"logs in"`
	SSHHost      string            `json:"ssh_host"`
	SSHPort      int               `json:"ssh_port"`
	SSHKeys      []string          `json:"ssh_keys" nullable:"false"`
	KeysApplied  bool              `json:"keys_applied" doc:"the keys shown are those on the host"`
	Labels       map[string]string `json:"labels" nullable:"false"`
	State        string            `json:"state"`
	StateMeans   string            `json:"state_means"`
	StateMessage string            `json:"state_message,omitempty" doc:"why it is failed"`
	CPUCount     int               `json:"cpu_count"`
	CPUs         string            `json:"cpus"`
	MemoryBytes  int64             `json:"memory_max_bytes"`
	VolumeBytes  int64             `json:"volume_bytes"`
	TasksMax     int               `json:"tasks_max" doc:"processes and threads, at most"`
	Use          *Use              `json:"use,omitempty" doc:"what it used when its host was last measured; not there if that was never so"`
	HostKey      string            `json:"host_key" doc:"SSH host key that a client should expect"`
	Operations   []Operation       `json:"operations" nullable:"false"`
	ActiveJob    string            `json:"active_job,omitempty" doc:"id of the newest job that is queued or running"`
	CreatedBy    string            `json:"created_by"`
	Version      int64             `json:"version" doc:"also the ETag"`
	CreatedAt    time.Time         `json:"created_at"`
	UpdatedAt    time.Time         `json:"updated_at"`
	EndedAt      *time.Time        `json:"ended_at,omitempty"`
}

// CreateAllocation asks for a unit.
type CreateAllocation struct {
	CPUs       int               `json:"cpu_count,omitempty" minimum:"0" maximum:"8192" doc:"at least this many CPUs; not with unit"`
	Unit       string            `json:"unit,omitempty" maxLength:"64" doc:"this unit, by id or name"`
	Host       string            `json:"host,omitempty" maxLength:"64" doc:"on this host, by id or name"`
	Region     string            `json:"region,omitempty" maxLength:"63"`
	Zone       string            `json:"zone,omitempty" maxLength:"63"`
	Network    string            `json:"network,omitempty" maxLength:"63" doc:"address of this network; default: any that the host carries"`
	HostLabels map[string]string `json:"host_labels,omitempty" doc:"labels that the host must have"`
	LoginUser  string            `json:"login_user,omitempty" maxLength:"32" doc:"default: a generated one"`
	SSHKeys    []string          `json:"ssh_keys" minItems:"1" maxItems:"64" nullable:"false"`
	Labels     map[string]string `json:"labels,omitempty"`
}

// ReplaceKeys replaces the SSH keys of an allocation.
type ReplaceKeys struct {
	SSHKeys []string `json:"ssh_keys" minItems:"1" maxItems:"64" nullable:"false"`
}

// Deallocate gives a unit back.
type Deallocate struct {
	Confirm string `json:"confirm" maxLength:"64" doc:"the login user, typed: everything in the unit is wiped"`
}

// AllocationFilter narrows a list of allocations.
type AllocationFilter struct {
	PageQuery
	State     string `query:"state" maxLength:"32" doc:"a state, or live for all that have not ended"`
	Host      string `query:"host" maxLength:"64" doc:"id or name"`
	Region    string `query:"region" maxLength:"63" doc:"region of its host"`
	Zone      string `query:"zone" maxLength:"63" doc:"zone of its host"`
	Labels    string `query:"labels" maxLength:"1024" doc:"labels that it has, as key=value,key=value"`
	LoginUser string `query:"login_user" maxLength:"32" doc:"the whole login user"`
	Search    string `query:"search" maxLength:"64" doc:"part of the login user, the unit's name or the address, in whatever case"`
}
