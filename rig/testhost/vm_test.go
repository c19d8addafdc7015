//go:build e2e

package testhost

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// TestMachine boots one machine and looks at everything that the playbooks and
// their tests take for granted, then reboots it and pulls its plug.
func TestMachine(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	if err := CheckPrograms(); err != nil {
		t.Fatal(err)
	}
	image, err := EnsureImage(ctx, "", t.Output())
	if err != nil {
		t.Fatal(err)
	}
	options := Options{Image: image, Dir: filepath.Join(t.TempDir(), "vm"), Hostname: "machine"}
	began := time.Now()
	vm, err := Start(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = vm.Stop() })
	t.Logf("SSH after %s with %s", time.Since(began).Round(time.Second/10), vm.Accelerator)

	run := func(command string) string {
		t.Helper()
		out, err := vm.Run(ctx, command)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	t.Log(run("systemd-analyze | head -1"))
	for command, want := range map[string]string{
		"sudo -n id -u": "0",
		"hostname":      "machine",
		"nproc":         "8",
		"cat /sys/devices/system/node/node0/cpulist /sys/devices/system/node/node1/cpulist": "0-3\n4-7",
		"cat /sys/devices/system/cpu/cpu[07]/topology/physical_package_id":                  "0\n1",
		"awk '/MemTotal/ {print ($4 > 1800000)}' /sys/devices/system/node/node[01]/meminfo": "1\n1",
		"readlink -f /dev/disk/by-id/virtio-" + DiskSerial:                                  "/dev/vdb",
		"sudo wipefs --noheadings /dev/vdb":                                                 "",
		"cat /sys/block/vdb/queue/discard_max_bytes | grep -qv '^0$' && echo discards":      "discards",
		"stat -fc %T /sys/fs/cgroup":                                                        "cgroup2fs",
		"tr ' ' '\\n' </sys/fs/cgroup/cgroup.controllers | grep -x cpuset":                  "cpuset",
		"aa-enabled": "Yes",
		"ip -4 -br address show dev ens3 | awk '{print $3}'": GuestAddress + "/24",
		"ip route show default | awk '{print $3, $5}'":       "10.0.2.2 ens3",
		". /etc/os-release; echo $ID $VERSION_ID":            "debian 12",
		"systemctl --failed --no-legend":                     "",
		"for p in nft pvs visudo apparmor_parser crontab at setfacl arping mkfs.ext4 python3; do sudo sh -c \"command -v $p\" >/dev/null || echo $p; done": "",
		"dpkg-query -Wf '${Package} ' dbus-user-session libpam-systemd apparmor-utils":                                                                     "apparmor-utils dbus-user-session libpam-systemd",
		"systemctl is-active ssh cron atd": "active\nactive\nactive",
	} {
		if got := run(command); got != want {
			t.Errorf("%s\n  says %q, want %q", command, got, want)
		}
	}
	machineID := run("cat /etc/machine-id")
	if len(machineID) != 32 {
		t.Errorf("machine-id %q, want 32 digits", machineID)
	}

	t.Run("a second machine in the directory is refused", func(t *testing.T) {
		if other, err := Start(ctx, options); err == nil {
			_ = other.Stop()
			t.Error("it started")
		}
		if run("echo there") != "there" {
			t.Error("the first machine is gone")
		}
	})

	t.Run("a key is authorized once", func(t *testing.T) {
		other, err := ensureKey(filepath.Join(t.TempDir(), "key"), "control plane")
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := vm.AuthorizeKey(ctx, other.public+" it's \"quoted\" $HOME"); err != nil {
				t.Fatal(err)
			}
		}
		if got := run("grep -c . .ssh/authorized_keys"); got != "2" {
			t.Errorf("%s lines, want 2", got)
		}
		asOther := *vm
		asOther.signer = other.signer
		if _, err := asOther.Run(ctx, "true"); err != nil {
			t.Errorf("log in with it: %v", err)
		}
		if err := vm.AuthorizeKey(ctx, "not a key"); err == nil {
			t.Error("anything is a key")
		}
	})

	t.Run("another host key is not trusted", func(t *testing.T) {
		other, err := ensureKey(filepath.Join(t.TempDir(), "key"), "")
		if err != nil {
			t.Fatal(err)
		}
		mistaken := *vm
		mistaken.hostKey = other.signer.PublicKey()
		if _, err := mistaken.Run(ctx, "true"); err == nil {
			t.Error("it was")
		}
	})

	t.Run("a command's failure is told apart", func(t *testing.T) {
		_, err := vm.Run(ctx, "echo why >&2; exit 7")
		var failed *CommandError
		if !errors.As(err, &failed) || failed.Status != 7 || failed.Stderr != "why\n" {
			t.Errorf("got %v", err)
		}
	})

	t.Run("an address of the guest is reached through its forward", func(t *testing.T) {
		run("sudo ip address add 10.0.2.103/32 dev ens3")
		address := vm.Forward["10.0.2.103"]
		client, err := ssh.Dial("tcp", address, &ssh.ClientConfig{
			User: vm.User, Auth: []ssh.AuthMethod{ssh.PublicKeys(vm.signer)},
			HostKeyCallback: ssh.FixedHostKey(vm.hostKey), Timeout: time.Minute,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		session, err := client.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		out, err := session.Output("echo $SSH_CONNECTION | cut -d' ' -f3")
		if err != nil || strings.TrimSpace(string(out)) != "10.0.2.103" {
			t.Errorf("got %q, %v", out, err)
		}
	})

	t.Run("it comes back from a reboot", func(t *testing.T) {
		pid, boot := vm.PID(), run("cat /proc/sys/kernel/random/boot_id")
		run("sudo systemd-run --on-active=1 systemctl reboot")
		for {
			if err := vm.WaitSSH(ctx); err != nil {
				t.Fatal(err)
			}
			// SSH may still be that of the machine on its way down.
			now, err := vm.Run(ctx, "cat /proc/sys/kernel/random/boot_id")
			if err == nil && strings.TrimSpace(now) != boot {
				break
			}
			if ctx.Err() != nil {
				t.Fatal(ctx.Err())
			}
		}
		if vm.PID() != pid || !vm.process.alive() {
			t.Error("QEMU is another process")
		}
		if got := run("cat /etc/machine-id"); got != machineID {
			t.Errorf("machine-id %s, was %s", got, machineID)
		}
	})

	t.Run("its disks survive a pulled plug", func(t *testing.T) {
		run("echo kept >kept && sync")
		if err := vm.Stop(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-vm.Done():
		case <-time.After(10 * time.Second):
			t.Error("Done is not closed")
		}
		if vm.process.alive() {
			t.Error("QEMU lives on")
		}
		hostKey, port := vm.HostKey, vm.SSHPort
		if vm, err = Start(ctx, options); err != nil {
			t.Fatal(err)
		}
		if vm.HostKey != hostKey || vm.SSHPort != port {
			t.Errorf("host key or port changed: %d, was %d", vm.SSHPort, port)
		}
		if got := run("cat kept; cat /etc/machine-id"); got != "kept\n"+machineID {
			t.Errorf("got %q", got)
		}
		console, err := os.ReadFile(filepath.Join(vm.Dir, consoleLog))
		if err != nil || !strings.Contains(string(console), "reboot") {
			t.Errorf("the console's log lacks the reboot: %q, %v", console, err)
		}
	})
}
