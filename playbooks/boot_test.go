package playbooks

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const systemd = "/lib/systemd/systemd"

// asSystemdReads has systemd load units in its test mode, which starts nothing, and returns what it says of each: its
// properties in order, as "After: local-fs.target" without the origin.
func asSystemdReads(t *testing.T, files map[string]string, target string) map[string][]string {
	t.Helper()
	if _, err := os.Stat(systemd); err != nil {
		t.Skip("systemd is not here (Debian: apt-get install systemd)")
	}
	dir, err := os.MkdirTemp("", "kloigos-units-") // of root alone, t.TempDir() would be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if to, isLink := strings.CutPrefix(text, "-> "); isLink {
			err = os.Symlink(to, file)
		} else {
			err = os.WriteFile(file, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = os.Chmod(path, 0o755)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), systemd, "--test", "--system", "--no-pager", "--unit="+target)
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin", "SYSTEMD_UNIT_PATH=" + dir + ":/lib/systemd/system", "XDG_RUNTIME_DIR=" + dir}
	if os.Geteuid() == 0 { // it refuses its test mode to root
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out[max(0, len(out)-2000):])
	}
	units, unit := map[string][]string{}, ""
	for line := range bytes.Lines(out) {
		text := strings.TrimSpace(string(line))
		if name, ok := strings.CutPrefix(text, "-> Unit "); ok {
			unit = strings.TrimSuffix(name, ":")
			continue
		}
		if unit != "" && bytes.HasPrefix(line, []byte("\t\t")) {
			text, _, _ = strings.Cut(text, " (") // where it comes from
			units[unit] = append(units[unit], text)
		}
	}
	return units
}

// mountUnit is what the module of volumes writes for a unit.
func mountUnit(t *testing.T) string {
	t.Helper()
	needAnsible(t)
	out, err := exec.Command(python, "-B", "-c", `
import importlib.util
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("volumes", "library/kloigos_volumes.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
print(m.MOUNT_UNIT.format(name="h1-cu01", device="/dev/kloigos-vg/cu01", mount="/mnt/kloigos/h1/cu01"))
`).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// A volume that is gone, or an address that can't be set, keeps its own tenant waiting and nobody else: no login waits for
// a unit's mount or service. systemd waits 90 s for a disk.
func TestLoginsDoNotWaitForUnits(t *testing.T) {
	t.Parallel()
	service, err := os.ReadFile("roles/unit_network_base/files/kloigos-unit@.service")
	if err != nil {
		t.Fatal(err)
	}
	const mount, unit, network, sshd = "mnt-kloigos-h1-cu01.mount", "kloigos-unit@h1-cu01.service", "kloigos-net@h1-cu02.service", "kloigos-sshd@h1-cu02.service"
	own := map[string]string{}
	for _, name := range []string{"kloigos-net@.service", "kloigos-sshd@.service"} {
		text, err := os.ReadFile("roles/unit_network_base/files/" + name)
		if err != nil {
			t.Fatal(err)
		}
		own[name] = regexp.MustCompile(`(?m)^Exec(\w+)=.*$`).ReplaceAllString(string(text), "Exec$1=/bin/true")
	}
	units := asSystemdReads(t, map[string]string{
		"kloigos-net@.service": own["kloigos-net@.service"], "kloigos-sshd@.service": own["kloigos-sshd@.service"],
		"multi-user.target.wants/" + network: "-> ../kloigos-net@.service", "multi-user.target.wants/" + sshd: "-> ../kloigos-sshd@.service",
		mount: mountUnit(t), "kloigos-unit@.service": strings.Replace(string(service), "/usr/local/lib/kloigos/unit", "/bin/true", 1),
		"local-fs.target.wants/" + mount: "-> ../" + mount, "multi-user.target.wants/" + unit: "-> ../kloigos-unit@.service",
		// A login waits for the first of these, and sshd, logind and all other services for the second.
		"multi-user.target.wants/login.service": "-> ../login.service",
		"login.service":                         "[Unit]\nAfter=systemd-user-sessions.service\nWants=systemd-user-sessions.service\n[Service]\nExecStart=/bin/true\n",
	}, "multi-user.target")
	for _, name := range []string{unit, network, sshd} {
		if !slices.Contains(units["multi-user.target"], "Wants: "+name) {
			t.Fatalf("the boot does not want %s: this test would show nothing", name)
		}
	}
	if !slices.Contains(units[sshd], "After: "+network) || slices.Contains(units[sshd], "Requires: "+network) {
		t.Errorf("a unit's sshd comes after its network and does not end with it: %q", units[sshd])
	}
	if !slices.Contains(units["local-fs.target"], "Wants: "+mount) {
		t.Fatal("the boot does not want the unit's mount and service: this test would show nothing")
	}
	waits, next := map[string]string{}, []string{"login.service"} // for what, and through what
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		for _, line := range units[name] {
			if after, ok := strings.CutPrefix(line, "After: "); ok && waits[after] == "" {
				waits[after] = name
				next = append(next, after)
			}
		}
	}
	for _, name := range []string{"basic.target", "local-fs.target", "systemd-user-sessions.service"} {
		if waits[name] == "" {
			t.Errorf("a login does not wait for %s: this test would show nothing", name)
		}
	}
	for _, name := range []string{mount, unit, network, sshd, `dev-kloigos\x2dvg-cu01.device`} {
		if through := waits[name]; through != "" {
			t.Errorf("%s, and so every login, waits for %s", through, name)
		}
	}
}

// narrowing is every setting by which a drop-in for all users could take from a tenant what was promised, or give more.
const narrowing = `[Slice]
CPUQuota=50%
CPUQuotaPeriodSec=10ms
CPUWeight=1
StartupCPUWeight=1
AllowedCPUs=7
StartupAllowedCPUs=7
AllowedMemoryNodes=1
StartupAllowedMemoryNodes=1
MemoryMin=1M
MemoryLow=1M
MemoryHigh=1M
MemoryMax=1M
MemorySwapMax=1M
TasksMax=7
IOWeight=1
StartupIOWeight=1
IODeviceWeight=/dev/null 1
IOReadBandwidthMax=/dev/null 1
IOWriteBandwidthMax=/dev/null 1
IOReadIOPSMax=/dev/null 1
IOWriteIOPSMax=/dev/null 1
IODeviceLatencyTargetSec=/dev/null 1
IPAddressAllow=localhost
IPAddressDeny=any
DevicePolicy=strict
DeviceAllow=/dev/null r
DisableControllers=cpu io
SocketBindAllow=1
SocketBindDeny=any
RestrictNetworkInterfaces=lo
ManagedOOMSwap=kill
ManagedOOMMemoryPressure=kill
ManagedOOMMemoryPressureLimit=1%
ManagedOOMPreference=avoid
CPUShares=2
StartupCPUShares=2
MemoryLimit=1M
BlockIOWeight=10
StartupBlockIOWeight=10
BlockIODeviceWeight=/dev/null 10
BlockIOReadBandwidth=/dev/null 1
BlockIOWriteBandwidth=/dev/null 1
`

// What others set for the slices of all users narrows nothing of a tenant's: with our drop-in, systemd reads the same
// whether theirs are there or not.
func TestEveryLimitOfATenantIsReset(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("roles/unit_allocate/templates/slice.conf.j2")
	if err != nil {
		t.Fatal(err)
	}
	ours := strings.NewReplacer("{{ unit_allocate_unit.name }}", "h1-cu01", "{{ unit_allocate_unit.cpus }}", "1-2", "{{ unit_allocate_unit.memory_nodes }}", "0",
		"{{ unit_allocate_unit.memory_high_bytes }}", "536870912", "{{ unit_allocate_unit.memory_max_bytes }}", "1073741824", "{{ unit_allocate_unit.tasks_max }}", "2048").Replace(string(text))
	const slice, mine, theirs = "user-70001.slice", "user-70001.slice.d/zz-kloigos.conf", "user-.slice.d/99-narrow.conf"
	read := func(dropIns ...string) (limits []string) {
		t.Helper()
		files := map[string]string{
			"multi-user.target.wants/tenant.service": "-> ../tenant.service",
			"tenant.service":                         "[Service]\nSlice=" + slice + "\nExecStart=/bin/true\n",
		}
		for _, name := range dropIns {
			files[name] = map[string]string{mine: ours, theirs: narrowing}[name]
		}
		of, begun := asSystemdReads(t, files, "multi-user.target")[slice], false
		for _, line := range of {
			begun = begun || strings.HasPrefix(line, "CPUAccounting: ")
			if strings.HasPrefix(line, "-> Job") {
				break
			}
			if begun && !strings.Contains(line, "Accounting: ") {
				limits = append(limits, line)
			}
		}
		return limits
	}
	promised, held, narrowed := read(mine), read(mine, theirs), read(theirs)
	if diff := cmp.Diff(promised, held); diff != "" {
		t.Errorf("a drop-in for all users changes a tenant's limits (-promised +held):\n%s", diff)
	}
	for _, want := range []string{"AllowedCPUs: 1-2", "AllowedMemoryNodes: 0", "CPUQuotaPerSecSec: infinity", "MemoryHigh: 536870912", "MemoryMax: 1073741824", "MemorySwapMax: 0", "TasksMax: 2048"} {
		if !slices.Contains(held, want) {
			t.Errorf("%s is not held in\n%s", want, strings.Join(held, "\n"))
		}
	}
	same := 0
	for _, line := range narrowed {
		if slices.Contains(promised, line) {
			same++
		}
	}
	if settings := strings.Count(narrowing, "="); len(narrowed)-same < settings {
		t.Errorf("only %d of %d settings were read without ours: this test would show little\n%s", len(narrowed)-same, settings, strings.Join(narrowed, "\n"))
	}
}
