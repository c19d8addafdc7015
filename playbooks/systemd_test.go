package playbooks

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// bootScript boots the systemd of this machine over a copy of its files that is thrown away, as process 1 of namespaces of
// its own. $1/units are its units. $1/out is /out there.
const bootScript = `set -e
mount --make-rprivate /
mkdir -p $1/root && mount -t tmpfs upper $1/root && mkdir $1/root/upper $1/root/work $1/root/all
mount -t overlay all -o lowerdir=/,upperdir=$1/root/upper,workdir=$1/root/work $1/root/all
all=$1/root/all
mount -t proc proc $all/proc && mount -t sysfs sysfs $all/sys && mount -t tmpfs cgroup $all/sys/fs/cgroup
umount $all/sys/fs/cgroup && mount -t cgroup2 cgroup $all/sys/fs/cgroup
mount -t tmpfs -o mode=755 run $all/run && mount -t tmpfs tmp $all/tmp && mount -t tmpfs -o mode=755 dev $all/dev
for name in null zero full random urandom tty; do touch $all/dev/$name; mount --bind /dev/$name $all/dev/$name; done
mkdir $all/dev/pts $all/dev/shm $all/dev/mqueue
mount -t devpts -o newinstance,ptmxmode=0666,gid=5,mode=620 devpts $all/dev/pts
mknod -m 666 $all/dev/ptmx c 5 2
rm -rf $all/etc/systemd/system/* && mkdir -p $all/out
cp -r $1/units/. $all/etc/systemd/system && mount --bind $1/out $all/out
cd $all && mkdir -p old && pivot_root . old && umount -l /old && mount --make-rshared /
echo >/out/booting
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin SYSTEMD_UNIT_PATH=/etc/systemd/system:/lib/systemd/system \
	/lib/systemd/systemd --system --unit=test.target
`

// bootUnits run /out/script, and then stop the machine.
var bootUnits = map[string]string{
	"test.target": "[Unit]\nRequires=test.service dbus.socket systemd-journald.service\nAfter=test.service\n",
	"test.service": "[Unit]\nDefaultDependencies=no\nAfter=dbus.socket\n[Service]\nType=oneshot\nTimeoutStartSec=150\n" +
		"ExecStart=/bin/bash -c 'bash /out/script >/out/log 2>&1'\nExecStopPost=/bin/kill -RTMIN+14 1\n",
}

// onSystemd boots a systemd with these units (by file name; drop-ins as name.d/file) and runs the script there, in bash as
// root. The script says a value with: say "what" "value". Returns what was said and the script's own output. dir/out is /out
// there, so a test can leave files in it before. dbus and logind are not started; the network has only lo, which is down.
func onSystemd(t *testing.T, dir string, units map[string]string, script string) (said map[string]string, log string) {
	t.Helper()
	needSystemd(t)
	files := map[string]string{"out/script": "say() { echo \"$1: $(echo $2 | tr -d '\\r')\" >>/out/said; }\n" + script + "\necho >/out/ended\n"}
	for _, some := range []map[string]string{bootUnits, units} {
		for name, text := range some {
			files["units/"+name] = text
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	machine := exec.CommandContext(t.Context(), "bash", "-c", `echo $$ >"$0" && exec unshare --mount --pid --net --uts --ipc --cgroup --fork --kill-child bash -c "$@"`,
		ownCgroup(t)+"/cgroup.procs", bootScript, "bash", dir)
	machine.WaitDelay = time.Second
	timer := time.AfterFunc(4*time.Minute, func() { _ = machine.Process.Kill() })
	defer timer.Stop()
	booting, _ := machine.CombinedOutput() // how it ends says nothing: it is killed by its own hand
	if _, err := os.Stat(filepath.Join(dir, "out/booting")); err != nil {
		t.Skipf("no systemd can be booted here: %s", booting)
	}
	output, _ := os.ReadFile(filepath.Join(dir, "out/log"))
	if _, err := os.Stat(filepath.Join(dir, "out/ended")); err != nil {
		t.Fatalf("it did not come to an end\n%s\n%s", booting, output)
	}
	lines, err := os.ReadFile(filepath.Join(dir, "out/said"))
	if err != nil {
		t.Fatal(err)
	}
	said = map[string]string{}
	for line := range strings.Lines(string(lines)) {
		what, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		said[what] = value
	}
	return said, string(output)
}

func needSystemd(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: it boots a systemd of its own")
	}
	needFiles(t, "util-linux systemd dbus", "/usr/bin/unshare", systemd, "/usr/bin/dbus-daemon")
}

func needFiles(t *testing.T, packages string, files ...string) {
	t.Helper()
	for _, file := range files {
		if found, _ := filepath.Glob(file); len(found) == 0 {
			t.Skipf("no %s here (Debian: apt-get install %s)", file, packages)
		}
	}
}

// ownCgroup makes a control group for a systemd, which would otherwise make its slices beside this machine's.
func ownCgroup(t *testing.T) string {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	at := regexp.MustCompile(`(?m)^\S+ \S+ \S+ / (\S+) .* - cgroup2 `).FindSubmatch(mounts)
	within := regexp.MustCompile(`(?m)^0::(.*)$`).FindSubmatch(groups)
	if at == nil || within == nil {
		t.Skip("no control groups of version 2 here")
	}
	dir, err := os.MkdirTemp(filepath.Join(string(at[1]), string(within[1])), "kloigos-test-")
	if err != nil {
		t.Skipf("no control group can be made here: %v", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // a tenant reads in it
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var made []string
		_ = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				made = append(made, path)
			}
			return nil
		})
		slices.Reverse(made)
		for _, path := range made {
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		}
	})
	return dir
}

// Process 1 there is a systemd that runs units with their drop-ins.
func TestSystemdOfItsOwn(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	said, log := onSystemd(t, dir, map[string]string{
		"hello.service":               "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh -c 'echo $$WORD >/run/hello'\n",
		"hello.service.d/10-one.conf": "[Service]\nEnvironment=WORD=drop-in\n",
	}, `
say "process 1" "$(cat /proc/1/comm) $(grep ^0:: /proc/self/cgroup)"
systemctl start hello.service
say hello "$(systemctl is-active hello.service) $(cat /run/hello)"
say failing "$(systemctl start none.service 2>&1 | head -n1)"
`)
	if said["hello"] != "active drop-in" || said["process 1"] != "systemd 0::/system.slice/test.service" ||
		said["failing"] != "Failed to start none.service: Unit none.service not found." {
		t.Errorf("%q\n%s", said, log)
	}
}
