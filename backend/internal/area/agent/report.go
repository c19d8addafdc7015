package agent

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Limits of a report.
const (
	maxDisks = 16
	maxUnits = 20
	maxName  = 100
	maxBytes = int64(1) << 60
)

// Report is how a host is, by its agent's word, bounded and cleaned.
type Report struct {
	UptimeSeconds   int64      `json:"uptime_seconds"`
	CPUs            int64      `json:"cpu_count"`
	Load            [3]float64 `json:"load"`
	CPUSome         float64    `json:"cpu_some"` // pressure: percent of the last minute
	MemorySome      float64    `json:"memory_some"`
	MemoryFull      float64    `json:"memory_full"`
	IOSome          float64    `json:"io_some"`
	IOFull          float64    `json:"io_full"`
	MemoryTotal     int64      `json:"memory_total"` // bytes
	MemoryAvailable int64      `json:"memory_available"`
	Disks           []Disk     `json:"disks"`
	FailedUnits     []string   `json:"failed_units"`
	RebootRequired  bool       `json:"reboot_required"`
}

// Disk is one file system of a host.
type Disk struct {
	Path        string `json:"path"`
	Total       int64  `json:"total"` // bytes
	Free        int64  `json:"free"`
	InodesTotal int64  `json:"inodes_total"`
	InodesFree  int64  `json:"inodes_free"`
}

// Clean bounds everything that an agent may send.
func (r *Report) Clean() {
	r.UptimeSeconds = whole(r.UptimeSeconds)
	r.CPUs = min(whole(r.CPUs), 1<<16)
	for i := range r.Load {
		r.Load[i] = number(r.Load[i], 1e6)
	}
	for _, share := range []*float64{&r.CPUSome, &r.MemorySome, &r.MemoryFull, &r.IOSome, &r.IOFull} {
		*share = number(*share, 100)
	}
	r.MemoryTotal, r.MemoryAvailable = whole(r.MemoryTotal), whole(r.MemoryAvailable)
	r.Disks = slices.Clone(r.Disks[:min(len(r.Disks), maxDisks)])
	for i := range r.Disks {
		d := &r.Disks[i]
		d.Path = plain(d.Path)
		d.Total, d.Free, d.InodesTotal, d.InodesFree = whole(d.Total), whole(d.Free), whole(d.InodesTotal), whole(d.InodesFree)
	}
	r.FailedUnits = slices.Clone(r.FailedUnits[:min(len(r.FailedUnits), maxUnits)])
	for i := range r.FailedUnits {
		r.FailedUnits[i] = plain(r.FailedUnits[i])
	}
	if r.Disks == nil {
		r.Disks = []Disk{}
	}
	if r.FailedUnits == nil {
		r.FailedUnits = []string{}
	}
}

func whole(n int64) int64 { return max(0, min(n, maxBytes)) }

func number(f, most float64) float64 {
	if math.IsNaN(f) || f < 0 {
		return 0
	}
	return math.Round(min(f, most)*100) / 100
}

// plain is a name that can be shown and stored: printable ASCII.
func plain(text string) string { return printable(text, maxName) }

func printable(text string, most int) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text[:min(len(text), most)])
}

// Reading is one heartbeat, as causes are found in it.
type Reading struct {
	Report  *Report // nil: the reader did not answer
	SkewMS  int64
	Version string // that runs
	Desired string // that should run; "" for any
}

// Causes are what is wrong on a host, and since when.
type Causes map[string]time.Time

// cause is one kind of thing that can be wrong.
type cause struct {
	name, next string
	ofReport   bool // its message needs the report
	// holds tells whether it is wrong; already if it was wrong before: to leave takes more than to enter.
	holds   func(r Reading, already bool) bool
	message func(r Reading) string
}

// reported is a cause of a report that is there.
func reported(holds func(r *Report, already bool) bool) func(Reading, bool) bool {
	return func(r Reading, already bool) bool { return r.Report != nil && holds(r.Report, already) }
}

func limit(already bool, enter, leave float64) float64 {
	if already {
		return leave
	}
	return enter
}

const skewLimit = 5000.0 // milliseconds

// causes is every cause, in the order of importance.
var causes = []cause{
	{
		name: "failed_units", ofReport: true, next: "Log in and run systemctl status with the names. Initialize the host again if that does not help.",
		holds: reported(func(r *Report, _ bool) bool { return len(r.FailedUnits) > 0 }),
		message: func(r Reading) string {
			return "Services of Kloigos have failed: " + strings.Join(r.Report.FailedUnits, ", ") + "."
		},
	},
	{
		name: "disk_nearly_full", ofReport: true, next: "Free space on the file system, or make it larger.",
		holds: reported(func(r *Report, already bool) bool { return fullest(r) > limit(already, 0.90, 0.85) }),
		message: func(r Reading) string {
			d, used := fullestDisk(r.Report)
			return fmt.Sprintf("%s is %.0f %% full.", d.Path, used*100)
		},
	},
	{
		name: "memory_pressure", ofReport: true, next: "Find the process that takes the memory. Memory of the host outside of its units is short.",
		holds: reported(func(r *Report, already bool) bool { return r.MemoryFull > limit(already, 10, 5) }),
		message: func(r Reading) string {
			return fmt.Sprintf("All tasks waited for memory in %.0f %% of the last minute.", r.Report.MemoryFull)
		},
	},
	{
		name: "io_pressure", ofReport: true, next: "Find what reads or writes so much, and look at the state of the disks.",
		holds: reported(func(r *Report, already bool) bool { return r.IOFull > limit(already, 40, 20) }),
		message: func(r Reading) string {
			return fmt.Sprintf("All tasks waited for disks in %.0f %% of the last minute.", r.Report.IOFull)
		},
	},
	{
		name: "clock_skew", next: "Check that chrony runs on the host and reaches its sources.",
		holds: func(r Reading, already bool) bool {
			return math.Abs(float64(r.SkewMS)) > limit(already, skewLimit, skewLimit/2)
		},
		message: func(r Reading) string {
			return fmt.Sprintf("The clock of the host differs by %.1f s.", float64(r.SkewMS)/1000)
		},
	},
	{
		name: "no_report", next: "Log in and run systemctl status kloigos-agent-read.",
		holds:   func(r Reading, _ bool) bool { return r.Report == nil },
		message: func(Reading) string { return "The agent lives, and its reader does not answer." },
	},
	{
		name: "version_behind", next: "Install the version of the agent that belongs to the backends.",
		holds: func(r Reading, _ bool) bool { return r.Desired != "" && r.Version != r.Desired },
		message: func(r Reading) string {
			return fmt.Sprintf("The agent is version %s and should be %s.", r.Version, r.Desired)
		},
	},
	{
		name: "reboot_required", ofReport: true, next: "Drain the host and reboot it.",
		holds:   reported(func(r *Report, _ bool) bool { return r.RebootRequired }),
		message: func(Reading) string { return "An update of the host waits for a reboot." },
	},
}

func fullest(r *Report) float64 {
	_, used := fullestDisk(r)
	return used
}

// fullestDisk is the file system with the least room, by bytes or by inodes.
func fullestDisk(r *Report) (worst Disk, used float64) {
	for _, d := range r.Disks {
		for _, share := range []float64{shareOf(d.Free, d.Total), shareOf(d.InodesFree, d.InodesTotal)} {
			if 1-share > used {
				worst, used = d, 1-share
			}
		}
	}
	return worst, used
}

func shareOf(free, total int64) float64 {
	if total <= 0 {
		return 1
	}
	return min(1, float64(free)/float64(total))
}

// Find returns what is wrong by a reading. A cause that was there before keeps its time.
func (r Reading) Find(before Causes, now time.Time) Causes {
	found := Causes{}
	for _, c := range causes {
		since, already := before[c.name]
		if !c.holds(r, already) {
			continue
		}
		if !already {
			since = now.UTC().Truncate(time.Millisecond)
		}
		found[c.name] = since
	}
	return found
}

// Same tells whether two sets have the same causes.
func (c Causes) Same(other Causes) bool {
	return maps.EqualFunc(c, other, func(time.Time, time.Time) bool { return true })
}

// Told is a cause as people are told of it.
type Told struct {
	Name, Message, Next string
	Since               time.Time
}

// Tell describes causes, the most important first.
func (r Reading) Tell(found Causes) []Told {
	told := []Told{}
	for _, c := range causes {
		since, ok := found[c.name]
		if !ok {
			continue
		}
		message := strings.ReplaceAll(c.name, "_", " ") + "."
		if r.Report != nil || !c.ofReport {
			message = c.message(r)
		}
		told = append(told, Told{c.name, message, c.next, since})
	}
	return told
}
