package intent_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/testkit/site"
)

// TestWhichHostsOneJobProbes: those that a probe leaves as they are, each once,
// and as long as not too many jobs do so already.
func TestWhichHostsOneJobProbes(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	h1, h2 := s.ReadyHost(site.HostSpec{Name: "h1"}).ID, s.ReadyHost(site.HostSpec{Name: "h2"}).ID
	registered, _, err := s.Intents.RegisterHost(t.Context(), s.Call, intent.RegisterHost{Name: "h3", Address: "127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	probe := func(ids ...uuid.UUID) error {
		_, err := s.Intents.ProbeHosts(t.Context(), s.Call, ids)
		return err
	}
	var bad *domain.Invalid
	many := make([]uuid.UUID, 51)
	for i := range many {
		many[i] = uuid.New()
	}
	for name, ids := range map[string][]uuid.UUID{"none": nil, "one twice": {h1, h2, h1}, "too many": many} {
		if err := probe(ids...); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := probe(h1, uuid.New()); !errors.Is(err, domain.ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
	if _, err := s.Intents.ProbeHosts(t.Context(), s.Call.In(uuid.New()), []uuid.UUID{h1}); !errors.Is(err, domain.ErrNotFound) {
		t.Errorf("one of another workspace: %v", err)
	}
	var c *domain.Conflict
	if err := probe(h1, registered); !errors.As(err, &c) || c.Code != "host_state" || !strings.Contains(c.Detail, "h3 (probing)") || strings.Contains(c.Detail, "h1 (") {
		t.Errorf("one that is being probed for the first time: %v", err)
	}
	if err := errors.Join(probe(h2, h1), probe(h1)); err != nil {
		t.Fatal(err)
	}
	if err := probe(h1, h2); !errors.As(err, &c) || c.Code != "probes_under_way" || !strings.HasSuffix(c.Detail, ": h1") {
		t.Errorf("a third time: %v", err)
	}
	if err := probe(h2); err != nil {
		t.Errorf("one that a single job reads: %v", err)
	}
}
