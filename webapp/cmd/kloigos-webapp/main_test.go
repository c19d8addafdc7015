package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"

	"kloigos/webapp/internal/apitest"
	"kloigos/webapp/internal/app"
)

// TestStopEndsStreams: a browser that follows a job must not keep the process
// from stopping.
func TestStopEndsStreams(t *testing.T) {
	t.Parallel()
	api := apitest.New(t)
	left := make(chan struct{})
	api.On("stream-job-log", func(w http.ResponseWriter, r *http.Request) {
		apitest.Event(w, 1, "log", apitest.Log()[0])
		<-r.Context().Done()
		close(left)
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() {
		stopped <- serveOn(ctx, l, app.Config{APIURL: api.URL, InsecureCookie: true}, slog.New(slog.DiscardHandler))
	}()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+"/jobs/"+apitest.JobID+"/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: "kloigos", Value: apitest.Token})
	r.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body := bufio.NewReader(resp.Body)
	for {
		line, err := body.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "event: log\n" {
			break
		}
	}
	stop()
	if _, err := io.Copy(io.Discard, body); err != nil {
		t.Errorf("the stream was cut off: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	<-left
}
