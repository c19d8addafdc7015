#!/usr/bin/python
"""Makes the running system follow its files, by comparing the two.

Handlers are not enough for this: a run that is cut between writing a file and its handler would leave the old state
running for ever, as the next run sees no changed file. So everything here is decided by what systemd, the kernel and
the packet filter say now. It writes no configuration, except the two allow lists of cron and at, which name the users
that are there before the first tenant and so can't be known in advance.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import pwd
import re
import time

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.kloigos import Work, read

DOCUMENTATION = r"""
module: kloigos_live
short_description: Make the running system follow the files
options:
  enabled: {type: list, elements: str, default: [], description: Units to enable and start}
  disabled: {type: list, elements: str, default: [], description: Units to disable and stop}
  watch: {type: list, elements: str, default: [], description: Units whose stale definition asks for a daemon-reload}
  restarted: {type: list, elements: str, default: [], description: Units to restart, the caller knows why}
  reload: {type: bool, default: false, description: Reload systemd whatever it says}
  nft: {type: str, choices: [loaded, absent], description: The table of Kloigos}
  processes: {type: str, choices: [hidden, shown], description: Whether users see the processes of others}
  schedulers: {type: str, choices: [closed, open], description: Whether cron and at are for listed users only}
  system_cpus: {type: str, description: CPUs that system.slice, init.scope and the slices of everyone who is no tenant must have}
  interfaces: {type: list, elements: str, default: [], description: Network interfaces that must be there}
author: Kloigos
"""

SYSTEMCTL = "/usr/bin/systemctl"
NFT = "/usr/sbin/nft"
NFT_SERVICE = "kloigos-nft.service"
NFT_FILES = ["/etc/kloigos/kloigos.nft", "/etc/kloigos/nft/*.nft"]
NFT_STAMP = "/run/kloigos/nft.loaded"
# What the kernel had right after the last load, without counters: a rule that somebody removed by hand shows.
NFT_LIVE = "/run/kloigos/nft.live"
NFT_LOAD = "/usr/local/lib/kloigos/nft-load"
PROC_SERVICE = "kloigos-proc.service"
ALLOW_LISTS = ["/etc/cron.allow", "/etc/at.allow"]
ALLOW_REGISTRY = "/etc/kloigos/files.d/schedulers.json"
CRONTABS = "/var/spool/cron/crontabs/"
CGROUPS = "/sys/fs/cgroup"
DROP_IN = "/etc/systemd/system/%s.d/50-kloigos.conf"
# Kept in step with login.defs of Debian: the range of accounts for people.
PEOPLE = range(1000, 60000)


def cpu_set(text):
    cpus = set()
    for part in filter(None, text.strip().split(",")):
        first, _dash, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus


def without_elements(listing):
    """A listing of nft without what packets have put into sets (flags dynamic); as nft-load has it."""
    kept, dynamic, skipping = [], False, False
    for line in listing.splitlines(keepends=True):
        dynamic = not line.startswith("\tset ") and (dynamic or "flags dynamic" in line)
        skipping = skipping or dynamic and line.startswith("\t\telements = {")
        if not skipping:
            kept.append(line)
        skipping = skipping and not line.rstrip().endswith("}")
    return "".join(kept)


class Live(Work):
    def interfaces(self):
        missing = [name for name in self.params["interfaces"] if not os.path.exists("/sys/class/net/" + name)]
        if missing and not self.check:
            self.module.fail_json(msg="no such network interface: " + ", ".join(missing))
        self.objections += ["no such network interface: " + name for name in missing]

    # units

    def show(self, units):
        """What systemd says about each unit, in the order asked."""
        if not units:
            return {}
        properties = "Id,LoadState,NeedDaemonReload,UnitFileState,ActiveState,Result"
        _code, out = self.run([SYSTEMCTL, "show", "--property=" + properties, "--"] + units)
        blocks = [dict(line.split("=", 1) for line in block.splitlines()) for block in out.strip("\n").split("\n\n")]
        return dict(zip(units, blocks))

    def units(self):
        enabled, disabled = self.params["enabled"], self.params["disabled"]
        every = list(dict.fromkeys(enabled + disabled + self.params["watch"] + self.params["restarted"]))
        state = self.show(every)
        # Units that come from a template are watched through their instance.
        if self.params["reload"] or any(s.get("NeedDaemonReload") == "yes" for s in state.values()):
            self.reload()
            state = self.show(every)
        missing = [u for u in enabled if state[u]["LoadState"] == "not-found"]
        if missing and self.check:
            self.follows += missing
        elif missing:
            self.reload()
            state = self.show(every)
            missing = [u for u in enabled if state[u]["LoadState"] == "not-found"]
            if missing:
                self.module.fail_json(msg="no such unit: " + ", ".join(missing))
        to_enable = [u for u in enabled if state[u]["UnitFileState"] not in ("enabled", "static", "generated", "alias", "indirect")]
        if to_enable:
            self.change("change", "service", *to_enable, note="enabled")
            self.did("enabled " + ", ".join(to_enable), [SYSTEMCTL, "--quiet", "enable", "--"] + to_enable)
        to_start = [u for u in enabled if state[u]["ActiveState"] not in ("active", "reloading")]
        if to_start:
            self.change("change", "service", *to_start, note="started")
            self.did("started " + ", ".join(to_start), [SYSTEMCTL, "start", "--"] + to_start)
        to_restart = [u for u in self.params["restarted"] if u not in to_start and state[u]["ActiveState"] == "active"]
        if to_restart:
            self.change("change", "service", *to_restart, note="restarted")
            self.did("restarted " + ", ".join(to_restart), [SYSTEMCTL, "restart", "--"] + to_restart)
        to_stop = [u for u in disabled if state[u]["ActiveState"] not in ("inactive", "failed")]
        if to_stop:
            self.change("change", "service", *to_stop, note="stopped")
            self.did("stopped " + ", ".join(to_stop), [SYSTEMCTL, "stop", "--"] + to_stop)
        to_disable = [u for u in disabled if state[u]["UnitFileState"] in ("enabled", "enabled-runtime", "linked")]
        if to_disable:
            self.change("change", "service", *to_disable, note="disabled")
            self.did("disabled " + ", ".join(to_disable), [SYSTEMCTL, "--quiet", "disable", "--"] + to_disable)
        failed = [u for u in disabled if state[u]["ActiveState"] == "failed"]
        if failed:
            self.change("change", "service", *failed, note="its failure is forgotten")
            self.did("forgot the failure of " + ", ".join(failed), [SYSTEMCTL, "reset-failed", "--"] + failed)

    def reload(self):
        self.change("change", "service", "systemd", note="reads its units anew")
        self.did("reloaded systemd", [SYSTEMCTL, "daemon-reload"])

    # packet filter

    def nft(self, wanted):
        present = os.path.exists(NFT) and self.run([NFT, "list", "table", "inet", "kloigos"], fail=False)[0] == 0
        if wanted == "absent":
            if present:
                self.change("remove", "table", "inet kloigos")
                self.did("removed the nftables table", [NFT, "delete", "table", "inet", "kloigos"])
            for stamp in (NFT_STAMP, NFT_LIVE):
                if os.path.exists(stamp) and not self.check:
                    os.unlink(stamp)
            return
        names = [NFT_FILES[0]] + sorted(glob.glob(NFT_FILES[1]))
        digest = hashlib.sha256("".join(read(name) for name in names).encode()).hexdigest()
        if not os.path.exists(NFT_FILES[0]) and self.check:
            self.follows.append("the nftables table")
        elif not present or read(NFT_STAMP).strip() != digest or self.nft_changed():
            # reload-or-restart also starts; the service checks the files as a whole before it replaces anything.
            self.change("change" if present else "create", "table", "inet kloigos", after="".join(read(name) for name in names), note="loaded in one transaction")
            self.did("loaded the nftables table", [SYSTEMCTL, "reload-or-restart", NFT_SERVICE])

    def nft_changed(self):
        wanted = read(NFT_LIVE).strip()
        if not wanted:  # loaded by an older nft-load; the present one notes it from the next load on
            return NFT_LIVE in read(NFT_LOAD)
        _code, out = self.run([NFT, "--stateless", "list", "table", "inet", "kloigos"], fail=False)
        return hashlib.sha256(without_elements(out).encode()).hexdigest() != wanted

    # processes of others

    def processes(self, wanted):
        options = ""
        for line in read("/proc/self/mountinfo").splitlines():
            fields = line.split()
            if fields[4] == "/proc":
                options = fields[-1]
        hidden = re.search(r"hidepid=(2|invisible)\b", options) is not None
        if wanted == "hidden" and not hidden:
            if self.check:
                self.follows.append("hiding of processes")
            self.change("change", "mount", "/proc", note="hides the processes of others")
            self.did("hid the processes of others", [SYSTEMCTL, "restart", PROC_SERVICE])
        elif wanted == "shown" and hidden:
            self.change("change", "mount", "/proc", note="shows the processes of others")
            self.did("showed the processes of others", ["/usr/bin/mount", "-o", "remount,hidepid=0", "/proc"])
            if re.search(r"^\S+\s+/proc\s", read("/etc/fstab"), re.M):
                self.change("change", "mount", "/proc", note="with its options of fstab")
                self.did("gave /proc its options of fstab", ["/usr/bin/mount", "-o", "remount", "/proc"])

    # cron and at

    def schedulers(self, wanted):
        mine = json.loads(read(ALLOW_REGISTRY, '{"files": {}}'))["files"]
        if wanted == "open":
            for path in [p for p in mine if os.path.exists(p)]:
                self.change("remove", "file", path)
                self.did("removed " + path)
                if not self.check:
                    os.unlink(path)
            if not self.check and os.path.exists(ALLOW_REGISTRY):
                os.unlink(ALLOW_REGISTRY)
            return
        self.shut_out_tenants()
        missing = [path for path in ALLOW_LISTS if not os.path.exists(path)]
        if not missing:
            return
        names = list(dict.fromkeys(["root"] + [user.pw_name for user in pwd.getpwall() if self.may_schedule(user)] + self.with_crontabs()))
        text = "# Made by Kloigos: tenants of compute units have no cron and no at\n" + "".join(name + "\n" for name in names)
        if not self.check:
            os.makedirs(os.path.dirname(ALLOW_REGISTRY), mode=0o755, exist_ok=True)
            mine.update({path: {"kind": "file", "original": None} for path in missing})
            self.replace(ALLOW_REGISTRY, json.dumps({"files": mine}) + "\n", 0o600)
        for path in missing:
            self.change("create", "file", path, after=text)
            self.did("closed %s to all but %s" % (path, ", ".join(names)))
            if not self.check:
                self.replace(path, text, 0o644)

    def shut_out_tenants(self):
        """Somebody may have named a tenant in a list, which may be the host's own."""
        tenants = {user.pw_name for user in pwd.getpwall() if os.path.exists(DROP_IN % ("user-%d.slice" % user.pw_uid))}
        for path in ALLOW_LISTS:
            lines = read(path).splitlines(keepends=True)
            named = [line.strip() for line in lines if line.strip() in tenants]
            if named:
                self.change("change", "file", path, note="without " + ", ".join(named))
                self.did("shut %s out of %s" % (", ".join(named), path))
                if not self.check:
                    mode = os.stat(path).st_mode & 0o7777
                    self.replace(path, "".join(line for line in lines if line.strip() not in tenants), mode)

    def with_crontabs(self):
        """Whoever has a crontab, also people whom a directory knows by name and does not list. A tenant can't have one."""
        names = []
        for path in sorted(glob.glob(CRONTABS + "*")):
            name = os.path.basename(path)
            try:
                uid = pwd.getpwnam(name).pw_uid
            except KeyError:  # a directory that is away; a name that nobody has is let in to nothing
                uid = None
            if re.fullmatch(r"[^\s/#:]{1,64}", name) and (uid is None or not os.path.exists(DROP_IN % ("user-%d.slice" % uid))):
                names.append(name)
        return names

    def may_schedule(self, user):
        """People who are no tenants, and service accounts that have a crontab by now."""
        if os.path.exists(DROP_IN % ("user-%d.slice" % user.pw_uid)):
            return False
        return user.pw_uid in PEOPLE or (user.pw_uid != 0 and os.path.exists(CRONTABS + user.pw_name))

    def replace(self, path, text, mode):
        temporary = path + ".kloigos-new"
        with open(temporary, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), mode)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, path)

    # CPUs

    def groups_of_the_system(self):
        groups = [CGROUPS + "/system.slice", CGROUPS + "/init.scope"]
        for path in glob.glob(CGROUPS + "/user.slice/user-*.slice"):
            # A tenant's slice has a drop-in of its own; everyone else is with the system.
            if not os.path.exists(DROP_IN % os.path.basename(path)):
                groups.append(path)
        return groups

    def off_their_cpus(self):
        wanted = cpu_set(self.params["system_cpus"]) & cpu_set(read("/sys/devices/system/cpu/online", "0"))
        return {g[len(CGROUPS):]: read(g + "/cpuset.cpus.effective").strip() or "all" for g in self.groups_of_the_system()
                if cpu_set(read(g + "/cpuset.cpus.effective")) != wanted}

    def system_cpus(self):
        off = self.off_their_cpus()
        if not off:
            return
        if self.check:
            self.follows.append("CPUs of " + ", ".join(sorted(off)))
            return
        self.reload()
        # systemd applies cgroup settings from its own queue just after the reload has been answered.
        for _attempt in range(50):
            off = self.off_their_cpus()
            if not off:
                return
            time.sleep(0.1)
        self.module.fail_json(msg="CPUs are not those of the system (%s): %s" % (
            self.params["system_cpus"], ", ".join("%s has %s" % item for item in sorted(off.items()))))


def keep(module):
    """Brings what was written, renamed and removed to the disk: what a job is told to have done is so after a power cut as well."""
    if not module.check_mode:
        module.run_command(["sync", "--file-system", "/etc", "/var/lib"], check_rc=True)


def main():
    module = AnsibleModule(
        argument_spec={
            "enabled": {"type": "list", "elements": "str", "default": []},
            "disabled": {"type": "list", "elements": "str", "default": []},
            "watch": {"type": "list", "elements": "str", "default": []},
            "restarted": {"type": "list", "elements": "str", "default": []},
            "reload": {"type": "bool", "default": False},
            "nft": {"type": "str", "choices": ["loaded", "absent"]},
            "processes": {"type": "str", "choices": ["hidden", "shown"]},
            "schedulers": {"type": "str", "choices": ["closed", "open"]},
            "system_cpus": {"type": "str"},
            "interfaces": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    live = Live(module)
    live.interfaces()
    live.units()
    if module.params["nft"]:
        live.nft(module.params["nft"])
    if module.params["processes"]:
        live.processes(module.params["processes"])
    if module.params["schedulers"]:
        live.schedulers(module.params["schedulers"])
    if module.params["system_cpus"]:
        live.system_cpus()
    keep(module)
    live.finish()


if __name__ == "__main__":
    main()
