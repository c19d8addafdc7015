#!/usr/bin/python
"""Owns the life of a tenant on its unit: who may take the unit, what runs for him, and that nothing runs any more.

C(claimed) refuses a unit, a UID or a login name that is somebody else's, and a volume that is not there or not empty;
then it takes back the mark that says the volume is wiped. C(running) makes the kernel follow the files that were put
for the tenant (profile, address, user manager) and then reads what the kernel really enforces. C(stopped) ends all of
it: it takes the keys first, so that nobody comes in again, and kills until no process of the UID is left.

Everything is decided by what is there now, never by what an earlier task changed: a run that was cut anywhere
converges. It writes no configuration.

Accounts and groups are asked for by name and by number as well as listed: a directory (SSSD, LDAP) answers for people
whom it does not list. Only accounts of /etc/passwd can be a tenant's.

Where the unit is promised to nobody and the login name or the UID is an account's or a group's of the host, nothing of
this tenant ever came here: C(stopped) then touches neither and returns C(foreign). It returns the same where the tenant
has no account and a directory knows the UID: processes and files of that UID are not the tenant's. C(removed) takes the
account and its group out of /etc/passwd and /etc/group, and leaves what comes from elsewhere alone.
"""

from __future__ import annotations

import glob
import grp
import json
import os
import pwd
import re
import signal
import time

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.kloigos import Work, read

DOCUMENTATION = r"""
module: kloigos_unit
short_description: Claim a compute unit, run its tenant, or stop him
options:
  state: {type: str, required: true, choices: [claimed, running, stopped, removed], description: See above}
  unit: {type: dict, required: true, description: The unit as stored by Kloigos}
  allocation: {type: dict, required: true, description: id, login_user, uid and address}
  volume_group: {type: str, required: true, description: Where the volume of the unit lies}
  profile_version: {type: str, description: Mark inside the AppArmor profile; needed for state running}
  network: {type: str, choices: [host, unit], default: host, description: Whether the address lies on the host or in a network of the unit's own}
author: Kloigos
"""

# As in the drop-in of the user manager (unit_allocate).
CGROUP_LIMITS = {"cgroup.max.descendants": 1024, "cgroup.max.depth": 16}
SYSTEMCTL = "/usr/bin/systemctl"
BUSCTL = "/usr/bin/busctl"
PARSER = "/usr/sbin/apparmor_parser"
POLICY = "/sys/kernel/security/apparmor/"
SSHD = "/usr/sbin/sshd"
UNIT_PROGRAM = "/usr/local/lib/kloigos/unit"
NET_PROGRAM = "/usr/local/lib/kloigos/unit-net"
MANIFESTS = "/etc/kloigos/units/"
WIPED = "/etc/kloigos/wiped/"
KEYS = "/etc/kloigos/keys/"
UNIT_KEYS = "/etc/kloigos/unit-keys/"
ADDRESSES = "/etc/kloigos/addresses/"
NETWORKS = "/etc/kloigos/networks/"
NFT_BASE = "/etc/kloigos/kloigos.nft"
UNIT_SSHD = "/etc/kloigos/sshd/%s.conf"
LINGER = "/var/lib/systemd/linger/"
CGROUPS = "/sys/fs/cgroup/user.slice/"
PROC = "/proc/"
CONTROLS = ("/etc/systemd/system.control/", "/run/systemd/system.control/")
PASSWD = "/etc/passwd"
GROUP = "/etc/group"
SUBORDINATE = (("/etc/subuid", "UID"), ("/etc/subgid", "GID"))
# What may lie in the root of a volume before a tenant has it.
EMPTY_VOLUME = {"lost+found"}
TENANT_TREE = {"home", "tmp", "var-tmp"}


def numbers(text):
    found = set()
    for part in filter(None, text.strip().split(",")):
        first, _dash, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def uids_of(pid):
    """Real, effective, saved and file system UID of a process; empty when it is gone."""
    match = re.search(r"^Uid:\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)", read("/proc/%s/status" % pid), re.M)
    return {int(uid) for uid in match.groups()} if match else set()


def processes_of(uid):
    # A zombie is already dead; it only waits for its parent.
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if uid in uids_of(pid) and "\nState:\tZ" not in read("/proc/%s/status" % pid):
            found.append(int(pid))
    return found


def strays_of(uid):
    """Processes of a UID outside of the slice that bounds them: root, or systemd on behalf of root, put them there."""
    found = []
    for pid in filter(str.isdigit, os.listdir(PROC)):
        status = read("%s%s/status" % (PROC, pid))
        if re.search(r"^Uid:\s+%d\s" % uid, status, re.M) and "\nState:\tZ" not in status:
            group = read("%s%s/cgroup" % (PROC, pid)).strip()
            if group and not (group + "/").startswith("0::/user.slice/user-%d.slice/" % uid):
                found.append(int(pid))
    return found


def mount_of(path):
    """Device and file system that are mounted at path; the last line wins, as the kernel stacks mounts."""
    found = None
    for line in read("/proc/self/mountinfo").splitlines():
        left, _, right = line.partition(" - ")
        if left.split(" ")[4] == path:
            kind, source = right.split(" ")[:2]
            found = (source, kind)
    return found


def local_entries(path):
    """Fields of each entry of /etc/passwd or /etc/group, by name and number."""
    entries = [line.split(":") for line in read(path).splitlines()]
    return {(entry[0], int(entry[2])): entry for entry in entries if len(entry) > 3 and entry[2].isdigit()}


def subordinate_ranges(path):
    """(owner, first, count) of each line of /etc/subuid or /etc/subgid."""
    entries = [line.strip().split(":") for line in read(path).splitlines()]
    return [(entry[0], int(entry[1]), int(entry[2])) for entry in entries if len(entry) == 3 and entry[1].isdigit() and entry[2].isdigit()]


def ask(lookup, key):
    """Asked for one name or number, a directory also answers for whom it does not list."""
    try:
        return [lookup(key)]
    except KeyError:
        return []


def quota(group):
    """The CPU time that a control group may use, "max" where there is no limit: without the controller neither."""
    return (read(group + "cpu.max").split() or ["max"])[0]


# As the mount units of kloigos_volumes have it.
MOUNTED_WITH, MOUNTED_WITHOUT = {"rw", "nodev", "nosuid", "noatime", "discard"}, {"ro", "noexec"}


def mount_options(path):
    """The options of the topmost mount on a path, with those of its file system; None if nothing is mounted there."""
    found = None
    for line in read("/proc/self/mountinfo").splitlines():
        fields = line.split()
        if fields[4] == path:
            found = set(fields[5].split(",")) | set(fields[-1].split(","))
    return found


def matches(name, pattern):
    """sshd's match_pattern: * and ? only."""
    return re.fullmatch("".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in pattern), name) is not None


USER_LISTS = ("allowusers", "denyusers", "allowgroups", "denygroups")
# What our Match block says; an earlier one of the host wins over it.
TENANT_OPTIONS = {
    "pubkeyauthentication": ("PubkeyAuthentication", "yes"),
    "authenticationmethods": ("AuthenticationMethods", "publickey"),
    "authorizedkeysfile": ("AuthorizedKeysFile", "/etc/kloigos/keys/%u"),
    "forcecommand": ("ForceCommand", "none"),
    "chrootdirectory": ("ChrootDirectory", "none"),
}


class Unit(Work):
    def __init__(self, module):
        super().__init__(module)
        self.unit = module.params["unit"]
        self.name = self.unit["name"]
        self.allocation = module.params["allocation"]
        self.user = self.allocation["login_user"]
        self.uid = int(self.allocation["uid"])
        self.profile = "kloigos-" + self.name
        # A unit with a network of its own has other services, settings and keys.
        self.own = module.params["network"] == "unit"
        self.kinds = {
            False: ("kloigos-unit@%s.service" % self.name, ADDRESSES + self.name + ".conf", UNIT_PROGRAM, KEYS + self.user),
            True: ("kloigos-net@%s.service" % self.name, NETWORKS + self.name + ".conf", NET_PROGRAM, UNIT_KEYS + self.user),
        }
        self.service, self.settings, self.program, _keys = self.kinds[self.own]
        self.unit_sshd = "kloigos-sshd@%s.service" % self.name
        self.manager = "user@%d.service" % self.uid
        self.slice = "user-%d.slice" % self.uid
        self.facts = {}

    # talking to the system

    def show(self, unit, *properties):
        _code, out = self.run([SYSTEMCTL, "show", "--property=" + ",".join(properties), "--", unit])
        return dict(line.split("=", 1) for line in out.splitlines() if "=" in line)

    def refuse(self, why, code=""):
        """A check tells what stands in the way and goes on; a real run ends here.

        The control plane reads the code out of the message (backend/internal/ansible/failure.go).
        """
        if not self.check:
            self.module.fail_json(msg="refused (%s): %s" % (code, why) if code else why, done=self.done)
        self.objections.append(why)

    def wait(self, until, seconds, step=0.1):
        end = time.monotonic() + seconds
        while not until():
            if time.monotonic() > end:
                return False
            time.sleep(step)
        return True

    # claimed

    def claim(self):
        self.claim_manifest()
        self.claim_identity()
        self.claim_address()
        for directive in self.kept_out_by_name(self.sshd()):
            self.refuse("sshd would not let the tenant in: " + directive)
        self.claim_volume()
        self.leave_other_network()
        stamp = WIPED + self.unit["id"] + ".json"
        if os.path.exists(stamp):
            self.change("remove", "file", stamp, note="the volume counts as used from now on")
            self.did("the volume counts as used from now on")
            if not self.check:
                os.unlink(stamp)

    def holder(self):
        text = read(MANIFESTS + self.unit["id"] + ".json")
        return json.loads(text)["allocation"]["id"] if text else None

    def claim_manifest(self):
        holder = self.holder()
        if holder not in (None, self.allocation["id"]):
            self.refuse("unit %s is held by allocation %s; deallocate that one first" % (self.name, holder))
        for path in glob.glob(MANIFESTS + "*.json"):
            other = json.loads(read(path))
            if other["unit"]["id"] != self.unit["id"] and other["allocation"]["uid"] == self.uid:
                self.refuse("UID %d belongs to unit %s" % (self.uid, other["unit"]["name"]))

    def claim_identity(self):
        strangers = list(self.accounts_of_others())
        if self.holder() is None:
            strangers += self.groups_of_others() + self.ranges_of_others()
        for stranger in strangers:
            self.refuse(stranger, "identity_taken")

    def accounts_of_others(self):
        """What accounts have the login name or the UID here without being this tenant's."""
        named, numbered = ask(pwd.getpwnam, self.user), ask(pwd.getpwuid, self.uid)
        seen = {}
        for account in named + numbered + pwd.getpwall():
            # A directory may answer to a name with an account that is spelled differently.
            same_name, same_uid = account.pw_name == self.user or account in named, account.pw_uid == self.uid
            if same_name != same_uid:
                seen["login name %s and UID %d do not belong together here: the account %s has UID %d" % (
                    self.user, self.uid, account.pw_name, account.pw_uid)] = True
            elif same_name and (self.user, self.uid) not in local_entries(PASSWD):
                seen["the account %s is there already; it comes from a directory and not from %s" % (self.user, PASSWD)] = True
            elif same_name and not account.pw_dir.startswith(self.unit["mount"] + "/"):
                seen["the account %s is there already and is no tenant of %s" % (self.user, self.name)] = True
        return list(seen)

    def groups_of_others(self):
        named = ask(grp.getgrnam, self.user)
        seen = {}
        for group in named + ask(grp.getgrgid, self.uid) + grp.getgrall():
            same_name, same_gid = group.gr_name == self.user or group in named, group.gr_gid == self.uid
            if same_name != same_gid:
                seen["login name %s and GID %d do not belong together here: the group %s has GID %d" % (
                    self.user, self.uid, group.gr_name, group.gr_gid)] = True
            elif same_name and (self.user, self.uid) not in local_entries(GROUP):
                seen["the group %s is there already; it comes from a directory and not from %s" % (self.user, GROUP)] = True
        return list(seen)

    def ranges_of_others(self):
        """In a user namespace over such a range, whoever has it reads and writes the files of the UID."""
        found = []
        for path, kind in SUBORDINATE:
            for owner, first, count in subordinate_ranges(path):
                if owner in (self.user, str(self.uid)):
                    found.append("the login name %s has subordinate %ss (%s)" % (self.user, kind, path))
                elif first <= self.uid < first + count:
                    found.append("%s %d is one of the subordinate %ss of %s, %d to %d (%s)" % (kind, self.uid, kind, owner, first, first + count - 1, path))
        return found

    def addresses_here(self):
        """(address, prefix length, interface) of each IPv4 address of the host."""
        _code, out = self.run(["/usr/sbin/ip", "-o", "-4", "address", "show"])
        found = []
        for line in out.splitlines():
            fields = line.split()
            address, _slash, length = fields[3].partition("/")
            found.append((address, int(length or 32), fields[1]))
        return found

    def claim_address(self):
        """An address that the host has for itself would go from it when the unit is given back."""
        conf = read(ADDRESSES + self.name + ".conf")
        own = "ADDRESS=%s\n" % self.allocation["address"] in conf
        if own and (self.holder() == self.allocation["id"] or self.lost_manifest(conf)):
            return
        for address, length, interface in self.addresses_here():
            if address == self.allocation["address"]:
                self.refuse("the host has %s/%d already, on %s, and not for unit %s" % (address, length, interface, self.name), "address_on_host")

    def lost_manifest(self, conf):
        """Whether the tenant is there, with account and address, and only the manifest went: somebody removed it."""
        account = local_entries(PASSWD).get((self.user, self.uid))
        return self.holder() is None and "UID=%d\n" % self.uid in conf and account is not None and account[5].startswith(self.unit["mount"] + "/")

    def leave_other_network(self):
        """What moves a unit to the other kind of network: all of its tenant ends once, before the files of the other kind go."""
        if self.holder() == self.allocation["id"] and os.path.exists(self.kinds[not self.own][1]):
            if self.own and not (os.path.exists(NET_PROGRAM) and "chain units_out" in read(NFT_BASE)):
                self.refuse("the host has no packet filter for networks of units; initialize it again")
                return
            self.take_keys((not self.own,))
            self.kill()
            self.take_down(not self.own)

    def claim_volume(self):
        mount = self.unit["mount"]
        device = "/dev/%s/%s" % (self.module.params["volume_group"], self.unit["volume"])
        found = mount_of(mount)
        if found is None:
            self.refuse("%s is not mounted at %s; initialize the host again" % (device, mount))
            return
        if os.path.realpath(found[0]) != os.path.realpath(device) or found[1] != "ext4":
            self.refuse("%s at %s is %s, not the ext4 volume %s" % (found[0], mount, found[1], device))
        inside = set(os.listdir(mount)) - EMPTY_VOLUME
        homes = set(os.listdir(mount + "/home")) if "home" in inside else set()
        if inside - TENANT_TREE or homes - {self.user}:
            self.refuse("the volume at %s is not empty (%s)" % (mount, ", ".join(sorted(inside | homes))[:200]))

    # running

    def start(self):
        self.follow_limits()
        self.remount()
        self.own_home()
        self.load_profile()
        self.bring_up()
        if self.own:
            self.start_sshd()
        self.start_manager()
        self.limit_cgroups()
        self.take_back_strays()
        self.verify()

    def off_limits(self):
        """What of the limits that the files set is otherwise now."""
        return ["%s was %s" % (name, now) for name, (now, promised) in self.limits().items()
                if now != promised and name.replace("_", ".") not in CGROUP_LIMITS]

    def follow_limits(self):
        """What was set beside the files, by systemctl set-property or in the cgroup itself, goes when systemd reads them anew."""
        if not os.path.exists(CGROUPS + self.slice) or self.wait(lambda: not self.off_limits(), 0 if self.check else 2):
            return
        self.change("change", "cgroup", self.slice, note="its limits are promised otherwise: " + ", ".join(self.off_limits()))
        self.did("made systemd set the limits of " + self.slice, [SYSTEMCTL, "daemon-reload"])
        if not self.check:
            self.wait(lambda: not self.off_limits(), 5)

    def remount(self):
        options = mount_options(self.unit["mount"])
        if options is None or MOUNTED_WITH <= options and not options & MOUNTED_WITHOUT:
            return
        self.change("change", "mount", self.unit["mount"], note="its options are promised otherwise: " + ",".join(sorted(options)))
        self.did("gave %s its options" % self.unit["mount"], ["/usr/bin/mount", "-o", "remount,rw,nodev,nosuid,exec,noatime,discard", "--", self.unit["mount"]])

    def own_home(self):
        """The tenant may close the home as they like; it stays theirs."""
        home = "%s/home/%s" % (self.unit["mount"], self.user)
        try:
            info = os.lstat(home)
        except FileNotFoundError:  # a check before the first run
            return
        if (info.st_uid, info.st_gid) != (self.uid, self.uid):
            self.change("change", "directory", home, note="it is the tenant's again, not %d:%d's" % (info.st_uid, info.st_gid))
            self.did("gave %s back to %s" % (home, self.user))
            if not self.check:
                os.lchown(home, self.uid, self.uid)

    def take_back_strays(self):
        """They go on, and within the limits."""
        strays = strays_of(self.uid)
        if not strays:
            return
        self.change("change", "processes", "of UID %d" % self.uid, note="%d ran outside of %s" % (len(strays), self.slice))
        self.did("took %d processes back into %s" % (len(strays), self.slice))
        if self.check:
            return
        scope = "kloigos-back-%d-%d.scope" % (self.uid, time.time_ns())
        pids = [str(pid) for pid in strays]
        # Some may have ended meanwhile, which is an error; what counts is that none is left outside.
        self.run([BUSCTL, "--quiet", "call", "org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "StartTransientUnit",
                  "ssa(sv)a(sa(sv))", scope, "fail", "2", "Slice", "s", self.slice, "PIDs", "au", str(len(pids))] + pids + ["0"], fail=False)
        if not self.wait(lambda: not strays_of(self.uid), 10):
            self.module.fail_json(msg="processes of UID %d stay outside of %s: %s" % (self.uid, self.slice, strays_of(self.uid)), done=self.done)

    def load_profile(self):
        path = "/etc/apparmor.d/" + self.profile
        version = "%s//v_%s (enforce)" % (self.profile, self.module.params["profile_version"])
        enforced = "\n%s (enforce)\n" % self.profile
        if version in read(POLICY + "profiles") and enforced in "\n" + read(POLICY + "profiles"):
            return
        if self.check and not os.path.exists(path):
            self.follows.append("profile %s" % self.profile)
            return
        self.change("change" if self.profile + " (" in read(POLICY + "profiles") else "create", "AppArmor profile", self.profile, note="loaded")
        self.did("loaded profile " + self.profile, [PARSER, "--replace", "--write-cache", path])

    def bring_up(self):
        if self.check and not (os.path.exists(self.settings) and os.path.exists(self.program)):
            self.follows.append("address " + self.allocation["address"])
            return
        state = self.show(self.service, "UnitFileState", "ActiveState")
        if state["UnitFileState"] != "enabled":
            self.change("change", "service", self.service, note="enabled")
            self.did("enabled " + self.service, [SYSTEMCTL, "--quiet", "enable", "--", self.service])
        status = [self.program, "status", self.name]
        code, out = self.run(status, fail=False)
        if code != 0 or state["ActiveState"] != "active":
            self.change("change", "service", self.service, note="brings up the unit's address and routes")
            self.did("brought up the unit (%s)" % (", ".join(out.splitlines()) or "service was not active"),
                     [SYSTEMCTL, "restart", "--", self.service])
            if not self.check:
                self.run(status)

    def start_sshd(self):
        """After the network, whose namespaces it runs in."""
        if self.check and self.follows:
            self.follows.append(self.unit_sshd)
            return
        state = self.show(self.unit_sshd, "UnitFileState", "ActiveState", "MainPID")
        if state["UnitFileState"] != "enabled":
            self.change("change", "service", self.unit_sshd, note="enabled")
            self.did("enabled " + self.unit_sshd, [SYSTEMCTL, "--quiet", "enable", "--", self.unit_sshd])
        if state["ActiveState"] != "active" or not self.in_namespaces(state["MainPID"]):
            self.change("change", "service", self.unit_sshd, note="started in the unit's network")
            self.did("started " + self.unit_sshd, [SYSTEMCTL, "restart", "--", self.unit_sshd])

    def in_namespaces(self, pid):
        """Whether a process is in the unit's network and IPC, by the numbers that `unit-net` left."""
        numbers = read("/run/kloigos/ready/" + self.name).split()[1:]
        try:
            found = [os.stat("/proc/%s/ns/%s" % (pid, kind)).st_ino for kind in ("net", "ipc")]
        except FileNotFoundError:
            return False
        return numbers == [str(number) for number in found]

    def manager_state(self):
        """Whether the user manager runs, and under which profile; outside of the unit's network it is under none that counts."""
        state = self.show(self.manager, "ActiveState", "MainPID")
        label = read("/proc/%s/attr/current" % state["MainPID"]).strip() if state["MainPID"] != "0" else ""
        if self.own and label and not self.in_namespaces(state["MainPID"]):
            label += " outside of the unit's network"
        return state["ActiveState"] == "active", label

    def start_manager(self):
        if self.check and (self.follows or (self.user, self.uid) not in local_entries(PASSWD)):
            self.follows.append("user manager of " + self.user)
            return
        if not os.path.exists(LINGER + self.user):
            self.change("create", "linger", self.user, note="own services start at boot")
            self.did("lets %s's own services start at boot" % self.user, ["/usr/bin/loginctl", "enable-linger", "--", self.user])
        active, label = self.manager_state()
        if not active:
            # Waits for a start that logind may have asked for.
            self.change("change", "service", self.manager, note="started")
            self.did("started " + self.manager, [SYSTEMCTL, "start", "--", self.manager])
        elif label != self.profile + " (enforce)":
            self.change("change", "service", self.manager, note="restarted, since it is not confined")
            self.did("restarted %s, which was not confined" % self.manager, [SYSTEMCTL, "restart", "--", self.manager])

    def limits(self):
        """What the kernel enforces on everything of this user, beside what was promised."""
        base = CGROUPS + self.slice + "/"
        pairs = {
            "cpus": (numbers(read(base + "cpuset.cpus.effective")), numbers(self.unit["cpus"])),
            "memory_nodes": (numbers(read(base + "cpuset.mems.effective")), numbers(self.unit["memory_nodes"])),
            "tasks_max": (read(base + "pids.max").strip(), str(self.unit["tasks_max"])),
        }
        # The kernel counts memory in whole pages.
        page = os.sysconf("SC_PAGE_SIZE")
        for name, value in CGROUP_LIMITS.items():
            pairs[name.replace(".", "_")] = (read(base + name).strip(), str(value))
        for name in ("memory_max", "memory_high"):
            promised = int(self.unit[name + "_bytes"])
            pairs[name] = (read(base + name.replace("_", ".")).strip(), str(promised - promised % page))
        if os.path.exists(base + "memory.swap.max"):  # a kernel without swap has none
            pairs["memory_swap_max"] = (read(base + "memory.swap.max").strip(), "0")
        pairs["cpu_quota"] = (quota(base), "max")
        return pairs

    def narrowed(self):
        """What the control groups around a tenant's slice and its user manager within take away from what was promised."""
        promised = [json.loads(read(path))["unit"] for path in glob.glob(MANIFESTS + "*.json")] or [self.unit]
        groups = [("user.slice", CGROUPS, promised), (self.manager, CGROUPS + self.slice + "/" + self.manager + "/", [self.unit])]
        found = []
        for group, path, units in groups:
            least = {"memory.max": "memory_max_bytes", "memory.high": "memory_high_bytes", "pids.max": "tasks_max"}
            off = ["%s is %s" % (name, read(path + name).strip()) for name, key in least.items()
                   if read(path + name).strip().isdigit() and int(read(path + name)) < sum(int(unit[key]) for unit in units)]
            if quota(path) != "max":
                off.append("cpu.max is %s" % read(path + "cpu.max").strip())
            found += ["%s of %s" % (what, group) for what in off]
        return found

    def drop_ins(self):
        """Files that have a say in the limits, but for ours."""
        found = []
        for unit in ("user.slice", self.slice, self.manager):
            paths = self.show(unit, "DropInPaths").get("DropInPaths", "").split()
            found += [path for path in paths if path.startswith(("/etc/", "/run/")) and not path.endswith("kloigos.conf")]
        return ", ".join(dict.fromkeys(found)) or "none but ours"

    # sshd

    def sshd(self):
        """What sshd itself says for the tenant, by option: some have several values."""
        config = UNIT_SSHD % self.name
        if not os.path.exists(SSHD) or self.own and not os.path.exists(config):
            return {}
        where = "user=%s,host=client.invalid,addr=192.0.2.1,laddr=%s,lport=22" % (self.user, self.allocation["address"])
        code, out = self.run([SSHD, "-T", "-C", where] + (["-f", config] if self.own else []), fail=False)
        said = {}
        for line in out.splitlines() if code == 0 else []:
            option, _space, value = line.partition(" ")
            said.setdefault(option, []).extend(value.split() if option in USER_LISTS else [value])
        return said

    def kept_out_by_name(self, said):
        """The directives by which sshd refuses a login, whatever key it shows."""
        groups = (self.user, "kloigos-tenants")
        # With a host, AllowUsers lets in from somewhere, and DenyUsers does not keep out from everywhere.
        users = {"allowusers": any(matches(self.user, pattern.split("@", 1)[0]) for pattern in said.get("allowusers", [])),
                 "denyusers": any(matches(self.user, pattern) for pattern in said.get("denyusers", []) if "@" not in pattern)}
        in_groups = {option: any(matches(group, pattern) for pattern in said.get(option, []) for group in groups) for option in ("allowgroups", "denygroups")}
        found = []
        if users["denyusers"]:
            found.append("DenyUsers names the login user %s" % self.user)
        if in_groups["denygroups"]:
            found.append("DenyGroups names a group of %s" % self.user)
        if said.get("allowusers") and not users["allowusers"]:
            found.append("AllowUsers does not name the login user %s" % self.user)
        if said.get("allowgroups") and not in_groups["allowgroups"]:
            found.append("AllowGroups names neither kloigos-tenants nor %s" % self.user)
        return found

    def kept_out(self):
        said = self.sshd()
        found = self.kept_out_by_name(said)
        wanted_options = dict(TENANT_OPTIONS, authorizedkeysfile=("AuthorizedKeysFile", UNIT_KEYS + "%u")) if self.own else TENANT_OPTIONS
        for option, (directive, wanted) in wanted_options.items():
            if option in said and said[option][0] != wanted:
                found.append("%s is %s, not %s" % (directive, said[option][0], wanted))
        return found

    def limit_cgroups(self):
        """Of a slice that was made before its user manager had the command for it."""
        base = CGROUPS + self.slice + "/"
        if os.path.exists(base) and any(read(base + name).strip() != str(value) for name, value in CGROUP_LIMITS.items()):
            self.change("change", "cgroup", self.slice, note="the number of its cgroups is limited")
            self.did("limited the cgroups of " + self.slice)
            for name, value in CGROUP_LIMITS.items() if not self.check else ():
                with open(base + name, "w", encoding="ascii") as file:
                    file.write(str(value))

    def verify(self):
        if self.check:
            return
        # systemd applies cgroup settings from a queue of its own, a moment after a reload is answered.
        self.wait(lambda: all(now == promised for now, promised in self.limits().values()), 5)
        off = ["%s is %s, promised %s" % (name, now, promised) for name, (now, promised) in self.limits().items() if now != promised]
        if off:
            self.module.fail_json(msg="%s does not hold what was promised: %s (drop-ins: %s)" % (self.slice, "; ".join(off), self.drop_ins()), done=self.done)
        narrowed = self.narrowed()
        if narrowed:
            self.module.fail_json(msg="unit %s would not have what was promised: %s (drop-ins: %s)" % (
                self.name, "; ".join(narrowed), self.drop_ins()), done=self.done)
        kept_out = self.kept_out()
        if kept_out:
            self.module.fail_json(msg="sshd would not let the tenant in: %s" % "; ".join(kept_out), done=self.done)
        _active, label = self.manager_state()
        if label != self.profile + " (enforce)":
            self.module.fail_json(msg="%s runs as %r, not under %s" % (self.manager, label, self.profile), done=self.done)
        self.facts = {"verified": sorted(self.limits()) + ["apparmor_profile", "address"]}

    # stopped

    def stop(self):
        self.facts = {"foreign": False}
        holder = self.holder()
        if holder not in (None, self.allocation["id"]):
            self.refuse("unit %s is held by allocation %s, not by %s" % (self.name, holder, self.allocation["id"]))
            return
        if self.never_came():
            self.facts["foreign"] = True
            return
        local = {key: entry for key, entry in local_entries(PASSWD).items() if key[0] == self.user or key[1] == self.uid}
        for (name, uid), entry in local.items():
            if (name, uid) != (self.user, self.uid) or not entry[5].startswith(self.unit["mount"] + "/"):
                self.refuse("the account %s (UID %d) is no tenant of %s" % (name, uid, self.name))
                return
        # The account never came to be, and the number is somebody's: neither processes nor files of it are a tenant's.
        self.facts["foreign"] = not local and bool(ask(pwd.getpwuid, self.uid))
        self.take_keys((False, True))
        if local:
            self.unlink(LINGER + self.user, "ended linger", "linger")
        if not self.facts["foreign"]:
            self.kill()
            self.forget_properties()
        for own in (False, True):
            self.take_down(own)
        self.unload_profile()

    def forget_properties(self):
        """What systemctl set-property wrote by hand for the tenant's number, which the next tenant may get."""
        for control in CONTROLS:
            for unit in (self.slice, self.manager):
                for path in sorted(glob.glob(control + unit + ".d/*")):
                    self.unlink(path, "took a property that was set by hand", "file")
                if not self.check:
                    for folder in (control + unit + ".d", control):
                        try:
                            os.rmdir(folder)
                        except OSError:  # it is not there, or something of others is in it
                            pass

    def take_keys(self, kinds):
        for own in kinds:
            self.unlink(self.kinds[own][3], "took the keys", "file")

    def unlink(self, path, what, kind):
        if os.path.exists(path):
            self.change("remove", kind, path)
            self.did(what)
            if not self.check:
                os.unlink(path)

    def never_came(self):
        """The claim refuses a name or a number that is somebody's before it writes anything, the manifest first."""
        return self.holder() is None and bool(self.accounts_of_others() or self.groups_of_others())

    def alive(self):
        populated = "populated 1" in read(CGROUPS + self.slice + "/cgroup.events")
        return populated or bool(processes_of(self.uid))

    def kill(self):
        units = [self.manager, "user-runtime-dir@%d.service" % self.uid, self.slice]
        _code, out = self.run([SYSTEMCTL, "show", "--property=ActiveState", "--value", "--"] + units)
        states = dict(zip(units, out.split()))
        if self.alive() or any(state not in ("inactive", "failed") for state in states.values()):
            self.change("remove", "processes", "of UID %d" % self.uid, note="all sessions end")
            self.did("ended all sessions and processes of UID %d" % self.uid)
            if not self.check:
                self.kill_for_good()
                # Killed from outside counts as a failure; systemd keeps such units in memory until told.
                self.run([SYSTEMCTL, "reset-failed", "--"] + list(states), fail=False)
        elif "failed" in states.values():
            self.change("change", "service", *[unit for unit, state in states.items() if state == "failed"], note="its failure is forgotten")
            self.did("forgot the failure of " + ", ".join(unit for unit, state in states.items() if state == "failed"),
                     [SYSTEMCTL, "reset-failed", "--"] + [unit for unit, state in states.items() if state == "failed"])

    def kill_for_good(self):
        # Frozen and killed as a whole by the kernel: a fork bomb can't outrun it, and logind then only has to tidy up.
        if os.path.exists(CGROUPS + self.slice + "/cgroup.kill"):
            with open(CGROUPS + self.slice + "/cgroup.kill", "w", encoding="ascii") as file:
                file.write("1")
        self.run(["/usr/bin/loginctl", "terminate-user", "--", str(self.uid)], fail=False)
        self.run([SYSTEMCTL, "stop", "--", self.slice, self.manager, "user-runtime-dir@%d.service" % self.uid], fail=False)

        def dead():
            for pid in processes_of(self.uid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            return not self.alive()

        if not self.wait(dead, 20):
            left = ["%d (%s)" % (pid, read("/proc/%d/comm" % pid).strip()) for pid in processes_of(self.uid)]
            self.module.fail_json(msg="processes of UID %d do not die: %s" % (self.uid, ", ".join(left)), done=self.done)

    def take_down(self, own):
        _service, settings, program, _keys = self.kinds[own]
        if own and not os.path.exists(settings):
            return
        for service in ([self.unit_sshd] if own else []) + [self.kinds[own][0]]:
            self.stop_service(service)
        if not os.path.exists(settings) or not os.path.exists(program):
            return
        if own:
            if self.has_network():
                self.change("remove", "network", self.unit["name"], note="with its address, its IPC and its terminals")
                self.did("took the network, its IPC and its terminals", [program, "down", self.name])
        elif self.is_up():
            self.change("remove", "address", self.allocation["address"], note="with its routes and shared memory")
            self.did("took the address, the routes and the shared memory", [program, "clear", self.name])

    def stop_service(self, service):
        state = self.show(service, "ActiveState", "UnitFileState")
        if state["UnitFileState"] == "enabled":
            self.change("change", "service", service, note="disabled")
            self.did("disabled " + service, [SYSTEMCTL, "--quiet", "disable", "--", service])
        if state["ActiveState"] != "inactive":
            self.change("change", "service", service, note="stopped")
            self.did("stopped " + service, [SYSTEMCTL, "stop", "--", service])
            if not self.check:
                self.run([SYSTEMCTL, "reset-failed", "--", service], fail=False)

    def has_network(self):
        """Whether anything of the unit's own network is still there."""
        places = ("/run/netns/kloigos-%s" % self.name, "/run/kloigos/ipc/" + self.name, "/run/kloigos/pts/" + self.name,
                  "/run/kloigos/ready/" + self.name, "/run/kloigos/shm/%d" % self.uid, "/sys/class/net/klu%d" % self.uid)
        return any(os.path.exists(place) for place in places)

    def is_up(self):
        """Whether anything of the unit is still there: the opposite of `status`, which asks whether all of it is."""
        _code, rules = self.run(["/usr/sbin/ip", "rule", "show"])
        _code, rules6 = self.run(["/usr/sbin/ip", "-6", "rule", "show"], fail=False)
        return (os.path.exists("/run/kloigos/added/" + self.name) or "uidrange %d-%d " % (self.uid, self.uid) in rules + " " + rules6 + " "
                or os.path.exists("/run/kloigos/shm/%d" % self.uid) or os.path.exists("/run/kloigos/ready/" + self.name))

    # removed

    def remove_account(self):
        """userdel(8) and groupdel(8) fail on what a directory knows, so they are only told of what is in the files."""
        if self.never_came():
            return
        for kind, path, program in (("user", PASSWD, "/usr/sbin/userdel"), ("group", GROUP, "/usr/sbin/groupdel")):
            # userdel may have taken the group along.
            if (self.user, self.uid) in local_entries(path):
                self.change("remove", kind, self.user)
                self.did("removed the %s %s" % (kind, self.user), [program, "--", self.user])

    def unload_profile(self):
        if "\n%s (" % self.profile in "\n" + read(POLICY + "profiles"):
            self.change("remove", "AppArmor profile", self.profile, note="unloaded")
            self.did("unloaded profile " + self.profile)
            if not self.check:
                with open(POLICY + ".remove", "w", encoding="ascii") as file:
                    file.write(self.profile)
        cached = glob.glob("/var/cache/apparmor/*/" + self.profile)
        if cached:
            self.change("remove", "file", *cached)
            self.did("removed the compiled profile")
            for path in cached if not self.check else []:
                os.unlink(path)


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "required": True, "choices": ["claimed", "running", "stopped", "removed"]},
            "unit": {"type": "dict", "required": True},
            "allocation": {"type": "dict", "required": True},
            "volume_group": {"type": "str", "required": True},
            "profile_version": {"type": "str"},
            "network": {"type": "str", "choices": ["host", "unit"], "default": "host"},
        },
        required_if=[("state", "running", ("profile_version",))],
        supports_check_mode=True,
    )
    unit = Unit(module)
    try:
        {"claimed": unit.claim, "running": unit.start, "stopped": unit.stop, "removed": unit.remove_account}[module.params["state"]]()
    except (OSError, ValueError, KeyError) as problem:
        module.fail_json(msg="%s: %r" % (unit.name, problem), done=unit.done)
    unit.finish(**unit.facts)


if __name__ == "__main__":
    main()
