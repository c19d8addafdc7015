package intent

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/store"
)

// MeasureHost asks for what the tenants of a host use to be measured, a number
// of times. While a job does so already, that one is returned: there is no need
// of another, and whoever asks again and again does not fill the queue.
func (in *Intents) MeasureHost(ctx context.Context, call Call, id uuid.UUID, ifMatch int64, samples int) (jobID uuid.UUID, err error) {
	if samples < 1 || samples > domain.MaxSamples {
		var bad domain.Invalid
		bad.Add("samples", "must be 1 to %d", domain.MaxSamples)
		return uuid.Nil, &bad
	}
	err = in.onHost(ctx, call, id, ifMatch, func(tx *store.Tx, h store.Host) error {
		if err := canMeasure(h); err != nil {
			return err
		}
		under, err := underWay(ctx, tx, h.ID, domain.KindHostMeasure)
		if err != nil {
			return err
		}
		if len(under) > 0 {
			jobID = under[0]
			return recordMade(ctx, tx, call, "host", h.ID, jobID)
		}
		audit := hostAudit(h, "host.measure")
		audit.After = map[string]any{"samples": samples}
		jobID, err = in.startAndEnqueue(ctx, tx, call, job.HostMeasure{HostID: h.ID, Samples: samples}, audit)
		return err
	})
	return jobID, err
}

// underWay returns the jobs of a kind that a host has. Whoever asks for another at
// the same time waits here, and then sees this one's.
func underWay(ctx context.Context, tx *store.Tx, host uuid.UUID, kind domain.JobKind) ([]uuid.UUID, error) {
	if _, err := tx.HoldHost(ctx, host); err != nil {
		return nil, err
	}
	return tx.UnderWay(ctx, host, kind)
}

func canMeasure(h store.Host) error {
	switch {
	case domain.HostLifecycle.Info(h.State).Final:
		return domain.Conflictf("host_state", "it is %s: %s", h.State, domain.HostLifecycle.Info(h.State).Means)
	case h.LiveAllocations == 0:
		return domain.Conflictf("nothing_to_measure", "none of its units has a tenant")
	default:
		return nil
	}
}
