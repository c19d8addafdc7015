package testkit

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

const withoutBubblewrap = "KLOIGOS_TEST_WITHOUT_BUBBLEWRAP"

// WithoutBubblewrap runs the test that calls it once more, in a process for
// which bubblewrap is not on this machine, and reports what that one found. It
// is true in that process: the test does its work there, and else returns.
func WithoutBubblewrap(t *testing.T) bool {
	t.Helper()
	if os.Getenv(withoutBubblewrap) != "" {
		return true
	}
	if os.Geteuid() != 0 || exec.Command("unshare", "-m", "true").Run() != nil {
		t.Skip("only root can hide bubblewrap")
	}
	// A file that nobody can execute lies over each one that is there.
	cmd := exec.Command("unshare", "-m", "--propagation", "private", "sh", "-ec",
		`for program in /usr/local/bin/bwrap /usr/bin/bwrap /bin/bwrap; do [ ! -e "$program" ] || mount --bind /dev/null "$program"; done; exec "$0" "$@"`,
		os.Args[0], "-test.run=^"+regexp.QuoteMeta(t.Name())+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), withoutBubblewrap+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()+" ") {
		t.Errorf("without bubblewrap: %v\n%s", err, out)
	}
	return false
}
