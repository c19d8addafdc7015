package playbooks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// netRig is a host in a network of its own, with two units and a machine far on its uplink. What it says is an error.
const netRig = `
import importlib.machinery, importlib.util, json, os, re, subprocess, sys, time
import jinja2
tmp = sys.argv[1]
for name in ("networks", "nft", "run"):
    os.mkdir(tmp + "/" + name)
def sh(command, check=True):
    done = subprocess.run(["sh", "-ec", command], capture_output=True, text=True)
    if check and done.returncode:
        sys.exit("%s: %s%s" % (command, done.stdout, done.stderr))
    return done.stdout
sh("mkdir -p /run/netns && mount -t tmpfs netns /run/netns")
loader = importlib.machinery.SourceFileLoader("net", "roles/unit_network_base/files/net.py")
net = importlib.util.module_from_spec(importlib.util.spec_from_loader("net", loader))
loader.exec_module(net)
net.unit.CONFIG, net.unit.RUN, net.FILTER, net.FILTERS = tmp + "/networks/", tmp + "/run", tmp + "/kloigos.nft", tmp + "/nft/"
HOST, FAR, UNITS = "10.9.0.15", "10.9.0.2", {"h1-cu01": ("70001", "10.9.0.101"), "h1-cu02": ("70002", "10.9.0.102")}
sh("ip link set lo up && ip netns add far && ip link add up0 mtu 1400 type veth peer name up1 netns far"
   " && ip link set up0 up && ip address add %s/24 dev up0"
   " && ip -n far link set lo up && ip -n far link set up1 mtu 1400 up && ip -n far address add %s/24 dev up1" % (HOST, FAR))
def template(role, name, **values):
    with open("roles/%s/templates/%s" % (role, name)) as file:
        return jinja2.Template(file.read(), undefined=jinja2.StrictUndefined).render(**values) + "\n"
with open(tmp + "/kloigos.nft", "w") as file:
    text = template("host_initialize", "kloigos.nft.j2", host_initialize_uplink="up0")
    file.write(text.replace("/etc/kloigos/nft/", tmp + "/nft/"))
for name, (uid, address) in UNITS.items():
    with open(tmp + "/networks/%s.conf" % name, "w") as file:
        file.write("UID=%s\nUSER=u%s\nADDRESS=%s\nPREFIX=24\nINTERFACE=up0\nGATEWAY=%s\nSHM_BYTES=65536\n" % (uid, uid, address, FAR))
    with open(tmp + "/nft/%s.nft" % uid, "w") as file:
        file.write(template("unit_allocate", "network.nft.j2", unit_allocate_unit={"name": name}, unit_allocate_allocation={"uid": uid, "address": address, "prefix": 24}))
def load_filter():
    sh("nft -f %s/kloigos.nft" % tmp)
def of(name):
    return net.Net(name, net.unit.read_config(name))
def program(what, name, want=0):
    code = net.main(["unit-net", what, name])
    if code != want:
        sys.exit("%s %s: exit %d, not %d" % (what, name, code, want))
def both_up():
    load_filter()
    for name in UNITS:
        program("up", name)
        program("check", name)
def entering(where):
    if where == "host":
        return []
    if where == "far":
        return ["ip", "netns", "exec", "far"]
    uid = UNITS[where][0]
    return ["nsenter", "--net=/run/netns/kloigos-" + where, "--ipc=%s/run/ipc/%s" % (tmp, where),
            "setpriv", "--reuid", uid, "--regid", uid, "--clear-groups", "--no-new-privs"]
PRELUDE = """
import errno, json, socket, sys, time
def error(call, *args):
    try:
        call(*args)
        return None
    except OSError as problem:
        return errno.errorcode.get(problem.errno, "timeout")
def connect(address, port, source=None):
    with socket.socket() as s:
        s.settimeout(3)
        if source:
            s.bind((source, 0))
        return error(s.connect, (address, port))
def bind(address, port=0, kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, kind) as s:
        return error(s.bind, (address, port))
"""
def inside(where, code):
    done = subprocess.run(entering(where) + [sys.executable, "-c", PRELUDE + code], capture_output=True, text=True, timeout=60)
    if done.returncode:
        sys.exit("in %s: %s" % (where, done.stderr))
    return json.loads(done.stdout or "null")
def serve(where, code):
    """Leaves a program running there that says a line when it is ready."""
    server = subprocess.Popen(entering(where) + [sys.executable, "-c", PRELUDE + code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if server.stdout.readline() != "ready\n":
        sys.exit("no server in " + where)
    return server
LISTEN = """
s = socket.create_server((%r, %d), reuse_port=False)
print("ready", flush=True)
while True:
    c, _ = s.accept()
    c.sendall(%r)
    c.close()
"""
def want(what, got, wanted):
    if got != wanted:
        sys.exit("%s: %r, want %r" % (what, got, wanted))
def state():
    """All of the host's network that a unit changes."""
    parts = ["ip -4 rule", "ip -4 route show table all", "ip -d link show | sed 's/[0-9]*: //'", "ip neigh show proxy", "ip -4 address",
             "ls /run/netns %s/run/*" % tmp, "grep -rs . /proc/sys/net/ipv4/conf/*/forwarding /proc/sys/net/ipv4/neigh/*/proxy_delay",
             "cut -d' ' -f5 /proc/self/mountinfo | sort", "cat /proc/sys/net/ipv4/ip_forward"]
    return [sh(part, check=False) for part in parts]
`

// inNetRig runs a script on that host.
func inNetRig(t *testing.T, script string) {
	t.Helper()
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root: it makes networks and becomes other users")
	}
	for _, tool := range []string{"/usr/bin/unshare", "/usr/sbin/ip", "/usr/sbin/nft"} {
		if _, err := os.Stat(tool); err != nil {
			t.Skipf("no %s here (Debian: apt-get install util-linux iproute2 nftables)", tool)
		}
	}
	if exec.Command(python, "-c", "import jinja2").Run() != nil {
		t.Skip("Ansible is not here (Debian: apt-get install ansible)")
	}
	alone := []string{"--net", "--mount", "--ipc", "--pid", "--mount-proc", "--kill-child", "--fork"}
	if err := exec.Command("unshare", append(alone, "true")...).Run(); err != nil {
		t.Skipf("no network of its own can be had here: %v", err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "unshare", append(alone, python, "-B", "-c", netRig+script, dir)...)
	run.Env = append(os.Environ(), "PATH=/usr/sbin:/usr/bin:/sbin:/bin")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, strings.TrimSpace(string(out)))
	}
}

// A second run changes nothing, and what is taken away comes back.
func TestNetworkOfAUnitTwiceIsOnce(t *testing.T) {
	inNetRig(t, `
both_up()
want("link", sh("ip -j link show klu70001 | grep -c LOWER_UP").strip(), "1")
before = state()
for name in UNITS:
    program("up", name)
want("the second time", state(), before)
inode = os.stat("/run/netns/kloigos-h1-cu01").st_ino
for damage in (
    "ip -4 rule del priority 9990", "ip -4 rule del priority 9991", "ip -4 rule del iif klu70001",
    "ip route flush table 70001", "ip route flush table 1263292233", "ip neigh del proxy 10.9.0.101 dev up0",
    "ip link set klu70001 down", "ip neigh del 10.9.0.101 dev klu70001", "ip link set klu70001 mtu 1300",
    "ip -n kloigos-h1-cu01 address flush dev eth0", "ip -n kloigos-h1-cu01 address add 10.9.0.15/32 dev eth0",
    "ip -n kloigos-h1-cu01 route add 10.9.0.0/24 dev eth0", "ip -n kloigos-h1-cu01 link set lo down", "ip -n kloigos-h1-cu01 link del eth0",
    "echo 0 >/proc/sys/net/ipv4/conf/up0/forwarding", "echo 1 >/proc/sys/net/ipv4/ip_forward && echo 0 >/proc/sys/net/ipv4/ip_forward",
    "nsenter --net=/run/netns/kloigos-h1-cu01 sh -c 'echo 0 >/proc/sys/net/ipv6/conf/eth0/disable_ipv6'",
    "umount %s/run/pts/h1-cu01" % tmp, "ip link set up0 down; ip link set up0 up", "rm %s/run/ready/h1-cu01" % tmp,
):
    sh(damage)
    program("check", "h1-cu01", want=3)
    program("up", "h1-cu01")
    program("check", "h1-cu01")
    want(damage, inside("far", "print(json.dumps(connect('10.9.0.101', 9)))"), "ECONNREFUSED")
    program("up", "h1-cu02")
want("the same namespace", os.stat("/run/netns/kloigos-h1-cu01").st_ino, inode)
`)
}

// A unit sends from its own address and no other, whatever it tries.
func TestUnitHasItsOwnAddressOnly(t *testing.T) {
	inNetRig(t, `
both_up()
for address in (HOST, "10.9.0.102", FAR, "169.254.1.1", "192.0.2.1"):
    for kind in ("socket.SOCK_STREAM", "socket.SOCK_DGRAM"):
        want("bind " + address, inside("h1-cu01", "print(json.dumps(bind(%r, 4000, %s)))" % (address, kind)), "EADDRNOTAVAIL")
for address in ("10.9.0.101", "0.0.0.0", "127.0.0.1", "::1"):
    want("bind " + address, inside("h1-cu01", "print(json.dumps(bind(%r, 4000)))" % address), None)
want("port 22", inside("h1-cu01", "print(json.dumps(bind('0.0.0.0', 22)))"), "EACCES")
want("port 23", inside("h1-cu01", "print(json.dumps(bind('0.0.0.0', 23)))"), None)
want("raw socket", inside("h1-cu01", "print(json.dumps(error(socket.socket, socket.AF_INET, socket.SOCK_RAW, 1)))"), "EPERM")
# IP_FREEBIND needs no right. Nothing leaves all the same.
heard = serve("far", """
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("0.0.0.0", 5000))
print("ready", flush=True)
seen = set()
while True:
    data, source = s.recvfrom(100)
    seen.add(source[0])
    if data == b"end":
        print(json.dumps(sorted(seen)), flush=True)
""")
tried = inside("h1-cu01", """
tried = []
for address in ("10.9.0.15", "10.9.0.102", "10.9.0.2"):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setsockopt(0, 15, 1)
        s.bind((address, 4001))
        tried.append(error(s.sendto, b"foreign", ("10.9.0.2", 5000)))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.sendto(b"end", ("10.9.0.2", 5000))
print(json.dumps(tried))
""")
if None in tried:
    sys.exit("packets with a foreign address were sent: %r" % tried)
want("sources that were heard", json.loads(heard.stdout.readline()), ["10.9.0.101"])
# The view from inside: one address, and no IPv6 but on loopback.
addresses = [a["local"] for l in json.loads(sh("ip -j -n kloigos-h1-cu01 address")) for a in l["addr_info"]]
want("addresses", sorted(addresses), ["10.9.0.101", "127.0.0.1", "::1"])
want("ping", inside("h1-cu01", """
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1) as s:
    s.settimeout(3)
    s.connect(("10.9.0.2", 0))
    s.send(b"\\x08\\0\\0\\0\\0\\0\\0\\1")
    print(json.dumps(s.recv(100)[0]))
"""), 0)
want("IPv6", inside("h1-cu01", """
with socket.socket(socket.AF_INET6) as s:
    print(json.dumps(error(s.connect, ("2001:db8::1", 9))))
"""), "ENETUNREACH")
# Where the namespace is left out of account: a forged packet does not pass the filter.
forged = """
import socket, struct
with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as s:
    for source in ("10.9.0.50", "10.9.0.102"):
        head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 35, 1, 0, 64, 17, 0, socket.inet_aton(source), socket.inet_aton("10.9.0.2"))
        s.sendto(head + struct.pack("!HHHH", 4001, 5000, 15, 0) + b"foreign", ("10.9.0.2", 0))
"""
sh("echo 0 >/proc/sys/net/ipv4/conf/klu70001/rp_filter; echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter")
subprocess.run(["nsenter", "--net=/run/netns/kloigos-h1-cu01", sys.executable, "-c", forged], check=True)
inside("h1-cu01", """
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.sendto(b"end", ("10.9.0.2", 5000))
""")
want("sources that were heard", json.loads(heard.stdout.readline()), ["10.9.0.101"])
dropped = re.search(r"@unit_sources counter packets (\d+)", sh("nft list chain inet kloigos units_out"))
want("forged packets that were dropped", dropped.group(1), "2")
`)
}

// With a full backlog the kernel answers with SYN cookies, from packets without a socket: not from a foreign address.
func TestSYNCookiesOfAUnitCarryItsAddress(t *testing.T) {
	inNetRig(t, `
both_up()
sh("nsenter --net=/run/netns/kloigos-h1-cu01 sh -c 'echo 2 >/proc/sys/net/ipv4/tcp_syncookies'")
# Whatever leads a packet for a foreign address into the unit.
sh("ip -n far route add 10.9.0.50/32 via %s && ip route add 10.9.0.50/32 dev klu70001 table 1263292233 scope link"
   " && ip neigh replace 10.9.0.50 lladdr 02:4b:4c:00:00:02 dev klu70001 nud permanent" % HOST)
listener = serve("h1-cu01", """
sockets = []
for address in ("0.0.0.0", "10.9.0.50", "10.9.0.15"):
    s = socket.socket()
    s.setsockopt(0, 15, 1)
    s.bind((address, 4000 + len(sockets)))
    s.listen(1)
    sockets.append(s)
print("ready", flush=True)
time.sleep(60)
""")
def cookies():
    table = sh("nsenter --net=/run/netns/kloigos-h1-cu01 cat /proc/net/netstat").split("\n")
    return int(dict(zip(table[0].split(), table[1].split()))["SyncookiesSent"])
want("own address", inside("far", "print(json.dumps(connect('10.9.0.101', 4000)))"), None)
sent = cookies()
if sent == 0:
    sys.exit("no cookie was sent: this test shows nothing")
for address, port in (("10.9.0.50", 4000), ("10.9.0.50", 4001), (HOST, 4002)):
    if inside("far", "print(json.dumps(connect(%r, %d)))" % (address, port)) is None:
        sys.exit("the unit answers as " + address)
want("cookies after packets for foreign addresses", cookies(), sent)
`)
}

// Loopback, ports, abstract sockets and IPC objects of a unit are its own.
func TestUnitsShareNothing(t *testing.T) {
	inNetRig(t, `
both_up()
serve("host", LISTEN % ("127.0.0.1", 4000, b"host"))
for name in UNITS:
    want("loopback of " + name, inside(name, "print(json.dumps(connect('127.0.0.1', 4000)))"), "ECONNREFUSED")
    serve(name, LISTEN % ("0.0.0.0", 4000, name.encode()))
for name, (_uid, address) in UNITS.items():
    said = inside("far", "print(json.dumps(socket.create_connection((%r, 4000), 5).recv(100).decode()))" % address)
    want("who listens at " + address, said, name)
want("the host's own", inside("host", "print(json.dumps(socket.create_connection(('127.0.0.1', 4000), 5).recv(100).decode()))"), "host")
abstract = """
s = socket.socket(socket.AF_UNIX)
s.bind("\\0kloigos")
s.listen(1)
print("ready", flush=True)
time.sleep(60)
"""
for where in ("host", *UNITS):
    serve(where, abstract)
# System V shared memory, all that a namespace has.
take = """
import ctypes
c = ctypes.CDLL(None, use_errno=True)
n = 0
while c.shmget(0, 1, 0o1600) >= 0:
    n += 1
print(json.dumps([n, errno.errorcode.get(ctypes.get_errno())]))
"""
want("segments of one unit", inside("h1-cu01", take), [4096, "ENOSPC"])
one = take.replace("while", "if")
for where in ("host", "h1-cu02"):
    want("a segment of " + where, inside(where, one)[0], 1)
# Pseudo-terminals: those of the host stay free.
got = subprocess.run(["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /dev/pts && exec "$@"', tmp + "/run/pts/h1-cu01", sys.executable, "-c", PRELUDE + """
import os
n = 0
try:
    while True:
        os.openpty()
        n += 1
except OSError as problem:
    print(json.dumps([n, errno.errorcode[problem.errno]]))
"""], capture_output=True, text=True)
want("terminals", json.loads(got.stdout), [256, "ENOSPC"])
os.openpty()
`)
}

// What a unit reaches: the uplink and its neighbours, of the host only ping. Nothing leads through the host that did not.
func TestFilterOfUnits(t *testing.T) {
	inNetRig(t, `
sh("ip link add lan0 type veth peer name lan1 && ip link set lan0 up && ip link set lan1 up && ip address add 10.8.0.1/24 dev lan0"
   " && ip address add 10.9.0.77/32 dev up0")
both_up()
for where in ("host", "far", "h1-cu02"):
    serve(where, LISTEN % ("0.0.0.0", 4000, b"x"))
serve("h1-cu01", LISTEN % ("0.0.0.0", 4000, b"x"))
def tries(where, **wanted):
    for address, result in wanted.items():
        address = address[1:].replace("_", ".")
        want("%s to %s" % (where, address), inside(where, "print(json.dumps(connect(%r, 4000)))" % address), result)
# 10.9.0.77 is the address of an older unit, 10.8.0.1 the host's on another network.
tries("h1-cu01", _10_9_0_2=None, _10_9_0_102=None, _10_9_0_15="EHOSTUNREACH", _10_9_0_77="EHOSTUNREACH", _10_8_0_1="EHOSTUNREACH")
# Metadata of clouds: the host's. Name servers are there too.
sh("ip -n far address add 169.254.169.254/32 dev up1 && ip route add 169.254.169.254/32 via %s" % FAR)
serve("far", LISTEN % ("169.254.169.254", 53, b"x"))
tries("host", _169_254_169_254=None)
tries("h1-cu01", _169_254_169_254="EHOSTUNREACH")
want("a name server there", inside("h1-cu01", "print(json.dumps(connect('169.254.169.254', 53)))"), None)
tries("far", _10_9_0_101=None, _10_9_0_102=None, _10_9_0_15=None)
tries("host", _10_9_0_101=None, _10_9_0_102=None)
udp = """
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.settimeout(2)
    s.connect(("10.9.0.15", 4001))
    s.send(b"x")
    print(json.dumps(error(s.recv, 10)))
"""
# What is refused says so. Closed would be ECONNREFUSED.
want("UDP to the host", inside("h1-cu01", udp), "EHOSTUNREACH")
# A tenant's process on the host's own stack.
want("outside of the namespace", json.loads(subprocess.run(["setpriv", "--reuid", "70001", "--clear-groups", sys.executable, "-c",
     PRELUDE + "print(json.dumps([connect('10.9.0.2', 4000), connect('127.0.0.1', 4000)]))"], capture_output=True, text=True).stdout), ["EHOSTUNREACH"] * 2)
# The host was no router and is none: what the far machine sends through it ends there.
sh("ip -n far route add 10.8.0.0/24 via %s; ip neigh replace 10.8.0.9 lladdr 02:00:00:00:00:09 dev lan0 nud permanent" % HOST)
def passed():
    return json.loads(sh("ip -j -s link show lan0"))[0]["stats64"]["tx"]["packets"]
ping = """
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    for _ in range(50):
        error(s.sendto, b"x", ("10.8.0.9", 9))
print(json.dumps(None))
"""
time.sleep(1)  # what the kernel itself sends on a new link
before = passed()
inside("far", ping)
if passed() > before + 10:
    sys.exit("the host became a router: %d packets passed" % (passed() - before))
# A host that is a router by itself stays one.
sh("echo 1 >/proc/sys/net/ipv4/ip_forward")
for name in UNITS:
    program("up", name)
    program("check", name)
before = passed()
inside("far", ping)
if passed() < before + 50:
    sys.exit("the host is no router any more: %d packets passed" % (passed() - before))
`)
}

// A host with a /32 and two next hops carries units of two networks, one of them with a /32 too, the other where the host has no address.
func TestUnitsOfSeveralNetworks(t *testing.T) {
	inNetRig(t, `
BEYOND = "192.0.2.9"
sh("ip address del %s/24 dev up0 && ip address add %s/32 dev up0"
   " && ip route add default nexthop via %s dev up0 onlink nexthop via 10.9.0.3 dev up0 onlink" % (HOST, HOST, FAR))
sh("ip -n far address add 10.9.0.3/24 dev up1 && ip -n far address add 10.8.0.2/24 dev up1 && ip -n far address add %s/32 dev lo" % BEYOND)
for name, uid, address, prefix, gateway in (("h1-cu01", "70001", "10.9.0.101", 32, FAR), ("h1-cu02", "70002", "10.8.0.102", 24, "10.8.0.2")):
    with open(tmp + "/networks/%s.conf" % name, "w") as file:
        file.write("UID=%s\nUSER=u%s\nADDRESS=%s\nPREFIX=%d\nINTERFACE=up0\nGATEWAY=%s\nSHM_BYTES=65536\n" % (uid, uid, address, prefix, gateway))
    with open(tmp + "/nft/%s.nft" % uid, "w") as file:
        file.write(template("unit_allocate", "network.nft.j2", unit_allocate_unit={"name": name},
                            unit_allocate_allocation={"uid": uid, "address": address, "prefix": prefix}))
both_up()
for where in ("far", *UNITS):
    serve(where, """
s = socket.create_server(("0.0.0.0", 4000))
print("ready", flush=True)
while True:
    c, peer = s.accept()
    c.sendall(peer[0].encode())
    c.close()
""")
def seen_as(where, address):
    return inside(where, "print(json.dumps(socket.create_connection((%r, 4000), 5).recv(100).decode()))" % address)
for where, own in (("h1-cu01", "10.9.0.101"), ("h1-cu02", "10.8.0.102")):
    for address in (BEYOND, "10.8.0.2", FAR):
        want("%s at %s" % (where, address), seen_as(where, address), own)
want("from a unit to the other", seen_as("h1-cu01", "10.8.0.102"), "10.9.0.101")
want("and back", seen_as("h1-cu02", "10.9.0.101"), "10.8.0.102")
want("from outside", [seen_as("far", "10.9.0.101"), seen_as("far", "10.8.0.102")], [FAR, "10.8.0.2"])
want("the host", seen_as("host", BEYOND), HOST)
# The MTU inside is the uplink's, also after a change.
def mtu(where):
    return json.loads(sh("ip -j %s link show %s" % where))[0]["mtu"]
want("MTU", [mtu(("", "klu70001")), mtu(("-n kloigos-h1-cu01", "eth0"))], [1400, 1400])
sh("ip link set up0 mtu 1300")
program("check", "h1-cu01", want=3)
program("up", "h1-cu01")
want("MTU after a change", [mtu(("", "klu70001")), mtu(("-n kloigos-h1-cu01", "eth0"))], [1300, 1300])
program("check", "h1-cu01")
`)
}

// A unit that sends to all addresses of its network leaves neighbours to the host and to the other units. Whoever sends to it is
// answered all the same, and addresses beyond the gateway are as many as it likes.
func TestNeighboursOfAUnitAreBounded(t *testing.T) {
	inNetRig(t, `
sh("ip -n far address add 10.9.1.1/32 dev up1; ip address add 10.9.0.15/16 dev up0; ip -n far address add 10.9.0.2/16 dev up1")
for name in UNITS:
    for path in ("%s/networks/%s.conf" % (tmp, name), "%s/nft/%s.nft" % (tmp, UNITS[name][0])):
        with open(path) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write(text.replace("PREFIX=24", "PREFIX=16").replace("/24", "/16"))
both_up()
inside("h1-cu01", """
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for n in range(2000):
    error(s.sendto, b"x", ("10.9.%d.%d" % (8 + n // 250, 1 + n % 250), 9))
print("null")
""")
known = len(json.loads(sh("ip -j -4 neigh show dev up0")))
if not 100 <= known <= 260:
    sys.exit("the host looks for %d neighbours" % known)
want("another neighbour at once", inside("h1-cu01", "print(json.dumps(connect('10.9.1.1', 9)))"), "timeout")
want("the host", inside("host", "print(json.dumps(connect('10.9.1.1', 9)))"), "ECONNREFUSED")
want("the other unit", inside("h1-cu02", "print(json.dumps(connect('10.9.1.1', 9)))"), "ECONNREFUSED")
# Who asks is answered.
want("an answer", inside("far", "print(json.dumps(connect('10.9.0.101', 9)))"), "ECONNREFUSED")
dropped = re.search(r"counter packets (\d+)", sh("nft list chain inet kloigos near_70001"))
if int(dropped.group(1)) < 1700:
    sys.exit("only %s packets were dropped" % dropped.group(1))
# What packets put into sets is no change of the filter.
load = "roles/host_initialize/templates/nft-load.j2"
with open(load) as file:
    strip = re.search(r"awk '(.*?)'", file.read(), re.S).group(1)
now = subprocess.run(["awk", strip], input=sh("nft --stateless list table inet kloigos"), capture_output=True, text=True).stdout
sys.path.insert(0, "library")
source = open("library/kloigos_live.py").read()
scope = {}
exec(source[source.index("def without_elements"):source.index("class Live")], scope)
want("a module's view", scope["without_elements"](sh("nft --stateless list table inet kloigos")), now)
if "10.9.8." in now or "klu70001" not in now:
    sys.exit("the steady part of the filter is " + now)
load_filter()
want("after a load", subprocess.run(["awk", strip], input=sh("nft --stateless list table inet kloigos"), capture_output=True, text=True).stdout, now)
`)
}

// One unit takes all of its ephemeral ports. The host and the neighbour connect as before.
func TestEphemeralPortsAreTheUnitsOwn(t *testing.T) {
	inNetRig(t, `
both_up()
sh("nsenter --net=/run/netns/kloigos-h1-cu01 sh -c 'echo 40000 44095 >/proc/sys/net/ipv4/ip_local_port_range'"
   " && echo 40000 44095 >/proc/sys/net/ipv4/ip_local_port_range")
serve("far", LISTEN % ("0.0.0.0", 4000, b"x"))
taker = serve("h1-cu01", """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
taken = []
try:
    while True:
        s = socket.socket()
        s.bind(("0.0.0.0", 0))
        taken.append(s)
except OSError as problem:
    assert problem.errno == errno.EADDRINUSE and len(taken) == 4096, (problem, len(taken))
print("ready", flush=True)
time.sleep(60)
""")
want("the unit", inside("h1-cu01", "print(json.dumps(connect('10.9.0.2', 4000)))"), "EADDRNOTAVAIL")
for where in ("host", "h1-cu02"):
    want(where, inside(where, "print(json.dumps(connect('10.9.0.2', 4000)))"), None)
`)
}

// Without its filter a unit has no link: it gets none, and loses the one it has.
func TestNoFilterMeansNoLink(t *testing.T) {
	inNetRig(t, `
def is_up():
    return bool(json.loads(sh("ip -j link show klu70001", check=False) or "[]")) and "UP" in json.loads(sh("ip -j link show klu70001"))[0]["flags"]
program("up", "h1-cu01", want=1)
want("a link", is_up(), False)
both_up()
for damage in (
    "flush ruleset", "flush chain inet kloigos forward", "flush chain inet kloigos input", "flush chain inet kloigos units_to_host",
    "flush chain inet kloigos near_70001", "flush chain inet kloigos units_near", "flush chain inet kloigos units_out",
    "flush set inet kloigos unit_sources", "delete element inet kloigos unit_sources { \"klu70001\" . 10.9.0.101 }",
    "add element inet kloigos unit_sources { \"klu70001\" . 10.9.0.15 }", "insert rule inet kloigos units_out accept",
    "insert rule inet kloigos units_to_host accept", "flush chain inet kloigos output", "flush chain inet kloigos unit_70001",
    "delete rule inet kloigos units_out handle $(nft -a list chain inet kloigos units_out | grep -o 'dport.*handle.*' | grep -o '[0-9]*$')",
):
  for guarded in (True, False):
    want("a link before " + damage, is_up(), True)
    sh("nft %s" % (damage if "$" in damage else "'%s'" % damage))
    program("status", "h1-cu01", want=3)
    want("a link that was only looked at", is_up(), True)
    if guarded:
        net.guard()
    else:
        program("check", "h1-cu01", want=3)
    want("a link after " + damage, is_up(), False)
    want("a mark", os.path.exists(tmp + "/run/ready/h1-cu01"), False)
    program("up", "h1-cu01", want=1)
    want("a link after `+"`up`"+`", is_up(), False)
    load_filter()
    net.guard()
    program("up", "h1-cu01")
    net.guard()
    program("check", "h1-cu01")
`)
}

// The last unit that goes leaves the host as it was before the first.
func TestNetworkOfAUnitLeavesNothing(t *testing.T) {
	inNetRig(t, `
load_filter()
program("down", "h1-cu01")  # of what never was
before = state()
both_up()
program("down", "h1-cu01")
want("the neighbour", inside("far", "print(json.dumps(connect('10.9.0.102', 9)))"), "ECONNREFUSED")
program("check", "h1-cu02")
program("down", "h1-cu02")
program("down", "h1-cu02")
for path in ("shm", "ready", "ipc", "pts", "resolv", "uplinks"):  # of all units; they must be empty
    os.rmdir(tmp + "/run/" + path)
for part, was in zip(state(), before):
    want("what is left", part, was)
# Also where the uplink went first.
both_up()
sh("ip link del up0")
program("status", "h1-cu01", want=1)
for name in UNITS:
    program("down", name)
want("links", [l["ifname"] for l in json.loads(sh("ip -j link"))], ["lo"])
want("rules", sh("ip -4 rule"), before[0])
sh("ip link add up0 type veth peer name up1 netns far && ip link set up0 up && ip address add %s/24 dev up0 && ip -n far link set up1 up" % HOST)
# iproute2 mounts the directory of namespaces on itself; an empty one goes too.
sh("mount -t tmpfs empty /run/netns")
program("up", "h1-cu01")
program("down", "h1-cu01")
want("namespaces", os.listdir("/run/netns"), ["far"])
`)
}
