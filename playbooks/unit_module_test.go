package playbooks

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unitSaid is what kloigos_unit said of a unit that nobody has.
type unitSaid struct {
	Failed     string   `json:"failed"`
	Changed    bool     `json:"changed"`
	Foreign    bool     `json:"foreign"`
	Objections []string `json:"objections"`
	Done       []string `json:"done"`
	Ran        []string `json:"ran"`
}

// unitHost is what a host knows beside the accounts root and daemon and the groups root, daemon and staff.
type unitHost struct {
	holder            string // of the unit, by its manifest
	passwd, group     string // further lines of /etc/passwd and /etc/group
	directory, groups string // lines of accounts and groups for which a directory answers without listing them
	subuid, subgid    string // lines of /etc/subuid and /etc/subgid
	addresses         string // as `ip -o address` prints them
	conf              string // of the unit's address, which a run for this tenant left
	forReal           bool   // not a check
	network           string // "unit" for one of its own, "" for the host's
	netConf           string // of the unit's own network, which a run for this tenant left
	filter            string // the host's packet filter; "" for one of this release
}

// unitModule runs the module for a tenant on such a host, on which the manifest, if any, says who holds the unit.
func unitModule(t *testing.T, state, user, holder string) unitSaid {
	t.Helper()
	return unitModuleOn(t, state, user, unitHost{holder: holder})
}

func unitModuleOn(t *testing.T, state, user string, host unitHost) unitSaid {
	t.Helper()
	if exec.Command(python, "-c", "import ansible").Run() != nil {
		t.Skip("Ansible is not here (Debian: apt-get install ansible)")
	}
	out, err := exec.Command(python, "-B", "-c", `
import importlib.util, json, sys, types
state, user, holder, etc, passwd, group, directory, groups, for_real, addresses, conf, subuid, subgid, network, net_conf, base = sys.argv[1:]
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_unit", "library/kloigos_unit.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
ran = []
class Module:
    check_mode = state in ("claimed", "removed") and for_real == "false"
    params = {
        "state": state, "volume_group": "vg", "profile_version": None, "network": network,
        "unit": {"id": "u1", "name": "h1-cu01", "mount": "/mnt/kloigos/h1/cu01", "volume": "cu01"},
        "allocation": {"id": "a1", "login_user": user, "uid": 312345, "address": "10.9.9.9"},
    }
    def __init__(self, **_):
        pass
    def fail_json(self, msg, **_):
        self.exit_json(failed=msg)
    def exit_json(self, **result):
        print(json.dumps(dict(result, ran=ran)))
        sys.exit(0)
    def run_command(self, argv, **_):
        ran.append(" ".join(argv))
        if argv[0] == "/usr/sbin/ip":
            return 0, addresses if "address" in argv else "", ""
        return 0, "ActiveState=inactive\nUnitFileState=disabled\n", ""
m.AnsibleModule = Module
m.NETWORKS = m.UNIT_KEYS = etc + "/networks/"
m.NET_PROGRAM, m.NFT_BASE = etc + "/unit-net", etc + "/kloigos.nft"
for path, text in ((m.NET_PROGRAM, ""), (m.NFT_BASE, base)):
    with open(path, "w") as file:
        file.write(text)
if net_conf:
    import os
    os.mkdir(etc + "/networks")
    with open(etc + "/networks/h1-cu01.conf", "w") as file:
        file.write(net_conf)
m.MANIFESTS = m.WIPED = m.KEYS = m.LINGER = m.CGROUPS = m.ADDRESSES = etc + "/"
if conf:
    with open(etc + "/h1-cu01.conf", "w") as file:
        file.write(conf)
if holder:
    with open(etc + "/u1.json", "w") as file:
        json.dump({"unit": {"id": "u1", "name": "h1-cu01"}, "allocation": {"id": holder, "uid": 312345}}, file)
passwd = "root:x:0:0::/root:/bin/sh\ndaemon:x:1:1::/usr/sbin:/bin/sh\n" + passwd
group = "root:x:0:\ndaemon:x:1:\nstaff:x:50:\n" + group
m.PASSWD, m.GROUP = etc + "/passwd", etc + "/group"
m.SUBORDINATE = ((etc + "/subuid", "UID"), (etc + "/subgid", "GID"))
for path, text in ((m.PASSWD, passwd), (m.GROUP, group), (etc + "/subuid", subuid), (etc + "/subgid", subgid)):
    with open(path, "w") as file:
        file.write(text)
accounts = lambda text: [types.SimpleNamespace(pw_name=f[0], pw_uid=int(f[2]), pw_dir=f[5]) for f in (line.split(":") for line in text.splitlines())]
groups_of = lambda text: [types.SimpleNamespace(gr_name=f[0], gr_gid=int(f[2])) for f in (line.split(":") for line in text.splitlines())]
def lookup(entries, field):
    def found(key):
        for entry in entries:
            if getattr(entry, field) == key:
                return entry
        raise KeyError(key)
    return found
every, every_group = accounts(passwd) + accounts(directory), groups_of(group) + groups_of(groups)
m.pwd = types.SimpleNamespace(getpwall=lambda: accounts(passwd), getpwnam=lookup(every, "pw_name"), getpwuid=lookup(every, "pw_uid"))
m.grp = types.SimpleNamespace(getgrall=lambda: groups_of(group), getgrnam=lookup(every_group, "gr_name"), getgrgid=lookup(every_group, "gr_gid"))
m.main()
`, state, user, host.holder, t.TempDir(), host.passwd, host.group, host.directory, host.groups, strconv.FormatBool(host.forReal), host.addresses, host.conf, host.subuid, host.subgid, cmp.Or(host.network, "host"), host.netConf, cmp.Or(host.filter, "chain units_out {\n}\n")).CombinedOutput()
	var said unitSaid
	if err != nil || json.Unmarshal(out, &said) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return said
}

// A login name that is taken on the host is refused before anything is put there.
func TestClaimRefusesTheNamesOfOthers(t *testing.T) {
	t.Parallel()
	for user, want := range map[string]string{"daemon": "the account daemon has UID 1", "staff": "the group staff has GID 50", "alice": ""} {
		said := unitModule(t, "claimed", user, "")
		refused := slices.ContainsFunc(said.Objections, func(o string) bool { return strings.Contains(o, "do not belong together here") })
		if refused != (want != "") || !strings.Contains(strings.Join(said.Objections, "; "), want) {
			t.Errorf("%s: %q", user, said.Objections)
		}
	}
}

// What was never set up for that reason can be given back, and what goes by that name stays as it is.
func TestTheNamesOfOthersAreNotGivenBack(t *testing.T) {
	t.Parallel()
	for _, user := range []string{"daemon", "staff"} {
		if said := unitModule(t, "stopped", user, ""); !said.Foreign || said.Changed || said.Failed != "" || len(said.Ran) > 0 {
			t.Errorf("%s of nobody: %+v", user, said)
		}
	}
	// With the tenant's own manifest there the account is a riddle, and a group of that name is somebody's.
	if said := unitModule(t, "stopped", "daemon", "a1"); said.Foreign || !strings.Contains(said.Failed, "is no tenant of") || len(said.Ran) > 0 {
		t.Errorf("daemon of a tenant: %+v", said)
	}
	if said := unitModule(t, "stopped", "staff", "a1"); said.Foreign || said.Failed != "" || len(said.Ran) == 0 {
		t.Errorf("staff of a tenant: %+v", said)
	}
	if said := unitModule(t, "claimed", "staff", "a1"); strings.Contains(strings.Join(said.Objections, "; "), "group") {
		t.Errorf("staff, whose keys are replaced: %+v", said)
	}
	if said := unitModule(t, "stopped", "alice", ""); said.Foreign || said.Failed != "" || len(said.Ran) == 0 {
		t.Errorf("alice: %+v", said)
	}
}

// A directory answers for people whom it does not list. Their names and numbers are refused before anything is written.
func TestClaimAsksForWhoIsNotListed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		host unitHost
		want string
	}{
		"login name":         {unitHost{directory: "alice:x:5001:5001::/home/alice:/bin/sh"}, "the account alice has UID 5001"},
		"UID":                {unitHost{directory: "maria:x:312345:100::/home/maria:/bin/sh"}, "the account maria has UID 312345"},
		"both":               {unitHost{directory: "alice:x:312345:312345::/home/alice:/bin/sh"}, "it comes from a directory"},
		"home below a unit":  {unitHost{directory: "alice:x:312345:1::/mnt/kloigos/h1/cu01/home/alice:/bin/sh"}, "it comes from a directory"},
		"name of a group":    {unitHost{groups: "alice:x:5001:"}, "the group alice has GID 5001"},
		"GID":                {unitHost{groups: "sales:x:312345:"}, "the group sales has GID 312345"},
		"both of a group":    {unitHost{groups: "alice:x:312345:"}, "the group alice is there already; it comes from a directory"},
		"subordinate UIDs":   {unitHost{subuid: "debian:300000:65536\n"}, "UID 312345 is one of the subordinate UIDs of debian, 300000 to 365535"},
		"subordinate GIDs":   {unitHost{subgid: "debian:312345:1\n"}, "GID 312345 is one of the subordinate GIDs of debian"},
		"own ones":           {unitHost{subuid: "alice:100000:65536\n"}, "the login name alice has subordinate UIDs"},
		"beside them":        {unitHost{subuid: "debian:100000:65536\nmaria:312346:5\nx:312300:45\n"}, ""},
		"an old allocation":  {unitHost{holder: "a1", subuid: "debian:300000:65536\n"}, ""},
		"nobody":             {unitHost{directory: "maria:x:5001:5001::/home/maria:/bin/sh", groups: "sales:x:5001:"}, ""},
		"the tenant himself": {unitHost{holder: "a1", passwd: "alice:x:312345:312345::/mnt/kloigos/h1/cu01/home/alice:/bin/sh\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := unitModuleOn(t, "claimed", "alice", c.host)
			refused := slices.ContainsFunc(said.Objections, func(o string) bool { return !strings.Contains(o, "is not mounted") })
			if refused != (c.want != "") || !strings.Contains(strings.Join(said.Objections, "; "), c.want) {
				t.Errorf("a check said %q", said.Objections)
			}
			c.host.forReal = true
			said = unitModuleOn(t, "claimed", "alice", c.host)
			if refused = strings.HasPrefix(said.Failed, "refused (identity_taken): "); refused != (c.want != "") || len(said.Done) > 0 {
				t.Errorf("failed with %q, having done %q", said.Failed, said.Done)
			}
		})
	}
}

// An address that the host has for itself is refused; the unit's own, of a run before, is not.
func TestClaimRefusesAnAddressOfTheHost(t *testing.T) {
	t.Parallel()
	const (
		lo   = "1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever preferred_lft forever\n"
		own  = "2: ens3    inet 10.9.9.9/24 brd 10.9.9.255 scope global dynamic ens3\\       valid_lft 80000sec preferred_lft 80000sec\n"
		unit = "2: ens3    inet 10.9.9.9/32 scope global ens3\\       valid_lft forever preferred_lft forever\n"
		peer = "3: tun0    inet 10.9.9.9 peer 10.9.9.1/32 scope global tun0\\       valid_lft forever preferred_lft forever\n"
		conf = "UID=312345\nADDRESS=10.9.9.9\n"

		tenant = "alice:x:312345:312345::/mnt/kloigos/h1/cu01/home/alice:/bin/sh\n"
	)
	for name, c := range map[string]struct {
		host    unitHost
		refused bool
	}{
		"nobody has it":                     {unitHost{addresses: lo}, false},
		"the host's":                        {unitHost{addresses: lo + own}, true},
		"the host's /32":                    {unitHost{addresses: lo + unit}, true},
		"a tunnel's":                        {unitHost{addresses: lo + peer}, true},
		"the unit's own, of a run before":   {unitHost{addresses: lo + unit, holder: "a1", conf: conf}, false},
		"on the host, promised to no one":   {unitHost{addresses: lo + unit, conf: conf}, true},
		"the manifest went by hand":         {unitHost{addresses: lo + unit, conf: conf, passwd: tenant}, false},
		"the settings are another UID's":    {unitHost{addresses: lo + unit, conf: strings.Replace(conf, "312345", "312346", 1), passwd: tenant}, true},
		"the unit's before had another one": {unitHost{addresses: lo + unit, holder: "a1", conf: "UID=312345\nADDRESS=10.9.9.99\n"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.host.forReal = true
			said := unitModuleOn(t, "claimed", "alice", c.host)
			if got := strings.HasPrefix(said.Failed, "refused (address_on_host): the host has 10.9.9.9/"); got != c.refused || len(said.Done) > 0 {
				t.Errorf("failed with %q, having done %q", said.Failed, said.Done)
			}
		})
	}
}

// A unit that gets the other kind of network ends once, and leaves the kind that it had; a unit that keeps its kind goes on.
func TestAUnitMovesToTheOtherNetworkOnce(t *testing.T) {
	t.Parallel()
	const conf = "UID=312345\nADDRESS=10.9.9.9\n"
	const addresses = "2: ens3    inet 10.9.9.9/32 scope global ens3\\       valid_lft forever preferred_lft forever\n"
	for name, c := range map[string]struct {
		host unitHost
		ends bool
	}{
		"on the host as before":             {unitHost{holder: "a1", conf: conf, addresses: addresses}, false},
		"from the host to its own":          {unitHost{holder: "a1", conf: conf, addresses: addresses, network: "unit"}, true},
		"its own as before":                 {unitHost{holder: "a1", netConf: conf, network: "unit"}, false},
		"from its own to the host":          {unitHost{holder: "a1", netConf: conf}, true},
		"a new one with a network":          {unitHost{network: "unit"}, false},
		"of another one, not to be touched": {unitHost{holder: "a2", conf: conf, network: "unit"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := unitModuleOn(t, "claimed", "alice", c.host)
			if ends := slices.Contains(said.Done, "ended all sessions and processes of UID 312345"); ends != c.ends {
				t.Errorf("would have done %q", said.Done)
			}
		})
	}
	// A host of an older release has no filter for such networks: nothing of the tenant ends.
	said := unitModuleOn(t, "claimed", "alice", unitHost{holder: "a1", conf: conf, addresses: addresses, network: "unit", filter: "chain output {\n}\n"})
	if !strings.Contains(strings.Join(said.Objections, "; "), "no packet filter for networks of units") || slices.Contains(said.Done, "ended all sessions and processes of UID 312345") {
		t.Errorf("on an old host: objections %q, would have done %q", said.Objections, said.Done)
	}
}

// unitProgram runs the program that brings units up and takes them down, on a host whose `ip -j address` says so, and
// returns its exit code and the commands that it ran.
func unitProgram(t *testing.T, verb, addresses string, marks map[string]string) (code int, ran []string) {
	t.Helper()
	out, err := exec.Command(python, "-B", "-c", `
import json, os, sys
root, verb, addresses, marks = sys.argv[1:]
with open("roles/unit_network_base/files/unit.py") as file:
    text = file.read()
m = {"__name__": "unit", "__doc__": ""}
exec(compile(text, "unit.py", "exec"), m)
ran = []
class Done:
    returncode, stdout, stderr = 0, "", ""
def run(*argv, check=True):
    done = Done()
    if argv[:2] == ("ip", "-N"):
        done.stdout = {"address": addresses, "link": '[{"flags": ["UP"]}]'}.get(argv[3] if argv[3] != "-4" else argv[4], "[]")
        if "table" in argv or "rule" in argv:
            done.stdout = "[]"
    elif argv[0] == "nft":
        done.stdout = "table inet kloigos {\n\tchain unit_312345 {\n\t}\n}\n"
    else:
        ran.append(" ".join(argv))
    return done
m.update(run=run, RUN=root + "/run", CONFIG=root + "/", is_mounted=lambda path: False, has_ipv6=lambda: False,
         let_tenants_ping=lambda: None, announce=lambda interface, address: None)
for path, content in (json.loads(marks) or {}).items():
    os.makedirs(os.path.dirname(root + "/run/" + path), exist_ok=True)
    with open(root + "/run/" + path, "w") as file:
        file.write(content)
with open(root + "/h1-cu01.conf", "w") as file:
    file.write("UID=312345\nUSER=alice\nADDRESS=10.9.9.9\nPREFIX=24\nINTERFACE=ens3\nGATEWAY=10.9.9.1\nSHM_BYTES=4096\n")
code = m["main"](["unit", verb, "h1-cu01"])
print(json.dumps({"code": code, "ran": ran}))
`, t.TempDir(), verb, addresses, string(must(json.Marshal(marks)))).Output()
	var said struct {
		Code int      `json:"code"`
		Ran  []string `json:"ran"`
	}
	if err != nil || json.Unmarshal(out, &said) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return said.Code, said.Ran
}

func must(raw []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return raw
}

// The program adds no address that is there, and removes none that it did not add.
func TestOnlyWhatAUnitAddedIsRemoved(t *testing.T) {
	t.Parallel()
	const (
		others = `[{"addr_info": [{"local": "10.9.9.2"}]}]`
		beside = `[{"addr_info": [{"local": "10.9.9.2"}, {"local": "10.9.9.9"}]}]`
		alone  = `[{"addr_info": [{"local": "10.9.9.9"}]}]`
		adds   = "ip address replace 10.9.9.9/32 dev ens3"
		takes  = "ip address del 10.9.9.9/32 dev ens3"
	)
	added, ready := map[string]string{"added/h1-cu01": "10.9.9.9\n"}, map[string]string{"ready/h1-cu01": "10.9.9.9\n"}
	for name, c := range map[string]struct {
		verb, addresses string
		marks           map[string]string
		code            int
		want            string // a command; "" for none of both
	}{
		"up, a new address":                                          {"up", others, nil, 0, adds},
		"up, the host's own":                                         {"up", beside, nil, 1, ""},
		"up again, recorded":                                         {"up", beside, added, 0, adds},
		"up again, brought up by an older release":                   {"up", beside, ready, 0, adds},
		"clear, recorded":                                            {"clear", beside, added, 0, takes},
		"clear, recorded and the last one":                           {"clear", alone, added, 0, takes},
		"clear, the host's own":                                      {"clear", beside, nil, 0, ""},
		"clear, brought up by an older release":                      {"clear", beside, ready, 0, takes},
		"clear, the host's last one, taken over by an older release": {"clear", alone, ready, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, ran := unitProgram(t, c.verb, c.addresses, c.marks)
			if code != c.code || slices.Contains(ran, adds) != (c.want == adds) || slices.Contains(ran, takes) != (c.want == takes) {
				t.Errorf("ended with %d, having run %q", code, ran)
			}
		})
	}
}

// An allocation that an older release left half done: its manifest is there, the account is a directory's. It is given
// back without a look at what is that person's.
func TestAnAccountOfADirectoryIsPassedOver(t *testing.T) {
	t.Parallel()
	tenant := "alice:x:312345:312345::/mnt/kloigos/h1/cu01/home/alice:/bin/sh\n"
	for name, c := range map[string]struct {
		host    unitHost
		foreign bool
		removes int
	}{
		"the name is a directory's":         {unitHost{holder: "a1", directory: "alice:x:5001:5001::/home/alice:/bin/sh"}, false, 0},
		"the UID is a directory's":          {unitHost{holder: "a1", directory: "maria:x:312345:100::/home/maria:/bin/sh", group: "alice:x:312345:\n"}, true, 1},
		"nothing was promised":              {unitHost{directory: "alice:x:5001:5001::/home/alice:/bin/sh", group: "alice:x:312345:\n"}, true, 0},
		"a tenant, and a directory as well": {unitHost{holder: "a1", passwd: tenant, group: "alice:x:312345:\n", directory: "alice:x:5001:5001::/home/alice:/bin/sh"}, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := unitModuleOn(t, "stopped", "alice", c.host)
			ended := slices.ContainsFunc(said.Ran, func(command string) bool { return strings.Contains(command, "user@312345.service") })
			if said.Failed != "" || said.Foreign != c.foreign || ended == c.foreign {
				t.Errorf("stopped: %+v", said)
			}
			said = unitModuleOn(t, "removed", "alice", c.host)
			if said.Failed != "" || len(said.Done) != c.removes {
				t.Errorf("removed: %+v", said)
			}
		})
	}
}

// sweepModule removes what the tenant alice, UID 312345, left in the spools of a host, and returns the paths that went.
func sweepModule(t *testing.T, passwd string) (removed []string, subuid string) {
	t.Helper()
	if exec.Command(python, "-c", "import ansible").Run() != nil {
		t.Skip("Ansible is not here (Debian: apt-get install ansible)")
	}
	out, err := exec.Command(python, "-B", "-c", `
import importlib.util, json, os, sys
root, passwd = sys.argv[1:]
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_sweep", "library/kloigos_sweep.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
owners = {"cron/alice": 5001, "mail/alice": 312345, "linger/alice": 0, "at/a1": 5001, "at/a2": 312345}
class Module:
    check_mode = False
    params = {"login_user": "alice", "uid": 312345, "unit_id": "u1", "allocation_id": "a1"}
    def __init__(self, **_):
        pass
    def exit_json(self, **result):
        print(json.dumps({"removed": [os.path.relpath(path, root) for path in result["removed"]], "subuid": m.read(root + "/subuid")}))
        sys.exit(0)
    def fail_json(self, msg, **_):
        sys.exit(msg)
m.AnsibleModule = Module
for name in ("cron", "mail", "linger", "at", "notes"):
    os.mkdir(root + "/" + name)
for path in owners:
    open(root + "/" + path, "w").close()
for path, text in (("passwd", passwd), ("subuid", "alice:100000:65536\nmaria:165536:65536\n")):
    with open(root + "/" + path, "w") as file:
        file.write(text)
m.SPOOLS, m.AT_JOBS, m.LINGER = (root + "/cron/", root + "/mail/"), root + "/at/[a-z]*", root + "/linger/"
m.PASSWD, m.SUBORDINATE, m.NOTES = root + "/passwd", (root + "/subuid",), root + "/notes/"
lstat = os.lstat
class Stat:
    def __init__(self, found, uid):
        self.st_mode, self.st_uid = found.st_mode, uid
m.os.lstat = lambda path: Stat(lstat(path), owners.get(os.path.relpath(path, root), 0))
m.Sweep.journal = m.Sweep.ipc = m.Sweep.files = lambda self: None
m.main()
`, t.TempDir(), passwd).CombinedOutput()
	var said struct {
		Removed []string `json:"removed"`
		Subuid  string   `json:"subuid"`
	}
	if err != nil || json.Unmarshal(out, &said) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	slices.Sort(said.Removed)
	return said.Removed, said.Subuid
}

// The crontab, the linger mark and the subordinate IDs of somebody whose name is only like the tenant's stay.
func TestTheSweepTakesWhatBelongsToTheUID(t *testing.T) {
	t.Parallel()
	removed, subuid := sweepModule(t, "root:x:0:0::/root:/bin/sh\n")
	if !slices.Equal(removed, []string{"at/a2", "mail/alice"}) || !strings.Contains(subuid, "alice") {
		t.Errorf("without an account here: removed %q, left %q", removed, subuid)
	}
	removed, subuid = sweepModule(t, "alice:x:312345:312345::/mnt/kloigos/h1/cu01/home/alice:/bin/sh\n")
	if len(removed) != 4 || slices.Contains(removed, "cron/alice") || !slices.Contains(removed, "linger/alice") || subuid != "maria:165536:65536\n" {
		t.Errorf("with the tenant's account: removed %q, left %q", removed, subuid)
	}
}

// TestPropertiesSetByHandGoWithTheTenant: what systemctl set-property wrote for a tenant's number is not the next tenant's.
func TestPropertiesSetByHandGoWithTheTenant(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	dir := t.TempDir()
	for _, name := range []string{"etc/user-70001.slice.d/50-TasksMax.conf", "etc/user@70001.service.d/50-CPUQuota.conf", "run/user-70001.slice.d/50-CPUQuota.conf", "run/user-70002.slice.d/50-TasksMax.conf"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(python, "-B", "-c", `
import importlib.util, json, os, sys
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_unit", "library/kloigos_unit.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
class Module:
    check_mode = True
    params = {"unit": {"id": "u1", "name": "h1-cu01", "cpus": "1-2", "memory_nodes": "0", "tasks_max": 2048, "memory_max_bytes": 1 << 30,
                       "memory_high_bytes": 1 << 29}, "allocation": {"id": "a1", "login_user": "alice", "uid": 70001, "address": "10.9.9.9"}, "network": "host"}
m.CONTROLS = (sys.argv[1] + "/etc/", sys.argv[1] + "/run/")
left = lambda: sorted(os.path.relpath(os.path.join(at, name), sys.argv[1]) for at, folders, files in os.walk(sys.argv[1]) for name in files + folders)
checked = m.Unit(Module())
checked.forget_properties()
Module.check_mode, before = False, left()
unit = m.Unit(Module())
unit.forget_properties()
again = m.Unit(Module())
again.forget_properties()
print(json.dumps([len(before), len(checked.changes), len(unit.changes), len(again.changes), left()]))
`, dir).CombinedOutput()
	if want := `[10, 3, 3, 0, ["run", "run/user-70002.slice.d", "run/user-70002.slice.d/50-TasksMax.conf"]]` + "\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
}
