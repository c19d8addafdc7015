package agent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Inventory is what a host has, as a probe read it. The host said so itself, within the bounds of domain.Facts.
type Inventory struct {
	CPUs []struct {
		CPU  int `json:"cpu"`
		Node int `json:"node"`
	} `json:"cpus"`
	Nodes []struct {
		Node        int   `json:"node"`
		MemoryBytes int64 `json:"memory_bytes"`
	} `json:"nodes"`
	MemoryBytes int64 `json:"memory_bytes"`
	Devices     []struct {
		ByID      string `json:"by_id"`
		Model     string `json:"model"`
		SizeBytes int64  `json:"size_bytes"`
	} `json:"devices"`
}

// Counted is what the agent of a host says of its CPUs and memory; zeros where it said nothing since the last probe.
type Counted struct{ CPUs, MemoryBytes int64 }

// shownDifferences bounds a list of differences: a host may name thousands of disks.
const shownDifferences = 12

// Since says in sentences what a host has otherwise than when its layout was made. counted is newer than is.
func (is Inventory) Since(was Inventory, counted Counted) []string {
	all := append(is.cpusSince(was, counted.CPUs), is.memorySince(was, counted.MemoryBytes)...)
	all = append(all, is.nodesSince(was)...)
	all = append(all, is.disksSince(was)...)
	if more := len(all) - shownDifferences; more > 0 {
		all = append(all[:shownDifferences], fmt.Sprintf("And %d more differences.", more))
	}
	return all
}

func (is Inventory) cpusSince(was Inventory, counted int64) []string {
	then, now := was.cpus(anyNode), is.cpus(anyNode)
	if counted != 0 && counted != int64(len(now)) { // the probe is older, and the agent tells no numbers
		if counted == int64(len(then)) {
			return nil
		}
		return []string{fmt.Sprintf("It had %d CPUs (%s), and its agent counts %d.", len(then), ranges(then), counted)}
	}
	if slices.Equal(then, now) {
		return nil
	}
	return []string{fmt.Sprintf("It had %d CPUs (%s), and has %d (%s).", len(then), ranges(then), len(now), ranges(now))}
}

func (is Inventory) memorySince(was Inventory, counted int64) []string {
	now := is.MemoryBytes
	if counted != 0 {
		now = counted
	}
	if sameMemory(was.MemoryBytes, now) {
		return nil
	}
	return []string{fmt.Sprintf("It had %s of memory, and has %s.", gib(was.MemoryBytes), gib(now))}
}

// sameMemory leaves room for what another kernel keeps for itself: 0.5 %, at least 64 MiB and at most 1 GiB.
func sameMemory(a, b int64) bool {
	room := min(max(max(a, b)/200, 64<<20), 1<<30)
	return max(a, b)-min(a, b) <= room
}

// nodesSince compares NUMA nodes, where there are several: what one node lost the total may hide.
func (is Inventory) nodesSince(was Inventory) (all []string) {
	then, now := was.nodes(), is.nodes()
	if len(then) < 2 && len(now) < 2 {
		return nil
	}
	for _, node := range union(then, now) {
		had, has := was.cpus(node), is.cpus(node)
		if slices.Equal(had, has) && sameMemory(then[node], now[node]) {
			continue
		}
		all = append(all, fmt.Sprintf("NUMA node %d had CPUs %s and %s of memory, and has CPUs %s and %s.", node, ranges(had), gib(then[node]), ranges(has), gib(now[node])))
	}
	return all
}

func (is Inventory) disksSince(was Inventory) (all []string) {
	then, now := was.disks(), is.disks()
	for _, disk := range union(then, now) {
		had, has := then[disk], now[disk]
		switch name := plain(disk); {
		case slices.Equal(had, has):
		case len(had) == 0:
			all = append(all, fmt.Sprintf("Disk %s (%s) is new.", name, sizes(has)))
		case len(has) == 0:
			all = append(all, fmt.Sprintf("Disk %s (%s) is gone.", name, sizes(had)))
		default:
			all = append(all, fmt.Sprintf("Disk %s had %s, and has %s.", name, sizes(had), sizes(has)))
		}
	}
	return all
}

const anyNode = -1

func (is Inventory) cpus(node int) (all []int) {
	for _, c := range is.CPUs {
		if node == anyNode || c.Node == node {
			all = append(all, c.CPU)
		}
	}
	slices.Sort(all)
	return all
}

func (is Inventory) nodes() map[int]int64 {
	all := map[int]int64{}
	for _, n := range is.Nodes {
		all[n.Node] = n.MemoryBytes
	}
	return all
}

// disks are the sizes of disks by name. Those without an id are told apart by model only: their paths change with a boot.
func (is Inventory) disks() map[string][]int64 {
	all := map[string][]int64{}
	for _, d := range is.Devices {
		name := strings.TrimPrefix(d.ByID, "/dev/disk/by-id/")
		if name == "" {
			name = "without an id, " + d.Model
		}
		all[name] = append(all[name], d.SizeBytes)
	}
	for _, sizes := range all {
		slices.Sort(sizes)
	}
	return all
}

// union is the keys of both, ascending.
func union[K int | string, V any](a, b map[K]V) (keys []K) {
	for k := range a {
		keys = append(keys, k)
	}
	for k := range b {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// ranges writes numbers, ascending, as 0-3,8.
func ranges(numbers []int) string {
	if len(numbers) == 0 {
		return "none"
	}
	var parts []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		part := strconv.Itoa(numbers[i])
		if last > i {
			part += "-" + strconv.Itoa(numbers[last])
		}
		parts, i = append(parts, part), last+1
	}
	return strings.Join(parts, ",")
}

func gib(bytes int64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }

func sizes(all []int64) string {
	words := make([]string, len(all))
	for i, bytes := range all {
		words[i] = fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
	}
	return strings.Join(words, ", ")
}
