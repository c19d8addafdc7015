package freeport_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
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

// TestFindIsExclusive: many that look at once get ports of their own, though nobody listens yet.
func TestFindIsExclusive(t *testing.T) {
	t.Parallel()
	const calls = 400 // of 17,001 ports: without locks, two of them meet in 99 of 100 runs
	found := make(chan int, calls)
	var group sync.WaitGroup
	for range calls {
		group.Go(func() {
			port, err := freeport.Find()
			if err != nil {
				t.Error(err)
			}
			found <- port
		})
	}
	group.Wait()
	close(found)
	seen := map[int]bool{}
	for port := range found {
		if seen[port] {
			t.Errorf("%d was found twice", port)
		}
		seen[port] = true
	}
}

// TestFindWhileProgramsStart: a port is free at once, though this process starts programs, which have copies of its sockets for a moment.
func TestFindWhileProgramsStart(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for ctx.Err() == nil {
				_ = exec.Command("/bin/true").Run()
			}
		})
	}
	defer group.Wait()
	defer stop()
	for range 300 {
		port, err := freeport.Find()
		if err != nil {
			t.Fatal(err)
		}
		syscall.ForkLock.RLock()
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = l.Close()
		}
		syscall.ForkLock.RUnlock()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestFindNowhere: an address of nobody has no free port.
func TestFindNowhere(t *testing.T) {
	t.Parallel()
	if port, err := freeport.Find("192.0.2.1"); err == nil {
		t.Errorf("%d is free", port)
	}
}
