// Package bench measures what Kloigos costs beside the bare parts that it is made of: an allocation beside the same
// play under a bare ansible-playbook, a request beside the same rows written by pgbench, a list beside its own SQL.
//
// It owns the figures of docs/benchmarks.md: one file a figure, each a Go value in the registry. Every figure is a ratio
// taken in one run, its two sides in turns, and the median of the rounds, so that it says something of Kloigos and
// little of the machine. The parts are real: the built binaries, a PostgreSQL of its own that syncs to disk, Ansible, and
// sshd in namespaces of its own.
//
// It refuses to touch anything that it did not start, and listens on loopback or inside a namespace only.
package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Figure is one thing that is measured.
type Figure struct {
	Name string // for --only
	Run  func(ctx context.Context, b *Bed, scale Scale) ([]Result, error)
}

// Figures is every figure, in the order of docs/benchmarks.md.
func Figures() []Figure {
	return []Figure{
		{"plays", plays},
		{"allocations", allocations},
		{"last-units", lastUnits},
		{"lists", lists},
		{"records", records},
		{"idle", idle},
		{"jobs", jobs},
		{"log", jobLog},
		{"stream", stream},
		{"viewers", viewers},
		{"history", history},
		{"expiry", expiry},
		{"queue", queueRate},
		{"long-queue", longQueue},
		{"starts", starts},
		{"takeovers", takeovers},
		{"backends", backends},
		{"items", items},
		{"heartbeats", heartbeats},
		{"access", access},
	}
}

// Scale is how much is measured.
type Scale struct {
	Rounds  int // of each side; the median of them counts
	Clients int

	Units     int           // of the fleet that allocations are placed on
	Each      int           // allocations of one client in one round
	LastUnits int           // that are left free of Units, for the last of them
	ListUnits int           // of the fleet that is listed
	Pages     int           // read in one round
	Plays     int           // of each kind
	Quiet     time.Duration // that an idle backend is watched
	Jobs      int           // at once
	LogRows   int           // that one job tells in a round
	Told      int           // entries of each of Watched jobs that a browser follows
	Watched   int
	Viewers   int           // of one job
	History   int           // jobs that have ended
	QueueJobs int           // through the queue in one round
	LongQueue int           // jobs that wait
	Starts    int           // of plays, one after the other
	Takeovers int           // after as many kills
	Capped    time.Duration // that capped backends are watched

	CappedPlays int // that wait for capped backends
	Items       int // that are due at once
	Records     int // record sets that are listed
	Woken       int // items that become due one after the other

	People      int // who have grants
	Revocations int

	Agents        int           // that send heartbeats
	AgentsEvery   time.Duration // between two heartbeats of one
	AgentsWatched time.Duration
	AgentsSilence time.Duration // that would make a host unreachable
}

// Full is what docs/benchmarks.md holds; Short only shows that the bench itself runs.
var (
	Full = Scale{
		Rounds: 5, Clients: 64, Units: 64_000, Each: 50, LastUnits: 1000, ListUnits: 100_000, Pages: 3000, Plays: 10,
		Quiet: 30 * time.Second, Jobs: 8, LogRows: 200_000, Told: 2000, Watched: 4, Viewers: 5000, History: 1_000_000, QueueJobs: 20_000,
		LongQueue: 100_000, Starts: 100, Takeovers: 8, Capped: 10 * time.Second, CappedPlays: 800, Items: 100_000, Woken: 1500, Records: 100_000,
		People: 100, Revocations: 50,
		Agents: 10_000, AgentsEvery: 10 * time.Second, AgentsWatched: 2 * time.Minute, AgentsSilence: 90 * time.Second,
	}
	Short = Scale{
		Rounds: 1, Clients: 8, Units: 480, Each: 3, LastUnits: 20, ListUnits: 500, Pages: 10, Quiet: time.Second, LogRows: 2000, Told: 200,
		Watched: 2, Viewers: 20, History: 300, QueueJobs: 200, LongQueue: 200, Starts: 2, Takeovers: 1, Capped: time.Second, CappedPlays: 20, Items: 1000, Woken: 60, Records: 500,
		People: 5, Revocations: 2,
		Agents: 30, AgentsEvery: 2 * time.Second, AgentsWatched: 4 * time.Second, AgentsSilence: time.Second,
	}
)

// Limit is what a figure has to keep to.
type Limit struct {
	Value   float64
	AtLeast bool   // else at most
	Unit    string // "" for a ratio
}

func (l Limit) met(v float64) bool {
	if l.AtLeast {
		return v >= l.Value
	}
	return v <= l.Value
}

func (l Limit) String() string {
	word := "at most "
	if l.AtLeast {
		word = "at least "
	}
	return word + number(l.Value, l.Unit)
}

// Result is one row of the table.
type Result struct {
	What     string
	Limit    Limit
	Measured float64
	Raw      string // the medians that it is made of
}

// Met tells whether the result keeps to its limit.
func (r Result) Met() bool { return r.Limit.met(r.Measured) }

func number(v float64, unit string) string {
	digits := 2
	if unit == "" || v >= 100 {
		digits = 0
	}
	if unit == "" && v != float64(int64(v)) {
		digits = 2
	}
	text := fmt.Sprintf("%.*f", digits, v)
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	if unit != "" {
		text += " " + unit
	}
	return text
}

// Run measures the figures that are named, or all, and returns the rows of the table.
func Run(ctx context.Context, b *Bed, scale Scale, only []string) ([]Result, error) {
	for _, name := range only {
		if !slices.ContainsFunc(Figures(), func(f Figure) bool { return f.Name == name }) {
			return nil, fmt.Errorf("there is no figure %q", name)
		}
	}
	var all []Result
	for _, f := range Figures() {
		if len(only) > 0 && !slices.Contains(only, f.Name) {
			continue
		}
		begun := time.Now()
		b.say("== %s", f.Name)
		results, err := f.Run(ctx, b, scale)
		if err != nil {
			return all, fmt.Errorf("%s: %w", f.Name, err)
		}
		for _, r := range results {
			b.say("   %s: %s (%s)", r.What, number(r.Measured, r.Limit.Unit), r.Raw)
		}
		b.say("   took %s", time.Since(begun).Round(time.Second))
		all = append(all, results...)
	}
	return all, nil
}

func median[T ~int64 | ~float64](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// percentile is the nearest-rank one; of needs no order.
func percentile(of []time.Duration, percent int) time.Duration {
	sorted := slices.Sorted(slices.Values(of))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*percent+99)/100-1)]
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}
