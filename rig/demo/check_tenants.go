package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kloigos/backend/api"
)

func (c *checker) secondTenant(ctx context.Context) (err error) {
	if c.first, err = c.i.visit(ctx, c.i.Allocation, c.i.KeyFile); err != nil {
		return err
	}
	// Split here, so that it does not stand in the binary's own text as a whole.
	c.marker = strings.Join([]string{"kloigos", "marker", c.i.Allocation.ID}, "-")
	hostile, err := c.i.hostileKeys()
	if err != nil {
		return err
	}
	if c.second, err = c.newTenant(ctx, "bob", api.CreateAllocation{Host: c.i.Host.ID, CPUs: vmUnitCPUs, LoginUser: "bob", SSHKeys: hostile}); err != nil {
		return err
	}
	c.secondKeys = append([]string{c.second.public}, hostile...)
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
	request.SSHKeys = append([]string{public}, request.SSHKeys...)
	made, err := c.i.allocateTo(ctx, request)
	if err != nil {
		return visitor{}, err
	}
	v, err := c.i.visit(ctx, made, keyFile)
	v.public = public
	return v, err
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
	// More than there is: slowed down above memory.high and killed at memory.max, so it never gets there.
	grab := fmt.Sprintf(`timeout -s KILL 30 python3 -c 'x = bytearray(%d); print("got it", len(x))'`, c.second.unit.MemoryMaxBytes+(64<<20))
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

func (c *checker) deallocate(ctx context.Context) error {
	if c.first.a.ID == "" {
		return errNoGround
	}
	job, err := c.twice(ctx, "unit_deallocate", func() (string, error) {
		_, job, err := c.i.Client.Deallocate(ctx, c.first.a.ID, api.Deallocate{Confirm: c.first.a.LoginUser})
		return job, err
	}, func(api.LogEntry) bool { return false })
	if err != nil {
		return fmt.Errorf("deallocate: %w", err)
	}
	if c.ended, err = c.i.Client.GetAllocation(ctx, c.first.a.ID); err != nil {
		return fmt.Errorf("read the allocation: %w", err)
	}
	unit, err := c.i.Client.GetComputeUnit(ctx, c.first.unit.ID)
	if err != nil {
		return fmt.Errorf("read the unit: %w", err)
	}
	if c.ended.State != "deallocated" || unit.State != "free" || unit.WipedAt == nil || unit.Wipe == nil || unit.Wipe.JobID != job || unit.Wipe.LoginUser != c.first.a.LoginUser {
		return fmt.Errorf("the allocation is %s, its unit %s, the evidence %+v", c.ended.State, unit.State, unit.Wipe)
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
	c.next, err = c.planTenant(ctx, "carol", api.CreateAllocation{Unit: c.first.unit.ID, LoginUser: "carol"})
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
