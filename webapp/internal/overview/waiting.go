package overview

import (
	"cmp"
	"slices"
	"time"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

// longInQueue is how long a job that could be begun waits where nothing is wrong.
const longInQueue = 10 * time.Minute

// tasks are what waits for a person, what failed before what is to be decided.
func (v view) tasks() []page.Task {
	var all []page.Task
	for _, h := range v.Hosts {
		all = append(all, ofHost(h)...)
	}
	for _, a := range v.Failed {
		all = append(all, page.Task{Tone: ui.Bad, Title: a.LoginUser + " on " + a.Unit + ": " + ui.Word(a.State), Why: ui.Sentence(a.StateMeans) + ".", Href: "/allocations/" + a.ID})
	}
	if q := v.Queue; !q.Paused && seconds(q.OldestQueuedSeconds) > longInQueue {
		all = append(all, page.Task{Tone: ui.Wait, Title: "Jobs do not start", Why: "The first job in the queue has waited for " + ui.Span(seconds(q.OldestQueuedSeconds)) + ". Check that backends with the role worker are alive.", Href: "/system"})
	}
	if v.Quarantined > 0 {
		all = append(all, page.Task{Tone: ui.Wait, Title: ui.Count(v.Quarantined, "address") + " in quarantine", Why: "Release them when the lost host is off for good.", Href: "/address-pool?state=quarantined"})
	}
	all = append(all, v.OfAreas...)
	slices.SortStableFunc(all, func(a, b page.Task) int { return cmp.Compare(urgency(a.Tone), urgency(b.Tone)) })
	return all
}

func urgency(t ui.Tone) int {
	if t == ui.Bad {
		return 0
	}
	return 1
}

func ofHost(h api.CapacityHost) (all []page.Task) {
	at := "/hosts/" + h.ID
	add := func(tone ui.Tone, what, why, href string) {
		all = append(all, page.Task{Tone: tone, Title: h.Name + ": " + what, Why: why, Href: href})
	}
	switch h.State {
	case "awaiting_host_key":
		add(ui.Wait, "confirm its host key", "Compare the fingerprint on the host, then confirm it.", at)
	case "registered":
		add(ui.Wait, "probe failed", "Read the job, fix the cause, then probe again.", at)
	case "probed":
		if h.LaidOut {
			add(ui.Wait, "initialize it", "Its layout is set, but its units do not exist yet.", at)
		} else {
			add(ui.Wait, "set its layout", "Choose how to divide it into units.", at+"/layout")
		}
	case "init_failed", "decommission_failed":
		add(ui.Bad, ui.Word(h.State), ui.Sentence(h.StateMeans)+".", at)
	}
	if h.OffersKey && h.State != "awaiting_host_key" {
		add(ui.Bad, "its host key has changed", "Find out why before anything else.", at)
	}
	if h.Health == "unreachable" && !over(h.State) {
		add(ui.Bad, "unreachable", ui.Sentence(h.HealthMessage), at)
	}
	if h.Health == "degraded" && !over(h.State) {
		add(ui.Wait, "degraded", ui.Sentence(h.HealthMessage), at)
	}
	if n := h.Units["preparation_failed"]; n > 0 && h.State != "init_failed" {
		add(ui.Bad, ui.Count(n, "unit")+" could not be prepared", "Initialize the host again.", at)
	}
	return all
}

func sortByName(hosts []api.CapacityHost) {
	slices.SortFunc(hosts, func(a, b api.CapacityHost) int { return cmp.Compare(a.Name, b.Name) })
}

// cell is a host in the grid: the tone, and the few words that say why.
type cell struct {
	Tone        ui.Tone
	Word, Title string
	Parts       []ui.Part
}

func cellOf(h api.CapacityHost) cell {
	counts := unitCounts(h.Units)
	c := cell{Tone: states.Host(h.State), Word: ui.Word(h.State), Parts: parts(counts)}
	if h.State == "ready" {
		c.Word = ui.Number(h.Units["free"]) + " free"
		if failed := h.Units["allocation_failed"] + h.Units["deallocation_failed"] + h.Units["preparation_failed"]; failed > 0 {
			c.Tone, c.Word = ui.Wait, ui.Number(failed)+" failed"
		}
		switch h.Health {
		case "degraded":
			c.Tone, c.Word = ui.Wait, "degraded"
		case "unreachable":
			c.Tone, c.Word = ui.Bad, "unreachable"
		}
	}
	c.Title = h.Name + ": " + ui.Word(h.State) + ", " + h.Health
	if h.HealthMessage != "" {
		c.Title += " (" + h.HealthMessage + ")"
	}
	for _, u := range counts {
		c.Title += ", " + ui.Number(u.Count) + " " + ui.Word(u.State)
	}
	return c
}
