package playbooks

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// uplinkOf is what the probe makes of the answers of `ip` to its two questions.
const uplinkOf = `
import importlib.util, json, sys
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_probe", "library/kloigos_probe.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
routes, addresses = json.loads(sys.argv[1]), json.loads(sys.argv[2])
probe = m.Probe(None)
probe.json_of = lambda argv: routes if "route" in argv else addresses.get(argv[-1], [])
print(json.dumps(probe.uplink()))
`

// The answers are iproute2's own, of Debian 12.
func TestProbeReadsTheUplink(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	const addresses = `{"ens3": [{"ifname": "ens3", "addr_info": [
		{"family": "inet", "local": "10.0.2.101", "prefixlen": 32, "scope": "global"},
		{"family": "inet", "local": "10.0.2.15", "prefixlen": 24, "scope": "global"}]}],
		"ens4": [{"ifname": "ens4", "addr_info": [{"family": "inet", "local": "10.0.3.15", "prefixlen": 24, "scope": "global"}]}]}`
	type uplink struct {
		Interface, Address, Gateway string
		Prefix                      int
	}
	ens3, ens4 := uplink{"ens3", "10.0.2.15", "10.0.2.2", 24}, uplink{"ens4", "10.0.3.15", "10.0.3.2", 24}
	for name, c := range map[string]struct {
		routes string
		want   uplink
	}{
		"one":            {`[{"dst":"default","gateway":"10.0.2.2","dev":"ens3","flags":["onlink"]}]`, ens3},
		"two next hops":  {`[{"dst":"default","flags":[],"nexthops":[{"gateway":"10.0.2.2","dev":"ens3","weight":1,"flags":[]},{"gateway":"10.0.3.2","dev":"ens4","weight":1,"flags":[]}]}]`, ens3},
		"a heavier one":  {`[{"dst":"default","flags":[],"nexthops":[{"gateway":"10.0.2.2","dev":"ens3","weight":1,"flags":[]},{"gateway":"10.0.3.2","dev":"ens4","weight":9,"flags":[]}]}]`, ens4},
		"one is down":    {`[{"dst":"default","flags":[],"nexthops":[{"gateway":"10.0.2.2","dev":"ens3","weight":1,"flags":["dead","linkdown"]},{"gateway":"10.0.3.2","dev":"ens4","weight":1,"flags":[]}]}]`, ens4},
		"nexthop object": {`[{"dst":"default","nhid":10,"protocol":"static","flags":[],"nexthops":[{"gateway":"10.0.2.2","dev":"ens3","weight":1,"flags":[]}]}]`, ens3},
		"metrics":        {`[{"dst":"default","gateway":"10.0.3.2","dev":"ens4","metric":200,"flags":[]},{"dst":"default","gateway":"10.0.2.2","dev":"ens3","metric":100,"flags":[]}]`, ens3},
		"a blackhole":    {`[{"type":"blackhole","dst":"default","flags":[]}]`, uplink{}},
		"none":           {`[]`, uplink{}},
	} {
		out, err := exec.Command(python, "-B", "-c", uplinkOf, c.routes, addresses).CombinedOutput()
		var got uplink
		if err != nil || json.Unmarshal(out, &got) != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// TestProbeReadsRangesOfIDs of Debian 12's files, with lines that are none.
func TestProbeReadsRangesOfIDs(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	root := t.TempDir()
	for name, text := range map[string]string{
		"subuid":     "debian:100000:65536\n# none\nbroken:x:1\nempty:70000:0\n1001:70000:1000\n",
		"subgid":     "debian:100000:65536\n",
		"login.defs": "# UID_MIN 5\nUID_MIN\t\t\t 1000\nUID_MAX\t\t\t60000\n#SYS_UID_MIN\t\t  101\nSUB_UID_MIN\t\t   100000\nSUB_UID_MAX\t\t600100000 # as shipped\nSUB_UID_COUNT\t\t    65536\nGID_MIN 1000\n",
	} {
		if err := os.MkdirAll(filepath.Join(root, "etc"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "etc", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(python, "-B", "-c", `
import importlib.util, json, sys
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_probe", "library/kloigos_probe.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
m.ROOT = sys.argv[1]
print(json.dumps(m.Probe(None).id_ranges()))
`, root).CombinedOutput()
	type idRange struct {
		First, Last int64
		By          string
		Given       bool
	}
	var got []idRange
	if err != nil || json.Unmarshal(out, &got) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := []idRange{
		{100000, 165535, "the subordinate UIDs of debian (/etc/subuid)", true},
		{70000, 70999, "the subordinate UIDs of 1001 (/etc/subuid)", true},
		{100000, 165535, "the subordinate GIDs of debian (/etc/subgid)", true},
		{1000, 60000, "the UIDs of new accounts (UID_MIN to UID_MAX in /etc/login.defs)", false},
		{100000, 600100000, "the subordinate UIDs of new accounts (SUB_UID_MIN to SUB_UID_MAX in /etc/login.defs)", false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// ofProbe runs lines of Python with the module of the probe as m, and reads what they print.
func ofProbe[T any](t *testing.T, lines string, args ...string) (got T) {
	t.Helper()
	needAnsible(t)
	load := `
import importlib.util, json, sys
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_probe", "library/kloigos_probe.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
`
	out, err := exec.Command(python, append([]string{"-B", "-c", load + lines}, args...)...).CombinedOutput()
	if err != nil || json.Unmarshal(out, &got) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return got
}

// TestProbeNamesTenantsOfRanges: accounts of earlier releases whose UID is somebody's subordinate one, with their owner.
func TestProbeNamesTenantsOfRanges(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"etc/kloigos/units/1.json": `{"allocation": {"login_user": "ada", "uid": 200001}}`,
		"etc/kloigos/units/2.json": `{"allocation": {"login_user": "bob", "uid": 70000}}`,
		"etc/kloigos/units/3.json": `{"allocation": {"login_user": "eve", "uid": "x"}}`,
		"etc/kloigos/units/4.json": "{",
		"etc/subuid":               "debian:134466:65536\nlast:70001:9\nbroken:x:1\n",
		"etc/subgid":               "1001:69999:2\n",
	} {
		file := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	got := ofProbe[[]string](t, "m.ROOT = sys.argv[1]\nprint(json.dumps(m.Probe(None).id_overlaps()))", root)
	want := []string{"ada (UID 200001) in the range 134466 to 200001 of debian (/etc/subuid)", "bob (UID 70000) in the range 69999 to 70000 of 1001 (/etc/subgid)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// faultsOf is what the probe finds wrong with units whose program answers so, one look after the other.
const faultsOf = `
import os
tmp, watched, looks = sys.argv[1] + "/", sys.argv[2] == "true", json.loads(sys.argv[3])
m.ADDRESSES, m.ENABLED, m.UNIT_PROGRAM = tmp + "addresses/", tmp + "wants/%s", "/bin/sh"
m.NETWORKS, m.NET_ENABLED, m.NET_PROGRAM = tmp + "networks/", tmp + "wants/%s", "/bin/true"
m.shutil.which = lambda name, path=None: "/bin/" + name
slept = []
m.time.sleep = slept.append
class Module:
    def run_command(self, argv, **_):
        if argv[0] == "/bin/systemctl":
            return (0 if watched else 3), "", ""
        assert argv[0] == ("/bin/true" if argv[2] == "h1-cu02" else "/bin/sh"), argv
        return looks[argv[2]].pop(0)
for name in ("addresses", "networks", "wants"):
    os.mkdir(tmp + name)
for name in ("h1-cu01", "h1-cu02", "h1-cu03"):
    # The second one has a network of its own.
    open(tmp + ("networks/" if name == "h1-cu02" else "addresses/") + name + ".conf", "w").close()
    if name != "h1-cu03": # given back: nobody looks at it
        open(tmp + "wants/" + name, "w").close()
print(json.dumps({"faults": m.Probe(Module()).faults(), "slept": slept}))
`

// TestProbeNamesWhatUnitsLack, and gives what watches over them the time that it needs.
func TestProbeNamesWhatUnitsLack(t *testing.T) {
	t.Parallel()
	type found struct {
		Faults []string
		Slept  []int
	}
	const (
		well, gone  = `[0, "", ""]`, `[1, "unit: h1\nmissing: address 10.0.2.101 on ens3\nmissing: rule\n", ""]`
		stopped     = "The service kloigos-watch.service does not run: initialize the host again."
		lacks       = "Unit h1-cu01 lacks: address 10.0.2.101 on ens3, rule."
		unreadable  = `[2, "", "no such unit\n"]`
		withoutText = `[7, "", ""]`
	)
	for name, c := range map[string]struct {
		watched    string
		one, other string // answers about h1-cu01 and h1-cu02
		want       found
	}{
		"well":              {"true", well, well, found{[]string{}, []int{}}},
		"brought back":      {"true", gone + "," + well, well, found{[]string{}, []int{5}}},
		"not brought back":  {"true", gone + "," + gone, well, found{[]string{lacks}, []int{5}}},
		"nothing watches":   {"false", gone, well, found{[]string{stopped, lacks}, []int{}}},
		"well, not watched": {"false", well, well, found{[]string{stopped}, []int{}}},
		"no status":         {"true", unreadable + "," + unreadable, withoutText + "," + withoutText, found{[]string{"Unit h1-cu01 lacks: no such unit.", "Unit h1-cu02 lacks: exit 7."}, []int{5}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ofProbe[found](t, faultsOf, t.TempDir(), c.watched, `{"h1-cu01": [`+c.one+`], "h1-cu02": [`+c.other+`]}`)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func needAnsible(t *testing.T) {
	t.Helper()
	if exec.Command(python, "-c", "import ansible").Run() != nil {
		t.Skip("Ansible is not here (Debian: apt-get install ansible)")
	}
}

// The probe says what a host lacks for units with networks of their own.
func TestProbeSaysWhetherUnitsCanHaveNetworks(t *testing.T) {
	t.Parallel()
	const probed = `
class Module:
    def run_command(self, argv, **_):
        if argv[-1] in sys.argv[2].split(","):
            return 1, "", ""
        if argv[-2:] == ["list", "chains"]:
            return 0, sys.argv[6], ""
        if argv[1:3] == ["list", "chain"]:
            return 0, "iifname klu* accept" if argv[-1] == "OPEN" else "", ""
        return 0, "[]", ""
m.ROOT = sys.argv[1]
m.NETWORK_TOOLS = ("sh", *filter(None, sys.argv[4].split(",")))
m.shutil.which = lambda name, path: None if name == "nsuch" else "/bin/" + name
probe = m.Probe(Module())
probe.uplink = lambda: {"address": sys.argv[5]}
print(json.dumps(probe.unit_networks(sys.argv[3])))
`
	kernel := t.TempDir()
	for _, name := range []string{"proc/self/ns/net", "proc/self/ns/ipc", "proc/sys/net/ipv4/ip_unprivileged_port_start"} {
		if err := os.MkdirAll(filepath.Join(kernel, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	withServers := func(path, text string) string {
		root := t.TempDir()
		if err := os.CopyFS(root, os.DirFS(kernel)); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return root
	}
	noServer := "missing: a name server that units reach, by IPv4 and not on the host itself (say one in /etc/kloigos/resolv.conf)"
	for _, c := range []struct{ root, modules, systemd, tools, address, want string }{
		{withServers("etc/resolv.conf", "nameserver 127.0.0.53\nnameserver 10.0.2.15\nnameserver 2001:db8::1\n"), "", "252", "", "10.0.2.15", noServer},
		{withServers("etc/resolv.conf", "search a\nnameserver 10.0.2.3\n"), "", "252", "", "10.0.2.15", "possible"},
		{withServers("run/systemd/resolve/resolv.conf", "nameserver 10.0.2.3\n"), "", "252", "", "10.0.2.15", "possible"},
		{kernel, "", "252", "", "10.0.2.15", "possible"},
		{withServers("etc/kloigos/kloigos.nft", "table inet kloigos {\n\tchain units_out {\n"), "", "252", "", "10.0.2.15", "possible"},
		{withServers("etc/kloigos/kloigos.nft", "table inet kloigos {\n\tchain output {\n"), "", "252", "", "10.0.2.15", "missing: the packet filter of this release (initialize the host again)"},
		{kernel, "veth,nft_ct", "247", "nsuch", "", "missing: nsuch, systemd 248 (it is 247), the kernel module veth, the kernel module nft_ct, an uplink with an IPv4 address"},
		{t.TempDir(), "", "", "", "10.0.2.15", "missing: systemd 248 (it is not there), network namespaces in the kernel, IPC namespaces in the kernel, ip_unprivileged_port_start in the kernel"},
	} {
		if got := ofProbe[string](t, probed, c.root, c.modules, c.systemd, c.tools, c.address, ""); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	chains := `{"nftables": [{"metainfo": {}}, {"chain": {"family": "inet", "table": "kloigos", "name": "forward", "hook": "forward", "policy": "drop"}},
{"chain": {"family": "ip", "table": "filter", "name": "FORWARD", "hook": "forward", "policy": "drop"}},
{"chain": {"family": "ip", "table": "other", "name": "OPEN", "hook": "forward", "policy": "drop"}},
{"chain": {"family": "ip", "table": "filter", "name": "INPUT", "hook": "input", "policy": "drop"}}, {"chain": {"family": "ip", "table": "filter", "name": "plain"}}]}`
	want := "missing: a way through the chain ip filter FORWARD, which drops what is forwarded (accept packets from and to klu* there)"
	if got := ofProbe[string](t, probed, kernel, "", "252", "", "10.0.2.15", chains); got != want {
		t.Errorf("a host that forwards nothing: %s", got)
	}
}
