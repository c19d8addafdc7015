package job

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"kloigos/backend/api"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

type listView struct {
	Sort              ui.Sorter
	Jobs              []api.Job
	State, Kind, Host string
	Object            string // id of another thing that jobs are about
	Playbook          string // with Version: only what is bound to it
	Version           int
	Pages             ui.Pages
	Filtered          bool
}

// BoundTo is the list of the jobs that are bound to a version of a playbook,
// of those that have not ended (active) or of those that have (ended).
func BoundTo(playbook string, version int, state string) string {
	return "/jobs?" + url.Values{"state": {state}, "playbook": {playbook}, "version": {itoa(version)}}.Encode()
}

type detailView struct {
	Job      api.Job
	Waits    waits
	Log      []line
	Chosen   choice
	Newest   int64 // sequence of the newest line
	Complete bool
	Previous string // URLs of the parts of the log around this one, where scripts are off
	Next     string
	Outline  *grid // where it was asked for with the page
}

// subject names what a job is about, with the page of it.
type subject struct{ Label, Href string }

func subjects(j api.Job) []subject {
	var all []subject
	if j.LoginUser != "" && j.AllocationID != "" {
		all = append(all, subject{j.LoginUser, "/allocations/" + j.AllocationID})
	}
	if j.Unit != "" {
		all = append(all, subject{j.Unit, objectURL("/compute-units/", j.UnitID)})
	}
	if j.Host != "" {
		all = append(all, subject{j.Host, objectURL("/hosts/", j.HostID)})
	}
	return all
}

// objectURL is the page of an object; "" for one that is not of this workspace.
func objectURL(path, id string) string {
	if id == "" {
		return ""
	}
	return path + id
}

// hostsIn are the hosts of a job that has several, in one state.
func hostsIn(j api.Job, state string) (hosts []api.JobHost) {
	for _, h := range j.Hosts {
		if h.State == state {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// next is where someone who waited for a job wants to go when it has succeeded.
func next(ctx context.Context, j api.Job) (s subject, ok bool) {
	if j.State != "succeeded" {
		return s, false
	}
	if len(j.Objects) > 0 {
		o := j.Objects[0]
		s = subject{"Continue with the " + ui.Word(o.Noun), ui.Place(ctx, o.Noun, o.ID)}
		return s, s.Href != ""
	}
	switch j.Kind {
	case "unit_allocate", "allocation_keys", "allocation_network":
		s = subject{"How to log in", "/allocations/" + j.AllocationID}
	case "hosts_probe":
		s = subject{"All hosts", "/hosts"}
	case "host_measure":
		s = subject{"Host and usage of its units", "/hosts/" + j.HostID}
	case "plan":
		s = subject{"Open the plan", "/plans/" + j.PlanID}
	case "unit_deallocate":
		s = subject{"Unit and evidence of the wipe", "/compute-units/" + j.UnitID}
	default:
		s = subject{"Continue with the host", "/hosts/" + j.HostID}
	}
	return s, !strings.HasSuffix(s.Href, "/")
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

func tookLabel(j api.Job) string {
	if ended(j) {
		return "Took"
	}
	return "Running for"
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

// withdrawn is what a job leaves that is cancelled before it began, where that is
// more than what was.
var withdrawn = map[string]string{
	"unit_allocate":     " The allocation ends, and its unit and address are free again.",
	"unit_deallocate":   " The tenant keeps the unit as it is.",
	"host_initialize":   " The host waits to be initialized again.",
	"host_relayout":     " The replaced units are gone; a retry creates the new ones.",
	"host_decommission": " The host and its units stay closed until it is decommissioned, or initialized again.",
}

// operations are what can be done with a job now.
func operations(j api.Job) (can []ui.Operation) {
	for _, o := range j.Operations {
		if !o.Allowed {
			continue
		}
		v := ui.Operation{Allowed: true, Action: "/jobs/" + j.ID + "/"}
		switch strings.ReplaceAll(o.Name, "-", "_") {
		case "retry":
			v.Label, v.Main = "Retry"+fromStep(j), true
			v.What = "Completed steps are not repeated. The failed step starts again; parts already in order stay as they are. Playbook: the version of this job" + bound(j) + "."
			if j.Playbook == "" {
				v.What = "Completed steps are not repeated. The failed step starts again and changes only what is not in order."
			}
			v.Action += "retry"
		case "cancel":
			v.Label, v.Danger = "Cancel", true
			v.What = "Stops Ansible and its tasks on the host; the current task may be interrupted. You can retry the job from the step at which it stopped."
			if j.Playbook == "" {
				v.What = "Stops it at once. You can retry the job from the step at which it stopped."
			}
			if j.State == "queued" && j.Attempt == 0 {
				v.What = "Removes it from the queue. Nothing was changed." + withdrawn[j.Kind]
			}
			v.Action += "cancel"
		case "give_up":
			v.Label, v.Danger = "Give up and clean", true
			v.What = cleans[j.Kind]
			v.Action += "give-up"
		default:
			continue
		}
		can = append(can, v)
		if v.Main && j.Playbook != "" {
			with := v
			with.Label, with.Main = "Retry with the default version", false
			with.What = "The same, with the current default version of the playbook."
			with.Action += "?playbook=default"
			can = append(can, with)
		}
		if v.Main {
			can = append(can, repeats(j, v.Action)...)
		}
	}
	return can
}

// WayOut is what can be done with the newest of an object's jobs, where that is
// what made the object fail.
func WayOut(newestFirst []api.Job) (can []ui.Operation) {
	i := slices.IndexFunc(newestFirst, func(j api.Job) bool { return !looks[j.Kind] })
	if i < 0 || newestFirst[i].State != "failed" && newestFirst[i].State != "cancelled" {
		return nil
	}
	j := newestFirst[i]
	for _, o := range operations(j) {
		if o.Main || strings.HasSuffix(o.Action, "/give-up") {
			can = append(can, o)
		}
	}
	if NeverBegan(j) {
		for i := range can {
			if can[i].Main {
				can[i].Label, can[i].What = "Retry", "Queues the job again. Nothing has been done on the host yet."
			}
		}
	}
	return can
}

// RetryOf is the retry of a job that failed.
func RetryOf(j api.Job) (can []ui.Operation) {
	for _, o := range operations(j) {
		if o.Main && j.State == "failed" {
			can = append(can, o)
		}
	}
	return can
}

// looks are the kinds of jobs that change nothing, and so fail no object.
var looks = map[string]bool{"plan": true, "host_measure": true, "hosts_probe": true}

// NeverBegan tells whether a job was cancelled before any attempt: nothing was
// changed on its host.
func NeverBegan(j api.Job) bool {
	return j.State == "cancelled" && j.Attempt == 0 && j.StartedAt == nil
}

// repeats are retries from steps that are done.
func repeats(j api.Job, action string) (all []ui.Operation) {
	for i, s := range j.Steps {
		if s.State != "succeeded" {
			break
		}
		all = append(all, ui.Operation{
			Label: "Repeat from step " + itoa(i+1) + ", " + ui.Word(s.Name), Allowed: true, Action: action + "?from=" + url.QueryEscape(s.Name),
			What: "Repeats this step and all later ones, for a host that was changed since. Parts already in order stay as they are.",
		})
	}
	return all
}

// cleans says what giving up a job of each kind does.
var cleans = map[string]string{
	"unit_allocate":   "Removes the tenant's setup, wipes the volume and frees the unit in a new job. The allocation ends.",
	"host_initialize": "Removes everything of Kloigos from the host in a new job.",
	"host_relayout":   "Keeps the existing units and removes those that could not be created, in a new job.",
}

// fromStep names the step at which a retry goes on.
func fromStep(j api.Job) string {
	for i, s := range j.Steps {
		if s.State != "succeeded" && len(j.Steps) > 1 {
			return " from step " + itoa(i+1) + ", " + ui.Word(s.Name)
		}
	}
	return ""
}

func bound(j api.Job) string {
	if j.Playbook == "" {
		return ""
	}
	return ", " + j.Playbook + " v" + itoa(j.Version)
}

// line is one entry of a log, ready to be drawn.
type line struct {
	api.LogEntry
	Class string // play, task, result, failed, note
	Tone  ui.Tone
	Word  string
	Title string
	Open  bool
	About string // the task, where the line stands without the others
	// FoldPlay and FoldTask are what the line is folded by.
	FoldPlay, FoldTask string
}

func lineOf(e api.LogEntry) line {
	l := line{LogEntry: e, Class: "result", Word: e.Kind, FoldPlay: key(itoa(e.Attempt), e.Step), FoldTask: key(itoa(e.Attempt), e.Step, e.Role, e.Task)}
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
		l.Tone, l.Word = ui.Busy, "will retry"
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

// lines are entries ready to be drawn; each names its task if it stands alone.
func lines(entries []api.LogEntry, alone bool) []line {
	out := make([]line, len(entries))
	for i, e := range entries {
		out[i] = lineOf(e)
		if alone && out[i].Title == "" {
			out[i].About = e.Task
		}
	}
	return out
}

func lineCount(n int64) string {
	if n == 0 {
		return ""
	}
	return ui.Count(int(n), "line")
}

func rows(s string) string {
	return ui.Count(strings.Count(strings.TrimRight(s, "\n"), "\n")+1, "line")
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// Short is the first line of a message, cut to fit a table.
func Short(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	s = plain(s)
	if r := []rune(s); len(r) > 110 {
		return string(r[:110]) + "…"
	}
	return s
}

// current names the step at which a job of several stands.
func current(j api.Job) string {
	if len(j.Steps) < 2 {
		return ""
	}
	for i, s := range j.Steps {
		if s.State == "running" || s.State == "failed" {
			return ui.Word(s.Name) + ", " + itoa(i+1) + " of " + itoa(len(j.Steps))
		}
	}
	return ""
}
