package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kloigos/backend/api"
	"kloigos/rig/testhost"
)

const (
	// lostWithin is the promise of 60 s since the last heartbeat, with what the policy and a look take.
	lostWithin = 90 * time.Second
	// backWithin bounds the boot of an emulated host, or the pauses of an agent that reached nobody.
	backWithin = 6 * time.Minute
	// holdsWithin is for a cause to be reported, to last for 30 s, and to be shown.
	holdsWithin = 3 * time.Minute
)

// healthBecomes waits for a health of the host whose message has all of the words.
func (c *checker) healthBecomes(ctx context.Context, limit time.Duration, health string, words ...string) error {
	return until(ctx, limit, func(ctx context.Context) (bool, string, error) {
		if err := c.i.refresh(ctx); err != nil {
			return false, "", err
		}
		host := c.i.Host
		done := host.Health == health
		for _, word := range words {
			done = done && strings.Contains(host.HealthMessage, word)
		}
		return done, fmt.Sprintf("the host is %s (%s), not %s %v", host.Health, host.HealthMessage, health, words), nil
	})
}

// lost waits until the host is unreachable, and sees that an event and the reason tell of it.
func (c *checker) lost(ctx context.Context, since time.Time) error {
	if err := c.healthBecomes(ctx, lostWithin, "unreachable", "no heartbeat for 60 seconds"); err != nil {
		return err
	}
	c.i.stages.Line("unreachable %s after the cut", seconds(time.Since(since)))
	return c.eventSince(ctx, "host.unreachable", since)
}

// toldWithin is for the event of a zone: losses are collected for a minute.
const toldWithin = 2 * time.Minute

// eventSince waits for an event that names the host.
func (c *checker) eventSince(ctx context.Context, action string, since time.Time) error {
	return until(ctx, toldWithin, func(ctx context.Context) (bool, string, error) {
		events, err := c.i.Client.ListEvents(ctx, api.EventFilter{Action: action, Since: since.UTC().Format(time.RFC3339)})
		if err != nil {
			return false, "", fmt.Errorf("list events: %w", err)
		}
		for _, e := range events.Items {
			if strings.Contains(string(e.After), `"`+c.i.Host.Name+`"`) {
				return true, "", nil
			}
		}
		return false, fmt.Sprintf("no event %s names the host: %+v", action, events.Items), nil
	})
}

// back waits until the host is healthy again, and nothing drifts.
func (c *checker) back(ctx context.Context, since time.Time) error {
	if err := c.healthBecomes(ctx, backWithin, "healthy"); err != nil {
		return err
	}
	if err := c.eventSince(ctx, "host.reachable", since); err != nil {
		return err
	}
	return c.allQuiet(ctx, backWithin)
}

func (c *checker) bootID(ctx context.Context) (string, error) {
	page, err := c.i.Client.ListAgents(ctx, api.AgentFilter{Host: c.i.Host.Name, State: "enrolled"})
	if err != nil || len(page.Items) != 1 {
		return "", errors.Join(err, fmt.Errorf("the agents of the host are %+v", page.Items))
	}
	return page.Items[0].BootID, nil
}

// powerCut ends the machine as a power cut would, and switches it on again.
func (c *checker) powerCut(ctx context.Context) error {
	if c.second.a.ID == "" {
		return errNoGround
	}
	before, err := c.bootID(ctx)
	if err != nil {
		return err
	}
	cut := time.Now()
	if err := c.i.VM.Stop(); err != nil {
		return err
	}
	err = c.lost(ctx, cut)
	again, started := testhost.Start(ctx, c.i.vmOptions)
	if started != nil {
		return errors.Join(err, fmt.Errorf("switch the host on again: %w", started))
	}
	c.i.VM = again
	if err := errors.Join(err, c.liftQuota(ctx)); err != nil {
		return err
	}
	if err := c.back(ctx, cut); err != nil {
		return err
	}
	after, err := c.bootID(ctx)
	if err == nil && after == before {
		err = errors.New("its agent tells the boot id of before")
	}
	if err != nil {
		return err
	}
	return c.wayInCommand(ctx)
}

// networkCut pulls the cable of the machine, and plugs it in again.
func (c *checker) networkCut(ctx context.Context) error {
	if c.second.a.ID == "" {
		return errNoGround
	}
	cut := time.Now()
	if err := c.i.VM.SetLink(false); err != nil {
		return err
	}
	err := c.lost(ctx, cut)
	if plugged := c.i.VM.SetLink(true); plugged != nil || err != nil {
		return errors.Join(err, plugged)
	}
	if err := c.back(ctx, cut); err != nil {
		return err
	}
	return c.wayInCommand(ctx)
}

const (
	ballast = "/var/tmp/kloigos-check-ballast"
	// The file system needs some blocks for its own lists of them: the last part is written.
	fillDisk = "sudo sh -ec 'fallocate --length $(( $(stat --file-system --format=%f /) * $(stat --file-system --format=%S /) - 134217728 )) " + ballast +
		"; cat /dev/zero >" + ballast + ".rest 2>/dev/null || true'"
	// The clock goes back by what it was moved: a time that was read here would be late by the time that a slow machine takes.
	moved     = "/run/kloigos-check-clock"
	moveClock = "sudo touch " + moved + " && sudo date --set '+10 minutes'"
	backClock = "{ [ ! -e " + moved + " ] || sudo date --set '-10 minutes'; } && sudo rm -f " + moved
)

// clockAndDisk moves the clock of the host by ten minutes and fills its root file system to the last block. An agent that has to
// start then tells of it too.
func (c *checker) clockAndDisk(ctx context.Context) (err error) {
	if c.second.a.ID == "" {
		return errNoGround
	}
	_, err = c.i.VM.Run(ctx, fillDisk+" && "+moveClock+" && sudo systemctl restart kloigos-agent-read.service kloigos-agent.service")
	if err == nil {
		err = c.healthBecomes(ctx, holdsWithin, "degraded", "disk nearly full", "clock skew")
	}
	if err == nil {
		err = c.causesAre(ctx, map[string]string{"disk_nearly_full": "/ is ", "clock_skew": "differs by "})
	}
	_, mended := c.i.VM.Run(ctx, "sudo rm -f "+ballast+" "+ballast+".rest; "+backClock)
	if err != nil || mended != nil {
		return errors.Join(err, mended)
	}
	if err := c.healthBecomes(ctx, holdsWithin, "healthy"); err != nil {
		return err
	}
	return c.causesAre(ctx, nil)
}

// causesAre compares what the agent is shown to have found, each with a word of its message.
func (c *checker) causesAre(ctx context.Context, want map[string]string) error {
	page, err := c.i.Client.ListAgents(ctx, api.AgentFilter{Host: c.i.Host.Name, State: "enrolled"})
	if err != nil || len(page.Items) != 1 {
		return errors.Join(err, fmt.Errorf("the agents of the host are %+v", page.Items))
	}
	causes := page.Items[0].Causes
	for name, word := range want {
		at := slices.IndexFunc(causes, func(c api.AgentCause) bool { return c.Name == name })
		if at < 0 || !strings.Contains(causes[at].Message, word) || causes[at].Next == "" {
			return fmt.Errorf("%s is not named well in %+v", name, causes)
		}
	}
	for _, cause := range causes {
		// What fills a disk makes tasks wait for it.
		if _, ok := want[cause.Name]; !ok && cause.Name != "io_pressure" {
			return fmt.Errorf("%s is named: %s", cause.Name, cause.Message)
		}
	}
	return nil
}
