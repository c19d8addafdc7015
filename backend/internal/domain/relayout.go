package domain

import (
	"slices"
)

// Relayout is a host that is to be laid out anew around what stays.
type Relayout struct {
	Facts   Facts
	Present Layout
	// Kept are the units that stay as they are, by ordinal, with their names.
	Kept []UnitLayout
	// SpaceBytes is what the volumes of all units can share, the present ones
	// included.
	SpaceBytes int64
}

// VolumeSpace is what the volumes of all units of a host can share. having are
// those volumes that were there when the facts were read: what is free, and
// what these have. Where the facts may be older than what was last made, it is
// what it was when the present layout was set.
func VolumeSpace(f Facts, present Layout, having []UnitLayout, fresh bool) int64 {
	for _, g := range f.VolumeGroups {
		if g.Name != present.VolumeGroup || !fresh && present.VolumeSpaceBytes > 0 {
			continue
		}
		space := g.FreeBytes
		for _, u := range having {
			space += u.VolumeBytes
		}
		return space
	}
	return present.VolumeSpaceBytes
}

// PlanRelayout computes a layout of a host in which the kept units come first,
// unchanged, and the new ones after them share the CPUs and the space that are
// left. All problems are reported together, as an *Invalid.
func PlanRelayout(h Relayout, r LayoutRequest) (Layout, error) {
	var bad Invalid
	p, out, c, err := checkRelayout(h, r, &bad)
	if err == nil {
		err = bad.OrNil()
	}
	if err != nil {
		return Layout{}, err
	}
	out.Units = append(out.Units, p.shares(c, out.SystemMemoryBytes, &bad)...)
	p.memoryFits(out, &bad)
	return out, bad.OrNil()
}

// CheckRelayout looks at each field by itself: what PlanRelayout says before it
// computes shares.
func CheckRelayout(h Relayout, r LayoutRequest) error {
	var bad Invalid
	if _, _, _, err := checkRelayout(h, r, &bad); err != nil {
		return err
	}
	return bad.OrNil()
}

func checkRelayout(h Relayout, r LayoutRequest, bad *Invalid) (planner, Layout, cut, error) {
	p := plannerOf(h.Facts)
	out := Layout{VolumeGroup: h.Present.VolumeGroup, Devices: slices.Clone(h.Present.Devices), Units: slices.Clone(h.Kept)}
	if r.VolumeGroup != "" && r.VolumeGroup != out.VolumeGroup {
		bad.Add("volume_group", "stays %q after the host was initialized", out.VolumeGroup)
	}
	var taken int64 // bytes of the volumes that stay
	for _, u := range h.Kept {
		set, err := ParseCPUSet(u.CPUs)
		if err != nil {
			return planner{}, Layout{}, cut{}, err
		}
		for _, c := range set {
			p.owner[c] = u.Kept
		}
		taken += u.VolumeBytes
	}
	var c cut
	c.system = p.systemAround(h, r, bad)
	out.SystemCPUs = c.system.String()
	out.ReservedCPUs, out.ReservedMemoryBytes = p.taken(c.system)
	out.SystemMemoryBytes = p.memoryAround(h, r, bad)
	out.VolumeSpaceBytes = h.SpaceBytes + p.deviceSpace(r.Devices, h.Present.Devices, bad)
	for _, d := range r.Devices {
		if !slices.Contains(out.Devices, d) {
			out.Devices = append(out.Devices, d)
		}
	}
	c.sets, c.volumes = p.unitCPUs(r, bad)
	c.space = max(out.VolumeSpaceBytes-taken, 0)
	for online := range p.online {
		if p.forUnits(online, c.system) && !keptName(h.Kept, p.owner[online]) {
			c.cpus++
		}
	}
	return p, out, c, nil
}

func keptName(kept []UnitLayout, name string) bool {
	return slices.ContainsFunc(kept, func(u UnitLayout) bool { return u.Kept == name })
}

// systemAround leaves the system its CPUs, unless nothing stays that was
// promised to be apart from them.
func (p *planner) systemAround(h Relayout, r LayoutRequest, bad *Invalid) CPUSet {
	present, err := ParseCPUSet(h.Present.SystemCPUs)
	if err != nil {
		bad.Check("system_cpus", err)
		return nil
	}
	wanted := present
	if r.SystemCPUs != "" {
		if wanted, err = ParseCPUSet(r.SystemCPUs); err != nil {
			bad.Check("system_cpus", err)
			wanted = present
		}
	}
	if len(h.Kept) > 0 && !slices.Equal(wanted, present) {
		bad.Add("system_cpus", "stay %s while units are kept, because kept units never share CPUs with the system", present)
		wanted = present
	}
	p.take("system_cpus", theSystem, wanted, bad)
	return wanted
}

// memoryAround leaves the system its memory, unless nothing stays whose own
// share was computed from it.
func (p *planner) memoryAround(h Relayout, r LayoutRequest, bad *Invalid) int64 {
	if r.SystemMemoryBytes == 0 {
		r.SystemMemoryBytes = h.Present.SystemMemoryBytes
	}
	if len(h.Kept) > 0 && r.SystemMemoryBytes != h.Present.SystemMemoryBytes {
		bad.Add("system_memory_bytes", "stays %d while units are kept, because their shares were computed from it", h.Present.SystemMemoryBytes)
		return h.Present.SystemMemoryBytes
	}
	return p.systemMemory(r, bad)
}

// memoryFits finds what can only come about when the host has less memory now
// than when the units that stay were laid out.
func (p *planner) memoryFits(l Layout, bad *Invalid) {
	var promised int64
	for _, u := range l.Units {
		promised += u.MemoryMaxBytes
	}
	if there := p.nodesMemory() - l.SystemMemoryBytes; promised > there {
		bad.Add("units", "all units together need %d bytes of memory; the host has %d bytes beside the system's", promised, there)
	}
}
