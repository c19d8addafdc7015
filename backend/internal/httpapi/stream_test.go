package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/store"
)

// running registers a host and claims its probe; say adds to its log, end ends
// it.
type running struct {
	b       *backend
	id      uuid.UUID
	attempt int
	next    int64
}

func (b *backend) running() *running {
	b.t.Helper()
	ctx := b.t.Context()
	h := decode[api.Host](b.t, b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: "h1", Address: "127.0.0.1"}, 202))
	worker := store.Backend{ID: uuid.New(), Name: "worker"}
	b.seen(worker)
	r := &running{b: b, id: uuid.MustParse(h.ActiveJob), next: 1}
	b.tx(func(tx *store.Tx) error {
		claims, err := tx.ClaimJobs(ctx, worker.ID, time.Hour, 10)
		if err == nil && (len(claims) != 1 || claims[0].ID != r.id) {
			err = fmt.Errorf("claims %v", claims)
		}
		if err == nil {
			r.attempt = claims[0].Attempt
		}
		return err
	})
	return r
}

func (r *running) say(entries int, output string) {
	r.b.t.Helper()
	var all []store.LogEntry
	for range entries {
		all = append(all, store.LogEntry{Sequence: r.next, Attempt: r.attempt, Step: "probe", Time: time.Now(), Kind: "output", Output: output + strconv.FormatInt(r.next, 10)})
		r.next++
	}
	r.b.tx(func(tx *store.Tx) error { return tx.AppendLog(r.b.t.Context(), r.id, r.attempt, all) })
	r.b.signals.Notify(r.id)
}

func (r *running) end() {
	r.b.t.Helper()
	r.b.tx(func(tx *store.Tx) error {
		return tx.FinishJob(r.b.t.Context(), r.id, r.attempt, domain.JobSucceeded, nil, "done")
	})
	r.b.signals.Notify(r.id)
}

type sse struct {
	id, event, data string
}

// follow opens the stream and returns what comes, until it ends.
func (r *running) follow(url, query string, headers ...string) (<-chan sse, context.CancelFunc) {
	r.b.t.Helper()
	ctx, cancel := context.WithCancel(r.b.t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+api.Prefix+"/jobs/"+r.id.String()+"/log/stream"+query, nil)
	if err != nil {
		r.b.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.b.token)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.b.t.Fatal(err)
	}
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || got != "text/event-stream" || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
		r.b.t.Fatalf("status %d, %v", resp.StatusCode, resp.Header)
	}
	out := make(chan sse, 10_000)
	go func() {
		defer func() { _ = resp.Body.Close() }()
		defer close(out)
		var e sse
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			name, v, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "id":
				e.id = v
			case "event":
				e.event = v
			case "data":
				e.data = v
			case "":
				if e.event != "" {
					out <- e
				}
				e = sse{}
			}
		}
	}()
	return out, cancel
}

// logs takes entries off a stream until there are so many, and returns their
// sequences.
func logs(t *testing.T, events <-chan sse, n int) []string {
	t.Helper()
	var ids []string
	for len(ids) < n {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatalf("the stream ended after %v", ids)
			}
			if e.event != "log" {
				continue
			}
			var entry api.LogEntry
			if err := json.Unmarshal([]byte(e.data), &entry); err != nil || strconv.FormatInt(entry.Sequence, 10) != e.id {
				t.Fatalf("entry %s with id %s: %v", e.data, e.id, err)
			}
			ids = append(ids, e.id)
		case <-time.After(20 * time.Second):
			t.Fatalf("nothing comes after %v", ids)
		}
	}
	return ids
}

func TestStreamFollowsToTheEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, second := b.serve(b.cfg2())
	r := b.running()
	r.say(3, "before ")
	here, stopHere := r.follow(b.url, "")
	defer stopHere()
	there, stopThere := r.follow(second, "") // a backend that gets no signals, and so polls
	defer stopThere()
	for _, events := range []<-chan sse{here, there} {
		first := <-events
		var j api.Job
		if err := json.Unmarshal([]byte(first.data), &j); first.event != "state" || err != nil || j.State != "running" {
			t.Fatalf("first %+v: %v", first, err)
		}
		if got := strings.Join(logs(t, events, 3), " "); got != "1 2 3" {
			t.Errorf("sequences %s", got)
		}
	}
	r.say(1000, "with\nlines and {\"event\": \"end\"} ")
	for _, events := range []<-chan sse{here, there} {
		if got := logs(t, events, 1000); got[0] != "4" || got[999] != "1003" {
			t.Errorf("sequences %s to %s", got[0], got[999])
		}
	}
	r.end()
	for _, events := range []<-chan sse{here, there} {
		var rest []sse
		for e := range events {
			rest = append(rest, e)
		}
		if len(rest) != 2 || rest[0].event != "state" || !strings.Contains(rest[0].data, `"state":"succeeded"`) || rest[1].event != "end" {
			t.Errorf("at the end %+v", rest)
		}
	}
	page := decode[api.JobLog](t, b.mustDo(http.MethodGet, "/jobs/"+r.id.String()+"/log?after=1000&limit=2", nil, 200))
	if len(page.Items) != 2 || page.Last != 1002 || page.Complete || !strings.Contains(page.Items[0].Output, "with\nlines") {
		t.Errorf("page %+v", page)
	}
	page = decode[api.JobLog](t, b.mustDo(http.MethodGet, "/jobs/"+r.id.String()+"/log?after=1002", nil, 200))
	if len(page.Items) != 1 || page.Last != 1003 || !page.Complete {
		t.Errorf("last page %+v", page)
	}
	b.mustDo(http.MethodGet, "/jobs/"+r.id.String()+"/log?after=-1", nil, 422)
	b.mustDo(http.MethodGet, "/jobs/"+r.id.String()+"/log?limit=2001", nil, 422)
}

// A viewer whose connection broke goes on where it was, on any backend.
func TestStreamResumes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, second := b.serve(b.cfg2())
	r := b.running()
	r.say(250, "line ")
	events, cut := r.follow(b.url, "")
	seen := logs(t, events, 100)
	cut()
	last := seen[len(seen)-1]
	events, cut = r.follow(second, "", "Last-Event-ID", last)
	defer cut()
	if got := logs(t, events, 150); got[0] != "101" || got[149] != "250" {
		t.Errorf("after %s came %s to %s", last, got[0], got[149])
	}
	events, cut = r.follow(second, "?after=248", "Last-Event-ID", "249") // the header is the newer of the two
	defer cut()
	if got := logs(t, events, 1); got[0] != "250" {
		t.Errorf("sequence %s", got[0])
	}
	for _, bad := range []string{"x", "-1", "1.5", "99999999999999999999"} {
		if a := b.do(http.MethodGet, "/jobs/"+r.id.String()+"/log/stream", nil, "Last-Event-ID", bad); a.status != 422 {
			t.Errorf("Last-Event-ID %q: %d", bad, a.status)
		}
	}
}

// A server that is shut down before it serves does not begin to. One that did waited for ever.
func TestShutdownBeforeServe(t *testing.T) {
	t.Parallel()
	server := httpapi.New(setup(t).cfg2())
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-ctx.Done():
		_ = l.Close()
		t.Error("it serves")
	}
}

// Shutdown does not wait for viewers, and they are told so by the end of the
// stream, not by an end of the job.
func TestStreamEndsOnShutdown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	server, url := b.serve(b.cfg2())
	r := b.running()
	r.say(1, "line ")
	events, cut := r.follow(url, "")
	defer cut()
	logs(t, events, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	for e := range events {
		if e.event == "end" {
			t.Error("the viewer was told that the job ended")
		}
	}
}

// A viewer that takes nothing is cut, and holds next to nothing until then.
func TestStreamOfAViewerThatTakesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *httpapi.Config) { c.StallTimeout = 5 * time.Second })
	r := b.running()
	for range 40 { // 40 MiB: more than sockets hold
		r.say(16, strings.Repeat("x", 64<<10))
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "GET /api/v1/jobs/%s/log/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", r.id, b.token)
	if err != nil {
		t.Fatal(err)
	}
	viewers := func(n int) {
		t.Helper()
		until := time.Now().Add(30 * time.Second)
		for tick := time.NewTicker(20 * time.Millisecond); ; <-tick.C {
			m := string(b.mustDo(http.MethodGet, b.url+"/metrics", nil, 200).body)
			if strings.Contains(m, fmt.Sprintf("kloigos_log_viewers %d\n", n)) {
				return
			}
			if time.Now().After(until) {
				t.Fatalf("there are never %d viewers", n)
			}
		}
	}
	viewers(1)
	viewers(0)
	if !strings.Contains(b.log.String(), "stream ended") {
		t.Error("the log does not say so")
	}
}

// However many follow a job, what is told is read from the database once.
func TestViewersShareWhatIsRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	url, reads := b.counting("l.entries")
	r := b.running()
	var viewers []<-chan sse
	for range 20 {
		events, leave := r.follow(url, "")
		defer leave()
		if first := <-events; first.event != "state" {
			t.Fatalf("first %+v", first)
		}
		viewers = append(viewers, events)
	}
	for n := 1; n <= 5; n++ {
		r.say(1, "line ")
		for _, events := range viewers {
			if got := logs(t, events, 1); got[0] != strconv.Itoa(n) {
				t.Fatalf("sequence %s instead of %d", got[0], n)
			}
		}
	}
	if n := reads.n.Load(); n != 5 {
		t.Errorf("5 chunks were read %d times", n)
	}
}

// Who comes later begins anywhere in what the others share, and hears the rest
// as they do.
func TestViewersWhoComeLater(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.running()
	first, leave := r.follow(b.url, "")
	defer leave()
	<-first
	for range 8 { // more than is kept for all
		r.say(40, strings.Repeat("x", 200))
		logs(t, first, 40)
	}
	for _, after := range []int{0, 1, 250, 299, 319, 320} {
		events, leave := r.follow(b.url, "?after="+strconv.Itoa(after))
		defer leave()
		if got := logs(t, events, 320-after); len(got) > 0 && (got[0] != strconv.Itoa(after+1) || got[len(got)-1] != "320") {
			t.Errorf("after %d came %s to %s", after, got[0], got[len(got)-1])
		}
		live := r.next
		r.say(1, "live ")
		if got := logs(t, events, int(live)-320); got[len(got)-1] != strconv.FormatInt(live, 10) {
			t.Errorf("who came after %d hears %v", after, got)
		}
	}
}
