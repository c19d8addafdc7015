package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"kloigos/backend/api"
	"kloigos/inventory/testhost"
)

// CheckLease is how long a job stays with a dead backend in a check: short, because one is killed on purpose.
const CheckLease = "15s"

// Check is one thing that must be so.
type Check struct {
	Name string
	Run  func(context.Context) error
}

// Checks are all checks, in an order in which each builds on those before it: tenants come in, the machine reboots, a
// backend dies, a tenant goes, another one comes.
func (i *Installation) Checks() []Check {
	c := &checker{i: i}
	checks := []Check{
		{"a second tenant gets the other unit", c.secondTenant},
		{"sftp: files go in and out, and the server is held like everything else", c.wayInSFTP},
		{"command: CPUs, memory, tasks, AppArmor, home on its volume, own source address and no other", c.wayInCommand},
		{"shell: the same with a terminal", c.wayInShell},
		{"user service: the same for what systemd --user starts", c.wayInService},
		{"cron and at: refused", c.cronAndAt},
		{"second tenant: sees nothing of the first", c.strangers},
		{"limits: more tasks and more memory than promised are refused, and the neighbour lives", c.limits},
		{"linger: after a reboot of the host the tenant's own service runs, held like before", c.afterReboot},
		{"after the reboot: logins, limits and addresses are as before", c.wayInCommand},
		{"keys: replacing them with the same changes nothing on the host", c.sameKeys},
		{"initialize again, its backend killed with -9: another one ends it, and nothing is changed", c.takeover},
		{"deallocate: the unit is given back", c.deallocate},
		{"deallocate: nothing of the tenant is left on the host", c.nothingLeft},
		{"deallocate: nobody logs in any more", c.lockedOut},
		{"allocate again: the next tenant gets the same unit", c.allocateAgain},
		{"allocate again: no byte of the first tenant is on the volume", c.noByteLeft},
		{"both backends did jobs", c.shared},
	}
	return checks
}

// Check runs all checks and prints a line for each. A check whose ground is gone fails with it.
func (i *Installation) Check(ctx context.Context) error {
	i.stages.Line("")
	checks := i.Checks()
	failed := 0
	for _, check := range checks {
		from := time.Now()
		err := check.Run(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed++
			i.stages.Line("FAIL  %s (%s): %s", check.Name, seconds(time.Since(from)), strings.ReplaceAll(err.Error(), "\n", "; "))
			continue
		}
		i.stages.Line("ok    %s (%s)", check.Name, seconds(time.Since(from)))
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d checks failed", failed, len(checks))
	}
	i.stages.Line("all %d checks passed, %s since the start", len(checks), seconds(i.stages.Took()))
	return nil
}

// checker is what the checks know of each other.
type checker struct {
	i             *Installation
	first, second visitor
	marker        string // bytes that only the first tenant ever wrote
	ended         api.Allocation
	next          visitor
}

var errNoGround = errors.New("a check before this one failed, on which it builds")

func (c *checker) secondTenant(ctx context.Context) (err error) {
	if c.first, err = c.i.visit(ctx, c.i.Allocation, c.i.KeyFile); err != nil {
		return err
	}
	// Split here, so that it does not stand in the binary's own text as a whole.
	c.marker = strings.Join([]string{"kloigos", "marker", c.i.Allocation.ID}, "-")
	if c.second, err = c.newTenant(ctx, "bob", api.CreateAllocation{Host: c.i.Host.ID, LoginUser: "bob"}); err != nil {
		return err
	}
	if c.second.unit.ID == c.first.unit.ID || c.second.a.UID == c.first.a.UID || c.second.a.Address == c.first.a.Address {
		return errors.New("both tenants have the same unit, UID or address")
	}
	return nil
}

func (c *checker) newTenant(ctx context.Context, name string, request api.CreateAllocation) (visitor, error) {
	keyFile := c.i.path("id_" + name)
	public, err := makeKey(keyFile, name)
	if err != nil {
		return visitor{}, err
	}
	request.SSHKeys = []string{public}
	made, err := c.i.allocateTo(ctx, request)
	if err != nil {
		return visitor{}, err
	}
	return c.i.visit(ctx, made, keyFile)
}

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
		// What must fail stands last: a batch ends with its first failure.
		if _, err := v.sftp(ctx, batch); err != nil {
			return err
		}
		if err := heldServer(v, dir); err != nil {
			return fmt.Errorf("%s: %w", v.a.LoginUser, err)
		}
		for _, closed := range []string{"/etc/kloigos/units", "/etc/shadow", "/etc/systemd/system"} {
			if _, err := v.sftp(ctx, "ls "+closed+"/\n"); err == nil {
				return fmt.Errorf("%s lists %s", v.a.LoginUser, closed)
			}
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
	port, stop, err := listen(ctx)
	if err != nil {
		return question{}, nil, err
	}
	return question{
		Way: way, Target: fmt.Sprintf("%s:%d", c.i.Host.Facts.Uplink.Gateway, port), Target6: fmt.Sprintf("[fec0::2]:%d", port),
		Others: []string{testhost.GuestAddress, other.a.Address},
		Paths: []string{
			other.unit.Mount, other.unit.Mount + "/home/" + other.a.LoginUser, "/etc/kloigos/keys/" + other.a.LoginUser,
			fmt.Sprintf("/run/user/%d", other.a.UID), fmt.Sprintf("/sys/fs/cgroup/user.slice/user-%d.slice/cgroup.procs", other.a.UID),
			"/etc/shadow", "/etc/kloigos/units", "/root",
		},
	}, stop, nil
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

// strangers: the second tenant looks for anything of the first, who has files everywhere and a process running.
func (c *checker) strangers(ctx context.Context) error {
	if c.second.a.ID == "" {
		return errNoGround
	}
	if err := c.search(ctx, c.second); err != nil {
		return err
	}
	seen, err := c.second.ssh(ctx, "", false, "ps -ef; ls -la / /home /mnt /tmp /var/tmp /dev/shm /run /run/user 2>/dev/null; w -h 2>/dev/null; true")
	if err == nil && (strings.Contains(seen, c.first.a.LoginUser) || strings.Contains(seen, fmt.Sprint(c.first.a.UID))) {
		err = fmt.Errorf("sees the first tenant in %q", seen)
	}
	return err
}

// search reads all that a tenant can read, but the system itself, for the first tenant's marker.
func (c *checker) search(ctx context.Context, v visitor) error {
	found, err := v.ssh(ctx, "", false,
		"grep -rslF -- "+c.marker+" ~ /tmp /var/tmp /dev/shm /home /mnt /run /srv /var/mail /var/log /etc/kloigos 2>/dev/null; test $? -ne 0 && echo searched")
	if err != nil {
		return fmt.Errorf("found: %s: %w", found, err)
	}
	if strings.TrimSpace(found) != "searched" {
		return fmt.Errorf("%s finds the first tenant's bytes in %s", v.a.LoginUser, found)
	}
	return nil
}

// limits: what goes over a limit is stopped by the kernel, and the other tenant does not notice.
func (c *checker) limits(ctx context.Context) error {
	if c.second.a.ID == "" {
		return errNoGround
	}
	// More than there is: killed, with a non-zero end. The script is small so that the shell itself survives.
	grab := fmt.Sprintf(`python3 -c 'x = bytearray(%d); print("got it", len(x))'`, c.second.unit.MemoryMaxBytes+(64<<20))
	if said, err := c.second.ssh(ctx, "", false, grab); err == nil {
		return fmt.Errorf("more memory than promised: %s", said)
	}
	fork := fmt.Sprintf(`python3 -c '
import os, signal
made = []
try:
    for _ in range(%d):
        pid = os.fork()
        if pid == 0:
            signal.pause()
        made.append(pid)
    print("unlimited")
except OSError as error:
    print("stopped at", len(made))
for pid in made:
    os.kill(pid, 9)
'`, c.second.unit.TasksMax+50)
	said, err := c.second.ssh(ctx, "", false, fork)
	if err != nil {
		return err
	}
	if !strings.Contains(said, "stopped at") {
		return fmt.Errorf("%d tasks are %s", c.second.unit.TasksMax+50, strings.TrimSpace(said))
	}
	_, err = c.first.ssh(ctx, "", false, "true")
	return err
}

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

// sameKeys runs the allocate playbook a second time, over a unit in use.
func (c *checker) sameKeys(ctx context.Context) error {
	if c.first.a.ID == "" {
		return errNoGround
	}
	current, err := c.i.Client.GetAllocation(ctx, c.first.a.ID)
	if err != nil {
		return fmt.Errorf("read the allocation: %w", err)
	}
	_, job, err := c.i.Client.ReplaceKeys(ctx, current.ID, api.ReplaceKeys{SSHKeys: current.SSHKeys})
	if err != nil {
		return fmt.Errorf("replace the keys: %w", err)
	}
	if err := c.i.follow(ctx, job); err != nil {
		return err
	}
	return c.unchanged(ctx, job)
}

// unchanged fails if a task of the job changed something.
func (c *checker) unchanged(ctx context.Context, job string) error {
	const page = 500
	var changed []string
	for after := int64(0); ; {
		log, err := c.i.Client.GetJobLog(ctx, job, after, page)
		if err != nil {
			return fmt.Errorf("read the job's log: %w", err)
		}
		for _, entry := range log.Items {
			if entry.Changed || entry.Kind == "changed" {
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

// takeover kills the backend that initializes the host again, with two tenants on it.
func (c *checker) takeover(ctx context.Context) error {
	_, id, err := c.i.Client.InitializeHost(ctx, c.i.Host.ID)
	if err != nil {
		return fmt.Errorf("initialize again: %w", err)
	}
	worker, err := c.firstTask(ctx, id)
	if err != nil {
		return err
	}
	// A backend's name ends with its process id (host name, process id).
	victim := -1
	for n, backend := range c.i.Backends {
		if strings.Contains(worker, fmt.Sprint(backend.PID)) {
			victim = n
		}
	}
	if victim < 0 {
		return fmt.Errorf("job %s runs on %q, which is none of the two backends", id, worker)
	}
	if err := c.i.group.replace(c.i.Backends[victim]); err != nil {
		return err
	}
	if err := c.i.follow(ctx, id); err != nil {
		return err
	}
	job, err := c.i.Client.GetJob(ctx, id)
	if err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	if job.Attempt < 2 || job.Worker == worker {
		return fmt.Errorf("nobody took over: attempt %d on %s", job.Attempt, job.Worker)
	}
	if err := c.unchanged(ctx, id); err != nil {
		return err
	}
	return c.i.refresh(ctx)
}

// firstTask waits until a task of the job has ended and returns who runs it.
func (c *checker) firstTask(ctx context.Context, id string) (worker string, err error) {
	for event, err := range c.i.Client.StreamJobLog(ctx, id, 0) {
		if err != nil {
			return "", fmt.Errorf("follow the job: %w", err)
		}
		if event.Log != nil && event.Log.Kind == "ok" {
			break
		}
	}
	job, err := c.i.Client.GetJob(ctx, id)
	if err != nil {
		return "", fmt.Errorf("read the job: %w", err)
	}
	if job.State != "running" {
		return "", fmt.Errorf("the job is %s before anybody could be killed", job.State)
	}
	return job.Worker, nil
}

func (c *checker) deallocate(ctx context.Context) error {
	if c.first.a.ID == "" {
		return errNoGround
	}
	_, job, err := c.i.Client.Deallocate(ctx, c.first.a.ID, api.Deallocate{Confirm: c.first.a.LoginUser})
	if err != nil {
		return fmt.Errorf("deallocate: %w", err)
	}
	if err := c.i.follow(ctx, job); err != nil {
		return err
	}
	if c.ended, err = c.i.Client.GetAllocation(ctx, c.first.a.ID); err != nil {
		return fmt.Errorf("read the allocation: %w", err)
	}
	unit, err := c.i.Client.GetComputeUnit(ctx, c.first.unit.ID)
	if err != nil {
		return fmt.Errorf("read the unit: %w", err)
	}
	if c.ended.State != "deallocated" || unit.State != "free" || unit.WipedAt == nil || len(unit.Wipe) == 0 {
		return fmt.Errorf("the allocation is %s, its unit %s, the evidence %q", c.ended.State, unit.State, unit.Wipe)
	}
	return nil
}

type leftoverQuestion struct {
	UID     int64  `json:"uid"`
	User    string `json:"user"`
	Unit    string `json:"unit"`
	Address string `json:"address"`
	Device  string `json:"device,omitempty"`
	Marker  string `json:"marker,omitempty"`
}

func (c *checker) nothingLeft(ctx context.Context) error {
	if c.ended.ID == "" {
		return errNoGround
	}
	return c.leftovers(ctx, leftoverQuestion{UID: c.first.a.UID, User: c.first.a.LoginUser, Unit: c.first.unit.Name, Address: c.first.a.Address})
}

func (c *checker) leftovers(ctx context.Context, q leftoverQuestion) error {
	said, err := c.i.onHost(ctx, leftoversScript, q)
	if err != nil {
		return err
	}
	if said = strings.TrimSpace(said); said != "" {
		return fmt.Errorf("left on the host: %s", said)
	}
	return nil
}

func (c *checker) lockedOut(ctx context.Context) error {
	if c.ended.ID == "" {
		return errNoGround
	}
	// At the host's own port: nothing answers at the unit's address any more.
	gone := c.first
	gone.a.SSHHost, gone.a.SSHPort = c.i.VM.SSHHost, c.i.VM.SSHPort
	if err := c.i.knowHost(gone.a); err != nil {
		return err
	}
	said, err := gone.ssh(ctx, "", false, "id")
	if err == nil {
		return fmt.Errorf("the key still logs in: %s", said)
	}
	if !strings.Contains(err.Error(), "Permission denied") {
		return fmt.Errorf("not refused but broken: %w", err)
	}
	return nil
}

func (c *checker) allocateAgain(ctx context.Context) (err error) {
	if c.ended.ID == "" {
		return errNoGround
	}
	c.next, err = c.newTenant(ctx, "carol", api.CreateAllocation{Unit: c.first.unit.ID, LoginUser: "carol"})
	if err != nil {
		return err
	}
	if c.next.unit.ID != c.first.unit.ID || c.next.a.UID == c.first.a.UID {
		return fmt.Errorf("unit %s, UID %d: not the same unit with a new UID", c.next.unit.Name, c.next.a.UID)
	}
	return nil
}

// noByteLeft looks from inside, file by file, and from the host, byte by byte.
func (c *checker) noByteLeft(ctx context.Context) error {
	if c.next.a.ID == "" {
		return errNoGround
	}
	if err := c.search(ctx, c.next); err != nil {
		return err
	}
	volume := c.first.unit.Name[strings.LastIndex(c.first.unit.Name, "-")+1:]
	return c.leftovers(ctx, leftoverQuestion{
		UID: c.first.a.UID, User: c.first.a.LoginUser, Unit: "gone", Address: "0.0.0.0",
		Device: "/dev/" + c.i.Host.Layout.VolumeGroup + "/" + volume, Marker: c.marker,
	})
}

// shared looks who did the jobs.
func (c *checker) shared(ctx context.Context) error {
	workers := make(map[string]int)
	for job, err := range c.i.Client.AllJobs(ctx, api.JobFilter{}) {
		if err != nil {
			return fmt.Errorf("list the jobs: %w", err)
		}
		if job.Worker != "" {
			workers[job.Worker]++
		}
	}
	if len(workers) < replicas {
		return fmt.Errorf("all jobs were done by %v", workers)
	}
	return nil
}
