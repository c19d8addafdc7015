package api

import "time"

// Allocation is the identity that sits on a unit.
type Allocation struct {
	ID            string            `json:"id" format:"uuid"`
	Workspace     string            `json:"workspace"`
	UnitID        string            `json:"unit_id" format:"uuid"`
	Unit          string            `json:"unit" doc:"name of its unit"`
	HostID        string            `json:"host_id" format:"uuid"`
	SharedHost    bool              `json:"shared_host,omitempty" doc:"its host is of another workspace, which granted it"`
	Host          string            `json:"host" doc:"name of its host"`
	Region        string            `json:"region"`
	Zone          string            `json:"zone"`
	LoginUser     string            `json:"login_user"`
	UID           int64             `json:"uid" doc:"UID and GID; unique among live allocations, used again only after a complete wipe"`
	Address       string            `json:"address"`
	Network       string            `json:"network"`
	UnitNetwork   string            `json:"unit_network" enum:"host,unit" doc:"where the address lies: on the host, or in a network of the unit's own"`
	RestartNeeded bool              `json:"restart_needed" doc:"whether the unit would be isolated better after move-network, which restarts the services and sessions of its tenant once"`
	SSHCommand    string            `json:"ssh_command" doc:"command with which the tenant logs in"`
	SSHHost       string            `json:"ssh_host"`
	SSHPort       int               `json:"ssh_port"`
	SSHKeys       []string          `json:"ssh_keys" nullable:"false"`
	KeysApplied   bool              `json:"keys_applied" doc:"whether these keys are on the host already"`
	Labels        map[string]string `json:"labels" nullable:"false"`
	State         string            `json:"state"`
	StateMeans    string            `json:"state_means"`
	StateMessage  string            `json:"state_message,omitempty" doc:"why it failed"`
	CPUCount      int               `json:"cpu_count"`
	CPUs          string            `json:"cpus"`
	MemoryBytes   int64             `json:"memory_max_bytes"`
	VolumeBytes   int64             `json:"volume_bytes"`
	TasksMax      int               `json:"tasks_max" doc:"limit of processes and threads"`
	Use           *Use              `json:"use,omitempty" doc:"usage at the last measurement; absent if it was never measured"`
	HostKey       string            `json:"host_key" doc:"the SSH host key that clients have to expect"`
	Operations    []Operation       `json:"operations" nullable:"false"`
	ActiveJob     string            `json:"active_job,omitempty" doc:"id of the newest job that is queued or running"`
	CreatedBy     string            `json:"created_by"`
	Version       int64             `json:"version" doc:"changes with every change of the object; also its ETag"`
	CreatedAt     time.Time         `json:"created_at"`
	UpdatedAt     time.Time         `json:"updated_at"`
	EndedAt       *time.Time        `json:"ended_at,omitempty"`
}

// CreateAllocation asks for a unit.
type CreateAllocation struct {
	CPUs       int               `json:"cpu_count,omitempty" minimum:"0" maximum:"8192" doc:"minimum number of CPUs; not together with unit"`
	Unit       string            `json:"unit,omitempty" maxLength:"64" doc:"this unit, by id or name"`
	Host       string            `json:"host,omitempty" maxLength:"64" doc:"on this host, by id or name"`
	Region     string            `json:"region,omitempty" maxLength:"63"`
	Zone       string            `json:"zone,omitempty" maxLength:"63"`
	Network    string            `json:"network,omitempty" maxLength:"63" doc:"network that the address comes from; default: any network of the host"`
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
	Confirm string `json:"confirm" maxLength:"64" doc:"repeat the login user, because everything in the unit is wiped"`
}

// AllocationFilter narrows a list of allocations.
type AllocationFilter struct {
	PageQuery
	State       string `query:"state" maxLength:"32" doc:"a state, or live (not ended)"`
	Host        string `query:"host" maxLength:"64" doc:"id or name"`
	Region      string `query:"region" maxLength:"63" doc:"region of its host"`
	Zone        string `query:"zone" maxLength:"63" doc:"zone of its host"`
	Labels      string `query:"labels" maxLength:"1024" doc:"labels that it must have, as key=value,key=value"`
	UnitNetwork string `query:"unit_network" maxLength:"4" doc:"where the address lies: host or unit"`
	LoginUser   string `query:"login_user" maxLength:"32" doc:"the complete login user"`
	Search      string `query:"search" maxLength:"64" doc:"part of the login user, of the unit's name or of the address; ignores case"`
}
