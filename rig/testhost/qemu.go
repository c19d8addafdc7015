package testhost

import (
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// The defaults of Options: two sockets of four cores, a NUMA node each, so that
// layouts, cpusets and memory nodes are real whatever this machine has.
const (
	defaultCPUs      = 8
	defaultNodes     = 2
	defaultMemoryMiB = 4096
	defaultDiskGiB   = 8

	// mebibytesPerNode is the least with which Debian boots and runs Ansible's
	// modules on one node.
	mebibytesPerNode = 512
)

// Options says what a test host looks like. Zero values mean the defaults.
type Options struct {
	Image Image  // from EnsureImage
	Dir   string // the machine's own directory; made when it is missing

	CPUs      int      // 8; a multiple of Nodes
	Nodes     int      // NUMA nodes, each a socket of its own: 2
	MemoryMiB int      // in all, shared evenly by the nodes: 4096
	DiskGiB   int      // the empty second disk, sparse: 8
	Hostname  string   // "testhost"
	Addresses []string // guest addresses whose port 22 is forwarded; nil means DefaultAddresses
	// Ports are more ports of the guest that are reached from here: "127.5.6.7:6443" leads to "10.0.2.15:6443".
	Ports map[string]string

	// Switch is the path of one that its card is on; empty: it has a network to itself.
	Switch string
	// Address is its own one in the network: GuestAddress.
	Address string
	// Through is the loopback port that another machine at the switch forwards to port 22 of Address. With it, the machine has no
	// way out but that of the other one.
	Through int

	// Detach lets the machine outlive this process. Without it the machine ends
	// with the process, however that ends.
	Detach bool
	// Accelerator is "kvm" or "tcg"; "" tries KVM and falls back to emulation.
	Accelerator string

	tscKHz int64 // of this machine's time stamp counter; 0: not known
}

func (o Options) withDefaults() Options {
	set := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	set(&o.CPUs, defaultCPUs)
	set(&o.Nodes, defaultNodes)
	set(&o.MemoryMiB, defaultMemoryMiB)
	set(&o.DiskGiB, defaultDiskGiB)
	if o.Hostname == "" {
		o.Hostname = "testhost"
	}
	if o.Address == "" {
		o.Address = GuestAddress
	}
	if o.Addresses == nil && o.Through == 0 {
		o.Addresses = DefaultAddresses()
	}
	return o
}

func (o Options) validate() error {
	switch {
	case o.Image.Root == "":
		return fmt.Errorf("no image: call EnsureImage first")
	case o.Dir == "":
		return fmt.Errorf("no directory for the machine")
	case o.Nodes < 1 || o.CPUs < o.Nodes || o.CPUs%o.Nodes != 0:
		return fmt.Errorf("%d CPUs can't be shared evenly by %d nodes", o.CPUs, o.Nodes)
	case o.MemoryMiB < o.Nodes*mebibytesPerNode:
		return fmt.Errorf("%d MiB of memory, want at least %d", o.MemoryMiB, o.Nodes*mebibytesPerNode)
	case o.Accelerator != "" && o.Accelerator != accelKVM && o.Accelerator != accelTCG:
		return fmt.Errorf("an accelerator %q, want %q or %q", o.Accelerator, accelKVM, accelTCG)
	case o.DiskGiB < 1:
		return fmt.Errorf("a disk of %d GiB", o.DiskGiB)
	case !hostname.MatchString(o.Hostname):
		return fmt.Errorf("a host name %q", o.Hostname)
	}
	for _, address := range append([]string{o.Address}, o.Addresses...) {
		parsed, err := netip.ParseAddr(address)
		if err != nil || !guestNetwork.Contains(parsed) {
			return fmt.Errorf("the address %q does not lie in the guest's network %s", address, guestNetwork)
		}
	}
	for here, there := range o.Ports {
		from, err := netip.ParseAddrPort(here)
		if err != nil || !from.Addr().IsLoopback() || !from.Addr().Is4() {
			return fmt.Errorf("the port %q is not one of this machine's loopback", here)
		}
		if to, err := netip.ParseAddrPort(there); err != nil || !guestNetwork.Contains(to.Addr()) {
			return fmt.Errorf("the port %q does not lie in the guest's network %s", there, guestNetwork)
		}
	}
	return o.validateSwitch()
}

var (
	hostname     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	guestNetwork = netip.MustParsePrefix("10.0.2.0/24")
)

// The names of what lies in a machine's directory.
const (
	rootDisk       = "root.qcow2"
	secondDisk     = "disk.raw"
	hostKeyFile    = "host_key"
	userKeyFile    = "id_ed25519"
	knownHostsFile = "known_hosts"
	hostnameFile   = "hostname"
	interfacesFile = "interfaces"
	consoleLog     = "console.log"
	qemuLog        = "qemu.log"
	pidFile        = "qemu.pid"
	monitorSocket  = "monitor"
	stateFile      = "vm.json"
)

// commandLine is the guest kernel's. AppArmor is Debian's default and stated
// all the same. The kernel's notices and what systemd waits for go to the console, so that
// a boot that never ends can be explained. The rest saves work that an emulated CPU pays for and a throwaway
// machine has no use of: mitigations, self-tests of ciphers, drivers of
// devices without a purpose here. Without a word the kernel distrusts the
// emulated TSC and asks the HPET for the time, a trap into QEMU for each look.
// It also panics where the timer does not tick while it looks (no_timer_check), as
// on a machine that is busy otherwise.
var commandLine = strings.Join([]string{
	"console=ttyS0", "loglevel=6", "systemd.show_status=auto", "apparmor=1", "security=apparmor",
	"clocksource=tsc", "tsc=reliable", "mitigations=off", "no_timer_check", "nowatchdog", "cryptomgr.notests", "8250.nr_uarts=1",
	"modprobe.blacklist=kvm_amd,kvm_intel,aesni_intel,ghash_clmulni_intel,sha512_ssse3,sha256_ssse3,sha1_ssse3," +
		"crc32_pclmul,crct10dif_pclmul,ata_piix,ata_generic,evdev,serio_raw",
}, " ")

// kernelHz is how often the guest's kernel ticks: CONFIG_HZ of Debian.
const kernelHz = 250

// clock tells the guest's kernel how fast the counter is that the emulator hands on. Left to itself it compares that with
// emulated timers; on a busy machine this failed now and then. It then asked the HPET for each time, so that all processors
// waited for one lock of the emulator, or delays were ten times too long.
func clock(accelerator string, tscKHz int64) string {
	if accelerator != accelTCG || tscKHz == 0 {
		return ""
	}
	return fmt.Sprintf(" tsc_early_khz=%d lpj=%d", tscKHz, tscKHz*1000/kernelHz)
}

// qemuArgs builds QEMU's arguments. ports maps each guest address, GuestAddress
// included, to the loopback port that its port 22 is forwarded to.
func qemuArgs(o Options, accelerator, uuid string, ports map[string]int) []string {
	at := func(name string) string { return escape(filepath.Join(o.Dir, name)) }
	args := []string{
		"-name", "kloigos-testhost",
		"-uuid", uuid,
		"-nodefaults", "-no-user-config", "-display", "none",
		"-machine", "pc,usb=off,vmport=off",
		// It needs no other program and no other user: a guest that breaks out finds little.
		"-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny",
	}
	if accelerator == accelKVM {
		args = append(args, "-accel", "kvm", "-cpu", "host")
	} else {
		// Five-level page tables make each address that the emulator resolves dearer. A processor with erms has the kernel and
		// the C library copy and clear memory byte by byte (rep movsb), which the emulator does one byte after the other:
		// without it a read of a megabyte takes a sixth of the time, a new page two thirds.
		args = append(args, "-accel", "tcg,thread=multi", "-cpu", "max,la57=off,erms=off")
	}

	perNode := o.CPUs / o.Nodes
	args = append(args,
		"-smp", fmt.Sprintf("%d,sockets=%d,cores=%d,threads=1", o.CPUs, o.Nodes, perNode),
		"-m", fmt.Sprintf("%dM", o.MemoryMiB/o.Nodes*o.Nodes))
	for node := range o.Nodes {
		args = append(args,
			"-object", fmt.Sprintf("memory-backend-ram,id=memory%d,size=%dM", node, o.MemoryMiB/o.Nodes),
			"-numa", fmt.Sprintf("node,nodeid=%d,cpus=%d-%d,memdev=memory%d", node, node*perNode, (node+1)*perNode-1, node))
	}

	args = append(args,
		"-kernel", o.Image.Kernel, "-initrd", o.Image.Initrd, "-append", commandLine+clock(accelerator, o.tscKHz),
		// cache=unsafe: a flush by the guest need not reach this machine's disk,
		// the page cache survives QEMU and nothing here outlives a power cut.
		"-drive", "if=none,id=root,format=qcow2,cache=unsafe,discard=unmap,file="+at(rootDisk),
		"-device", "virtio-blk-pci,drive=root,serial=root,addr=0x4",
		"-drive", "if=none,id=disk,format=raw,cache=unsafe,discard=unmap,file="+at(secondDisk),
		"-device", "virtio-blk-pci,drive=disk,serial="+DiskSerial+",addr=0x5",
		"-device", "virtio-rng-pci,addr=0x6",
	)
	args = append(args, o.network(ports)...)
	args = append(args,
		// Slot 3 makes it ens3 in the guest. Without its ROM the BIOS tries no network boot.
		"-device", "virtio-net-pci,netdev=net,addr=0x3,romfile="+o.hardwareAddress(),
	)
	for _, given := range [][2]string{
		{"host-key", hostKeyFile},
		{"host-key.pub", hostKeyFile + ".pub"},
		{"authorized-keys", userKeyFile + ".pub"},
		{"hostname", hostnameFile},
		{"interfaces", interfacesFile},
	} {
		args = append(args, "-fw_cfg", "name=opt/kloigos.testhost/"+given[0]+",file="+at(given[1]))
	}
	return append(args,
		"-chardev", "file,id=console,append=on,path="+at(consoleLog),
		"-serial", "chardev:console",
		// QEMU runs in the machine's directory: a relative name can't be too long for a socket.
		"-monitor", "unix:"+monitorSocket+",server=on,wait=off")
}

// forwards is the part of a user network's description that forwards ports, in
// a stable order.
func forwards(ports map[string]int) string {
	addresses := make([]string, 0, len(ports))
	for address := range ports {
		addresses = append(addresses, address)
	}
	sort.Strings(addresses)
	var out strings.Builder
	for _, address := range addresses {
		fmt.Fprintf(&out, ",hostfwd=tcp:%s:%d-%s:22", LoopbackHost, ports[address], address)
	}
	return out.String()
}

// ports is the same for the ports that were asked for beside.
func (o Options) ports() string {
	var out strings.Builder
	for _, here := range slices.Sorted(maps.Keys(o.Ports)) {
		fmt.Fprintf(&out, ",hostfwd=tcp:%s-%s", here, o.Ports[here])
	}
	return out.String()
}

// escape doubles commas, which separate the fields of a QEMU option.
func escape(path string) string { return strings.ReplaceAll(path, ",", ",,") }
