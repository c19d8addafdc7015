package httpapi

import (
	"context"
	"slices"
	"strings"

	"kloigos/backend/api"
	"kloigos/backend/internal/store"
)

const (
	// logLook is how many entries one request looks at for those that its filter
	// lets through; whoever asks goes on from there.
	logLook = 20_000
	// logFound is how many bytes of text one answer holds of what was found, and
	// one entry more.
	logFound = 4 << 20
	// outlineTasks is how many tasks an outline lists.
	outlineTasks = 1000
)

func (s *Server) getJobLog(ctx context.Context, in *struct {
	ByID
	api.LogFilter
},
) (*object[api.JobLog], error) {
	j, err := s.job(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	wanted, err := logFilter(in.LogFilter)
	if err != nil {
		return nil, err
	}
	pulse, err := s.db.JobPulse(ctx, j.ID)
	if err != nil {
		return nil, err
	}
	out := &object[api.JobLog]{Body: api.JobLog{Items: []api.LogEntry{}, Last: in.After, Newest: pulse.LastSeq}}
	if wanted == nil {
		err = s.logPart(ctx, j, in.LogFilter, out)
	} else {
		looked, size := 0, 0
		err = s.db.EachLogEntry(ctx, j.ID, in.After, func(e store.LogEntry) bool {
			looked++
			if wanted(e) {
				out.Body.Items = append(out.Body.Items, presentLogEntry(e))
				size += len(e.Message) + len(e.Output) + len(e.Diff)
			}
			out.Body.Last = e.Sequence
			return looked < logLook && size < logFound && len(out.Body.Items) < in.Limit
		})
	}
	out.Body.Newest = max(out.Body.Newest, out.Body.Last)
	out.Body.Complete = ended(pulse.State) && out.Body.Last >= pulse.LastSeq
	return out, err
}

func (s *Server) logPart(ctx context.Context, j store.Job, f api.LogFilter, out *object[api.JobLog]) error {
	entries, err := s.db.JobLog(ctx, j.ID, f.After, f.Limit)
	for _, e := range entries {
		out.Body.Items = append(out.Body.Items, presentLogEntry(e))
		out.Body.Last = e.Sequence
	}
	return err
}

var logKinds = []string{
	"play_started", "task_started", "ok", "changed", "skipped", "failed", "unreachable", "ignored", "retry", "output", "finished", "note",
}

// logFilter is what tells whether an entry is wanted; nil if all are.
func logFilter(f api.LogFilter) (func(store.LogEntry) bool, error) {
	var kinds []string
	if f.Kinds != "" {
		kinds = strings.Split(f.Kinds, ",")
	}
	for _, k := range kinds {
		if err := oneOf("kinds", k, logKinds); err != nil {
			return nil, err
		}
	}
	search := strings.ToLower(f.Search)
	if len(kinds) == 0 && search == "" {
		return nil, nil
	}
	return func(e store.LogEntry) bool {
		if len(kinds) > 0 && !slices.Contains(kinds, e.Kind) {
			return false
		}
		return search == "" || slices.ContainsFunc([]string{e.Play, e.Role, e.Task, e.Item, e.Host, e.Message, e.Output, e.Diff}, func(s string) bool {
			return s != "" && strings.Contains(strings.ToLower(s), search)
		})
	}, nil
}

func (s *Server) getJobOutline(ctx context.Context, in *ByID) (*object[api.LogOutline], error) {
	j, err := s.job(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	o := outline{LogOutline: api.LogOutline{Hosts: []string{}, Tasks: []api.LogTask{}, Counts: map[string]int{}}}
	err = s.db.EachLogEntry(ctx, j.ID, 0, func(e store.LogEntry) bool {
		o.add(e)
		return true
	})
	return &object[api.LogOutline]{Body: o.LogOutline}, err
}

// outline is made of the entries of a log, one after the other.
type outline struct{ api.LogOutline }

func (o *outline) add(e store.LogEntry) {
	o.Last = e.Sequence
	switch e.Kind {
	case "task_started":
		o.begin(e)
	case "ok", "changed", "skipped", "failed", "unreachable", "ignored":
		o.result(e)
	}
}

func (o *outline) begin(e store.LogEntry) {
	if len(o.Tasks) >= 2*outlineTasks { // half of them at once, not one by one
		o.Tasks = slices.Delete(o.Tasks, 0, outlineTasks)
		o.LeftOut += outlineTasks
	}
	o.Tasks = append(o.Tasks, api.LogTask{
		Sequence: e.Sequence, Attempt: e.Attempt, Step: e.Step, Play: e.Play, Role: e.Role, Task: e.Task, Results: []api.LogResult{},
	})
}

// result notes how the task went on a host. A task that nobody announced, as
// when an entry could not be kept, begins with its result.
func (o *outline) result(e store.LogEntry) {
	if n := len(o.Tasks); n == 0 || o.Tasks[n-1].Task != e.Task && e.Task != "" {
		o.begin(e)
	}
	t := &o.Tasks[len(o.Tasks)-1]
	i := slices.IndexFunc(t.Results, func(r api.LogResult) bool { return r.Host == e.Host })
	if i < 0 {
		if !slices.Contains(o.Hosts, e.Host) {
			o.Hosts = append(o.Hosts, e.Host)
		}
		t.Results, i = append(t.Results, api.LogResult{Host: e.Host}), len(t.Results)
	}
	r := &t.Results[i]
	r.Kind, r.Sequence, r.DurationMS = e.Kind, e.Sequence, e.DurationMS
	if e.Kind == "failed" || e.Kind == "unreachable" {
		o.Failed = e.Sequence
	}
	if e.Item != "" {
		r.Items++
		return
	}
	o.Counts[e.Kind]++
}
