package ansible

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// diagnose connects once more, by itself, where Ansible could not say why it did not reach a host or got no answer
// there: it loses ssh's words when ssh ends while Ansible is still writing to it. found is false if this connection
// works, and the user's shell runs a command and prints nothing else.
func diagnose(ctx context.Context, h *Host, timeout time.Duration) (code FailureCode, message string, found bool) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var in login
	client, unknown, err := connect(ctx, h, &in)
	switch {
	case err == nil:
		defer client.Close()
		return tryShell(ctx, client, h)
	case unknown != nil:
		return CodeHostKeyChanged, describeUnknownKey(strings.ToUpper(strings.TrimPrefix(unknown.Type(), "ssh-")), ssh.FingerprintSHA256(unknown)), true
	case strings.Contains(err.Error(), "unable to authenticate"):
		return CodeLoginRefused, fmt.Sprintf("%s@%s: Permission denied (publickey)", h.User, h.Address), true
	case in.signed && ctx.Err() == nil: // a host with a key that it does not take asks for another one
		why := "It gave no reason."
		if said := strings.TrimSpace(cleanText(in.said)); said != "" {
			why = "It says: " + said
		}
		return CodeAccountClosed, fmt.Sprintf("The host accepted the key of %s and then ended the login. %s", h.User, why), true
	}
	return CodeUnreachable, err.Error(), true
}

// marker is what a shell is asked to print.
const marker = "kloigos-login-works"

// tryShell runs one command through the user's login shell.
func tryShell(ctx context.Context, client *ssh.Client, h *Host) (code FailureCode, message string, found bool) {
	stop := context.AfterFunc(ctx, func() { _ = client.Close() })
	defer stop()
	session, err := client.NewSession()
	if err != nil {
		return "", "", false
	}
	defer session.Close()
	stdout, err := session.StdoutPipe()
	if err != nil || session.Start("echo "+marker) != nil {
		return "", "", false
	}
	kept, _ := io.ReadAll(io.LimitReader(stdout, maxSaid))
	if ctx.Err() != nil {
		return "", "", false
	}
	said := strings.TrimSpace(cleanText(string(kept)))
	before, _, ran := strings.Cut(said, marker)
	switch {
	case !ran && said != "":
		return CodeAccountClosed, fmt.Sprintf("The login shell of %s runs no commands. It says: %s", h.User, cut(said, maxName)), true
	case !ran:
		return CodeAccountClosed, fmt.Sprintf("The login shell of %s runs no commands.", h.User), true
	}
	if before = strings.TrimSpace(before); before == "" {
		return "", "", false
	}
	line, _, _ := strings.Cut(before, "\n")
	return CodeLoginPrints, fmt.Sprintf("The login shell of %s prints text when a command runs, such as %q. The answers of modules cannot be read behind it.", h.User, cut(line, maxName)), true
}

func describeUnknownKey(algorithm, fingerprint string) string {
	return fmt.Sprintf("Host key verification failed: the host shows the %s key %s, which is not a known one.", algorithm, fingerprint)
}
