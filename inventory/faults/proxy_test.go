package faults

import (
	"bytes"
	"io"
	"net"
	"net/url"
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

// answer sends something through the wire; nil if the connection broke.
func answer(t *testing.T, w *Wire, what []byte) []byte {
	t.Helper()
	u, err := url.Parse(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
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
	if got := answer(t, w, commitMessage); got != nil || w.Lost() != 1 {
		t.Errorf("a COMMIT was answered with %q, %d lost", got, w.Lost())
	}
	if got := answer(t, w, commitMessage); got == nil {
		t.Error("more than one COMMIT was lost")
	}
	w.LoseKeyed(1)
	if got := answer(t, w, commitMessage); got == nil {
		t.Error("the COMMIT of anything was lost")
	}
	prepare := slices.Concat([]byte("P\x00\x00\x00\x99stmtcache_12ab\x00\n"), keyStatement, []byte(" ... \x00"), commitMessage)
	if got := answer(t, w, prepare); got != nil {
		t.Error("the COMMIT of a request with a key was not lost")
	}
	w.LoseKeyed(1)
	if got := answer(t, w, slices.Concat([]byte("B\x00\x00\x00\x99\x00stmtcache_12ab\x00"), commitMessage)); got != nil {
		t.Error("the COMMIT of a request with a key that was prepared before was not lost")
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
