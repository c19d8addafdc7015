package demo

import (
	"context"
	"fmt"
	"strings"

	"kloigos/backend/api"
)

// use: what a tenant does is what is measured of him, and not of his neighbour.
func (c *checker) use(ctx context.Context) (err error) {
	if c.second.a.ID == "" {
		return errNoGround
	}
	const file = 64 << 20
	begin := fmt.Sprintf("head -c %d /dev/zero > ~/measured && sync ~/measured; nohup timeout 300 sh -c 'while :; do :; done' > /dev/null 2>&1 & echo $!", file)
	pid, err := c.second.ssh(ctx, "", false, begin)
	if err != nil {
		return fmt.Errorf("make a tenant busy: %w", err)
	}
	defer func() {
		if _, ended := c.second.ssh(ctx, "", false, "kill "+strings.TrimSpace(pid)+"; rm ~/measured"); err == nil && ended != nil {
			err = fmt.Errorf("let him rest: %w", ended)
		}
	}()
	busy, idle, err := c.measureBoth(ctx, 2)
	if err != nil {
		return err
	}
	switch whole := int64(c.second.unit.CPUCount) * 1000; {
	case *busy.CPUMillis < 500 || *busy.CPUMillis > whole*11/10:
		return fmt.Errorf("a tenant who keeps one CPU busy uses %d thousandths", *busy.CPUMillis)
	case *idle.CPUMillis > 500:
		return fmt.Errorf("his neighbour, who does nothing, uses %d thousandths", *idle.CPUMillis)
	case *busy.DiskUsedBytes < file || *busy.DiskUsedBytes > *busy.DiskBytes || *busy.DiskBytes > c.second.unit.VolumeBytes:
		return fmt.Errorf("with a file of %d bytes, %d bytes of %d are used", file, *busy.DiskUsedBytes, *busy.DiskBytes)
	case *idle.DiskUsedBytes >= *busy.DiskUsedBytes:
		return fmt.Errorf("his neighbour's volume has %d bytes on it, and his %d", *idle.DiskUsedBytes, *busy.DiskUsedBytes)
	}
	return nil
}

// trafficMeasured: the figures before it sent and received a lot over the link of the second unit.
func (c *checker) trafficMeasured(ctx context.Context) error {
	if c.second.a.ID == "" {
		return errNoGround
	}
	second, first, err := c.measureBoth(ctx, 1)
	if err != nil {
		return err
	}
	const least = 8 << 20
	switch {
	case second.ReceivedBytes == nil || *second.ReceivedBytes+*second.SentBytes < least:
		return fmt.Errorf("of the second unit %+v was measured", second)
	case first.ReceivedBytes != nil:
		return fmt.Errorf("of the first unit, which has no network of its own, %+v was measured", first)
	}
	return nil
}

// trafficOfTransfer sends a lot over the link of the second unit before it is measured.
func (c *checker) trafficOfTransfer(ctx context.Context) error {
	if c.second.a.ID == "" {
		return errNoGround
	}
	const sent = 12 << 20
	said, err := c.second.ssh(ctx, "", false, fmt.Sprintf("head -c %d /dev/zero", sent))
	if err != nil {
		return err
	}
	if len(said) != sent {
		return fmt.Errorf("%d bytes came out of the unit, not %d", len(said), sent)
	}
	return c.trafficMeasured(ctx)
}

// measureBoth measures the host, and returns what the second and the first tenant use.
func (c *checker) measureBoth(ctx context.Context, samples int) (second, first api.Use, err error) {
	_, job, err := c.i.Client.MeasureHost(ctx, c.i.Host.ID, samples)
	if err != nil {
		return second, first, fmt.Errorf("measure: %w", err)
	}
	if err := c.i.follow(ctx, job); err != nil {
		return second, first, err
	}
	if second, err = c.measured(ctx, c.second); err != nil {
		return second, first, err
	}
	first, err = c.measured(ctx, c.first)
	return second, first, err
}

// measured is what was measured of a tenant, all of it.
func (c *checker) measured(ctx context.Context, v visitor) (api.Use, error) {
	a, err := c.i.Client.GetAllocation(ctx, v.a.ID)
	if err != nil {
		return api.Use{}, fmt.Errorf("read the allocation: %w", err)
	}
	u := a.Use
	if u == nil || u.CPUMillis == nil || u.DiskBytes == nil {
		return api.Use{}, fmt.Errorf("%s was not measured: %+v", a.LoginUser, u)
	}
	if *u.MemoryBytes <= 0 || *u.MemoryBytes > a.MemoryBytes || *u.Processes < 1 || *u.Processes > int64(a.TasksMax) {
		return api.Use{}, fmt.Errorf("%s uses %d of %d bytes of memory and %d of %d processes", a.LoginUser, *u.MemoryBytes, a.MemoryBytes, *u.Processes, a.TasksMax)
	}
	return *u, nil
}
