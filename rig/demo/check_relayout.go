package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
)

// asksNeighbour says all that a relayout must not touch of a unit in use: its slice's properties as systemd has them and
// as the kernel has them, its mount, and its process with the time at which that began.
const asksNeighbour = `sudo sh -c '
systemctl show --property=AllowedCPUs,AllowedMemoryNodes,MemoryMax,MemoryHigh,TasksMax,ActiveEnterTimestampMonotonic -- user-%[1]d.slice
cd /sys/fs/cgroup/user.slice/user-%[1]d.slice && grep -H . cpuset.cpus cpuset.cpus.effective cpuset.mems memory.max memory.high pids.max
findmnt -rno TARGET,SOURCE,FSTYPE,OPTIONS %[2]s
ps -o pid=,lstart=,args= -u %[1]d | grep "[s]leep 86399"'`

// asksNetwork says what a relayout must not touch of a unit's own network: its addresses and routes inside, the host's end of
// the pair, its route, its rule and its name servers.
const asksNetwork = `
sudo sh -c '
ip -n kloigos-%[2]s -o address; ip -n kloigos-%[2]s route; ip -o link show klu%[1]d
ip route show table 1263292233 | grep klu%[1]d; ip rule | grep klu%[1]d; cat /run/kloigos/resolv/%[2]s
systemctl show --property=ActiveEnterTimestampMonotonic -- kloigos-sshd@%[2]s.service kloigos-net@%[2]s.service'`

// relaidOut lays the free unit's CPUs out anew beside the first one, which is in use, and looks at that on the host.
func (c *checker) relaidOut(ctx context.Context) (err error) {
	if c.first, err = c.i.visit(ctx, c.i.Allocation, c.i.KeyFile); err != nil {
		return err
	}
	return c.relayoutBeside(ctx, c.first, "")
}

// relaidOutBesideNetwork does it beside the second unit, which has a network of its own, after the first became free.
func (c *checker) relaidOutBesideNetwork(ctx context.Context) error {
	if c.second.a.ID == "" {
		return errNoGround
	}
	return c.relayoutBeside(ctx, c.second, fmt.Sprintf(asksNetwork, c.second.a.UID, c.second.unit.Name))
}

// relayoutBeside lays the free unit's CPUs out anew beside the unit of stays. What command also says of that unit on the host
// must be the same afterwards.
func (c *checker) relayoutBeside(ctx context.Context, stays visitor, command string) error {
	free, err := c.i.Client.ListComputeUnits(ctx, api.UnitFilter{Host: c.i.Host.ID, State: "free"})
	if err != nil {
		return fmt.Errorf("list the units: %w", err)
	}
	if len(free.Items) != 1 {
		return fmt.Errorf("%d units are free, not one", len(free.Items))
	}
	old := free.Items[0]
	if _, err := stays.ssh(ctx, "", false, "systemd-run --user --quiet --unit=kloigos-check-relayout sleep 86399"); err != nil {
		return err
	}
	ask := fmt.Sprintf(asksNeighbour, stays.a.UID, stays.unit.Mount) + command
	before, err := c.i.VM.Run(ctx, ask)
	if err != nil {
		return fmt.Errorf("look at the neighbour: %w", err)
	}
	for _, seen := range []string{"AllowedCPUs=", "cpuset.cpus.effective:" + stays.unit.CPUs + "\n", stays.unit.Mount + " ", "sleep 86399"} {
		if !strings.Contains(before, seen) {
			return fmt.Errorf("of the neighbour %q is not to be seen: %s", seen, before)
		}
	}
	layout := api.SetLayout{Units: []api.SetUnit{{CPUs: old.CPUs, VolumeBytes: old.VolumeBytes}}}
	plan, job, err := c.i.Client.PlanRelayoutHost(ctx, c.i.Host.ID, layout)
	if err != nil {
		return fmt.Errorf("plan to lay out anew: %w", err)
	}
	if plan, err = c.planned(ctx, plan, job); err != nil {
		return err
	}
	if err := showsVolumes(plan, old, stays.unit); err != nil {
		return err
	}
	_, job, err = c.i.Client.RelayoutHost(ctx, c.i.Host.ID, layout, client.AsPlanned(plan.ID))
	if err != nil {
		return fmt.Errorf("lay out anew: %w", err)
	}
	if err := c.i.follow(ctx, job); err != nil {
		return err
	}
	after, err := c.i.VM.Run(ctx, ask)
	if err != nil {
		return fmt.Errorf("look at the neighbour: %w", err)
	}
	if before != after {
		return fmt.Errorf("the neighbour was touched:\n%s\nis now\n%s", before, after)
	}
	left, err := c.i.VM.Run(ctx, fmt.Sprintf("sudo sh -c 'lvs --noheadings -o lv_name; findmnt -rno TARGET; ls /etc/systemd/system' | grep -wE 'cu%02d(\\.mount)?' || true", old.Ordinal))
	if err != nil {
		return err
	}
	if left = strings.TrimSpace(left); left != "" {
		return fmt.Errorf("of the unit that was replaced there is still %s", strings.ReplaceAll(left, "\n", ", "))
	}
	if free, err = c.i.Client.ListComputeUnits(ctx, api.UnitFilter{Host: c.i.Host.ID, State: "free"}); err != nil {
		return fmt.Errorf("list the units: %w", err)
	}
	if len(free.Items) != 1 || free.Items[0].Ordinal <= old.Ordinal || free.Items[0].CPUs != old.CPUs {
		return errors.New("there is not one new unit with another number on the same CPUs")
	}
	if _, err := stays.ssh(ctx, "", false, "systemctl --user stop kloigos-check-relayout"); err != nil {
		return err
	}
	return c.i.refresh(ctx)
}

// showsVolumes fails if the plan of a new layout does not show the volume that goes and the one that comes, or shows one
// that stays.
func showsVolumes(plan api.Plan, goes, stays api.ComputeUnit) error {
	var comes, removed bool
	next := max(goes.Ordinal, stays.Ordinal) + 1 // no number is given twice
	for _, c := range plan.Changes {
		volume := c.Kind == "volume" || c.Kind == "logical volume"
		switch {
		case strings.Contains(c.Name, stays.Mount), volume && strings.HasSuffix(c.Name, fmt.Sprintf("cu%02d", stays.Ordinal)):
			return fmt.Errorf("the plan would touch the unit that stays: %s %s %s", c.Action, c.Kind, c.Name)
		case volume && c.Action == "remove" && strings.HasSuffix(c.Name, fmt.Sprintf("cu%02d", goes.Ordinal)):
			removed = true
		case volume && c.Action == "create" && strings.HasSuffix(c.Name, fmt.Sprintf("cu%02d", next)):
			comes = true
		}
	}
	if !comes || !removed {
		var all []string
		for _, c := range plan.Changes {
			all = append(all, c.Action+" "+c.Kind+" "+c.Name)
		}
		return fmt.Errorf("the plan does not show both volumes: %s", strings.Join(all, ", "))
	}
	return nil
}
