"""Says as JSON what a tenant's process sees of the machine. Runs inside of a unit, through every way in.

Arguments: what to ask for beyond that, as JSON: gateway and port to connect to, other source addresses to try, paths
that nobody else's may be read, a marker to look for in what can be read.
"""

import json
import os
import socket
import subprocess
import sys


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        return f"!{error.strerror}"


def status_field(name):
    for line in read("/proc/self/status").splitlines():
        if line.startswith(name + ":"):
            return line.split(":", 1)[1].strip()
    return ""


def lowest(group, name):
    """The limit that holds: the lowest on the way up the cgroup tree."""
    found = None
    path = group
    while path not in ("", "/"):
        text = read("/sys/fs/cgroup" + path + "/" + name).strip()
        if text.isdigit() and (found is None or int(text) < found):
            found = int(text)
        path = os.path.dirname(path)
    return found


def connect(address, port, source="", family=socket.AF_INET):
    """The local address of a connection, or "!" and why there is none."""
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.settimeout(4)
        try:
            if source:
                sock.bind((source, 0))
            sock.connect((address, port))
            sock.recv(1)
            return sock.getsockname()[0]
        except OSError as error:
            return "!" + (error.strerror or str(error))


def mount_of(path):
    """Source and mount point of the file system that a path is on."""
    best = ("", "")
    for line in read("/proc/self/mountinfo").splitlines():
        fields = line.split()
        point = fields[4]
        source = fields[fields.index("-") + 2]
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best[1]):
            best = (source, point)
    return {"source": best[0], "point": best[1]}


def foreign_processes():
    """Processes of other users that can be seen."""
    seen = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            uid = os.stat("/proc/" + name).st_uid
        except OSError:
            continue
        if uid != os.getuid():
            seen.append(f"{name} of {uid}: {read('/proc/' + name + '/cmdline')[:80]}")
    return seen


def find(marker, roots):
    """Files below the roots that can be read and hold the marker."""
    found = []
    needle = marker.encode()
    for root in roots:
        for top, _, files in os.walk(root):
            for name in files:
                path = os.path.join(top, name)
                try:
                    if os.path.getsize(path) < 1 << 20:
                        with open(path, "rb") as file:
                            if needle in file.read():
                                found.append(path)
                except OSError:
                    continue
    return found


def main():
    ask = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    group = read("/proc/self/cgroup").strip().rsplit("::", 1)[-1]
    home = os.path.expanduser("~")
    said = {
        "uid": os.getuid(),
        "gid": os.getgid(),
        "nproc": int(subprocess.run(["nproc"], capture_output=True, text=True, check=True).stdout),
        "cpus": status_field("Cpus_allowed_list"),
        "cpuset": read("/sys/fs/cgroup" + group + "/cpuset.cpus.effective").strip(),
        "nodes": status_field("Mems_allowed_list"),
        "no_new_privs": status_field("NoNewPrivs"),
        "capabilities": status_field("CapEff"),
        "cgroup": group,
        "memory_max": lowest(group, "memory.max"),
        "memory_high": lowest(group, "memory.high"),
        "tasks_max": lowest(group, "pids.max"),
        "apparmor": read("/proc/self/attr/current").strip("\x00\n "),
        "home": home,
        "mounts": {path: mount_of(path) for path in (home, "/tmp", "/var/tmp", "/dev/shm")},
        "foreign_processes": foreign_processes(),
        "readable": [],
        "sources": {},
    }
    for path in ask.get("closed", []):
        try:
            what = os.listdir(path) if os.path.isdir(path) else open(path, "rb").close()
            said["readable"].append(f"{path}: {what}")
        except OSError:
            pass
    if ask.get("gateway"):
        said["source"] = connect(ask["gateway"], ask["port"])
        for source in ask.get("others", []):
            said["sources"][source] = connect(ask["gateway"], ask["port"], source)
        said["ipv6"] = connect(ask.get("gateway6", "fec0::2"), ask["port"], "", socket.AF_INET6)
    if ask.get("marker"):
        said["marked"] = find(ask["marker"], ["/tmp", "/var/tmp", "/dev/shm", "/home", "/mnt", "/run", "/etc/kloigos", home])
    json.dump(said, sys.stdout)
    print()


main()
