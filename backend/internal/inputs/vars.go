package inputs

import (
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// The variables of each playbook. Names are those of the roles'
// meta/argument_specs.yml; a test compares them. Sizes are in bytes.

type hostVars struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type unitVars struct {
	ID              string `json:"id"`
	Name            string `json:"name"`
	Ordinal         int    `json:"ordinal"`
	CPUs            string `json:"cpus"`
	MemoryNodes     string `json:"memory_nodes"`
	MemoryMaxBytes  int64  `json:"memory_max_bytes"`
	MemoryHighBytes int64  `json:"memory_high_bytes"`
	TasksMax        int    `json:"tasks_max"`
	VolumeBytes     int64  `json:"volume_bytes"`
	Mount           string `json:"mount"`
	Volume          string `json:"volume"`
}

type tenantVars struct {
	ID        string `json:"id"`
	LoginUser string `json:"login_user"`
	UID       int64  `json:"uid"`
	Address   string `json:"address"`
}

// HostBootstrap is given to the play that brings the fence.
type HostBootstrap struct {
	Incarnation string `json:"host_bootstrap_incarnation"`
	Refence     bool   `json:"host_bootstrap_refence"`
	Number      int64  `json:"host_bootstrap_number"` // of the holder: older than one that was here, the host refuses it
}

// measuredVars is a unit with the tenant whose use is measured.
type measuredVars struct {
	ID    string `json:"id"`
	UID   int64  `json:"uid"`
	Mount string `json:"mount"`
}

// HostMeasure is given to host_measure.
type HostMeasure struct {
	Units   []measuredVars `json:"host_measure_units"`
	Samples []int          `json:"host_measure_samples"` // their numbers: a loop takes a list
}

// HostInitialize is given to host_initialize.
type HostInitialize struct {
	Host        hostVars   `json:"host_initialize_host"`
	Profile     string     `json:"host_initialize_profile"`
	SystemCPUs  string     `json:"host_initialize_system_cpus"`
	Devices     []string   `json:"host_initialize_devices"`
	VolumeGroup string     `json:"host_initialize_volume_group"`
	Uplink      string     `json:"host_initialize_uplink"`
	Units       []unitVars `json:"host_initialize_units"`
	Keep        []string   `json:"host_initialize_keep"` // ids of those that stay as they are
}

// HostDecommission is given to host_decommission.
type HostDecommission struct {
	Host        hostVars   `json:"host_decommission_host"`
	Units       []unitVars `json:"host_decommission_units"`
	VolumeGroup string     `json:"host_decommission_volume_group"`
	Devices     []string   `json:"host_decommission_devices"`
	Uplink      string     `json:"host_decommission_uplink"`
}

// HostAgent is given to the play that installs the agent of a host.
type HostAgent struct {
	URL    string `json:"host_agent_url"`
	CA     string `json:"host_agent_ca"` // PEM; "" for the host's own
	SHA256 string `json:"host_agent_sha256"`
	Size   int64  `json:"host_agent_size"`
	// ReleaseKeys are the public keys whose builds the host takes. None: it takes no update.
	ReleaseKeys []string `json:"host_agent_release_keys"`
	Token       string   `json:"host_agent_token"` // "" where an agent speaks for the host already
}

type allocationVars struct {
	tenantVars
	Gateway string   `json:"gateway"`
	Prefix  int      `json:"prefix"`
	SSHKeys []string `json:"ssh_keys"`
}

// UnitAllocate is given to unit_allocate.
type UnitAllocate struct {
	Host        hostVars       `json:"unit_allocate_host"`
	Unit        unitVars       `json:"unit_allocate_unit"`
	VolumeGroup string         `json:"unit_allocate_volume_group"`
	Uplink      string         `json:"unit_allocate_uplink"`
	Network     string         `json:"unit_allocate_network"` // "host": the address lies on the host; "unit": in a network of the unit's own
	Allocation  allocationVars `json:"unit_allocate_allocation"`
}

// UnitDeallocate is given to unit_deallocate.
type UnitDeallocate struct {
	Host        hostVars   `json:"unit_deallocate_host"`
	Unit        unitVars   `json:"unit_deallocate_unit"`
	VolumeGroup string     `json:"unit_deallocate_volume_group"`
	Uplink      string     `json:"unit_deallocate_uplink"`
	Allocation  tenantVars `json:"unit_deallocate_allocation"`
}

func varsOfHost(h store.Host) hostVars { return hostVars{ID: h.ID.String(), Name: h.Name} }

func varsOfUnit(u store.Unit) unitVars {
	return unitVars{
		ID: u.ID.String(), Name: u.Name, Ordinal: u.Ordinal, CPUs: u.CPUs, MemoryNodes: u.MemoryNodes,
		MemoryMaxBytes: u.MemoryMaxBytes, MemoryHighBytes: u.MemoryHighBytes, TasksMax: u.TasksMax, VolumeBytes: u.VolumeBytes,
		Mount: domain.MountPoint(u.Host, u.Ordinal), Volume: domain.VolumeName(u.Ordinal),
	}
}

func varsOfUnits(units []store.Unit) []unitVars {
	all := make([]unitVars, len(units))
	for i, u := range units {
		all[i] = varsOfUnit(u)
	}
	return all
}

func varsOfTenant(a store.Allocation) tenantVars {
	return tenantVars{ID: a.ID.String(), LoginUser: a.LoginUser, UID: a.UID, Address: a.Address}
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
