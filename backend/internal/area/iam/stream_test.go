package iam

import (
	"net/netip"
	"testing"

	"kloigos/backend/internal/kernel/egress"
)

// TestStreamsAreEncrypted: events go in the clear to this machine's own addresses only, not to a name that looks like one.
func TestStreamsAreEncrypted(t *testing.T) {
	t.Parallel()
	rule := egress.Rule{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}}
	for url, taken := range map[string]bool{
		"https://logs.example.org/": true, "http://127.0.0.1:8080/": true, "http://[::1]:8080/": true,
		"http://logs.example.org/": false, "http://127.0.0.1.logs.example.org/": false, "http://198.51.100.7/": false,
	} {
		_, err := StreamDraft{Name: "siem", Type: StreamWebhook, URL: url}.check(rule)
		if (err == nil) != taken {
			t.Errorf("%s: %v", url, err)
		}
	}
}
