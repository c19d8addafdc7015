package demo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"kloigos/backend/api"
)

// afterReboot leaves a service for the next boot, reboots, and reads what it said before anybody logged in.
func (c *checker) afterReboot(ctx context.Context) error {
	if c.first.a.ID == "" {
		return errNoGround
	}
	q, stop, err := c.question(ctx, "linger", c.second)
	if err != nil {
		return err
	}
	defer stop()
	unit := fmt.Sprintf(`[Unit]
Description=Says what it sees
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'python3 %%h/%s "$QUESTION" >%%h/linger.new && mv %%h/linger.new %%h/linger'
Environment='QUESTION=%s'
[Install]
WantedBy=default.target
`, scriptInUnit, strings.ReplaceAll(q.text(), `"`, `\"`))
	_, err = c.first.ssh(ctx, unit, false, `set -e
rm -f ~/linger ~/linger.new
mkdir -p ~/.config/systemd/user
cat >~/.config/systemd/user/kloigos-check.service
systemctl --user daemon-reload
systemctl --user --quiet enable kloigos-check.service
sync -f ~`)
	if err != nil {
		return err
	}
	if err := c.reboot(ctx); err != nil {
		return err
	}
	// Read by the administrator: a login of the tenant would start his services too.
	home := c.first.unit.Mount + "/home/" + c.first.a.LoginUser
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	for {
		text, err := c.i.VM.Run(ctx, "sudo cat "+home+"/linger")
		if err == nil {
			said, err := parseAnswer(text)
			if err != nil {
				return err
			}
			return c.first.held(said)
		}
		select {
		case <-ctx.Done():
			status, _ := c.i.VM.Run(context.WithoutCancel(ctx), fmt.Sprintf("sudo journalctl -b --no-pager -n 30 _UID=%d; systemctl status --no-pager user@%d.service", c.first.a.UID, c.first.a.UID))
			return fmt.Errorf("the service said nothing: %w; %s", err, status)
		case <-time.After(2 * time.Second):
		}
	}
}

// reboot waits for another boot id, since the old system answers for a while.
func (c *checker) reboot(ctx context.Context) error {
	const bootID = "cat /proc/sys/kernel/random/boot_id"
	before, err := c.i.VM.Run(ctx, bootID)
	if err != nil {
		return err
	}
	_, _ = c.i.VM.Run(ctx, "sudo systemctl reboot") // the connection may break under it
	ctx, cancel := context.WithTimeout(ctx, 6*time.Minute)
	defer cancel()
	for {
		after, err := c.i.VM.Run(ctx, bootID)
		if err == nil && after != before {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the host does not come back: %w", errors.Join(ctx.Err(), err))
		case <-time.After(time.Second):
		}
	}
}

// replaceKeys has the allocate playbook run over a unit in use, with the keys that it has.
func (c *checker) replaceKeys(ctx context.Context) (job string, err error) {
	current, err := c.i.Client.GetAllocation(ctx, c.first.a.ID)
	if err != nil {
		return "", fmt.Errorf("read the allocation: %w", err)
	}
	_, job, err = c.i.Client.ReplaceKeys(ctx, current.ID, api.ReplaceKeys{SSHKeys: current.SSHKeys})
	if err != nil {
		return "", fmt.Errorf("replace the keys: %w", err)
	}
	return job, nil
}

// unchanged fails if a task of the job changed something.
func (c *checker) unchanged(ctx context.Context, job string) error {
	return c.changedNothing(ctx, job, func(api.LogEntry) bool { return true })
}

// changedNothing fails if a task changed something that is looked at.
func (c *checker) changedNothing(ctx context.Context, job string, looked func(api.LogEntry) bool) error {
	const page = 500
	var changed []string
	for after := int64(0); ; {
		log, err := c.i.Client.GetJobLog(ctx, job, after, page)
		if err != nil {
			return fmt.Errorf("read the job's log: %w", err)
		}
		for _, entry := range log.Items {
			if (entry.Changed || entry.Kind == "changed") && looked(entry) {
				changed = append(changed, entry.Task)
			}
		}
		if len(log.Items) == 0 {
			break
		}
		after = log.Items[len(log.Items)-1].Sequence
	}
	if len(changed) > 0 {
		return fmt.Errorf("the second run changed: %s", strings.Join(changed, ", "))
	}
	return nil
}

// takeover kills the backend that initializes the host again, with two tenants on it, somewhere in its play.
func (c *checker) takeover(ctx context.Context) error {
	_, id, err := c.i.Client.InitializeHost(ctx, c.i.Host.ID)
	if err != nil {
		return fmt.Errorf("initialize again: %w", err)
	}
	// Seventeen end with ok, five of them in bootstrap.yml; of what comes after the thirteenth all is done on the host.
	tasks := 1 + rand.IntN(13)
	c.i.stages.Note("its backend is killed after %d tasks", tasks)
	if err := c.takenOver(ctx, id, tasks); err != nil {
		return fmt.Errorf("kill its backend after %d tasks: %w", tasks, err)
	}
	return c.i.refresh(ctx)
}

// takenOver kills the backend of a job after so many tasks. It fails if no other one ends the job well, or if a task
// changed something.
func (c *checker) takenOver(ctx context.Context, id string, tasks int) error {
	worker, err := c.tasksDone(ctx, id, tasks)
	if err != nil {
		return err
	}
	c.i.workers[worker] = true
	if err := c.i.KillBackend(worker); err != nil {
		return err
	}
	if err := c.i.follow(ctx, id); err != nil {
		return err
	}
	job, err := c.i.Client.GetJob(ctx, id)
	if err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	if job.Attempt < 2 {
		return fmt.Errorf("nobody took over: it is still attempt %d", job.Attempt)
	}
	return c.unchanged(ctx, id)
}

// backendOf finds the backend that a job names as its worker, by its machine's name and its process id.
func (i *Installation) backendOf(worker string) (**Process, error) {
	for n, backend := range i.Backends {
		if strings.HasSuffix(worker, fmt.Sprintf("/%d", backend.PID)) {
			return &i.Backends[n], nil
		}
	}
	return nil, fmt.Errorf("%q is none of the backends", worker)
}

// KillBackend kills the backend that a job names as its worker, as a crash would, and starts it anew.
func (i *Installation) KillBackend(worker string) error {
	victim, err := i.backendOf(worker)
	if err != nil {
		return err
	}
	next, err := i.group.replace(*victim)
	if err == nil {
		*victim = next
	}
	return err
}

// tasksDone waits until so many tasks of the job have ended and returns who runs it.
func (c *checker) tasksDone(ctx context.Context, id string, tasks int) (worker string, err error) {
	for event, err := range c.i.Client.StreamJobLog(ctx, id, 0) {
		if err != nil {
			return "", fmt.Errorf("follow the job: %w", err)
		}
		if event.Log != nil && event.Log.Kind == "ok" {
			tasks--
		}
		if tasks == 0 {
			break
		}
	}
	return c.workerOf(ctx, id)
}

// workerOf names who runs a job, and fails if nobody does.
func (c *checker) workerOf(ctx context.Context, id string) (string, error) {
	job, err := c.i.Client.GetJob(ctx, id)
	if err != nil {
		return "", fmt.Errorf("read the job: %w", err)
	}
	if job.State != "running" {
		return "", fmt.Errorf("the job is %s: nobody runs it", job.State)
	}
	return job.Worker, nil
}

// shared looks who was seen doing jobs: a job names its backend only while it runs.
func (c *checker) shared(context.Context) error {
	if len(c.i.workers) < 2 {
		return fmt.Errorf("all jobs were done by %v", c.i.workers)
	}
	return nil
}

// inventory reaches the host with plain Ansible over the dynamic inventory, as somebody beside Kloigos would.
func (c *checker) inventory(ctx context.Context) error {
	key := c.i.path("id_admin")
	if err := os.WriteFile(key, c.i.VM.PrivateKey, 0o600); err != nil {
		return fmt.Errorf("write the administrator's key: %w", err)
	}
	if err := c.i.know(c.i.VM.SSHHost, c.i.VM.SSHPort, c.i.VM.HostKey); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "ansible", "-i", filepath.Join(c.i.options.Root, "inventory", "kloigos_inventory.py"),
		"region_demo:&state_ready:&label_kind_vm", "-m", "ansible.builtin.ping", "--private-key", key)
	cmd.Env = append([]string{
		"KLOIGOS_URL=" + c.i.Web, "KLOIGOS_TOKEN=" + c.i.Token, "KLOIGOS_CA=" + c.i.CAFile, "ANSIBLE_TIMEOUT=60",
		"ANSIBLE_SSH_ARGS=-F /dev/null -o UserKnownHostsFile=" + c.i.path("known_hosts"),
	}, c.i.env...)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("ansible over the dynamic inventory: %w: %s", err, output)
	}
	if !strings.Contains(string(output), hostName+" | SUCCESS") {
		return fmt.Errorf("ansible over the dynamic inventory met nobody: %s", output)
	}
	return nil
}
