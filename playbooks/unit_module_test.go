package playbooks

import (
	"encoding/json"
	"os/exec"
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
	forReal           bool   // not a check
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
state, user, holder, etc, passwd, group, directory, groups, for_real = sys.argv[1:]
spec = importlib.util.spec_from_file_location("kloigos_unit", "library/kloigos_unit.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
ran = []
class Module:
    check_mode = state in ("claimed", "removed") and for_real == "false"
    params = {
        "state": state, "volume_group": "vg", "profile_version": None,
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
        return 0, "ActiveState=inactive\nUnitFileState=disabled\n", ""
m.AnsibleModule = Module
m.MANIFESTS = m.WIPED = m.KEYS = m.LINGER = m.CGROUPS = etc + "/"
if holder:
    with open(etc + "/u1.json", "w") as file:
        json.dump({"unit": {"id": "u1", "name": "h1-cu01"}, "allocation": {"id": holder, "uid": 312345}}, file)
passwd = "root:x:0:0::/root:/bin/sh\ndaemon:x:1:1::/usr/sbin:/bin/sh\n" + passwd
group = "root:x:0:\ndaemon:x:1:\nstaff:x:50:\n" + group
m.PASSWD, m.GROUP = etc + "/passwd", etc + "/group"
for path, text in ((m.PASSWD, passwd), (m.GROUP, group)):
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
`, state, user, host.holder, t.TempDir(), host.passwd, host.group, host.directory, host.groups, strconv.FormatBool(host.forReal)).CombinedOutput()
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
