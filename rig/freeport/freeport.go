// Package freeport finds ports for servers that tests start as programs of their own, which can't be given a listener.
//
// A port of the kernel's choice is of little use there: between the search and the program's bind the kernel may give it to any
// connection that goes out. So the ports here are below those that the kernel chooses from (net.ipv4.ip_local_port_range).
//
// Several programs that look at once never get the same port: each keeps a lock on what it found until it ends.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// First and last of the ports that are tried: below 32768, where Linux begins to choose.
const (
	first = 15000
	last  = 32000
)

// kept are the locks of the ports that this process found. An *os.File that nothing points to would be closed.
var kept struct {
	sync.Mutex
	locks []*os.File
}

// Find returns a port that nobody listens on, neither with TCP nor with UDP, at each of the addresses (127.0.0.1 if none is given).
// No other call returns it while this process runs.
func Find(addresses ...string) (int, error) {
	for range 100 {
		port := first + rand.IntN(last-first+1)
		mine, err := reserve(port)
		if err != nil {
			return 0, fmt.Errorf("reserve port %d: %w", port, err)
		}
		if mine && Free(port, addresses...) {
			return port, nil
		}
	}
	return 0, errors.New("no port is free for both TCP and UDP")
}

// reserve locks a port against other calls, here and in other processes, until this process ends. It reports whether nobody else had it.
func reserve(port int) (bool, error) {
	dir := filepath.Join(os.TempDir(), "kloigos-ports-"+strconv.Itoa(os.Getuid())) // nobody else can use the files of one user
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		return false, err
	}
	kept.Lock()
	defer kept.Unlock()
	kept.locks = append(kept.locks, lock)
	return true, nil
}

// Free reports whether nobody listens on a port, neither with TCP nor with UDP, at each of the addresses (127.0.0.1 if none is given).
func Free(port int, addresses ...string) bool {
	if len(addresses) == 0 {
		addresses = []string{"127.0.0.1"}
	}
	// A program that this process starts has a copy of each socket until it has replaced its image. So none is started while one is open:
	// the copy would keep the port after Close.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for _, address := range addresses {
		at := net.JoinHostPort(address, strconv.Itoa(port))
		listener, err := net.Listen("tcp", at)
		if err != nil {
			return false
		}
		_ = listener.Close()
		packets, err := net.ListenPacket("udp", at)
		if err != nil {
			return false
		}
		_ = packets.Close()
	}
	return true
}
