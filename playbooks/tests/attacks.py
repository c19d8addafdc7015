#!/usr/bin/python3
"""Attack the host and a neighbour from inside a unit with a network of its own, and print one JSON object. Needs Python only.

    ssh alice@10.0.2.101 python3 - '{"mode": "try", ...}' <attacks.py
    ssh alice@10.0.2.101 python3 attacks.py '{"mode": "hold"}'        (takes all it can until its input ends)

`try` prints {"attacks": [{"try", "succeeded", "detail"}]}: a list of attempts, each of which must fail. Its datagrams from foreign
addresses leave the unit's own network at first, so only their receiver can tell: each says "spoofed ADDRESS", and one "honest".

    host, neighbours   addresses of the host, and of other units
    target             "10.0.2.2:4711": where the datagrams go
    host_ports         TCP ports at which something listens on all addresses of the host
    loopback_ports     TCP ports at which something listens on the loopback of the host or of another unit
    abstract           names of abstract sockets that another unit has

`hold` prints {"held": {"tcp", "udp", "segments", "semaphores", "queues", "terminals", "abstract", "listening"}}: how many of each it
has, and at which of its own addresses it listens. It gives all back at its end, 600 s later at the latest.
"""

import ctypes
import errno
import fcntl
import json
import os
import resource
import select
import socket
import struct
import sys

IP_FREEBIND, IP_TRANSPARENT = 15, 19
EPHEMERAL = range(32768, 61000)
LISTENS, FOREIGN = 7780, 7781
ABSTRACT = ["kloigos-attack-%d" % number for number in range(100)]
IPC_CREAT, IPC_RMID = 0o1000, 0
libc = ctypes.CDLL(None, use_errno=True)


def why(problem):
    return "%s (%s)" % (problem, errno.errorcode.get(getattr(problem, "errno", None), "?"))


def attempt(act):
    """Whether it succeeded, and what it said."""
    try:
        return True, str(act())
    except OSError as problem:
        return False, why(problem)


def bind(kind, address, port=0, option=None):
    with socket.socket(socket.AF_INET, kind) as sock:
        if option:
            sock.setsockopt(socket.IPPROTO_IP, option, 1)
        sock.bind((address, port))
        return "bound"


def connect(address, port, source=None, family=socket.AF_INET):
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.settimeout(4)
        if source:
            sock.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
            sock.bind((source, 0))
        sock.connect((address, port))
        return "connected from %s" % sock.getsockname()[0]


def ask_udp(address, port):
    """A port without a listener that says so is reached."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(3)
        sock.connect((address, port))
        try:
            sock.send(b"?")
            return sock.recv(10)
        except ConnectionRefusedError:
            return "no listener, but reached"


def abstract(name):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.connect("\0" + name)
        return "connected"


def send(text, target, source=None):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        if source:
            sock.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
            sock.bind((source, 0))
        sock.sendto(text.encode(), target)


def ipv6_addresses():
    """Of all interfaces but loopback; each would be one too many."""
    with open("/proc/net/if_inet6", encoding="ascii") as lines:
        found = [line.split()[0] for line in lines if line.split()[-1] != "lo"]
    if not found:
        raise OSError("none")
    return found


def send6(address):
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
        scope = socket.if_nametoindex("eth0") if address.startswith(("fe80", "ff02")) else 0
        sock.sendto(b"kloigos", (address, 9, 0, scope))
        return "sent"


def set_address(address):
    """SIOCSIFADDR: another address on the unit's own interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sH2x4s8x", b"eth0", socket.AF_INET, socket.inet_aton(address))
        return fcntl.ioctl(sock.fileno(), 0x8916, request) and "set"


def enter(path):
    """Another network namespace, where its file can be opened."""
    with open(path, "rb") as file:
        if libc.setns(file.fileno(), 0) != 0:
            raise OSError(ctypes.get_errno(), "setns")
        return "entered"


def segments_of_others():
    """shmctl(SHM_STAT_ANY): any segment of the IPC namespace, whoever has it."""
    highest = libc.shmctl(0, 14, ctypes.create_string_buffer(256))  # SHM_INFO: the highest index in use
    found = []
    for index in range(max(0, highest) + 1):
        buffer = ctypes.create_string_buffer(256)
        if libc.shmctl(index, 15, buffer) >= 0 and struct.unpack_from("=iI", buffer)[1] != os.getuid():
            found.append(index)
    if not found:
        raise OSError("none")
    return found


def tries(asked):
    host, neighbours = asked["host"], asked["neighbours"]
    yield "ipv6 address", ipv6_addresses
    for address in ("2001:db8::1", "ff02::1", "fe80::1"):
        yield "ipv6 to " + address, lambda address=address: send6(address)
    yield "segments of others", segments_of_others
    for address in [host, *neighbours]:
        for name, kind in (("tcp", socket.SOCK_STREAM), ("udp", socket.SOCK_DGRAM)):
            yield "bind %s %s" % (name, address), lambda kind=kind, address=address: bind(kind, address)
        yield "transparent " + address, lambda address=address: bind(socket.SOCK_STREAM, address, 0, IP_TRANSPARENT)
        yield "set address " + address, lambda address=address: set_address(address)
        yield "connect from " + address, lambda address=address: connect(*split(asked["target"]), source=address)
    for port in asked["host_ports"]:
        for source in (None, "127.0.0.1", *neighbours):
            yield "host at port %d from %s" % (port, source), lambda port=port, source=source: connect(host, port, source)
    yield "host by gateway", lambda: connect("169.254.1.1", asked["host_ports"][0])
    yield "metadata of the host", lambda: connect("169.254.169.254", 80)
    yield "host by udp", lambda: ask_udp(host, 9)
    for port in asked["loopback_ports"]:
        for address in ("127.0.0.1", "127.8.8.8"):
            yield "loopback of others at %s:%d" % (address, port), lambda address=address, port=port: connect(address, port)
        yield "loopback of others at [::1]:%d" % port, lambda port=port: connect("::1", port, family=socket.AF_INET6)
        yield "loopback of the host from outside at %d" % port, lambda port=port: connect(host, port)
    for name in asked["abstract"]:
        yield "abstract socket " + name, lambda name=name: abstract(name)
    for path in ("/proc/1/ns/net", "/run/netns/kloigos-" + asked.get("neighbour_unit", "none"), "/run/kloigos/ipc/" + asked.get("neighbour_unit", "none")):
        yield "enter " + path, lambda path=path: enter(path)
    for path in ("/run/kloigos/pts", "/run/kloigos/ready", "/etc/kloigos/networks", "/etc/kloigos/sshd", "/etc/kloigos/unit-keys"):
        yield "list " + path, lambda path=path: os.listdir(path)


def split(target):
    host, _, port = target.rpartition(":")
    return host, int(port)


def try_all(asked):
    attacks = []
    for name, act in tries(asked):
        succeeded, detail = attempt(act)
        attacks.append({"try": name, "succeeded": succeeded, "detail": detail[:200]})
    for address in [asked["host"], *asked["neighbours"]]:
        attempt(lambda address=address: send("spoofed " + address, split(asked["target"]), address))
    for _ in range(3):
        attempt(lambda: send("honest", split(asked["target"])))
    return {"attacks": attacks}


# taking all


def take(make, most):
    taken = []
    for number in range(most):
        try:
            taken.append(make(number))
        except OSError as problem:
            if problem.errno not in (errno.EADDRINUSE, errno.EACCES):
                break
    return taken


def occupy(kind):
    def make(number):
        sock = socket.socket(socket.AF_INET, kind)
        try:
            sock.bind(("0.0.0.0", EPHEMERAL[number]))
        except OSError:
            sock.close()
            raise
        return sock
    return make


def made(number):
    if number < 0:
        raise OSError(ctypes.get_errno(), "IPC")
    return number


def listen(family, address, port, option=None):
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if option:
        sock.setsockopt(socket.IPPROTO_IP, option, 1)
    sock.bind((address, port))
    sock.listen(1)
    return sock


def bind_abstract(number):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.bind("\0" + ABSTRACT[number])
    sock.listen(1)
    return sock


def hold(asked):
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    listening, open_ones = [], []
    for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::1")):
        open_ones.append(listen(family, address, LISTENS))
        listening.append("%s:%d" % (address, LISTENS))
    # Foreign addresses: without a route to here they harm nobody.
    for address in asked.get("foreign", []):
        open_ones.append(listen(socket.AF_INET, address, FOREIGN, IP_FREEBIND))
    kinds = {"abstract": take(bind_abstract, len(ABSTRACT)),
             "terminals": take(lambda _number: os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY), 5000),
             "segments": take(lambda _number: made(libc.shmget(0, 4096, IPC_CREAT | 0o600)), 5000),
             "semaphores": take(lambda _number: made(libc.semget(0, 1, IPC_CREAT | 0o600)), 33000),
             "queues": take(lambda _number: made(libc.msgget(0, IPC_CREAT | 0o600)), 33000),
             "tcp": take(occupy(socket.SOCK_STREAM), len(EPHEMERAL)), "udp": take(occupy(socket.SOCK_DGRAM), len(EPHEMERAL))}
    try:
        print(json.dumps({"held": dict({name: len(taken) for name, taken in kinds.items()}, listening=listening)}), flush=True)
        select.select([sys.stdin], [], [], 600)
    finally:
        for segment in kinds["segments"]:
            libc.shmctl(segment, IPC_RMID, None)
        for semaphore in kinds["semaphores"]:
            libc.semctl(semaphore, 0, IPC_RMID)
        for queue in kinds["queues"]:
            libc.msgctl(queue, IPC_RMID, None)


def main():
    asked = json.loads(sys.argv[1])
    if asked["mode"] == "hold":
        hold(asked)
    else:
        print(json.dumps(try_all(asked), indent=1))


main()
