package bench

import (
	"context"
	"fmt"
	"strconv"
)

// jobLog compares what a job can tell in a second with COPY of the same rows, one a row of a table.
func jobLog(ctx context.Context, b *Bed, scale Scale) ([]Result, error) {
	database, err := b.fleet(ctx, unitsAHost, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.dropDatabase(ctx, database) }()
	var ours, copied []float64
	for range scale.Rounds {
		var one struct {
			Seconds float64 `json:"seconds"`
		}
		if err := b.benchjobSays(ctx, database, &one, "copy", "--entries", strconv.Itoa(scale.LogRows)); err != nil {
			return nil, err
		}
		copied = append(copied, float64(scale.LogRows)/one.Seconds)
		t, err := b.newTeller(ctx, database)
		if err != nil {
			return nil, err
		}
		took, err := t.tell(scale.LogRows, 0)
		if err != nil {
			return nil, err
		}
		if err := t.end(); err != nil { // which reads all of it back
			return nil, err
		}
		ours = append(ours, float64(scale.LogRows)/took.Seconds())
		b.say("   %.0f rows/s, COPY %.0f/s", ours[len(ours)-1], copied[len(copied)-1])
	}
	return []Result{{
		What:  fmt.Sprintf("rows a second that a job tells, %d of them, each read back once, over COPY of the same rows", scale.LogRows),
		Limit: Limit{Value: 0.7, AtLeast: true}, Measured: median(ours) / median(copied),
		Raw: fmt.Sprintf("%.0f/s, COPY %.0f/s", median(ours), median(copied)),
	}}, nil
}
