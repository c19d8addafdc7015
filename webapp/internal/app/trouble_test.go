package app

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

func TestEachTroubleHasItsPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		api    int
		page   int
		wanted string
	}{
		{http.StatusForbidden, http.StatusForbidden, "Your account has no permission for this."},
		{http.StatusNotFound, http.StatusNotFound, "This object does not exist"},
		{http.StatusGone, http.StatusGone, "was removed"},
		{http.StatusConflict, http.StatusConflict, "The state of the object does not allow this action."},
		{http.StatusPreconditionFailed, http.StatusPreconditionFailed, "Someone changed the object after you opened the page."},
		{http.StatusTooManyRequests, http.StatusTooManyRequests, "limits the rate of requests"},
		{http.StatusInternalServerError, http.StatusInternalServerError, "Something went wrong"},
		{http.StatusBadGateway, http.StatusBadGateway, "The API can&#39;t be reached"},
		{http.StatusServiceUnavailable, http.StatusBadGateway, "The API can&#39;t be reached"},
	} {
		s := setup(t)
		s.api.Refuse("get-system", api.Problem{Status: c.api, Code: "x", Title: "INTERNAL TITLE", Instance: "req-4711"})
		a := s.get("/system")
		s.wantStatus(a, c.page)
		s.wantText(a, c.wanted, "req-4711", "Log out")
	}
}

func TestTooManyRequestsSaysHowLongToWait(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Refuse("get-system", api.Problem{Status: http.StatusTooManyRequests, Code: "too_many_requests", Detail: "Too many requests of your account.", RetryAfter: 7})
	a := s.get("/system")
	s.wantStatus(a, http.StatusTooManyRequests)
	s.wantText(a, "Too many requests of your account.", "Wait 7 s, then reload the page.")
}

// Browsers open connections ahead. What is said on one on which nothing came
// would be taken for the answer to the request that comes just then: it is closed
// without a word, and the request is sent again.
func TestAConnectionThatSaysNothingIsNoError(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	server, err := New(t.Context(), Config{APIURL: "http://127.0.0.1:1"}, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	server.Server().ReadTimeout = 50 * time.Millisecond
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Listener(listener) }()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(conn)
	if err != nil || len(said) > 0 {
		t.Errorf("%v: %.200s", err, said)
	}
	if err := server.Shutdown(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil || log.Len() > 0 {
		t.Errorf("%v; the log has %s", err, log.String())
	}
}

func TestAnActionThatIsNotPossibleSaysWhy(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Refuse("initialize-host", api.Problem{Status: http.StatusConflict, Code: "host_state", Detail: "it has no layout"})
	a := s.post("/hosts/h1/initialize", nil)
	s.wantStatus(a, http.StatusConflict)
	s.wantText(a, "Not possible now", "It has no layout", "Nothing was changed")
	s.api.Refuse("initialize-host", api.Problem{Status: http.StatusPreconditionFailed, Code: "version_mismatch"})
	s.wantText(s.post("/hosts/h1/initialize", nil), "Changed in the meantime")
	s.api.Refuse("declare-host-lost", api.Problem{
		Status: http.StatusUnprocessableEntity, Code: "invalid", Detail: "the request has bad fields",
		Errors: []api.FieldProblem{{Field: "body.confirm", Message: "type the host's name, h1"}},
	})
	s.wantText(s.post("/hosts/h1/declare-lost", nil), "Confirm: type the host&#39;s name, h1.")
}

func TestNoAPIAtAll(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Close()
	a := s.get("/hosts?state=ready")
	s.wantStatus(a, http.StatusBadGateway)
	s.wantText(a, "no backend answered in time", `href="/hosts?state=ready"`)
	if strings.Contains(a.body, "127.0.0.1") {
		t.Error("names an address inside")
	}
	s.wantStatus(s.get("/web/healthz", header("Cookie", "")), http.StatusOK)
}

func TestUnknownPaths(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for _, path := range []string{"/nothing", "/hosts/unknown", "/playbooks/x/versions/one", "/api/v1/hosts"} {
		a := s.get(path)
		s.wantStatus(a, http.StatusNotFound)
		s.wantText(a, "Not found", "</html>")
	}
}

// What is not there any more is looked for among what is.
func TestGoneLeadsToItsList(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for path, list := range map[string]string{"/hosts/unknown": `href="/hosts">All hosts<`, "/compute-units/x": `href="/compute-units">All compute units<`, "/playbooks/x/versions/one": `href="/playbooks">All playbooks<`} {
		s.wantText(s.get(path), "was removed", list)
	}
	if a := s.get("/nothing/at/all"); strings.Contains(a.body, ">All ") {
		t.Error("leads to a list that there is not")
	}
}

func TestAPageDoesWithoutWhatIsForbidden(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Refuse("list-events", api.Problem{Status: http.StatusForbidden, Code: "forbidden"})
	a := s.get("/hosts/h1")
	s.wantStatus(a, http.StatusOK)
	s.wantText(a, "h1-cu01")
}

func TestStreamOfAJob(t *testing.T) {
	t.Parallel()
	s := setup(t)
	connections := make(chan string, 2)
	s.api.On("stream-job-log", func(w http.ResponseWriter, r *http.Request) {
		connections <- r.Header.Get("Last-Event-ID")
		w.Header().Set("Content-Type", "text/event-stream")
		log := apitest.Log()
		if len(connections) == 1 {
			apitest.Event(w, 3, "log", log[2])
			panic(http.ErrAbortHandler) // the backend dies; another goes on
		}
		log[11].Output = "<b>\r\nbold</b>"
		apitest.Event(w, 12, "log", log[11])
		apitest.Event(w, 0, "state", apitest.Job("host_initialize", "failed"))
		apitest.Event(w, 0, "end", struct{}{})
	})
	a := s.get("/jobs/"+apitest.JobID+"/stream?after=1", header("Last-Event-ID", "2"), header("Accept", "text/event-stream"))
	s.wantStatus(a, http.StatusOK)
	if ct := a.Header.Get("Content-Type"); ct != "text/event-stream" {
		t.Errorf("type %q", ct)
	}
	s.wantText(a, `id="L3"`, `id="L12"`, "id: 12\nevent: log\n", "&lt;b&gt;\ndata: bold&lt;/b&gt;", "event: state\n", "What to do:", "event: end\n")
	if first, second := <-connections, <-connections; first != "2" || second != "3" {
		t.Errorf("the API was asked to go on after %q and %q", first, second)
	}
	if strings.Contains(a.body, "<b>\n") || strings.Contains(a.body, "\r") {
		t.Error("text became markup, or a line end of the stream")
	}
}

func TestStreamOfAJobThatIsGone(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.get("/jobs/none/stream")
	s.wantText(a, "event: gone\n")
	s.wantStatus(s.get("/jobs/none/stream", header("Cookie", "")), http.StatusNoContent)
}

func TestALogInPartsIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.On("get-job-log", func(w http.ResponseWriter, r *http.Request) {
		log := apitest.Log()
		if r.URL.Query().Get("after") == "" {
			apitest.JSON(w, api.JobLog{Items: log[:5], Last: 5})
			return
		}
		apitest.JSON(w, api.JobLog{Items: log[5:], Last: 12, Complete: true})
	})
	a := s.get("/jobs/" + apitest.JobID)
	s.wantText(a, `id="L1"`, `id="L6"`, `id="L12"`)
	if strings.Contains(a.body, "data-stream") {
		t.Error("a log that is whole is followed")
	}
	s.api.Answer("get-job-log", 200, api.JobLog{Items: []api.LogEntry{}, Last: 0})
	s.wantText(s.get("/jobs/"+apitest.JobID), "data-stream", `data-job="/jobs/`+apitest.JobID+`"`, `data-after="0"`)
}
