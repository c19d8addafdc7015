package testhost

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"
)

// cable is a machine's end.
type cable struct {
	t       *testing.T
	conn    net.Conn
	address hardware
}

func plug(t *testing.T, s *Switch, last byte) *cable {
	t.Helper()
	conn, err := net.Dial("unix", s.Path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &cable{t, conn, hardware{0x52, 0x54, 0, 0, 0, last}}
}

var everybody = hardware{255, 255, 255, 255, 255, 255}

func (c *cable) says(to hardware, kind uint16, text []byte) {
	c.t.Helper()
	frame := append(append(append([]byte{}, to[:]...), c.address[:]...), byte(kind>>8), byte(kind))
	if err := writeFrame(c.conn, append(frame, text...)); err != nil {
		c.t.Error(err)
	}
}

// hears returns the next frame for it.
func (c *cable) hears(within time.Duration) (frame []byte, err error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		c.t.Error(err)
	}
	return readFrame(c.conn)
}

const experiment = 0x88b5 // a type of frame for experiments

func (c *cable) mustHear(text string) {
	c.t.Helper()
	frame, err := c.hears(10 * time.Second)
	if err != nil || string(frame[frameHead:]) != text {
		c.t.Errorf("%x hears %q, %v, want %q", c.address, frame, err, text)
	}
}

func newTestSwitch(t *testing.T) *Switch {
	t.Helper()
	s, err := NewSwitch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// plugged waits until the switch has as many ports.
func plugged(t *testing.T, s *Switch, count int) {
	t.Helper()
	for range 1000 {
		s.lock.Lock()
		has := len(s.ports)
		s.lock.Unlock()
		if has == count {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the switch never had %d ports", count)
}

func TestSwitch(t *testing.T) {
	t.Parallel()
	s := newTestSwitch(t)
	a, b, c := plug(t, s, 1), plug(t, s, 2), plug(t, s, 3)
	plugged(t, s, 3)

	// What is for everybody, or for somebody unknown, goes to all others.
	a.says(everybody, experiment, []byte("who is b?"))
	b.mustHear("who is b?")
	c.mustHear("who is b?")
	a.says(hardware{2, 0, 0, 0, 0, 9}, experiment, []byte("unknown"))
	b.mustHear("unknown")
	c.mustHear("unknown")

	// An answer goes to the one who was seen there, and the next one likewise. c hears of neither: its next frame is a later one.
	b.says(a.address, experiment, []byte("I am b"))
	a.mustHear("I am b")
	a.says(b.address, experiment, []byte("for b alone"))
	b.mustHear("for b alone")
	b.says(b.address, experiment, []byte("for myself")) // goes nowhere
	b.says(everybody, experiment, []byte("the end"))
	a.mustHear("the end")
	c.mustHear("the end")

	// A machine that is started anew has another cable, and is found there.
	_ = b.conn.Close()
	plugged(t, s, 2)
	again := plug(t, s, 2)
	plugged(t, s, 3)
	a.says(b.address, experiment, []byte("are you there?"))
	again.mustHear("are you there?")
	c.mustHear("are you there?") // it was forgotten with its old cable

	// What isn't a frame cuts the cable of who sent it, and no other.
	if _, err := c.conn.Write(binary.BigEndian.AppendUint32(nil, frameLimit+1)); err != nil {
		t.Fatal(err)
	}
	plugged(t, s, 2)
	again.says(a.address, experiment, []byte("still"))
	a.mustHear("still")

	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := a.hears(10 * time.Second); err == nil {
		t.Error("a cable of a closed switch brings something")
	}
	if _, err := os.Stat(s.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket stays: %v", err)
	}
}

// A machine that hangs takes nothing from its cable. Those beside it go on.
func TestASwitchDoesNotWaitForAPortThatHangs(t *testing.T) {
	t.Parallel()
	s := newTestSwitch(t)
	a, b, hangs := plug(t, s, 1), plug(t, s, 2), plug(t, s, 3)
	plugged(t, s, 3)
	b.says(everybody, experiment, nil)
	a.mustHear("")
	large := bytes.Repeat([]byte("x"), 1400)
	for range 4 * portQueue { // far more than its queue and its socket hold
		a.says(hangs.address, experiment, large)
		if frame, err := b.hears(10 * time.Second); err != nil || len(frame) != frameHead+len(large) {
			t.Fatalf("b hears %d bytes, %v", len(frame), err)
		}
	}
}

// QEMU's user network on a cable answers for its own addresses, and not for that of another machine: it does not even see what two
// machines tell each other. This is QEMU without a machine.
func TestTheWayOutAtASwitch(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath(program("qemu-system-x86_64")); err != nil {
		t.Skip("no QEMU here:", err)
	}
	s := newTestSwitch(t)
	a, b := plug(t, s, 15), plug(t, s, 16)
	plugged(t, s, 2)
	o := testOptions()
	o.Switch = s.Path
	args := append([]string{"-nodefaults", "-no-user-config", "-display", "none", "-machine", "none"}, o.network(nil)[2:]...) // no card
	qemu := exec.CommandContext(t.Context(), program("qemu-system-x86_64"), args...)
	var said bytes.Buffer
	qemu.Stdout, qemu.Stderr = &said, &said
	if err := qemu.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = qemu.Process.Kill()
		_ = qemu.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	plugged(t, s, 3)

	gateway := net.IPv4(10, 0, 2, 2).To4()
	own := net.IPv4(10, 0, 2, 15).To4()
	a.asks(own, gateway)
	b.mustHear(string(arp(a.address, own, gateway)))
	answer, err := a.hears(10 * time.Second)
	if err != nil || !bytes.Equal(answer[28:32], gateway) {
		t.Fatalf("the user network answers %x, %v", answer, err)
	}
	// Only b hears this, as it is to answer: had the user network answered in its name, a would hear that first.
	other := net.IPv4(10, 0, 2, 16).To4()
	a.asks(own, other)
	b.mustHear(string(arp(a.address, own, other)))
	b.says(a.address, experiment, []byte("here"))
	a.mustHear("here")
	// A request that the user network would refuse or answer, had it seen it, with a TCP reset.
	a.says(b.address, 0x0800, synTo(own, other))
	b.mustHear(string(synTo(own, other)))
	if frame, err := a.hears(time.Second); err == nil {
		t.Errorf("somebody answered what was for b: %x", frame)
	}
}

func (c *cable) asks(own, wanted net.IP) { c.says(everybody, 0x0806, arp(c.address, own, wanted)) }

// arp is a request for the hardware address of an address.
func arp(from hardware, own, wanted net.IP) []byte {
	out := append([]byte{0, 1, 8, 0, 6, 4, 0, 1}, from[:]...)
	out = append(append(append(out, own...), make([]byte, 6)...), wanted...)
	return append(out, make([]byte, 18)...) // as long as the shortest frame
}

// synTo begins a TCP connection to port 80.
func synTo(from, to net.IP) []byte {
	tcp := []byte{0x9c, 0x40, 0, 80, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 0xff, 0xff, 0, 0, 0, 0}
	pseudo := append(append(append([]byte{}, from...), to...), 0, 6, 0, byte(len(tcp)))
	binary.BigEndian.PutUint16(tcp[16:], checksum(append(pseudo, tcp...)))
	ip := append(append([]byte{0x45, 0, 0, byte(20 + len(tcp)), 0, 1, 0, 0, 64, 6, 0, 0}, from...), to...)
	binary.BigEndian.PutUint16(ip[10:], checksum(ip))
	return append(ip, tcp...)
}

func checksum(b []byte) uint16 {
	var sum uint32
	for i := 0; i+1 < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
