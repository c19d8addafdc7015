package ansible

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// diagnose connects once more, by itself, where Ansible could not say why it did not reach a host: it loses ssh's
// words when ssh ends while Ansible is still writing to it. found is false if this connection works.
func diagnose(ctx context.Context, h *Host, timeout time.Duration) (code FailureCode, message string, found bool) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client, unknown, err := connect(ctx, h)
	switch {
	case err == nil:
		client.Close()
		return "", "", false
	case unknown != nil:
		return CodeHostKeyChanged, describeUnknownKey(strings.ToUpper(strings.TrimPrefix(unknown.Type(), "ssh-")), ssh.FingerprintSHA256(unknown)), true
	case strings.Contains(err.Error(), "unable to authenticate"):
		return CodeLoginRefused, fmt.Sprintf("%s@%s: Permission denied (publickey)", h.User, h.Address), true
	}
	return CodeUnreachable, err.Error(), true
}

func describeUnknownKey(algorithm, fingerprint string) string {
	return fmt.Sprintf("Host key verification failed: the host shows the %s key %s, which is not a known one.", algorithm, fingerprint)
}
