package host

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// maxTask bounds what a task may be given, in bytes.
const maxTask = 1 << 20

// wire is a connection on which nothing passes while the host is silent.
type wire struct {
	net.Conn
	host *Host
	gone chan struct{} // closed with it
	once sync.Once
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.passes()
	return n, err
}

func (w *wire) Write(p []byte) (int, error) {
	w.passes()
	return w.Conn.Write(p)
}

// passes waits until bytes pass, or the connection is closed.
func (w *wire) passes() {
	for w.host.manners.Load().Silent {
		select {
		case <-w.gone:
			return
		case <-time.After(tick):
		}
	}
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.gone) })
	return w.Conn.Close()
}

func (h *Host) serve(conn net.Conn) {
	m := h.manners.Load()
	if h.chanceOf(m.Unreachable) {
		return
	}
	if m.Hangs {
		_, _ = io.Copy(io.Discard, conn) // until the other side is tired of it
		return
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) { return nil, nil }}
	config.AddHostKey(h.signer)
	server, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return // a look at the key, most often
	}
	defer func() { _ = server.Close() }()
	go ssh.DiscardRequests(requests)
	for c := range channels {
		if c.ChannelType() != "session" {
			_ = c.Reject(ssh.UnknownChannelType, "sessions only")
			continue
		}
		channel, asked, err := c.Accept()
		if err != nil {
			return
		}
		go h.session(channel, asked)
	}
}

// session runs one command. The command goes on when the connection breaks, as
// on a real host where no terminal hangs up.
func (h *Host) session(channel ssh.Channel, requests <-chan *ssh.Request) {
	defer func() { _ = channel.Close() }()
	for r := range requests {
		if r.Type != "exec" {
			_ = r.Reply(false, nil)
			continue
		}
		var command struct{ Line string }
		if ssh.Unmarshal(r.Payload, &command) != nil {
			_ = r.Reply(false, nil)
			return
		}
		_ = r.Reply(true, nil)
		go ssh.DiscardRequests(requests)
		code := h.command(command.Line, channel)
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{uint32(code)}))
		return
	}
}

// command runs "INTERPRETER [INCARNATION NUMBER RUN] ...", as Ansible starts a
// module: with the fence's wrapper as the interpreter, or with Python itself.
// A module reads its task from the standard input; "-c pass" has none.
func (h *Host) command(line string, channel ssh.Channel) (code int) {
	fields := strings.Fields(strings.TrimPrefix(line, "sudo -n "))
	if len(fields) == 0 {
		return ExitFailed
	}
	task := &Task{}
	if strings.HasSuffix(line, "-c pass") {
		task = nil
	} else if err := json.NewDecoder(io.LimitReader(channel, maxTask)).Decode(task); err != nil {
		return ExitFailed
	}
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(channel.Stderr(), format+"\n", args...) }
	if !strings.HasSuffix(fields[0], "/fence-python") {
		if task == nil {
			return 0
		}
		answer, code := h.system.unfenced(*task)
		_ = json.NewEncoder(channel).Encode(answer)
		if code == ExitRefused {
			say("kloigos-fence: refused: %s", answer.Message)
			return ExitFailed
		}
		return code
	}
	if len(fields) < 4 {
		return ExitRefused
	}
	number, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return ExitRefused
	}
	run, code, why := h.fence.admit(fields[1], number, fields[3])
	switch code {
	case ExitNoFence:
		say("sh: 1: %s: not found", fields[0])
		return code
	case ExitRefused:
		say("kloigos-fence: refused: %s", why)
		return code
	case ExitBroken:
		say("kloigos-fence: cannot check: %s", why)
		return code
	}
	defer run.leave()
	if task == nil {
		return 0
	}
	answer, code := h.system.module(run, *task)
	_ = json.NewEncoder(channel).Encode(answer)
	return code
}
