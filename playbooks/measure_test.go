package playbooks

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// measured runs the module's own functions over a tree that looks like the slices of a host. between happens while it
// waits for the second look at the counters, which are then a second apart.
const measured = `
import importlib.util, json, sys, time
spec = importlib.util.spec_from_file_location("measure", sys.argv[1])
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
m.SLICES, m.LINKS = sys.argv[2] + "/", sys.argv[2] + "/klu%d/"
now = [100.0]
m.time.monotonic = lambda: now[0]
def sleep(seconds):
    now[0] += seconds
    exec(sys.argv[3], {"slices": m.SLICES, "links": m.LINKS})
m.time.sleep = sleep
units = [{"id": uid, "uid": int(uid), "mount": mount} for uid, mount in json.loads(sys.argv[4]).items()]
print(json.dumps({u.pop("id"): u for u in m.measure(units)}))
`

// python is the one that Debian's Ansible belongs to.
const python = "/usr/bin/python3"

type slice struct{ cpu, memory, stat, pids string }

func (s slice) write(t *testing.T, dir string, uid int) {
	t.Helper()
	dir = filepath.Join(dir, fmt.Sprintf("user-%d.slice", uid))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"cpu.stat": s.cpu, "memory.current": s.memory, "memory.stat": s.stat, "pids.current": s.pids} {
		if content == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMeasureNamesLostAddresses: an address that is gone for longer than it takes to be brought back is told.
func TestMeasureNamesLostAddresses(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	dir := t.TempDir()
	for name, uid := range map[string]string{"h1-cu01": "1001", "h1-cu02": "1002", "h1-cu03": "1003"} {
		if err := os.WriteFile(filepath.Join(dir, name+".conf"), []byte("UID="+uid+"\nUSER=x\nADDRESS=10.0.2.10"+uid[3:]+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "net"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"5", "6", "7", "8", "9"} {
		if err := os.WriteFile(filepath.Join(dir, "net", "h1-cu0"+n+".conf"), []byte("UID=100"+n+"\nUSER=x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(python, "-B", "-c", `
import importlib.util, json, sys
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("measure", "library/kloigos_measure.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
m.ADDRESSES, m.IP, m.NETWORKS, m.NET_PROGRAM = sys.argv[1] + "/*.conf", "/bin/sh", sys.argv[1] + "/net/*.conf", "/bin/sh"
slept = []
m.time.sleep = slept.append
# The second is brought back meanwhile, the third is not; nobody promised the fourth an address.
here = [["10.0.2.15", "10.0.2.101"], ["10.0.2.15", "10.0.2.101", "10.0.2.102"]]
# With networks of their own: one has all, one is brought back, one is not, one can't be looked at. Of the last nobody asks.
looks = {"h1-cu05": [(0, "", "")] * 2, "h1-cu06": [(3, "missing: link klu1006\n", ""), (0, "", "")],
         "h1-cu07": [(3, "missing: packet filter\nmissing: link klu1007 is down\n", "")] * 2, "h1-cu08": [(1, "", "no such file\n")] * 2}
class Module:
    def run_command(self, argv, **_):
        if argv[0] == m.NET_PROGRAM and argv[1] == "status":
            return looks[argv[2]].pop(0)
        return 0, json.dumps([{"ifname": "ens3", "addr_info": [{"local": a} for a in here.pop(0)]}]), ""
units = [{"id": str(n), "uid": 1000 + n} for n in (1, 2, 3, 4, 5, 6, 7, 8)]
print(json.dumps([m.lost(Module(), units), slept]))
class Mute:
    def run_command(self, argv, **_):
        return 1, "", "no netlink"
assert m.lost_addresses(Mute(), units) == {}
`, dir).CombinedOutput()
	if want := "[{\"3\": [\"address 10.0.2.103\"], \"7\": [\"packet filter\", \"link klu1007 is down\"], \"8\": [\"no such file\"]}, [5.0]]\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
}

func TestMeasureReadsSlices(t *testing.T) {
	t.Parallel()
	if exec.Command(python, "-c", "import ansible").Run() != nil {
		t.Skip("Ansible is not here (Debian: apt-get install ansible)")
	}
	dir := t.TempDir()
	whole := slice{"usage_usec 5000000\nuser_usec 1\nsystem_usec 2\n", "2097152\n", "anon 1\ninactive_anon 7\ninactive_file 1048576\n", "17\n"}
	whole.write(t, dir, 1001)
	whole.write(t, dir, 1002) // its counter falls: another slice has come
	whole.write(t, dir, 1003) // goes
	whole.write(t, dir, 1004) // its memory is no number
	slice{cpu: whole.cpu}.write(t, dir, 1005)
	between := `
import shutil
def put(uid, name, text):
    with open("%suser-%d.slice/%s" % (slices, uid, name), "w") as file:
        file.write(text)
put(1001, "cpu.stat", "usage_usec 6250400\n")
put(1002, "cpu.stat", "usage_usec 10\n")
shutil.rmtree(slices + "user-1003.slice")
put(1004, "memory.current", "max\n")
`
	mounts, err := json.Marshal(map[string]string{"1001": "/", "1002": dir, "1003": "/nowhere", "1004": dir, "1005": dir, "1006": dir})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python, "-B", "-c", measured, "library/kloigos_measure.py", dir, between, string(mounts)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got map[string]map[string]int64
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	use := got["1001"]
	for key, want := range map[string]int64{"cpu_millis": 1250, "memory_bytes": 2097152, "cache_bytes": 1048576, "processes": 17} {
		if use[key] != want {
			t.Errorf("%s is %d, not %d", key, use[key], want)
		}
	}
	if use["disk_bytes"] <= 0 || use["disk_used_bytes"] <= 0 || use["disk_used_bytes"] > use["disk_bytes"] {
		t.Errorf("the disk of / is %d of %d", use["disk_used_bytes"], use["disk_bytes"])
	}
	// Nothing is known of these: a directory that nothing is mounted on would tell of the system's disk.
	for _, uid := range []string{"1002", "1003", "1004", "1005", "1006"} {
		if len(got[uid]) != 0 {
			t.Errorf("%s: %v", uid, got[uid])
		}
	}
}

// TestMeasureReadsLinks: what the host's end of a link receives, the unit has sent. Nothing is told of a link that was made anew.
func TestMeasureReadsLinks(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	dir := t.TempDir()
	for _, uid := range []string{"1001", "1002", "1003"} {
		if err := os.MkdirAll(filepath.Join(dir, "klu"+uid), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, bytes := range map[string]string{"rx_bytes": "5000\n", "tx_bytes": "90000\n"} {
			if err := os.WriteFile(filepath.Join(dir, "klu"+uid, name), []byte(bytes), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	between := `
import shutil
def put(uid, name, text):
    with open(links % uid + name, "w") as file:
        file.write(text)
put(1001, "rx_bytes", "5250\n")
put(1001, "tx_bytes", "191000\n")
put(1002, "rx_bytes", "10\n")
shutil.rmtree(links % 1003)
`
	out, err := exec.Command(python, "-B", "-c", measured, "library/kloigos_measure.py", dir, between,
		`{"1001": "/nowhere", "1002": "/nowhere", "1003": "/nowhere", "1004": "/nowhere"}`).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got map[string]map[string]int64
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := map[string]map[string]int64{
		"1001": {"received_bytes": 191000, "sent_bytes": 5250, "receive_rate": 101000, "send_rate": 250}, "1002": {}, "1003": {}, "1004": {},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
