package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
)

// browser does what a browser with Kloigos's pages does: it loads them, sends
// forms, and follows logs as an EventSource.
type browser struct {
	t       *testing.T
	http    http.Client
	origin  string
	cookie  string
	pages   atomic.Int64 // that were loaded
	streams atomic.Int64 // that are open now
	ended   atomic.Int64 // that were followed to their end
	resumed atomic.Int64 // how often one broke and went on
	again   atomic.Int64 // forms that had to be sent again
}

func newBrowser(t *testing.T, origin string, authority []byte, session string) *browser {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		t.Fatal("no certificate in the authority's file")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &browser{t: t, origin: origin, cookie: "__Host-kloigos=" + session, http: http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (b *browser) request(ctx context.Context, method, path string, form url.Values) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, b.origin+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Cookie", b.cookie)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", b.origin)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return b.http.Do(r)
}

// get loads a page and returns its status, 0 if there was no whole answer.
func (b *browser) get(ctx context.Context, path string) int {
	b.pages.Add(1)
	resp, err := b.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0
	}
	return resp.StatusCode
}

// register sends the form for a new host; a second time, as a person does who
// is told that it failed: it is the same form with the same key.
func (b *browser) register(ctx context.Context, name string, port int) error {
	form := url.Values{
		"name": {name}, "address": {"127.0.0.1"}, "port": {strconv.Itoa(port)}, "admin_user": {"root"}, "networks": {"default"},
		"profile": {"minimal"}, "trust": {"first"}, "key": {uuid.NewString()},
	}
	var met []string
	for range 5 {
		resp, err := b.request(ctx, http.MethodPost, "/hosts/new", form)
		if err == nil {
			said, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			switch {
			case resp.StatusCode == http.StatusSeeOther && strings.HasPrefix(resp.Header.Get("Location"), "/hosts/"):
				return nil
			case resp.StatusCode < 500:
				return fmt.Errorf("the form for %s: %s, to %q: %s", name, resp.Status, resp.Header.Get("Location"), said)
			}
			err = errors.New(resp.Status)
		}
		b.again.Add(1)
		met = append(met, err.Error())
		time.Sleep(200 * time.Millisecond)
	}
	return fmt.Errorf("the form for %s was taken in none of five times: %v", name, met)
}

// follow reads the log of a job to its end as an EventSource does, which comes
// back with the id of the last event that it got whole, and holds the lines
// against 1, 2, 3, ...
func (b *browser) follow(ctx context.Context, job string) {
	s := eventSource{b: b, path: "/jobs/" + job + "/stream?after=0", next: 1}
	for ctx.Err() == nil {
		err := s.connect(ctx)
		switch {
		case err != nil:
			b.t.Errorf("the stream of %s in the browser, after %d lines: %v", job, s.next-1, err)
			return
		case s.end && s.next <= 20:
			b.t.Errorf("the stream of %s in the browser ended after %d lines", job, s.next-1)
			return
		case s.end:
			b.ended.Add(1)
			return
		}
		b.resumed.Add(1)
		time.Sleep(s.retry)
	}
	b.t.Errorf("the stream of %s in the browser did not end in time", job)
}

// eventSource is the stream of one job's log, over several connections.
type eventSource struct {
	b     *browser
	path  string
	last  string        // id of the last whole event
	retry time.Duration // as the server wishes
	next  int64         // line
	end   bool
}

// connect follows one connection to where it breaks or the log ends. An error
// is what no EventSource would get over, or an event that must not come.
func (s *eventSource) connect(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.b.origin+s.path, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Cookie", s.b.cookie)
	if s.last != "" {
		r.Header.Set("Last-Event-ID", s.last)
	}
	resp, err := s.b.http.Do(r)
	if err != nil {
		return nil // it connects again
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("it is told %s, and gives up", resp.Status)
	}
	s.b.streams.Add(1)
	defer s.b.streams.Add(-1)
	lines := bufio.NewReader(resp.Body)
	var name, id string
	var data strings.Builder
	for !s.end {
		line, err := lines.ReadString('\n')
		if err != nil {
			return nil // it broke: half an event counts for nothing
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch field {
		case "event":
			name = value
		case "id":
			id = value
		case "data":
			data.WriteString(value + "\n")
		case "retry":
			ms, err := strconv.Atoi(value)
			if err != nil {
				return err
			}
			s.retry = time.Duration(ms) * time.Millisecond
		case "": // an empty line, or a comment
			if name == "" {
				continue
			}
			if err := s.take(name, id, data.String()); err != nil {
				return err
			}
			name, id = "", ""
			data.Reset()
		}
	}
	return nil
}

var lineOfLog = regexp.MustCompile(`<li id="L(\d+)"`)

// take takes one whole event.
func (s *eventSource) take(name, id, data string) error {
	switch name {
	case "state":
	case "end":
		s.end = true
	case "log":
		for _, m := range lineOfLog.FindAllStringSubmatch(data, -1) {
			if m[1] != strconv.FormatInt(s.next, 10) {
				return fmt.Errorf("line %s comes after %d", m[1], s.next-1)
			}
			s.next++
		}
		if id != strconv.FormatInt(s.next-1, 10) {
			return fmt.Errorf("an event that ends with line %d says it is %q", s.next-1, id)
		}
		s.last = id
	default:
		return fmt.Errorf("an event %q: %s", name, data)
	}
	return nil
}
