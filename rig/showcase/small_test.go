package showcase

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
)

// However few hosts are asked for, the story can be told.
func TestFewHosts(t *testing.T) {
	t.Parallel()
	for hosts := range 21 {
		for _, units := range []int{0, 1, 20} {
			w := &world{
				size: Size{Hosts: hosts, UnitsEach: units, Jobs: 40, Events: 40, LogLines: 10}, random: rand.New(rand.NewPCG(seed, seed)),
				now: time.Now(), playbooks: map[string]uuid.UUID{}, sums: map[string]string{},
			}
			w.makeTables()
			w.worker = w.id()
			w.makeRows()
			if len(w.hosts.rows) != hosts {
				t.Errorf("%d hosts, want %d", len(w.hosts.rows), hosts)
			}
		}
	}
}

// TestNoJobRuns: three hosts have none that is being initialized.
func TestNoJobRuns(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	if err := (&live{}).run(ended, nil, 1); err != nil {
		t.Error(err)
	}
}
