package bench

import (
	"context"
	"fmt"
	"strconv"
)

// claimLatencies are what queuebench prints.
type claimLatencies struct {
	P50 float64 `json:"p50_ms"`
	P99 float64 `json:"p99_ms"`
}

// longQueue times claims out of a long queue.
func longQueue(ctx context.Context, b *Bed, scale Scale) ([]Result, error) {
	if err := b.buildQueueBench(ctx); err != nil {
		return nil, err
	}
	database, err := b.fleet(ctx, queueBatch*unitsAHost, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.dropDatabase(ctx, database) }()
	if err := b.fillQueue(ctx, database, scale.LongQueue); err != nil {
		return nil, err
	}
	var claims claimLatencies
	if err := b.runJSON(ctx, &claims, database, "queuebench", "claim", "-times", "500"); err != nil {
		return nil, err
	}
	return []Result{{
		What: fmt.Sprintf("p99 of a claim of 8 jobs out of %d, from BEGIN to the answer to COMMIT", scale.LongQueue), Limit: Limit{Value: 5, Unit: "ms"},
		Measured: claims.P99, Raw: fmt.Sprintf("p50 %.2f ms, of 500", claims.P50),
	}}, nil
}

// fillQueue enqueues jobs that nobody carries out yet.
func (b *Bed) fillQueue(ctx context.Context, database string, jobs int) error {
	var filled drained
	return b.runJSON(ctx, &filled, database, "queuebench", "fill", "-jobs", strconv.Itoa(jobs), "-batch", "1000")
}
