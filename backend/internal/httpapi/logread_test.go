package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/api"
	"kloigos/backend/internal/store"
)

// tell adds entries of a play to the job's log, in chunks of a few.
func (r *running) tell(entries ...store.LogEntry) {
	r.b.t.Helper()
	for len(entries) > 0 {
		some := entries[:min(7, len(entries))]
		for i := range some {
			some[i].Sequence, some[i].Attempt, some[i].Step, some[i].Time = r.next, r.attempt, "probe", time.Now()
			r.next++
		}
		r.b.tx(func(tx *store.Tx) error { return tx.AppendLog(r.b.t.Context(), r.id, r.attempt, some) })
		entries = entries[len(some):]
	}
}

func (r *running) log(query string) api.JobLog {
	r.b.t.Helper()
	return decode[api.JobLog](r.b.t, r.b.mustDo(http.MethodGet, "/jobs/"+r.id.String()+"/log"+query, nil, http.StatusOK))
}

func (r *running) outline() api.LogOutline {
	r.b.t.Helper()
	return decode[api.LogOutline](r.b.t, r.b.mustDo(http.MethodGet, "/jobs/"+r.id.String()+"/log/outline", nil, http.StatusOK))
}

func sequences(l api.JobLog) []int64 {
	out := []int64{}
	for _, e := range l.Items {
		out = append(out, e.Sequence)
	}
	return out
}

func TestALogIsSearched(t *testing.T) {
	t.Parallel()
	r := setup(t).running()
	r.tell(
		store.LogEntry{Kind: "play_started", Play: "Look"}, store.LogEntry{Kind: "task_started", Task: "Read the disks"},
		store.LogEntry{Kind: "ok", Host: "h1", Message: "NVME found"}, store.LogEntry{Kind: "changed", Host: "h1", Diff: "+nvme0n1"},
		store.LogEntry{Kind: "failed", Host: "h1", Output: "no nVMe"}, store.LogEntry{Kind: "output", Message: "done"},
	)
	for query, want := range map[string][]int64{
		"?search=nvme":                      {3, 4, 5},
		"?search=nvme&kinds=failed,changed": {4, 5},
		"?kinds=failed":                     {5},
		"?search=nvme&after=3&limit=1":      {4},
		"?search=THE%20DISKS":               {2},
		"?search=nothing":                   {},
		"?after=4":                          {5, 6},
	} {
		l := r.log(query)
		if d := cmp.Diff(want, sequences(l)); d != "" {
			t.Errorf("%s: %s", query, d)
		}
		if l.Newest != 6 || l.Complete {
			t.Errorf("%s: newest %d, complete %t", query, l.Newest, l.Complete)
		}
	}
	if l := r.log("?search=nothing"); l.Last != 6 {
		t.Errorf("looked up to %d, not to the end", l.Last)
	}
	if l := r.log("?kinds=changed&limit=1"); l.Last != 4 {
		t.Errorf("looked up to %d, not to what it found", l.Last)
	}
	r.end()
	if l := r.log("?search=nothing"); !l.Complete {
		t.Error("the search of a job that has ended is not complete")
	}
	r.b.mustDo(http.MethodGet, "/jobs/"+r.id.String()+"/log?kinds=fallen", nil, http.StatusUnprocessableEntity)
}

// A search looks at so much and no more; whoever asks goes on where it ended.
func TestALongLogIsSearchedInParts(t *testing.T) {
	t.Parallel()
	r := setup(t).running()
	const entries = 45_000
	for n := 0; n < entries; n += 5000 {
		r.say(5000, "line ")
	}
	r.tell(store.LogEntry{Kind: "failed", Host: "h1", Message: "at last"})
	asked, found := 0, []int64{}
	for after := int64(0); after < entries+1; asked++ {
		l := r.log(fmt.Sprintf("?kinds=failed&after=%d", after))
		if l.Last <= after {
			t.Fatalf("asked after %d, looked up to %d", after, l.Last)
		}
		after, found = l.Last, append(found, sequences(l)...)
	}
	if d := cmp.Diff([]int64{entries + 1}, found); d != "" {
		t.Error(d)
	}
	if asked != 3 {
		t.Errorf("took %d requests", asked)
	}
}

func TestTheOutlineOfALog(t *testing.T) {
	t.Parallel()
	r := setup(t).running()
	if o := r.outline(); len(o.Tasks) != 0 || o.Hosts == nil || o.Last != 0 {
		t.Errorf("of an empty log: %+v", o)
	}
	r.tell(
		store.LogEntry{Kind: "play_started", Play: "Look"},
		store.LogEntry{Kind: "task_started", Play: "Look", Role: "disks", Task: "Read"},
		store.LogEntry{Kind: "ok", Task: "Read", Host: "h1", Item: "a"}, store.LogEntry{Kind: "changed", Task: "Read", Host: "h1", Item: "b"},
		store.LogEntry{Kind: "skipped", Task: "Read", Host: "h2"}, store.LogEntry{Kind: "ok", Task: "Read", Host: "h1", DurationMS: 7},
		store.LogEntry{Kind: "task_started", Task: "Write"}, store.LogEntry{Kind: "output", Message: "a stray line"},
		store.LogEntry{Kind: "failed", Task: "Write", Host: "h2"},
		store.LogEntry{Kind: "ok", Task: "Nobody announced it", Host: "h1"},
	)
	got := r.outline()
	want := api.LogOutline{
		Hosts: []string{"h1", "h2"}, Counts: map[string]int{"ok": 2, "skipped": 1, "failed": 1}, Failed: 9, Last: 10,
		Tasks: []api.LogTask{
			{Sequence: 2, Attempt: 1, Step: "probe", Play: "Look", Role: "disks", Task: "Read", Results: []api.LogResult{
				{Host: "h1", Kind: "ok", Sequence: 6, Items: 2, DurationMS: 7}, {Host: "h2", Kind: "skipped", Sequence: 5},
			}},
			{Sequence: 7, Attempt: 1, Step: "probe", Task: "Write", Results: []api.LogResult{{Host: "h2", Kind: "failed", Sequence: 9}}},
			{Sequence: 10, Attempt: 1, Step: "probe", Task: "Nobody announced it", Results: []api.LogResult{{Host: "h1", Kind: "ok", Sequence: 10}}},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The outline of very many tasks has the last of them.
func TestTheOutlineOfVeryManyTasks(t *testing.T) {
	t.Parallel()
	r := setup(t).running()
	const tasks = 4321
	all := make([]store.LogEntry, tasks)
	for i := range all {
		all[i] = store.LogEntry{Kind: "task_started", Task: fmt.Sprint("Task ", i+1), Sequence: r.next, Attempt: r.attempt, Step: "probe"}
		r.next++
	}
	r.b.tx(func(tx *store.Tx) error { return tx.AppendLog(t.Context(), r.id, r.attempt, all) })
	o := r.outline()
	if n := len(o.Tasks); n > 2000 || n < 1000 || n+o.LeftOut != tasks || o.Tasks[n-1].Task != fmt.Sprint("Task ", tasks) {
		t.Errorf("%d tasks, %d left out, the last is %q", n, o.LeftOut, o.Tasks[n-1].Task)
	}
}
