package testhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// While the guest has no network yet, QEMU accepts connections that nobody
	// answers, for longer than sshd then needs to come up; once it is up, a busy
	// machine takes seconds for its greeting. So a new connection is tried every
	// probeInterval while up to probeLimit older ones still wait.
	probeInterval = 2 * time.Second
	probeLimit    = 4
	// refusedPause comes after a refusal, which means: network yes, sshd not yet.
	refusedPause   = 200 * time.Millisecond
	sessionTimeout = 90 * time.Second
	// A guest that reboots says no word to whoever is connected, and QEMU keeps
	// its end of the connection open: who waits for an answer there waits for
	// ever. So each connection is asked every aliveInterval whether it still is
	// one, and is closed when no answer came for aliveLimit.
	aliveInterval = 10 * time.Second
	aliveLimit    = 60 * time.Second
	// consoleTail is how much of the console an error shows.
	consoleTail = 2 << 10
)

var (
	errStopped = errors.New("the machine ended")
	errSilent  = errors.New("the connection is silent: the machine went down, or has no time")
)

// WaitSSH returns when the administrator can log in and run a command, for
// instance after a reboot. It gives up when ctx ends or the machine does.
func (vm *VM) WaitSSH(ctx context.Context) error {
	for {
		err := vm.attempt(ctx)
		if err == nil {
			return nil
		}
		if !vm.process.alive() {
			return fmt.Errorf("wait for SSH: %w: %s\n%s", errStopped, readLog(vm.Dir), vm.consoleTail())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for SSH: %w (last: %v)\n%s\n%s", ctx.Err(), err, vm.processors(), vm.consoleTail())
		case <-time.After(refusedPause):
		}
	}
}

// attempt waits for sshd's greeting on one of several connections and runs a
// command on the first that has it.
func (vm *VM) attempt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sessionTimeout)
	defer cancel()
	type answer struct {
		conn net.Conn
		err  error
	}
	answers := make(chan answer)
	finished := make(chan struct{})
	defer close(finished)
	probing, stopProbing := context.WithCancel(ctx)
	defer stopProbing()
	probe := func() {
		conn, err := vm.greet(probing)
		select {
		case answers <- answer{conn, err}:
		case <-finished: // too late
			if conn != nil {
				conn.Close()
			}
		}
	}
	tick := time.NewTicker(probeInterval)
	defer tick.Stop()
	go probe()
	for open := 1; ; {
		select {
		case a := <-answers:
			if a.err != nil {
				return a.err
			}
			client, err := vm.login(ctx, a.conn)
			if err != nil {
				return err
			}
			defer client.Close()
			_, err = vm.session(ctx, client, "true", "")
			return err
		case <-tick.C:
			if open < probeLimit {
				open++
				go probe()
			}
		case <-ctx.Done():
			return fmt.Errorf("no greeting from sshd: %w", ctx.Err())
		}
	}
}

// CommandError is a command that ran on the guest and failed.
type CommandError struct {
	Command string
	Status  int
	Stderr  string
}

func (e *CommandError) Error() string {
	return fmt.Sprintf("%q ended with status %d: %s", e.Command, e.Status, strings.TrimSpace(e.Stderr))
}

// Run runs a shell command on the guest as the administrator and returns its
// standard output. A command that fails is a *CommandError.
func (vm *VM) Run(ctx context.Context, command string) (string, error) {
	return vm.run(ctx, command, "")
}

func (vm *VM) run(ctx context.Context, command, stdin string) (string, error) {
	client, err := vm.dial(ctx)
	if err != nil {
		return "", err
	}
	defer client.Close()
	return vm.session(ctx, client, command, stdin)
}

func (vm *VM) session(ctx context.Context, client *ssh.Client, command, stdin string) (string, error) {
	stop := context.AfterFunc(ctx, func() { client.Close() })
	defer stop()
	silent := keepAlive(client, aliveInterval, aliveLimit)
	session, err := client.NewSession()
	if err != nil {
		return "", fmt.Errorf("open a session: %w", err)
	}
	defer session.Close()
	var stdout, stderr bytes.Buffer
	session.Stdin, session.Stdout, session.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err = session.Run(command)
	var exit *ssh.ExitError
	switch {
	case errors.As(err, &exit):
		return stdout.String(), &CommandError{Command: command, Status: exit.ExitStatus(), Stderr: stderr.String()}
	case ctx.Err() != nil:
		return stdout.String(), ctx.Err()
	case silent():
		return stdout.String(), fmt.Errorf("run %q: %w", command, errSilent)
	case err != nil:
		return stdout.String(), fmt.Errorf("run %q: %w", command, err)
	}
	return stdout.String(), nil
}

// keepAlive closes a connection whose other end answers nothing for the limit,
// and tells whether it did. It ends with the connection.
func keepAlive(client *ssh.Client, interval, limit time.Duration) (silent func() bool) {
	var cut atomic.Bool
	ended := make(chan struct{})
	go func() {
		_ = client.Wait()
		close(ended)
	}()
	go func() {
		for {
			waited := time.AfterFunc(limit, func() {
				cut.Store(true)
				client.Close()
			})
			_, _, err := client.SendRequest("keepalive@openssh.com", true, nil) // refused is an answer too
			waited.Stop()
			if err != nil {
				return
			}
			select {
			case <-time.After(interval):
			case <-ended:
				return
			}
		}
	}()
	return cut.Load
}

// dial opens a connection as the administrator.
func (vm *VM) dial(ctx context.Context) (*ssh.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, sessionTimeout)
	defer cancel()
	conn, err := vm.greet(ctx)
	if err != nil {
		return nil, err
	}
	return vm.login(ctx, conn)
}

// greet connects and waits for the first byte that sshd sends.
func (vm *VM) greet(ctx context.Context) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", vm.address())
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	greeted := &greetedConn{Conn: conn, first: make([]byte, 1)}
	if _, err := io.ReadFull(conn, greeted.first); err != nil {
		conn.Close()
		return nil, fmt.Errorf("wait for sshd's greeting: %w", err)
	}
	return greeted, nil
}

// login takes over a connection. Only the machine's own host key is accepted.
func (vm *VM) login(ctx context.Context, conn net.Conn) (*ssh.Client, error) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	c, channels, requests, err := ssh.NewClientConn(conn, vm.address(), &ssh.ClientConfig{
		User:              vm.User,
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(vm.signer)},
		HostKeyCallback:   ssh.FixedHostKey(vm.hostKey),
		HostKeyAlgorithms: []string{ssh.KeyAlgoED25519},
	})
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("log in: %w", err)
	}
	return ssh.NewClient(c, channels, requests), nil
}

func (vm *VM) address() string { return net.JoinHostPort(vm.SSHHost, strconv.Itoa(vm.SSHPort)) }

// greetedConn is a connection whose first byte was read already.
type greetedConn struct {
	net.Conn
	first []byte
}

func (c *greetedConn) Read(p []byte) (int, error) {
	if len(c.first) > 0 && len(p) > 0 {
		n := copy(p, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// SSHArgs are the arguments with which OpenSSH's client logs in to the machine
// and runs a command there, or a shell without one.
func (vm *VM) SSHArgs(command ...string) []string {
	return append([]string{
		"-F", "none", "-i", filepath.Join(vm.Dir, userKeyFile), "-p", strconv.Itoa(vm.SSHPort),
		"-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes",
		"-o", "UserKnownHostsFile=" + strconv.Quote(filepath.Join(vm.Dir, knownHostsFile)),
		"-o", "LogLevel=ERROR",
		vm.User + "@" + vm.SSHHost, "--",
	}, command...)
}

// AuthorizeKey lets the holder of another key in as the administrator. The
// line is one of authorized_keys; one that is there already is not added again.
func (vm *VM) AuthorizeKey(ctx context.Context, line string) error {
	line = strings.TrimSpace(line)
	if strings.ContainsAny(line, "\r\n") {
		return errors.New("authorize a key: more than one line")
	}
	if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line)); err != nil {
		return fmt.Errorf("authorize a key: %w", err)
	}
	// The line travels on standard input: on a command line the guest's shell would read it.
	const script = `read -r line && { grep -qxF -- "$line" .ssh/authorized_keys || printf '%s\n' "$line" >>.ssh/authorized_keys; }`
	if _, err := vm.run(ctx, script, line+"\n"); err != nil {
		return fmt.Errorf("authorize a key: %w", err)
	}
	return nil
}

// consoleTail is the end of the serial console's log, for errors.
func (vm *VM) consoleTail() string {
	content, err := os.ReadFile(filepath.Join(vm.Dir, consoleLog))
	if err != nil || len(content) == 0 {
		return "the console shows nothing"
	}
	if len(content) > consoleTail {
		content = content[len(content)-consoleTail:]
	}
	return "the end of the console:\n" + string(content)
}
