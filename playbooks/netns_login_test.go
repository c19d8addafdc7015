package playbooks

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// loginHost boots the systemd of this machine over a copy of its files that is thrown away, as process 1 of namespaces of
// its own. $1/units are its units, $1/out is where the script there is found and speaks.
const loginHost = `set -e
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

// loginPut renders the roles' templates for a unit, as unit_allocate would with a network of its own.
const loginPut = `
import jinja2, os, sys
root, module = sys.argv[1:]
unit = {"name": "h1-cu01", "mount": "/mnt/kloigos/h1/cu01", "memory_max_bytes": 1 << 24}
allocation = {"login_user": "alice", "uid": 70001, "address": "10.9.0.101", "prefix": 24, "gateway": "10.9.0.2"}
values = {"host_initialize_uplink": "up0", "unit_allocate_unit": unit, "unit_allocate_allocation": allocation, "unit_allocate_uplink": "up0",
          "unit_allocate_network": "unit", "unit_allocate_service": "kloigos-net@h1-cu01.service"}
env = jinja2.Environment(trim_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined)
def put(source, path, mode=0o644, without=()):
    with open("roles/" + source) as file:
        text = env.from_string(file.read()).render(**values) if source.endswith(".j2") else file.read()
    os.makedirs(os.path.dirname(root + path), exist_ok=True)
    with open(root + path, "w") as file:
        file.writelines(line for line in text.splitlines(True) if not any(word in line for word in without))
    os.chmod(root + path, mode)
base, initialize, allocate = "unit_network_base/files/", "host_initialize/templates/", "unit_allocate/templates/"
for name in ("kloigos-net@.service", "kloigos-sshd@.service"):
    put(base + name, "/units/" + name)
put(initialize + "kloigos-nft.service.j2", "/units/kloigos-nft.service")
put(initialize + "kloigos.nft.j2", "/out/etc/kloigos/kloigos.nft")
for name, source in (("nft-load", initialize + "nft-load.j2"), ("unit", base + "unit.py"), ("unit-net", base + "net.py")):
    put(source, "/out/usr/local/lib/kloigos/" + name, 0o755)
# Not all kernels that this runs on have AppArmor.
put(allocate + "manager.conf.j2", "/units/user@70001.service.d/50-kloigos.conf", without=["AppArmorProfile"])
put(allocate + "shell.j2", "/out/usr/local/lib/kloigos/shells/h1-cu01", 0o755, without=["(enforce)"])
put(allocate + "network.conf.j2", "/units/user@70001.service.d/60-kloigos-network.conf")
put(allocate + "namespace.conf.j2", "/out/etc/security/namespace.d/50-kloigos-70001.conf")
put(allocate + "network.nft.j2", "/out/etc/kloigos/nft/70001.nft")
put(allocate + "address.conf.j2", "/out/etc/kloigos/networks/h1-cu01.conf")
put(allocate + "sshd.conf.j2", "/out/etc/kloigos/sshd/h1-cu01.conf")
put("unit_confinement_base/files/sshd.conf", "/out/etc/kloigos/host-sshd.conf")
put("unit_confinement_base/files/pam_env.conf", "/out/etc/kloigos/pam_env.conf")
with open("library/kloigos_unit.py") as source, open(root + "/out/kloigos_unit.py", "w") as file:
    file.write(source.read())
with open(root + "/out/module.py", "w") as file:
    file.write(module)
for name, text in (("test.target", "[Unit]\nRequires=test.service dbus.socket systemd-journald.service\nAfter=test.service\n"),
                   ("test.service", "[Unit]\nDefaultDependencies=no\nAfter=dbus.socket\n[Service]\nType=oneshot\nTimeoutStartSec=150\n"
                    "ExecStart=/bin/bash -c 'bash /out/script >/out/log 2>&1'\nExecStopPost=/bin/kill -RTMIN+14 1\n"),
                   ("host-sshd.service", "[Service]\nType=notify\nExecStart=/usr/sbin/sshd -D -f /etc/kloigos/host-sshd.conf\n"
                    "RuntimeDirectory=sshd\nRuntimeDirectoryPreserve=yes\n")):
    with open(root + "/units/" + name, "w") as file:
        file.write(text)
`

// loginModule has kloigos_unit bring the unit's network and sshd up, or take them down, and says what it did.
const loginModule = `
import importlib.util, subprocess, sys
spec = importlib.util.spec_from_file_location("kloigos_unit", "/out/kloigos_unit.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
class Module:
    check_mode = False
    params = {"network": "unit", "unit": {"id": "u1", "name": "h1-cu01"}, "allocation": {"id": "a1", "login_user": "alice", "uid": 70001, "address": "10.9.0.101"}}
    def run_command(self, argv, **_):
        done = subprocess.run(argv, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr
    def fail_json(self, msg, **_):
        sys.exit(msg)
unit = m.Unit(Module())
if sys.argv[1] == "up":
    unit.bring_up()
    unit.start_sshd()
else:
    unit.take_down(True)
print("; ".join(unit.done) or "nothing")
`

// loginScript runs there. What it says of each thing goes to /out/said, a line each.
const loginScript = `
say() { echo "$1: $(echo $2 | tr -d '\r')" >>/out/said; }
cp -r /out/etc /out/usr /
mkdir -p /etc/kloigos/keys /etc/kloigos/unit-keys /mnt/kloigos/h1/cu01/home /mnt/kloigos/h1/cu01/tmp /mnt/kloigos/h1/cu01/var-tmp
chmod 711 /etc/kloigos /etc/kloigos/*keys /mnt/kloigos/h1/cu01/*tmp
mkdir -m 1777 /mnt/kloigos/h1/cu01/tmp/alice /mnt/kloigos/h1/cu01/var-tmp/alice
groupadd kloigos-tenants && groupadd -g 70001 alice
useradd -K UID_MAX=80000 -u 70001 -g 70001 -G kloigos-tenants -m -d /mnt/kloigos/h1/cu01/home/alice -s /usr/local/lib/kloigos/shells/h1-cu01 -p '*' alice
ssh-keygen -q -t ed25519 -N '' -f /run/key && ssh-keygen -A
key() { cp /run/key.pub $1/alice && chown root:70001 $1/alice && chmod 640 $1/alice; }
key /etc/kloigos/unit-keys
printf 'auth required pam_permit.so\naccount required pam_permit.so\nsession required pam_systemd.so\n' >/etc/pam.d/systemd-user
cp /etc/pam.d/systemd-user /etc/pam.d/sshd
printf 'session required pam_env.so readenv=0 conffile=/etc/kloigos/pam_env.conf\nsession required pam_namespace.so ignore_instance_parent_mode\n' >>/etc/pam.d/sshd
ip link set lo up && ip netns add far && ip link add up0 type veth peer name up1 netns far
ip link set up0 up && ip address add 10.9.0.15/24 dev up0
ip -n far link set up1 up && ip -n far address add 10.9.0.2/24 dev up1
systemctl daemon-reload
systemctl start dbus.service systemd-logind.service
for time in first second; do say "brought up, the $time time" "$(/usr/bin/python3 -B /out/module.py up)"; done
read -r address net ipc </run/kloigos/ready/h1-cu01
named() { sed "s/net:\[$net\]/own-net/; s/ipc:\[$ipc\]/own-ipc/"; }
options="-i /run/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ConnectTimeout=5"
login() { timeout 40 ip netns exec far ssh $options "$@" 2>&1; }
spaces='readlink /proc/self/ns/net /proc/self/ns/ipc'
say command "$(login alice@$address "$spaces" | named)"
say service "$(login alice@$address "systemd-run --user --quiet --pipe --wait $spaces" | named)"
say terminal "$(login -tt alice@$address tty)"
say terminals "$(login alice@$address 'grep " /dev/pts " /proc/self/mountinfo | grep -o "max=.*" | tail -n1')"
say "shared memory" "$(login alice@$address 'df --output=source /dev/shm | tail -n1')"
say addresses "$(login alice@$address "ip -4 -o address | tr -s ' ' | cut -d' ' -f4")"
echo pwd | timeout 40 ip netns exec far sftp -q $options alice@$address >/out/sftp 2>&1
say sftp "$(grep -o '/mnt/.*' /out/sftp)"
say "root at the unit" "$(login root@$address true)"
printf 'PidFile none\nUsePAM yes\nPort 22\n' | cat - /etc/kloigos/host-sshd.conf >/run/new && mv /run/new /etc/kloigos/host-sshd.conf
systemctl start host-sshd.service
say "at the host" "$(login alice@10.9.0.15 true)"
key /etc/kloigos/keys
say "at the host with a key" "$(login alice@10.9.0.15 true)"
rm /etc/kloigos/keys/alice
program=/usr/local/lib/kloigos/unit-net
nft flush ruleset
say "no filter" "$($program check h1-cu01)"
say "login without filter" "$(login -o ConnectTimeout=3 alice@$address true | grep -c .)"
$program repair h1-cu01 >/out/repair
systemctl restart kloigos-net@h1-cu01.service
say "sshd after repair and restart" "$(systemctl is-active kloigos-sshd@h1-cu01.service)"
say "login after repair" "$(login alice@$address "$spaces" | named)"
systemctl stop user@70001.service
for time in first second; do say "taken down, the $time time" "$(/usr/bin/python3 -B /out/module.py down)"; done
say "mounts that are left" "$(grep -cE ' /run/(kloigos/|netns/kloigos)' /proc/self/mountinfo)"
systemctl start kloigos-sshd@h1-cu01.service
say "sshd brings the network along" "$(systemctl is-active kloigos-sshd@h1-cu01.service)"
systemctl stop kloigos-sshd@h1-cu01.service kloigos-net@h1-cu01.service kloigos-nft.service
$program down h1-cu01
chmod -x /usr/local/lib/kloigos/nft-load
nft flush ruleset
systemctl start kloigos-sshd@h1-cu01.service
say "sshd without filter" "$(systemctl is-active kloigos-sshd@h1-cu01.service)"
echo >/out/ended
`

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

// Every way in leads to the unit's namespaces, on a real systemd with a real sshd; the host's sshd admits nobody there.
func TestLoginsAreInTheUnitsNetwork(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root: it boots a systemd of its own")
	}
	for _, tool := range []string{"/usr/bin/unshare", "/usr/sbin/ip", "/usr/sbin/nft", "/usr/sbin/sshd", systemd, "/usr/bin/dbus-daemon", "/usr/bin/sftp"} {
		if _, err := os.Stat(tool); err != nil {
			t.Skipf("no %s here (Debian: apt-get install util-linux iproute2 nftables openssh-server openssh-client systemd dbus libpam-systemd)", tool)
		}
	}
	if modules, _ := filepath.Glob("/lib/*/security/pam_systemd.so"); len(modules) == 0 {
		t.Skip("no pam_systemd here (Debian: apt-get install libpam-systemd)")
	}
	if exec.Command(python, "-c", "import jinja2").Run() != nil {
		t.Skip("Ansible is not here (Debian: apt-get install ansible)")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, "-B", "-c", loginPut, dir, loginModule).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "out/script"), []byte(loginScript), 0o600); err != nil {
		t.Fatal(err)
	}
	host := exec.CommandContext(t.Context(), "bash", "-c", `echo $$ >"$0" && exec unshare --mount --pid --net --uts --ipc --cgroup --fork --kill-child bash -c "$@"`,
		ownCgroup(t)+"/cgroup.procs", loginHost, "bash", dir)
	host.WaitDelay = time.Second
	timer := time.AfterFunc(4*time.Minute, func() { _ = host.Process.Kill() })
	defer timer.Stop()
	said, _ := host.CombinedOutput() // how it ends says nothing: it is killed by its own hand
	if _, err := os.Stat(filepath.Join(dir, "out/booting")); err != nil {
		t.Skipf("no systemd can be booted here: %s", said)
	}
	log, _ := os.ReadFile(filepath.Join(dir, "out/log"))
	if _, err := os.Stat(filepath.Join(dir, "out/ended")); err != nil {
		t.Fatalf("it did not come to an end\n%s\n%s", said, log)
	}
	lines, err := os.ReadFile(filepath.Join(dir, "out/said"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(string(lines)) {
		what, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		got[what] = value
	}
	want := map[string]string{
		"brought up, the first time": "enabled kloigos-net@h1-cu01.service; brought up the unit (missing: packet filter, " +
			"missing: network namespace kloigos-h1-cu01); enabled kloigos-sshd@h1-cu01.service; started kloigos-sshd@h1-cu01.service",
		"brought up, the second time": "nothing",
		"taken down, the first time": "disabled kloigos-sshd@h1-cu01.service; stopped kloigos-sshd@h1-cu01.service; " +
			"disabled kloigos-net@h1-cu01.service; stopped kloigos-net@h1-cu01.service; took the network, its IPC and its terminals",
		"taken down, the second time": "nothing",

		"command": "own-net own-ipc", "service": "own-net own-ipc", "terminal": "/dev/pts/0", "terminals": "max=256", "shared memory": "kloigos",
		"addresses": "127.0.0.1/8 10.9.0.101/32", "sftp": "/mnt/kloigos/h1/cu01/home/alice",
		"root at the unit": "root@10.9.0.101: Permission denied (publickey).", "at the host": "alice@10.9.0.15: Permission denied (publickey).",
		"at the host with a key": "This unit is not ready: no network of its own. Please tell your administrator.",
		"no filter":              "missing: packet filter", "login without filter": "1",
		"sshd after repair and restart": "active", "login after repair": "own-net own-ipc", "mounts that are left": "0",
		"sshd brings the network along": "active", "sshd without filter": "inactive",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, log)
	}
}
