package ansible

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"time"

	"golang.org/x/crypto/ssh"
)

// refusedByFence asks a host's fence whether it would still let this run in, on a connection of our own. A run that a
// newer holder has killed only sees that a task ended; that may as well have been the kernel, out of memory. The
// number was let in before, so asking for it changes nothing.
func refusedByFence(ctx context.Context, h *Host, fence string, timeout time.Duration) (message string, refused bool) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client, _, err := connect(ctx, h, nil)
	if err != nil {
		return "", false
	}
	defer client.Close()
	text, err := askFence(ctx, client, h, fence)
	if err == nil {
		return "", false
	}
	return text, classify(EventFailed, text) == CodeFenced
}

// askFence has the host's fence check the run, and starts nothing behind it. What the host said of it comes back; one
// that says no end of it is hung up on, or it would fill the memory of this process.
func askFence(ctx context.Context, client *ssh.Client, h *Host, fence string) (said string, err error) {
	hangUp := func() { _ = client.Close() }
	stop := context.AfterFunc(ctx, hangUp)
	defer stop()
	session, err := client.NewSession()
	if err != nil {
		return "", err
	}
	defer session.Close()
	stderr, err := session.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := session.Start(h.doNothing(fence)); err != nil {
		return "", err
	}
	kept, _ := io.ReadAll(io.LimitReader(stderr, maxSaid)) // why it ended, Wait tells
	if len(kept) == maxSaid {
		hangUp()
	}
	return string(kept), session.Wait()
}

// maxSaid is more than a fence's line, and what the profile of an account prints before it.
const maxSaid = 64 << 10

// doNothing is the command that only passes the host's fence. Each part has been checked to need no quotes (Validate).
func (h *Host) doNothing(fence string) string {
	command := fmt.Sprintf("%s %s %d %s -c pass", fence, h.Fence.Incarnation, h.Fence.Number, h.Fence.Run)
	if h.User != "root" {
		command = "sudo -n " + command
	}
	return command
}

// End implements [Runner].
func (s *Supervised) End(ctx context.Context, host Host) error {
	if problems := host.problems(); len(problems) > 0 || host.Fence == nil {
		return fmt.Errorf("%w: host %q without a fence, or %w", ErrInvalidPlay, host.Name, errors.Join(problems...))
	}
	client, unknown, err := connect(ctx, &host, nil)
	if unknown != nil {
		return fmt.Errorf("end older runs on %s: it shows another key", host.Name)
	}
	if err != nil {
		return fmt.Errorf("end older runs on %s: %w", host.Name, err)
	}
	defer client.Close()
	if said, err := askFence(ctx, client, &host, s.config.fence); err != nil {
		return fmt.Errorf("end older runs on %s: %w: %s", host.Name, err, cut(cleanText(said), maxMessage))
	}
	return nil
}

// login is what a host did while we logged in.
type login struct {
	signed bool   // it took the key and was shown that we have it
	said   string // what it said after that, before it let the user in or not
}

// seen makes a signer note when the host was shown a signature.
type seen struct {
	ssh.AlgorithmSigner
	in *login
}

func (s seen) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	s.in.signed = true
	return s.AlgorithmSigner.SignWithAlgorithm(rand, data, algorithm)
}

func (s seen) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	s.in.signed = true
	return s.AlgorithmSigner.Sign(rand, data)
}

// connect logs in to a host as Ansible does. unknown is the key that the host showed, if that was not a known one. in,
// if there is one, tells how far the login came.
func connect(ctx context.Context, h *Host, in *login) (client *ssh.Client, unknown ssh.PublicKey, err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(h.Address, strconv.Itoa(h.port())))
	if err != nil {
		return nil, nil, err
	}
	if in == nil {
		in = &login{}
	}
	methods, err := h.methods(in)
	if err != nil {
		_ = conn.Close()
		return nil, nil, err // which can't be: Validate has parsed it
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	c, channels, requests, err := ssh.NewClientConn(conn, h.Address, &ssh.ClientConfig{
		User:              h.User,
		Auth:              methods,
		HostKeyAlgorithms: h.hostKeyAlgorithms(),
		BannerCallback: func(message string) error {
			if in.signed { // before that it is the same for whoever comes
				in.said = tail(in.said+message, maxMessage)
			}
			return nil
		},
		HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			if !h.knows(key) {
				unknown = key
				return errors.New("host key is not known")
			}
			return nil
		},
	})
	if err != nil {
		_ = conn.Close()
		return nil, unknown, err
	}
	return ssh.NewClient(c, channels, requests), nil, nil
}

// methods are how we log in; none without a key.
func (h *Host) methods(in *login) ([]ssh.AuthMethod, error) {
	if h.PrivateKey == nil {
		return nil, nil
	}
	signer, err := ssh.ParsePrivateKey(h.PrivateKey)
	if err != nil {
		return nil, err
	}
	if plain, ok := signer.(ssh.AlgorithmSigner); ok {
		signer = seen{plain, in}
	}
	return []ssh.AuthMethod{ssh.PublicKeys(signer)}, nil
}

func (h *Host) knows(key ssh.PublicKey) bool {
	return slices.ContainsFunc(h.HostKeys, func(line string) bool {
		known, err := parseHostKey(line)
		return err == nil && bytes.Equal(known.Marshal(), key.Marshal())
	})
}
