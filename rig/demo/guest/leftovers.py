"""Says, a line for each, what is left on a host of a tenant who was deallocated. Runs as root on the host.

Argument: JSON with uid, user, unit, address, and optionally device and marker: bytes that must not be on the device.
"""

import glob
import json
import os
import pwd
import subprocess
import sys

ask = json.loads(sys.argv[1])
uid, user, unit, address = ask["uid"], ask["user"], ask["unit"], ask["address"]


def left(what):
    print(what)


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


for database in ("/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow", "/etc/subuid", "/etc/subgid"):
    with open(database, encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").split(":")
            if fields[0] == user or user in fields[-1].split(",") or (len(fields) > 2 and fields[2] == str(uid)):
                left(f"{database}: {fields[0]}")
try:
    pwd.getpwuid(uid)
    left(f"user id {uid}")
except KeyError:
    pass

for name in os.listdir("/proc"):
    if name.isdigit():
        try:
            if os.stat("/proc/" + name).st_uid == uid:
                left(f"process {name}: {open('/proc/' + name + '/cmdline').read()[:80]}")
        except OSError:
            pass

for pattern in (
    f"/run/user/{uid}",
    f"/run/kloigos/shm/{uid}",
    f"/run/kloigos/ready/{unit}",
    f"/sys/fs/cgroup/user.slice/user-{uid}.slice",
    f"/var/lib/systemd/linger/{user}",
    f"/etc/systemd/system/user-{uid}.slice.d",
    f"/etc/systemd/system/user@{uid}.service.d",
    f"/etc/apparmor.d/kloigos-{unit}",
    f"/etc/security/namespace.d/*{uid}*",
    f"/etc/kloigos/keys/{user}",
    f"/etc/kloigos/nft/{uid}.nft",
    f"/etc/kloigos/addresses/{unit}.conf",
    # Of a unit with a network of its own.
    f"/etc/kloigos/networks/{unit}.conf",
    f"/etc/kloigos/sshd/{unit}.conf",
    f"/etc/kloigos/unit-keys/{user}",
    f"/run/netns/kloigos-{unit}",
    f"/run/kloigos/ipc/{unit}",
    f"/run/kloigos/pts/{unit}",
    f"/sys/class/net/klu{uid}",
    f"/usr/local/lib/kloigos/shells/{unit}",
    f"/var/spool/cron/crontabs/{user}",
    f"/var/mail/{user}",
    f"/var/log/journal/*/user-{uid}*",
    f"/run/log/journal/*/user-{uid}*",
    f"/home/{user}",
):
    for path in glob.glob(pattern):
        left(path)

with open("/sys/kernel/security/apparmor/profiles", encoding="utf-8") as file:
    for line in file:
        if line.startswith((f"kloigos-{unit} ", f"kloigos-{unit}//")):
            left(f"loaded AppArmor profile {line.strip()}")
if f"unit_{uid}" in output("nft", "list", "ruleset"):
    left(f"nftables chain unit_{uid}")
for line in output("ip", "rule").splitlines():
    if f"uidrange {uid}-" in line or f"klu{uid} " in line:
        left(f"ip rule {line}")
for line in output("ip", "-oneline", "address").splitlines():
    if f" {address}/" in line:
        left(f"address {line}")
for line in output("ip", "neigh", "show", "proxy").splitlines() + output("ip", "route", "show", "table", "all").splitlines():
    if f"{address} " in line:
        left(f"route or neighbour {line}")
for kind in ("shm", "sem", "msg"):
    with open(f"/proc/sysvipc/{kind}", encoding="utf-8") as file:
        for line in file.readlines()[1:]:
            if str(uid) in line.split():
                left(f"System V {kind}: {line.strip()}")

mounts = ["/"] + [line.split()[1] for line in open("/proc/mounts", encoding="utf-8") if line.split()[2] in ("tmpfs", "ext4", "xfs")]
for root in dict.fromkeys(mounts):
    for line in output("find", root, "-xdev", "(", "-uid", str(uid), "-o", "-gid", str(uid), ")", "-print").splitlines():
        left(f"file of {uid}: {line}")

if ask.get("device"):
    needle, rest, read = ask["marker"].encode(), b"", 0
    with open(ask["device"], "rb", buffering=0) as device:
        while chunk := device.read(8 << 20):
            read += len(chunk)
            if needle in rest + chunk:
                left(f"the marker is on {ask['device']} before byte {read}")
                break
            rest = chunk[-len(needle):]
    if read < 64 << 20:
        left(f"only {read} bytes of {ask['device']} could be read")
