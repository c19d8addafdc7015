package httpapi

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
)

// jobHandlers answers the routes about jobs.
type jobHandlers struct{ *Server }

func (s jobHandlers) register() {
	register(s.Server, "list-jobs", s.listJobs, sorted(store.JobSorting))
	register(s.Server, "get-job", s.getJob)
	register(s.Server, "retry-job", s.retryJob)
	register(s.Server, "cancel-job", s.cancelJob)
	register(s.Server, "give-up-job", s.giveUpJob)
}

func (s jobHandlers) job(ctx context.Context, ref string) (store.Job, error) {
	u, ok := id(ref)
	if !ok {
		return store.Job{}, domain.ErrNotFound
	}
	j, err := s.db.Job(ctx, u)
	if err == nil && j.WorkspaceID != workspace(ctx) {
		err = domain.ErrNotFound
	}
	return j, err
}

func (s jobHandlers) listJobs(ctx context.Context, in *struct{ api.JobFilter }) (*object[api.Page[api.Job]], error) {
	bad := []error{oneOf("state", in.State, append(domain.JobLifecycle.Names(), "active", "ended")), oneOf("kind", in.Kind, s.jobKinds()), boundTo(in.JobFilter)}
	f := store.JobFilter{WorkspaceID: workspace(ctx), State: in.State, Kind: in.Kind, Playbook: in.Playbook, Version: in.Version}
	if err := joinProblems(bad...); err != nil {
		return nil, err
	}
	f.AllocationID, f.Login = idOrName(in.Allocation)
	var err error
	if f.ObjectID, err = idFilter("object", in.Object); err != nil {
		return nil, err
	}
	if f.HostID, err = hostHandlers(s).hostFilter(ctx, in.Host); err != nil {
		return nil, err
	}
	if f.UnitID, err = unitHandlers(s).unitFilter(ctx, in.Unit); err != nil {
		return nil, err
	}
	return pageOf(s.listOf("list-jobs", in.PageQuery, in.State, in.Kind, in.Host, in.Unit, in.Allocation, in.Object, in.Playbook, strconv.Itoa(in.Version)), store.JobSorting,
		func(after *store.Position, limit int) ([]store.Job, error) {
			f.Sort, f.After, f.Limit = in.Sort, after, limit
			return s.db.Jobs(ctx, f)
		},
		s.presentJob)
}

// boundTo refuses to look for the jobs of a version where there is no index by
// it: those that have not ended and those that have are apart.
func boundTo(f api.JobFilter) error {
	switch {
	case (f.Playbook == "") != (f.Version == 0):
		return badField("version", "goes with a playbook, and a playbook with a version")
	case f.Playbook != "" && f.State != "active" && f.State != "ended" && f.Host+f.Unit+f.Allocation+f.Object == "":
		return badField("version", "only of jobs that have not ended (state=active), of those that have (state=ended), or with a host, a unit or an allocation")
	default:
		return nil
	}
}

func (s jobHandlers) jobKinds() []string {
	kinds := make([]string, len(domain.JointTable))
	for i, j := range domain.JointTable {
		kinds[i] = string(j.Kind)
	}
	return append(kinds, s.cfg.Kinds.Kinds()...)
}

func (s jobHandlers) getJob(ctx context.Context, in *ByID) (*object[api.Job], error) {
	j, err := s.job(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	shown, err := s.shownJob(ctx, j)
	if err != nil {
		return nil, err
	}
	shown.WaitsFor, err = s.waitsFor(ctx, j.WorkspaceID, j.State)
	return &object[api.Job]{Body: shown}, err
}

// waitsFor is the quota that a job waits for in the queue, in a sentence.
func (s jobHandlers) waitsFor(ctx context.Context, workspace uuid.UUID, state domain.JobState) (string, error) {
	if state != domain.JobQueued {
		return "", nil
	}
	return s.db.FullJobQuota(ctx, workspace)
}

// shownJob is a job with its hosts, where it has several, and with the plan that it applies.
func (s jobHandlers) shownJob(ctx context.Context, j store.Job) (api.Job, error) {
	out := s.presentJob(j)
	if kind, _ := s.cfg.Kinds.Kind(string(j.Kind)); kind.Plan != nil {
		plan, err := s.db.PlanOfJob(ctx, j.WorkspaceID, j.ID)
		if err != nil {
			return out, err
		}
		out.PlanID = text(plan)
	}
	if joint, _ := domain.JointOf(j.Kind); !joint.Several {
		return out, nil
	}
	hosts, err := s.db.HostsOfJob(ctx, j.ID)
	if err != nil {
		return out, err
	}
	for _, h := range hosts {
		out.Hosts = append(out.Hosts, api.JobHost{
			ID: h.HostID.String(), Name: h.Host, State: string(h.State), Code: h.Code, Message: h.Message, UpdatedAt: h.UpdatedAt,
		})
	}
	return out, nil
}

// followJob is an answer whose object is the job itself.
type followJob struct {
	Location string `header:"Location" doc:"URL of the job that carries it out"`
	Body     api.Job
}

// onJob carries out a change of a job; do returns the job that carries it out.
func (s jobHandlers) onJob(ctx context.Context, ref string, do func(ctx context.Context, call intent.Call, job uuid.UUID) (uuid.UUID, error)) (*followJob, error) {
	j, err := s.job(ctx, ref)
	if err != nil {
		return nil, err
	}
	m, err := s.onceJob(ctx, callOf(ctx), j.ID, func(ctx context.Context, call intent.Call) (uuid.UUID, error) { return do(ctx, call, j.ID) })
	if err != nil {
		return nil, err
	}
	return s.followed(ctx, j.ID, m.job)
}

// followed is an answer with a job, as it is now, and the one that carries out
// what was asked for.
func (s jobHandlers) followed(ctx context.Context, id, follow uuid.UUID) (*followJob, error) {
	j, err := s.db.Job(ctx, id)
	if err != nil {
		return nil, err
	}
	shown, err := s.shownJob(ctx, j)
	if err != nil {
		return nil, err
	}
	return &followJob{Location: jobURL(follow), Body: shown}, nil
}

func (s jobHandlers) retryJob(ctx context.Context, in *struct {
	ByID
	Body *api.RetryJob
},
) (*followJob, error) {
	return s.onJob(ctx, in.ID, func(ctx context.Context, call intent.Call, job uuid.UUID) (uuid.UUID, error) {
		if in.Body == nil {
			return job, s.intents.RetryJob(ctx, call, job, false)
		}
		return job, s.intents.RetryJobFrom(ctx, call, job, in.Body.Playbook == "default", in.Body.FromStep)
	})
}

func (s jobHandlers) cancelJob(ctx context.Context, in *ByID) (*followJob, error) {
	return s.onJob(ctx, in.ID, func(ctx context.Context, call intent.Call, job uuid.UUID) (uuid.UUID, error) {
		return job, s.intents.CancelJob(ctx, call, job)
	})
}

func (s jobHandlers) giveUpJob(ctx context.Context, in *ByID) (*followJob, error) {
	return s.onJob(ctx, in.ID, s.intents.GiveUpJob)
}

func (s jobHandlers) presentJob(j store.Job) api.Job {
	joint, _ := domain.JointOf(j.Kind)
	kind, ofArea := s.cfg.Kinds.Kind(string(j.Kind))
	if ofArea {
		joint.Means, joint.ReadOnly = kind.Means, true // it holds no host
	}
	out := api.Job{
		ID: j.ID.String(), Workspace: j.WorkspaceID.String(), Kind: string(j.Kind), KindMeans: joint.Means, State: string(j.State),
		StateMeans: domain.JobLifecycle.Info(j.State).Means, HoldsHost: !joint.ReadOnly, HostID: text(j.HostID), Host: value(j.Host), UnitID: text(j.UnitID),
		Unit: value(j.Unit), AllocationID: text(j.AllocationID), LoginUser: value(j.LoginUser), PlanID: text(j.PlanID), Steps: make([]api.JobStep, len(j.Steps)),
		Priority: j.Priority, Attempt: j.Attempt, Failures: j.Failures, MaxAttempts: j.MaxAttempts, RunAfter: j.RunAfter,
		DeadlineAt: j.DeadlineAt, Worker: value(j.Worker), LeaseExpires: j.LeaseExpiresAt, Playbook: value(j.Playbook), Version: value(j.PlaybookVersion),
		RequestedBy: j.RequestedBy, Outcome: j.Outcome, Operations: presentOperations(intent.JobOperations(j)),
		CreatedAt: j.CreatedAt, StartedAt: j.StartedAt, FinishedAt: j.FinishedAt, LogExpiredAt: j.LogExpiredAt,
	}
	if out.SharedHost = j.OnSharedHost(); out.SharedHost { // neither has a page in this workspace
		out.HostID, out.UnitID = "", ""
	}
	for i, st := range j.Steps {
		out.Steps[i] = api.JobStep{Position: st.Position, Name: st.Name, State: string(st.State), Attempt: st.Attempt, StartedAt: st.StartedAt, FinishedAt: st.FinishedAt}
		for _, k := range kind.Steps {
			if k.Name == st.Name {
				out.Steps[i].Means = k.Means
			}
		}
	}
	for _, o := range j.Objects {
		out.Objects = append(out.Objects, api.JobObject{Role: o.Role, Noun: o.Noun, ID: o.ID.String(), Name: o.Name})
	}
	if joint.Several {
		var args struct {
			Hosts []json.RawMessage `json:"host_ids"`
		}
		_ = json.Unmarshal(j.Args, &args) // of a newer backend, perhaps
		out.HostCount = len(args.Hosts)
	}
	if j.Error != nil {
		e := api.JobError{Code: j.Error.Code, Message: j.Error.Message, Host: j.Error.Host, Task: j.Error.Task, NextStep: j.Error.NextStep}
		out.Error = &e
	}
	return out
}
