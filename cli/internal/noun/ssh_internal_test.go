package noun

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/cli/internal/shape"
)

// A server can't have ssh take its word for an option or another user.
func TestServerCantGiveOptionsToSSH(t *testing.T) {
	t.Parallel()
	good := api.Allocation{HostID: "h", SSHHost: "10.0.2.101", LoginUser: "ada", SSHPort: 22}
	argv, err := sshArguments(good, "/k", []string{"-v", "uptime"})
	want := []string{"ssh", "-p", "22", "-l", "ada", "-o", "HostKeyAlias=kloigos-h", "-o", `UserKnownHostsFile="/k"`, "-o", "StrictHostKeyChecking=yes", "10.0.2.101", "-v", "uptime"}
	if err != nil || !slices.Equal(argv, want) {
		t.Errorf("%q, %v", argv, err)
	}
	for _, change := range []func(*api.Allocation){
		func(a *api.Allocation) { a.SSHHost = "-oProxyCommand=id" },
		func(a *api.Allocation) { a.LoginUser = "-oProxyCommand=id" },
		func(a *api.Allocation) { a.SSHHost = "root@10.0.2.101" },
		func(a *api.Allocation) { a.SSHHost = "10.0.2.101\n-v" },
		func(a *api.Allocation) { a.LoginUser = "%h" },
		func(a *api.Allocation) { a.SSHHost = "" },
		func(a *api.Allocation) { a.LoginUser = "" },
	} {
		bad := good
		change(&bad)
		if argv, err := sshArguments(bad, "/k", nil); err == nil {
			t.Errorf("%q were taken", argv)
		}
	}
}

func TestKnownHostIsOneLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := &shape.App{Getenv: func(name string) string { return map[string]string{"XDG_CONFIG_HOME": dir}[name] }}
	file, err := knowHost(a, api.Allocation{HostID: "../../x", HostKey: "ssh-ed25519 AAAA comment\nother ssh-rsa BBBB"})
	if err != nil || file != filepath.Join(dir, "kloigos/hosts/x") {
		t.Fatalf("%q, %v", file, err)
	}
	text, err := os.ReadFile(file)
	if err != nil || string(text) != "kloigos-../../x ssh-ed25519 AAAA\n" {
		t.Errorf("%q, %v", text, err)
	}
	if file, err := knowHost(a, api.Allocation{HostID: "*", HostKey: "ssh-ed25519 AAAA"}); file != "" || err != nil {
		t.Errorf("%q, %v", file, err)
	}
	dollar := &shape.App{Getenv: func(string) string { return filepath.Join(dir, "$HOME") }}
	if _, err := knowHost(dollar, api.Allocation{HostID: "h", HostKey: "ssh-ed25519 AAAA"}); err == nil || !strings.Contains(err.Error(), "dollar") {
		t.Errorf("got %v", err)
	}
}
