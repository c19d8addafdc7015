package playbooks

import (
	"os/exec"
	"testing"
)

// updated fetches the lists while another process has apt's lock for a second.
const updated = `
import importlib.util, subprocess, sys, time
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_packages", "library/kloigos_packages.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
m.LISTS_LOCK = sys.argv[1] + "/lock"
holder = subprocess.Popen([sys.executable, "-c", "import fcntl, sys, time\nf = open(sys.argv[1], 'a')\nfcntl.lockf(f, fcntl.LOCK_EX)\nprint('held', flush=True)\ntime.sleep(1.5)", m.LISTS_LOCK], stdout=subprocess.PIPE)
holder.stdout.readline()
ran = []
class Module:
    def run_command(self, argv, **_):
        ran.append(holder.poll() is not None)
        return 0, "", ""
m.Packages(Module()).update("apt-get", False)
assert ran == [True], "apt-get update ran while another had its lock"
`

func TestListsAreFetchedAfterWhoeverIsAtIt(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	if out, err := exec.Command(python, "-B", "-c", updated, t.TempDir()).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
