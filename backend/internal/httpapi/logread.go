package httpapi

import (
	"context"
	"maps"
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
)

func (s logHandlers) getJobLog(ctx context.Context, in *struct {
	ByID
	api.LogFilter
},
) (*object[api.JobLog], error) {
	j, err := jobHandlers(s).job(ctx, in.ID)
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
			if j.OnSharedHost() { // nobody searches for what is not shown
				e.Output, e.Diff = "", ""
			}
			if wanted(e) {
				out.Body.Items = append(out.Body.Items, presentLogEntry(e, j.OnSharedHost()))
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

func (s logHandlers) logPart(ctx context.Context, j store.Job, f api.LogFilter, out *object[api.JobLog]) error {
	entries, err := s.db.JobLog(ctx, j.ID, f.After, f.Limit)
	for _, e := range entries {
		out.Body.Items = append(out.Body.Items, presentLogEntry(e, j.OnSharedHost()))
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

func (s logHandlers) getJobOutline(ctx context.Context, in *ByID) (*object[api.LogOutline], error) {
	j, err := jobHandlers(s).job(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	o, err := s.db.JobOutline(ctx, j.ID)
	if err != nil {
		return nil, err
	}
	return &object[api.LogOutline]{Body: presentOutline(o)}, nil
}

func presentOutline(o store.Outline) api.LogOutline {
	out := api.LogOutline{
		Hosts: append([]string{}, o.Hosts...), Tasks: make([]api.LogTask, len(o.Tasks)), LeftOut: o.LeftOut, Counts: map[string]int{},
		Failed: o.Failed, Last: o.Last,
	}
	maps.Copy(out.Counts, o.Counts)
	for i, t := range o.Tasks {
		results := make([]api.LogResult, len(t.Results))
		for k, r := range t.Results {
			results[k] = api.LogResult{Host: r.Host, Kind: r.Kind, Sequence: r.Sequence, Items: r.Items, DurationMS: r.DurationMS}
		}
		out.Tasks[i] = api.LogTask{Sequence: t.Sequence, Attempt: t.Attempt, Step: t.Step, Play: t.Play, Role: t.Role, Task: t.Task, Results: results}
	}
	return out
}
