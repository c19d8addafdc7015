// Package freeport finds ports for servers that tests start as programs of their own, which can't be given a listener.
//
// A port of the kernel's choice is of little use there: between the search and the program's bind the kernel may give it to any
// connection that goes out. So the ports here are below those that the kernel chooses from (net.ipv4.ip_local_port_range).
package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// First and last of the ports that are tried: below 32768, where Linux begins to choose.
const (
	first = 15000
	last  = 32000
)

// Find returns a port that nobody listens on, neither with TCP nor with UDP, at each of the addresses (127.0.0.1 if none is given).
func Find(addresses ...string) (int, error) {
	if len(addresses) == 0 {
		addresses = []string{"127.0.0.1"}
	}
	for range 100 {
		port := first + rand.IntN(last-first+1)
		if free(port, addresses) {
			return port, nil
		}
	}
	return 0, errors.New("no port is free for both TCP and UDP")
}

func free(port int, addresses []string) bool {
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
