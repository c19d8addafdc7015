package noun

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"kloigos/backend/api"
	"kloigos/cli/internal/shape"
)

func sshCommand(a *shape.App, n allocations) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ssh LOGIN_USER [-- ARGUMENTS...]", Short: "Log in to an allocation with ssh, which must show the host key that Kloigos knows",
		Example: "  kloigos allocation ssh ada\n  kloigos allocation ssh ada -- -L 8080:localhost:80\n  kloigos allocation ssh ada -- uptime",
		Args: func(cmd *cobra.Command, args []string) error {
			own := args
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				own = args[:dash]
			}
			return shape.Exactly("LOGIN_USER")(cmd, own)
		},
		ValidArgsFunction: n.Complete(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			found, err := n.Resolve(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			known, err := knowHost(a, found)
			if err != nil {
				return err
			}
			argv, err := sshArguments(found, known, args[1:])
			if err != nil {
				return err
			}
			path, err := exec.LookPath("ssh")
			if err != nil {
				return fmt.Errorf("find the program ssh: %w", err)
			}
			return unix.Exec(path, argv, os.Environ())
		},
	}
	return shape.Calls(cmd, "get-allocation")
}

// sshArguments are the program's name and its arguments. What comes from the
// server must not look like an option, or a server could have ssh run a command
// of its choice here.
func sshArguments(a api.Allocation, known string, more []string) ([]string, error) {
	if a.SSHHost == "" || a.LoginUser == "" {
		return nil, shape.Fail(shape.CodeConflict, "allocation %s is %s and has no address", a.LoginUser, a.State)
	}
	for _, value := range []string{a.SSHHost, a.LoginUser} {
		if strings.HasPrefix(value, "-") || strings.ContainsAny(value, " \t\r\n\x00@%") {
			return nil, shape.Fail(shape.CodeError, "the server named %q, which is no address or user", value)
		}
	}
	argv := []string{"ssh", "-p", strconv.Itoa(a.SSHPort), "-l", a.LoginUser}
	if known != "" {
		argv = append(argv, "-o", "HostKeyAlias="+alias(a), "-o", `UserKnownHostsFile="`+known+`"`, "-o", "StrictHostKeyChecking=yes")
	}
	return append(append(argv, a.SSHHost), more...), nil
}

func alias(a api.Allocation) string { return "kloigos-" + a.HostID }

// knowHost writes the host key that the control plane confirmed beside the
// configuration, so that ssh need not trust the first key it sees.
func knowHost(a *shape.App, found api.Allocation) (string, error) {
	fields := strings.Fields(found.HostKey)
	if len(fields) < 2 || strings.ContainsFunc(found.HostID, func(r rune) bool { return r == '*' || r == '?' || r == ',' || r == '!' || r <= ' ' }) {
		return "", nil
	}
	_, path, err := a.Config()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(filepath.Dir(path), "hosts")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("keep the host key: %w", err)
	}
	file := filepath.Join(dir, filepath.Base(found.HostID))
	if err := os.WriteFile(file, []byte(alias(found)+" "+fields[0]+" "+fields[1]+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep the host key: %w", err)
	}
	if strings.ContainsAny(file, "\"$") {
		return "", shape.Fail(shape.CodeError, "ssh can't be given a file with a quote or a dollar in its name: %s", file)
	}
	return strings.ReplaceAll(file, "%", "%%"), nil // ssh expands single ones
}
