package host

import (
	"slices"
	"strconv"
	"strings"

	"kloigos/backend/api"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

type listView struct {
	Sort                        ui.Sorter
	Columns                     ui.Columns
	Hosts                       []api.Host
	State, Region, Zone, Search string
	Labels                      string
	Pages                       ui.Pages
	Filtered                    bool
}

// selectable are the hosts of the page that one job can probe.
func (v listView) selectable() (hosts []api.Host) {
	for _, h := range v.Hosts {
		if allowed(h, "probe-together") {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

type detailView struct {
	Host   api.Host
	Units  []api.ComputeUnit
	Drifts []api.Drift // what is not as promised
	Agent  *api.Agent  // that is enrolled, or else a quarantined one; nil if there is none
	Object object.View
	// Who may use the host, for those who may see that.
	MayShare bool
	Grants   []api.HostGrant
}

// unitParts are the units of a host by what their states mean.
func unitParts(units map[string]int) []ui.Part {
	order := []string{"allocated", "free", "preparing", "allocating", "deallocating", "removing", "unavailable", "allocation_failed", "deallocation_failed", "preparation_failed"}
	var parts []ui.Part
	for _, s := range order {
		if n := units[s]; n > 0 {
			parts = append(parts, ui.Part{Tone: states.Unit(s), Word: ui.Word(s), Count: n})
		}
	}
	return parts
}

// means says what the state of a host means while it is as healthy as it is: of
// one that does not answer nothing can be allocated.
func means(h api.Host) string {
	if h.State == "ready" && h.Health == "unreachable" {
		return "it does not answer, so its free units can't be allocated until it does"
	}
	return h.StateMeans
}

// carries says which units a host has that is not set up.
func carries(h api.Host) string {
	switch n := live(h.Units); {
	case n == 0:
		return "It carries no units yet."
	case h.Units["free"] > 0:
		return "Not all of its units could be prepared, and none can be allocated yet."
	default:
		return "Its units are not prepared yet."
	}
}

// live is how many units there are that are not removed.
func live(units map[string]int) int {
	n := 0
	for s, c := range units {
		if s != "removed" {
			n += c
		}
	}
	return n
}

// operation words what can be done with a host; the rest comes from the API.
func operation(h api.Host, name string) (o ui.Operation, ok bool) {
	at := "/hosts/" + h.ID
	o = ui.Operation{Action: at + "/" + name}
	confirm := func() { o.Confirm, o.Typed, o.Danger = h.Name, "the host's name", true }
	switch name {
	case "update":
		o.Label, o.Href, o.Action = "Edit", at+"/edit", ""
		o.What = "Changes its labels, place, networks, packages or address."
	case "probe":
		o.Label, o.What = "Probe", "Reads CPUs, memory, disks and system of the host. Changes nothing on it."
	case "measure":
		o.Label, o.What = "Measure usage", "Measures CPU, memory, processes and disk of each tenant. Changes nothing on the host."
	case "set-layout":
		o.Label, o.Href, o.Action = "Set the layout", at+"/layout", ""
		o.What = "Choose the CPUs of the system and of each unit, and the disks."
		o.Main = h.State == "probed" && h.Layout == nil
	case "relayout":
		o.Label, o.Href, o.Action = "Change the layout", at+"/layout", ""
		o.What = "Replaces the free units by others. Units in use and their tenants stay unchanged."
	case "initialize":
		o.Label, o.Plan = "Initialize", true
		o.What = "Installs packages, creates the volume group and a volume for each unit, and confines the system to its own CPUs."
		o.Main = (h.State == "probed" && h.Layout != nil) || h.State == "init_failed"
		if h.State == "decommission_failed" {
			o.What = "Prepares the host again, to keep it. Its units are closed afterwards; open the ones to use."
		}
		if h.State == "ready" || h.State == "init_failed" {
			o.Label, o.What = "Initialize again", "Runs the preparation again. Completed parts stay as they are, and tenants are not disturbed."
		}
	case "drain":
		o.Label, o.What = "Drain", "Stops new allocations on this host. Existing ones stay."
	case "undrain":
		o.Label, o.What = "End the drain", "Allows new allocations on this host again."
	case "decommission":
		o.Label, o.What = "Decommission", "Removes everything of Kloigos from the host: units, volumes and their content, limits, fence."
		o.Plan = true
		confirm()
	case "declare-lost":
		o.Label, o.What = "Declare lost", "For a machine that is off for good. Its allocations end, its addresses go into quarantine, and its units are gone."
		confirm()
	case "remove":
		o.Label, o.What = "Remove", "Removes the host from Kloigos. Nothing changes on the host itself."
		confirm()
	case "refence":
		o.Label, o.What = "Re-fence and initialize", "Takes over a host from another installation or from an older state of the database. Only if no other Kloigos manages it."
		o.Plan = true
		confirm()
	default:
		return o, false
	}
	return o, true
}

// needsFence tells whether it makes sense to offer the taking over of a host: its
// fence is another's, or stood in the way of what failed, perhaps.
func needsFence(h api.Host) bool {
	if h.State != "probed" {
		return h.State == "init_failed" || h.State == "decommission_failed"
	}
	return slices.ContainsFunc(h.Operations, func(o api.Operation) bool { return o.Name == "refence" && o.Allowed }) &&
		!slices.ContainsFunc(h.Operations, func(o api.Operation) bool { return o.Name == "initialize" && o.Allowed })
}

func operations(h api.Host) (can, cannot []ui.Operation) {
	for _, given := range h.Operations {
		name := strings.ReplaceAll(given.Name, "_", "-")
		o, ok := operation(h, name)
		if !ok {
			continue
		}
		o.Allowed, o.Prevents = given.Allowed, given.Prevents
		if name == "refence" && !needsFence(h) {
			continue
		}
		if o.Allowed {
			can = append(can, o)
		} else {
			cannot = append(cannot, o)
		}
	}
	// The next step first.
	for i, o := range can {
		if o.Main && i > 0 {
			copy(can[1:i+1], can[:i])
			can[0] = o
			break
		}
	}
	return can, cannot
}

// What the list shows of a host's facts, "" of one that was not probed yet.

func cpusOf(h api.Host) string {
	if h.Facts == nil {
		return ""
	}
	return strconv.Itoa(len(h.Facts.CPUs))
}

func memoryOf(h api.Host) string {
	if h.Facts == nil {
		return ""
	}
	return ui.Bytes(h.Facts.MemoryBytes)
}

func systemOf(h api.Host) string {
	if h.Facts == nil {
		return ""
	}
	return h.Facts.OS.Name
}

// volumeGroupOf is what the volumes of a host's units share.
func volumeGroupOf(h api.Host) string {
	if h.Layout == nil || h.Layout.VolumeSpaceBytes == 0 {
		return ""
	}
	return ui.Bytes(h.Layout.VolumeSpaceBytes)
}

// place is the region and the zone of a host.
func place(h api.Host) string { return strings.Trim(h.Region+", "+h.Zone, ", ") }

func allowed(h api.Host, name string) bool {
	for _, o := range h.Operations {
		if strings.ReplaceAll(o.Name, "_", "-") == name {
			return o.Allowed
		}
	}
	return false
}

// owners names who has each CPU, out of the units that live on the host.
type owners map[int]ui.CPU

func (o owners) give(cpus string, who ui.CPU) {
	for _, c := range parseCPUs(cpus) {
		o[c] = who
	}
}

func ownersOfUnits(h api.Host, units []api.ComputeUnit) owners {
	o := owners{}
	if h.Layout != nil {
		o.give(h.Layout.SystemCPUs, ui.CPU{Owner: ui.OwnerSystem, Label: "system"})
	}
	for _, u := range units {
		if u.State != "removed" {
			o.give(u.CPUs, ui.CPU{Owner: u.Ordinal - 1, Label: shortName(u.Ordinal), Name: u.Name})
		}
	}
	return o
}

func ownersOfLayout(l api.Layout) owners {
	o := owners{}
	o.give(l.SystemCPUs, ui.CPU{Owner: ui.OwnerSystem, Label: "system"})
	for i, u := range l.Units {
		name := unitLabel(l, i)
		o.give(u.CPUs, ui.CPU{Owner: i, Label: name, Name: name})
	}
	return o
}

// unitLabel names a unit of a layout: one that stays by its own name, beside
// which the others are new.
func unitLabel(l api.Layout, i int) string {
	kept := 0
	for _, u := range l.Units {
		if u.Kept != "" {
			kept++
		}
	}
	switch {
	case l.Units[i].Kept != "":
		return l.Units[i].Kept[strings.LastIndex(l.Units[i].Kept, "-")+1:]
	case kept > 0:
		return "new " + strconv.Itoa(i+1-kept)
	default:
		return "unit " + strconv.Itoa(i+1)
	}
}

func shortName(ordinal int) string {
	s := strconv.Itoa(ordinal)
	if len(s) < 2 {
		s = "0" + s
	}
	return "cu" + s
}

// cpuMap draws the facts of a host with who has which CPU.
func cpuMap(f *api.HostFacts, o owners) []ui.MapSocket {
	memory := map[int]string{}
	for _, n := range f.Nodes {
		memory[n.Node] = ui.Bytes(n.MemoryBytes)
	}
	cpus := make([]ui.CPU, len(f.CPUs))
	for i, c := range f.CPUs {
		who, taken := o[c.CPU]
		if !taken {
			who = ui.CPU{Owner: ui.OwnerNone}
		}
		who.Number, who.Node, who.Socket, who.Core = c.CPU, c.Node, c.Socket, c.Core
		cpus[i] = who
	}
	return ui.CPUMap(cpus, memory)
}

// parseCPUs reads a set as the API writes it: "0-3,8". What it can't read it
// leaves out; the API has checked it.
func parseCPUs(s string) []int {
	var all []int
	for part := range strings.SplitSeq(s, ",") {
		lo, hi, isRange := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.Atoi(lo)
		if err != nil {
			continue
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(hi); err != nil || last > first+8192 {
				continue
			}
		}
		for c := first; c <= last; c++ {
			all = append(all, c)
		}
	}
	return all
}

// contents says what is on a disk, "" if it is empty.
func contents(d api.HostDevice) string {
	var all []string
	if len(d.Signatures) > 0 {
		all = append(all, strings.Join(d.Signatures, ", "))
	}
	if d.Partitions > 0 {
		all = append(all, ui.Count(d.Partitions, "partition"))
	}
	if d.Mounted {
		all = append(all, "mounted")
	}
	if d.ReadOnly {
		all = append(all, "read-only")
	}
	return strings.Join(all, "; ")
}

func deviceKind(d api.HostDevice) string {
	kind := "solid state"
	if d.Rotational {
		kind = "rotating"
	}
	if d.Model != "" {
		kind = d.Model + ", " + kind
	}
	return kind
}

// lacks names the capabilities that a host does not have.
func lacks(c api.HostCapabilities) []string {
	var all []string
	for name, has := range map[string]bool{"cgroups v2": c.CGroup2, "cpusets": c.CPUSet, "AppArmor": c.AppArmor, "nftables": c.NFTables, "LVM": c.LVM} {
		if !has {
			all = append(all, name)
		}
	}
	return all
}

func lastFailed(jobs []api.Job) *api.Job {
	for i, j := range jobs {
		if j.State == "failed" {
			return &jobs[i]
		}
		if j.State == "succeeded" {
			return nil
		}
	}
	return nil
}
