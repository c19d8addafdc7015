package bench

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"embed"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"

	"kloigos/playbooks"
	"kloigos/rig/demo"
)

//go:embed host
var hostFiles embed.FS

const hostPort = 22

// hostPrefix begins the names of everything that a host has of this machine; the process id of the bench follows.
const hostPrefix = "kloigos-bench-"

// addresses are the ends of the cable between this machine and the host: one of 64 networks of two addresses, out of the range that RFC
// 5737 keeps for examples, by the process id, so that two benches do not meet.
func addresses() (ours, hosts string) {
	first := os.Getpid() % 64 * 4
	return fmt.Sprintf("198.51.100.%d", first+1), fmt.Sprintf("198.51.100.%d", first+2)
}

// nativeHost is a machine to run plays on: a native sshd in namespaces of its own (network, files, processes), over an
// overlay of this machine's files that lies in memory. It has the real fence, over a cgroup of its own.
type nativeHost struct {
	process   *demo.Process
	address   string
	namespace string
	cgroup    string
	key       string // line of known_hosts, without the name
}

// startHost starts the host for an incarnation; the keys may log in as root.
func (b *Bed) startHost(ctx context.Context, incarnation string, logins ...string) (_ *nativeHost, err error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("a host in namespaces needs root")
	}
	id := fmt.Sprintf("%d-%d", os.Getpid(), b.made.Add(1))
	sweepHosts()
	ours, address := addresses()
	h := &nativeHost{address: address, namespace: hostPrefix + id}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.stop())
		}
	}()
	if h.cgroup, err = newCgroup(h.namespace); err != nil {
		return nil, err
	}
	dir := b.path("host-" + id)
	private, public, err := newKey()
	if err != nil {
		return nil, err
	}
	h.key = public
	fence, err := fenceText()
	if err != nil {
		return nil, err
	}
	start, err := hostFiles.ReadFile("host/start")
	if err != nil {
		return nil, err
	}
	sshd := strings.Join([]string{
		"ListenAddress " + address, "HostKey /etc/ssh/kloigos-bench-key", "AuthorizedKeysFile /etc/ssh/kloigos-bench-logins", "PidFile none",
		"UsePAM yes", "PermitRootLogin prohibit-password", "PasswordAuthentication no", "UseDNS no", "Subsystem sftp /usr/lib/openssh/sftp-server", "",
	}, "\n")
	for name, file := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"start":                                    {string(start), 0o700},
		"files/etc/ssh/kloigos-bench":              {sshd, 0o600},
		"files/etc/ssh/kloigos-bench-key":          {private, 0o600},
		"files/etc/ssh/kloigos-bench-logins":       {strings.Join(logins, "\n") + "\n", 0o600},
		"files/etc/kloigos/fence/incarnation":      {incarnation + "\n", 0o600},
		"files/etc/kloigos/fence/lock":             {"", 0o600},
		"files/usr/local/lib/kloigos/fence-python": {fence, 0o755},
		"files/usr/sbin/apparmor_parser":           {"#!/bin/sh\n# Stands in for AppArmor's, which this machine need not have.\nexec test -s \"$4\"\n", 0o755},
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, fmt.Errorf("make the host: %w", err)
		}
		if err := os.WriteFile(path, []byte(file.text), file.mode); err != nil {
			return nil, fmt.Errorf("make the host: %w", err)
		}
	}
	if err := h.link(ctx, ours); err != nil {
		return nil, err
	}
	// Not `ip netns exec`, which mounts another /sys, without cgroups.
	h.process, err = b.group.Start("host-"+id, "/usr/bin/nsenter", []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, "--net=/run/netns/"+h.namespace,
		"unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child", filepath.Join(dir, "start"), dir, h.cgroup)
	if err != nil {
		return nil, err
	}
	return h, h.await(ctx)
}

// link makes the host's network: one cable to this machine, and its own loopback.
func (h *nativeHost) link(ctx context.Context, address string) error {
	ours := fmt.Sprintf("kb%d", os.Getpid())
	for _, args := range [][]string{
		{"netns", "add", h.namespace},
		{"link", "add", ours, "type", "veth", "peer", "name", "bench0", "netns", h.namespace},
		{"address", "add", address + "/30", "dev", ours},
		{"link", "set", ours, "up"},
		{"-n", h.namespace, "address", "add", h.address + "/30", "dev", "bench0"},
		{"-n", h.namespace, "link", "set", "bench0", "up"},
		{"-n", h.namespace, "link", "set", "lo", "up"},
	} {
		if output, err := exec.CommandContext(ctx, "/usr/sbin/ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, output)
		}
	}
	return nil
}

func (h *nativeHost) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", fmt.Sprintf("%s:%d", h.address, hostPort))
		if err == nil {
			return conn.Close()
		}
		if h.process.Ended() || ctx.Err() != nil {
			return fmt.Errorf("the host does not start:\n%s", h.process.Tail())
		}
		<-tick.C
	}
}

// stop ends the host and takes away what it had of this machine.
func (h *nativeHost) stop() error {
	var errs []error
	if h.process != nil && !h.process.Ended() {
		errs = append(errs, h.process.Kill())
	}
	if h.cgroup != "" {
		errs = append(errs, removeCgroup(h.cgroup))
	}
	if _, err := os.Stat("/run/netns/" + h.namespace); err == nil {
		// The cable goes with the namespace.
		if output, err := exec.Command("/usr/sbin/ip", "netns", "del", h.namespace).CombinedOutput(); err != nil {
			errs = append(errs, fmt.Errorf("remove the host's network: %w: %s", err, output))
		}
	}
	return errors.Join(errs...)
}

// sweepHosts takes away what a bench that was killed left: its processes ended with it, its names did not.
func sweepHosts() {
	namespaces, _ := filepath.Glob("/run/netns/" + hostPrefix + "*")
	for _, path := range namespaces {
		h := &nativeHost{namespace: filepath.Base(path)}
		owner, _, _ := strings.Cut(strings.TrimPrefix(h.namespace, hostPrefix), "-")
		if _, err := os.Stat("/proc/" + owner); err == nil || owner == "" {
			continue
		}
		if root, err := cgroupRoot(); err == nil {
			h.cgroup = filepath.Join(root, h.namespace)
		}
		_ = h.stop() // another bench may be at it as well
	}
}

// fenceCgroup is where the fence has its runs, under the host's /sys/fs/cgroup.
const fenceCgroup = "runs"

// sameNumber is where the fence refuses a second run with one number. All hosts of the bench are one to it, so runs of
// different jobs with the same number work beside each other here.
const sameNumber = "\nrefuse_other_runs\n"

// fenceText is the fence as the role host_bootstrap installs it, but for the cgroup, which systemd makes elsewhere, and
// without what is said of sameNumber.
func fenceText() (string, error) {
	text, err := playbooks.Files.ReadFile("roles/host_bootstrap/templates/fence-python.j2")
	if err != nil {
		return "", fmt.Errorf("read the fence: %w", err)
	}
	if !bytes.Contains(text, []byte(sameNumber)) {
		return "", errors.New("the fence has no check of the same number to leave out")
	}
	text = bytes.Replace(text, []byte(sameNumber), []byte("\n"), 1)
	values := map[string]string{
		"host_bootstrap_fence_dir": "/etc/kloigos/fence", "host_bootstrap_fence_cgroup": "/sys/fs/cgroup/" + fenceCgroup,
		"host_bootstrap_fence_log": "/var/log/kloigos/tokens.log", "host_bootstrap_fence_service": "kloigos-runs.service",
		"host_bootstrap_python": "/usr/bin/python3",
	}
	var missing error
	return regexp.MustCompile(`\{\{ (\w+) \}\}`).ReplaceAllStringFunc(string(text), func(found string) string {
		value, ok := values[strings.Trim(found, "{} ")]
		if !ok {
			missing = fmt.Errorf("the fence asks for %s", found)
		}
		return value
	}), missing
}

// cgroupRoot is where the cgroup v2 hierarchy is mounted.
func cgroupRoot() (string, error) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return "", fmt.Errorf("look for cgroups: %w", err)
	}
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[2] == "cgroup2" {
			return fields[1], nil
		}
	}
	return "", errors.New("there is no cgroup v2 hierarchy to make a group in")
}

func newCgroup(name string) (string, error) {
	root, err := cgroupRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Join(dir, fenceCgroup), 0o755); err != nil {
		return "", fmt.Errorf("make a cgroup: %w", err)
	}
	return dir, nil
}

func removeCgroup(dir string) error {
	_ = os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0o600)
	var err error
	for range 100 {
		for _, pattern := range []string{"/*/*", "/*"} {
			groups, _ := filepath.Glob(dir + pattern)
			for _, group := range groups {
				_ = syscall.Rmdir(group) // plain files refuse
			}
		}
		if err = syscall.Rmdir(dir); err == nil || errors.Is(err, os.ErrNotExist) {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("remove cgroup %s: %w", dir, err)
}

// newKey makes a key pair: PEM, and a line of authorized_keys.
func newKey() (private, public string, err error) {
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", "", fmt.Errorf("make a key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(priv, "")
	if err != nil {
		return "", "", fmt.Errorf("make a key: %w", err)
	}
	key, err := ssh.NewPublicKey(pub)
	if err != nil {
		return "", "", fmt.Errorf("make a key: %w", err)
	}
	return string(pem.EncodeToMemory(block)), strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))), nil
}
