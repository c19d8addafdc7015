package demo

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kloigos/backend/api"
)

// SteadyChecks are those of the steady state: promises that are broken by hand, and a host that goes, comes back, and fills up.
func (i *Installation) SteadyChecks() []Check {
	c := &checker{i: i}
	return []Check{
		{"setting: the backends give new units networks of their own", c.networksFromNow},
		{"a second tenant gets the other unit, with a network of its own", c.secondTenant},
		{"use: what went over the second unit's link is measured of it, and not of the first one, which has none", c.trafficOfTransfer},
		{"at first: all is as promised, and a picture of the host is taken", c.pictureOfPromised},
		{"broken at once: each promise of two units and of the host is found within a minute, by its name, and nothing else is", c.found(brokenAtOnce)},
		{"broken at once: all of it is repaired by itself", c.repaired(brokenAtOnce)},
		{"broken at once: nothing else on the host is otherwise than before", c.asPromised},
		{"sftp: files go in and out of both kinds", c.wayInSFTP},
		{"after the repairs: tenants are held as promised", c.wayInCommand},
		{"power cut: the host is unreachable, comes back, is healthy, and all promises hold", c.powerCut},
		{"network cut: the host is unreachable, and healthy and as promised when the link is back", c.networkCut},
		{"clock moved and disk full: both are named, and gone when they are", c.clockAndDisk},
		{"broken whole: manifests, the table and what comes up at boot are found within a minute, and nothing else is", c.found(brokenWhole)},
		{"broken whole: all of it is repaired by itself", c.repaired(brokenWhole)},
		{"broken whole: nothing else on the host is otherwise than before", c.asPromised},
		{"decommission: nothing that was set by hand for a tenant's number is left", c.givenBack},
	}
}

const (
	// foundWithin is the promise of section "What you see" of docs/drift.md.
	foundWithin = time.Minute
	// allRepairedWithin bounds three plays after each other on an emulated host, and the 45 s after each in which nothing is judged.
	allRepairedWithin = 15 * time.Minute
	quietFor          = 50 * time.Second
)

// fill puts the names of a unit into a command.
func (c *checker) fill(b breakage) string {
	names := []string{"{first}", c.first.a.LoginUser, "{second}", c.second.a.LoginUser, "{uplink}", c.i.Host.Facts.Uplink.Interface}
	if v, ok := c.visitorOf(b.of); ok {
		uid := strconv.FormatInt(v.a.UID, 10)
		names = append(names, "{uid}", uid, "{user}", v.a.LoginUser, "{unit}", v.unit.Name, "{id}", v.unit.ID, "{mount}", v.unit.Mount, "{address}", v.a.Address,
			"{slice}", "user-"+uid+".slice", "{group}", "/sys/fs/cgroup/user.slice/user-"+uid+".slice", "{keys}", keysOf(v.a))
	}
	return strings.NewReplacer(names...).Replace(b.how)
}

func (c *checker) visitorOf(of int) (visitor, bool) {
	switch of {
	case ofFirst:
		return c.first, true
	case ofSecond:
		return c.second, true
	}
	return visitor{}, false
}

// shellQuoted is one word for a shell.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// nameOf is the name under which a drift of it is listed.
func (c *checker) nameOf(of int) string {
	if v, ok := c.visitorOf(of); ok {
		return v.unit.Name
	}
	return c.i.Host.Name
}

// expected are the facts that breakages break, by the name of their object and their promise: in order, or * for any.
func (c *checker) expected(all []breakage) map[string][]string {
	facts := map[string][]string{}
	for _, b := range all {
		for _, fact := range strings.Fields(b.facts) {
			promise, name, _ := strings.Cut(fact, ".")
			key := c.nameOf(b.of) + " " + promise
			facts[key] = append(facts[key], name)
			slices.Sort(facts[key])
		}
	}
	return facts
}

var factName = regexp.MustCompile(`(?:^|; )([a-z0-9_]+)=`)

// named are the facts that a drift tells of, as expected has them.
func named(d api.Drift) (facts []string) {
	for _, found := range factName.FindAllStringSubmatch(d.Promised, -1) {
		facts = append(facts, found[1])
	}
	slices.Sort(facts)
	return facts
}

// unended are the drifts of the host that have not ended, by the name of their object and their promise.
func (c *checker) unended(ctx context.Context) (map[string]api.Drift, error) {
	all := map[string]api.Drift{}
	for d, err := range c.i.Client.AllDrifts(ctx, api.DriftFilter{Host: c.i.Host.ID}) {
		if err != nil {
			return nil, fmt.Errorf("list drifts: %w", err)
		}
		all[d.Name+" "+d.Promise] = d
	}
	return all, nil
}

// unlike tells how drifts differ from what is expected; "" if they do not.
func unlike(expected map[string][]string, found map[string]api.Drift) string {
	var wrong []string
	for key, facts := range expected {
		d, ok := found[key]
		if !ok {
			wrong = append(wrong, key+" is not found")
		} else if got := named(d); !slices.Contains(facts, "*") && !slices.Equal(got, facts) {
			wrong = append(wrong, fmt.Sprintf("%s is named as %v, not %v (promised %s, found %s)", key, got, facts, d.Promised, d.Found))
		}
	}
	for key, d := range found {
		if _, ok := expected[key]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s is found, which nobody broke (promised %s, found %s)", key, d.Promised, d.Found))
		}
	}
	slices.Sort(wrong)
	return strings.Join(wrong, "; ")
}

// pictureOfPromised waits until nothing drifts, and keeps what the host is like.
func (c *checker) pictureOfPromised(ctx context.Context) (err error) {
	if c.second.a.ID == "" {
		return errNoGround
	}
	if err := c.liftQuota(ctx); err != nil {
		return err
	}
	if err := c.allQuiet(ctx, deliveredWithin); err != nil {
		return err
	}
	c.promised, err = c.steadyPicture(ctx)
	return err
}

// liftQuota gives the agent of an emulated host the CPU that it would have had on a real one.
func (c *checker) liftQuota(ctx context.Context) error {
	if c.i.VM.Accelerator == "kvm" {
		return nil
	}
	_, err := c.i.VM.Run(ctx, liftQuota)
	return err
}

// allQuiet waits until no job of the host has run lately, and its promises are judged as kept.
func (c *checker) allQuiet(ctx context.Context, limit time.Duration) error {
	return until(ctx, limit, func(ctx context.Context) (bool, string, error) {
		page, err := c.i.Client.ListJobs(ctx, api.JobFilter{Host: c.i.Host.ID})
		if err != nil {
			return false, "", fmt.Errorf("list jobs: %w", err)
		}
		for _, job := range page.Items {
			if job.FinishedAt == nil || time.Since(*job.FinishedAt) < quietFor {
				return false, "job " + job.Kind + " runs, or did lately", nil
			}
		}
		open, err := c.unended(ctx)
		if err != nil || len(open) > 0 {
			return false, "not as promised: " + unlike(nil, open), err
		}
		conditions, err := c.i.Client.ListConditions(ctx, api.ConditionFilter{Noun: "host", Object: c.i.Host.ID})
		if err != nil {
			return false, "", fmt.Errorf("list conditions: %w", err)
		}
		at := slices.IndexFunc(conditions, func(c api.Condition) bool { return c.Type == "as_promised" })
		if at < 0 || conditions[at].Status != "true" {
			return false, "the host is not known to be as promised", nil
		}
		return true, "", nil
	})
}

// found breaks promises, one after the other, and looks what is said of them.
func (c *checker) found(all []breakage) func(context.Context) error {
	return func(ctx context.Context) error {
		if c.promised == nil {
			return errNoGround
		}
		if err := c.driftMode(ctx, "observe"); err != nil {
			return err
		}
		script := "set -e\n"
		for _, b := range all {
			how := c.fill(b)
			script += "( " + how + " ) || { echo " + shellQuoted("failed: "+how) + " >&2; exit 1; }\n"
		}
		if _, err := c.i.VM.Run(ctx, "sudo sh -c "+shellQuoted(script)); err != nil {
			return err
		}
		broken, expected := time.Now(), c.expected(all)
		err := until(ctx, 3*foundWithin, func(ctx context.Context) (bool, string, error) {
			open, err := c.unended(ctx)
			wrong := unlike(expected, open)
			return wrong == "", wrong, err
		})
		took := time.Since(broken)
		if err != nil {
			return err
		}
		c.i.stages.Line("%d breakages, named as %d promises %s after the last of them", len(all), len(expected), seconds(took))
		if took > foundWithin+lookPause {
			return fmt.Errorf("all was found after %s only", seconds(took))
		}
		return nil
	}
}

func (c *checker) driftMode(ctx context.Context, mode string) error {
	if _, err := c.i.Client.SetDriftMode(ctx, api.SetDriftMode{Scope: "host", Name: c.i.Host.ID, Mode: mode}); err != nil {
		return fmt.Errorf("set the mode of drift: %w", err)
	}
	return nil
}

// repaired lets drift be repaired, and waits until nothing drifts any more. Nobody asks for a job.
func (c *checker) repaired(all []breakage) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		open, err := c.unended(ctx)
		if err != nil {
			return err
		}
		if len(open) == 0 {
			return errNoGround
		}
		from := time.Now()
		if err := c.driftMode(ctx, "repair"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.driftMode(context.WithoutCancel(ctx), "observe")) }()
		err = until(ctx, allRepairedWithin, func(ctx context.Context) (bool, string, error) {
			left, err := c.unended(ctx)
			return len(left) == 0, "left: " + unlike(nil, left), err
		})
		if err != nil {
			return errors.Join(err, c.failedRepairs(ctx, from))
		}
		return c.recorded(ctx, c.expected(all), from)
	}
}

// failedRepairs are the jobs since then that have failed, with their reasons.
func (c *checker) failedRepairs(ctx context.Context, since time.Time) error {
	page, err := c.i.Client.ListJobs(ctx, api.JobFilter{Host: c.i.Host.ID})
	if err != nil {
		return fmt.Errorf("list jobs: %w", err)
	}
	var failed []error
	for _, job := range page.Items {
		if job.CreatedAt.After(since) && job.Error != nil {
			failed = append(failed, fmt.Errorf("job %s failed at %q: %s", job.Kind, job.Error.Task, job.Error.Message))
		}
	}
	return errors.Join(failed...)
}

// recorded looks at the record of repairs: each promise has one, and the jobs in it have succeeded.
func (c *checker) recorded(ctx context.Context, expected map[string][]string, since time.Time) error {
	jobs, first := map[string]bool{}, time.Time{}
	ended := map[string]bool{}
	for d, err := range c.i.Client.AllDrifts(ctx, api.DriftFilter{Host: c.i.Host.ID, State: "ended"}) {
		if err != nil {
			return fmt.Errorf("list drifts: %w", err)
		}
		if d.EndedAt == nil || d.EndedAt.Before(since) {
			continue
		}
		ended[d.Name+" "+d.Promise] = true
		if d.RepairedAt != nil {
			jobs[d.JobID] = true
			if first.IsZero() || d.RepairedAt.Before(first) {
				first = *d.RepairedAt
			}
		}
	}
	for key := range expected {
		if !ended[key] {
			return fmt.Errorf("there is no record that %s is as promised again", key)
		}
	}
	if len(jobs) == 0 {
		return errors.New("the record names no job")
	}
	for id := range jobs {
		job, err := c.i.Client.GetJob(ctx, id)
		if err != nil {
			return fmt.Errorf("read the job of a repair: %w", err)
		}
		if job.State != "succeeded" {
			return fmt.Errorf("the repair, job %s (%s), has %s", job.ID, job.Kind, job.State)
		}
	}
	c.i.stages.Line("%d repairs, the first %s after they were let, all ended after %s", len(jobs), seconds(first.Sub(since)), seconds(time.Since(since)))
	return nil
}

// afterBreakages removes what breakages leave and no repair takes away: services and a cgroup of the checks, and files of systemctl
// set-property. Its files about tenants go when their units are given back.
const afterBreakages = `sudo sh -c 'systemctl stop kloigos-check-moved kloigos-check-stray "kloigos-back-*.scope" 2>/dev/null; rmdir /sys/fs/cgroup/kloigos-check 2>/dev/null
systemctl reset-failed "kloigos-check*" 2>/dev/null; rm -rf /etc/systemd/system.control/system.slice.d /run/systemd/system.control/init.scope.d; systemctl daemon-reload; true'`

// asPromised compares the host with the picture of it.
func (c *checker) asPromised(ctx context.Context) error {
	if c.promised == nil {
		return errNoGround
	}
	if _, err := c.i.VM.Run(ctx, afterBreakages); err != nil {
		return err
	}
	after, err := c.steadyPicture(ctx)
	if err != nil {
		return err
	}
	var wrong []string
	for _, line := range restored(c.promised, after) {
		if !ofRepairs.MatchString(line) {
			wrong = append(wrong, line)
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("not as before:\n%s", strings.Join(wrong[:min(len(wrong), 60)], "\n"))
	}
	return nil
}

// ofRepairs matches files that jobs and the agent may change: the number of the fence, the state of the agent, files of set-property.
var ofRepairs = regexp.MustCompile(`^[-+~] file /(etc/kloigos/fence|var/lib/kloigos[a-z-]*|etc/systemd/system\.control)(/|$| |:)`)

var counted = regexp.MustCompile(`packets \d+ bytes \d+`)

// steadyPicture is a picture without what packets count.
func (c *checker) steadyPicture(ctx context.Context) (picture, error) {
	all, err := c.i.takePicture(ctx)
	for key, value := range all {
		all[key] = counted.ReplaceAllString(value, "packets and bytes")
	}
	return all, err
}
