package faults

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// echo is a server that answers with what it got.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(conn, conn); _ = conn.Close() }()
		}
	}()
	return l.Addr().String()
}

func dial(t *testing.T, w *Wire) net.Conn {
	t.Helper()
	u, err := url.Parse(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// answer sends something through the wire; nil if the connection broke.
func answer(t *testing.T, w *Wire, what []byte) []byte {
	t.Helper()
	return say(t, dial(t, w), what)
}

func say(t *testing.T, conn net.Conn, what []byte) []byte {
	t.Helper()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = conn.Write(what)
	got := make([]byte, len(what))
	if _, err := io.ReadFull(conn, got); err != nil {
		return nil
	}
	return got
}

func TestWire(t *testing.T) {
	t.Parallel()
	w, err := NewWire("postgresql://u:p@" + echo(t) + "/d?sslmode=require")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	if got := answer(t, w, commitMessage); !bytes.Equal(got, commitMessage) {
		t.Errorf("%q", got)
	}
	w.LoseCommits(1)
	if got := answer(t, w, []byte("anything")); string(got) != "anything" {
		t.Errorf("%q", got)
	}
	if got := answer(t, w, commitMessage); got != nil || w.Lost(Anything) != 1 {
		t.Errorf("a COMMIT was answered with %q, %d lost", got, w.Lost(Anything))
	}
	if got := answer(t, w, commitMessage); got == nil {
		t.Error("more than one COMMIT was lost")
	}
	w.LoseKeyed(1)
	if got := answer(t, w, commitMessage); got == nil {
		t.Error("the COMMIT of anything was lost")
	}
	prepare := slices.Concat([]byte("P\x00\x00\x00\x99stmtcache_12ab\x00\n"), tellTale[Keyed][0], []byte(" ... \x00"), commitMessage)
	if got := answer(t, w, prepare); got != nil {
		t.Error("the COMMIT of a request with a key was not lost")
	}
	w.LoseKeyed(1)
	if got := answer(t, w, slices.Concat([]byte("B\x00\x00\x00\x99\x00stmtcache_12ab\x00"), commitMessage)); got != nil {
		t.Error("the COMMIT of a request with a key that was prepared before was not lost")
	}
	w.Lose(1, Ends)
	conn := dial(t, w)
	say(t, conn, tellTale[Ends][0])
	if got := say(t, conn, slices.Concat(relaxed, tellTale[Logs][0], commitMessage)); got == nil {
		t.Error("the COMMIT of what came after a job's end that was rolled back was lost")
	}
	if got := answer(t, w, slices.Concat(relaxed, tellTale[Ends][1], commitMessage)); got != nil || w.Lost(Ends) != 1 || w.Lost(Keyed) != 2 {
		t.Errorf("%q; lost: %d ends, %d requests with a key", got, w.Lost(Ends), w.Lost(Keyed))
	}
	w.Lose(1, Ends)
	w.Mend()
	if got := answer(t, w, slices.Concat(tellTale[Ends][0], commitMessage)); got == nil {
		t.Error("mended, it loses")
	}
	w.Strict(true)
	if got := answer(t, w, relaxed); !bytes.Equal(got, strictly) {
		t.Errorf("%q", got)
	}
	if answer(t, w, serializationFailure); w.Refused() != 1 {
		t.Errorf("%d refused", w.Refused())
	}
	w.Slow(100 * time.Millisecond)
	if begun := time.Now(); answer(t, w, []byte("x")) == nil || time.Since(begun) < 100*time.Millisecond {
		t.Errorf("slow, it took %s", time.Since(begun))
	}
	w.Slow(0)
	w.Cut()
	if got := answer(t, w, []byte("x")); got != nil {
		t.Errorf("cut, it answered %q", got)
	}
	w.Mend()
	if got := answer(t, w, []byte("x")); got == nil {
		t.Error("mended, it does not answer")
	}
	w.Lead(echo(t))
	if got := answer(t, w, []byte("y")); string(got) != "y" {
		t.Errorf("led elsewhere, it answers %q", got)
	}
}

// A silent wire takes connections, says nothing, not even that the other end is
// gone, and forgets nothing.
func TestSilentWire(t *testing.T) {
	t.Parallel()
	w, err := NewWire("postgresql://u:p@" + echo(t) + "/d")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	before := dial(t, w)
	w.SilenceAt(Claims)
	if got := say(t, before, commitMessage); !bytes.Equal(got, commitMessage) || w.Silent() {
		t.Errorf("%q, silent %t", got, w.Silent())
	}
	held := slices.Concat(tellTale[Claims][0], commitMessage)
	if _, err := before.Write(held); err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		if w.Silent() {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = before.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := before.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !w.Silent() {
		t.Errorf("it said %d bytes, %v, silent %t", n, err, w.Silent())
	}
	after := dial(t, w)
	_ = after.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := after.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("it said %d bytes, %v", n, err)
	}
	w.Mend()
	_ = before.SetReadDeadline(time.Now().Add(10 * time.Second))
	got := make([]byte, len(held))
	if _, err := io.ReadFull(before, got); err != nil || !bytes.Equal(got, held) {
		t.Errorf("%q, %v: what was held back is lost", got, err)
	}
	if got := say(t, after, []byte("x")); string(got) != "x" {
		t.Errorf("%q", got)
	}
}

func TestScenariosHaveNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range Scenarios() {
		if s.Name == "" || s.Goes == "" || s.Run == nil || seen[s.Name] {
			t.Errorf("%+v", s)
		}
		seen[s.Name] = true
	}
}

// TestDrawsAreTheSame for a seed and a name, whatever ran before.
func TestDrawsAreTheSame(t *testing.T) {
	t.Parallel()
	if drawOf(7, "a").Uint64() != drawOf(7, "a").Uint64() || drawOf(7, "a").Uint64() == drawOf(7, "b").Uint64() || drawOf(7, "a").Uint64() == drawOf(8, "a").Uint64() {
		t.Error("a seed does not settle what is drawn")
	}
}

// TestTellTalesAreTheStores: by other words no transaction would be found to be for what it is for.
func TestTellTalesAreTheStores(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"store/*.go", "kernel/*/*_sql.go"} {
		found, err := filepath.Glob("../../backend/internal/" + pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		files = append(files, found...)
	}
	var store []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		store = append(store, text...)
	}
	// Claims: of what is queued, and of what is taken over.
	for of, want := range map[Purpose]int{Keyed: 1, Claims: 2, Ends: 2, Logs: 1} {
		n := 0
		for _, words := range tellTale[of] {
			if !bytes.Contains(store, words) {
				t.Errorf("%s: no statement has %q", of, words)
			}
			n += bytes.Count(store, words)
		}
		if n < want {
			t.Errorf("%s: %d statements, not %d", of, n, want)
		}
	}
}
