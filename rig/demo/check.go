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
	checkLease = 15 * time.Second
	// failpointDir is where a check arms the failpoints of backend/internal/kernel/failpoint.
	failpointDir = "failpoints"
)

// Check is one thing that must be so.
type Check struct {
	Name string
	Run  func(context.Context) error
}

// Checks are all checks, in an order in which each builds on those before it: tenants come in, the machine reboots, a
// backend dies, a tenant goes, another one comes.
func (i *Installation) Checks() []Check {
	c := &checker{i: i}
	all := []Check{
		{"inventory: plain Ansible reaches the host through it", c.inventory},
		{"update: a second build of the agent, signed by the release key, is offered to the host", c.deliver(goodAgent)},
		{"relayout, through a plan: the free unit is cut anew, and its neighbour's limits, mount and processes stay", c.relaidOut},
		{"a second tenant gets the other unit", c.secondTenant},
		{"hostile text: templates and commands in keys stay text, on the host and here", c.hostileText},
		{"sftp: files go in and out, and the server is held like everything else", c.wayInSFTP},
		{"command: CPUs, memory, tasks, AppArmor, home on its volume, own source address and no other", c.wayInCommand},
		{"shell: the same with a terminal", c.wayInShell},
		{"user service: the same for what systemd --user starts", c.wayInService},
		{"cron and at: refused", c.cronAndAt},
		{"second tenant: sees nothing of the first", c.strangers},
		{"limits: more tasks and more memory than promised are refused, and the neighbour lives", c.limits},
		{"use: a busy CPU and a file are measured of the tenant who has them, and not of the neighbour", c.use},
		{"update: the agent of the host is the second build", c.updated},
		{"linger: after a reboot of the host the tenant's own service runs, held like before", c.afterReboot},
		{"after the reboot: logins, limits and addresses are as before", c.wayInCommand},
		{"update: a build that ends at once is offered", c.deliver(endingAgent)},
		{"drift: a unit's limit that was changed by hand is back within two minutes, and the record says what, when, by which job", c.drift},
		{"update: the host went back by itself, the delivery halted, and it is rolled back", c.wentBack},
		{"keys: put again by a backend that stands still past its lease, then by another one; Ansible of the first wakes up, the fence refuses it, and nothing is changed", c.twoMasters},
		{"initialize again, its backend killed with -9 somewhere in the play: another one ends it, and nothing is changed", c.takeover},
		{"plan: the trial of an uploaded version that does what was just done says that nothing would change", c.planNothing},
		{"probe again: changes nothing, and reads the same", c.probeAgain},
		{"playbook from outside: an uploaded version is made the default, run on the host, and rolled back", c.uploadedProbe},
		{"deallocate, its backend dying after the play: another one runs it again, and the second run changes nothing", c.deallocate},
		{"deallocate: nothing of the tenant is left on the host", c.nothingLeft},
		{"deallocate: nobody logs in any more", c.lockedOut},
		{"allocate again: the next tenant gets the same unit, through a plan that shows user, volume, limits and keys", c.allocateAgain},
		{"allocate again: no byte of the first tenant is on the volume", c.noByteLeft},
		{"more than one backend did jobs", c.shared},
		{"decommission, through a plan, its backend dying after the play: the second run changes nothing but the fence under which it runs", c.decommission},
		{"verify: what always holds does, with the host's own log of who it heard", c.verified},
		{"decommission: files, accounts, units, networks, mounts, sysctls and disks are as before", c.asBefore},
		{"decommission: nothing of Kloigos is left on the host", c.clean},
		{"wall: under the shipped unit, code in a play and in ansible-lint sees no keyset, no environment of the backend and no socket of the database", c.wall},
	}
	if !steady() {
		all = slices.DeleteFunc(all, func(c Check) bool {
			return strings.HasPrefix(c.Name, "update: ") || strings.HasPrefix(c.Name, "drift: ")
		})
	}
	return all
}

// Check runs checks and prints a line for each. A check whose ground is gone fails with it.
func (i *Installation) Check(ctx context.Context, checks []Check) error {
	i.stages.Quiet() // a line for each check, and no other
	i.stages.Line("")
	failed := 0
	for _, check := range checks {
		from := time.Now()
		err := i.again(ctx, check, check.Run(ctx))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, errEnded) {
			return err
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

// again asks after a failed check, where that is wanted, what is to be done: a person looks at the machine meanwhile.
func (i *Installation) again(ctx context.Context, check Check, err error) error {
	for err != nil && i.options.Ask && ctx.Err() == nil {
		i.stages.Line("ask   %s: %s", check.Name, strings.ReplaceAll(err.Error(), "\n", "; "))
		i.stages.Line("The machine: testhost ssh --dir %s. Enter runs the check again, next goes on, end ends the checks", i.path("machine"))
		answer, asked := i.answers.ReadString('\n')
		switch answer = strings.TrimSpace(answer); {
		case asked != nil || answer == "next":
			return err
		case answer == "end":
			return errors.Join(err, errEnded)
		}
		err = check.Run(ctx)
	}
	return err
}

var errEnded = errors.New("ended by hand")

// checker is what the checks know of each other.
type checker struct {
	i             *Installation
	first, second visitor
	secondKeys    []string // of which the others' comments are hostile
	marker        string   // bytes that only the first tenant ever wrote
	heard         []string // lines of the log of the host's fence that were seen
	ended         api.Allocation
	next          visitor
	promised      picture // of the host while all was as promised
	packages      string  // version that was installed first
}

var errNoGround = errors.New("a check before this one failed, on which it builds")
