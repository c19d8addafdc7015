package domain_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kloigos/backend/internal/domain"
)

const gib = 1 << 30

// machine makes the facts of a host with sockets as NUMA nodes, hyperthreads
// numbered as Linux does it, and an empty disk.
func machine(nodes, coresEach, threads int, memoryEach, disk int64) domain.Facts {
	f := domain.Facts{
		MachineID: strings.Repeat("a", 32), MemoryBytes: int64(nodes) * memoryEach,
		Uplink: domain.Uplink{Interface: "ens3", Address: "10.0.2.15", Prefix: 24, Gateway: "10.0.2.2"},
		Devices: []domain.Device{
			{Path: "/dev/vdb", ByID: "/dev/disk/by-id/virtio-kloigos0", SizeBytes: disk},
			{Path: "/dev/vdc", ByID: "/dev/disk/by-id/virtio-full", SizeBytes: disk, Signatures: []string{"ext4"}},
			{Path: "/dev/vdd", ByID: "/dev/disk/by-id/virtio-readonly", SizeBytes: disk, ReadOnly: true},
			{Path: "/dev/vde", ByID: "/dev/disk/by-id/virtio-parted", SizeBytes: disk, Partitions: 1},
			{Path: "/dev/vdf", ByID: "/dev/disk/by-id/virtio-mounted", SizeBytes: disk, Mounted: true},
			{Path: "/dev/vdg", ByID: "/dev/disk/by-id/virtio-tiny", SizeBytes: 1 << 20},
			{Path: "/dev/vdh", SizeBytes: disk},
		},
	}
	for n := range nodes {
		f.Nodes = append(f.Nodes, domain.Node{Node: n, MemoryBytes: memoryEach})
	}
	for range threads {
		for n := range nodes {
			for core := range coresEach {
				f.CPUs = append(f.CPUs, domain.CPU{CPU: len(f.CPUs), Node: n, Socket: n, Core: core})
			}
		}
	}
	return f
}

func blank() []string { return []string{"/dev/disk/by-id/virtio-kloigos0"} }

func nodesOf(f domain.Facts, set domain.CPUSet) []int {
	var nodes []int
	for _, c := range f.CPUs {
		if set.Contains(c.CPU) && !slices.Contains(nodes, c.Node) {
			nodes = append(nodes, c.Node)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// memoryOf are the nodes whose memory a unit on these nodes has: where one of
// them has none, that of all.
func memoryOf(f domain.Facts, nodes []int) (with []int) {
	bare := slices.ContainsFunc(f.Nodes, func(n domain.Node) bool { return has(n) == 0 && slices.Contains(nodes, n.Node) })
	for _, n := range f.Nodes {
		if has(n) > 0 && (bare || slices.Contains(nodes, n.Node)) {
			with = append(with, n.Node)
		}
	}
	return with
}

func has(n domain.Node) int64 { return n.MemoryBytes - n.ReservedBytes }

func parsed(t rapid.TB, s string) domain.CPUSet {
	set, err := domain.ParseCPUSet(s)
	if err != nil {
		t.Fatalf("a layout holds the CPU set %q: %v", s, err)
	}
	return set
}

// promises holds a layout against what every layout must be.
func promises(t rapid.TB, f domain.Facts, l domain.Layout, space int64) {
	owner := map[int]string{}
	take := func(who, cpus string) domain.CPUSet {
		set := parsed(t, cpus)
		for _, c := range set {
			if owner[c] != "" {
				t.Fatalf("CPU %d is %s's and %s's", c, owner[c], who)
			}
			if !slices.ContainsFunc(f.CPUs, func(o domain.CPU) bool { return o.CPU == c }) {
				t.Fatalf("%s has CPU %d, which is not there", who, c)
			}
			owner[c] = who
		}
		return set
	}
	take("the system", l.SystemCPUs)
	if l.ReservedCPUs != "" {
		take("something else", l.ReservedCPUs)
	}
	var volumes int64
	for i, u := range l.Units {
		set := take(fmt.Sprintf("unit %d", i), u.CPUs)
		if u.CPUCount != len(set) || u.TasksMax != domain.TasksMax {
			t.Fatalf("unit %d: %+v", i, u)
		}
		if want := domain.CPUSet(memoryOf(f, nodesOf(f, set))).String(); u.MemoryNodes != want {
			t.Fatalf("unit %d on CPUs %s has memory of nodes %q, not %q", i, u.CPUs, u.MemoryNodes, want)
		}
		if u.MemoryMaxBytes < domain.MinMemory || u.MemoryHighBytes <= 0 || u.MemoryHighBytes >= u.MemoryMaxBytes ||
			u.MemoryHighBytes < u.MemoryMaxBytes/100*94 || u.MemoryMaxBytes%4096 != 0 || u.MemoryHighBytes%4096 != 0 {
			t.Fatalf("unit %d: memory_high %d, memory_max %d", i, u.MemoryHighBytes, u.MemoryMaxBytes)
		}
		if u.VolumeBytes < domain.MinVolume || u.VolumeBytes > math.MaxInt64-volumes {
			t.Fatalf("unit %d: volume of %d bytes", i, u.VolumeBytes)
		}
		volumes += u.VolumeBytes
	}
	if volumes > space {
		t.Fatalf("volumes of %d bytes on %d", volumes, space)
	}
	if l.SystemMemoryBytes <= 0 {
		t.Fatalf("the system keeps %d bytes", l.SystemMemoryBytes)
	}
	// What units on a set of nodes are promised is there beside the reserve.
	for set := 1; set < 1<<len(f.Nodes); set++ {
		var there, promised float64
		for i, n := range f.Nodes {
			if set>>i&1 == 1 {
				there += float64(has(n)) - float64(l.SystemMemoryBytes)*float64(has(n))/float64(total(f))
			}
		}
		for _, u := range l.Units {
			within := true
			for _, n := range parsed(t, u.MemoryNodes) {
				within = within && set>>n&1 == 1
			}
			if within {
				promised += float64(u.MemoryMaxBytes)
			}
		}
		if promised > there+1 {
			t.Fatalf("nodes %b have %.0f bytes for units, %.0f are promised", set, there, promised)
		}
	}
}

func total(f domain.Facts) (bytes int64) {
	for _, n := range f.Nodes {
		bytes += has(n)
	}
	return bytes
}

func TestLayoutsKeepTheirPromises(t *testing.T) {
	t.Parallel()
	laid := 0
	for range 10 { // most requests are refused: a thousand give a hundred layouts
		rapid.Check(t, func(t *rapid.T) {
			f := machine(rapid.SampledFrom([]int{1, 2, 3, 4}).Draw(t, "nodes"), rapid.SampledFrom([]int{1, 2, 3, 4, 7, 8}).Draw(t, "cores"),
				rapid.SampledFrom([]int{1, 2}).Draw(t, "threads"),
				rapid.SampledFrom([]int64{100 << 20, gib, 2*gib - 4097, 7 * gib, 64*gib + 1}).Draw(t, "memory"),
				rapid.SampledFrom([]int64{0, 300 << 20, 8 * gib, 8*gib + 12345, 100 * gib}).Draw(t, "disk"))
			if rapid.SampledFrom([]int{0, 1, 2, 3}).Draw(t, "lopsided") == 3 {
				f.Nodes[0].MemoryBytes = rapid.Int64Range(0, 64*gib).Draw(t, "memory of node 0")
			}
			if last := len(f.Nodes) - 1; last > 0 && rapid.SampledFrom([]int{0, 1, 2, 3}).Draw(t, "bare") == 3 {
				f.Nodes[last].MemoryBytes = 0
			}
			for i, n := range f.Nodes {
				if rapid.SampledFrom([]int{0, 1, 2, 3}).Draw(t, "huge") == 3 {
					f.Nodes[i].ReservedBytes = rapid.Int64Range(0, n.MemoryBytes).Draw(t, "huge pages")
				}
			}
			if rapid.SampledFrom([]int{0, 1, 2, 3}).Draw(t, "isolated") == 3 {
				f.ReservedCPUs = []domain.Reserved{{CPUs: domain.CPUSet{rapid.IntRange(0, len(f.CPUs)-1).Draw(t, "isolated CPU")}.String(), By: "isolcpus"}}
			}
			r := domain.LayoutRequest{
				Devices:            blank(),
				Count:              rapid.SampledFrom([]int{0, 1, 2, 3, 4, 5, 6, 8, 11}).Draw(t, "count"),
				CPUsEach:           rapid.SampledFrom([]int{0, 1, 1, 2, 2, 3, 4, 5}).Draw(t, "each"),
				DefaultVolumeBytes: rapid.SampledFrom([]int64{0, 0, 0, gib, math.MaxInt64 / 2}).Draw(t, "volume"),
				SystemMemoryBytes:  rapid.SampledFrom([]int64{0, 0, 0, gib, 1, math.MaxInt64}).Draw(t, "reserve"),
			}
			if rapid.Bool().Draw(t, "system named") {
				r.SystemCPUs = domain.CPUSet{rapid.IntRange(0, len(f.CPUs)-1).Draw(t, "system")}.String()
			}
			l, err := domain.PlanLayout(f, r)
			if err != nil {
				var bad *domain.Invalid
				if !errors.As(err, &bad) || len(bad.Fields) == 0 {
					t.Fatalf("not an Invalid: %v", err)
				}
				return
			}
			laid++
			if len(l.Units) != r.Count {
				t.Fatalf("%d units instead of %d", len(l.Units), r.Count)
			}
			promises(t, f, l, f.Devices[0].SizeBytes)
			// Locality: as many units as can lie on one node do.
			free := map[int]int{}
			for _, c := range f.CPUs {
				if !parsed(t, l.SystemCPUs).Contains(c.CPU) && (l.ReservedCPUs == "" || !parsed(t, l.ReservedCPUs).Contains(c.CPU)) {
					free[c.Node]++
				}
			}
			could, do := 0, 0
			for _, n := range free {
				could += n / r.CPUsEach
			}
			for _, u := range l.Units {
				if u.CPUCount != r.CPUsEach {
					t.Fatalf("a unit of %d CPUs", u.CPUCount)
				}
				if len(nodesOf(f, parsed(t, u.CPUs))) == 1 {
					do++
				}
			}
			if do < min(could, r.Count) {
				t.Fatalf("%d units lie on one node, %d could", do, min(could, r.Count))
			}
			if err := l.Fits(f); err != nil {
				t.Fatalf("does not fit what it was planned for: %v", err)
			}
		})
	}
	if laid < 20 {
		t.Errorf("only %d of the requests could be laid out: the test tests little", laid)
	}
}

func TestNamedUnitsKeepTheirPromises(t *testing.T) {
	t.Parallel()
	laid := 0
	rapid.Check(t, func(t *rapid.T) {
		f := machine(2, 4, 2, 32*gib, 100*gib)
		var r domain.LayoutRequest
		r.Devices = blank()
		left := rapid.Permutation([]int{1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15}).Draw(t, "cpus")
		for len(left) > 0 && len(r.Units) < 6 {
			n := rapid.IntRange(1, min(len(left), 5)).Draw(t, "n")
			set := domain.CPUSet(slices.Sorted(slices.Values(left[:n])))
			left = left[n:]
			r.Units = append(r.Units, domain.LayoutUnit{
				CPUs:        set.String(),
				VolumeBytes: rapid.SampledFrom([]int64{0, 0, 0, gib, gib, 20 * gib, math.MaxInt64}).Draw(t, "volume"),
			})
		}
		l, err := domain.PlanLayout(f, r)
		if err != nil {
			return
		}
		laid++
		promises(t, f, l, f.Devices[0].SizeBytes)
	})
	if laid < 10 {
		t.Errorf("only %d of the requests could be laid out", laid)
	}
}

func TestTwoNodesLikeTheDemo(t *testing.T) {
	t.Parallel()
	f := machine(2, 4, 1, 2*gib, 8*gib)
	l, err := domain.PlanLayout(f, domain.LayoutRequest{Count: 3, CPUsEach: 2, Devices: blank()})
	if err != nil {
		t.Fatal(err)
	}
	// 4 GiB less 512 MiB, half on each node; node 0 has 3 CPUs left, node 1 has 4.
	node := int64(2*gib - 256<<20)
	page := func(b int64) int64 { return b &^ 4095 }
	for i, want := range []struct {
		cpus, nodes string
		memory      int64
	}{{"1-2", "0", page(node * 2 / 3)}, {"4-5", "1", page(node / 2)}, {"6-7", "1", page(node / 2)}} {
		u := l.Units[i]
		if u.CPUs != want.cpus || u.MemoryNodes != want.nodes || u.MemoryMaxBytes != want.memory {
			t.Errorf("unit %d: %+v, want %+v", i, u, want)
		}
	}
	if l.SystemCPUs != "0" || l.VolumeGroup != "kloigos-vg" || l.SystemMemoryBytes != 512<<20 {
		t.Errorf("layout %+v", l)
	}
}

func TestTheSystemKeepsAWholeCore(t *testing.T) {
	t.Parallel()
	f := machine(1, 4, 2, 16*gib, 100*gib) // threads of core 0: CPUs 0 and 4
	l, err := domain.PlanLayout(f, domain.LayoutRequest{Count: 3, CPUsEach: 2, Devices: blank()})
	if err != nil {
		t.Fatal(err)
	}
	if l.SystemCPUs != "0,4" || l.Units[0].CPUs != "1,5" || l.Units[1].CPUs != "2,6" || l.Units[2].CPUs != "3,7" {
		t.Errorf("cores are split: %+v", l)
	}
}

// TestAllMistakesAtOnce: each is reported under its own field.
func TestAllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	f := machine(2, 4, 1, 8*gib, 8*gib)
	_, err := domain.PlanLayout(f, domain.LayoutRequest{
		SystemCPUs: "0,99", VolumeGroup: "-rf", SystemMemoryBytes: 5,
		Units: []domain.LayoutUnit{{CPUs: "0-1"}, {CPUs: "zwei"}, {CPUs: "3,77"}},
		Devices: []string{
			"/dev/disk/by-id/virtio-full", "/dev/disk/by-id/virtio-readonly", "/dev/disk/by-id/virtio-parted",
			"/dev/disk/by-id/virtio-mounted", "/dev/disk/by-id/virtio-tiny", "/dev/vdb", "", blank()[0], blank()[0],
		},
	})
	var bad *domain.Invalid
	if !errors.As(err, &bad) {
		t.Fatalf("got %v", err)
	}
	got := map[string]string{}
	for _, p := range bad.Fields {
		got[p.Field] += p.Problem
	}
	for field, words := range map[string]string{
		"system_cpus": "99", "volume_group": "hyphen", "system_memory_bytes": "256 MiB", "units[0].cpus": "CPUs 0 already belong to the system",
		"units[1].cpus": "zwei", "units[2].cpus": "CPUs 77 are not online", "devices[0]": "ext4", "devices[1]": "read-only",
		"devices[2]": "1 partitions", "devices[3]": "mounted", "devices[4]": "too small", "devices[5]": "by-id", "devices[6]": "by-id",
		"devices[8]": "twice",
	} {
		if !strings.Contains(got[field], words) {
			t.Errorf("%s: %q does not tell of %q", field, got[field], words)
		}
		delete(got, field)
	}
	if len(got) > 0 {
		t.Errorf("and these are no mistakes: %v", got)
	}
}

func TestLayoutRefuses(t *testing.T) {
	t.Parallel()
	f := machine(1, 4, 1, 8*gib, 8*gib)
	noMemory, huge, isolated := machine(2, 4, 1, 8*gib, 8*gib), machine(1, 4, 1, 8*gib, 8*gib), machine(1, 4, 1, 8*gib, 8*gib)
	noMemory.Nodes[0].MemoryBytes, noMemory.Nodes[1].MemoryBytes = 0, 0
	huge.Nodes[0].ReservedBytes = 8*gib - 600<<20
	isolated.ReservedCPUs = []domain.Reserved{{CPUs: "2-3", By: "the kernel parameter isolcpus"}}
	small := machine(1, 4, 1, 300<<20, 8*gib)
	for name, c := range map[string]struct {
		facts domain.Facts
		r     domain.LayoutRequest
		field string
	}{
		"nothing asked for":        {f, domain.LayoutRequest{Devices: blank()}, "count"},
		"too many":                 {f, domain.LayoutRequest{Devices: blank(), Count: 4, CPUsEach: 1}, "count"},
		"a product that wraps":     {f, domain.LayoutRequest{Devices: blank(), Count: 1 << 62, CPUsEach: 4}, "count"},
		"both ways at once":        {f, domain.LayoutRequest{Devices: blank(), Count: 1, Units: []domain.LayoutUnit{{CPUs: "1"}}}, "units"},
		"no volume group":          {f, domain.LayoutRequest{Count: 1, CPUsEach: 1}, "devices"},
		"volumes that wrap":        {f, domain.LayoutRequest{Devices: blank(), Count: 3, CPUsEach: 1, DefaultVolumeBytes: math.MaxInt64 - 4095}, "units"},
		"negative volume":          {f, domain.LayoutRequest{Devices: blank(), Count: 1, CPUsEach: 1, DefaultVolumeBytes: -5}, "units[0].volume_bytes"},
		"nodes without memory":     {noMemory, domain.LayoutRequest{Devices: blank(), Units: []domain.LayoutUnit{{CPUs: "4-5"}}}, "system_memory_bytes"},
		"all but huge pages":       {huge, domain.LayoutRequest{Devices: blank(), Count: 3, CPUsEach: 1}, "units[0]"},
		"more than is not taken":   {isolated, domain.LayoutRequest{Devices: blank(), Count: 2, CPUsEach: 1}, "count"},
		"a CPU that is taken":      {isolated, domain.LayoutRequest{Devices: blank(), Units: []domain.LayoutUnit{{CPUs: "1-2"}}}, "units[0].cpus"},
		"less than the reserve":    {small, domain.LayoutRequest{Devices: blank(), Count: 1, CPUsEach: 1}, "system_memory_bytes"},
		"no CPU left for system":   {f, domain.LayoutRequest{Devices: blank(), Units: []domain.LayoutUnit{{CPUs: "0-3"}}}, "system_cpus"},
		"never probed":             {domain.Facts{}, domain.LayoutRequest{Count: 1, CPUsEach: 1}, "system_cpus"},
		"a path as volume group":   {f, domain.LayoutRequest{Devices: blank(), Count: 1, CPUsEach: 1, VolumeGroup: "../x"}, "volume_group"},
		"dots as volume group":     {f, domain.LayoutRequest{Devices: blank(), Count: 1, CPUsEach: 1, VolumeGroup: ".."}, "volume_group"},
		"template as volume group": {f, domain.LayoutRequest{Devices: blank(), Count: 1, CPUsEach: 1, VolumeGroup: "{{ x }}"}, "volume_group"},
	} {
		_, err := domain.PlanLayout(c.facts, c.r)
		var bad *domain.Invalid
		if !errors.As(err, &bad) || !slices.ContainsFunc(bad.Fields, func(p domain.FieldError) bool { return p.Field == c.field }) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLayoutOfAHostThatLostACPU(t *testing.T) {
	t.Parallel()
	f := machine(1, 4, 1, 8*gib, 8*gib)
	l, err := domain.PlanLayout(f, domain.LayoutRequest{Devices: blank(), Count: 3, CPUsEach: 1})
	if err != nil {
		t.Fatal(err)
	}
	f.Nodes[0].ReservedBytes = 2 * gib
	if err := l.Fits(f); err == nil || !strings.Contains(err.Error(), "huge pages") {
		t.Errorf("got %v", err)
	}
	f.CPUs = f.CPUs[:3]
	if err := l.Fits(f); err == nil || !strings.Contains(err.Error(), "CPU 3") {
		t.Errorf("got %v", err)
	}
}
