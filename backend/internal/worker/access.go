package worker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// targetHost is a host that an attempt plays on.
type targetHost struct {
	store.Host
	w     *Worker
	key   store.OrganizationKey // that reaches it
	fence int64                 // number of its lock; 0 while the attempt does not hold it
	held  bool                  // the attempt has held it
}

// access is how a host is reached: an address that was checked, so that a name
// can't be made to point elsewhere between the check and the connection, and
// the organization's key.
type access struct {
	address    string
	privateKey []byte
}

func (h *targetHost) access(ctx context.Context) (*access, error) {
	address, err := h.resolve(ctx)
	if err != nil {
		return nil, err
	}
	if err := h.look(ctx, address); err != nil {
		return nil, err
	}
	key, err := h.privateKey()
	if err != nil {
		return nil, err
	}
	return &access{address: address, privateKey: key}, nil
}

// look tells whether the host answers. Ansible is given a long time for a slow
// host's sudo; a host that does not answer at all is noticed here, soon.
func (h *targetHost) look(ctx context.Context, address string) error {
	conn, err := h.dial(ctx, address)
	if err == nil {
		_ = conn.Close()
	}
	return err
}

func (h *targetHost) privateKey() ([]byte, error) {
	key, err := h.w.keys.Open(h.key.PrivateSealed, h.OrganizationID.String())
	if err != nil {
		return nil, fmt.Errorf("open the organization's key: %w", err)
	}
	return key, nil
}

func (h *targetHost) resolve(ctx context.Context) (string, error) {
	lookup, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupNetIP(lookup, "ip", h.Address)
	if err != nil {
		return "", h.unreachable(fmt.Sprintf("The name %s can't be resolved.", h.Address))
	}
	var denied error
	for _, a := range addresses {
		if denied = domain.CheckTarget(a, h.w.cfg.Targets); denied == nil {
			return a.Unmap().String(), nil
		}
	}
	return "", &domain.JobError{
		Code: domain.ErrCodeTargetDenied, Host: h.Name,
		Message: fmt.Sprintf("%s %v.", h.Address, denied),
	}
}

func (h *targetHost) dial(ctx context.Context, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: connectTimeout}
	target := net.JoinHostPort(address, strconv.Itoa(h.Port))
	conn, err := dialer.DialContext(ctx, "tcp", target)
	if err != nil {
		return nil, h.unreachable(fmt.Sprintf("No connection to %s: %s.", target, networkReason(err)))
	}
	return conn, nil
}

func (h *targetHost) unreachable(message string) error {
	return &domain.JobError{Code: domain.ErrCodeUnreachable, Host: h.Name, Message: message}
}

// Types of host keys, best first: the one that a new host is asked for.
var keyTypes = []string{ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}

var errKeyOnly = errors.New("the key is all that was wanted")

const (
	connectTimeout   = 5 * time.Second
	handshakeTimeout = 30 * time.Second // a busy host's sshd takes its time
)

// offeredKey connects and returns the host key that the host shows: of the
// type that is known already, else the best it has. Nothing is sent to it.
func (h *targetHost) offeredKey(ctx context.Context) (string, error) {
	address, err := h.resolve(ctx)
	if err != nil {
		return "", err
	}
	var offered ssh.PublicKey
	cfg := &ssh.ClientConfig{
		User: h.AdminUser, Timeout: connectTimeout, HostKeyAlgorithms: algorithms(h.HostKey),
		HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			offered = key
			return errKeyOnly
		},
	}
	target := net.JoinHostPort(address, strconv.Itoa(h.Port))
	conn, err := h.dial(ctx, address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(handshakeTimeout))
	// A host that says nothing must not keep a job that is to be stopped.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	defer stop()
	_, _, _, err = ssh.NewClientConn(conn, target, cfg)
	switch {
	case offered != nil:
		if err := domain.CheckHostKey(offered); err != nil {
			return "", &domain.JobError{Code: domain.ErrCodeHostUnsupported, Host: h.Name, Message: fmt.Sprintf("The host's key %v.", err)}
		}
		return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(offered))), nil
	case err != nil && strings.Contains(err.Error(), "no common algorithm for host key") && h.HostKey != "":
		// It has no key of the confirmed type any more: show what it has now.
		h.HostKey = ""
		return h.offeredKey(ctx)
	default:
		return "", h.unreachable(fmt.Sprintf("%s answers, but not as an SSH server.", target))
	}
}

// unfenced is the host as a play is given it that no fence checks.
func (h *targetHost) unfenced(a access) ansible.Host {
	return ansible.Host{
		Name: h.Name, Address: a.address, Port: h.Port, User: h.AdminUser,
		PrivateKey: a.privateKey, HostKeys: []string{h.HostKey},
	}
}

func algorithms(known string) []string {
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(known))
	switch {
	case err != nil:
		return keyTypes
	case key.Type() == ssh.KeyAlgoRSA:
		return []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
	default:
		return []string{key.Type()}
	}
}

// networkReason is the kernel's own word for why a connection failed.
func networkReason(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Timeout() {
		return "it did not answer within " + connectTimeout.String()
	}
	if errors.As(err, &op) && op.Err != nil {
		text := op.Err.Error()
		return strings.TrimPrefix(text, "connect: ")
	}
	return "the network failed"
}
