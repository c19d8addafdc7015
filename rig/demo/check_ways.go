package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"kloigos/rig/testhost"
)

// wayInSFTP also brings the script that the other checks run, and the marker.
func (c *checker) wayInSFTP(ctx context.Context) error {
	for _, v := range []visitor{c.first, c.second} {
		if v.a.ID == "" {
			return errNoGround
		}
		dir, err := os.MkdirTemp(c.i.Dir, "sftp-")
		if err != nil {
			return fmt.Errorf("make a directory for sftp: %w", err)
		}
		batch := fmt.Sprintf("put %s %s\n", c.i.script(), scriptInUnit)
		for _, name := range []string{"status", "cgroup", "attr/current"} {
			batch += fmt.Sprintf("get /proc/self/%s %s/%s\n", name, dir, path.Base(name))
		}
		// The dash lets the batch go on when a command fails, as these must.
		for _, closed := range []string{"/etc/kloigos/units", "/root", "/etc/systemd/system", "/usr/local/lib/kloigos"} {
			batch += "-ls -1 " + closed + "/\n"
		}
		said, err := v.sftp(ctx, batch)
		if err != nil {
			return err
		}
		for line := range strings.Lines(said) {
			if !strings.HasPrefix(line, "sftp> ") {
				return fmt.Errorf("%s sees %q", v.a.LoginUser, said)
			}
		}
		if err := heldServer(v, dir); err != nil {
			return fmt.Errorf("%s: %w", v.a.LoginUser, err)
		}
	}
	return c.leaveMarks(ctx)
}

// heldServer looks at what sftp-server said of itself.
func heldServer(v visitor, dir string) error {
	said := make(map[string]string)
	for _, name := range []string{"status", "cgroup", "current"} {
		text, err := os.ReadFile(dir + "/" + name)
		if err != nil {
			return fmt.Errorf("read what came: %w", err)
		}
		said[name] = string(text)
	}
	for name, want := range map[string]string{
		"status":  "\nCpus_allowed_list:\t" + v.unit.CPUs + "\n",
		"cgroup":  fmt.Sprintf("0::/user.slice/user-%d.slice/", v.a.UID),
		"current": "kloigos-" + v.unit.Name + " (enforce)",
	} {
		if !strings.Contains(said[name], want) {
			return fmt.Errorf("the server's /proc/self/%s does not say %q but %q", name, want, said[name])
		}
	}
	return nil
}

// leaveMarks writes the marker wherever the first tenant can, in plain and hidden files, and leaves a process running.
func (c *checker) leaveMarks(ctx context.Context) error {
	_, err := c.first.ssh(ctx, "", false, fmt.Sprintf(`set -e
for d in "$HOME" "$HOME/.hidden" /tmp /var/tmp /dev/shm; do mkdir -p "$d"; echo %[1]s >"$d/.mark-%[1]s"; echo %[1]s >"$d/mark"; done
for n in 1 2 3 4 5 6 7 8; do for m in 1 2 3 4 5 6 7 8 9 10; do echo %[1]s; head -c 100000 /dev/urandom; done >"$HOME/.hidden/$n"; done
sync -f "$HOME"
systemd-run --user --quiet --unit=kloigos-check-sleep sleep 86400`, c.marker))
	return err
}

// ask lets a tenant look around, with another one who must not be seen.
func (c *checker) ask(ctx context.Context, way string, v, other visitor, run func(string) (string, error)) error {
	if v.a.ID == "" || other.a.ID == "" {
		return errNoGround
	}
	q, stop, err := c.question(ctx, way, other)
	if err != nil {
		return err
	}
	defer stop()
	said, err := v.ask(q, run)
	if err != nil {
		return err
	}
	if said.Network == nil {
		return errors.New("no connection was tried")
	}
	return v.held(said)
}

// question names what is the other tenant's, and something to connect to: QEMU's gateway leads to this machine's
// loopback (10.0.2.2, fec0::2).
func (c *checker) question(ctx context.Context, way string, other visitor) (question, func(), error) {
	heard, err := listen(ctx)
	if err != nil {
		return question{}, nil, err
	}
	return question{
		Way: way, Target: fmt.Sprintf("%s:%d", c.i.Host.Facts.Uplink.Gateway, heard.port), Target6: fmt.Sprintf("[fec0::2]:%d", heard.port),
		Others: []string{testhost.GuestAddress, other.a.Address},
		Paths: []string{
			other.unit.Mount, other.unit.Mount + "/home/" + other.a.LoginUser, keysOf(other.a),
			fmt.Sprintf("/run/user/%d", other.a.UID), fmt.Sprintf("/sys/fs/cgroup/user.slice/user-%d.slice/cgroup.procs", other.a.UID),
			"/etc/shadow", "/etc/kloigos/units", "/root",
		},
	}, heard.stop, nil
}

func (c *checker) wayInCommand(ctx context.Context) error {
	return errors.Join(
		c.ask(ctx, "command", c.first, c.second, func(command string) (string, error) { return c.first.ssh(ctx, "", false, command) }),
		c.ask(ctx, "command", c.second, c.first, func(command string) (string, error) { return c.second.ssh(ctx, "", false, command) }),
	)
}

func (c *checker) wayInShell(ctx context.Context) error {
	return c.ask(ctx, "shell", c.first, c.second, func(command string) (string, error) {
		return c.first.ssh(ctx, command+"\nexit 0\n", true)
	})
}

func (c *checker) wayInService(ctx context.Context) error {
	return c.ask(ctx, "service", c.first, c.second, func(command string) (string, error) {
		return c.first.ssh(ctx, "", false, "systemd-run --user --quiet --wait --pipe "+command)
	})
}

func (c *checker) cronAndAt(ctx context.Context) error {
	if c.first.a.ID == "" {
		return errNoGround
	}
	var wrong []error
	for _, command := range []string{"echo '* * * * * touch ~/cron' | crontab -", "crontab -l", "echo 'touch ~/at' | at now", "echo 'touch ~/at' | batch"} {
		if said, err := c.first.ssh(ctx, "", false, command); err == nil {
			wrong = append(wrong, fmt.Errorf("%q works: %s", command, said))
		}
	}
	said, err := c.i.VM.Run(ctx, "sudo find /var/spool/cron -type f ! -name .SEQ -newer /etc/hostname")
	if err != nil {
		wrong = append(wrong, err)
	} else if strings.TrimSpace(said) != "" {
		wrong = append(wrong, fmt.Errorf("there are jobs: %s", said))
	}
	return errors.Join(wrong...)
}
