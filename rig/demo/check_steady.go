package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"kloigos/backend/api"
)

const (
	// deliveredWithin bounds a delivery to one host: heartbeats every 10 s, emulation, a host that was just rebooted.
	deliveredWithin = 6 * time.Minute
	// repairedWithin is the promise: a limit that was changed by hand is back within two minutes.
	repairedWithin = 2 * time.Minute
	lookPause      = 2 * time.Second
	// noQuota lifts the CPU quota of the agent where the host is emulated: a tenth of such a CPU is a hundredth of a real one.
	noQuota   = "/run/systemd/system/kloigosagent.slice.d/emulation.conf"
	liftQuota = "sudo sh -ec 'mkdir -p $(dirname " + noQuota + "); printf \"[Slice]\\nCPUQuota=\\n\" >" + noQuota + "; systemctl daemon-reload'"
)

// steady tells whether updates of the agent and the repair of drift are checked too. They take some four minutes, and an agent that
// has a core of its own: on a machine that others keep busy, an emulated one is too slow for its own time limits.
func steady() bool { return os.Getenv("KLOIGOS_CHECK_STEADY") != "" }

// until asks until the answer is yes. The last reason is in the error.
func until(ctx context.Context, limit time.Duration, ask func(context.Context) (done bool, state string, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	state := ""
	for {
		done, now, err := ask(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			return err
		case err == nil && done:
			return nil
		case err == nil:
			state = now
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %s: %s", limit, state)
		case <-time.After(lookPause):
		}
	}
}

// deliver offers a version of the agent to the host.
func (c *checker) deliver(version string) func(context.Context) error {
	return func(ctx context.Context) error {
		if c.i.VM.Accelerator != "kvm" {
			if _, err := c.i.VM.Run(ctx, liftQuota); err != nil {
				return err
			}
		}
		gap := 0
		_, err := c.i.Client.CreateUpdateDelivery(ctx, api.CreateUpdateDelivery{
			Name: deliveryOf(version), AgentVersion: version, DeliveryPlan: api.DeliveryPlan{Canaries: []string{c.i.Host.Name}, GapSeconds: &gap},
		})
		if err != nil {
			return fmt.Errorf("offer %s: %w", version, err)
		}
		return nil
	}
}

func deliveryOf(version string) string { return "agent-" + strings.TrimPrefix(version, "v") }

// awaitDelivery waits until a delivery is in a state.
func (c *checker) awaitDelivery(ctx context.Context, version, state string) error {
	return until(ctx, deliveredWithin, func(ctx context.Context) (bool, string, error) {
		d, err := c.i.Client.GetUpdateDelivery(ctx, deliveryOf(version))
		if err != nil {
			return false, "", fmt.Errorf("read the delivery: %w", err)
		}
		return d.State == state, fmt.Sprintf("the delivery is %s, not %s: %s", d.State, state, d.Reason), nil
	})
}

// agentRuns compares what the agent reports with what runs on the host.
func (c *checker) agentRuns(ctx context.Context, version string) error {
	page, err := c.i.Client.ListAgents(ctx, api.AgentFilter{Host: c.i.Host.Name})
	if err != nil {
		return fmt.Errorf("list agents: %w", err)
	}
	if len(page.Items) != 1 || page.Items[0].AgentVersion != version {
		return fmt.Errorf("the agents of the host are %+v; one of %s was expected", page.Items, version)
	}
	out, err := c.i.VM.Run(ctx, `sudo sh -c 'for p in $(cat /sys/fs/cgroup/$(systemctl show --value --property ControlGroup kloigos-agent.service)/cgroup.procs); do readlink /proc/$p/exe; done'`)
	if err != nil {
		return err
	}
	if !strings.Contains(out, "/"+version+"/") {
		return fmt.Errorf("the service runs %s", strings.TrimSpace(out))
	}
	return nil
}

// updated sees that the host runs the second build.
func (c *checker) updated(ctx context.Context) error {
	if err := c.awaitDelivery(ctx, goodAgent, "done"); err != nil {
		return err
	}
	return c.agentRuns(ctx, goodAgent)
}

// wentBack checks what a build does that ends at once: its delivery is halted, and the host runs the build before.
func (c *checker) wentBack(ctx context.Context) error {
	if err := c.awaitDelivery(ctx, endingAgent, "halted"); err != nil {
		return err
	}
	if err := c.agentRuns(ctx, goodAgent); err != nil {
		return err
	}
	page, err := c.i.Client.ListDeliveryTargets(ctx, api.DeliveryTargetFilter{Delivery: deliveryOf(endingAgent), State: "failed"})
	if err != nil {
		return fmt.Errorf("list the hosts of the delivery: %w", err)
	}
	if len(page.Items) != 1 || !strings.Contains(page.Items[0].Reason, "ended by itself") {
		return fmt.Errorf("the failed hosts of the delivery are %+v", page.Items)
	}
	if _, err := c.i.Client.RollBackUpdateDelivery(ctx, deliveryOf(endingAgent)); err != nil {
		return fmt.Errorf("roll back: %w", err)
	}
	if err := c.awaitDelivery(ctx, endingAgent, "returned"); err != nil {
		return err
	}
	_, err = c.i.VM.Run(ctx, "sudo sh -ec 'rm -rf "+filepath.Dir(noQuota)+"; systemctl daemon-reload'")
	return err
}

// drift changes the limits of a unit's slice by hand and waits for the repair, which nobody asks for.
func (c *checker) drift(ctx context.Context) (err error) {
	v, err := c.i.visit(ctx, c.i.Allocation, c.i.KeyFile)
	if err != nil {
		return err
	}
	slice := fmt.Sprintf("user-%d.slice", v.a.UID)
	if _, err := c.i.Client.SetDriftMode(ctx, api.SetDriftMode{Scope: "unit", Name: v.unit.ID, Mode: "repair"}); err != nil {
		return fmt.Errorf("have drift repaired: %w", err)
	}
	defer func() { // later checks change things by hand too
		_, back := c.i.Client.SetDriftMode(ctx, api.SetDriftMode{Scope: "unit", Name: v.unit.ID, Mode: "observe"})
		err = errors.Join(err, back)
	}()
	promised, wrong := strconv.Itoa(v.unit.TasksMax), strconv.Itoa(v.unit.TasksMax*3)
	if _, err := c.i.VM.Run(ctx, "sudo systemctl set-property "+slice+" TasksMax="+wrong); err != nil {
		return err
	}
	changed := time.Now()
	read := "cat /sys/fs/cgroup/user.slice/" + slice + "/pids.max"
	if now, err := c.i.VM.Run(ctx, read); err != nil || strings.TrimSpace(now) != wrong {
		return errors.Join(err, fmt.Errorf("the change by hand has no effect: pids.max is %s", strings.TrimSpace(now)))
	}
	err = until(ctx, 3*repairedWithin, func(ctx context.Context) (bool, string, error) {
		now, err := c.i.VM.Run(ctx, read)
		return strings.TrimSpace(now) == promised, "pids.max is " + strings.TrimSpace(now), err
	})
	if err != nil {
		return err
	}
	if took := time.Since(changed); took > repairedWithin {
		return fmt.Errorf("the limit was back after %s only", seconds(took))
	}
	return c.driftRecorded(ctx, v.unit.ID, promised, wrong)
}

// driftRecorded checks the record of the repair: the value, the times, the job and the events.
func (c *checker) driftRecorded(ctx context.Context, unit, promised, wrong string) error {
	var d api.Drift
	err := until(ctx, repairedWithin, func(ctx context.Context) (bool, string, error) {
		page, err := c.i.Client.ListDrifts(ctx, api.DriftFilter{Unit: unit, Promise: "tasks", State: "ended"})
		if err != nil || len(page.Items) == 0 {
			return false, "no drift of the tasks limit has ended", err
		}
		d = page.Items[0]
		return true, "", nil
	})
	if err != nil {
		return err
	}
	if !strings.Contains(d.Promised, promised) || !strings.Contains(d.Found, wrong) || d.JobID == "" || d.RepairedAt == nil || d.EndedAt == nil {
		return fmt.Errorf("the record of the drift is %+v", d)
	}
	job, err := c.i.Client.GetJob(ctx, d.JobID)
	if err != nil {
		return fmt.Errorf("read the job of the repair: %w", err)
	}
	if job.State != "succeeded" {
		return fmt.Errorf("the repair, job %s (%s), has %s", job.ID, job.Kind, job.State)
	}
	for _, action := range []string{"drift.find", "drift.repair", "drift.end"} {
		events, err := c.i.Client.ListEvents(ctx, api.EventFilter{Object: unit, Action: action})
		if err != nil {
			return fmt.Errorf("list events: %w", err)
		}
		if len(events.Items) == 0 {
			return fmt.Errorf("there is no event %s of the drift", action)
		}
	}
	return nil
}
