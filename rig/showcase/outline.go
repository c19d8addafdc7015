package showcase

import (
	"encoding/json"
	"slices"

	"kloigos/backend/api"
)

// outline is what a worker keeps beside a chunk of a log: its tasks, and how each went on each host. A test compares it
// with what the backend makes of the entries themselves.
type outline struct {
	Tasks  []outlineTask  `json:"tasks"`
	Counts map[string]int `json:"counts,omitempty"`
	Failed int64          `json:"failed,omitempty"`
}

type outlineTask struct {
	Sequence  int64           `json:"sequence"`
	Attempt   int             `json:"attempt"`
	Step      string          `json:"step"`
	Play      string          `json:"play,omitempty"`
	Role      string          `json:"role,omitempty"`
	Task      string          `json:"task"`
	Announced bool            `json:"announced,omitempty"`
	Results   []outlineResult `json:"results,omitempty"`
}

type outlineResult struct {
	Host       string `json:"host"`
	Kind       string `json:"kind"`
	Sequence   int64  `json:"sequence"`
	Items      int    `json:"items,omitempty"`
	DurationMS int64  `json:"duration_ms,omitempty"`
}

// outlined is a chunk's outline, compressed; empty if the chunk has no task.
func outlined(entries []api.LogEntry) []byte {
	o := outline{Counts: map[string]int{}}
	for _, e := range entries {
		o.add(e)
	}
	if len(o.Tasks) == 0 {
		return []byte{}
	}
	text, _ := json.Marshal(o) // plain data
	return compress(text)
}

func (o *outline) add(e api.LogEntry) {
	task := outlineTask{Sequence: e.Sequence, Attempt: e.Attempt, Step: e.Step, Play: e.Play, Role: e.Role, Task: e.Task}
	switch e.Kind {
	case "task_started":
		task.Announced = true
		o.Tasks = append(o.Tasks, task)
		return
	case "play_started", "finished":
		return
	}
	result := outlineResult{Host: e.Host, Kind: e.Kind, Sequence: e.Sequence, DurationMS: e.DurationMS}
	if e.Item == "" {
		o.Counts[e.Kind]++
	} else {
		result.Items = 1
	}
	if e.Kind == "failed" {
		o.Failed = e.Sequence
	}
	if n := len(o.Tasks); n == 0 || o.Tasks[n-1].Task != e.Task {
		o.Tasks = append(o.Tasks, task)
	}
	o.Tasks[len(o.Tasks)-1].take(result)
}

func (t *outlineTask) take(r outlineResult) {
	i := slices.IndexFunc(t.Results, func(have outlineResult) bool { return have.Host == r.Host })
	if i < 0 {
		t.Results = append(t.Results, r)
		return
	}
	r.Items += t.Results[i].Items
	t.Results[i] = r
}
