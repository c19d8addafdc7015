package egress_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"kloigos/backend/internal/kernel/egress"
)

// Each reason with the error that the call really ends with.
func TestWhyACallWasNotAnswered(t *testing.T) {
	t.Parallel()
	loopback := egress.Rule{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	get := func(rule egress.Rule, url string) error {
		client := http.Client{Transport: &http.Transport{DialContext: rule.Dialer().DialContext, DisableKeepAlives: true}}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err == nil {
			_ = answer.Body.Close()
		}
		return err
	}
	ended := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-ended }))
	defer slow.Close()
	defer close(ended)
	stranger := httptest.NewTLSServer(http.NotFoundHandler())
	defer stranger.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = gone.Close()
	for _, c := range []struct {
		err     error
		want    egress.Unanswered
		message string
		users   bool
	}{
		{get(egress.Rule{}, slow.URL), egress.AddressRefused, "127.0.0.1 is in a private range that this installation does not allow.", true},
		{get(loopback, stranger.URL), egress.BadCertificate, "The certificate of the server is not valid for its name, or nobody known vouches for it.", true},
		{get(loopback, slow.URL), egress.NoAnswer, "No answer of the server came within 10s.", false},
		{get(loopback, "http://"+gone.Addr().String()), egress.Unreachable, "No connection to the server could be made, or it ended early.", false},
		{fmt.Errorf("read: %w", errors.New("what a server said")), egress.Unreachable, "No connection to the server could be made, or it ended early.", false},
	} {
		why := egress.Why(c.err)
		if got := why.Message("the server", 10*time.Second, c.err); why != c.want || got != c.message || why.IsUsers() != c.users {
			t.Errorf("%v: %s, %q, users %t", c.err, why, got, why.IsUsers())
		}
	}
}
