package bench

import (
	"context"
	"fmt"
	"time"
)

// idle looks at a backend of all roles, as `serve` starts it, that has nothing to do.
func idle(ctx context.Context, b *Bed, scale Scale) ([]Result, error) {
	database, err := b.fleet(ctx, scale.LastUnits, scale.LastUnits/2)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.dropDatabase(ctx, database) }()
	s, err := b.startBackend(ctx, database, "api,worker,reconciler", "KLOIGOS_RUN_ROOT="+b.runRoot())
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Kill() }()
	var shares []float64
	const parts = 5
	for range parts { // the median: another process on the machine may make one part dear
		before, err := readProcess(s.PID)
		if err != nil {
			return nil, err
		}
		begun := time.Now()
		if err := wait(ctx, scale.Quiet/parts); err != nil {
			return nil, err
		}
		after, err := readProcess(s.PID)
		if err != nil {
			return nil, err
		}
		shares = append(shares, 100*float64(after.cpu-before.cpu)/float64(time.Since(begun)))
	}
	m, err := readMemory(s.PID)
	if err != nil {
		return nil, err
	}
	return []Result{
		{
			What: "resident memory of an idle backend, all roles", Limit: Limit{Value: 60, Unit: "MB"}, Measured: float64(m.resident) / 1e6,
			Raw: fmt.Sprintf("%.0f MB of it not mapped from files", float64(m.anonymous)/1e6),
		},
		{
			What: "its share of a core", Limit: Limit{Value: 1, Unit: "%"}, Measured: median(shares), Raw: fmt.Sprintf("%d parts of %s", parts, scale.Quiet/parts),
		},
	}, nil
}
