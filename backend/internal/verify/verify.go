// Package verify owns the question whether an installation is sound: a table
// of invariants, each held against one unchanging picture of the database and,
// where they are given, against what hosts and clients noted for themselves.
//
// It mends nothing and writes nothing, and decides no state: what agrees with
// what is read off the domain's lifecycles and its joint table.
package verify

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/store"
)

// Options say what else than the database is looked at. Its zero value is
// usable.
type Options struct {
	// Overdue is how long after its end a lease may still stand; 1 minute if
	// zero. A backend takes a job over within a tenth of a lease, if it has room.
	Overdue time.Duration
	// Tokens are what the fences of hosts accepted; nil if nobody collected it.
	Tokens []TokenLog
	// Acknowledged are allocations that clients were told of; nil if nobody
	// noted them.
	Acknowledged []uuid.UUID
}

// Invariant is one thing that always holds.
type Invariant struct {
	Name, Why string
	// Asked tells whether what it needs was given; nil if it needs nothing.
	Asked func(Options) bool
	// Broken returns a sentence for each row that breaks it.
	Broken func(*ground) []string
}

// ground is what invariants stand on.
type ground struct {
	options Options
	trail   []string // faults of the audit trail
	store.Picture
	jobsOf map[uuid.UUID][]store.JobSeen // by host
	there  map[uuid.UUID]bool            // acknowledged allocations
	runs   map[uuid.UUID]uuid.UUID       // host of each job in the token logs
}

// Invariants returns all of them, in the order in which they are told.
func Invariants() []Invariant {
	return []Invariant{
		{Name: "one_allocation_a_unit", Why: "no two tenants share a unit", Broken: oneAllocationAUnit},
		{Name: "one_allocation_an_address", Why: "an address is carried by one tenant, who is told of that one", Broken: oneAllocationAnAddress},
		{Name: "one_allocation_a_uid", Why: "a user id is given once and for all", Broken: oneAllocationAUID},
		{Name: "states_agree", Why: "unit, allocation and address go through their lives together", Broken: statesAgree},
		{Name: "in_flight_has_a_job", Why: "what is on its way has one job that brings it to an end", Broken: inFlightHasAJob},
		{Name: "jobs_fit_their_objects", Why: "a job that has not ended can end, well or badly", Broken: jobsFitTheirObjects},
		{Name: "running_has_a_lease", Why: "a job whose worker is gone goes on elsewhere", Broken: runningHasALease},
		{Name: "locks_are_held_by_runs", Why: "no host waits for a job that is over", Broken: locksAreHeldByRuns},
		{Name: "steps_fit_their_job", Why: "steps belong to a job, are done in order, and end with it", Broken: stepsFitTheirJob},
		{Name: "hosts_fit_their_job", Why: "a job that has several hosts ends well when all of them are done", Broken: hostsFitTheirJob},
		{Name: "quotas_are_exact", Why: "a scope gets what its quota leaves, no more and no less", Broken: quotasAreExact},
		{Name: "shared_hosts_are_granted", Why: "who has a unit of another workspace's host was granted it", Broken: sharedHostsAreGranted},
		{Name: "shared_networks_are_granted", Why: "a host that has an address of another workspace's network was granted it", Broken: sharedNetworksAreGranted},
		{Name: "shared_zones_are_granted", Why: "who has a name in a zone of another workspace was granted it", Broken: sharedZonesAreGranted},
		{Name: "snapshots_are_whole", Why: "a snapshot of a cluster can be restored", Broken: snapshotsAreWhole},
		{Name: "given_versions_hold", Why: "a host has another version of a playbook than the default only while a delivery gives it", Broken: givenVersionsHold},
		{Name: "ends_are_told_once", Why: "each end of a job has one event, which tells the same", Broken: endsAreToldOnce},
		{Name: "creations_are_told_once", Why: "an allocation was asked for once", Broken: creationsAreToldOnce},
		{Name: "states_are_told", Why: "what has a tenant, or has none any more, is drained, or closed, came to be so by what events tell", Broken: statesAreTold},
		{Name: "events_are_as_sealed", Why: "nobody changed the audit trail behind the program's back", Broken: func(g *ground) []string { return g.trail }},
		{
			Name: "tokens_never_fall", Why: "no host ever heard two masters", Broken: tokensNeverFall,
			Asked: func(o Options) bool { return o.Tokens != nil },
		},
		{
			Name: "acknowledged_is_there", Why: "what a client was told of exists", Broken: acknowledgedIsThere,
			Asked: func(o Options) bool { return o.Acknowledged != nil },
		},
	}
}

// Result is what came of one invariant.
type Result struct {
	Invariant
	Skipped bool // what it needs was not given
	Rows    []string
}

// Run holds all invariants against a database at one moment.
func Run(ctx context.Context, db *store.DB, o Options) (results []Result, err error) {
	if o.Overdue == 0 {
		o.Overdue = time.Minute
	}
	var g ground
	err = db.Snapshot(ctx, func(r store.Reads) (err error) {
		g = ground{options: o}
		if g.Picture, err = r.Picture(ctx); err != nil {
			return err
		}
		if g.there, err = r.WhichAreThere(ctx, o.Acknowledged); err != nil {
			return fmt.Errorf("look for acknowledged allocations: %w", err)
		}
		if g.runs, err = r.HostsOfJobs(ctx, runsOf(o.Tokens)); err != nil {
			return fmt.Errorf("look for the runs of token logs: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if g.trail, err = audit.Check(ctx, db.Reader, nil); err != nil {
		return nil, fmt.Errorf("check the audit trail: %w", err)
	}
	g.jobsOf = map[uuid.UUID][]store.JobSeen{}
	for _, j := range g.Jobs {
		g.jobsOf[idOf(j.HostID)] = append(g.jobsOf[idOf(j.HostID)], j)
	}
	for _, i := range Invariants() {
		r := Result{Invariant: i, Skipped: i.Asked != nil && !i.Asked(o)}
		if !r.Skipped {
			r.Rows = i.Broken(&g)
		}
		results = append(results, r)
	}
	return results, nil
}

// shown is how many rows of a broken invariant are printed.
const shown = 20

// Print writes a line for each invariant, and tells whether all hold.
func Print(w io.Writer, results []Result) (sound bool, err error) {
	say := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(w, format+"\n", args...)
		}
	}
	for _, r := range results {
		switch {
		case r.Skipped:
			say("not asked  %-26s %s", r.Name, r.Why)
		case len(r.Rows) == 0:
			say("ok         %-26s %s", r.Name, r.Why)
		default:
			say("VIOLATED   %-26s %s", r.Name, r.Why)
			for _, row := range r.Rows[:min(shown, len(r.Rows))] {
				say("           - %s", row)
			}
			if more := len(r.Rows) - shown; more > 0 {
				say("           - and %d more", more)
			}
		}
	}
	return !slices.ContainsFunc(results, func(r Result) bool { return len(r.Rows) > 0 }), err
}
