package testkit

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

const withoutBubblewrap = "KLOIGOS_TEST_WITHOUT_BUBBLEWRAP"

// WithoutBubblewrap starts a second process for the test that calls it. That
// process can't see bubblewrap. There the function returns true, and the test does
// its work; here it returns false with the second process's result, and the test
// returns.
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
