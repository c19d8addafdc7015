package playbooks

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// loginPut renders the roles' templates for units, as unit_allocate would with networks of their own. Its arguments are where to, a
// module, and the units, each as name:user:UID:address.
const loginPut = `
import jinja2, os, sys
root, module, *units = sys.argv[1:]
env = jinja2.Environment(trim_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined)
def put(source, path, values, mode=0o644, without=()):
    with open("roles/" + source) as file:
        text = env.from_string(file.read()).render(**values) if source.endswith(".j2") else file.read()
    os.makedirs(os.path.dirname(root + path), exist_ok=True)
    with open(root + path, "w") as file:
        file.writelines(line for line in text.splitlines(True) if not any(word in line for word in without))
    os.chmod(root + path, mode)
base, initialize, allocate = "unit_network_base/files/", "host_initialize/templates/", "unit_allocate/templates/"
host = {"host_initialize_uplink": "up0"}
for name in ("kloigos-net@.service", "kloigos-sshd@.service"):
    put(base + name, "/units/" + name, host)
put(initialize + "kloigos-nft.service.j2", "/units/kloigos-nft.service", host)
put(initialize + "kloigos.nft.j2", "/out/etc/kloigos/kloigos.nft", host)
for name, source in (("nft-load", initialize + "nft-load.j2"), ("unit", base + "unit.py"), ("unit-net", base + "net.py")):
    put(source, "/out/usr/local/lib/kloigos/" + name, host, 0o755)
put("unit_confinement_base/files/sshd.conf", "/out/etc/kloigos/host-sshd.conf", host)
put(base + "ssh.conf", "/units/host-sshd.service.d/50-kloigos.conf", host)
put("unit_confinement_base/files/pam_env.conf", "/out/etc/kloigos/pam_env.conf", host)
for name, user, uid, address in (unit.split(":") for unit in units):
    volume = name.rpartition("-")[2]
    values = {"unit_allocate_unit": {"name": name, "mount": "/mnt/kloigos/h1/" + volume, "memory_max_bytes": 1 << 24},
              "unit_allocate_allocation": {"login_user": user, "uid": int(uid), "address": address, "prefix": 24, "gateway": "10.9.0.2"},
              "unit_allocate_uplink": "up0", "unit_allocate_network": "unit", "unit_allocate_service": "kloigos-net@%s.service" % name,
              "unit_allocate_mount_unit": "mnt-kloigos-h1-%s.mount" % volume}
    manager = "/units/user@%s.service.d/" % uid
    # Not all kernels that this runs on have AppArmor.
    put(allocate + "manager.conf.j2", manager + "50-kloigos.conf", values, without=["AppArmorProfile"])
    put(allocate + "shell.j2", "/out/usr/local/lib/kloigos/shells/" + name, values, 0o755, without=["(enforce)"])
    put(allocate + "network.conf.j2", manager + "60-kloigos-network.conf", values)
    put(allocate + "namespace.conf.j2", "/out/etc/security/namespace.d/50-kloigos-%s.conf" % uid, values)
    put(allocate + "network.nft.j2", "/out/etc/kloigos/nft/%s.nft" % uid, values)
    put(allocate + "address.conf.j2", "/out/etc/kloigos/networks/%s.conf" % name, values)
    put(allocate + "sshd.conf.j2", "/out/etc/kloigos/sshd/%s.conf" % name, values)
for path, name in (("library/kloigos_unit.py", "kloigos_unit.py"), ("module_utils/kloigos.py", "kloigos.py")):
    with open(path) as source, open(root + "/out/" + name, "w") as file:
        file.write(source.read())
with open(root + "/out/module.py", "w") as file:
    file.write(module)
`

// needLogins skips a test where a unit's sshd can't be had.
func needLogins(t *testing.T) {
	t.Helper()
	needSystemd(t)
	needFiles(t, "iproute2 nftables openssh-server openssh-client libpam-systemd dbus-user-session",
		"/usr/sbin/ip", "/usr/sbin/nft", "/usr/sbin/sshd", "/usr/bin/sftp", "/usr/lib/systemd/user/dbus.socket", "/lib/*/security/pam_systemd.so")
	if exec.Command(python, "-c", "import jinja2").Run() != nil {
		t.Skip("Ansible is not here (Debian: apt-get install ansible)")
	}
}

// putLogins renders for units and returns the directory.
func putLogins(t *testing.T, units ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, append([]string{"-B", "-c", loginPut, dir, loginModule}, units...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// hostSSHD stands for the host's ssh.service.
const hostSSHD = "[Service]\nType=notify\nExecStart=/usr/sbin/sshd -D -f /etc/kloigos/host-sshd.conf\nRuntimeDirectory=sshd\n"

// loginModule has kloigos_unit bring the unit's network and sshd up, or take them down, and says what it did.
const loginModule = `
import importlib.util, subprocess, sys
import ansible.module_utils
ansible.module_utils.__path__.append("/out")
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

// tenantsScript makes the accounts and the network of a host, and pam. tenant VOLUME USER UID makes a tenant.
const tenantsScript = `
cp -r /out/etc /out/usr /
mkdir -p /etc/kloigos/keys /etc/kloigos/unit-keys
chmod 711 /etc/kloigos /etc/kloigos/*keys
groupadd kloigos-tenants
tenant() {
	mount=/mnt/kloigos/h1/$1
	mkdir -p $mount && mount -t tmpfs $1 $mount
	mkdir -p $mount/home $mount/tmp $mount/var-tmp && chmod 711 $mount/*tmp
	mkdir -m 1777 $mount/tmp/$2 $mount/var-tmp/$2
	groupadd -g $3 $2
	useradd -K UID_MAX=80000 -u $3 -g $3 -G kloigos-tenants -m -d $mount/home/$2 -s /usr/local/lib/kloigos/shells/h1-$1 -p '*' $2
}
ssh-keygen -q -t ed25519 -N '' -f /run/key && ssh-keygen -A
printf 'auth required pam_permit.so\naccount required pam_permit.so\nsession required pam_systemd.so\n' >/etc/pam.d/systemd-user
cp /etc/pam.d/systemd-user /etc/pam.d/sshd
printf 'session required pam_env.so readenv=0 conffile=/etc/kloigos/pam_env.conf\nsession required pam_namespace.so ignore_instance_parent_mode\n' >>/etc/pam.d/sshd
ip link set lo up && ip netns add far && ip link add up0 type veth peer name up1 netns far
ip link set up0 up && ip address add 10.9.0.15/24 dev up0
ip -n far link set up1 up && ip -n far address add 10.9.0.2/24 dev up1
options="-i /run/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ConnectTimeout=5"
`

// loginScript runs after it. What it says of each thing goes to /out/said, a line each.
const loginScript = `
mkdir -p /run/systemd/resolve
printf 'search example.net\nnameserver 127.0.0.53\nnameserver 10.9.0.15\n' >/etc/resolv.conf
printf 'search example.org\nnameserver 2001:db8::53\nnameserver 10.9.0.3\n' >/run/systemd/resolve/resolv.conf
tenant cu01 alice 70001
key() { cp /run/key.pub $1/alice && chown root:70001 $1/alice && chmod 640 $1/alice; }
key /etc/kloigos/unit-keys
systemctl daemon-reload
systemctl start dbus.service systemd-logind.service
for time in first second; do say "brought up, the $time time" "$(/usr/bin/python3 -B /out/module.py up)"; done
read -r address net ipc </run/kloigos/ready/h1-cu01
named() { sed "s/net:\[$net\]/own-net/; s/ipc:\[$ipc\]/own-ipc/"; }
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
asks='grep -h nameserver /etc/resolv.conf'
say "asks for names" "$(login alice@$address "cat /etc/resolv.conf" | tr '\n' ' ')"
say "a service asks" "$(login alice@$address "systemd-run --user --quiet --pipe --wait $asks")"
printf 'nameserver 127.0.0.53\n' >/etc/new && mv /etc/new /etc/resolv.conf
printf 'nameserver 10.9.0.4\n' >/run/systemd/resolve/new && mv /run/systemd/resolve/new /run/systemd/resolve/resolv.conf
/usr/local/lib/kloigos/unit-net repair h1-cu01 >/out/repair
say "asks after a change" "$(login alice@$address "$asks")"
say "a service asks after a change" "$(login alice@$address "systemd-run --user --quiet --pipe --wait $asks")"
say "root at the unit" "$(login root@$address true)"
printf 'PidFile none\nUsePAM yes\nPort 22\n' | cat - /etc/kloigos/host-sshd.conf >/run/new && mv /run/new /etc/kloigos/host-sshd.conf
systemctl start host-sshd.service
say "at the host" "$(login alice@10.9.0.15 true)"
key /etc/kloigos/keys
say "at the host with a key" "$(login alice@10.9.0.15 true)"
rm /etc/kloigos/keys/alice
systemctl stop host-sshd.service
say "login without the host's sshd" "$(login alice@$address "$spaces" | named)"
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
`

// Every way in leads to the unit's namespaces, on a real systemd with a real sshd; the host's sshd admits nobody there.
func TestLoginsAreInTheUnitsNetwork(t *testing.T) {
	t.Parallel()
	needLogins(t)
	dir := putLogins(t, "h1-cu01:alice:70001:10.9.0.101")
	got, log := onSystemd(t, dir, map[string]string{"host-sshd.service": hostSSHD}, tenantsScript+loginScript)
	want := map[string]string{
		"brought up, the first time": "enabled kloigos-net@h1-cu01.service; brought up the unit (missing: packet filter, " +
			"missing: network namespace kloigos-h1-cu01); enabled kloigos-sshd@h1-cu01.service; started kloigos-sshd@h1-cu01.service",
		"brought up, the second time": "nothing",
		"taken down, the first time": "disabled kloigos-sshd@h1-cu01.service; stopped kloigos-sshd@h1-cu01.service; " +
			"disabled kloigos-net@h1-cu01.service; stopped kloigos-net@h1-cu01.service; took the network, its IPC and its terminals",
		"taken down, the second time": "nothing",

		"command": "own-net own-ipc", "service": "own-net own-ipc", "terminal": "/dev/pts/0", "terminals": "max=256", "shared memory": "kloigos",
		"addresses": "127.0.0.1/8 10.9.0.101/32", "sftp": "/mnt/kloigos/h1/cu01/home/alice",
		"asks for names": "search example.org nameserver 10.9.0.3", "a service asks": "nameserver 10.9.0.3",
		"asks after a change": "nameserver 10.9.0.4", "a service asks after a change": "nameserver 10.9.0.4",
		"root at the unit": "root@10.9.0.101: Permission denied (publickey).", "at the host": "alice@10.9.0.15: Permission denied (publickey).",
		"at the host with a key":        "This unit is not ready: no network of its own. Please tell your administrator.",
		"login without the host's sshd": "own-net own-ipc",
		"no filter":                     "missing: packet filter", "login without filter": "1",
		"sshd after repair and restart": "active", "login after repair": "own-net own-ipc", "mounts that are left": "0",
		"sshd brings the network along": "active", "sshd without filter": "inactive",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, log)
	}
}
