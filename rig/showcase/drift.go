package showcase

import (
	"time"

	"github.com/google/uuid"
)

// drifted is a promise that does not hold, or did not.
type drifted struct {
	ofHost                   bool
	promise, promised, found string
	state, message           string
	age                      time.Duration
	repairs                  int64
	repair                   string        // state of the job of the last repair; "" without one
	acceptedFor              time.Duration // from now
	acceptedBy               string
}

// drifts are in each state one, and two of a host and its unit.
var drifts = []drifted{
	{ofHost: true, promise: "schedulers", promised: "cron=closed", found: "cron=open", state: "open", age: 50 * time.Minute},
	{promise: "modes", promised: "home=0755 0:0; tmp=0711 0:0", found: "home=0777 0:0; tmp=1777 0:0", state: "open", age: 48 * time.Minute},
	{promise: "tasks", promised: "max=2048", found: "max=max", state: "repairing", age: 9 * time.Minute, repairs: 1, repair: "queued"},
	{
		promise: "nftables", promised: "jump=1; rules=5d0c1f2e 91ab34c7 0e6f7a15 c2d94b60 7713e0aa 4f08b9d2",
		found: "jump=missing; rules=5d0c1f2e 91ab34c7 0e6f7a15 c2d94b60 7713e0aa", state: "given_up", age: 4 * time.Hour, repairs: 3, repair: "succeeded",
		message: "It was repaired 3 times within an hour and came back. Find who changes it, then repair or accept it.",
	},
	{promise: "apparmor", promised: "profile=enforce", found: "profile=complain", state: "accepted", age: 20 * time.Hour, acceptedBy: "grace", acceptedFor: 28 * time.Hour},
	{
		promise: "mount", promised: "options=discard,noatime,nodev,nosuid,rw", found: "options=discard,noatime,nodev,rw", state: "ended",
		age: 4 * time.Hour, repairs: 1, repair: "succeeded", message: "It was repaired.",
	},
}

// drift makes what is not as promised, on the last hosts: the first ones are those that pages are judged with.
func (w *world) drift() {
	rows := &table{name: "drifts", columns: []string{
		"id", "workspace_id", "host_id", "unit_id", "allocation_id", "name", "promise", "promised", "found", "state", "state_message", "job_id",
		"repaired_at", "repairs", "accepted_by", "accept_until", "since", "ended_at",
	}}
	w.more = append(w.more, rows)
	holders := map[uuid.UUID]uuid.UUID{} // unit -> allocation
	for _, a := range w.allocations.rows {
		holders[a[2].(uuid.UUID)] = a[0].(uuid.UUID)
	}
	next := len(w.ended)
	for n, d := range drifts {
		if n != 1 { // the second is of the first one's host
			next--
		}
		if next < 0 {
			return
		}
		h := w.ended[next]
		if d.ofHost {
			w.driftOf(rows, d, h, nil, uuid.Nil)
			continue
		}
		for _, u := range h.units {
			if u.state == "allocated" {
				w.driftOf(rows, d, h, u, holders[u.id])
				break
			}
		}
	}
}

func (w *world) driftOf(rows *table, d drifted, h *host, u *unit, allocation uuid.UUID) {
	kind, of, unitID, name := "host", h.id, uuid.Nil, h.name
	if u != nil {
		kind, of, unitID, name = "unit", u.id, u.id, u.name
	}
	since := w.ago(d.age)
	var repaired, until, ended *time.Time
	var repair *uuid.UUID
	if d.repair != "" {
		at := since.Add(2 * time.Minute)
		id := w.job(job{kind: "allocation_keys", state: d.repair, host: h, unit: u, allocation: &allocation, asked: at, took: 20 * time.Second})
		repair, repaired = &id, &at
	}
	if d.acceptedFor > 0 {
		at := w.now.Add(d.acceptedFor)
		until = &at
	}
	facts := map[string]any{"host": h.name, "promise": d.promise, "promised": d.promised, "found": d.found}
	told := func(at time.Time, action string, before, after map[string]any) {
		w.events.add(w.id(), at, w.workspace, "policy", "drift", "", "", "drift."+action, kind, of, name, repair, before, after)
	}
	told(since, "find", nil, facts)
	switch d.state {
	case "ended":
		at := repaired.Add(time.Minute)
		ended = &at
		told(at, "end", facts, map[string]any{"message": d.message, "promise": d.promise})
	case "given_up":
		told(repaired.Add(30*time.Minute), "give_up", facts, map[string]any{"message": d.message, "promise": d.promise})
	}
	rows.add(w.id(), w.workspace, h.id, unitID, allocation, name, d.promise, d.promised, d.found, d.state, d.message, repair, repaired, d.repairs,
		d.acceptedBy, until, since, ended)
}
