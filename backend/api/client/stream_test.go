package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/api"
)

func sendLog(w http.ResponseWriter, sequences ...int64) {
	for _, n := range sequences {
		raw, _ := json.Marshal(api.LogEntry{Sequence: n, Message: "a\nb"})
		fmt.Fprintf(w, "id: %d\nevent: log\ndata: %s\n\n", n, raw)
	}
	w.(http.Flusher).Flush()
}

func TestStreamGoesOnWhereItBroke(t *testing.T) {
	t.Parallel()
	n := 0
	s, c := setup(t, func(w http.ResponseWriter, r *http.Request) {
		switch n++; n {
		case 1:
			fmt.Fprint(w, ": heartbeat\n\nevent: state\ndata: {\"state\":\"running\"}\n\n")
			sendLog(w, 4, 5)
			panic(http.ErrAbortHandler) // the backend dies
		case 2, 3, 4:
			w.WriteHeader(http.StatusBadGateway)
		default:
			sendLog(w, 5, 6) // 5 again: a backend may repeat, the client does not
			fmt.Fprint(w, "event: state\ndata: {\"state\":\"succeeded\"}\n\nevent: end\ndata: {}\n\n")
		}
	})
	var got []string
	for e, err := range c.StreamJobLog(t.Context(), "j1", 3) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Log != nil:
			got = append(got, fmt.Sprint(e.Log.Sequence))
		case e.Job != nil:
			got = append(got, e.Job.State)
		case e.End:
			got = append(got, "end")
		}
	}
	if d := cmp.Diff([]string{"running", "4", "5", "6", "succeeded", "end"}, got); d != "" {
		t.Error(d)
	}
	var ids []string
	for _, r := range s.seen() {
		ids = append(ids, r.Header.Get("Last-Event-ID"))
	}
	if d := cmp.Diff([]string{"3", "5", "5", "5", "5"}, ids); d != "" {
		t.Error(d)
	}
}

func TestStreamOfAJobThatIsNotThere(t *testing.T) {
	t.Parallel()
	_, c := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusNotFound, api.Problem{Code: "not_found"})
	})
	n := 0
	for _, err := range c.StreamJobLog(t.Context(), "j1", 0) {
		n++
		var p *api.Problem
		if !errors.As(err, &p) || p.Code != "not_found" {
			t.Errorf("error = %v", err)
		}
	}
	if n != 1 {
		t.Errorf("yielded %d times", n)
	}
}

func TestStreamEndsWithItsContext(t *testing.T) {
	t.Parallel()
	_, c := setup(t, func(w http.ResponseWriter, r *http.Request) {
		sendLog(w, 1)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for e, err := range c.StreamJobLog(ctx, "j1", 0) {
		if e.Log != nil {
			cancel()
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("ended with %v", last)
	}
}

func TestStreamCanBeLeft(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	_, c := setup(t, func(w http.ResponseWriter, r *http.Request) {
		sendLog(w, 1, 2)
		<-r.Context().Done()
		close(gone)
	})
	for _, err := range c.StreamJobLog(t.Context(), "j1", 0) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	<-gone
}
