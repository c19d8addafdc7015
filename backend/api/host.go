package api

import "time"

// Host is a managed Linux server.
type Host struct {
	ID               string            `json:"id" format:"uuid"`
	Name             string            `json:"name" doc:"unique among all hosts that are not removed"`
	Workspace        string            `json:"workspace" doc:"id of its workspace"`
	Address          string            `json:"address" doc:"IP address or DNS name for SSH"`
	Port             int               `json:"port"`
	AdminUser        string            `json:"admin_user" doc:"SSH user with passwordless sudo"`
	Region           string            `json:"region"`
	Zone             string            `json:"zone"`
	Networks         []string          `json:"networks" nullable:"false" doc:"networks whose addresses its units can get: names, and ids of shared networks"`
	Labels           map[string]string `json:"labels" nullable:"false"`
	Profile          string            `json:"profile" enum:"minimal,standard,build" doc:"set of packages for tenants"`
	Purpose          string            `json:"purpose" enum:"units,kubernetes" doc:"units: it is cut into compute units; kubernetes: all of it is a node of a cluster"`
	TrustOnFirstUse  bool              `json:"trust_on_first_use" doc:"trust the SSH host key that the first probe sees"`
	State            string            `json:"state"`
	StateMeans       string            `json:"state_means" doc:"the state in a sentence"`
	Health           string            `json:"health" enum:"unknown,healthy,degraded,unreachable"`
	HealthMessage    string            `json:"health_message"`
	HealthAt         *time.Time        `json:"health_at,omitempty"`
	HostKey          string            `json:"host_key" doc:"confirmed SSH host key"`
	Fingerprint      string            `json:"fingerprint" doc:"fingerprint of the confirmed key, SHA256:..."`
	OfferedKey       string            `json:"offered_host_key,omitempty" doc:"host key that the host offers; a person has to confirm it"`
	OfferedPrint     string            `json:"offered_fingerprint,omitempty" doc:"fingerprint of the offered key; compare it on the host with ssh-keygen -lf"`
	AuthorizedKey    string            `json:"authorized_key" doc:"public key of the control plane, for authorized_keys of the admin user"`
	Facts            *HostFacts        `json:"facts,omitempty" doc:"facts from the last probe"`
	FactsAt          *time.Time        `json:"facts_at,omitempty"`
	Layout           *Layout           `json:"layout,omitempty"`
	Units            map[string]int    `json:"units" nullable:"false" doc:"number of its units by state"`
	Operations       []Operation       `json:"operations" nullable:"false" doc:"actions, whether each is allowed now, and what prevents it if not"`
	ActiveJob        string            `json:"active_job,omitempty" doc:"id of the job that holds the host; if none does, of a running job; else of the newest queued job"`
	Version          int64             `json:"version" doc:"changes with every change of the object; also its ETag"`
	CreatedAt        time.Time         `json:"created_at"`
	UpdatedAt        time.Time         `json:"updated_at"`
	Conditions       []string          `json:"conditions" nullable:"false" doc:"what the host lacks to carry units, one sentence each"`
	FenceIncarnation string            `json:"fence_incarnation" doc:"together with the number, the fence token of whoever may change the host"`
	FenceNumber      int64             `json:"fence_number"`
}

// Operation is something that can, or can't now, be done with an object.
type Operation struct {
	Name     string `json:"name" doc:"initialize, decommission, ..."`
	Allowed  bool   `json:"allowed"`
	Prevents string `json:"prevents,omitempty" doc:"what prevents the action, in a sentence"`
}

// HostFacts is what a probe read from a host.
type HostFacts struct {
	MachineID    string           `json:"machine_id"`
	Hostname     string           `json:"hostname"`
	Kernel       string           `json:"kernel"`
	Architecture string           `json:"architecture"`
	OS           HostOS           `json:"os"`
	CPUs         []HostCPU        `json:"logical_cpus" nullable:"false" doc:"every logical CPU"`
	Nodes        []HostNode       `json:"nodes" nullable:"false"`
	MemoryBytes  int64            `json:"memory_bytes"`
	ReservedCPUs []HostReserved   `json:"reserved_cpus" nullable:"false" doc:"CPUs that something else on the host uses, so units cannot have them"`
	Devices      []HostDevice     `json:"devices" nullable:"false"`
	VolumeGroups []HostVG         `json:"volume_groups" nullable:"false"`
	Uplink       HostUplink       `json:"uplink"`
	Capabilities HostCapabilities `json:"capabilities"`
}

// HostOS names the operating system.
type HostOS struct {
	ID        string `json:"id"`
	VersionID string `json:"version_id"`
	Name      string `json:"name"`
}

// HostCPU is one logical CPU.
type HostCPU struct {
	CPU    int `json:"cpu"`
	Node   int `json:"node" doc:"NUMA node"`
	Socket int `json:"socket"`
	Core   int `json:"core" doc:"CPUs of one socket with the same core number are threads of one core"`
}

// HostNode is one NUMA node.
type HostNode struct {
	Node          int    `json:"node"`
	CPUs          string `json:"cpus"`
	MemoryBytes   int64  `json:"memory_bytes"`
	ReservedBytes int64  `json:"reserved_bytes" doc:"part of its memory that is reserved as huge pages; units cannot have it"`
}

// HostReserved is CPUs that something else on the host has.
type HostReserved struct {
	CPUs string `json:"cpus" doc:"a set of CPUs, such as 1-3 or 0,2"`
	By   string `json:"by" doc:"what uses them: a kernel parameter or a control group"`
}

// HostDevice is one whole disk.
type HostDevice struct {
	Path       string   `json:"path"`
	ByID       string   `json:"by_id" doc:"the name to use in a layout"`
	SizeBytes  int64    `json:"size_bytes"`
	Rotational bool     `json:"rotational"`
	Discard    bool     `json:"discard"`
	ReadOnly   bool     `json:"read_only"`
	Model      string   `json:"model"`
	Serial     string   `json:"serial"`
	Signatures []string `json:"signatures" nullable:"false" doc:"signatures on the disk; a disk with a signature is never used"`
	Mounted    bool     `json:"mounted"`
	Partitions int      `json:"partitions"`
}

// HostVG is an LVM volume group.
type HostVG struct {
	Name      string `json:"name"`
	SizeBytes int64  `json:"size_bytes"`
	FreeBytes int64  `json:"free_bytes"`
}

// HostUplink is the interface with the default route.
type HostUplink struct {
	Interface string `json:"interface"`
	Address   string `json:"address"`
	Prefix    int    `json:"prefix"`
	Gateway   string `json:"gateway"`
}

// HostCapabilities is what the host can do.
type HostCapabilities struct {
	CGroup2  bool   `json:"cgroup2"`
	CPUSet   bool   `json:"cpuset"`
	AppArmor bool   `json:"apparmor"`
	NFTables bool   `json:"nftables"`
	LVM      bool   `json:"lvm"`
	Systemd  string `json:"systemd"`
	Python   string `json:"python"`

	UnitNetworks string `json:"unit_networks" doc:"\"possible\", or what the host lacks for units with networks of their own; empty where no probe has asked"`
}

// RegisterHost asks to manage a host. Its shape is checked, a probe is
// enqueued; nothing is changed on the host.
type RegisterHost struct {
	Name            string            `json:"name" maxLength:"48" doc:"lower-case letters, digits and hyphens; names of units begin with it"`
	Address         string            `json:"address" maxLength:"253" doc:"IP address or DNS name for SSH"`
	Port            int               `json:"port,omitempty" minimum:"1" maximum:"65535" default:"22"`
	AdminUser       string            `json:"admin_user,omitempty" maxLength:"32" default:"root" doc:"SSH user; needs passwordless sudo unless it is root"`
	Region          string            `json:"region,omitempty" maxLength:"63"`
	Zone            string            `json:"zone,omitempty" maxLength:"63"`
	Networks        []string          `json:"networks,omitempty" maxItems:"32" doc:"networks whose addresses its units can get: names of networks of the workspace, and ids of shared networks; default: the network default"`
	Labels          map[string]string `json:"labels,omitempty"`
	Profile         string            `json:"profile,omitempty" enum:"minimal,standard,build" default:"minimal"`
	Purpose         string            `json:"purpose,omitempty" enum:"units,kubernetes" doc:"units: it is cut into compute units; kubernetes: all of it is a node of a cluster; default: what its workspace is for"`
	HostKey         string            `json:"host_key,omitempty" maxLength:"16384" doc:"its SSH host key, as in known_hosts without the name; without it a person has to confirm the fingerprint"`
	TrustOnFirstUse bool              `json:"trust_on_first_use,omitempty" doc:"trust the SSH host key that the first probe sees"`
}

// UpdateHost changes what is given; what is left out stays as it is.
type UpdateHost struct {
	Address  *string            `json:"address,omitempty" maxLength:"253" nullable:"false" doc:"IP address or DNS name for SSH; a probe checks that the host shows its confirmed host key there"`
	Port     *int               `json:"port,omitempty" minimum:"1" maximum:"65535" nullable:"false" doc:"port of SSH; a change is checked like a new address"`
	HostKey  *string            `json:"host_key,omitempty" maxLength:"16384" nullable:"false" doc:"only with a new address or port: the host key to expect there instead of the confirmed one"`
	Region   *string            `json:"region,omitempty" maxLength:"63" nullable:"false" doc:"an empty text removes it"`
	Zone     *string            `json:"zone,omitempty" maxLength:"63" nullable:"false" doc:"an empty text removes it"`
	Networks *[]string          `json:"networks,omitempty" minItems:"1" maxItems:"32" nullable:"false" doc:"networks whose addresses its units can get, names or ids of shared networks; a network in use by an allocation of the host cannot be left out"`
	Labels   *map[string]string `json:"labels,omitempty" nullable:"false" doc:"replaces all labels"`
	Profile  *string            `json:"profile,omitempty" enum:"minimal,standard,build" nullable:"false" doc:"set of packages for tenants; installed at the next initialization"`
	Purpose  *string            `json:"purpose,omitempty" enum:"units,kubernetes" nullable:"false" doc:"only before the host is initialized and without a layout"`
}

// ProbeHosts asks for the facts of several hosts.
type ProbeHosts struct {
	Hosts []string `json:"hosts" minItems:"1" maxItems:"50" doc:"ids or names of hosts that allow the action probe-together; a probe of any other host changes its state, so probe that one by itself"`
}

// ConfirmHostKey confirms, by its fingerprint, the key that a host offers.
type ConfirmHostKey struct {
	Fingerprint string `json:"fingerprint" maxLength:"128" doc:"the fingerprint SHA256:... that was compared on the host"`
}

// SetLayout asks how to cut a host: either units, or count and cpus_each.
type SetLayout struct {
	SystemCPUs        string    `json:"system_cpus,omitempty" maxLength:"4096" doc:"CPUs for the system, such as 0,4; default: the present ones, else the first core"`
	Units             []SetUnit `json:"units,omitempty" maxItems:"1024"`
	Count             int       `json:"count,omitempty" minimum:"0" maximum:"1024" doc:"number of units, placed along NUMA nodes"`
	CPUsEach          int       `json:"cpus_each,omitempty" minimum:"0" maximum:"8192" doc:"number of CPUs of each unit"`
	VolumeGroup       string    `json:"volume_group,omitempty" maxLength:"64" pattern:"^[a-zA-Z0-9+_.][a-zA-Z0-9+_.-]*$" patternDescription:"letters, digits, +, _, . and -, not beginning with -" doc:"default: the present one, else kloigos-vg"`
	Devices           []string  `json:"devices,omitempty" maxItems:"64" doc:"empty disks for the volume group, as /dev/disk/by-id/..."`
	SystemMemoryBytes int64     `json:"system_memory_bytes,omitempty" minimum:"0" maximum:"1125899906842624" doc:"memory for the system; default: the present value, else a twentieth and at least 512 MiB"`
	VolumeBytes       int64     `json:"volume_bytes,omitempty" minimum:"0" maximum:"1125899906842624" doc:"size of each unit's volume; default: its share"`
}

// SetUnit is one unit of a layout that is asked for.
type SetUnit struct {
	CPUs        string `json:"cpus" maxLength:"4096" doc:"a set of CPUs: 0-3, 0,2,4 or 0-7:2 (a range with a step)"`
	VolumeBytes int64  `json:"volume_bytes,omitempty" minimum:"0" maximum:"1125899906842624" doc:"default: its share"`
}

// Layout is how a host is cut.
type Layout struct {
	SystemCPUs          string       `json:"system_cpus"`
	VolumeGroup         string       `json:"volume_group"`
	Devices             []string     `json:"devices" nullable:"false"`
	SystemMemoryBytes   int64        `json:"system_memory_bytes"`
	VolumeSpaceBytes    int64        `json:"volume_space_bytes" doc:"space for the volumes of all units"`
	ReservedCPUs        string       `json:"reserved_cpus,omitempty" doc:"CPUs that something else on the host uses; neither the system nor units get them"`
	ReservedMemoryBytes int64        `json:"reserved_memory_bytes,omitempty" doc:"memory that is reserved as huge pages"`
	Units               []LayoutUnit `json:"units" nullable:"false"`
}

// LayoutUnit is one unit of a layout, with its shares.
type LayoutUnit struct {
	Kept            string `json:"kept,omitempty" doc:"name of an existing unit that the layout keeps as it is"`
	CPUs            string `json:"cpus"`
	CPUCount        int    `json:"cpu_count"`
	MemoryNodes     string `json:"memory_nodes"`
	MemoryMaxBytes  int64  `json:"memory_max_bytes"`
	MemoryHighBytes int64  `json:"memory_high_bytes"`
	VolumeBytes     int64  `json:"volume_bytes"`
	TasksMax        int    `json:"tasks_max"`
}

// DeclareLost declares that a host is gone for good.
type DeclareLost struct {
	Confirm string `json:"confirm" maxLength:"64" doc:"repeat the host's name to confirm that the machine is off for good"`
}

// HostFilter narrows a list of hosts.
type HostFilter struct {
	PageQuery
	State  string `query:"state" maxLength:"32"`
	Region string `query:"region" maxLength:"63"`
	Zone   string `query:"zone" maxLength:"63"`
	Labels string `query:"labels" maxLength:"1024" doc:"labels that it must have, as key=value,key=value"`
	Search string `query:"search" maxLength:"64" doc:"part of the name or of the address; ignores case"`
}
