package app

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/drift/drifthttp"
	"kloigos/backend/internal/area/drift/driftwork"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/audit"
)

// driftArea is what is not as promised on hosts.
func driftArea(p Parts) Area {
	return Area{
		Routes:   drifthttp.Routes(drifthttp.Parts{Engine: p.Engine, Repair: p.Repair}),
		Policies: driftwork.Policies(driftwork.Config{DB: p.DB, Repair: p.Repair, Check: p.CrossCheck}),
	}
}

// crossChecks asks for a plan of that job.
func crossChecks(intents **intent.Intents) func(ctx context.Context, by audit.Actor, host, allocation uuid.UUID) (uuid.UUID, error) {
	return func(ctx context.Context, by audit.Actor, host, allocation uuid.UUID) (uuid.UUID, error) {
		return (*intents).CrossCheck(ctx, intent.By(by), host, allocation)
	}
}

// repairs asks for the job that made a host, or a unit if there is one. The intents are made after the areas.
func repairs(intents **intent.Intents) func(ctx context.Context, by audit.Actor, host, unit, allocation uuid.UUID) (uuid.UUID, error) {
	return func(ctx context.Context, by audit.Actor, host, unit, allocation uuid.UUID) (uuid.UUID, error) {
		if unit == uuid.Nil {
			return (*intents).InitializeHost(ctx, intent.By(by), host, 0, false)
		}
		return (*intents).SetUpAgain(ctx, intent.By(by), allocation)
	}
}
