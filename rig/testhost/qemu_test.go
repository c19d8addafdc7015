package testhost

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

func testOptions() Options {
	return Options{
		Image: imageAt("/cache/testhost-0123", "0123"),
		Dir:   "/run/vm,1", tscKHz: 2_445_430,
	}.withDefaults()
}

func TestQEMUArgs(t *testing.T) {
	t.Parallel()
	ports := map[string]int{GuestAddress: 40022, "10.0.2.102": 40102, "10.0.2.101": 40101}
	args := qemuArgs(testOptions(), accelTCG, "00000000-0000-4000-8000-000000000000", ports)
	got := strings.ReplaceAll(strings.Join(args, "\n"), "\n-", "\n\n-") + "\n"
	golden := filepath.Join("testdata", "qemu_args.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("arguments (-want +got; -update writes them anew):\n%s", diff)
	}
}

func TestQEMUArgsWithKVMUseTheRealCPU(t *testing.T) {
	t.Parallel()
	args := qemuArgs(testOptions(), accelKVM, "", nil)
	if after(args, "-accel") != "kvm" || after(args, "-cpu") != "host" {
		t.Errorf("accel %q, cpu %q", after(args, "-accel"), after(args, "-cpu"))
	}
}

func TestQEMUArgsForwardMorePorts(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.Ports = map[string]string{"127.5.6.7:6443": GuestAddress + ":6443"}
	args := qemuArgs(o, accelTCG, "", map[string]int{GuestAddress: 40022})
	if got, want := after(args, "-netdev"), "user,id=net,hostfwd=tcp:127.0.0.1:40022-10.0.2.15:22,hostfwd=tcp:127.5.6.7:6443-10.0.2.15:6443"; got != want {
		t.Errorf("network %q, want %q", got, want)
	}
	for here, there := range map[string]string{"0.0.0.0:6443": GuestAddress + ":6443", "127.5.6.7:6443": "192.0.2.1:6443", "127.5.6.7": GuestAddress + ":6443"} {
		o.Ports = map[string]string{here: there}
		if err := o.validate(); err == nil {
			t.Errorf("%s to %s is allowed", here, there)
		}
	}
}

// Every CPU and every byte of memory belongs to exactly one node, or QEMU refuses.
func TestQEMUArgsShareOutTheNodes(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.CPUs, o.Nodes, o.MemoryMiB = 12, 3, 3073
	args := qemuArgs(o, accelTCG, "", nil)
	if got, want := after(args, "-smp"), "12,sockets=3,cores=4,threads=1"; got != want {
		t.Errorf("smp %q, want %q", got, want)
	}
	if got, want := after(args, "-m"), "3072M"; got != want {
		t.Errorf("memory %q, want %q: the nodes' sum", got, want)
	}
	var nodes []string
	for i, arg := range args {
		if arg == "-numa" {
			nodes = append(nodes, args[i+1])
		}
	}
	want := []string{
		"node,nodeid=0,cpus=0-3,memdev=memory0",
		"node,nodeid=1,cpus=4-7,memdev=memory1",
		"node,nodeid=2,cpus=8-11,memdev=memory2",
	}
	if diff := cmp.Diff(want, nodes); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

func TestEveryForwardListensOnLoopback(t *testing.T) {
	t.Parallel()
	for part := range strings.SplitSeq(forwards(map[string]int{GuestAddress: 1, "10.0.2.101": 2}), ",") {
		if part != "" && !strings.HasPrefix(part, "hostfwd=tcp:127.0.0.1:") {
			t.Errorf("%q listens elsewhere", part)
		}
	}
}

// after returns the value of an option.
func after(args []string, option string) string {
	if i := slices.Index(args, option); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

func TestOptionsValidate(t *testing.T) {
	t.Parallel()
	if err := testOptions().validate(); err != nil {
		t.Fatalf("the defaults: %v", err)
	}
	for name, change := range map[string]func(*Options){
		"no image":                 func(o *Options) { o.Image = Image{} },
		"no directory":             func(o *Options) { o.Dir = "" },
		"uneven nodes":             func(o *Options) { o.CPUs, o.Nodes = 8, 3 },
		"more nodes than CPUs":     func(o *Options) { o.CPUs, o.Nodes = 1, 2 },
		"negative nodes":           func(o *Options) { o.Nodes = -1 },
		"too little memory":        func(o *Options) { o.MemoryMiB = 600 },
		"a negative disk":          func(o *Options) { o.DiskGiB = -1 },
		"an unknown accelerator":   func(o *Options) { o.Accelerator = "xen" },
		"a name with a line break": func(o *Options) { o.Hostname = "a\nb" },
		"an address elsewhere":     func(o *Options) { o.Addresses = []string{"192.0.2.1"} },
		"not an address":           func(o *Options) { o.Addresses = []string{"10.0.2.101,guestfwd=x"} },
	} {
		o := testOptions()
		change(&o)
		if err := o.validate(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
