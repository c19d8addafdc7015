package playbooks

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// managerPut renders what unit_allocate puts beside the user manager of a tenant, for alice (70001) of h1-a-cu01.
const managerPut = `
import jinja2, sys
unit = {"name": "h1-a-cu01", "volume": "cu01", "mount": "/mnt/kloigos/h1-a/cu01", "memory_max_bytes": 1 << 24}
values = {"unit_allocate_unit": unit, "unit_allocate_allocation": {"login_user": "alice", "uid": 70001},
          "unit_allocate_service": "kloigos-unit@h1-a-cu01.service", "unit_allocate_mount_unit": "mnt-kloigos-h1\\x2da-cu01.mount"}
env = jinja2.Environment(trim_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined)
with open("roles/unit_allocate/templates/manager.conf.j2") as file:
    text = env.from_string(file.read()).render(**values)
# Not all kernels that this runs on have AppArmor.
sys.stdout.writelines(line for line in text.splitlines(True) if "AppArmorProfile" not in line)
`

// lingeringScript has alice linger and log in: while her volume's disk is waited for, after it was given up, and without
// her address. bob's manager has the assertion that alice's had once.
const lingeringScript = `
for who in alice:70001 bob:70002 admin:70003; do
	name=${who%:*} id=${who#*:}
	groupadd -g $id $name
	useradd -K UID_MAX=80000 -u $id -g $id -d /mnt/kloigos/h1-a/cu01/home/$name -s /bin/bash -p '*' $name
done
usermod -d / admin
ssh-keygen -q -t ed25519 -N '' -f /run/key && ssh-keygen -A && mkdir -p /etc/kloigos
printf 'auth required pam_permit.so\naccount required pam_permit.so\nsession required pam_permit.so\nsession optional pam_systemd.so\n' >/etc/pam.d/systemd-user
cp /etc/pam.d/systemd-user /etc/pam.d/sshd
printf 'PidFile none\nUsePAM yes\nStrictModes no\nAuthorizedKeysFile /run/key.pub\n' >/etc/kloigos/host-sshd.conf
ip link set lo up
systemctl daemon-reload
systemctl start dbus.service systemd-logind.service host-sshd.service
login() { timeout ${limit:-30} ssh -F none -i /run/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR "$@" 2>&1; }
group() { login $1@127.0.0.1 'grep ^0:: /proc/self/cgroup' 2>&1 | grep ^0:: | sed 's/session-.*/session/'; }
pages() { cut -d' ' -f24 /proc/$(systemctl show -P MainPID systemd-logind.service)/stat; }
grows() { local before=$(pages); sleep 6; echo $(($(pages) - before)); }
volume() {
	(cd /mnt/kloigos/h1-a/cu01 && mkdir -p -m 711 home tmp var-tmp && mkdir -m 700 home/alice && mkdir -m 777 tmp/alice var-tmp/alice && chown alice home/alice)
}
mkdir -p /mnt/kloigos/h1-a/cu01 /run/kloigos/shm/70001/alice
volume # somebody made them below the mount
say admin "$(group admin)"
loginctl enable-linger alice
limit=2 login alice@127.0.0.1 true # who goes away while she waits
say "waiting" "$(group alice)"
say "mount" "$(systemctl is-active 'mnt-kloigos-h1\x2da-cu01.mount')"
say "given up" "$(group alice)"
say "manager" "$(systemctl is-active user@70001.service)"
say "grows without the volume" "$(grows)"
systemctl start disk.service 'mnt-kloigos-h1\x2da-cu01.mount'
volume # the directories that are on it
say "without its address" "$(group alice)"
say "manager without its address" "$(systemctl is-active user@70001.service)"
say "grows without the address" "$(grows)"
mkdir -p /run/kloigos/ready && touch /run/kloigos/ready/h1-a-cu01
say "with all" "$(group alice)"
say "manager with all" "$(systemctl is-active user@70001.service)"
say "admin after all" "$(group admin)"
say causes "$(journalctl -b -o cat --no-pager -u user@70001.service | grep '^the unit' | sort | uniq -c | sed 's/ *[0-9]* *//' | paste -sd';')"
loginctl enable-linger bob
say "an assertion" "$(grows)"
`

// systemd-logind answers everybody while a tenant who lingers logs in to a unit without its volume or its address. The
// logind of systemd 252 does not do that for a user whose manager never began: it runs in a circle, and grows.
func TestLingeringTenantsHoldNobodyUp(t *testing.T) {
	t.Parallel()
	needSystemd(t)
	needFiles(t, "iproute2 openssh-server openssh-client libpam-systemd", "/usr/sbin/ip", "/usr/sbin/sshd", "/lib/*/security/pam_systemd.so")
	if exec.Command(python, "-c", "import jinja2").Run() != nil {
		t.Skip("Ansible is not here (Debian: apt-get install ansible)")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	manager, err := exec.Command(python, "-B", "-c", managerPut).Output()
	if err != nil {
		t.Fatal(err)
	}
	said, log := onSystemd(t, dir, map[string]string{
		"host-sshd.service": hostSSHD,
		// A disk that is waited for, and does not come the first times.
		`mnt-kloigos-h1\x2da-cu01.mount`: "[Unit]\nRequires=disk.service\nAfter=disk.service\n[Mount]\nWhat=tmpfs\nWhere=/mnt/kloigos/h1-a/cu01\nType=tmpfs\n",
		"disk.service": "[Unit]\nDefaultDependencies=no\n[Service]\nType=oneshot\nRemainAfterExit=yes\n" +
			"ExecStart=/bin/sh -c 'sleep 3; test -e /run/tried-twice || { test -e /run/tried && touch /run/tried-twice; touch /run/tried; exit 1; }'\n",
		"kloigos-unit@.service":                "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n",
		"user@70001.service.d/50-kloigos.conf": string(manager),
		"user@70002.service.d/50-once.conf":    "[Unit]\nAssertPathExists=/nowhere\n",
	}, lingeringScript)
	pages := func(what string) int {
		n, err := strconv.Atoi(said[what])
		if err != nil {
			t.Fatalf("%q: %q\n%s", what, said[what], log)
		}
		return n
	}
	const few = 400 // of 4 KiB; the circle takes thousands in the same time
	if pages("an assertion") < few {
		t.Skip("this systemd-logind does not have the fault")
	}
	for _, what := range []string{"grows without the volume", "grows without the address"} {
		if n := pages(what); n > few {
			t.Errorf("%s: systemd-logind takes %d pages in 6 s", what, n)
		}
		delete(said, what)
	}
	for what, want := range map[string]string{
		"admin": "0::/user.slice/user-70003.slice/session", "admin after all": "0::/user.slice/user-70003.slice/session",
		"mount": "inactive", "waiting": "0::/system.slice/host-sshd.service", "given up": "0::/system.slice/host-sshd.service", "manager": "failed", "manager without its address": "failed", "manager with all": "active",
		"with all": "0::/user.slice/user-70001.slice/session",
		"causes":   "the unit is not ready: its volume is not mounted;the unit is not ready: no address",
	} {
		if said[what] != want {
			t.Errorf("%s: %q, want %q", what, said[what], want)
		}
	}
	if t.Failed() {
		t.Log(log)
	}
}
