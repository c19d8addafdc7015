package ansible

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// forgetAfter is how long a connection is kept that nobody asks about any more.
	forgetAfter = 3 * time.Minute
	// refusedFor is how long no login is tried at a host that refused one: it may lock out who tries too often.
	refusedFor = 10 * time.Minute
)

// Connections keeps an SSH connection to each host that is asked about, for as long as it is. The zero value is ready.
type Connections struct {
	mu   sync.Mutex
	kept map[string]*keptConnection
}

type keptConnection struct {
	mu      sync.Mutex // held for as long as a question takes
	client  *ssh.Client
	to      string
	refused time.Time // when the host last refused the login
	used    time.Time // guarded by the mutex of Connections
}

// Answers asks a host whether it is there, over the connection that is kept to it. Without one it logs in first. A dead
// connection is replaced once before it counts as silence. A refused login is an answer, since the host proved its key before.
// The error is in words for people. id is the host's own.
func (c *Connections) Answers(ctx context.Context, id string, h *Host) error {
	k := c.connectionOf(id)
	k.mu.Lock()
	defer k.mu.Unlock()
	to := strings.Join(append([]string{h.Address, strconv.Itoa(h.port()), h.User, string(h.PrivateKey)}, h.HostKeys...), "\n")
	if k.client != nil && k.to == to && k.ask(ctx) == nil {
		return nil
	}
	k.close()
	if k.to != to {
		k.to, k.refused = to, time.Time{}
	}
	if time.Since(k.refused) < refusedFor {
		return showsKey(ctx, h)
	}
	client, unknown, err := connect(ctx, h, nil)
	if loginRefused(err) {
		k.refused = time.Now()
		return nil
	}
	if err != nil {
		return errors.New(whyNot(ctx, h, unknown, err))
	}
	k.client = client
	if err := k.ask(ctx); err != nil {
		k.close()
		return errors.New(whyNot(ctx, h, nil, err))
	}
	return nil
}

// connectionOf finds what is kept of a host, and lets go of what nobody asks about any more.
func (c *Connections) connectionOf(id string) *keptConnection {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for other, k := range c.kept {
		if now.Sub(k.used) > forgetAfter && k.mu.TryLock() {
			k.close()
			k.mu.Unlock()
			delete(c.kept, other)
		}
	}
	k := c.kept[id]
	if k == nil {
		k = &keptConnection{}
		if c.kept == nil {
			c.kept = map[string]*keptConnection{}
		}
		c.kept[id] = k
	}
	k.used = now
	return k
}

// Close ends all connections.
func (c *Connections) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.kept {
		k.mu.Lock()
		k.close()
		k.mu.Unlock()
	}
	c.kept = nil
}

// ask waits for any answer: sshd refuses a request that it does not know, which is one.
func (k *keptConnection) ask(ctx context.Context) error {
	client := k.client
	stop := context.AfterFunc(ctx, func() { _ = client.Close() })
	defer stop()
	_, _, err := client.SendRequest("keepalive@openssh.com", true, nil)
	return err
}

func (k *keptConnection) close() {
	if k.client != nil {
		_ = k.client.Close()
		k.client = nil
	}
}

// showsKey connects to a host and looks at its key, without a login.
func showsKey(ctx context.Context, h *Host) error {
	nobody := *h
	nobody.PrivateKey = nil
	client, unknown, err := connect(ctx, &nobody, nil)
	if client != nil { // it lets everybody in
		_ = client.Close()
	}
	if err == nil || loginRefused(err) {
		return nil
	}
	return errors.New(whyNot(ctx, h, unknown, err))
}

// loginRefused tells whether the host came as far as to refuse the login: it proved its key before that.
func loginRefused(err error) bool {
	return err != nil && strings.Contains(err.Error(), "unable to authenticate")
}

// whyNot says in words why a host did not answer.
func whyNot(ctx context.Context, h *Host, unknown ssh.PublicKey, err error) string {
	at := net.JoinHostPort(h.Address, strconv.Itoa(h.port()))
	var network *net.OpError
	switch {
	case unknown != nil:
		return fmt.Sprintf("%s shows another host key than the one that was confirmed", at)
	case ctx.Err() != nil:
		return at + " did not answer in time"
	case errors.As(err, &network) && network.Op == "dial":
		return fmt.Sprintf("no connection to %s: %s", at, strings.TrimPrefix(network.Err.Error(), "connect: "))
	default:
		return at + " does not answer as an SSH server"
	}
}
