package domain

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
)

// DefaultVolumeGroup is the volume group that units' volumes are made in.
const DefaultVolumeGroup = "kloigos-vg"

// TasksMax is the limit of tasks of one unit.
const TasksMax = 2048

const (
	extent = 4 << 20 // bytes of an LVM extent
	// Metadata of LVM at the head of a device, rounded up to whole extents.
	deviceOverhead = 2 * extent
	// MinVolume is the smallest volume that an ext4 file system with a
	// journal and a home is useful on.
	MinVolume = 64 << 20
	// MinMemory is the least memory that a person can log in to.
	MinMemory = 64 << 20
)

// LayoutRequest asks for a cut of a host: either Units, or Count units of
// CPUsEach CPUs that are laid out along NUMA nodes.
type LayoutRequest struct {
	SystemCPUs         string // empty: the first core of the first node
	Units              []LayoutUnit
	Count, CPUsEach    int
	VolumeGroup        string   // empty: DefaultVolumeGroup
	Devices            []string // by-id paths to make the volume group of
	SystemMemoryBytes  int64    // kept for the system; 0: DefaultSystemMemory
	DefaultVolumeBytes int64    // 0: each unit's share of the volume group
}

// LayoutUnit is one unit asked for.
type LayoutUnit struct {
	CPUs        string
	VolumeBytes int64 // 0: its share
}

// Layout is how a host is cut. Sizes are in bytes.
type Layout struct {
	SystemCPUs        string   `json:"system_cpus"`
	VolumeGroup       string   `json:"volume_group"`
	Devices           []string `json:"devices"`
	SystemMemoryBytes int64    `json:"system_memory_bytes"`
	// VolumeSpaceBytes is what the volumes of all units share: the free space of
	// the volume group before any of them was made.
	VolumeSpaceBytes int64 `json:"volume_space_bytes"`
	// ReservedCPUs and ReservedMemoryBytes are what something else on the host
	// has, as the facts told: neither the system nor units are given it.
	ReservedCPUs        string       `json:"reserved_cpus,omitempty"`
	ReservedMemoryBytes int64        `json:"reserved_memory_bytes,omitempty"`
	Units               []UnitLayout `json:"units"`
}

// UnitLayout is what one unit of a layout is made of.
type UnitLayout struct {
	// Kept is the name of a unit that was there when the layout was set and
	// stays as it is; "" of a new one.
	Kept            string `json:"kept,omitempty"`
	CPUs            string `json:"cpus"`
	CPUCount        int    `json:"cpu_count"`
	MemoryNodes     string `json:"memory_nodes"`
	MemoryMaxBytes  int64  `json:"memory_max_bytes"`
	MemoryHighBytes int64  `json:"memory_high_bytes"`
	VolumeBytes     int64  `json:"volume_bytes"`
	TasksMax        int    `json:"tasks_max"`
}

// DefaultSystemMemory is what the system keeps unless told otherwise: a
// twentieth, at least 512 MiB, at most 16 GiB.
func DefaultSystemMemory(total int64) int64 {
	return min(max(total/20, 512<<20), 16<<30)
}

// PlanLayout computes a layout for a host with these facts. All problems are
// reported together, as an *Invalid.
func PlanLayout(f Facts, r LayoutRequest) (Layout, error) {
	var bad Invalid
	p, out, cut := checkLayout(f, r, &bad)
	if err := bad.OrNil(); err != nil {
		return Layout{}, err
	}
	out.Units = p.shares(cut, out.SystemMemoryBytes, &bad)
	return out, bad.OrNil()
}

// CheckLayout looks at each field by itself: what PlanLayout says before it
// computes shares.
func CheckLayout(f Facts, r LayoutRequest) error {
	var bad Invalid
	checkLayout(f, r, &bad)
	return bad.OrNil()
}

// cut is what a layout is computed from.
type cut struct {
	sets    []CPUSet // one a unit
	volumes []int64  // one a unit; 0: its share
	system  CPUSet
	space   int64 // that volumes share
	cpus    int64 // that share it
}

func checkLayout(f Facts, r LayoutRequest, bad *Invalid) (planner, Layout, cut) {
	p := plannerOf(f)
	out := Layout{VolumeGroup: r.VolumeGroup, Devices: slices.Clone(r.Devices)}
	if out.VolumeGroup == "" {
		out.VolumeGroup = DefaultVolumeGroup
	}
	bad.Check("volume_group", CheckVolumeGroup(out.VolumeGroup))
	var c cut
	c.system = p.systemCPUs(r, bad)
	out.SystemCPUs = c.system.String()
	c.sets, c.volumes = p.unitCPUs(r, bad)
	out.SystemMemoryBytes = p.systemMemory(r, bad)
	out.VolumeSpaceBytes = p.volumeSpace(out, bad)
	out.ReservedCPUs, out.ReservedMemoryBytes = p.taken(c.system)
	c.space = out.VolumeSpaceBytes
	for _, cpu := range f.CPUs {
		if p.forUnits(cpu.CPU, c.system) {
			c.cpus++
		}
	}
	return p, out, c
}

type planner struct {
	facts    Facts
	online   map[int]CPU
	owner    map[int]string // CPU -> who has it
	reserved map[int]string // CPU -> what else on the host has it
}

func plannerOf(f Facts) planner {
	p := planner{facts: f, online: map[int]CPU{}, owner: map[int]string{}, reserved: map[int]string{}}
	for _, c := range f.CPUs {
		p.online[c.CPU] = c
	}
	for _, r := range f.ReservedCPUs {
		set, err := ParseCPUSet(r.CPUs)
		if err != nil {
			continue // [Facts.Clean] left none
		}
		for _, c := range set {
			if _, online := p.online[c]; online && p.reserved[c] == "" {
				p.reserved[c] = r.By
			}
		}
	}
	return p
}

// forUnits tells whether units may have a CPU.
func (p *planner) forUnits(cpu int, system CPUSet) bool {
	return p.reserved[cpu] == "" && !system.Contains(cpu)
}

// taken is what neither the system nor units are given.
func (p *planner) taken(system CPUSet) (cpus string, memory int64) {
	var set CPUSet
	for _, c := range slices.Sorted(maps.Keys(p.reserved)) {
		if !system.Contains(c) {
			set = append(set, c)
		}
	}
	for _, n := range p.facts.Nodes {
		memory += min(n.ReservedBytes, n.MemoryBytes)
	}
	return set.String(), memory
}

// theSystem is the owner of the CPUs that are kept for everything that is no unit.
const theSystem = "the system"

func (p *planner) take(field, who string, set CPUSet, bad *Invalid) {
	var offline CPUSet
	taken := map[string]CPUSet{}
	for _, c := range set {
		by, owned := p.owner[c]
		switch _, online := p.online[c]; {
		case !online:
			offline = append(offline, c)
		case owned:
			taken[by] = append(taken[by], c)
		case p.reserved[c] != "" && who != theSystem: // the system may be with it
			taken[p.reserved[c]] = append(taken[p.reserved[c]], c)
		default:
			p.owner[c] = who
		}
	}
	if len(offline) > 0 {
		bad.Add(field, "CPUs %s are not online on this host", offline)
	}
	for _, by := range slices.Sorted(maps.Keys(taken)) {
		bad.Add(field, "CPUs %s already belong to %s", taken[by], by)
	}
}

func (p *planner) systemCPUs(r LayoutRequest, bad *Invalid) CPUSet {
	if r.SystemCPUs != "" {
		set, err := ParseCPUSet(r.SystemCPUs)
		if err != nil {
			bad.Check("system_cpus", err)
			return nil
		}
		p.take("system_cpus", theSystem, set, bad)
		return set
	}
	if len(p.facts.CPUs) == 0 {
		bad.Add("system_cpus", "the host has not been probed")
		return nil
	}
	first := slices.MinFunc(p.facts.CPUs, func(a, b CPU) int { // of those that nothing else has, while there are any
		return cmp.Or(cmp.Compare(min(len(p.reserved[a.CPU]), 1), min(len(p.reserved[b.CPU]), 1)), cmp.Compare(a.CPU, b.CPU))
	})
	named := CPUSet{}
	for _, u := range r.Units { // a default never takes what a unit names
		set, err := ParseCPUSet(u.CPUs)
		if err == nil {
			named = append(named, set...)
		}
	}
	var set CPUSet
	for _, c := range p.facts.CPUs {
		if c.Node == first.Node && c.Socket == first.Socket && c.Core == first.Core && !slices.Contains(named, c.CPU) {
			set = append(set, c.CPU)
		}
	}
	slices.Sort(set)
	if len(set) == 0 {
		bad.Add("system_cpus", "choose the CPUs of the system; the units would take the host's first core")
		return nil
	}
	p.take("system_cpus", theSystem, set, bad)
	return set
}

func (p *planner) unitCPUs(r LayoutRequest, bad *Invalid) (sets []CPUSet, volumes []int64) {
	if len(r.Units) > 0 {
		if r.Count != 0 || r.CPUsEach != 0 {
			bad.Add("units", "give either units, or count with cpus_each; not both")
		}
		if len(r.Units) > len(p.online) {
			bad.Add("units", "%d units on a host of %d CPUs", len(r.Units), len(p.online))
			return nil, nil
		}
		for i, u := range r.Units {
			field := fmt.Sprintf("units[%d].cpus", i)
			if u.VolumeBytes != 0 && u.VolumeBytes < MinVolume {
				bad.Add(fmt.Sprintf("units[%d].volume_bytes", i), "%d bytes are too few for a volume; at least %d are needed", u.VolumeBytes, int64(MinVolume))
			}
			set, err := ParseCPUSet(u.CPUs)
			if err != nil {
				bad.Check(field, err)
				continue
			}
			p.take(field, fmt.Sprintf("units[%d]", i), set, bad)
			sets, volumes = append(sets, set), append(volumes, u.VolumeBytes)
		}
		return sets, volumes
	}
	if r.Count < 1 || r.CPUsEach < 1 {
		bad.Add("count", "give units, or count and cpus_each, each at least 1")
		return nil, nil
	}
	available := 0
	for c := range p.online {
		if _, owned := p.owner[c]; !owned && p.reserved[c] == "" {
			available++
		}
	}
	if r.Count > available || r.CPUsEach > available || r.Count*r.CPUsEach > available {
		bad.Add("count", "%d units of %d CPUs do not fit: %d of the host's %d CPUs are left after those of the system%s", r.Count, r.CPUsEach, available, len(p.online), p.besides())
		return nil, nil
	}
	sets = p.alongNodes(r.Count, r.CPUsEach)
	return sets, slices.Repeat([]int64{r.DefaultVolumeBytes}, len(sets))
}

// alongNodes fills node after node, whole cores first, and lets a unit span
// nodes only with what no node could take whole.
func (p *planner) alongNodes(count, each int) []CPUSet {
	free := map[int][]CPU{}
	for _, c := range p.facts.CPUs {
		if _, taken := p.owner[c.CPU]; !taken && p.reserved[c.CPU] == "" {
			free[c.Node] = append(free[c.Node], c)
		}
	}
	nodes := slices.Sorted(maps.Keys(free))
	var sets []CPUSet
	var rest []CPU
	for _, n := range nodes {
		slices.SortFunc(free[n], func(a, b CPU) int {
			return cmp.Or(cmp.Compare(a.Socket, b.Socket), cmp.Compare(a.Core, b.Core), cmp.Compare(a.CPU, b.CPU))
		})
		for len(free[n]) >= each && len(sets) < count {
			sets = append(sets, numbers(free[n][:each]))
			free[n] = free[n][each:]
		}
		rest = append(rest, free[n]...)
	}
	for len(sets) < count {
		sets = append(sets, numbers(rest[:each]))
		rest = rest[each:]
	}
	return sets
}

// besides words who else has CPUs: units that stay, and what else is on the host.
func (p *planner) besides() (text string) {
	for _, who := range p.owner {
		if who != theSystem {
			text = " and those of the units that stay"
		}
	}
	if len(p.reserved) > 0 {
		text += fmt.Sprintf(" and %s, which something else on the host has", CPUSet(slices.Sorted(maps.Keys(p.reserved))))
	}
	return text
}

func numbers(cpus []CPU) CPUSet {
	set := make(CPUSet, len(cpus))
	for i, c := range cpus {
		set[i] = c.CPU
	}
	slices.Sort(set)
	return set
}

func (p *planner) systemMemory(r LayoutRequest, bad *Invalid) int64 {
	total := p.nodesMemory()
	reserve := r.SystemMemoryBytes
	if reserve == 0 {
		reserve = DefaultSystemMemory(total)
	}
	if reserve < 256<<20 || reserve >= total {
		bad.Add("system_memory_bytes", "must be at least 256 MiB and less than the host's %d bytes", total)
	}
	return reserve
}

func (p *planner) nodesMemory() int64 {
	var all int64
	for _, n := range p.facts.Nodes {
		all += n.available()
	}
	return all
}

// volumeSpace is what units can share: the free space of the volume group that
// is there, and of the devices that will be given to it.
func (p *planner) volumeSpace(l Layout, bad *Invalid) int64 {
	var space int64
	exists := false
	for _, vg := range p.facts.VolumeGroups {
		if vg.Name == l.VolumeGroup {
			exists, space = true, vg.FreeBytes
		}
	}
	if !exists && len(l.Devices) == 0 {
		bad.Add("devices", "the host has no volume group %q; choose the disks to create it from", l.VolumeGroup)
	}
	return space + p.deviceSpace(l.Devices, nil, bad)
}

// deviceSpace is what disks add to a volume group. Those that it has already
// add nothing.
func (p *planner) deviceSpace(devices, has []string, bad *Invalid) (space int64) {
	for i, name := range devices {
		if slices.Contains(has, name) {
			continue
		}
		field := fmt.Sprintf("devices[%d]", i)
		at := slices.IndexFunc(p.facts.Devices, func(d Device) bool { return d.ByID == name && name != "" })
		switch {
		case at < 0:
			bad.Add(field, "%q is not the by-id path of a disk that the probe saw", name)
		case slices.Contains(devices[:i], name):
			bad.Add(field, "%q is named twice", name)
		case p.facts.Devices[at].ReadOnly:
			bad.Add(field, "%q is read-only", name)
		case p.facts.Devices[at].Mounted || p.facts.Devices[at].Partitions > 0 || len(p.facts.Devices[at].Signatures) > 0:
			bad.Add(field, "%q is not empty: it has %s. A disk with a signature is never taken; wipe it on the host if nothing on it is needed", name, contents(p.facts.Devices[at]))
		case p.facts.Devices[at].SizeBytes < deviceOverhead+MinVolume:
			bad.Add(field, "%q is too small: it has %d bytes", name, p.facts.Devices[at].SizeBytes)
		default:
			space += (p.facts.Devices[at].SizeBytes - deviceOverhead) / extent * extent
		}
	}
	return space
}

func contents(d Device) string {
	switch {
	case len(d.Signatures) > 0:
		return fmt.Sprintf("signatures %v", d.Signatures)
	case d.Partitions > 0:
		return fmt.Sprintf("%d partitions", d.Partitions)
	default:
		return "a mounted file system"
	}
}

// shares gives each unit its part of memory and disk. Memory goes by node: of
// each node a unit gets (memory of the node - the system's reserve there) *
// its CPUs on the node / the allocatable CPUs of the node, so that no mixture
// of units that span nodes can promise more than there is. CPUs on nodes
// without memory share that of all others, as if each were spread over those.
func (p *planner) shares(c cut, reserve int64, bad *Invalid) []UnitLayout {
	sets, volumes, system := c.sets, c.volumes, c.system
	pools := p.pools(system, reserve)
	var units []UnitLayout
	var promised int64
	for i, set := range sets {
		u := UnitLayout{CPUs: set.String(), CPUCount: len(set), TasksMax: TasksMax, VolumeBytes: volumes[i]}
		u.MemoryNodes, u.MemoryMaxBytes = pools.shareOf(set, p.online)
		u.MemoryMaxBytes &^= 4095 // whole pages, as the kernel rounds
		if u.MemoryMaxBytes < MinMemory {
			bad.Add(fmt.Sprintf("units[%d]", i), "its CPUs' share of memory on NUMA nodes %s is %d bytes; at least %d are needed", u.MemoryNodes, u.MemoryMaxBytes, int64(MinMemory))
		}
		u.MemoryHighBytes = u.MemoryMaxBytes / 100 * 95 &^ 4095
		if u.VolumeBytes == 0 {
			u.VolumeBytes = c.space / c.cpus * int64(len(set))
		}
		u.VolumeBytes = u.VolumeBytes / extent * extent
		if u.VolumeBytes < MinVolume {
			bad.Add(fmt.Sprintf("units[%d].volume_bytes", i), "%d bytes are too few for a volume; at least %d are needed", u.VolumeBytes, int64(MinVolume))
		}
		promised += min(u.VolumeBytes, math.MaxInt64-promised)
		units = append(units, u)
	}
	if promised > c.space {
		bad.Add("units", "their volumes need %d bytes; the volume group has %d bytes free", promised, c.space)
	}
	return units
}

// pools are the nodes that have memory, with what of it units share.
type pools struct {
	nodes []pool
	bare  int64 // CPUs of units on nodes without memory
	all   int64 // memory of all pools
}

type pool struct {
	node   int
	memory int64 // that units share
	cpus   int64 // of the node, that units may have
}

func (p *planner) pools(system CPUSet, reserve int64) (all pools) {
	at := map[int]int{}
	for _, n := range p.facts.Nodes {
		if n.available() > 0 {
			at[n.Node] = len(all.nodes)
			all.nodes = append(all.nodes, pool{node: n.Node, memory: p.nodeMemory(n, reserve)})
			all.all += n.available()
		}
	}
	for _, c := range p.facts.CPUs {
		if !p.forUnits(c.CPU, system) {
			continue
		}
		if i, has := at[c.Node]; has {
			all.nodes[i].cpus++
		} else {
			all.bare++
		}
	}
	return all
}

// shareOf is what a set of CPUs gets: its nodes with memory, and its share of that.
// Bare CPUs are spread over all pools by the memory that those have.
func (a pools) shareOf(set CPUSet, online map[int]CPU) (nodes string, bytes int64) {
	onNode, bare := map[int]int64{}, int64(0)
	for _, c := range set {
		if slices.ContainsFunc(a.nodes, func(n pool) bool { return n.node == online[c].Node }) {
			onNode[online[c].Node]++
		} else {
			bare++
		}
	}
	var named CPUSet
	for _, n := range a.nodes {
		if onNode[n.node] == 0 && bare == 0 {
			continue
		}
		named = append(named, n.node)
		bytes += n.share(onNode[n.node], bare, a)
	}
	slices.Sort(named)
	return named.String(), bytes
}

// share is memory * (cpus + bare * part) / (all cpus of the node + all bare CPUs
// * part), where part is what of all memory the pool has.
func (n pool) share(cpus, bare int64, a pools) int64 {
	if a.bare == 0 {
		return n.memory * cpus / n.cpus
	}
	big64 := big.NewInt
	weight := func(cpus, bare int64) *big.Int { // times the memory of all pools
		own := new(big.Int).Mul(big64(cpus), big64(a.all))
		return own.Add(own, new(big.Int).Mul(big64(bare), big64(n.memory)))
	}
	all := weight(n.cpus, a.bare)
	if all.Sign() == 0 {
		return 0
	}
	got := new(big.Int).Mul(big64(n.memory), weight(cpus, bare))
	return got.Div(got, all).Int64()
}

// nodeMemory is what a node can give to units: the system's reserve is taken
// from each node by its part of all memory.
func (p *planner) nodeMemory(n Node, reserve int64) int64 {
	here, all := n.available(), p.nodesMemory()
	return max(here-int64(math.Ceil(float64(reserve)*(float64(here)/float64(all)))), 0)
}

// Fits tells what of a layout can't be any more on a host with these facts: it
// was planned against older ones.
func (l Layout) Fits(f Facts) error {
	online := map[int]bool{}
	for _, c := range f.CPUs {
		online[c.CPU] = true
	}
	cut := append([]string{l.SystemCPUs}, cpusOf(l.Units)...)
	for _, text := range cut {
		set, err := ParseCPUSet(text)
		if err != nil {
			return err
		}
		for _, c := range set {
			if !online[c] {
				return fmt.Errorf("CPU %d of the layout is no longer online", c)
			}
		}
	}
	var promised, there int64
	for _, u := range l.Units {
		promised += u.MemoryMaxBytes
	}
	for _, n := range f.Nodes {
		there += n.available()
	}
	// The system's part is room for what a kernel has more or less after an update.
	if promised > there {
		return fmt.Errorf("the units of the layout are promised %d bytes of memory; the host has %d, huge pages apart", promised, there)
	}
	return nil
}

func cpusOf(units []UnitLayout) []string {
	all := make([]string, len(units))
	for i, u := range units {
		all[i] = u.CPUs
	}
	return all
}
