package testhost

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
)

// Switch joins the cards of machines to one network, as a box with sockets for cables does: a frame goes where its hardware address was
// seen last, and to everybody before it was seen. QEMU's own hub gives each frame to everybody. Its user network looks at no
// hardware address, and answers in the name of the other machine.
type Switch struct {
	Path string // of the socket that QEMU connects to; each connection is a port

	listener net.Listener
	dir      string
	done     sync.WaitGroup

	lock    sync.Mutex
	closed  bool
	ports   map[*port]bool
	learned map[hardware]*port
}

type hardware [6]byte

// group says that a frame is for many.
func (h hardware) group() bool { return h[0]&1 == 1 }

// port is one cable. What doesn't fit into its queue is lost, as in every switch.
type port struct {
	conn net.Conn
	out  chan []byte
}

const (
	frameHead  = 14 // two hardware addresses and a type
	frameLimit = 65536
	portQueue  = 512
)

// NewSwitch switches until Close.
func NewSwitch() (*Switch, error) {
	dir, err := os.MkdirTemp("", "kloigos-switch-")
	if err != nil {
		return nil, fmt.Errorf("make a switch: %w", err)
	}
	s := &Switch{Path: filepath.Join(dir, "switch"), dir: dir, ports: map[*port]bool{}, learned: map[hardware]*port{}}
	if s.listener, err = net.Listen("unix", s.Path); err != nil {
		return nil, errors.Join(fmt.Errorf("make a switch: %w", err), os.RemoveAll(dir))
	}
	s.done.Go(s.accept)
	return s, nil
}

// Close cuts all cables.
func (s *Switch) Close() error {
	err := s.listener.Close()
	s.lock.Lock()
	s.closed = true
	for p := range s.ports {
		_ = p.conn.Close() // its reader ends
	}
	s.lock.Unlock()
	s.done.Wait()
	return errors.Join(err, os.RemoveAll(s.dir))
}

func (s *Switch) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.plug(conn)
	}
}

func (s *Switch) plug(conn net.Conn) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.closed {
		_ = conn.Close()
		return
	}
	p := &port{conn, make(chan []byte, portQueue)}
	s.ports[p] = true
	s.done.Go(func() { s.receive(p) })
	s.done.Go(p.send)
}

// receive forwards what a port brings until its cable is cut.
func (s *Switch) receive(p *port) {
	defer s.remove(p)
	in := bufio.NewReader(p.conn)
	for {
		frame, err := readFrame(in)
		if err != nil {
			return
		}
		if len(frame) >= frameHead {
			s.forward(p, frame)
		}
	}
}

func (s *Switch) forward(from *port, frame []byte) {
	to, source := hardware(frame[:6]), hardware(frame[6:12])
	s.lock.Lock()
	defer s.lock.Unlock()
	if !source.group() {
		s.learned[source] = from
	}
	if only := s.learned[to]; only != nil {
		if only != from {
			only.offer(frame)
		}
		return
	}
	for p := range s.ports {
		if p != from {
			p.offer(frame)
		}
	}
}

func (s *Switch) remove(p *port) {
	_ = p.conn.Close()
	s.lock.Lock()
	defer s.lock.Unlock()
	delete(s.ports, p)
	for address, at := range s.learned {
		if at == p {
			delete(s.learned, address)
		}
	}
	close(p.out) // offered only to ports that are there, under the lock
}

func (p *port) offer(frame []byte) {
	select {
	case p.out <- frame:
	default:
	}
}

func (p *port) send() {
	for frame := range p.out {
		if err := writeFrame(p.conn, frame); err != nil {
			_ = p.conn.Close()
		}
	}
}

// readFrame reads what QEMU's stream has: the length in four bytes, and the frame.
func readFrame(in io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > frameLimit {
		return nil, fmt.Errorf("a frame of %d bytes", size)
	}
	frame := make([]byte, size)
	_, err := io.ReadFull(in, frame)
	return frame, err
}

func writeFrame(out io.Writer, frame []byte) error {
	_, err := out.Write(append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(frame)), uint32(len(frame))), frame...))
	return err
}
