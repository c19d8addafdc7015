#!/usr/bin/python3
"""Says what a host is like, one line for each thing, so that two answers can be compared: files with mode, owner and
checksum, users and groups, units of systemd, packet filter, mounts, sysctls, modules, addresses, routes, rules, LVM,
AppArmor, cron. Run as root; it only reads. A line is a kind, the thing's name and its value, between tabs."""

import hashlib
import json
import os
import pwd
import grp
import re
import stat
import subprocess
import sys

ROOTS = ["/etc", "/usr/local", "/root", "/home", "/var/lib", "/var/spool", "/opt", "/srv", "/mnt"]
LARGE = 64 << 20  # bytes; of a larger file only the size is told


def say(kind, name, value=""):
    line = "\t".join(str(part).encode("unicode_escape").decode("ascii") for part in (kind, name, value))
    sys.stdout.write(line + "\n")


def run(*argv, limit=None):
    """Lines of output; none where the program or what it asks for is not there, or after limit seconds."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, timeout=limit,
                              env={"LC_ALL": "C", "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"})
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line.rstrip() for line in done.stdout.decode("utf-8", "replace").splitlines() if line.strip()]


def owner(info):
    try:
        user = pwd.getpwuid(info.st_uid).pw_name
    except KeyError:
        user = str(info.st_uid)
    try:
        group = grp.getgrgid(info.st_gid).gr_name
    except KeyError:
        group = str(info.st_gid)
    return user + ":" + group


def content(path, info):
    if stat.S_ISLNK(info.st_mode):
        return "-> " + os.readlink(path)
    if not stat.S_ISREG(info.st_mode):
        return "directory" if stat.S_ISDIR(info.st_mode) else "special"
    if info.st_size > LARGE:
        return "%d bytes" % info.st_size
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def files():
    for root in ROOTS:
        if not os.path.isdir(root):
            continue
        device = os.lstat(root).st_dev
        pending = [root]
        while pending:
            path = pending.pop()
            try:
                info = os.lstat(path)
                if info.st_dev != device:  # another file system: told among the mounts
                    continue
                say("file", path, "%04o %s %s" % (stat.S_IMODE(info.st_mode), owner(info), content(path, info)))
                if stat.S_ISDIR(info.st_mode):
                    pending += [os.path.join(path, name) for name in os.listdir(path)]
            except OSError as problem:
                say("file", path, "not readable: %s" % problem.strerror)


def accounts():
    for entry in pwd.getpwall():
        say("user", entry.pw_name, "%d %d %s %s" % (entry.pw_uid, entry.pw_gid, entry.pw_dir, entry.pw_shell))
    for entry in grp.getgrall():
        say("group", entry.gr_name, "%d %s" % (entry.gr_gid, ",".join(sorted(entry.gr_mem))))


def settle():
    """Waits until the boot is over: SSH lets in before, while units still start."""
    run("systemctl", "is-system-running", "--wait", limit=300)


def systemd():
    for line in run("systemctl", "list-unit-files", "--no-legend", "--no-pager"):
        fields = line.split()
        say("unit-file", fields[0], fields[1])
    # Scopes are logins. What is loaded but not active is only a name that something else mentions, for as long as it does.
    for line in run("systemctl", "list-units", "--all", "--no-legend", "--no-pager", "--plain", "--type=service,socket,timer,mount,swap,target,slice,path,automount"):
        fields = line.lstrip("\u25cf* ").split()  # a failed one has a dot before it
        if fields[2] != "inactive":
            say("unit", fields[0], " ".join(fields[1:4]))


def network():
    for number, line in enumerate(run("nft", "list", "ruleset")):
        say("nft", "%04d" % number, line.strip())
    for program in ("iptables-save", "ip6tables-save"):
        for line in run(program):
            if line.startswith(("-A", ":")):
                say(program, re.sub(r" \[\d+:\d+\]", "", line))
    for family in ("-4", "-6"):
        for what in ("rule", "route"):
            for line in run("ip", family, what, "show", *(["table", "all"] if what == "route" else [])):
                say("ip-" + what, "%s %s" % (family, re.sub(r" expires \S+", "", line)))
        for line in run("ip", family, "-o", "address", "show"):
            fields = re.sub(r" (valid_lft|preferred_lft) \S+", "", line).replace("\\", " ").split()[1:]
            say("address", " ".join(fields))


def kernel():
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            left, _, right = line.rstrip("\n").partition(" - ")
            left, right = left.split(" "), right.split(" ")
            # A file system in memory gets a part of what a boot finds, which is some KiB more or less each time.
            options = re.sub(r",(size|nr_inodes)=[^,]*", "", right[2]) if right[0] in ("tmpfs", "devtmpfs") else right[2]
            say("mount", left[4], "%s %s %s %s" % (right[0], right[1], left[5], options))
    for line in run("sysctl", "-a"):
        name, _, value = line.partition(" = ")
        say("sysctl", name, value)
    try:
        with open("/proc/modules", encoding="ascii", errors="replace") as file:
            for line in file:
                say("module", line.split(" ")[0])
    except OSError:
        say("module", "none")
    for group in ("system.slice", "user.slice", "init.scope"):
        try:
            with open("/sys/fs/cgroup/%s/cpuset.cpus" % group, encoding="ascii") as file:
                say("cpuset", group, file.read().strip())
        except OSError:
            say("cpuset", group, "not there")


def storage():
    for command, kind, fields in (("vgs", "vg", "vg_name,vg_size,vg_tags"), ("lvs", "lv", "vg_name,lv_name,lv_size,lv_tags"), ("pvs", "pv", "pv_name,vg_name,pv_size")):
        text = "\n".join(run("lvm", command, "--reportformat", "json", "--units", "b", "--nosuffix", "-o", fields))
        if text:
            for report in json.loads(text).get("report", []):
                for row in report.get(kind, []):
                    say("lvm-" + kind, " ".join(row.values()))
    for line in run("lsblk", "--noheadings", "--list", "--paths", "--output", "NAME,TYPE,SIZE,FSTYPE"):
        say("disk", " ".join(line.split()))


def apparmor():
    try:
        with open("/sys/kernel/security/apparmor/profiles", encoding="ascii", errors="replace") as file:
            for line in file:
                name, _, mode = line.strip().rpartition(" ")
                say("apparmor", name, mode)
    except OSError:
        say("apparmor", "none")


for part in (settle, files, accounts, systemd, network, kernel, storage, apparmor):
    part()
