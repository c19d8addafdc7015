package watchhttp

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/watch"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

type remedies struct {
	httpapi.Noun[watch.Remedy, api.Remedy]
	jobs map[string][]string
}

// RemedyRoutes registers the routes of remedies. jobs are the kinds of jobs that can be asked for, by noun.
func RemedyRoutes(engine intent.Engine, jobs map[string][]string) func(*httpapi.Server) {
	return func(s *httpapi.Server) {
		n := remedies{httpapi.Noun[watch.Remedy, api.Remedy]{
			Server: s, Engine: engine, Find: watch.FindRemedy, Present: presentRemedy, Version: func(r watch.Remedy) int64 { return r.Version },
		}, jobs}
		httpapi.Register(s, "list-remedies", n.list, httpapi.Sorted(watch.RemedySorting))
		httpapi.Register(s, "create-remedy", httpapi.Create(n.Noun, n.create), httpapi.Created, httpapi.Example(api.CreateRemedy{
			Name: "probe-again", Noun: "host", Condition: "healthy", Job: "host_probe", WaitSeconds: 600, PerDay: 3, AtOnce: 2,
		}))
		httpapi.Register(s, "get-remedy", n.Get)
		httpapi.Register(s, "change-remedy", httpapi.Update(n.Noun, n.change), httpapi.Example(map[string]any{"enabled": false}))
		httpapi.Register(s, "delete-remedy", n.Delete(watch.DeleteRemedy))
		httpapi.Register(s, "list-remedy-runs", n.runs, httpapi.Sorted(watch.RemedyRunSorting))
	}
}

func (n remedies) list(ctx context.Context, in *struct{ api.RemedyFilter }) (*httpapi.Object[api.Page[api.Remedy]], error) {
	return httpapi.PageOf(n.Server, "list-remedies", in.PageQuery, []string{in.Noun}, watch.RemedySorting,
		func(after *db.Position, limit int) ([]watch.Remedy, error) {
			return watch.Remedies(ctx, n.Server.DB().Reader, watch.RemedyFilter{WorkspaceID: httpapi.Workspace(ctx), Noun: in.Noun, Sort: in.Sort, After: after, Limit: limit})
		},
		presentRemedy)
}

// routesOfJobs are the routes by which people ask for the jobs.
var routesOfJobs = map[string]string{"host_probe": "probe-host", "host_initialize": "initialize-host", "zone_sync": "sync-dns-zone"}

// may refuses who has no permission to ask for a job itself: a remedy would ask for it in their place.
func may(ctx context.Context, job string) error {
	route, known := api.RouteOf(routesOfJobs[job])
	if !known {
		return nil // no remedy can have it
	}
	if !httpapi.AccessOf(ctx).At(route.Permission, httpapi.PlaceOf(ctx)) {
		return httpapi.Forbidden(route.Permission)
	}
	return nil
}

func (n remedies) create(ctx context.Context, b api.CreateRemedy) (func(context.Context, *intent.Tx) (uuid.UUID, error), error) {
	if err := may(ctx, b.Job); err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		made, err := watch.CreateRemedy(ctx, tx, n.jobs, watch.RemedyDraft{
			Name: b.Name, Noun: b.Noun, Condition: b.Condition, Job: b.Job, WaitSeconds: b.WaitSeconds, PerDay: b.PerDay, AtOnce: b.AtOnce,
			Enabled: b.Enabled == nil || *b.Enabled,
		})
		return made.ID, err
	}, nil
}

func (n remedies) change(ctx context.Context, tx *intent.Tx, ref scope.Ref[watch.Remedy], version int64, b api.ChangeRemedy) error {
	return watch.ChangeRemedy(ctx, tx, n.jobs, ref, version, func(d *watch.RemedyDraft) error {
		if err := may(ctx, d.Job); err != nil {
			return err
		}
		set(&d.Name, b.Name)
		set(&d.Condition, b.Condition)
		set(&d.Job, b.Job)
		set(&d.WaitSeconds, b.WaitSeconds)
		set(&d.PerDay, b.PerDay)
		set(&d.AtOnce, b.AtOnce)
		set(&d.Enabled, b.Enabled)
		return may(ctx, d.Job)
	})
}

func (n remedies) runs(ctx context.Context, in *struct{ api.RemedyRunFilter }) (*httpapi.Object[api.Page[api.RemedyRun]], error) {
	f := watch.RemedyRunFilter{WorkspaceID: httpapi.Workspace(ctx), Sort: in.Sort}
	if in.Remedy != "" {
		r, _, err := watch.FindRemedy(ctx, n.Server.DB().Reader, f.WorkspaceID, in.Remedy)
		if errors.Is(err, fault.ErrNotFound) {
			return nil, httpapi.BadField("remedy", "There is no such remedy.")
		}
		if err != nil {
			return nil, err
		}
		f.RemedyID = r.ID
	}
	return httpapi.PageOf(n.Server, "list-remedy-runs", in.PageQuery, []string{in.Remedy}, watch.RemedyRunSorting,
		func(after *db.Position, limit int) ([]watch.RemedyRun, error) {
			f.After, f.Limit = after, limit
			return watch.RemedyRuns(ctx, n.Server.DB().Reader, f)
		},
		presentRun)
}

func presentRemedy(r watch.Remedy) api.Remedy {
	return api.Remedy{
		ID: r.ID.String(), Workspace: r.WorkspaceID.String(), Name: r.Name, Noun: r.Noun, Condition: r.Condition, Job: r.Job, WaitSeconds: r.WaitSeconds,
		PerDay: r.PerDay, AtOnce: r.AtOnce, Enabled: r.Enabled, Version: r.Version, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		Operations: []api.Operation{httpapi.OperationOf("change", nil), httpapi.OperationOf("delete", nil)},
	}
}

func presentRun(r watch.RemedyRun) api.RemedyRun {
	out := api.RemedyRun{ID: r.ID.String(), At: r.At, Outcome: r.Outcome, RemedyID: r.RemedyID.String(), Remedy: r.Remedy, ObjectID: r.ObjectID.String(), Object: r.ObjectName, Reason: r.Reason, Message: r.Message}
	if r.JobID != nil {
		out.JobID = r.JobID.String()
	}
	return out
}
