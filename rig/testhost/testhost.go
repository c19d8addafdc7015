// Package testhost makes a real Debian host out of nothing: it builds a small
// Debian 12 image once, caches it by the hash of its recipe, and boots
// throwaway virtual machines from it with QEMU. Tests, the demo and `.ci/run`
// use it wherever Kloigos has to meet a real systemd, cgroup tree, AppArmor,
// nftables and LVM.
//
// The package owns the image cache and one directory for each machine; every
// QEMU process it starts it also ends, by its own process id. It refuses to
// listen on anything but loopback, to start a second machine in a directory,
// and to touch a process that it can't prove to be its own.
package testhost

import (
	"fmt"
	"os"
	"path/filepath"
)

const (
	// User is the administrator of every test host; it has sudo without a password.
	User = "admin"
	// LoopbackHost is the only address on which a test host is reachable.
	LoopbackHost = "127.0.0.1"
	// GuestAddress is the host's own address inside QEMU's user network
	// (10.0.2.0/24, gateway 10.0.2.2, DNS 10.0.2.3: the defaults of that network).
	GuestAddress = "10.0.2.15"
	// DiskSerial names the second disk, so that the guest has
	// /dev/disk/by-id/virtio-kloigos0.
	DiskSerial = "kloigos0"
)

// DefaultAddresses are the guest addresses whose port 22 is forwarded to
// loopback when Options names none: 10.0.2.101 to 10.0.2.110.
func DefaultAddresses() []string {
	addresses := make([]string, 0, 10)
	for last := 101; last <= 110; last++ {
		addresses = append(addresses, fmt.Sprintf("10.0.2.%d", last))
	}
	return addresses
}

// DefaultCacheDir is where images are kept: kloigos in the user's cache
// directory ($XDG_CACHE_HOME or ~/.cache).
func DefaultCacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w", err)
	}
	return filepath.Join(base, "kloigos"), nil
}
