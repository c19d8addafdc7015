package api

import "time"

// Host is a managed Linux server.
type Host struct {
	ID               string            `json:"id" format:"uuid"`
	Name             string            `json:"name" doc:"unique among the hosts that are not removed"`
	Workspace        string            `json:"workspace" doc:"id of its workspace"`
	Address          string            `json:"address" doc:"IP address or DNS name for SSH"`
	Port             int               `json:"port"`
	AdminUser        string            `json:"admin_user" doc:"SSH user with passwordless sudo"`
	Region           string            `json:"region"`
	Zone             string            `json:"zone"`
	Networks         []string          `json:"networks" nullable:"false" doc:"networks whose addresses it can carry"`
	Labels           map[string]string `json:"labels" nullable:"false"`
	Profile          string            `json:"profile" enum:"minimal,standard,build" doc:"which packages tenants find"`
	Purpose          string            `json:"purpose" enum:"units,kubernetes"`
	TrustOnFirstUse  bool              `json:"trust_on_first_use" doc:"take the SSH host key that the first probe sees"`
	State            string            `json:"state"`
	StateMeans       string            `json:"state_means" doc:"the state in a sentence"`
	Health           string            `json:"health" enum:"unknown,healthy,degraded,unreachable"`
	HealthMessage    string            `json:"health_message"`
	HealthAt         *time.Time        `json:"health_at,omitempty"`
	HostKey          string            `json:"host_key" doc:"confirmed SSH host key"`
	Fingerprint      string            `json:"fingerprint" doc:"of the confirmed key, SHA256:..."`
	OfferedKey       string            `json:"offered_host_key,omitempty" doc:"key that the host offers and that a person must confirm"`
	OfferedPrint     string            `json:"offered_fingerprint,omitempty" doc:"its fingerprint: compare it on the host with ssh-keygen -lf"`
	AuthorizedKey    string            `json:"authorized_key" doc:"the control plane's public key; it belongs in the admin user's authorized_keys"`
	Facts            *HostFacts        `json:"facts,omitempty" doc:"what the last probe read"`
	FactsAt          *time.Time        `json:"facts_at,omitempty"`
	Layout           *Layout           `json:"layout,omitempty"`
	Units            map[string]int    `json:"units" nullable:"false" doc:"number of its units by state"`
	Operations       []Operation       `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	ActiveJob        string            `json:"active_job,omitempty" doc:"id of the job that holds the host, else of one that runs there, else of the newest that is queued"`
	Version          int64             `json:"version" doc:"also the ETag"`
	CreatedAt        time.Time         `json:"created_at"`
	UpdatedAt        time.Time         `json:"updated_at"`
	Conditions       []string          `json:"conditions" nullable:"false" doc:"what the host lacks for carrying units, each a sentence"`
	FenceIncarnation string            `json:"fence_incarnation" doc:"with the number, the token of who may change the host"`
	FenceNumber      int64             `json:"fence_number"`
}

// Operation is something that can, or can't now, be done with an object.
type Operation struct {
	Name     string `json:"name" doc:"initialize, decommission, ..."`
	Allowed  bool   `json:"allowed"`
	Prevents string `json:"prevents,omitempty" doc:"what prevents it, a sentence"`
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
	ReservedCPUs []HostReserved   `json:"reserved_cpus" nullable:"false" doc:"CPUs that units can't have, since something else on the host has them"`
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
	Core   int `json:"core" doc:"CPUs of one socket with the same core are its threads"`
}

// HostNode is one NUMA node.
type HostNode struct {
	Node          int    `json:"node"`
	CPUs          string `json:"cpus"`
	MemoryBytes   int64  `json:"memory_bytes"`
	ReservedBytes int64  `json:"reserved_bytes" doc:"of its memory, taken as huge pages: units can't have it"`
}

// HostReserved is CPUs that something else on the host has.
type HostReserved struct {
	CPUs string `json:"cpus" doc:"a set, as 1-3 or 0,2"`
	By   string `json:"by" doc:"what has them: a kernel parameter or a control group"`
}

// HostDevice is one whole disk.
type HostDevice struct {
	Path       string   `json:"path"`
	ByID       string   `json:"by_id" doc:"the name to give in a layout"`
	SizeBytes  int64    `json:"size_bytes"`
	Rotational bool     `json:"rotational"`
	Discard    bool     `json:"discard"`
	ReadOnly   bool     `json:"read_only"`
	Model      string   `json:"model"`
	Serial     string   `json:"serial"`
	Signatures []string `json:"signatures" nullable:"false" doc:"what was found on it; a disk with a signature is never taken"`
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
}

// RegisterHost asks to manage a host. Its shape is checked, a probe is
// enqueued; nothing is changed on the host.
type RegisterHost struct {
	Name            string            `json:"name" maxLength:"48" doc:"lower-case letters, digits, hyphens; units are named after it"`
	Address         string            `json:"address" maxLength:"253" doc:"IP address or DNS name for SSH"`
	Port            int               `json:"port,omitempty" minimum:"1" maximum:"65535" default:"22"`
	AdminUser       string            `json:"admin_user,omitempty" maxLength:"32" default:"root" doc:"SSH user; needs passwordless sudo unless it is root"`
	Region          string            `json:"region,omitempty" maxLength:"63"`
	Zone            string            `json:"zone,omitempty" maxLength:"63"`
	Networks        []string          `json:"networks,omitempty" maxItems:"32" doc:"networks whose addresses it can carry; default: default"`
	Labels          map[string]string `json:"labels,omitempty"`
	Profile         string            `json:"profile,omitempty" enum:"minimal,standard,build" default:"minimal"`
	HostKey         string            `json:"host_key,omitempty" maxLength:"16384" doc:"its SSH host key, as in known_hosts without the name; else the host waits until a person confirms the fingerprint"`
	TrustOnFirstUse bool              `json:"trust_on_first_use,omitempty" doc:"take the host key that the first probe sees"`
}

// UpdateHost changes what is given; what is left out stays as it is.
type UpdateHost struct {
	Address  *string            `json:"address,omitempty" maxLength:"253" nullable:"false" doc:"IP address or DNS name for SSH; the host is probed there, and must show its confirmed SSH host key"`
	Port     *int               `json:"port,omitempty" minimum:"1" maximum:"65535" nullable:"false" doc:"port of SSH; as a new address"`
	HostKey  *string            `json:"host_key,omitempty" maxLength:"16384" nullable:"false" doc:"with a new address or port: the SSH host key that it shows there, in place of the confirmed one"`
	Region   *string            `json:"region,omitempty" maxLength:"63" nullable:"false" doc:"empty for none"`
	Zone     *string            `json:"zone,omitempty" maxLength:"63" nullable:"false" doc:"empty for none"`
	Networks *[]string          `json:"networks,omitempty" minItems:"1" maxItems:"32" nullable:"false" doc:"networks whose addresses it can carry; one whose address an allocation of it has stays"`
	Labels   *map[string]string `json:"labels,omitempty" nullable:"false" doc:"all labels that it has from now on"`
	Profile  *string            `json:"profile,omitempty" enum:"minimal,standard,build" nullable:"false" doc:"which packages tenants find; installed when it is initialized the next time"`
}

// ProbeHosts asks for the facts of several hosts.
type ProbeHosts struct {
	Hosts []string `json:"hosts" minItems:"1" maxItems:"50" doc:"ids or names; only hosts whose probe-together is allowed: any other moves on with a probe, so that it is probed by itself"`
}

// ConfirmHostKey confirms, by its fingerprint, the key that a host offers.
type ConfirmHostKey struct {
	Fingerprint string `json:"fingerprint" maxLength:"128" doc:"SHA256:..., as shown and as compared on the host"`
}

// SetLayout asks how to cut a host: either units, or count and cpus_each.
type SetLayout struct {
	SystemCPUs        string    `json:"system_cpus,omitempty" maxLength:"4096" doc:"CPUs that the system keeps, such as 0,4; default: the first core, or what it has"`
	Units             []SetUnit `json:"units,omitempty" maxItems:"1024"`
	Count             int       `json:"count,omitempty" minimum:"0" maximum:"1024" doc:"this many units, laid out along NUMA nodes"`
	CPUsEach          int       `json:"cpus_each,omitempty" minimum:"0" maximum:"8192" doc:"of this many CPUs each"`
	VolumeGroup       string    `json:"volume_group,omitempty" maxLength:"64" pattern:"^[a-zA-Z0-9+_.][a-zA-Z0-9+_.-]*$" doc:"default: kloigos-vg, or what it has"`
	Devices           []string  `json:"devices,omitempty" maxItems:"64" doc:"empty disks, by-id, to make the volume group of, or to add to it"`
	SystemMemoryBytes int64     `json:"system_memory_bytes,omitempty" minimum:"0" maximum:"1125899906842624" doc:"kept for the system; default: a twentieth, at least 512 MiB, or what it has"`
	VolumeBytes       int64     `json:"volume_bytes,omitempty" minimum:"0" maximum:"1125899906842624" doc:"of each unit's volume; default: its share"`
}

// SetUnit is one unit of a layout that is asked for.
type SetUnit struct {
	CPUs        string `json:"cpus" maxLength:"4096" doc:"0-3, 0,2,4 or 0-7:2 (a range with a step)"`
	VolumeBytes int64  `json:"volume_bytes,omitempty" minimum:"0" maximum:"1125899906842624" doc:"default: its share"`
}

// Layout is how a host is cut.
type Layout struct {
	SystemCPUs          string       `json:"system_cpus"`
	VolumeGroup         string       `json:"volume_group"`
	Devices             []string     `json:"devices" nullable:"false"`
	SystemMemoryBytes   int64        `json:"system_memory_bytes"`
	VolumeSpaceBytes    int64        `json:"volume_space_bytes" doc:"what the volumes of all units share"`
	ReservedCPUs        string       `json:"reserved_cpus,omitempty" doc:"CPUs that something else on the host has: neither the system nor units are given them"`
	ReservedMemoryBytes int64        `json:"reserved_memory_bytes,omitempty" doc:"memory that is taken as huge pages"`
	Units               []LayoutUnit `json:"units" nullable:"false"`
}

// LayoutUnit is one unit of a layout, with its shares.
type LayoutUnit struct {
	Kept            string `json:"kept,omitempty" doc:"name of a unit that was there when the layout was set, and stays as it is"`
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
	Confirm string `json:"confirm" maxLength:"64" doc:"the host's name, typed: the machine is off and stays off"`
}

// HostFilter narrows a list of hosts.
type HostFilter struct {
	PageQuery
	State  string `query:"state" maxLength:"32"`
	Region string `query:"region" maxLength:"63"`
	Zone   string `query:"zone" maxLength:"63"`
	Labels string `query:"labels" maxLength:"1024" doc:"labels that it has, as key=value,key=value"`
	Search string `query:"search" maxLength:"64" doc:"part of the name or address, in whatever case"`
}
