package ansible

import (
	"context"
	"strings"
	"testing"
	"time"
)

// A host is asked over one connection, which is made anew when it has died, and what it answers with is told in words.
func TestConnectionsAreKept(t *testing.T) {
	b := setup(t)
	host := b.host()
	var c Connections
	t.Cleanup(c.Close)
	ask := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		return c.Answers(ctx, "h1", &host)
	}
	for range 3 {
		if err := ask(); err != nil {
			t.Fatal(err)
		}
	}
	first := c.kept["h1"].client
	if err := ask(); err != nil || c.kept["h1"].client != first {
		t.Errorf("asked over another connection: %v", err)
	}
	// The other side ends it.
	_ = first.Close()
	if err := ask(); err != nil || c.kept["h1"].client == first {
		t.Errorf("a dead connection was not replaced: %v", err)
	}

	other := host
	other.HostKeys = []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPKSUTyz1HwHReFVvD5obVsALAgJRNarH4TRpNePnAS"}
	stranger := host
	stranger.User = "nobody-of-this-name"
	nowhere := host
	nowhere.Port = 1
	// It refuses the login, and is there; it is not troubled with another one.
	for range 2 {
		if err := c.Answers(t.Context(), "h1", &stranger); err != nil || c.kept["h1"].client != nil || c.kept["h1"].refused.IsZero() {
			t.Errorf("a refused login: %v, %+v", err, c.kept["h1"])
		}
	}
	for want, h := range map[string]Host{"shows another host key": other, "connection refused": nowhere} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		err := c.Answers(ctx, "h1", &h)
		cancel()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Answers(ctx, "h1", &host); err == nil || !strings.Contains(err.Error(), "in time") {
		t.Errorf("without time: %v", err)
	}

	// Nobody asks any more: the next question, about another host, lets it go.
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	c.kept["h1"].used = time.Now().Add(-2 * forgetAfter)
	_ = c.connectionOf("h2")
	if c.kept["h1"] != nil {
		t.Error("a connection that nobody asks about is kept")
	}
}
