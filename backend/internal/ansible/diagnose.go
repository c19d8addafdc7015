package ansible

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// diagnose connects once more, by itself, where Ansible could not say why it did not reach a host: it loses ssh's
// words when ssh ends while Ansible is still writing to it. found is false if this connection works.
func diagnose(ctx context.Context, h *Host, timeout time.Duration) (code FailureCode, message string, found bool) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(h.Address, strconv.Itoa(h.port())))
	if err != nil {
		return CodeUnreachable, err.Error(), true
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()

	signer, err := ssh.ParsePrivateKey(h.PrivateKey)
	if err != nil {
		return "", "", false // Validate has parsed it
	}
	var unknown ssh.PublicKey
	client, _, _, err := ssh.NewClientConn(conn, h.Address, &ssh.ClientConfig{
		User:              h.User,
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(signer)},
		HostKeyAlgorithms: h.hostKeyAlgorithms(),
		HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			if !h.knows(key) {
				unknown = key
				return errors.New("host key is not known")
			}
			return nil
		},
	})
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

func (h *Host) knows(key ssh.PublicKey) bool {
	return slices.ContainsFunc(h.HostKeys, func(line string) bool {
		known, err := parseHostKey(line)
		return err == nil && bytes.Equal(known.Marshal(), key.Marshal())
	})
}

func describeUnknownKey(algorithm, fingerprint string) string {
	return fmt.Sprintf("Host key verification failed: the host shows the %s key %s, which is not a known one.", algorithm, fingerprint)
}
