package app

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"kloigos/backend/internal/area/watch"
	"kloigos/backend/internal/area/watch/watchwork"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/audit"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/testkit/site"
)

// remedySite is an installation with a ready host that is ill, and the policy of remedies.
type remedySite struct {
	*site.Site
	host   uuid.UUID
	pool   *pgxpool.Pool
	jobs   watchwork.Jobs
	policy reconcile.Policy
}

func newRemedySite(t *testing.T) *remedySite {
	t.Helper()
	s := &remedySite{Site: site.New(t)}
	intents := s.Intents
	parts := Parts{DB: s.DB.DB, Intents: &intents}
	s.jobs = remedyJobs(parts)
	for _, p := range watchwork.Policies(watchwork.Config{DB: s.DB.DB, Jobs: s.jobs}) {
		if p.Name == "remedy" {
			s.policy = p
		}
	}
	var err error
	if s.pool, err = pgxpool.New(t.Context(), s.URL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.pool.Close)
	ssh := site.NewSSHServer(t)
	s.host = s.ReadyHost(site.HostSpec{Name: "h1", Port: ssh.Port}).ID
	s.sql("UPDATE hosts SET host_key = $2 WHERE id = $1", s.host, ssh.Key())
	s.sql(`INSERT INTO events (id, workspace_id, actor_kind, actor_name, client, request_id, action, object_kind, object_id, object_name)
		VALUES (gen_random_uuid(), $1, 'account', 'ada', '', '', 'host.create', 'host', $2, 'h1')`, domain.DefaultWorkspace, s.host)
	s.sql(`INSERT INTO conditions (noun, object_id, type, status, reason, message, fault, retry_helps, failing, results, flapping, since, observed_at, policy, history)
		VALUES ('host', $1, 'healthy', 'false', 'unreachable', 'It does not speak.', '', false, 0, '', false, now() - INTERVAL '1 hour', now(), 'agent', '[]')`, s.host)
	return s
}

func (s *remedySite) sql(sql string, args ...any) {
	s.T.Helper()
	if _, err := s.pool.Exec(s.T.Context(), sql, args...); err != nil {
		s.T.Fatal(err)
	}
}

func (s *remedySite) remedy(workspace uuid.UUID, name, job string) watch.Remedy {
	s.T.Helper()
	var made watch.Remedy
	call := kernel.Call{Actor: audit.Actor{Kind: audit.Account, Name: "ada"}, Workspace: workspace}
	err := kernel.Engine{DB: s.DB.DB}.Do(s.T.Context(), call, func(tx *kernel.Tx) (err error) {
		made, err = watch.CreateRemedy(s.T.Context(), tx, s.jobs.Kinds(), watch.RemedyDraft{
			Name: name, Noun: "host", Condition: "healthy", Job: job, WaitSeconds: 60, PerDay: 1, AtOnce: 1, Enabled: true,
		})
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return made
}

// look lets the policy look once, and returns what it did and the last run.
func (s *remedySite) look(r watch.Remedy) (reconcile.Outcome, watch.RemedyRun) {
	s.T.Helper()
	out, err := s.policy.Run(s.T.Context(), reconcile.Item{ObjectID: r.ID})
	if err != nil {
		s.T.Fatal(err)
	}
	runs, err := watch.RemedyRuns(s.T.Context(), s.DB.Reader, watch.RemedyRunFilter{WorkspaceID: r.WorkspaceID, RemedyID: r.ID, Limit: 10})
	if err != nil || len(runs) != 1 {
		s.T.Fatalf("%+v, %v", runs, err)
	}
	return out, runs[0]
}

// TestARemedyStartsItsJob: the job is one of the queue, a worker does it, and the host says who asked.
func TestARemedyStartsItsJob(t *testing.T) {
	t.Parallel()
	for _, kind := range []domain.JobKind{domain.KindHostProbe, domain.KindHostInitialize} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newRemedySite(t)
			s.Backend()
			s.Succeed()
			r := s.remedy(domain.DefaultWorkspace, "again", string(kind))
			out, run := s.look(r)
			if out.Changed != 1 || run.Outcome != watch.Asked || run.JobID == nil || run.ObjectName != "h1" || run.Reason != "unreachable" {
				t.Fatalf("%+v, %+v", out, run)
			}
			if made := s.Ended(*run.JobID, domain.JobSucceeded); made.Kind != kind || made.RequestedBy != "remedy again" {
				t.Errorf("%s, asked by %s", made.Kind, made.RequestedBy)
			}
			var by string
			for _, e := range s.Events(s.host) {
				if e.JobID != nil && *e.JobID == *run.JobID && e.ActorKind == audit.Policy {
					by = e.ActorName
				}
			}
			if by != "remedy again" {
				t.Errorf("the event is by %q", by)
			}
			if out, again := s.look(r); out.Changed != 0 || again.ID != run.ID || out.Conditions[0].Status != reconcile.False {
				t.Errorf("its limit of the day is used: %+v, %+v", out, again)
			}
		})
	}
}

// TestARemedyDoesNoMoreThanPeople: it waits for approvals as people do, and reaches no other workspace.
func TestARemedyDoesNoMoreThanPeople(t *testing.T) {
	t.Parallel()
	s := newRemedySite(t)
	s.sql(`INSERT INTO approval_rules (id, organization_id, scope, scope_id, name, kinds, approvals, hours, created_by)
		SELECT gen_random_uuid(), p.organization_id, 'workspace', w.id, 'careful', '{host_initialize}', 1, 24, 'ada' FROM workspaces w JOIN projects p ON p.id = w.project_id WHERE w.id = $1`, domain.DefaultWorkspace)
	out, run := s.look(s.remedy(domain.DefaultWorkspace, "again", string(domain.KindHostInitialize)))
	if out.Changed != 0 || run.Outcome != watch.Refused || !strings.Contains(run.Message, "approval") {
		t.Errorf("%+v, %+v", out, run)
	}
	for kind, ask := range s.jobs["host"] {
		if _, err := ask(context.WithoutCancel(t.Context()), audit.Actor{Kind: audit.Policy, Name: "remedy"}, uuid.New(), s.host); err == nil {
			t.Errorf("%s about a host of another workspace", kind)
		}
	}
}
