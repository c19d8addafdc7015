package job

import (
	"strings"
	"time"

	"kloigos/backend/api"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

type listView struct {
	Sort              ui.Sorter
	Jobs              []api.Job
	Queue             api.Queue
	State, Kind, Host string
	First, Next       string
	Filtered          bool
}

var kinds = []string{"host_probe", "host_initialize", "host_relayout", "host_decommission", "unit_allocate", "unit_deallocate", "allocation_keys", "plan"}

type detailView struct {
	Job      api.Job
	Log      []line
	After    int64
	Complete bool
	More     string // URL of the next part of the log, where scripts are off
	Back     string // URL of the log's beginning
}

// subject names what a job is about, with the page of it.
type subject struct{ Label, Href string }

func subjects(j api.Job) []subject {
	var all []subject
	if j.LoginUser != "" && j.AllocationID != "" {
		all = append(all, subject{j.LoginUser, "/allocations/" + j.AllocationID})
	}
	if j.Unit != "" {
		all = append(all, subject{j.Unit, "/compute-units/" + j.UnitID})
	}
	if j.Host != "" {
		all = append(all, subject{j.Host, "/hosts/" + j.HostID})
	}
	return all
}

// next is where someone who waited for a job wants to go when it has succeeded.
func next(j api.Job) (s subject, ok bool) {
	if j.State != "succeeded" {
		return s, false
	}
	switch j.Kind {
	case "unit_allocate", "allocation_keys":
		s = subject{"How to log in", "/allocations/" + j.AllocationID}
	case "plan":
		s = subject{"See the plan", "/plans/" + j.PlanID}
	case "unit_deallocate":
		s = subject{"The unit, with the evidence of its wipe", "/compute-units/" + j.UnitID}
	default:
		s = subject{"Go on with the host", "/hosts/" + j.HostID}
	}
	return s, true
}

func ended(j api.Job) bool {
	return j.State == "succeeded" || j.State == "failed" || j.State == "cancelled"
}

// took is how long a job has been worked on.
func took(j api.Job, now time.Time) string {
	switch {
	case j.StartedAt == nil:
		return ""
	case j.FinishedAt != nil:
		return ui.Span(j.FinishedAt.Sub(*j.StartedAt))
	case ended(j):
		return ""
	default:
		return ui.Span(max(now.Sub(*j.StartedAt), 0))
	}
}

func steps(j api.Job) []ui.StepView {
	var all []ui.StepView
	for _, s := range j.Steps {
		v := ui.StepView{Name: s.Name, State: s.State, Tone: states.Step(s.State)}
		if s.StartedAt != nil && s.FinishedAt != nil {
			v.Took = ui.Span(s.FinishedAt.Sub(*s.StartedAt))
		}
		if s.Attempt > 1 {
			v.State += " at attempt " + itoa(s.Attempt)
		}
		all = append(all, v)
	}
	return all
}

func operations(j api.Job) (can, cannot []ui.Operation) {
	for _, o := range j.Operations {
		v := ui.Operation{Allowed: o.Allowed, Prevents: o.Prevents, Action: "/jobs/" + j.ID + "/"}
		switch strings.ReplaceAll(o.Name, "-", "_") {
		case "retry":
			v.Label, v.Main = "Retry", true
			v.What = "Goes on at the step that failed, with the playbook version that the job was bound to."
			v.Action += "retry"
		case "cancel":
			v.Label, v.Danger = "Cancel", true
			v.What = "Stops the run on the host. It can be retried from where it stopped."
			v.Action += "cancel"
		case "give_up":
			v.Label, v.Danger = "Give up and clean", true
			v.What = "Starts a job that removes what this one left half done."
			v.Action += "give-up"
		default:
			continue
		}
		if !v.Allowed {
			cannot = append(cannot, v)
			continue
		}
		can = append(can, v)
		if v.Label == "Retry" && j.Playbook != "" {
			with := v
			with.Label, with.Main = "Retry with today's default", false
			with.What = "The same, with the version of the playbook that is the default now."
			with.Action += "?playbook=default"
			can = append(can, with)
		}
	}
	return can, cannot
}

// line is one entry of a log, ready to be drawn.
type line struct {
	api.LogEntry
	Class string // play, task, result, failed, note
	Tone  ui.Tone
	Word  string
	Title string
	Open  bool
}

func lineOf(e api.LogEntry) line {
	l := line{LogEntry: e, Class: "result", Word: e.Kind}
	switch e.Kind {
	case "play_started":
		l.Class, l.Title = "play", first(e.Play, "Play")
	case "task_started":
		l.Class, l.Title = "task", first(e.Task, "Task")
	case "ok":
		l.Tone = ui.Good
	case "changed":
		l.Tone = ui.Edit
	case "skipped":
		l.Tone = ui.Gone
	case "failed", "unreachable":
		l.Class, l.Tone, l.Open = "failed", ui.Bad, true
	case "ignored":
		l.Tone, l.Word = ui.Idle, "failed, ignored"
	case "retry":
		l.Tone, l.Word = ui.Busy, "tried again"
	case "output":
		l.Class, l.Word, l.Open = "note", "", true
	case "finished":
		l.Class, l.Word, l.Title = "play", "", "End of the play"
	default:
		l.Class, l.Word = "note", ""
	}
	return l
}

func first(s ...string) string {
	for _, v := range s {
		if v != "" {
			return v
		}
	}
	return ""
}

func lines(entries []api.LogEntry) []line {
	out := make([]line, len(entries))
	for i, e := range entries {
		out[i] = lineOf(e)
	}
	return out
}

func rows(s string) string {
	return ui.Count(strings.Count(strings.TrimRight(s, "\n"), "\n")+1, "line")
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// short is the first line of a message, cut to fit a table.
func short(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	var b strings.Builder
	for _, r := range ui.Terminal(s) {
		b.WriteString(r.Text)
	}
	if r := []rune(b.String()); len(r) > 110 {
		return string(r[:110]) + "…"
	}
	return b.String()
}

// current names the step at which a job stands.
func current(j api.Job) string {
	for i, s := range j.Steps {
		if s.State == "running" || s.State == "failed" {
			return ui.Word(s.Name) + ", " + itoa(i+1) + " of " + itoa(len(j.Steps))
		}
	}
	return ""
}

func errorTone(j api.Job) ui.Tone {
	if j.State == "failed" {
		return ui.Bad
	}
	return ui.Wait
}

func errorTitle(j api.Job) string {
	title := ui.Sentence(j.Error.Code)
	if j.Error.Host != "" {
		title += " on " + j.Error.Host
	}
	if !ended(j) {
		title = "The last attempt failed: " + title
	}
	return title
}
