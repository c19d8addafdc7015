package testhost

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/ssh"
)

// TestSilentConnectionIsGivenUp: the machine went down in the middle of a command and told nobody, as in a reboot.
func TestSilentConnectionIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key, err := ensureKey(t.TempDir()+"/key", "")
		if err != nil {
			t.Fatal(err)
		}
		config := &ssh.ServerConfig{NoClientAuth: true}
		config.AddHostKey(key.signer)
		here, there := net.Pipe()
		defer there.Close()
		here = ahead(here)
		down := make(chan struct{})
		go answerUntil(there, config, down)

		vm := &VM{User: "admin", signer: key.signer, hostKey: key.signer.PublicKey()}
		client, err := vm.login(t.Context(), here)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		began := time.Now()
		time.AfterFunc(10*aliveLimit, func() { close(down) }) // long commands are let be
		_, err = vm.session(t.Context(), client, "sleep infinity", "")
		if !errors.Is(err, errSilent) {
			t.Errorf("got %v, want %v", err, errSilent)
		}
		if took := time.Since(began); took < 10*aliveLimit || took > 12*aliveLimit {
			t.Errorf("given up after %v, the machine went down after %v", took, 10*aliveLimit)
		}
	})
}

// answerUntil is a server on which a command never ends. Once it is down it says nothing, and reads what comes.
func answerUntil(conn net.Conn, config *ssh.ServerConfig, down <-chan struct{}) {
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	for {
		select {
		case request, open := <-requests:
			if !open {
				return
			}
			select {
			case <-down:
			default:
				_ = request.Reply(false, nil)
			}
		case channel, open := <-channels:
			if !open {
				return
			}
			_, inside, err := channel.Accept()
			if err != nil {
				return
			}
			go func() {
				for request := range inside {
					_ = request.Reply(true, nil)
				}
			}()
		}
	}
}

// ahead lets a writer go on before its words are read, as a socket does: both sides of SSH begin with a greeting.
func ahead(conn net.Conn) net.Conn {
	c := &aheadConn{Conn: conn, written: make(chan []byte), closed: make(chan struct{})}
	go func() {
		for {
			select {
			case p := <-c.written:
				_, _ = conn.Write(p)
			case <-c.closed:
				return
			}
		}
	}()
	return c
}

type aheadConn struct {
	net.Conn
	written chan []byte
	closed  chan struct{}
	once    sync.Once
}

func (c *aheadConn) Write(p []byte) (int, error) {
	select {
	case c.written <- bytes.Clone(p):
		return len(p), nil
	case <-c.closed:
		return 0, net.ErrClosed
	}
}

func (c *aheadConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
