#!/usr/bin/python
"""Owns the question whether the running sshd and kernel follow the files that confine tenants, and whether sshd holds them.

sshd reads its configuration at start and on reload only, and says nowhere what it has read. So it is reloaded when a
file of its configuration was changed after the last change of its service's state, which a reload is too. It writes no
configuration, and refuses a server that would let a tenant's session pass around PAM or around the login shell.
Modules of the kernel that our modprobe rules forbid are unloaded if they are there by now; protocols only where nothing
uses them, since the host itself may.
"""

from __future__ import annotations

import glob
import grp
import os
import re
import time

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.kloigos import Work

DOCUMENTATION = r"""
module: kloigos_confinement
short_description: Make sshd and the kernel follow what confines tenants, and check that it holds
options:
  state: {type: str, choices: [present, absent], default: present, description: absent only reloads}
author: Kloigos
"""

SERVICE = "ssh.service"
SSHD = "/usr/sbin/sshd"
SSHD_CONFIG = "/etc/ssh/sshd_config"
FORBIDDEN = "/etc/modprobe.d/50-kloigos.conf"
PROTOCOLS = "/etc/modprobe.d/50-kloigos-protocols.conf"
PING = "/proc/sys/net/ipv4/ping_group_range"


def changed_at():
    """When the configuration was last changed, by the kernel: the date of a file can be any, the future included. A removed
    file shows in its directory's time."""
    names = [SSHD_CONFIG, SSHD_CONFIG + ".d"] + glob.glob(SSHD_CONFIG + ".d/*.conf")
    return max(os.stat(name).st_ctime for name in names if os.path.exists(name))


def named_in(path):
    """Modules that a file of modprobe forbids."""
    if not os.path.exists(path):
        return set()
    with open(path, encoding="ascii") as file:
        return set(re.findall(r"^install (\S+) /bin/false$", file.read(), re.M))


class Confinement(Work):
    def followed_at(self):
        _code, out = self.run(["/usr/bin/systemctl", "show", "--property=ActiveState,StateChangeTimestampMonotonic", "--", SERVICE])
        shown = dict(line.split("=", 1) for line in out.splitlines())
        if shown["ActiveState"] != "active":
            return None
        return time.time() - time.monotonic() + int(shown["StateChangeTimestampMonotonic"]) / 1e6

    def follow(self):
        followed = self.followed_at()
        # An sshd that is started by a socket reads its files for each connection.
        if followed is None or followed > changed_at():
            return
        self.change("change", "service", SERVICE, note="reloaded")
        self.done.append("reloaded " + SERVICE)
        if self.module.check_mode:
            return
        self.run([SSHD, "-t"])
        self.run(["/usr/bin/systemctl", "reload", "--", SERVICE])

    def unload(self):
        """Those that depend on others come first in the kernel's list, so its order is the one to unload in."""
        with open("/proc/modules", encoding="ascii") as file:
            loaded = [line.split(" ", 3)[:3] for line in file]
        forbidden, protocols = named_in(FORBIDDEN), named_in(PROTOCOLS)
        for name, _size, users in loaded:
            if name in forbidden or name in protocols and users == "0":
                self.change("remove", "kernel module", name, note="unloaded")
                self.done.append("unloaded " + name)
                if not self.module.check_mode:
                    self.run(["/usr/sbin/rmmod", name])

    def take_ping_back(self):
        """What `unit up` set for the group of tenants goes back to the kernel's own default."""
        try:
            gid = str(grp.getgrnam("kloigos-tenants").gr_gid)
        except KeyError:
            return
        with open(PING, encoding="ascii") as file:
            if file.read().split() != [gid, gid]:
                return
        self.change("change", "sysctl", "net.ipv4.ping_group_range", after="1 0\n", note="the kernel's own default")
        self.done.append("took back the leave to ping")
        if not self.module.check_mode:
            with open(PING, "w", encoding="ascii") as file:
                file.write("1 0")

    def holds_tenants(self):
        """Options that a Match block can't set, and that all of the confinement rests on."""
        _code, out = self.run([SSHD, "-T", "-C", "user=nobody,host=localhost,addr=127.0.0.1"])
        now = dict(line.split(" ", 1) for line in out.splitlines() if " " in line)
        wrong = []
        if now.get("usepam") != "yes":
            wrong.append("UsePAM must be yes: a session gets its limits from pam_systemd")
        if re.search(r"^subsystem sftp internal-sftp", out, re.M):
            wrong.append("Subsystem sftp must be the external sftp-server: the internal one runs outside a tenant's profile")
        if now.get("permituserenvironment", "no") != "no":
            wrong.append("PermitUserEnvironment must be no")
        with open(SSHD_CONFIG, encoding="utf-8") as file:
            if not re.search(r"^\s*Include\s+/etc/ssh/sshd_config\.d/\*\.conf", file.read(), re.M | re.I):
                wrong.append("/etc/ssh/sshd_config must include /etc/ssh/sshd_config.d/*.conf")
        if wrong:
            self.module.fail_json(msg="sshd would not hold tenants: " + "; ".join(wrong))


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        },
        supports_check_mode=True,
    )
    confinement = Confinement(module)
    try:
        if module.params["state"] == "present" and not module.check_mode:
            confinement.holds_tenants()
        confinement.follow()
        if module.params["state"] == "present":
            confinement.unload()
        else:
            confinement.take_ping_back()
    except OSError as problem:
        module.fail_json(msg=str(problem))
    confinement.finish()


if __name__ == "__main__":
    main()
