package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kloigos/backend/api"
)

const (
	// checkLease is how long a job stays with a dead backend in a check: short, because some are killed on purpose.
	checkLease = "15s"
	// failpointDir is where a check arms the failpoints of backend/internal/failpoint.
	failpointDir = "failpoints"
)

// Check is one thing that must be so.
type Check struct {
	Name string
	Run  func(context.Context) error
	// trial: it is written and was not yet seen to pass on a VM, so that it runs only where trials are asked for.
	trial bool
}

// Checks are all checks, in an order in which each builds on those before it: tenants come in, the machine reboots, a
// backend dies, a tenant goes, another one comes.
func (i *Installation) Checks() []Check {
	c := &checker{i: i}
	all := []Check{
		{"inventory: plain Ansible reaches the host through it", c.inventory, false},
		{"relayout: the free unit is cut anew, and its neighbour's limits, mount and processes stay", c.relaidOut, true},
		{"a second tenant gets the other unit", c.secondTenant, false},
		{"hostile text: templates and commands in keys stay text, on the host and here", c.hostileText, true},
		{"sftp: files go in and out, and the server is held like everything else", c.wayInSFTP, false},
		{"command: CPUs, memory, tasks, AppArmor, home on its volume, own source address and no other", c.wayInCommand, false},
		{"shell: the same with a terminal", c.wayInShell, false},
		{"user service: the same for what systemd --user starts", c.wayInService, false},
		{"cron and at: refused", c.cronAndAt, false},
		{"second tenant: sees nothing of the first", c.strangers, false},
		{"limits: more tasks and more memory than promised are refused, and the neighbour lives", c.limits, false},
		{"linger: after a reboot of the host the tenant's own service runs, held like before", c.afterReboot, false},
		{"after the reboot: logins, limits and addresses are as before", c.wayInCommand, false},
		{"keys: replacing them with the same changes nothing on the host", c.sameKeys, false},
		{"initialize again, its backend killed with -9: another one ends it, and nothing is changed", c.takeover, false},
		{"plan: a check of what was just done says that nothing would change", c.planNothing, true},
		{"probe again: changes nothing, and reads the same", c.probeAgain, false},
		{"deallocate, its backend dying after the play: another one runs it again, and the second run changes nothing", c.deallocate, false},
		{"deallocate: nothing of the tenant is left on the host", c.nothingLeft, false},
		{"deallocate: nobody logs in any more", c.lockedOut, false},
		{"allocate again: the next tenant gets the same unit (as a trial through a plan that shows user, volume, limits and keys)", c.allocateAgain, false},
		{"allocate again: no byte of the first tenant is on the volume", c.noByteLeft, false},
		{"both backends did jobs", c.shared, false},
		{"decommission, its backend dying after the play: the second run changes nothing but the fence under which it runs", c.decommission, false},
		{"decommission: files, accounts, units, networks, mounts, sysctls and disks are as before", c.asBefore, true},
		{"decommission: nothing of Kloigos is left on the host", c.clean, false},
	}
	return slices.DeleteFunc(all, func(check Check) bool { return check.trial && !i.options.Trials })
}

// Check runs all checks and prints a line for each. A check whose ground is gone fails with it.
func (i *Installation) Check(ctx context.Context) error {
	i.stages.Quiet() // a line for each check, and no other
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
	secondKeys    []string // of which the others' comments are hostile
	marker        string   // bytes that only the first tenant ever wrote
	ended         api.Allocation
	next          visitor
}

var errNoGround = errors.New("a check before this one failed, on which it builds")
