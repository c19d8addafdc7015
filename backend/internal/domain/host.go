package domain

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// HostState is where a host is in its life.
type HostState string

// The states of a host.
const (
	HostRegistered         HostState = "registered"
	HostProbing            HostState = "probing"
	HostAwaitingHostKey    HostState = "awaiting_host_key"
	HostProbed             HostState = "probed"
	HostInitializing       HostState = "initializing"
	HostInitFailed         HostState = "init_failed"
	HostReady              HostState = "ready"
	HostDraining           HostState = "draining"
	HostDecommissioning    HostState = "decommissioning"
	HostDecommissionFailed HostState = "decommission_failed"
	HostDecommissioned     HostState = "decommissioned"
	HostLost               HostState = "lost"
)

// What happens to hosts.
const (
	ProbeRequested         Event = "probe_requested"
	ProbeSucceeded         Event = "probe_succeeded"
	ProbeFailed            Event = "probe_failed"
	HostKeyUnknown         Event = "host_key_unknown"
	InitializeRequested    Event = "initialize_requested"
	InitializeSucceeded    Event = "initialize_succeeded"
	InitializeFailed       Event = "initialize_failed"
	DrainRequested         Event = "drain_requested"
	DrainCancelled         Event = "drain_cancelled"
	DecommissionRequested  Event = "decommission_requested"
	DecommissionSucceeded  Event = "decommission_succeeded"
	DecommissionFailed     Event = "decommission_failed"
	DeclaredLost           Event = "declared_lost"
	minutesForAProbe             = 15 * time.Minute
	minutesForInitialize         = 2 * time.Hour
	minutesForDecommission       = 2 * time.Hour
)

// HostLifecycle is the life of a host.
var HostLifecycle = Lifecycle[HostState]{
	Noun: "host", Initial: HostRegistered,
	States: []StateInfo[HostState]{
		{State: HostRegistered, Means: "registered; not yet probed, or the last probe failed"},
		{State: HostProbing, Means: "Kloigos is reading its facts; nothing changes on the host", Deadline: minutesForAProbe},
		{State: HostAwaitingHostKey, Means: "compare the fingerprint of its SSH host key and confirm it"},
		{State: HostProbed, Means: "its facts are known; set a layout, then initialize it"},
		{State: HostInitializing, Means: "Kloigos is preparing its units", Deadline: minutesForInitialize},
		{State: HostInitFailed, Means: "initialization failed; read the job, fix the cause, then initialize again or change the layout", Failed: true},
		{State: HostReady, Means: "its free units are available"},
		{State: HostDraining, Means: "takes no new allocations; existing ones stay"},
		{State: HostDecommissioning, Means: "Kloigos is removing everything of its own from the host", Deadline: minutesForDecommission},
		{State: HostDecommissionFailed, Means: "decommissioning failed; read the job, then decommission again, or initialize the host to keep it", Failed: true},
		{State: HostDecommissioned, Means: "clean and no longer managed", Final: true},
		{State: HostLost, Means: "declared lost by an operator; Kloigos refuses the machine if it answers again", Final: true},
	},
	Transitions: []Transition[HostState]{
		{HostRegistered, ProbeRequested, HostProbing},
		{HostAwaitingHostKey, ProbeRequested, HostProbing},
		{HostProbed, ProbeRequested, HostProbing},
		{HostProbing, ProbeSucceeded, HostProbed},
		{HostProbing, HostKeyUnknown, HostAwaitingHostKey},
		{HostProbing, ProbeFailed, HostRegistered},
		// A probe of a host that is further on reads and changes no state.
		{HostReady, ProbeRequested, HostReady},
		{HostReady, ProbeSucceeded, HostReady},
		{HostReady, ProbeFailed, HostReady},
		{HostDraining, ProbeRequested, HostDraining},
		{HostDraining, ProbeSucceeded, HostDraining},
		{HostDraining, ProbeFailed, HostDraining},
		{HostInitFailed, ProbeRequested, HostInitFailed},
		{HostInitFailed, ProbeSucceeded, HostInitFailed},
		{HostInitFailed, ProbeFailed, HostInitFailed},
		// Also after a failed decommission: a changed host key is offered, and
		// confirmed, by way of a probe.
		{HostDecommissionFailed, ProbeRequested, HostDecommissionFailed},
		{HostDecommissionFailed, ProbeSucceeded, HostDecommissionFailed},
		{HostDecommissionFailed, ProbeFailed, HostDecommissionFailed},
		// It takes no lock, so it may end when another job has begun.
		{HostInitializing, ProbeSucceeded, HostInitializing},
		{HostInitializing, ProbeFailed, HostInitializing},
		{HostDecommissioning, ProbeSucceeded, HostDecommissioning},
		{HostDecommissioning, ProbeFailed, HostDecommissioning},
		{HostDecommissioned, ProbeSucceeded, HostDecommissioned},
		{HostDecommissioned, ProbeFailed, HostDecommissioned},

		{HostProbed, InitializeRequested, HostInitializing},
		{HostInitFailed, InitializeRequested, HostInitializing},
		{HostReady, InitializeRequested, HostInitializing},
		{HostDecommissionFailed, InitializeRequested, HostInitializing},
		{HostInitializing, InitializeSucceeded, HostReady},
		{HostInitializing, InitializeFailed, HostInitFailed},

		{HostReady, DrainRequested, HostDraining},
		{HostDraining, DrainCancelled, HostReady},

		{HostInitFailed, DecommissionRequested, HostDecommissioning},
		{HostReady, DecommissionRequested, HostDecommissioning},
		{HostDraining, DecommissionRequested, HostDecommissioning},
		{HostDecommissionFailed, DecommissionRequested, HostDecommissioning},
		{HostDecommissioning, DecommissionSucceeded, HostDecommissioned},
		{HostDecommissioning, DecommissionFailed, HostDecommissionFailed},

		{HostProbed, DeclaredLost, HostLost},
		{HostInitializing, DeclaredLost, HostLost},
		{HostInitFailed, DeclaredLost, HostLost},
		{HostReady, DeclaredLost, HostLost},
		{HostDraining, DeclaredLost, HostLost},
		{HostDecommissioning, DeclaredLost, HostLost},
		{HostDecommissionFailed, DeclaredLost, HostLost},
	},
}

// HostHealth is what was last seen of a host. Until there are continuous
// probes it is unknown, unless a job or an asked-for probe just told.
type HostHealth string

// The health of a host.
const (
	HealthUnknown     HostHealth = "unknown"
	HealthHealthy     HostHealth = "healthy"
	HealthDegraded    HostHealth = "degraded"
	HealthUnreachable HostHealth = "unreachable"
)

// Profile is the set of packages that a host gets for its tenants.
type Profile string

// The runtime profiles.
const (
	ProfileMinimal  Profile = "minimal"  // what Kloigos itself needs
	ProfileStandard Profile = "standard" // and language runtimes
	ProfileBuild    Profile = "build"    // and compilers
)

// Facts is what a probe read from a host. Sizes are in bytes.
type Facts struct {
	MachineID    string        `json:"machine_id"`
	Hostname     string        `json:"hostname"`
	Kernel       string        `json:"kernel"`
	Architecture string        `json:"architecture"`
	OS           OSFacts       `json:"os"`
	CPUs         []CPU         `json:"cpus"`
	Nodes        []Node        `json:"nodes"`
	MemoryBytes  int64         `json:"memory_bytes"`
	ReservedCPUs []Reserved    `json:"reserved_cpus"`
	Devices      []Device      `json:"devices"`
	VolumeGroups []VolumeGroup `json:"volume_groups"`
	Uplink       Uplink        `json:"uplink"`
	Addresses    []string      `json:"addresses,omitempty"`   // IPv4, of all interfaces, without those of units
	IDOverlaps   []string      `json:"id_overlaps,omitempty"` // tenants whose UID is somebody's subordinate one, in words
	IDRanges     []IDRange     `json:"id_ranges,omitempty"`   // of UIDs and GIDs that the host gives to others
	Capabilities Capabilities  `json:"capabilities"`
	Incarnation  string        `json:"incarnation"`
	FenceNumber  int64         `json:"fence_number"`
	// Faults are what does not work of what Kloigos has on the host, each a sentence.
	Faults []string `json:"faults"`
}

// IDRange is a range of UIDs or GIDs that a host gives to others than tenants.
type IDRange struct {
	First int64  `json:"first"`
	Last  int64  `json:"last"`
	By    string `json:"by"`    // whose it is, and which file says so
	Given bool   `json:"given"` // somebody has it; else new accounts may get of it
}

// OSFacts names the operating system, from os-release.
type OSFacts struct {
	ID        string `json:"id"`
	VersionID string `json:"version_id"`
	Name      string `json:"name"`
}

// CPU is one logical CPU that is online.
type CPU struct {
	CPU    int `json:"cpu"`
	Node   int `json:"node"`
	Socket int `json:"socket"`
	Core   int `json:"core"`
}

// Reserved is CPUs that can't be promised to units, and what has them.
type Reserved struct {
	CPUs string `json:"cpus"`
	By   string `json:"by"`
}

// Node is one NUMA node. It may have no CPUs, or no memory.
type Node struct {
	Node        int    `json:"node"`
	CPUs        string `json:"cpus"`
	MemoryBytes int64  `json:"memory_bytes"`
	// ReservedBytes of its memory are taken as huge pages: programs that don't
	// ask for those can't have them.
	ReservedBytes int64 `json:"reserved_bytes"`
}

// available is the memory of a node that programs can have.
func (n Node) available() int64 { return max(n.MemoryBytes-n.ReservedBytes, 0) }

// Device is one whole disk. Signatures are those of file systems, LVM, RAID
// and partition tables found on it; any one of them means "not empty".
type Device struct {
	Path       string   `json:"path"`
	ByID       string   `json:"by_id"`
	SizeBytes  int64    `json:"size_bytes"`
	Rotational bool     `json:"rotational"`
	Discard    bool     `json:"discard"`
	ReadOnly   bool     `json:"read_only"`
	Model      string   `json:"model"`
	Serial     string   `json:"serial"`
	Signatures []string `json:"signatures"`
	Mounted    bool     `json:"mounted"`
	Partitions int      `json:"partitions"`
}

// VolumeGroup is an LVM volume group.
type VolumeGroup struct {
	Name      string `json:"name"`
	SizeBytes int64  `json:"size_bytes"`
	FreeBytes int64  `json:"free_bytes"`
}

// Uplink is the interface that carries the default route.
type Uplink struct {
	Interface string `json:"interface"`
	Address   string `json:"address"`
	Prefix    int    `json:"prefix"`
	Gateway   string `json:"gateway"`
}

// Capabilities is what the host's kernel and system can do.
type Capabilities struct {
	CGroup2  bool   `json:"cgroup2"`
	CPUSet   bool   `json:"cpuset"`
	AppArmor bool   `json:"apparmor"`
	NFTables bool   `json:"nftables"`
	LVM      bool   `json:"lvm"`
	Systemd  string `json:"systemd"`
	Python   string `json:"python"`
	// UnitNetworks is Possible, or what the host lacks for units with networks of their own; "" where no probe has asked.
	UnitNetworks string `json:"unit_networks"`
}

// Possible is what a probe says of something that the host can do.
const Possible = "possible"

// Missing names what the host lacks for carrying units, each as a sentence.
func (f Facts) Missing() []string {
	var missing []string
	for _, c := range []struct {
		ok   bool
		what string
	}{
		{f.Capabilities.CGroup2, "cgroups v2 are not mounted (boot with systemd.unified_cgroup_hierarchy=1)"},
		{f.Capabilities.CPUSet, "the kernel has no cpuset controller in cgroups v2"},
		{f.Capabilities.AppArmor, "AppArmor is not enabled (boot with apparmor=1 security=apparmor)"},
		{f.Uplink.Interface != "", "no interface carries an IPv4 default route"},
		{len(f.CPUs) > 1, "it has only one CPU; one is kept for the system"},
	} {
		if !c.ok {
			missing = append(missing, c.what)
		}
	}
	return missing
}

// Health is what facts tell of the health of their host, and why.
func (f Facts) Health() (HostHealth, string) {
	if len(f.Faults) == 0 {
		return HealthHealthy, ""
	}
	return HealthDegraded, strings.Join(f.Faults, "\n")
}

var (
	hostName  = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$`)
	labelKey  = regexp.MustCompile(`^[a-z0-9]([a-z0-9._/-]{0,61}[a-z0-9])?$`)
	labelVal  = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$`)
	placeName = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$`)
	dnsName   = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$`)
	adminUser = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,31}$`)
)

// CheckHostName tells whether a host can be called so. Unit names and mount
// points are made of it, hence shorter than a DNS label.
func CheckHostName(s string) error {
	if !hostName.MatchString(s) {
		return fmt.Errorf("use 1 to 48 lower-case letters, digits and hyphens; begin and end with a letter or digit")
	}
	return nil
}

// CheckPlace tells whether a region, a zone or a network can be called so.
func CheckPlace(s string) error {
	if !placeName.MatchString(s) {
		return fmt.Errorf("use 1 to 63 lower-case letters, digits, dots, hyphens and underscores; begin and end with a letter or digit")
	}
	return nil
}

// CheckAdminUser tells whether a host's SSH user can be called so.
func CheckAdminUser(s string) error {
	if !adminUser.MatchString(s) {
		return fmt.Errorf("use 1 to 32 lower-case letters, digits, _ and -; begin with a letter or _")
	}
	return nil
}

// CheckLabels tells what is wrong with a set of labels, or returns nil.
func CheckLabels(labels map[string]string) error {
	if len(labels) > 64 {
		return fmt.Errorf("a host has at most 64 labels; there are %d", len(labels))
	}
	for k, v := range labels {
		if !labelKey.MatchString(k) {
			return fmt.Errorf("key %q must be 1 to 63 lower-case letters, digits, dots, slashes, hyphens and underscores", k)
		}
		if v != "" && !labelVal.MatchString(v) {
			return fmt.Errorf("value of %q must be up to 63 letters, digits, dots, hyphens and underscores", k)
		}
	}
	return nil
}

// TargetPolicy says which addresses the control plane may connect to.
type TargetPolicy struct {
	AllowLoopback bool           // for demos and tests on one machine
	Denied        []netip.Prefix // the control plane's own networks
}

var neverTargets = []netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"), // link-local; cloud metadata
	netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("224.0.0.0/3"), // multicast, reserved, broadcast
	netip.MustParsePrefix("ff00::/8"),
	netip.MustParsePrefix("::/128"),
	// What carries an IPv4 address inside, and would lead to it unchecked.
	netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("2001::/32"),
	// Metadata and platform services of clouds, outside the link-local ranges.
	netip.MustParsePrefix("100.100.100.200/32"),     // Alibaba
	netip.MustParsePrefix("168.63.129.16/32"),       // Azure
	netip.MustParsePrefix("192.0.0.192/32"),         // Oracle Cloud at Customer
	netip.MustParsePrefix("fd00:ec2::/112"),         // AWS: metadata, DNS, time
	netip.MustParsePrefix("fd20:ce::254/128"),       // Google
	netip.MustParsePrefix("fd00:c1::a9fe:a9fe/128"), // Oracle
	netip.MustParsePrefix("fd00:42::42/128"),        // Scaleway
}

// IPv4-compatible IPv6 addresses, ::a.b.c.d; ::1 is among them.
var compatible = netip.MustParsePrefix("::/96")

// CheckHostAddress tells whether a host may be reached at this address: an IP
// address or a DNS name. What a name resolves to is checked with CheckTarget
// when the connection is made.
func CheckHostAddress(s string, p TargetPolicy) error {
	if addr, err := netip.ParseAddr(s); err == nil {
		return CheckTarget(addr, p)
	}
	// A last label that is a number makes a resolver read the whole as an IPv4 address in a strange form (RFC 1123, 2.1).
	last := strings.ToLower(s[strings.LastIndexByte(s, '.')+1:])
	if len(s) > 253 || !dnsName.MatchString(s) || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return fmt.Errorf("must be an IP address or a DNS name")
	}
	if strings.EqualFold(s, "localhost") && !p.AllowLoopback {
		return fmt.Errorf("is the loopback address of the control plane, which the configuration does not allow")
	}
	return nil
}

// CheckTarget tells whether the control plane may connect to addr.
func CheckTarget(addr netip.Addr, p TargetPolicy) error {
	addr = addr.Unmap()
	if addr.Zone() != "" {
		return fmt.Errorf("is a link-local address with a zone, which no host can have")
	}
	if addr.IsLoopback() && !p.AllowLoopback {
		return fmt.Errorf("is a loopback address, which the configuration does not allow")
	}
	deny := func(n netip.Prefix) bool { return n.Contains(addr) }
	if slices.ContainsFunc(neverTargets, deny) || compatible.Contains(addr) && !addr.IsLoopback() {
		return fmt.Errorf("is link-local, multicast, reserved or a metadata address")
	}
	if slices.ContainsFunc(p.Denied, deny) {
		return fmt.Errorf("is in a network that the configuration denies")
	}
	return nil
}

// Types of host keys that a host may prove itself by: no DSA, no certificates.
var hostKeyTypes = []string{"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"}

// CheckHostKey tells whether a host may prove itself by this key: one of a type
// and a size that nobody can forge.
func CheckHostKey(key ssh.PublicKey) error {
	if !slices.Contains(hostKeyTypes, key.Type()) {
		return fmt.Errorf("is of type %q; a host is known by one of %s", key.Type(), strings.Join(hostKeyTypes, ", "))
	}
	return checkKeyType(key)
}
