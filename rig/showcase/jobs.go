package showcase

import (
	"fmt"
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
	j := job{host: h, asked: w.ago(time.Duration(2+w.some(20)) * time.Minute), took: 3 * time.Minute}
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
	j := job{host: u.host, unit: u, allocation: &allocation, asked: w.ago(time.Duration(1+w.some(240)) * time.Minute), took: time.Duration(5+w.some(60)) * time.Second}
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

// history makes what has gone well, or was stopped, in the last two weeks, and the audit trail.
func (w *world) history() {
	kinds := []string{"unit_allocate", "unit_allocate", "unit_allocate", "unit_deallocate", "unit_deallocate", "allocation_keys", "host_probe"}
	for n := 0; len(w.ended) > 0 && n < w.size.Jobs; n++ {
		h := pick(w, w.ended)
		j := job{kind: pick(w, kinds), state: "succeeded", host: h, asked: w.ago(time.Duration(w.some(14*24*60)+5) * time.Minute), took: time.Duration(4+w.some(90)) * time.Second}
		if j.kind != "host_probe" && len(h.units) > 0 {
			j.unit = pick(w, h.units)
		}
		if n%23 == 7 {
			j.state = "cancelled"
		}
		w.job(j)
	}
	actions := []string{"allocation.create", "allocation.deallocate", "allocation.replace_keys", "host.probe", "unit.close", "unit.open"}
	for n := 0; len(w.ended) > 0 && n < w.size.Events; n++ {
		h := pick(w, w.ended)
		at := w.ago(time.Duration(w.some(14*24*3600)) * time.Second)
		action := pick(w, actions)
		kind, id, name := "host", h.id, h.name
		if action != "host.probe" && len(h.units) > 0 {
			u := pick(w, h.units)
			kind, id, name = "unit", u.id, u.name
		}
		w.event(at, pick(w, people[:4]), action, kind, id, name, nil, map[string]any{"state": "free"}, map[string]any{"state": "allocating", "cpus": 2})
	}
}

func (w *world) event(at time.Time, who, action, kind string, id uuid.UUID, name string, job *uuid.UUID, before, after map[string]any) {
	w.events.add(w.id(), at, w.workspace, "account", who, fmt.Sprintf("198.51.100.%d", 1+w.some(250)), w.id().String(), action, kind, id, name, job, before, after)
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
