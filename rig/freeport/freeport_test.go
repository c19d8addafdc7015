package freeport_test

import (
	"fmt"
	"net"
	"os"
	"testing"

	"kloigos/rig/freeport"
)

// TestFind: the port can be listened on, and the kernel gives it to no connection that goes out.
func TestFind(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		t.Fatal(err)
	}
	var lowest, highest int
	if _, err := fmt.Sscan(string(text), &lowest, &highest); err != nil {
		t.Fatal(err)
	}
	port, err := freeport.Find("127.0.0.1", "127.0.0.2")
	if err != nil {
		t.Fatal(err)
	}
	if port >= lowest && port <= highest {
		t.Errorf("%d is one of %d to %d, from which the kernel chooses", port, lowest, highest)
	}
	for _, address := range []string{"127.0.0.1", "127.0.0.2"} {
		l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", address, port))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
}

// TestFindNowhere: an address of nobody has no free port.
func TestFindNowhere(t *testing.T) {
	t.Parallel()
	if port, err := freeport.Find("192.0.2.1"); err == nil {
		t.Errorf("%d is free", port)
	}
}
