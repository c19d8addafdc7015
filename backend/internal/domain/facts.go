package domain

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	machineID  = regexp.MustCompile(`^[0-9a-f]{32}$`)
	deviceByID = regexp.MustCompile(`^/dev/disk/by-id/[A-Za-z0-9._:+=-]+$`)
	ifaceName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$`)
	vgName     = regexp.MustCompile(`^[a-zA-Z0-9+_.][a-zA-Z0-9+_.-]{0,126}$`)
)

// maxBytes bounds every size that a host tells: a pebibyte. All the devices
// that a host may name together, and a node's memory times its CPUs, then still
// fit into 63 bits.
const maxBytes = 1 << 50

// maxFaults is how many faults of a host are kept: one says as much as a thousand.
const maxFaults = 32

// maxReserved is how many that have CPUs of a host are kept.
const maxReserved = 1024

// CheckVolumeGroup tells whether a volume group can be called so.
func CheckVolumeGroup(s string) error {
	if !vgName.MatchString(s) || s == "." || s == ".." {
		return fmt.Errorf("must be 1 to 127 letters, digits, dots, plus signs, underscores and hyphens, and not begin with a hyphen")
	}
	return nil
}

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

// Clean checks what a host told of itself, which may be a lie, and drops what
// is not needed and not well formed. What is left is safe to compute with and
// to give to other playbooks.
func (f *Facts) Clean() error {
	switch {
	case !machineID.MatchString(f.MachineID):
		return fmt.Errorf("the machine-id is not 32 hexadecimal digits")
	case len(f.CPUs) == 0 || len(f.CPUs) > MaxCPU+1:
		return fmt.Errorf("it names %d CPUs", len(f.CPUs))
	case len(f.Nodes) == 0 || len(f.Nodes) > 1024:
		return fmt.Errorf("it names %d NUMA nodes", len(f.Nodes))
	case f.MemoryBytes <= 0 || f.MemoryBytes >= maxBytes:
		return fmt.Errorf("its memory is %d bytes", f.MemoryBytes)
	}
	if err := f.checkTopology(); err != nil {
		return err
	}
	switch u := f.Uplink; {
	case u.Interface == "" || u.Address == "": // none that could carry the address of a unit
		f.Uplink = Uplink{}
	case !ifaceName.MatchString(u.Interface) || !isIPv4(u.Address) || u.Prefix < 1 || u.Prefix > 32,
		u.Gateway != "" && !isIPv4(u.Gateway): // a point-to-point link has no gateway
		return fmt.Errorf("its uplink is not well formed")
	}
	f.cleanStorage()
	reserved := []Reserved{}
	for _, r := range f.ReservedCPUs[:min(len(f.ReservedCPUs), maxReserved)] {
		set, err := ParseCPUSet(r.CPUs)
		if by := plain(r.By, 256); err == nil && by != "" {
			reserved = append(reserved, Reserved{CPUs: set.String(), By: by})
		}
	}
	f.ReservedCPUs = reserved
	faults := []string{}
	for _, text := range f.Faults[:min(len(f.Faults), maxFaults)] {
		if text = plain(text, 512); text != "" {
			faults = append(faults, text)
		}
	}
	f.Faults = faults
	f.cleanAddresses()
	f.cleanIDRanges()
	for _, s := range []*string{&f.Hostname, &f.Kernel, &f.Architecture, &f.OS.ID, &f.OS.VersionID, &f.OS.Name, &f.Capabilities.Systemd, &f.Capabilities.Python, &f.Capabilities.UnitNetworks, &f.Incarnation} {
		*s = plain(*s, 128)
	}
	return nil
}

// KeepUplink keeps the uplink that an earlier probe read where there is none
// now: the addresses of units lie on it. That it is gone is a fault.
func (f *Facts) KeepUplink(earlier *Facts) {
	if f.Uplink.Interface != "" || earlier == nil || earlier.Uplink.Interface == "" {
		return
	}
	f.Uplink = earlier.Uplink
	f.Faults = append(f.Faults, fmt.Sprintf("No interface carries an IPv4 default route now; the uplink was %s (%s/%d).", f.Uplink.Interface, f.Uplink.Address, f.Uplink.Prefix))
}

// maxHostAddresses limits how many addresses a host can keep out of the pools by naming them as its own.
const maxHostAddresses = 64

func (f *Facts) cleanAddresses() {
	var own []string
	for _, s := range f.Addresses {
		if a, err := netip.ParseAddr(s); err == nil && a.Is4() && !a.IsLoopback() && !slices.Contains(own, s) && len(own) < maxHostAddresses {
			own = append(own, s)
		}
	}
	f.Addresses = own
	var overlaps []string
	for _, s := range f.IDOverlaps[:min(len(f.IDOverlaps), maxHostAddresses)] {
		overlaps = append(overlaps, plain(s, 256))
	}
	f.IDOverlaps = overlaps
}

// maxIDRanges limits how many ranges of IDs a host can name.
const maxIDRanges = 1024

func (f *Facts) cleanIDRanges() {
	var ranges []IDRange
	for _, r := range f.IDRanges[:min(len(f.IDRanges), maxIDRanges)] {
		if r.By = plain(r.By, 256); r.By != "" && r.First >= 0 && r.First <= r.Last && r.Last < 1<<40 {
			ranges = append(ranges, r)
		}
	}
	f.IDRanges = ranges
}

// ClashingIDs names the ranges of the host that reach into one of UIDs for
// tenants: those that somebody has, and those that new accounts may get of.
func (f *Facts) ClashingIDs(first, last int64) (given, possible []string) {
	for _, r := range f.IDRanges {
		if r.First > last || first > r.Last {
			continue
		}
		if text := fmt.Sprintf("%d to %d, %s", r.First, r.Last, r.By); r.Given {
			given = append(given, text)
		} else {
			possible = append(possible, text)
		}
	}
	return given, possible
}

// OwnAddresses are the IPv4 addresses that the host had when it was probed.
func (f *Facts) OwnAddresses() []string {
	own := slices.Clone(f.Addresses)
	if f.Uplink.Address != "" && !slices.Contains(own, f.Uplink.Address) {
		own = append(own, f.Uplink.Address)
	}
	return own
}

func (f *Facts) checkTopology() error {
	nodes := map[int]bool{}
	for i, n := range f.Nodes {
		if n.Node < 0 || n.Node > MaxCPU || nodes[n.Node] || n.MemoryBytes < 0 || n.MemoryBytes >= maxBytes ||
			n.ReservedBytes < 0 || n.ReservedBytes >= maxBytes {
			return fmt.Errorf("NUMA node %d is named twice or has no sensible memory", n.Node)
		}
		nodes[n.Node] = true
		f.Nodes[i].CPUs = plain(n.CPUs, 4096)
	}
	cpus := map[int]bool{}
	for _, c := range f.CPUs {
		if c.CPU < 0 || c.CPU > MaxCPU || cpus[c.CPU] || !nodes[c.Node] {
			return fmt.Errorf("CPU %d is named twice or is on a node that is not there", c.CPU)
		}
		cpus[c.CPU] = true
	}
	return nil
}

func (f *Facts) cleanStorage() {
	devices := []Device{}
	for _, d := range f.Devices[:min(len(f.Devices), 4096)] {
		if !deviceByID.MatchString(d.ByID) {
			d.ByID = ""
		}
		d.Path, d.Model, d.Serial = plain(d.Path, 128), plain(d.Model, 128), plain(d.Serial, 128)
		signatures := []string{}
		for _, s := range d.Signatures[:min(len(d.Signatures), 64)] {
			signatures = append(signatures, plain(s, 64))
		}
		d.Signatures, d.SizeBytes = signatures, min(max(d.SizeBytes, 0), maxBytes)
		devices = append(devices, d)
	}
	groups := []VolumeGroup{}
	for _, g := range f.VolumeGroups[:min(len(f.VolumeGroups), 1024)] {
		if g.Sensible() {
			groups = append(groups, g)
		}
	}
	f.Devices, f.VolumeGroups = devices, groups
}

// Sensible tells whether what a host told of a volume group can be computed with.
func (g VolumeGroup) Sensible() bool {
	return CheckVolumeGroup(g.Name) == nil && g.FreeBytes >= 0 && g.SizeBytes >= g.FreeBytes && g.SizeBytes <= maxBytes
}

// plain keeps up to limit bytes of printable text: no control characters, and
// none that make what is shown differ from what is there.
func plain(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == utf8.RuneError || (r >= 0x80 && r < 0xa0) || unicode.Is(unicode.Cf, r) || r == 0x2028 || r == 0x2029 {
			return -1
		}
		return r
	}, s)
	for len(s) > limit {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}
