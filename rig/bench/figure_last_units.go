package bench

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"kloigos/backend/api"
)

//go:embed sql/occupy.sql
var occupySQL string

// lastUnits has many clients run for the last units of a fleet, each until it is refused, and looks whether every unit
// went to one of them, and whether anybody was refused while one was free.
func lastUnits(ctx context.Context, b *Bed, scale Scale) ([]Result, error) {
	fleet := min(scale.Units, 10_000)
	database, err := b.fleet(ctx, fleet, fleet-scale.LastUnits)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.dropDatabase(ctx, database) }()
	s, err := b.startBackend(ctx, database, "api")
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Kill() }()
	var mu sync.Mutex
	times := map[string]int{} // unit: how often it was handed out
	var refused []time.Time
	done := make([]bool, scale.Clients)
	_, err = load{
		address: s.listen, clients: scale.Clients,
		next: func(c, _ int, r *fasthttp.Request) bool {
			s.post(r, "/allocations", api.CreateAllocation{CPUs: 1, SSHKeys: []string{someKey}})
			return !done[c]
		},
		take: func(c, _ int, r *fasthttp.Response) error {
			at := time.Now()
			mu.Lock()
			defer mu.Unlock()
			switch r.StatusCode() {
			case http.StatusAccepted:
				var a api.Allocation
				if err := json.Unmarshal(r.Body(), &a); err != nil {
					return fmt.Errorf("read the answer: %w", err)
				}
				times[a.UnitID]++
			case http.StatusConflict:
				refused = append(refused, at)
				done[c] = true
			default:
				return fmt.Errorf("the answer is %d: %.300s", r.StatusCode(), r.Body())
			}
			return nil
		},
	}.run(ctx)
	if err != nil {
		return nil, err
	}
	// Begun after the refusal was there, an allocation took what was free all the while.
	last, err := b.value(ctx, database, "SELECT (extract(epoch FROM max(created_at)) * 1000000)::INT8 FROM allocations WHERE state = 'allocating'")
	if err != nil {
		return nil, err
	}
	wrongly := 0
	for _, at := range refused {
		if at.UnixMicro() < last {
			wrongly++
		}
	}
	once := 0
	for _, n := range times {
		if n == 1 {
			once++
		}
	}
	left, err := b.value(ctx, database, "SELECT count(*) FROM compute_units WHERE state = 'free'")
	if err != nil {
		return nil, err
	}
	return []Result{
		{
			What:  fmt.Sprintf("the last %d units of %d, %d clients: share that was handed out, each once", scale.LastUnits, fleet, scale.Clients),
			Limit: Limit{Value: 1, AtLeast: true}, Measured: float64(once) / float64(scale.LastUnits),
			Raw: fmt.Sprintf("%d handed out once, %d left free", once, left),
		},
		{
			What: "the same: clients that were refused while a unit was free", Limit: Limit{Value: 0},
			Measured: float64(wrongly), Raw: fmt.Sprintf("%d refused when none was left", len(refused)-wrongly),
		},
	}, nil
}
