package allocation

import (
	"slices"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
)

// mostLooked is how many free units are looked at to tell what is free.
const mostLooked = 500

// capacity is what is free for what a form asks. It is a look, not a promise:
// who has a unit is decided when it is asked for.
type capacity struct {
	Asked bool // units that fit, and not just what there is
	Units int
	More  bool // there are more than were looked at
	Sizes []unitSize
	Unit  *api.ComputeUnit // that was named
	// OutOfReach are free units on hosts that do not answer, which can't be allocated.
	OutOfReach int
}

// unitSize are the free units of one number of CPUs.
type unitSize struct {
	CPUs, Units        int
	MinMemory, MinDisk int64
	MaxMemory, MaxDisk int64
}

// most is the largest number of units of one size.
func (c capacity) most() int {
	n := 0
	for _, s := range c.Sizes {
		n = max(n, s.Units)
	}
	return n
}

func (c *capacity) add(u api.ComputeUnit) {
	c.Units++
	at, found := slices.BinarySearchFunc(c.Sizes, u.CPUCount, func(s unitSize, cpus int) int { return s.CPUs - cpus })
	if !found {
		c.Sizes = slices.Insert(c.Sizes, at, unitSize{CPUs: u.CPUCount, MinMemory: u.MemoryMaxBytes, MinDisk: u.VolumeBytes})
	}
	s := &c.Sizes[at]
	s.Units++
	s.MinMemory, s.MaxMemory = min(s.MinMemory, u.MemoryMaxBytes), max(s.MaxMemory, u.MemoryMaxBytes)
	s.MinDisk, s.MaxDisk = min(s.MinDisk, u.VolumeBytes), max(s.MaxDisk, u.VolumeBytes)
}

// look reads what is free for what was typed; where nothing fits, what is free
// at all.
func look(r *page.Request, f createForm) (*capacity, error) {
	in, _ := f.request() // what can't be read yet narrows nothing
	if in.Unit != "" {
		u, err := r.API.GetComputeUnit(r.Ctx, in.Unit)
		if err != nil {
			return &capacity{Asked: true}, page.Optional(err)
		}
		c := &capacity{Asked: true, Unit: &u}
		if silent, err := unreachable(r); err != nil {
			return nil, err
		} else if silent[u.HostID] {
			c.OutOfReach = 1
		}
		return c, nil
	}
	c, err := free(r, api.UnitFilter{Host: in.Host, Region: in.Region, Zone: in.Zone, MinCPUs: in.CPUs}, in.HostLabels)
	if err != nil {
		return nil, err
	}
	c.Asked = true
	if c.Units > 0 {
		return c, nil
	}
	return free(r, api.UnitFilter{}, nil)
}

func free(r *page.Request, f api.UnitFilter, labels map[string]string) (*capacity, error) {
	f.State, f.Sort, f.Limit = "free", "cpu_count", mostLooked
	found, err := r.API.ListComputeUnits(r.Ctx, f)
	if err != nil {
		return nil, err
	}
	silent, err := unreachable(r)
	if err != nil {
		return nil, err
	}
	c := &capacity{More: found.NextCursor != ""}
	for _, u := range found.Items {
		switch {
		case u.HostState != "ready" || !has(u.HostLabels, labels):
		case silent[u.HostID]:
			c.OutOfReach++
		default:
			c.add(u)
		}
	}
	return c, nil
}

// unreachable are the ids of the hosts that do not answer: placement passes over
// them.
func unreachable(r *page.Request) (map[string]bool, error) {
	all, err := r.API.GetCapacity(r.Ctx)
	silent := map[string]bool{}
	for _, h := range all.Hosts {
		if h.Health == "unreachable" {
			silent[h.ID] = true
		}
	}
	return silent, page.Optional(err)
}

func has(labels, wanted map[string]string) bool {
	for k, v := range wanted {
		if labels[k] != v {
			return false
		}
	}
	return true
}

// showCapacity answers with what is free for what is being typed.
func showCapacity(r *page.Request) error {
	f := readCreate(r)
	c, err := look(r, f)
	if err != nil {
		return err
	}
	return r.Fragment(capacityPanel(c))
}
