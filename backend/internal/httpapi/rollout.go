package httpapi

import (
	"kloigos/backend/api"
	"kloigos/backend/internal/kernel/rollout"
)

// What a plan is where a request says nothing.
const (
	defaultFirst  = 10
	defaultGroups = 3
	defaultGap    = 60
	defaultProof  = 900
)

// PlanOf reads how a delivery reaches its targets.
func PlanOf(p api.DeliveryPlan) rollout.Plan {
	or := func(n, otherwise int) int {
		if n == 0 {
			return otherwise
		}
		return n
	}
	gap := defaultGap
	if p.GapSeconds != nil {
		gap = *p.GapSeconds
	}
	out := rollout.Plan{
		Canaries: p.Canaries, First: or(p.FirstPercent, defaultFirst), Groups: or(p.Groups, defaultGroups), ByZone: p.ByZone,
		GapMS: int64(gap) * 1000, WithinMS: int64(or(p.ProofSeconds, defaultProof)) * 1000, Limit: p.Limit, SkipProbe: p.SkipProbe,
	}
	if w := p.Window; w != nil {
		out.Window = rollout.Window{Days: w.Days, From: w.From, To: w.To}
	}
	return out
}

// PresentProgress shows how far a rollout is.
func PresentProgress(r rollout.Rollout) api.DeliveryProgress {
	gap := int(r.Plan.GapMS / 1000)
	out := api.DeliveryProgress{
		State: string(r.State), StateMeans: r.State.Means(), Reason: r.Reason, Wave: r.Wave, WaveCount: r.Waves, NextAt: r.NextAt, EndedAt: r.EndedAt,
		Plan: api.DeliveryPlan{
			Canaries: r.Plan.Canaries, FirstPercent: r.Plan.First, Groups: r.Plan.Groups, ByZone: r.Plan.ByZone, GapSeconds: &gap,
			ProofSeconds: int(r.Plan.WithinMS / 1000), Limit: r.Plan.Limit, SkipProbe: r.Plan.SkipProbe,
		},
		Version: r.Version, UpdatedAt: r.UpdatedAt,
	}
	if w := r.Plan.Window; w.From != "" || len(w.Days) > 0 {
		out.Plan.Window = &api.DeliveryWindow{Days: w.Days, From: w.From, To: w.To}
	}
	return out
}

// PresentWaves shows how many targets of each wave are in which state.
func PresentWaves(waves []rollout.Wave) (out []api.DeliveryWave) {
	for _, w := range waves {
		out = append(out, api.DeliveryWave{Wave: w.Wave, State: string(w.State), Count: w.Count})
	}
	return out
}

// PresentTarget shows a target of a rollout, and what it waits for.
func PresentTarget(r rollout.Rollout, t rollout.Target) api.DeliveryTarget {
	return api.DeliveryTarget{
		HostID: t.ID.String(), Host: t.Name, Region: t.Region, Zone: t.Zone, Wave: t.Wave, State: string(t.State), Reason: r.Why(t),
		ToldAt: t.ToldAt, EndedAt: t.EndedAt,
	}
}
