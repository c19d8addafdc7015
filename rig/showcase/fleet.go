package showcase

import (
	"crypto/md5" //nolint:gosec // makes a machine-id look like one
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
)

type place struct{ region, zone string }

var places = []place{{"eu-central", "fra1"}, {"eu-central", "fra2"}, {"eu-north", "sto1"}, {"us-east", "iad1"}, {"us-east", "iad2"}}

// machine is a kind of server.
type machine struct {
	sockets, cpus int // CPUs of all sockets; two NUMA nodes a socket
	memory        int64
	disk          int64
}

var machines = []machine{
	{2, 64, 256 << 30, 4 << 40},
	{2, 128, 1 << 40, 8 << 40},
	{1, 32, 128 << 30, 2 << 40},
}

// states of the first hosts, so that each state is there; all the others are ready.
var unusual = []string{
	"registered", "probing", "awaiting_host_key", "probed", "probed", "initializing", "init_failed", "draining", "draining", "decommissioning",
	"decommission_failed", "decommissioned", "lost",
}

type host struct {
	id      uuid.UUID
	name    string
	state   string
	place   place
	machine machine
	units   []*unit
}

type unit struct {
	id    uuid.UUID
	name  string
	state string
	host  *host
	count int
	// What it has, in bytes.
	memory, volume int64
}

func (h *host) known() bool {
	return h.state != "registered" && h.state != "probing" && h.state != "awaiting_host_key"
}

func (h *host) laidOut() bool { return h.known() && h.state != "probed" }

const (
	hostKey    = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDmTRxm2ZOTFYWCJABU708vnPpq5tCoTpcbZ9h79uJYH"
	offeredKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAsPk4rfWSmkoKF7EAMD/lu1iOZaO4RKirOaGrJdJe3Y"
)

// fleet makes the hosts with their units and allocations, and the jobs that belong to what is under way or failed.
func (w *world) fleet() {
	for n := range w.size.Hosts {
		h := &host{id: w.id(), state: "ready", place: places[n%len(places)], machine: machines[(n/len(places))%len(machines)]}
		h.name = fmt.Sprintf("%s-%03d", h.place.zone, n+1)
		// Spread over the fleet, as trouble is.
		if every := max(w.size.Hosts/len(unusual), 1); n%every == every-1 && n/every < len(unusual) {
			h.state = unusual[n/every]
		}
		w.host(h, n)
		if h.laidOut() {
			w.cut(h)
		}
		w.ofHost(h)
		if h.state == "ready" {
			w.ended = append(w.ended, h)
		}
	}
}

func (w *world) host(h *host, n int) {
	var key, offered, health, message string
	var machineID *string
	var facts, layout any
	var healthAt, factsAt *time.Time
	made := w.ago(time.Duration(40*24-n) * time.Hour)
	health = "unknown"
	if h.state == "awaiting_host_key" {
		offered = offeredKey
	}
	if h.known() {
		key, health = hostKey, "healthy"
		sum := md5.Sum([]byte(h.name))
		id := hex.EncodeToString(sum[:])
		at := w.ago(time.Duration(w.randomBelow(3600)) * time.Second)
		found := w.facts(h, id)
		machineID, facts, factsAt, healthAt = &id, storedFacts{found, found.CPUs}, &made, &at
		switch {
		case h.state == "lost", h.state == "ready" && n%37 == 5:
			health, message = "unreachable", "no answer to SSH for 12 minutes: connect: no route to host"
		case h.state == "ready" && n%29 == 7:
			health, message = "degraded", "the last job that reached it found 2 failed units of systemd"
		}
	}
	if h.laidOut() {
		layout = w.layout(h)
	}
	incarnation := w.id()
	w.hosts.add(h.id, w.workspace, w.org, h.name, fmt.Sprintf("10.20.%d.%d", n/200, n%200+10), 22, "operator1", h.place.region, h.place.zone,
		[]string{"default"}, map[string]string{"rack": fmt.Sprintf("r%02d", n%12+1), "disk": "nvme"}, []string{"minimal", "standard", "build"}[n%3],
		false, key, offered, h.state, health, message, healthAt, machineID, facts, factsAt, layout, w.size.UnitsEach+1, incarnation, h.laidOut(), made, health, message)
	w.agent(h, n, incarnation, made)
	w.locks.add(h.id, int64(w.randomBelow(40)))
}

// storedFacts are facts as a row has them, where the CPUs have another name than in the API.
type storedFacts struct {
	api.HostFacts
	CPUs []api.HostCPU `json:"cpus"`
}

func (w *world) facts(h *host, machineID string) api.HostFacts {
	m := h.machine
	f := api.HostFacts{
		MachineID: machineID, Hostname: h.name, Kernel: "6.1.0-28-amd64", Architecture: "x86_64", MemoryBytes: m.memory,
		OS:     api.HostOS{ID: "debian", VersionID: "12", Name: "Debian GNU/Linux 12 (bookworm)"},
		Uplink: api.HostUplink{Interface: "bond0", Address: "10.20.0.2", Prefix: 16, Gateway: "10.20.0.1"},
		Capabilities: api.HostCapabilities{
			CGroup2: true, CPUSet: true, AppArmor: true, NFTables: true, LVM: true, Systemd: "252", Python: "3.11.2",
		},
		VolumeGroups: []api.HostVG{},
	}
	nodes := m.sockets * 2
	each := m.cpus / nodes
	for n := range nodes {
		f.Nodes = append(f.Nodes, api.HostNode{Node: n, CPUs: fmt.Sprintf("%d-%d", n*each, (n+1)*each-1), MemoryBytes: m.memory / int64(nodes)})
	}
	for c := range m.cpus {
		f.CPUs = append(f.CPUs, api.HostCPU{CPU: c, Node: c / each, Socket: c / each / 2, Core: c})
	}
	for d := range 2 {
		f.Devices = append(f.Devices, api.HostDevice{
			Path: fmt.Sprintf("/dev/nvme%dn1", d), ByID: fmt.Sprintf("/dev/disk/by-id/nvme-%s-%d", h.name, d), SizeBytes: m.disk / 2, Discard: true,
			Model: "Samsung PM9A3", Serial: fmt.Sprintf("S64%06d", w.randomBelow(1e6)), Signatures: []string{},
		})
	}
	return f
}

// each is how many CPUs a unit of the host has, and how many CPUs the system keeps.
func (w *world) each(h *host) (cpus, system int) {
	cpus = max((h.machine.cpus-2)/max(w.size.UnitsEach, 1), 1)
	return cpus, h.machine.cpus - cpus*w.size.UnitsEach
}

func (w *world) layout(h *host) api.Layout {
	cpus, system := w.each(h)
	l := api.Layout{
		SystemCPUs: fmt.Sprintf("0-%d", max(system-1, 0)), VolumeGroup: "kloigos-vg", Devices: []string{"/dev/disk/by-id/nvme-" + h.name + "-1"},
		SystemMemoryBytes: h.machine.memory / 20, VolumeSpaceBytes: h.machine.disk / 2, Units: []api.LayoutUnit{},
	}
	for n := range w.size.UnitsEach {
		u := w.share(h, n)
		u.CPUs, u.CPUCount = cpuSet(system+n*cpus, cpus), cpus
		l.Units = append(l.Units, u)
	}
	return l
}

// share is the nth unit's part of the host's memory and disk.
func (w *world) share(h *host, n int) api.LayoutUnit {
	memory := (h.machine.memory - h.machine.memory/20) / int64(w.size.UnitsEach)
	return api.LayoutUnit{
		MemoryNodes: fmt.Sprint(n * h.machine.sockets * 2 / w.size.UnitsEach), MemoryMaxBytes: memory, MemoryHighBytes: memory / 100 * 95,
		VolumeBytes: h.machine.disk / 2 / int64(w.size.UnitsEach), TasksMax: 2048,
	}
}

// cut makes the units of a host, and gives most of them to tenants.
func (w *world) cut(h *host) {
	cpus, system := w.each(h)
	for n := range w.size.UnitsEach {
		u := &unit{id: w.id(), name: fmt.Sprintf("%s-cu%02d", h.name, n+1), host: h, count: cpus, state: w.unitState(h, n)}
		h.units = append(h.units, u)
		first, message := system+n*cpus, ""
		switch u.state {
		case "unavailable":
			message = "closed by admin: its disk is being looked at"
		case "preparation_failed", "allocation_failed", "deallocation_failed":
			message = whyFailed(u.state)
		}
		share := w.share(h, n)
		u.memory, u.volume = share.MemoryMaxBytes, share.VolumeBytes
		w.units.add(u.id, w.workspace, h.id, n+1, u.name, u.state, cpuSet(first, cpus), cpus, share.MemoryNodes,
			share.MemoryMaxBytes, share.MemoryHighBytes, share.VolumeBytes, share.TasksMax, w.random.Int32(), message, h.place.zone, w.ago(39*24*time.Hour))
		if u.state != "removed" {
			for c := range cpus {
				w.cpus.add(h.id, first+c, u.id)
			}
		}
		w.tenant(u)
	}
}

// whyFailed is the message of a unit, as the job that failed it told.
func whyFailed(state string) string {
	of := storyOf(map[string]string{"preparation_failed": "host_initialize", "allocation_failed": "unit_allocate", "deallocation_failed": "unit_deallocate"}[state])
	return of.why + ": " + of.more
}

// unitState is the state of the nth unit, one that its host's allows.
func (w *world) unitState(h *host, n int) string {
	switch h.state {
	case "initializing":
		return "preparing"
	case "init_failed":
		return []string{"preparation_failed", "free"}[min(n%3, 1)]
	case "decommissioning":
		return "removing"
	case "decommission_failed":
		return "unavailable"
	case "decommissioned", "lost":
		return "removed"
	}
	switch chance := w.randomBelow(1000); {
	case chance < 650:
		return "allocated"
	case chance < 655:
		return "allocating"
	case chance < 659:
		return "deallocating"
	case chance < 662:
		return "allocation_failed"
	case chance < 664:
		return "deallocation_failed"
	case chance < 672:
		return "unavailable"
	default:
		return "free"
	}
}

var people = []string{"ada", "grace", "linus", "edsger", "barbara", "donald", "margaret", "ken", "radia", "tim"}

// tenant makes the allocation that a unit's state asks for, with its address and UID, and the job that is at it.
func (w *world) tenant(u *unit) {
	switch u.state {
	case "allocated", "allocating", "deallocating", "allocation_failed", "deallocation_failed":
	default:
		return
	}
	w.given++
	id, login := w.id(), fmt.Sprintf("%s-%04d", pick(w, people), w.given)
	message := ""
	if u.state == "allocation_failed" || u.state == "deallocation_failed" {
		message = whyFailed(u.state)
	}
	uid := int64(65_536 + w.given)
	w.allocations.add(id, w.workspace, u.id, u.host.id, login, uid, address(w.given), "default", []string{hostKey + " " + login},
		map[string]string{"team": pick(w, []string{"search", "payments", "data", "web"})}, u.state, message, pick(w, people[:4]), int64(1),
		w.ago(time.Duration(w.randomBelow(30*24))*time.Hour), nil)
	w.uids.add(uid, id)
	state := map[string]string{"allocated": "allocated", "deallocating": "releasing", "deallocation_failed": "releasing"}[u.state]
	if state == "" {
		state = "reserved"
	}
	w.address(w.given, state, &id)
	w.used(u, id)
	w.ofUnit(u, id)
}

// used measures a tenant: most of them some minutes ago, every fifth never, and one in nine when nothing ran there. It
// takes nothing from the random numbers, which the rest is made of.
func (w *world) used(u *unit, allocation uuid.UUID) {
	n := int64(w.given)
	if u.state != "allocated" || n%5 == 3 {
		return
	}
	at := w.ago(time.Duration(n%50) * time.Minute)
	disk := u.volume / 100 * 98
	if n%9 == 4 {
		w.use.add(u.id, allocation, at, nil, nil, nil, nil, disk/50, disk)
		return
	}
	memory := u.memory / 100 * (7 + n*37%90)
	w.use.add(u.id, allocation, at, int64(u.count)*(n*173%1000), memory, memory/100*(n*29%70), 3+n*331%2000, disk/100*(2+n*41%96), disk)
}

func address(n int) string { return fmt.Sprintf("10.64.%d.%d", n/250, n%250+1) }

func (w *world) address(n int, state string, allocation *uuid.UUID) {
	w.addresses.add(w.id(), w.workspace, "default", address(n), int64(10<<24+64<<16+(n/250)<<8+n%250+1), state, allocation, w.random.Int32())
}

// pool adds addresses that nobody has, a few of them closed.
func (w *world) pool() {
	for n := range w.given/4 + 20 {
		w.address(w.given+n+1, []string{"free", "free", "free", "free", "free", "free", "free", "free", "free", "unavailable"}[n%10], nil)
	}
}

// cpuSet writes n CPUs as the product does.
func cpuSet(first, n int) string {
	if n == 1 {
		return strconv.Itoa(first)
	}
	return fmt.Sprintf("%d-%d", first, first+n-1)
}
