package reader

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kloigos/backend/api"
)

// copyOf is a host as files.
func copyOf(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestRead(t *testing.T) {
	t.Parallel()
	root := copyOf(t, map[string]string{
		"proc/uptime":                   "12345.67 23456.78\n",
		"proc/loadavg":                  "0.50 1.25 2.00 1/345 6789\n",
		"proc/meminfo":                  "MemTotal:       16000 kB\nMemFree: 1 kB\nMemAvailable:    8000 kB\n",
		"proc/pressure/cpu":             "some avg10=9.00 avg60=1.50 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		"proc/pressure/memory":          "some avg10=0.00 avg60=2.50 avg300=0.00 total=1\nfull avg10=0.00 avg60=1.25 avg300=0.00 total=1\n",
		"sys/devices/system/cpu/online": "0-3,8\n",
		"run/reboot-required":           "",
		"mnt/kloigos/h-cu01/keep":       "",
		"data/keep":                     "",
		"proc/self/mountinfo":           "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 22 8:2 / /data rw,noatime shared:1 - xfs /dev/sda2 rw\n24 22 8:2 / /again rw - xfs /dev/sda2 rw\n25 22 0:5 / /proc rw - proc proc rw\n26 22 253:0 / /mnt/kloigos/h-cu01 rw - ext4 /dev/mapper/cu01 rw\n27 22 7:1 / /snap rw - squashfs /dev/loop1 ro\n28 22 8:9 / /gone rw - ext4 /dev/sda9 rw\n29 bad\n",
	})
	r := (&Reader{Root: root}).Read(t.Context())
	if r.UptimeSeconds != 12345 || r.Load != [3]float64{0.5, 1.25, 2} || r.MemoryTotal != 16000<<10 || r.MemoryAvailable != 8000<<10 || r.CPUs != 5 || !r.RebootRequired {
		t.Errorf("%+v", r)
	}
	if r.Pressure != (api.AgentPressure{CPUSome: 1.5, MemorySome: 2.5, MemoryFull: 1.25}) {
		t.Errorf("pressure %+v", r.Pressure)
	}
	if len(r.Disks) != 2 || r.Disks[0].Path != "/" || r.Disks[1].Path != "/data" || r.Disks[1].Total <= 0 || r.Disks[1].Free > r.Disks[1].Total {
		t.Errorf("disks %+v", r.Disks)
	}
}

func TestAHostWithoutAnything(t *testing.T) {
	t.Parallel()
	r := (&Reader{Root: t.TempDir()}).Read(t.Context())
	if r.CPUs != 0 || r.RebootRequired || r.Disks == nil || r.FailedUnits == nil {
		t.Errorf("%+v", r)
	}
}

// TestEachConnectionGetsOneReport, whatever it sends.
func TestEachConnectionGetsOneReport(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- (&Reader{Root: "/"}).Answer(t.Context(), listener) }()
	for range 2 {
		conn, err := net.Dial("unix", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte("; rm -rf /\n"))
		content, err := io.ReadAll(conn)
		_ = conn.Close()
		var report api.AgentReport
		if jsonErr := json.Unmarshal(content, &report); jsonErr != nil || report.MemoryTotal == 0 {
			t.Errorf("%q, %v, %v", content, err, jsonErr)
		}
	}
}

// testPath is the same in the backend, which makes it of the rules of the role.
const testPath = "prerouting:c330b820 forward:7889de78 units_out:13d951cf units_in:b7693b0d input:05ac229a units_to_host:ee4c51f9"

// TestThePathOfPackets changes one chain after the other: an added rule, another policy, another hook, another network. Only the
// checksum of that chain differs. Counters make no difference.
func TestThePathOfPackets(t *testing.T) {
	t.Parallel()
	listed, err := os.ReadFile("testdata/nft.json") // of nft 1.0.6, after kloigos.nft.j2 was loaded
	if err != nil {
		t.Fatal(err)
	}
	if got := tableOf(listed).path(); got != testPath {
		t.Errorf("%s", got)
	}
	for name, c := range map[string]struct{ from, to, chain string }{
		"accepts": {`"accept": null}]`, `"accept": null}]}}, {"rule": {"chain": "units_to_host", "expr": [{"accept": null}]`, "units_to_host"},
		"policy":  {`"hook": "forward", "prio": 0, "policy": "accept"`, `"hook": "forward", "prio": 0, "policy": "drop"`, "forward"},
		"hook":    {`"hook": "input", "prio": 0`, `"hook": "input", "prio": 10`, "input"},
		"network": {`"addr": "169.254.0.0"`, `"addr": "169.253.0.0"`, "units_out"},
	} {
		got := tableOf([]byte(strings.Replace(string(listed), c.from, c.to, 1))).path()
		for i, chain := range strings.Fields(got) {
			same, chainName := chain == strings.Fields(testPath)[i], strings.Split(chain, ":")[0]
			if same == (chainName == c.chain) {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
	if got := (table{hook: missing}).path(); !strings.HasPrefix(got, "prerouting:missing forward:missing") {
		t.Errorf("without a table: %s", got)
	}
}

// TestAUnitWithItsOwnNetwork is read where its own sshd and network are.
func TestAUnitWithItsOwnNetwork(t *testing.T) {
	t.Parallel()
	root := copyOf(t, map[string]string{
		"etc/kloigos/networks/h1-cu01.conf": "UID=70001\n",
		"etc/kloigos/keys/alice":            "ssh-ed25519 b2xk\n",
		"etc/kloigos/unit-keys/alice":       "ssh-ed25519 bmV3\n",
	})
	var m manifest
	m.Unit.Name, m.Allocation.LoginUser, m.Allocation.Address, m.Allocation.UID = "h1-cu01", "alice", "10.9.0.101", 70001
	s := &seen{
		Reader: &Reader{Root: root}, mounts: map[string]mount{"/run/netns/kloigos-h1-cu01": {kind: "nsfs"}},
		net:   network{routes: map[uint32]string{70001: "via 10.9.0.2 dev up0 src none"}},
		units: map[string]systemdUnit{"kloigos-net@h1-cu01.service": {"loaded", "active"}, "kloigos-sshd@h1-cu01.service": {"loaded", "failed"}},
	}
	facts := map[string]string{}
	s.keys(m, facts)
	s.address(m, facts)
	for name, want := range map[string]string{
		"keys.list": checksum([]byte("new")), "address.on": none, "address.route": "via 10.9.0.2 dev up0 src none", "address.namespace": "nsfs",
		"address.service": "active, disabled", "address.sshd": "failed, disabled",
	} {
		if facts[name] != want {
			t.Errorf("%s is %q, not %q", name, facts[name], want)
		}
	}
	if _, ok := facts["address.rule"]; ok {
		t.Error("a rule of the host is named for it")
	}
}
