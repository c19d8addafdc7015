package app

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/config"
	"kloigos/backend/internal/kernel/db"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/worker"
)

// Area is what one area hands in: its nouns, kinds of jobs, what their steps do, its
// routes and its policies.
type Area struct {
	Nouns    []work.Noun
	Kinds    []work.Kind
	Handlers work.Handlers
	Routes   func(*httpapi.Server)
	Policies []reconcile.Policy
	// InFlight is the nouns whose states have deadlines.
	InFlight []reconcile.Deadlines
	// Run does what an area does beside requests, on each backend with the API, until
	// its context is done. May be nil.
	Run func(context.Context)
	// NotReconciled says for each thing of the area that no policy looks at why that
	// is so.
	NotReconciled map[string]string
}

// Parts is what an area is made with.
type Parts struct {
	DB     *db.DB // nil where nothing runs: nouns, kinds and routes are the same
	Engine kernel.Engine
	Keyset *secret.Keyset
	Config config.Config
	Kinds  *work.Registry // of all areas; complete once they are joined
	// Intents are those about hosts, which remedies ask. They are made after the areas; nil where no policies run.
	Intents **intent.Intents
	// Repair asks for the job that made a host, or a unit if there is one.
	Repair func(ctx context.Context, by audit.Actor, host, unit, allocation uuid.UUID) (job uuid.UUID, err error)
	// CrossCheck asks for a plan of that job.
	CrossCheck func(ctx context.Context, by audit.Actor, host, allocation uuid.UUID) (plan uuid.UUID, err error)
	// Probe asks for the job that reads hosts of a workspace with a play; nil where deliveries do without.
	Probe func(ctx context.Context, workspace uuid.UUID, hosts []uuid.UUID) (job uuid.UUID, err error)
	// Ask asks a host over SSH whether it is there; why is "" if it is. nil where no policies run.
	Ask func(ctx context.Context, host uuid.UUID) (why string, err error)
	// Play runs a play for a job of an area on one host, under its fence. nil where no jobs run.
	Play func(ctx context.Context, a *work.Attempt, p worker.HostPlay) (json.RawMessage, error)
	// LogIn logs in to a host with a key; iam.ErrLoginRefused if the host does not let it in. nil where no jobs run.
	LogIn func(ctx context.Context, host uuid.UUID, privateKey []byte) error
	// Targets is the rule for the addresses of hosts, and of what runs on them.
	Targets domain.TargetPolicy
	// Backend is this process.
	Backend uuid.UUID
	// Version is that of this backend, as the others see it.
	Version string
}

// areas is every area: the one line that a new one adds to this package.
var areas = []func(Parts) Area{iamArea, dnsArea, watchArea, agentArea, driftArea, kubeArea, networkArea, playbookArea, releaseArea}

// handlers joins the steps of an area's nouns.
func handlers(each ...work.Handlers) work.Handlers {
	all := work.Handlers{}
	for _, h := range each {
		maps.Copy(all, h)
	}
	return all
}

// routes joins the routes of an area's nouns.
func routes(each ...func(*httpapi.Server)) func(*httpapi.Server) {
	return func(s *httpapi.Server) {
		for _, register := range each {
			register(s)
		}
	}
}

// Areas are all areas, together.
type Areas struct {
	Kinds    *work.Registry
	Handlers work.Handlers
	Routes   []func(*httpapi.Server)
	Policies []reconcile.Policy
	InFlight []reconcile.Deadlines
	Runs     []func(context.Context)
	// NotReconciled is that of all areas.
	NotReconciled map[string]string
}

// NewAreas joins the areas. A mistake in one of their tables is an error.
func NewAreas(p Parts) (Areas, error) {
	p.Kinds = &work.Registry{Bind: store.BindPlaybooks, Unplanned: intent.Unplanned}
	all := Areas{Kinds: p.Kinds, Handlers: work.Handlers{}, NotReconciled: map[string]string{}}
	for _, area := range areas {
		a := area(p)
		if err := p.Kinds.Add(a.Nouns, a.Kinds); err != nil {
			return Areas{}, fmt.Errorf("join the areas: %w", err)
		}
		maps.Copy(all.Handlers, a.Handlers)
		maps.Copy(all.NotReconciled, a.NotReconciled)
		all.Policies = append(all.Policies, a.Policies...)
		all.InFlight = append(all.InFlight, a.InFlight...)
		if a.Run != nil {
			all.Runs = append(all.Runs, a.Run)
		}
		if a.Routes != nil {
			all.Routes = append(all.Routes, a.Routes)
		}
	}
	return all, (&work.Runner{Registry: p.Kinds, Handlers: all.Handlers}).Check()
}
