package app

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

// listens has a site answer on a port of its own.
func listens(t *testing.T, s *site) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.app.Listener(l) }()
	t.Cleanup(func() { _ = s.app.ShutdownWithTimeout(5 * time.Second) })
	return l.Addr().String()
}

// sends posts a form of some size in bytes, of one field or of as many as there can
// be, and returns the status of the answer.
func sends(t *testing.T, address, path, cookie string, size int, fields bool, headers ...string) int {
	t.Helper()
	body := strings.Repeat("a", size)
	if fields {
		body = strings.Repeat("a&", size/2)
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	go func() { // the server may answer and close before it has read all
		_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: kloigos.example\r\nSec-Fetch-Site: same-origin\r\nOrigin: https://kloigos.example\r\n"+
			"Cookie: __Host-kloigos=%s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\nConnection: close\r\n%s\r\n%s", path, cookie, len(body), strings.Join(headers, "\r\n"), body)
	}()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode == http.StatusRequestEntityTooLarge && !bytes.Contains(text, []byte("Too large")) {
		t.Errorf("%s: %s", path, text)
	}
	return resp.StatusCode
}

// TestStrangersSendLittle: what fills the memory is refused before it is read,
// or before it is parsed.
func TestStrangersSendLittle(t *testing.T) {
	t.Parallel()
	s := setup(t)
	address := listens(t, s)
	for _, c := range []struct {
		path, cookie string
		bytes        int
		fields       bool
		refused      bool
	}{
		{"/login", "", strangersBody - 1, false, false},
		{"/login", "", strangersBody + 1, false, true},
		{"/web/theme", "", 1 << 20, true, true},
		{"/web/theme", apitest.Token, 1 << 20, true, true},
		{"/web/theme", apitest.Token, 1 << 20, false, false}, // an artifact has no fields to speak of
		{"/web/theme", apitest.Token, bodyLimit + 1, false, true},
	} {
		status := sends(t, address, c.path, c.cookie, c.bytes, c.fields)
		if (status == http.StatusRequestEntityTooLarge) != c.refused {
			t.Errorf("%+v: %d", c, status)
		}
	}
	if status := sends(t, address, "/playbooks/host_probe/versions/1/edit", "of-nobody", 1<<20, true); status != http.StatusSeeOther {
		t.Errorf("much of one whose session has ended: %d, and not led to the login", status)
	}
	if status := sends(t, address, "/playbooks/host_probe/versions", apitest.Token, 100, false, "Content-Encoding: gzip\r\n"); status != http.StatusUnsupportedMediaType {
		t.Errorf("a body that is compressed: %d", status)
	}
	s.api.Refuse("whoami", api.Problem{Status: http.StatusServiceUnavailable, Code: "unavailable", Title: "Later"})
	if status := sends(t, address, "/web/theme", apitest.Token, 1<<20, false); status != http.StatusRequestEntityTooLarge {
		t.Errorf("much of one whom the API does not know just now: %d", status)
	}
}

// TestOnlyLargeFormsAskWhoSendsThem: all else is asked when it is needed, and
// never for what is the same for all.
func TestOnlyLargeFormsAskWhoSendsThem(t *testing.T) {
	t.Parallel()
	s := setup(t)
	address := listens(t, s)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/web/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Cookie", "__Host-kloigos="+apitest.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	sends(t, address, "/web/theme", apitest.Token, 1000, false)
	if calls := s.api.Calls("whoami"); len(calls) > 0 {
		t.Errorf("the API was asked %d times", len(calls))
	}
	sends(t, address, "/web/theme", apitest.Token, strangersBody+1, false)
	if calls := s.api.Calls("whoami"); len(calls) != 1 {
		t.Errorf("the API was asked %d times", len(calls))
	}
}

// TestARefusedBodyGetsItsAnswer: a client that first sends all of a body still reads why it was refused. A connection
// that ends with bytes unread is reset, and the answer is lost with it.
func TestARefusedBodyGetsItsAnswer(t *testing.T) {
	t.Parallel()
	s := setup(t)
	address := listens(t, s)
	for range 10 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		_, err = fmt.Fprintf(conn, "POST /playbooks/host_probe/versions/1/edit HTTP/1.1\r\nHost: kloigos.example\r\nSec-Fetch-Site: same-origin\r\n"+
			"Cookie: __Host-kloigos=of-nobody\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n", 200_000)
		for sent := 0; err == nil && sent < 200_000; sent += 1000 {
			_, err = conn.Write(bytes.Repeat([]byte("a"), 1000))
		}
		if err != nil {
			t.Fatalf("the connection ended while the body was sent: %v", err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("the answer was lost: %v", err)
		}
		_ = resp.Body.Close()
		_ = conn.Close()
		if resp.StatusCode != http.StatusSeeOther {
			t.Errorf("status %d", resp.StatusCode)
		}
	}
}
