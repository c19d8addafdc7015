package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"kloigos/backend/internal/kernel/db"

	"github.com/google/uuid"
)

// Outline is a log in short: its tasks, and how each went on each host. It is
// made of the entries of a log, one after the other, or of the outlines of its
// chunks, which comes to the same.
type Outline struct {
	Tasks   []OutlineTask  `json:"tasks,omitempty"`
	Counts  map[string]int `json:"counts,omitempty"` // results by kind; the items of a loop are not counted
	Failed  int64          `json:"failed,omitempty"` // sequence of the last entry that is failed or unreachable
	Hosts   []string       `json:"-"`                // in the order in which they first told something
	LeftOut int            `json:"-"`                // tasks before those that are listed
	Last    int64          `json:"-"`                // sequence of the log's last entry
}

// OutlineTask is one task.
type OutlineTask struct {
	Sequence  int64           `json:"sequence"` // of its first entry
	Attempt   int             `json:"attempt"`
	Step      string          `json:"step"`
	Play      string          `json:"play,omitempty"`
	Role      string          `json:"role,omitempty"`
	Task      string          `json:"task"`
	Announced bool            `json:"announced,omitempty"` // or it may be one that began in a chunk before
	Results   []OutlineResult `json:"results,omitempty"`   // one for each host
}

// OutlineResult is how a task went on one host.
type OutlineResult struct {
	Host       string `json:"host"`
	Kind       string `json:"kind"` // of the last entry
	Sequence   int64  `json:"sequence"`
	Items      int    `json:"items,omitempty"`
	DurationMS int64  `json:"duration_ms,omitempty"`
}

// OutlineTasks is how many tasks the outline of a log lists, the last ones.
const OutlineTasks = 1000

func outlineOf(entries []LogEntry) Outline {
	var o Outline
	for _, e := range entries {
		o.add(e)
	}
	return o
}

func (o *Outline) add(e LogEntry) {
	task := OutlineTask{Sequence: e.Sequence, Attempt: e.Attempt, Step: e.Step, Play: e.Play, Role: e.Role, Task: e.Task}
	switch e.Kind {
	case "task_started":
		task.Announced = true
		o.begin(task)
	case "ok", "changed", "skipped", "failed", "unreachable", "ignored":
		items := 1
		if e.Item == "" {
			items = 0
			o.count(e.Kind, 1)
		}
		if e.Kind == "failed" || e.Kind == "unreachable" {
			o.Failed = e.Sequence
		}
		o.goOn(task)
		o.result(OutlineResult{Host: e.Host, Kind: e.Kind, Sequence: e.Sequence, Items: items, DurationMS: e.DurationMS})
	}
}

// merge adds what came after.
func (o *Outline) merge(next Outline) {
	for _, t := range next.Tasks {
		if t.Announced {
			o.begin(t)
		} else {
			o.goOn(t)
		}
		for _, r := range t.Results {
			o.result(r)
		}
	}
	for kind, n := range next.Counts {
		o.count(kind, n)
	}
	if next.Failed > 0 {
		o.Failed = next.Failed
	}
	if len(o.Tasks) >= 2*OutlineTasks { // half of them at once, not one by one
		drop := len(o.Tasks) - OutlineTasks
		o.Tasks = slices.Delete(o.Tasks, 0, drop)
		o.LeftOut += drop
	}
}

func (o *Outline) count(kind string, n int) {
	if o.Counts == nil {
		o.Counts = map[string]int{}
	}
	o.Counts[kind] += n
}

func (o *Outline) begin(t OutlineTask) {
	t.Results = nil
	o.Tasks = append(o.Tasks, t)
}

// goOn begins a task that nobody announced, as when an entry could not be kept,
// unless it is the one under way.
func (o *Outline) goOn(t OutlineTask) {
	if n := len(o.Tasks); n == 0 || o.Tasks[n-1].Task != t.Task && t.Task != "" {
		o.begin(t)
	}
}

func (o *Outline) result(r OutlineResult) {
	t := &o.Tasks[len(o.Tasks)-1]
	i := slices.IndexFunc(t.Results, func(have OutlineResult) bool { return have.Host == r.Host })
	if i < 0 {
		t.Results = append(t.Results, r)
		if !slices.Contains(o.Hosts, r.Host) {
			o.Hosts = append(o.Hosts, r.Host)
		}
		return
	}
	r.Items += t.Results[i].Items
	t.Results[i] = r
}

// packed is the outline as it is stored beside its chunk; empty if it says
// nothing.
func (o Outline) packed() ([]byte, error) {
	if len(o.Tasks) == 0 {
		return []byte{}, nil
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encode outline: %w", err)
	}
	return logEncoder.EncodeAll(text, nil), nil
}

func unpackOutline(packed []byte) (o Outline, err error) {
	text, err := logDecoder.DecodeAll(packed, nil)
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		return o, fmt.Errorf("decode outline: %w", err)
	}
	return o, nil
}

type logOutline struct {
	FirstSeq int64  `db:"first_seq"`
	Outline  []byte `db:"outline"` // nil: read the chunk itself
}

// Chunks without a task or a result are neither read nor looked at.
const sqlLogOutlines = `
SELECT l.first_seq, l.outline
  FROM job_log l
 WHERE l.job_id = $1 AND l.first_seq > $2 AND l.first_seq <= $3 AND (l.outline IS NULL OR length(l.outline) > 0)
 ORDER BY l.first_seq
 LIMIT $4`

const sqlLogChunksAsTheyWere = `
SELECT l.first_seq, l.entries
  FROM job_log l
 WHERE l.job_id = $1 AND l.first_seq >= $2 AND l.first_seq <= $3 AND l.outline IS NULL
 ORDER BY l.first_seq`

const (
	outlinesAtOnce = 500
	oldAtOnce      = maxLogChunks
)

// JobOutline is a job's log in short. What it costs grows with the tasks and
// their hosts, not with the lines that they wrote.
func (r Reads) JobOutline(ctx context.Context, id uuid.UUID) (o Outline, err error) {
	if o.Last, err = r.LastSequence(ctx, id); err != nil {
		return o, fmt.Errorf("find the end of the log: %w", err)
	}
	for after := int64(0); ; {
		outlines, err := db.Collect[logOutline](ctx, r.q, sqlLogOutlines, id, after, o.Last, outlinesAtOnce)
		if err != nil {
			return o, fmt.Errorf("read outlines: %w", err)
		}
		if len(outlines) == 0 {
			return o, nil
		}
		after = outlines[len(outlines)-1].FirstSeq
		for len(outlines) > 0 {
			some := outlines[:sameAge(outlines)]
			if some[0].Outline == nil {
				err = r.outlineOld(ctx, id, some[0].FirstSeq, some[len(some)-1].FirstSeq, &o)
			} else {
				err = o.mergePacked(some)
			}
			if err != nil {
				return o, err
			}
			outlines = outlines[len(some):]
		}
	}
}

// sameAge is how many there are, from the first on, that all have an outline or
// all have none; of the latter as many as are read at once.
func sameAge(outlines []logOutline) int {
	old := outlines[0].Outline == nil
	n := slices.IndexFunc(outlines, func(l logOutline) bool { return (l.Outline == nil) != old })
	if n < 0 {
		n = len(outlines)
	}
	if old {
		n = min(n, oldAtOnce)
	}
	return n
}

func (o *Outline) mergePacked(outlines []logOutline) error {
	for _, l := range outlines {
		next, err := unpackOutline(l.Outline)
		if err != nil {
			return err
		}
		o.merge(next)
	}
	return nil
}

// outlineOld reads chunks that have no outline.
func (r Reads) outlineOld(ctx context.Context, id uuid.UUID, first, last int64, o *Outline) error {
	chunks, err := db.Collect[logChunk](ctx, r.q, sqlLogChunksAsTheyWere, id, first, last)
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	for _, c := range chunks {
		var next Outline
		if _, err := c.each(0, func(e LogEntry) bool { next.add(e); return true }); err != nil {
			return err
		}
		o.merge(next)
	}
	return nil
}
