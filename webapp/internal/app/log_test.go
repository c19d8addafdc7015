package app

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

// longLog answers as a log of so many lines does; a filter lets every line
// through whose number ends in 7.
func (s *site) longLog(lines int64) {
	s.api.On("get-job-log", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		after, _ := strconv.ParseInt(q.Get("after"), 10, 64)
		limit, _ := strconv.Atoi(q.Get("limit"))
		log := api.JobLog{Items: []api.LogEntry{}, Last: after, Newest: lines}
		for n := after + 1; n <= lines && len(log.Items) < limit; n++ {
			if log.Last = n; q.Get("search")+q.Get("kinds") == "" || n%10 == 7 {
				log.Items = append(log.Items, api.LogEntry{Sequence: n, Kind: "changed", Host: "h1", Task: "Task of " + strconv.FormatInt(n, 10), Message: "\x1b[31mred\x1b[0m " + strconv.FormatInt(n, 10), Diff: "+a\n"})
			}
			if n-after == 50 { // the API looks at so much and no more
				break
			}
		}
		log.Complete = log.Last == lines
		apitest.JSON(w, log)
	})
}

// A page draws one window, whatever the log's length, and begins where windows
// begin where a line is asked for, so that its script can go on from there.
func TestAPageDrawsAWindowOfALog(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.longLog(100_000)
	here := "/jobs/" + apitest.JobID
	for query, want := range map[string]struct {
		first, last int
		after       string
	}{
		"":                {1, 200, "0"},
		"?after=200":      {201, 400, "200"},
		"?after=250":      {251, 450, "250"},
		"?line=73512":     {73401, 73600, "73400"},
		"?line=73600":     {73401, 73600, "73400"},
		"?line=73401":     {73401, 73600, "73400"},
		"?line=no":        {1, 200, "0"},
		"?after=-5":       {1, 200, "0"},
		"?after=99999999": {0, 0, "99999999"},
	} {
		a := s.get(here + query)
		s.wantStatus(a, http.StatusOK)
		s.wantText(a, `data-after="`+want.after+`"`)
		if n := strings.Count(a.body, `class="k-`); want.last > 0 && n != want.last-want.first+1 {
			t.Errorf("%s: %d lines", query, n)
		}
		if want.last > 0 {
			s.wantText(a, fmt.Sprintf(`id="L%d"`, want.first), fmt.Sprintf(`id="L%d"`, want.last), "100,000 lines", fmt.Sprintf(`href="%s?after=%d" rel="next"`, here, want.last))
		}
		if len(a.body) > 300<<10 {
			t.Errorf("%s: %d bytes", query, len(a.body))
		}
	}
}

func TestLinesOfALogAreFound(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.longLog(5000)
	a := s.get("/jobs/" + apitest.JobID + "?q=disk&show=failed")
	s.wantStatus(a, http.StatusOK)
	s.wantText(a, `value="disk"`, `<option value="failed" selected>`, `id="L7"`, `id="L17"`, "Task of 17", "rel=\"next\"")
	calls := s.api.Calls("get-job-log")
	if q := calls[0].Query; q != "kinds=failed%2Cunreachable%2Cignored&limit=200&search=disk" {
		t.Errorf("the API was asked %q", q)
	}
	if len(calls) != 20 {
		t.Errorf("a page looked %d times, not as often as it may", len(calls))
	}
	s.longLog(3)
	s.wantText(s.get("/jobs/"+apitest.JobID+"?q=none"), "No line matches.")
}

// However much a host says in a line: a window ends early, and the next one
// begins where it ended.
func TestAWindowHoldsSoMuchText(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.On("get-job-log", func(w http.ResponseWriter, r *http.Request) {
		after, _ := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
		log := api.JobLog{Newest: 1000}
		for n := after + 1; n <= after+8; n++ { // the API has a bound of its own
			log.Items, log.Last = append(log.Items, api.LogEntry{Sequence: n, Kind: "ok", Output: strings.Repeat("o", 64<<10)}), n
		}
		apitest.JSON(w, log)
	})
	a := s.get("/jobs/" + apitest.JobID)
	if n := strings.Count(a.body, `class="k-`); n != 16 {
		t.Errorf("%d lines of 64 KiB", n)
	}
	s.wantText(a, `?after=16" rel="next"`)
	if got := s.get("/jobs/" + apitest.JobID + "/lines?limit=200").Header.Get("X-Log-Last"); got != "16" {
		t.Errorf("the script is told of lines up to %s", got)
	}
}

func TestLinesForTheScript(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.longLog(1030)
	a := s.get("/jobs/" + apitest.JobID + "/lines?after=1000&limit=200")
	s.wantStatus(a, http.StatusOK)
	if n := strings.Count(a.body, "<li"); n != 30 || strings.Contains(a.body, "<html") {
		t.Errorf("%d lines: %s", n, a.body)
	}
	for name, want := range map[string]string{"X-Log-Last": "1030", "X-Log-Newest": "1030", "X-Log-Complete": "true"} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if a := s.get("/jobs/" + apitest.JobID + "/lines?after=203&limit=7"); !strings.Contains(a.body, `id="L204"`) || !strings.Contains(a.body, `id="L210"`) || strings.Contains(a.body, `id="L211"`) {
		t.Errorf("not the lines that a window lacks: %s", a.body)
	}
	if n := strings.Count(s.get("/jobs/"+apitest.JobID+"/lines?limit=100000").body, "<li"); n != 200 {
		t.Errorf("gave %d lines at once", n)
	}
}

func TestTasksByHost(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.get("/jobs/" + apitest.JobID + "/outline")
	s.wantStatus(a, http.StatusOK)
	s.wantText(a, "matrix-wide", `data-failed="12"`, `<th scope="col">h3</th>`, "Initialize, attempt 2", `<a class="mx tone-bad" href="#L12" title="failed on h1">`, "ok on h3, 3 items", "changed on h1, 412 ms")
	if n := strings.Count(a.body, "–</span>"); n != 3 {
		t.Errorf("%d cells are empty, want 3", n)
	}
	s.api.Refuse("get-job-outline", api.Problem{Status: http.StatusNotFound, Code: "not_found"})
	s.wantText(s.get("/jobs/"+apitest.JobID+"?view=tasks"), "No task has started yet.")
}

// Of very many tasks those are drawn that matter: the last, and what failed.
func TestManyTasksByHost(t *testing.T) {
	t.Parallel()
	s := setup(t)
	o := api.LogOutline{Hosts: []string{"h1"}, LeftOut: 7}
	for n := range int64(1500) {
		kind := "ok"
		if n == 3 {
			kind = "failed"
		}
		o.Tasks = append(o.Tasks, api.LogTask{Sequence: 2*n + 1, Attempt: 1, Step: "initialize", Task: fmt.Sprint("Task ", n), Results: []api.LogResult{{Host: "h1", Kind: kind, Sequence: 2*n + 2}}})
	}
	s.api.Answer("get-job-outline", 200, o)
	a := s.get("/jobs/" + apitest.JobID + "/outline")
	s.wantText(a, ">Task 3<", ">Task 1499<", "1,106 earlier tasks")
	if n := strings.Count(a.body, `class="mx `); n != 401 {
		t.Errorf("%d tasks are drawn", n)
	}
}

func TestALogAsText(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.longLog(1234)
	a := s.get("/jobs/" + apitest.JobID + "/log.txt")
	s.wantStatus(a, http.StatusOK)
	if ct := a.Header.Get("Content-Type"); ct != "text/plain; charset=utf-8" || a.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("type %q", ct)
	}
	if n := strings.Count(a.body, "changed  h1  red "); n != 1234 {
		t.Errorf("%d lines", n)
	}
	if strings.Contains(a.body, "\x1b") || !strings.Contains(a.body, "\n         | +a\n") {
		t.Errorf("escapes are in it, or no diff: %.300q", a.body)
	}
	s.wantStatus(s.get("/jobs/"+apitest.JobID+"/log.txt", header("Cookie", "")), http.StatusSeeOther)
	s.api.Refuse("get-job-log", api.Problem{Status: http.StatusForbidden, Code: "forbidden"})
	s.wantStatus(s.get("/jobs/"+apitest.JobID+"/log.txt"), http.StatusForbidden)
}

func TestWhatCanBeDoneWithAJobIsSaid(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.wantText(s.get("/jobs/"+apitest.JobID), "Retry from step 2, initialize", "Removes everything of Kloigos from the host in a new job", "host_initialize v1")
	running := apitest.Job("unit_allocate", "running")
	s.api.Answer("get-job", 200, running)
	s.wantText(s.get("/jobs/"+apitest.JobID), "Stops Ansible and its tasks on the host")
	running.State = "queued" // between two tries: something of it may still run
	s.api.Answer("get-job", 200, running)
	s.wantText(s.get("/jobs/"+apitest.JobID), "Stops Ansible and its tasks on the host")
	running.Attempt = 0
	s.api.Answer("get-job", 200, running)
	s.wantText(s.get("/jobs/"+apitest.JobID), "Removes it from the queue")
}
