package showcase_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/inventory/showcase"
)

// A small one: what the programs say of the rows is what the rows say.
func TestShowcase(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	size := showcase.Size{Hosts: 16, UnitsEach: 8, Jobs: 12, Events: 20, LogLines: 700}
	s, err := showcase.Start(t.Context(), showcase.Options{Root: root, Dir: t.TempDir(), Out: io.Discard, Size: size, Rate: 100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	anybody, err := client.New(client.Config{BaseURL: s.API, UserAgent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	c := anybody.WithToken(s.Token)
	hosts, states := 0, map[string]bool{}
	for h, err := range c.AllHosts(t.Context(), api.HostFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		hosts++
		states[h.State] = true
	}
	if hosts != size.Hosts || len(states) != 12 {
		t.Errorf("%d hosts in %d states, want %d in all 12", hosts, len(states), size.Hosts)
	}
	long := 0
	for after, complete := int64(0), false; !complete; {
		log, err := c.GetJobLog(t.Context(), s.Jobs.Long, after, 0)
		if err != nil {
			t.Fatal(err)
		}
		long, after, complete = long+len(log.Items), log.Last, log.Complete
	}
	if long < size.LogLines-5 || long > size.LogLines {
		t.Errorf("the long log has %d lines, want about %d", long, size.LogLines)
	}
	told := 0
	for e, err := range c.StreamJobLog(t.Context(), s.Jobs.Running, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Log != nil {
			told++
		}
		if told == 50 {
			break
		}
	}
	for _, path := range []string{"/", "/hosts", "/compute-units", "/allocations", "/jobs", "/jobs/" + s.Jobs.Failed, "/address-pool", "/events", "/system"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Web+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Cookie", "kloigos="+s.Token)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(body), "Log out") {
			t.Errorf("%s: status %d, %v", path, answer.StatusCode, err)
		}
	}
}
