package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// viewScript runs in a unit and says what its tenant sees of the network, a line each.
const viewScript = `
import os, socket, subprocess, sys
out = subprocess.run(["ip", "-o", "address"], capture_output=True, text=True).stdout
print("addresses", *sorted(line.split()[3] for line in out.splitlines()))
for port in (22, 23, 80, 443, 1023, 1024, 8080):
    with socket.socket() as s:
        try:
            s.bind(("0.0.0.0", port))
            s.listen(1)
            print("port", port, "bound")
        except PermissionError:
            print("port", port, "refused")
print("ping", subprocess.run(["ping", "-c", "1", "-W", "20", sys.argv[1]], capture_output=True).returncode)
`

// nameServer answers each question for an IPv4 address with 192.0.2.77. It needs a port below 1024.
const nameServer = `
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("0.0.0.0", 53))
while True:
    question, who = s.recvfrom(512)
    end = question.index(b"\0", 12) + 5
    answer = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + socket.inet_aton("192.0.2.77") if question[end - 4:end - 2] == b"\0\1" else b""
    s.sendto(question[:2] + b"\x81\x80\0\1" + (b"\0\1" if answer else b"\0\0") + b"\0\0\0\0" + question[12:end] + answer, who)
`

// tenantsView: one address, ping, every port but sshd's; one tenant serves names and the other asks for them.
func (c *checker) tenantsView(ctx context.Context) error {
	d := &differences{}
	for _, v := range []visitor{c.first, c.second} {
		if v.a.ID == "" {
			return errNoGround
		}
		said, err := v.ssh(ctx, viewScript, false, "python3 - "+c.i.Host.Facts.Uplink.Gateway)
		if err != nil {
			return err
		}
		want := "addresses " + strings.Join(sortedAddresses(v.a.Address), " ") + "\nport 22 refused\n"
		for _, port := range []int{23, 80, 443, 1023, 1024, 8080} {
			want += fmt.Sprintf("port %d bound\n", port)
		}
		d.want(v.a.LoginUser+"'s view", said, want+"ping 0\n")
	}
	return errors.Join(errors.Join(d.found...), c.names(ctx))
}

func sortedAddresses(own string) []string {
	if own+"/32" < "127.0.0.1/8" {
		return []string{own + "/32", "127.0.0.1/8", "::1/128"}
	}
	return []string{"127.0.0.1/8", own + "/32", "::1/128"}
}

// names: the administrator names the first unit as the name server of units; the second tenant, already logged in or not, asks there.
func (c *checker) names(ctx context.Context) (err error) {
	if _, err := c.first.ssh(ctx, nameServer, false, "cat >kloigos-names.py && systemd-run --user --quiet --unit=kloigos-check-names python3 kloigos-names.py"); err != nil {
		return err
	}
	const file, program = "/etc/kloigos/resolv.conf", "/usr/local/lib/kloigos/unit-net"
	if _, err := c.i.VM.Run(ctx, fmt.Sprintf("echo nameserver %s | sudo tee %s && sudo %s repair %s", c.first.a.Address, file, program, c.second.unit.Name)); err != nil {
		return err
	}
	defer func() {
		_, ended := c.i.VM.Run(ctx, fmt.Sprintf("sudo rm %s && sudo %s repair %s", file, program, c.second.unit.Name))
		_, stopped := c.first.ssh(ctx, "", false, "systemctl --user stop kloigos-check-names; rm kloigos-names.py")
		err = errors.Join(err, ended, stopped)
	}()
	const ask = "getent ahostsv4 kloigos.example | head -n 1 | cut -d ' ' -f 1"
	for _, command := range []string{ask, "systemd-run --user --quiet --wait --pipe sh -c '" + strings.ReplaceAll(ask, "' '", `" "`) + "'"} {
		said, err := c.second.ssh(ctx, "", false, command)
		if err != nil {
			return err
		}
		if strings.TrimSpace(said) != "192.0.2.77" {
			return fmt.Errorf("%s says %q of a name that its name server knows", command, said)
		}
	}
	return nil
}

// neighbourFlood: a tenant sends to all of the unit's network; the host gets through to a neighbour that it does not know.
func (c *checker) neighbourFlood(ctx context.Context) error {
	if c.second.a.ID == "" {
		return errNoGround
	}
	const flood = `
import os, socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end, sent = time.monotonic() + 10, 0
while time.monotonic() < end:
    for n in range(1, 255):
        try:
            s.sendto(b"?", ("10.0.2.%d" % n, 9))
            sent += 1
        except OSError:
            pass
print(sent)
`
	if _, err := c.second.ssh(ctx, flood, false, "python3 -"); err != nil {
		return err
	}
	from := time.Now()
	said, err := c.i.VM.Run(ctx, "sudo ip neigh flush dev "+c.i.Host.Facts.Uplink.Interface+"; ping -c 1 -W 20 "+c.i.Host.Facts.Uplink.Gateway+" >/dev/null && cat /proc/sys/net/ipv4/neigh/default/gc_thresh3")
	if err != nil {
		return fmt.Errorf("the host does not reach its gateway any more, %s after: %w", seconds(time.Since(from)), err)
	}
	if strings.TrimSpace(said) != "32768" {
		return fmt.Errorf("the host keeps %s neighbours", said)
	}
	return nil
}
