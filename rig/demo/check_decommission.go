package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
)

// decommission gives back what is still allocated, and takes Kloigos off the host, just as the plans of it showed.
func (c *checker) decommission(ctx context.Context) error {
	if err := c.deallocateAll(ctx); err != nil {
		return err
	}
	plan, job, err := c.i.Client.PlanDecommissionHost(ctx, c.i.Host.ID)
	if err != nil {
		return fmt.Errorf("plan to decommission: %w", err)
	}
	if plan, err = c.planned(ctx, plan, job); err != nil {
		return err
	}
	if err := showsRemovals(plan, "volume group kloigos-vg", "file /usr/local/lib/kloigos/fence-python", "file /etc/ssh/sshd_config.d/50-kloigos.conf"); err != nil {
		return err
	}
	_, err = c.twice(ctx, "host_decommission", func() (string, error) {
		_, job, err := c.i.Client.DecommissionHost(ctx, c.i.Host.ID, client.AsPlanned(plan.ID))
		return job, err
	}, ofTheFence)
	if err != nil {
		return fmt.Errorf("decommission: %w", err)
	}
	return c.i.refresh(ctx)
}

// deallocateAll gives back what is still allocated, the first one as planned.
func (c *checker) deallocateAll(ctx context.Context) error {
	var jobs []string
	var bound []client.Option
	for a, err := range c.i.Client.AllAllocations(ctx, api.AllocationFilter{Host: c.i.Host.ID, State: "live"}) {
		if err != nil {
			return fmt.Errorf("list the allocations: %w", err)
		}
		if len(jobs) == 0 {
			plan, job, err := c.i.Client.PlanDeallocate(ctx, a.ID, api.Deallocate{Confirm: a.LoginUser})
			if err != nil {
				return fmt.Errorf("plan to deallocate %s: %w", a.LoginUser, err)
			}
			if plan, err = c.planned(ctx, plan, job); err != nil {
				return err
			}
			if err := showsRemovals(plan, "user "+a.LoginUser, "group "+a.LoginUser, "file "+keysOf(a)); err != nil {
				return err
			}
			bound = []client.Option{client.AsPlanned(plan.ID)}
		}
		_, job, err := c.i.Client.Deallocate(ctx, a.ID, api.Deallocate{Confirm: a.LoginUser}, bound...)
		if err != nil {
			return fmt.Errorf("deallocate %s: %w", a.LoginUser, err)
		}
		jobs, bound = append(jobs, job), nil
	}
	for _, job := range jobs {
		if err := c.i.follow(ctx, job); err != nil {
			return err
		}
	}
	return nil
}

// ofTheFence tells a task that brings the fence or takes it away. The first run of a decommission ends with taking it
// away, so that a second one has to bring it back to run at all.
func ofTheFence(entry api.LogEntry) bool {
	return entry.Role == "host_bootstrap" || entry.Task == "Remove the fence"
}

// What may carry our name on a decommissioned host: the administrator's key, logs, and what LVM and systemd remember of
// the running system until the next boot (a flag in /run/lvm, the empty slice of a template's instances).
const oursOnTheHost = `sudo sh -c '
find /etc /usr /var/lib /mnt /run /root -xdev -iname "*kloigos*" -not -path "/run/udev/*" -not -path "/run/lvm/*" 2>/dev/null
nft list tables | grep kloigos
vgs --noheadings -o vg_name 2>/dev/null | grep kloigos
getent passwd | grep -E "/mnt/kloigos|kloigos" ; getent group | grep kloigos
systemctl list-unit-files --no-legend | grep kloigos ; systemctl list-units --no-legend --type=service,mount | grep kloigos ; findmnt -rn | grep kloigos
grep -rl kloigos /etc/pam.d /etc/ssh /etc/security /etc/apparmor.d 2>/dev/null
cat /sys/fs/cgroup/system.slice/cpuset.cpus'
true`

// clean looks on the host that nothing of Kloigos is left, and takes it out of the list.
func (c *checker) clean(ctx context.Context) error {
	if c.i.Host.State != "decommissioned" {
		return errNoGround
	}
	said, err := c.i.VM.Run(ctx, oursOnTheHost)
	if err != nil {
		return err
	}
	if left := strings.TrimSpace(said); left != "" {
		return fmt.Errorf("left on the host: %s", strings.ReplaceAll(left, "\n", ", "))
	}
	if err := c.i.Client.RemoveHost(ctx, c.i.Host.ID); err != nil {
		return fmt.Errorf("remove the host: %w", err)
	}
	for h, err := range c.i.Client.AllHosts(ctx, api.HostFilter{}) {
		if err != nil {
			return fmt.Errorf("list the hosts: %w", err)
		}
		if h.ID == c.i.Host.ID {
			return errors.New("the host is still listed")
		}
	}
	return nil
}

// keysOf is the file with the keys of an allocation's tenant.
func keysOf(a api.Allocation) string {
	if a.UnitNetwork == "unit" {
		return "/etc/kloigos/unit-keys/" + a.LoginUser
	}
	return "/etc/kloigos/keys/" + a.LoginUser
}
