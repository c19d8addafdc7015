package playbooks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const crontabs = `
import importlib.util, sys
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_live", "library/kloigos_live.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
m.CRONTABS = sys.argv[1] + "/"
class Module:
    check_mode, params = True, {}
print(" ".join(m.Live(Module()).with_crontabs()))
`

// Who has a crontab keeps it when cron is closed, also whom no list of accounts has.
func TestPeopleOfADirectoryKeepTheirCrontabs(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	dir := t.TempDir()
	for _, name := range []string{"daemon", "someone.of-a.directory", "tmp file"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(python, "-B", "-c", crontabs, dir).CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != "daemon someone.of-a.directory" {
		t.Errorf("%v: %q", err, got)
	}
}
