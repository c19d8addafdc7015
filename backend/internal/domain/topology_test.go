package domain_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/internal/domain"
)

// topologyOf is what the probe makes of a tree that looks like a host's sysfs, procfs and cgroups.
const topologyOf = `
import importlib.util, json, sys
import ansible.module_utils
ansible.module_utils.__path__.append("../../../playbooks/module_utils")
spec = importlib.util.spec_from_file_location("kloigos_probe", "../../../playbooks/library/kloigos_probe.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
root = sys.argv[1]
m.CPUS, m.NODES, m.MEMINFO, m.CGROUPS = root + "/cpu/", root + "/node/", root + "/meminfo", root + "/cgroup/"
print(json.dumps(m.Probe(None).topology()))
`

// tree is the files of a host, by path.
type tree map[string]string

func (f tree) topology(t *testing.T) domain.Facts {
	t.Helper()
	root := t.TempDir()
	for name, text := range f {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("/usr/bin/python3", "-B", "-c", topologyOf, root).CombinedOutput()
	var facts domain.Facts
	if err != nil || json.Unmarshal(out, &facts) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	facts.MachineID = "0123456789abcdef0123456789abcdef"
	facts.VolumeGroups = []domain.VolumeGroup{{Name: domain.DefaultVolumeGroup, SizeBytes: 1 << 40, FreeBytes: 1 << 40}}
	return facts
}

// core is a core of a machine: its socket, the node and the core_id that the kernel gives it, and its CPUs.
type core struct {
	socket, node, id int
	cpus             []int
}

const gibKB = 1 << 20 // as meminfo has it

// sysfs makes the tree of some cores; memory is each node's, in kB.
func sysfs(cores []core, memory map[int]int) tree {
	f, online, total, ofNode := tree{}, []int{}, 0, map[int][]int{}
	for _, c := range cores {
		for _, cpu := range c.cpus {
			base := fmt.Sprintf("cpu/cpu%d/topology/", cpu)
			f[base+"physical_package_id"], f[base+"core_id"] = strconv.Itoa(c.socket), strconv.Itoa(c.id)
			f[base+"thread_siblings_list"] = cpuList(c.cpus)
			ofNode[c.node] = append(ofNode[c.node], cpu)
			online = append(online, cpu)
		}
	}
	for node, kb := range memory {
		f[fmt.Sprintf("node/node%d/cpulist", node)] = cpuList(ofNode[node])
		f[fmt.Sprintf("node/node%d/meminfo", node)] = fmt.Sprintf("Node %d MemTotal:       %d kB\nNode %d MemFree:        1 kB", node, kb, node)
		total += kb
	}
	f["cpu/online"], f["meminfo"] = cpuList(online), fmt.Sprintf("MemTotal:       %d kB\nMemFree: 1 kB", total)
	return f
}

func cpuList(cpus []int) string {
	set := domain.CPUSet(slices.Clone(cpus))
	slices.Sort(set)
	return set.String()
}

// smt makes cores whose second threads come after all first ones, as Linux counts on x86.
func smt(sockets, nodesEach, coresEach int, id func(core int) int) (all []core) {
	total := sockets * nodesEach * coresEach
	for n := range total {
		node := n / coresEach
		all = append(all, core{socket: node / nodesEach, node: node, id: id(n % (nodesEach * coresEach)), cpus: []int{n, n + total}})
	}
	return all
}

func single(sockets, coresEach int, id func(core int) int) (all []core) {
	for n := range sockets * coresEach {
		all = append(all, core{socket: n / coresEach, node: n / coresEach, id: id(n % coresEach), cpus: []int{n}})
	}
	return all
}

func each(nodes, kb int) map[int]int {
	m := map[int]int{}
	for n := range nodes {
		m[n] = kb
	}
	return m
}

func same(n int) int { return n }

// The topology and the default layout of machines of many shapes: the system gets one whole core of one node, every unit
// whole cores of one node where there are enough, and only nodes with memory are named.
func TestProbeReadsTopologies(t *testing.T) {
	t.Parallel()
	if exec.Command("/usr/bin/python3", "-c", "import ansible").Run() != nil {
		t.Skip("Ansible is not here (Debian: apt-get install ansible)")
	}
	offline := sysfs(smt(1, 1, 4, same), each(1, 16*gibKB))
	offline["cpu/online"] = "0-2,4-6"
	for _, cpu := range []string{"3", "7"} { // the kernel takes the directory away
		maps.DeleteFunc(offline, func(name, _ string) bool { return strings.HasPrefix(name, "cpu/cpu"+cpu+"/") })
	}
	halfOffline := sysfs(smt(1, 1, 4, same), each(1, 16*gibKB))
	halfOffline["cpu/online"] = "0-4,6-7"
	maps.DeleteFunc(halfOffline, func(name, _ string) bool { return strings.HasPrefix(name, "cpu/cpu5/") })
	halfOffline["cpu/cpu1/topology/thread_siblings_list"] = "1"
	hybrid := []core{}
	for n := range 4 { // performance cores have two threads that are neighbours
		hybrid = append(hybrid, core{id: 4 * n, cpus: []int{2 * n, 2*n + 1}})
	}
	for n := range 8 {
		hybrid = append(hybrid, core{id: 16 + n, cpus: []int{8 + n}})
	}
	bare := single(4, 4, same)
	withoutNUMA := sysfs(single(1, 4, same), map[int]int{})
	withoutNUMA["meminfo"] = fmt.Sprintf("MemTotal: %d kB\nHugetlb: %d kB", 8*gibKB, 2*gibKB)
	huge := sysfs(single(2, 4, same), each(2, 16*gibKB))
	huge["node/node0/hugepages/hugepages-2048kB/nr_hugepages"] = "1024"
	huge["node/node0/hugepages/hugepages-1048576kB/nr_hugepages"] = "2"
	taken := sysfs(single(2, 4, same), each(2, 16*gibKB))
	taken["cpu/isolated"] = "2-3"
	taken["cgroup/machine.slice/qemu.scope/cpuset.cpus"] = "7"
	taken["cgroup/system.slice/x.service/cpuset.cpus"] = "5"
	taken["cgroup/user.slice/user-1.slice/cpuset.cpus"] = "5"
	old := sysfs(single(2, 2, same), each(2, 8*gibKB)) // a kernel that tells no threads
	maps.DeleteFunc(old, func(name, _ string) bool { return filepath.Base(name) == "thread_siblings_list" })
	for name, c := range map[string]struct {
		tree        tree
		count, each int
		system      string
		units       []string // CPUs @ memory nodes
		memory      int64    // of the last unit, GiB; 0: not looked at
	}{
		"EPYC with NPS4 and SMT":            {sysfs(smt(2, 4, 4, same), each(8, 64*gibKB)), 8, 6, "0,32", []string{"1-3,33-35@0", "4-6,36-38@1", "8-10,40-42@2", "12-14,44-46@3", "16-18,48-50@4", "20-22,52-54@5", "24-26,56-58@6", "28-30,60-62@7"}, 0},
		"Xeon with SNC and gaps in its ids": {sysfs(smt(2, 2, 4, func(n int) int { return n + n/4*4 }), each(4, 64*gibKB)), 3, 8, "0,16", []string{"4-7,20-23@1", "8-11,24-27@2", "12-15,28-31@3"}, 0},
		"core ids that repeat in a socket":  {sysfs(smt(1, 2, 4, func(n int) int { return n % 4 }), each(2, 32*gibKB)), 3, 4, "0,8", []string{"1-2,9-10@0", "4-5,12-13@1", "6-7,14-15@1"}, 0},
		"all core ids 0":                    {sysfs(single(2, 4, func(int) int { return 0 }), each(2, 8*gibKB)), 1, 4, "0", []string{"4-7@1"}, 0},
		"CPUs that are offline":             {offline, 2, 2, "0,4", []string{"1,5@0", "2,6@0"}, 0},
		"a thread that is offline":          {halfOffline, 1, 3, "0,4", []string{"1-2,6@0"}, 0},
		"ARM with clusters":                 {sysfs(single(1, 8, func(n int) int { return n % 4 }), each(1, 16*gibKB)), 7, 1, "0", []string{"1@0", "2@0", "3@0", "4@0", "5@0", "6@0", "7@0"}, 0},
		"performance and efficiency cores":  {sysfs(hybrid, each(1, 32*gibKB)), 3, 2, "0-1", []string{"2-3@0", "4-5@0", "6-7@0"}, 0},
		"nodes without memory":              {sysfs(bare, map[int]int{0: 32 * gibKB, 1: 0, 2: 32 * gibKB, 3: 0}), 3, 4, "0", []string{"4-7@0,2", "8-11@2", "12-15@0,2"}, 15},
		"one CPU":                           {sysfs(single(1, 1, same), each(1, 2*gibKB)), 0, 0, "0", nil, 0},
		"no NUMA, and huge pages":           {withoutNUMA, 3, 1, "0", []string{"1@0", "2@0", "3@0"}, 1},
		"huge pages of a node":              {huge, 2, 3, "0", []string{"1-3@0", "4-6@1"}, 11},
		"CPUs of others":                    {taken, 2, 2, "0", []string{"4-5@1"}, 0},
		"a kernel that tells no threads":    {old, 3, 1, "0", []string{"1@0", "2@1", "3@1"}, 0},
		"memory without CPUs":               {sysfs(single(1, 4, same), map[int]int{0: 8 * gibKB, 1: 8 * gibKB}), 3, 1, "0", []string{"1@0", "2@0", "3@0"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			facts := c.tree.topology(t)
			if err := facts.Clean(); err != nil {
				t.Fatal(err)
			}
			if name == "CPUs of others" {
				want := []domain.Reserved{{CPUs: "2-3", By: "the kernel parameter isolcpus"}, {CPUs: "7", By: "the control group machine.slice"}}
				if diff := cmp.Diff(want, facts.ReservedCPUs); diff != "" {
					t.Error(diff)
				}
				c.count = 1
				if _, err := domain.PlanLayout(facts, domain.LayoutRequest{Count: 2, CPUsEach: 3}); err == nil {
					t.Error("units have CPUs of others")
				}
				if _, err := domain.PlanLayout(facts, domain.LayoutRequest{Units: []domain.LayoutUnit{{CPUs: "2"}}}); err == nil {
					t.Error("a unit may name an isolated CPU")
				}
			}
			if c.count == 0 {
				if missing := facts.Missing(); len(missing) == 0 || len(facts.CPUs) != 1 {
					t.Errorf("%+v", facts.CPUs)
				}
				return
			}
			layout, err := domain.PlanLayout(facts, domain.LayoutRequest{Count: c.count, CPUsEach: c.each})
			if err != nil {
				t.Fatal(err)
			}
			var units []string
			var promised int64
			for _, u := range layout.Units {
				units = append(units, u.CPUs+"@"+u.MemoryNodes)
				promised += u.MemoryMaxBytes
			}
			if diff := cmp.Diff(c.units, units); diff != "" || layout.SystemCPUs != c.system {
				t.Errorf("the system has %s, not %s\n%s", layout.SystemCPUs, c.system, diff)
			}
			if last := layout.Units[len(layout.Units)-1].MemoryMaxBytes >> 30; c.memory != 0 && last != c.memory {
				t.Errorf("the last unit has %d GiB, not %d", last, c.memory)
			}
			if there := facts.MemoryBytes - layout.ReservedMemoryBytes - layout.SystemMemoryBytes; promised > there {
				t.Errorf("%d bytes are promised of %d", promised, there)
			}
		})
	}
}

// What makes no sense is read as something that does, or refused by [domain.Facts.Clean]; the module does not fail.
func TestProbeReadsGarbage(t *testing.T) {
	t.Parallel()
	if exec.Command("/usr/bin/python3", "-c", "import ansible").Run() != nil {
		t.Skip("Ansible is not here (Debian: apt-get install ansible)")
	}
	garbage := []string{"", "x", "-1", "0-", "-", "3-1", "0-99999999999999999999", "0,,1;2", "٣", "99999999999999999999999999", "\x00\xff", "0-8191"}
	for i, text := range garbage {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			for _, file := range []string{
				"cpu/online", "cpu/isolated", "cpu/cpu1/topology/core_id", "cpu/cpu1/topology/physical_package_id", "cpu/cpu1/topology/thread_siblings_list",
				"cpu/cpu1/topology/core_cpus_list", "node/node1/cpulist", "node/node1/meminfo", "meminfo", "cgroup/x/cpuset.cpus", "node/node1/hugepages/hugepages-2048kB/nr_hugepages",
				"node/nodex/cpulist", "node/node99999999/cpulist", "node/node1/hugepages/hugepages-xkB/nr_hugepages",
			} {
				f := sysfs(smt(1, 2, 2, same), each(2, 8*gibKB))
				f[file] = text
				facts := f.topology(t)
				if err := facts.Clean(); err == nil {
					_, _ = domain.PlanLayout(facts, domain.LayoutRequest{Count: 1, CPUsEach: 1})
				}
			}
		})
	}
	if facts := (tree{}).topology(t); len(facts.CPUs) != 1 || len(facts.Nodes) != 1 {
		t.Errorf("of nothing: %+v", facts)
	}
}
