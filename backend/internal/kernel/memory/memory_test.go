package memory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// machine makes the files of a machine; a path that ends in / is left out.
func machine(t *testing.T, files map[string]string) Memory {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Memory{proc: filepath.Join(dir, "proc"), cgroups: filepath.Join(dir, "cg")}
}

const (
	gib     = 1 << 30
	meminfo = "MemTotal:  8388608 kB\nMemFree: 1 kB\nMemAvailable:    4194304 kB\n"
)

func TestAvailableIsTheLeastOfAll(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"the machine, without cgroups":     {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "1:cpu:/a\n"}, 4 * gib},
		"no limit on the way up":           {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n", "cg/a/memory.max": "max\n", "cg/a/b/memory.max": "max\n"}, 4 * gib},
		"the root of a container":          {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "cg/memory.max": "2147483648\n", "cg/memory.current": "1073741824\n", "cg/memory.stat": "anon 1\ninactive_file 0\n"}, 1 * gib},
		"a path that leads out":            {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/../../x\n"}, 4 * gib},
		"the service":                      {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/s/k.service\n", "cg/s/k.service/memory.max": "1073741824\n", "cg/s/k.service/memory.current": "536870912\n", "cg/s/k.service/memory.stat": "file 5\ninactive_file 268435456\n"}, gib/2 + gib/4},
		"its slice has less":               {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/s/k.service\n", "cg/s/k.service/memory.max": "max\n", "cg/s/memory.max": "1073741824\n", "cg/s/memory.current": "805306368\n", "cg/s/memory.stat": "inactive_file 0\n"}, gib / 4},
		"the machine has less":             {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/s\n", "cg/s/memory.max": "8589934592\n", "cg/s/memory.current": "0\n", "cg/s/memory.stat": ""}, 4 * gib},
		"a limit that was lowered is over": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/s\n", "cg/s/memory.max": "1000\n", "cg/s/memory.current": "2000\n", "cg/s/memory.stat": ""}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := machine(t, c.files).Available(); err != nil || got != c.want {
				t.Errorf("%d, %v; want %d", got, err, c.want)
			}
		})
	}
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"nothing":            {},
		"an old kernel":      {"proc/meminfo": "MemTotal: 5 kB\n", "proc/self/cgroup": ""},
		"no number":          {"proc/meminfo": meminfo, "proc/self/cgroup": "0::/s\n", "cg/s/memory.max": "plenty\n"},
		"a limit and no use": {"proc/meminfo": meminfo, "proc/self/cgroup": "0::/s\n", "cg/s/memory.max": "5\n"},
	} {
		m := machine(t, files)
		if n, err := m.Available(); err == nil {
			t.Errorf("%s: %d", name, n)
		}
		if n := m.Room(1, 0); n != 0 {
			t.Errorf("%s: room for %d", name, n)
		}
	}
}

func TestRoom(t *testing.T) {
	t.Parallel()
	m := machine(t, map[string]string{"proc/meminfo": strings.Replace(meminfo, "4194304", "1048576", 1), "proc/self/cgroup": ""}) // 1 GiB: 896 MiB beyond the reserve
	for _, c := range []struct{ mib, recent, want int }{{100, 0, 8}, {100, 3, 5}, {100, 8, 0}, {100, 20, 0}, {896, 0, 1}, {897, 0, 0}} {
		if got := m.Room(int64(c.mib)<<20, c.recent); got != c.want {
			t.Errorf("%d MiB each and %d begun: %d, want %d", c.mib, c.recent, got, c.want)
		}
	}
}

// TestHere reads this machine, whatever it is.
func TestHere(t *testing.T) {
	t.Parallel()
	n, err := Here().Available()
	if err != nil || n <= 0 || n > 1<<50 {
		t.Errorf("%d, %v", n, err)
	}
}
