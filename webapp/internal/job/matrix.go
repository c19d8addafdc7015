package job

import (
	"slices"
	"strconv"

	"kloigos/backend/api"
	"kloigos/webapp/internal/ui"
)

// grid is the tasks of a job by its hosts.
type grid struct {
	Hosts   []string
	Rows    []gridRow
	LeftOut int
	Failed  int64 // sequence of the failure
	Last    int64
	Counts  []gridCount
}

// gridRow is one task, with a cell for each host; Head, if any, names the step
// and attempt that begin with it.
type gridRow struct {
	Head, Task, Role string
	Sequence         int64
	Cells            []gridCell
}

// gridCell is how a task went on one host; nothing is known where Word is "".
type gridCell struct {
	Tone       ui.Tone
	Word, Host string
	Sequence   int64
	Items      int
	Took       string
}

type gridCount struct {
	Tone  ui.Tone
	Word  string
	Count int
}

// mostTasks is how many tasks are drawn: the last, and every one that failed. A
// page that is brought up to date draws all of them anew.
const mostTasks = 400

func matrixOf(o api.LogOutline) grid {
	g := grid{Hosts: o.Hosts, LeftOut: o.LeftOut, Failed: o.Failed, Last: o.Last}
	column := map[string]int{}
	for i, h := range o.Hosts {
		column[h] = i
	}
	before := ""
	for i, t := range o.Tasks {
		if i < len(o.Tasks)-mostTasks && !failed(t) {
			g.LeftOut++
			continue
		}
		row := gridRow{Task: first(t.Task, "Task"), Role: t.Role, Sequence: t.Sequence, Cells: make([]gridCell, len(o.Hosts))}
		head := ui.Sentence(t.Step)
		if t.Attempt > 1 {
			head += ", attempt " + itoa(t.Attempt)
		}
		if head != before {
			row.Head, before = head, head
		}
		for _, r := range t.Results {
			at, ok := column[r.Host]
			if !ok {
				continue
			}
			tone, word := resultOf(r.Kind)
			cell := gridCell{Tone: tone, Word: word, Host: r.Host, Sequence: r.Sequence, Items: r.Items}
			if r.DurationMS > 0 {
				cell.Took = ui.Span(ms(r.DurationMS))
			}
			row.Cells[at] = cell
		}
		g.Rows = append(g.Rows, row)
	}
	for _, kind := range []string{"failed", "unreachable", "ignored", "changed", "ok", "skipped"} {
		if n := o.Counts[kind]; n > 0 {
			tone, word := resultOf(kind)
			g.Counts = append(g.Counts, gridCount{tone, word, n})
		}
	}
	return g
}

func failed(t api.LogTask) bool {
	return slices.ContainsFunc(t.Results, func(r api.LogResult) bool { return r.Kind == "failed" || r.Kind == "unreachable" })
}

// wide tells whether the grid needs the whole width of the page.
func (g grid) wide() bool { return len(g.Hosts) > 2 }

func (c gridCell) title() string {
	t := c.Word + " on " + c.Host
	if c.Items > 0 {
		t += ", " + ui.Count(c.Items, "item")
	}
	if c.Took != "" {
		t += ", " + c.Took
	}
	return t
}

// resultOf is the tone and the word of how a task went.
func resultOf(kind string) (ui.Tone, string) {
	l := lineOf(api.LogEntry{Kind: kind})
	return l.Tone, l.Word
}

func lineID(sequence int64) string { return "L" + strconv.FormatInt(sequence, 10) }
