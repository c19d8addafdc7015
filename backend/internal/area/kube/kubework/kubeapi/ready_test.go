package kubeapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A server that has just started refuses everybody for a moment: whoever waits for it goes on waiting.
func TestReadyWaitsForRights(t *testing.T) {
	t.Parallel()
	status := http.StatusForbidden
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"reason":"Forbidden","message":"User \"kloigos\" cannot get path \"/readyz\""}`))
	}))
	t.Cleanup(server.Close)
	client := Over(strings.TrimPrefix(server.URL, "https://"), server.Client())
	if err := client.Ready(t.Context()); err == nil || !Heals(err) || !strings.Contains(err.Error(), "cannot get path") {
		t.Errorf("without rights: %v", err)
	}
	status = http.StatusUnauthorized
	if err := client.Ready(t.Context()); err == nil || Heals(err) {
		t.Errorf("without a name: %v", err)
	}
}
