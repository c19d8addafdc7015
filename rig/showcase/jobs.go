package showcase

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

var stepsOf = map[string][]string{
	"host_probe": {"host_key", "probe"}, "host_initialize": {"bootstrap", "initialize"}, "host_decommission": {"decommission"},
	"unit_allocate": {"allocate"}, "unit_deallocate": {"deallocate"}, "allocation_keys": {"allocate"},
	"plan": {"check"},
}

var playbookOf = map[string]string{"allocation_keys": "unit_allocate"} // of the others: their kind

// job is one that is to be told of.
type job struct {
	kind, state string
	host        *host
	unit        *unit
	allocation  *uuid.UUID
	plan        *uuid.UUID // that it makes, or that it is bound to
	playbook    string     // "" for that of its kind
	asked       time.Time
	took        time.Duration
}

// ofHost makes the job that a host's state asks for.
func (w *world) ofHost(h *host) {
	j := job{host: h, asked: w.ago(time.Duration(2+w.randomBelow(20)) * time.Minute), took: 3 * time.Minute}
	switch h.state {
	case "probing":
		j.kind, j.state = "host_probe", "queued"
	case "registered", "awaiting_host_key":
		j.kind, j.state = "host_probe", map[string]string{"registered": "failed", "awaiting_host_key": "succeeded"}[h.state]
	case "initializing":
		j.kind, j.state = "host_initialize", "running"
	case "init_failed":
		j.kind, j.state = "host_initialize", "failed"
	case "decommissioning":
		j.kind, j.state = "host_decommission", "running"
	case "decommission_failed":
		j.kind, j.state = "host_decommission", "failed"
	default:
		return
	}
	w.job(j)
}

// ofUnit makes the job that an allocation is waiting for, or that failed it.
func (w *world) ofUnit(u *unit, allocation uuid.UUID) {
	j := job{host: u.host, unit: u, allocation: &allocation, asked: w.ago(time.Duration(1+w.randomBelow(240)) * time.Minute), took: time.Duration(5+w.randomBelow(60)) * time.Second}
	switch u.state {
	case "allocating":
		j.kind, j.state = "unit_allocate", pick(w, []string{"running", "queued"})
	case "deallocating":
		j.kind, j.state = "unit_deallocate", "running"
	case "allocation_failed":
		j.kind, j.state = "unit_allocate", "failed"
	case "deallocation_failed":
		j.kind, j.state = "unit_deallocate", "failed"
	default:
		return
	}
	w.job(j)
}

// step is something that happened to a unit: an event, or a job of a kind where there is one for it.
type step struct {
	action, kind string
	from, to     string // states of the unit
}

// steps are what can happen to a unit.
var steps = []step{
	{"allocation.create", "unit_allocate", "free", "allocated"},
	{"allocation.replace_keys", "allocation_keys", "allocated", "allocated"},
	{"allocation.deallocate", "unit_deallocate", "allocated", "free"},
	{"unit.close", "", "free", "unavailable"},
	{"unit.open", "", "unavailable", "free"},
}

// before is how a unit was before the job that it now waits for, or that failed it.
var before = map[string]string{"allocating": "free", "allocation_failed": "free", "deallocating": "allocated", "deallocation_failed": "allocated"}

// history makes what has gone well, or was stopped, in the last two weeks, and the audit trail. What is told of a unit leads
// to the state that it is in.
func (w *world) history() {
	if len(w.ended) == 0 {
		return
	}
	type moment struct {
		at  time.Time
		job bool
	}
	of := map[*unit][]moment{}
	var order []*unit // a map has none, and the same seed makes the same world
	for n := range w.size.Jobs + w.size.Events {
		h := pick(w, w.ended)
		// What is under way was asked for up to four hours ago.
		m := moment{w.ago(time.Duration(w.randomBelow(14*24*3600)+5*3600) * time.Second), n < w.size.Jobs}
		if len(h.units) == 0 || w.randomBelow(7) == 0 {
			w.probed(h, m.at, m.job, n)
			continue
		}
		u := pick(w, h.units)
		if of[u] == nil {
			order = append(order, u)
		}
		of[u] = append(of[u], m)
	}
	for _, u := range order {
		moments, state := of[u], u.state
		if earlier, ok := before[state]; ok {
			state = earlier
		}
		slices.SortFunc(moments, func(a, b moment) int { return b.at.Compare(a.at) })
		for _, m := range moments { // back in time
			var can []step
			for _, s := range steps {
				if s.to == state && (s.kind != "" || !m.job) {
					can = append(can, s)
				}
			}
			if len(can) == 0 {
				w.probed(u.host, m.at, m.job, 0)
				continue
			}
			s := pick(w, can)
			state = s.from
			if m.job {
				w.job(job{kind: s.kind, state: "succeeded", host: u.host, unit: u, asked: m.at, took: time.Duration(4+w.randomBelow(90)) * time.Second})
				continue
			}
			w.event(m.at, pick(w, people[:4]), s.action, "unit", u.id, u.name, nil, map[string]any{"state": s.from}, map[string]any{"state": s.to, "cpus": 2})
		}
	}
}

// probed tells of a probe, which leaves everything as it is. Some were stopped.
func (w *world) probed(h *host, at time.Time, asJob bool, n int) {
	if !asJob {
		w.event(at, pick(w, people[:4]), "host.probe", "host", h.id, h.name, nil, nil, nil)
		return
	}
	j := job{kind: "host_probe", state: "succeeded", host: h, asked: at, took: time.Duration(4+w.randomBelow(90)) * time.Second}
	if n%5 == 2 {
		j.state = "cancelled"
	}
	w.job(j)
}

func (w *world) event(at time.Time, who, action, kind string, id uuid.UUID, name string, job *uuid.UUID, before, after map[string]any) {
	w.events.add(w.id(), at, w.workspace, "account", who, fmt.Sprintf("198.51.100.%d", 1+w.randomBelow(250)), w.id().String(), action, kind, id, name, job, before, after)
}

// job makes a job with its steps, its log and the event of its asking, and returns its id.
func (w *world) job(j job) uuid.UUID {
	id := w.id()
	playbook := j.kind
	if other, ok := playbookOf[j.kind]; ok {
		playbook = other
	}
	if j.playbook != "" {
		playbook = j.playbook
	}
	var started, finished, lease *time.Time
	var worker, unit *uuid.UUID
	attempt, failures, outcome := 0, 0, ""
	var failure any
	if j.unit != nil {
		unit = &j.unit.id
	}
	if j.state != "queued" {
		begun := j.asked.Add(800 * time.Millisecond)
		started, worker, attempt = &begun, &w.worker, 1
		if j.state == "running" {
			until := w.now.Add(365 * 24 * time.Hour) // nobody takes it over
			lease = &until
		} else {
			over := begun.Add(j.took)
			finished = &over
		}
	}
	who := pick(w, people[:4])
	switch j.state {
	case "failed":
		of := storyOf(j.kind)
		attempt, failures = 3, 3
		failure = map[string]string{
			"code": "task_failed", "host": j.host.name, "task": of.tasks[of.fails].name,
			"message":   of.why + "\n  " + of.more,
			"next_step": "Read the failed task, mend its cause on the host, then retry.",
		}
	case "cancelled":
		outcome = "cancelled by " + who
	case "succeeded":
		outcome = map[string]string{"unit_allocate": "The unit is set up.", "unit_deallocate": "The unit is wiped.", "host_probe": "The host's facts are read.", "host_initialize": "The host and its units are ready.", "plan": "The host is checked."}[j.kind]
	}
	w.jobs.add(id, w.workspace, j.kind, map[string]string{"host_id": j.host.id.String()}, j.host.id, unit, j.allocation, j.plan, j.state, 10, j.asked,
		j.asked.Add(365*24*time.Hour), attempt, failures, 3, worker, lease, w.playbooks[playbook], who, failure, outcome, j.asked, started, finished)
	w.stepsOf(id, j, attempt, started, finished)
	w.tell(id, j, started)
	kind, of, name := "host", j.host.id, j.host.name
	if j.unit != nil {
		kind, of, name = "unit", j.unit.id, j.unit.name
	}
	w.event(j.asked, who, "job.create", kind, of, name, &id, nil, map[string]any{"kind": j.kind})
	return id
}

func (w *world) stepsOf(id uuid.UUID, j job, attempt int, started, finished *time.Time) {
	names := stepsOf[j.kind]
	for i, name := range names {
		last := i == len(names)-1
		state, begun, over := "succeeded", started, finished
		if started == nil {
			state = "pending"
		} else if !last {
			at := started.Add(time.Second)
			over = &at
		} else if j.state == "running" || j.state == "failed" {
			state = j.state
		} else if j.state == "cancelled" {
			state = "failed"
		}
		w.steps.add(id, i, name, state, attempt, begun, over)
	}
}

// tell makes the log of a job.
func (w *world) tell(id uuid.UUID, j job, started *time.Time) {
	if started == nil {
		return
	}
	names := stepsOf[j.kind]
	l := newLog(id, j.kind, j.host.name, *started, names[len(names)-1])
	switch {
	case j.kind == "host_initialize" && j.state == "failed" && w.found.Long == "":
		w.found.Long = id.String()
		l.toldAtLength(j.host.name, w.size.LogLines)
	case j.kind == "host_initialize" && j.state == "running" && w.run == nil:
		w.found.Running, w.run = id.String(), l
		l.play("Prepare the host and its units")
		l.task(tasks[0], j.host.name, "changed", 0)
		l.close()
	case j.state == "running":
		l.play(l.story.play)
		l.task(l.story.tasks[0], j.host.name, "ok", 0)
		l.close()
	default:
		// The one of a host's own kind has most to show.
		if j.state == "failed" && (w.found.Failed == "" || j.kind == "host_decommission") {
			w.found.Failed = id.String()
		}
		l.told(j.host.name, j.state)
	}
	w.logs.rows = append(w.logs.rows, l.rows...)
	l.rows = nil
}
