package playbooks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// watched runs the units' program in a network of its own, with a unit that is enabled and up, while script takes
// things away from it.
const watched = `
import importlib.machinery, importlib.util, os, subprocess, sys, threading, time
tmp = sys.argv[1]
def load():
    loader = importlib.machinery.SourceFileLoader("unit", "roles/unit_network_base/files/unit.py")
    m = importlib.util.module_from_spec(importlib.util.spec_from_loader("unit", loader))
    loader.exec_module(m)
    m.CONFIG, m.RUN, m.ENABLED, m.NFT_SERVICE = tmp + "/addresses/", tmp + "/run", tmp + "/wants/%s", "none"
    m.let_tenants_ping = lambda: None
    run = m.run
    m.run = lambda *argv, **more: sh(filters) if argv[0] == "systemctl" else run(*argv, **more)
    return m
m = load()
for name in ("addresses", "wants"):
    os.mkdir(tmp + "/" + name)
def sh(command):
    subprocess.run(["sh", "-ec", command], check=True)
sh("ip link add up0 type veth peer name up1 && ip link set up1 up && ip link set up0 up && ip link set lo up && ip address add 10.9.0.15/24 dev up0")
filters = "nft add table inet kloigos && nft add chain inet kloigos unit_70001 && nft add chain inet kloigos unit_70002"
sh(filters)
for uid, name, address in (("70001", "h1-cu01", "10.9.0.101"), ("70002", "h1-cu02", "10.9.0.102")):
    with open(tmp + "/addresses/" + name + ".conf", "w") as file:
        file.write("UID=%s\nUSER=u%s\nADDRESS=%s\nPREFIX=24\nINTERFACE=up0\nGATEWAY=10.9.0.2\nSHM_BYTES=65536\n" % (uid, uid, address))
    os.symlink("/dev/null", tmp + "/wants/" + name)
one, two = m.read_config("h1-cu01"), m.read_config("h1-cu02")
m.up("h1-cu01", one)
m.up("h1-cu02", two)
assert m.missing("h1-cu01", one) == [], m.missing("h1-cu01", one)
threading.Thread(target=m.watch, daemon=True).start()
time.sleep(1)
def back(what, name="h1-cu01", conf=one):
    end = time.monotonic() + 20
    while m.missing(name, conf):
        if time.monotonic() > end:
            sys.exit("%s: still missing %s" % (what, m.missing(name, conf)))
        time.sleep(0.1)
for what in sys.argv[2:]:
    sh(what)
    assert m.missing("h1-cu01", one) != [], what
    back(what)
    time.sleep(1)
# What is given back does not come back.
os.unlink(tmp + "/wants/h1-cu02")
with m.alone():
    m.clear("h1-cu02", two)
sh("ip address del 10.9.0.101/32 dev up0")
back("given back")
lacking = m.missing("h1-cu02", two)
assert any("10.9.0.102" in line for line in lacking) and any("rule" in line for line in lacking), lacking
`

// What the host's network management takes from a unit (networkctl reload: foreign addresses; ifdown and ifup: all of a
// link), or somebody from the packet filter, is brought back at once, and what was given back is not.
func TestUnitsAreBroughtBack(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"/usr/bin/unshare", "/usr/sbin/ip", "/usr/sbin/nft"} {
		if _, err := os.Stat(tool); err != nil {
			t.Skipf("no %s here (Debian: apt-get install util-linux iproute2 nftables)", tool)
		}
	}
	inside := []string{"--net", "--mount", "--kill-child", "--fork"}
	if os.Geteuid() != 0 { // rules for UIDs want those UIDs to be there
		inside = append(inside, "--map-root-user", "--map-auto")
	}
	if err := exec.Command("unshare", append(inside, "true")...).Run(); err != nil {
		t.Skipf("no network of its own can be had here: %v", err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command("unshare", append(inside, python, "-B", "-c", watched, dir,
		"ip address del 10.9.0.101/32 dev up0",
		"ip address flush dev up0 && ip address add 10.9.0.15/24 dev up0",
		"ip link set up0 down && sleep 1 && ip link set up0 up",
		"ip route flush table 70001",
		"ip -4 rule del priority 10000 uidrange 70001-70001",
		"nft delete chain inet kloigos unit_70001",
		"nft flush ruleset",
		"ip -6 rule del priority 10000 uidrange 70001-70001 || ip address del 10.9.0.101/32 dev up0",
	)...)
	run.Env = append(os.Environ(), "PATH=/usr/sbin:/usr/bin:/sbin:/bin")
	began := time.Now()
	out, err := run.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "h1-cu01: brought back") {
		t.Fatalf("after %s: %v\n%s", time.Since(began).Round(time.Second), err, out)
	}
}
