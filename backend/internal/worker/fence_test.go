package worker_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/testkit/site"
)

// plays are the plays of a playbook that were sent, and whether a fence checked
// them.
func (p place) plays(name string) (all []string) {
	for _, c := range p.Runner.Calls() {
		if c.Play.Name != name {
			continue
		}
		how := "unfenced"
		if c.Play.Hosts[0].Fence != nil {
			how = "fenced"
		}
		all = append(all, c.Play.Playbook+" "+how)
	}
	return all
}

var noFence = scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeNoFence, Message: "/bin/sh: 1: /usr/local/lib/kloigos/fence-python: not found"}}

// TestDecommissionIsFenced: only a host that says that it has no fence gets a
// play that none checks.
func TestDecommissionIsFenced(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fenced scripted.Script // what the host says to a play under the fence
		end    domain.JobState
		code   string
		plays  []string
	}{
		"has its fence":     {scripted.Script{}, domain.JobSucceeded, "", []string{"bootstrap.yml fenced", "playbook.yml fenced"}},
		"has none any more": {noFence, domain.JobSucceeded, "", []string{"bootstrap.yml fenced", "bootstrap.yml unfenced", "playbook.yml fenced"}},
		"another holds it": {
			scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeFenced, Message: "kloigos-fence: refused: token 2 is older than 3"}},
			domain.JobFailed, domain.ErrCodeFenced,
			[]string{"bootstrap.yml fenced"},
		},
		"fails": {taskFailed, domain.JobFailed, domain.ErrCodeTaskFailed, []string{"bootstrap.yml fenced"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := setup(t)
			host := p.ready("h1")
			p.Runner.HandleFunc("host_decommission", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
				if play.Playbook == "bootstrap.yml" && play.Hosts[0].Fence != nil {
					return site.Play(ctx, play, sink, c.fenced)
				}
				return site.Play(ctx, play, sink, scripted.Script{})
			})
			j := p.Ended(p.must(p.Intents.DecommissionHost(t.Context(), p.Call, host, 0)), c.end)
			if c.code != "" && j.Error.Code != c.code {
				t.Errorf("error %+v", j.Error)
			}
			if got := p.plays("host_decommission"); !slices.Equal(got, c.plays) {
				t.Errorf("plays %v, not %v", got, c.plays)
			}
		})
	}
}

// TestALateDecommissionPutsNothingBack: another worker took the job over and
// cleaned the host while this one waited for its answer.
func TestALateDecommissionPutsNothingBack(t *testing.T) {
	t.Parallel()
	p := place{Site: site.New(t), ssh: site.NewSSHServer(t)}
	b := p.Backend()
	host := p.ready("h1")
	asked, taken := make(chan struct{}), make(chan struct{})
	p.Runner.HandleFunc("host_decommission", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		close(asked)
		<-taken
		return site.Play(context.WithoutCancel(ctx), play, sink, noFence)
	})
	job := p.must(p.Intents.DecommissionHost(t.Context(), p.Call, host, 0))
	site.Await(t, "the first play", asked)
	p.sql(`UPDATE jobs SET attempt = attempt + 1, worker_id = $2 WHERE id = $1`, job, uuid.New())
	close(taken)
	b.Stop()
	site.Await(t, "the backend's end", b.Stopped())
	if got := strings.Join(p.plays("host_decommission"), ", "); got != "bootstrap.yml fenced" {
		t.Errorf("plays %s", got)
	}
	if h := p.Host(host); h.State != domain.HostDecommissioning || !h.Fenced {
		t.Errorf("the late attempt wrote: %s, fenced %v", h.State, h.Fenced)
	}
}

// TestRefenceAfterARestore: the host has seen higher numbers than the database
// knows of; the next one is higher than all of them.
func TestRefenceAfterARestore(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.ready("h1")
	p.Runner.HandleFunc("host_initialize", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		switch fence := play.Hosts[0].Fence; {
		case fence == nil:
			return site.Play(ctx, play, sink, scripted.Script{Result: map[string]any{"number": 500}})
		case fence.Number <= 500:
			return site.Play(ctx, play, sink, scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeFenced, Message: "token is older than 500"}})
		default:
			return site.Play(ctx, play, sink, scripted.Script{})
		}
	})
	p.Ended(p.must(p.Intents.InitializeHost(t.Context(), p.Call, host, 0, false)), domain.JobFailed)
	p.Ended(p.must(p.Intents.InitializeHost(t.Context(), p.Call, host, 0, true)), domain.JobSucceeded)
	p.Ended(p.must(p.Intents.InitializeHost(t.Context(), p.Call, host, 0, false)), domain.JobSucceeded)
}

// TestStoppedDecommissionEndsItsRuns, also where it brought the fence back itself.
func TestStoppedDecommissionEndsItsRuns(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.ready("h1")
	p.sql(`UPDATE hosts SET fenced = false WHERE id = $1`, host)
	begun := make(chan struct{}, 1)
	p.Runner.HandleFunc("host_decommission", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		if play.Playbook == "bootstrap.yml" {
			return site.Play(ctx, play, sink, scripted.Script{})
		}
		begun <- struct{}{}
		return site.Play(ctx, play, sink, scripted.Script{Wait: make(chan struct{})})
	})
	job := p.must(p.Intents.DecommissionHost(t.Context(), p.Call, host, 0))
	site.Await(t, "the play under the fence", begun)
	if err := p.Intents.CancelJob(t.Context(), p.Call, job); err != nil {
		t.Fatal(err)
	}
	p.Ended(job, domain.JobCancelled)
	if ends := p.Runner.Ends(); len(ends) != 1 || ends[0].Fence.Run != job.String() {
		t.Errorf("told to end: %+v", ends)
	}
}

// TestStalePlanLeavesNothing: what a bound job began on another backend goes on on
// the host; if its plan no longer holds when it is taken over, that is ended.
func TestStalePlanLeavesNothing(t *testing.T) {
	t.Parallel()
	p := place{Site: site.New(t), ssh: site.NewSSHServer(t)}
	first := p.BackendWith(p.Work(), queue.Config{})
	host := p.ready("h1")
	of := p.askInitialize(host)
	plan := p.planned(of)
	begun := make(chan struct{}, 1)
	p.Runner.HandleFunc("host_initialize", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		begun <- struct{}{}
		return site.Play(ctx, play, sink, scripted.Script{Wait: make(chan struct{})})
	})
	job := p.mustApply(plan.ID, of)
	site.Await(t, "the play", begun)
	first.Stop()
	first.Kill()
	site.Await(t, "the backend", first.Stopped())
	p.sql(`UPDATE hosts SET admin_user = 'other' WHERE id = $1`, host)
	p.BackendWith(p.Work(), queue.Config{})
	if j := p.Ended(job, domain.JobFailed); j.Error.Code != domain.ErrCodePlanStale {
		t.Errorf("%+v", j.Error)
	}
	if ends := p.Runner.Ends(); len(ends) != 1 || ends[0].Fence.Run != job.String() {
		t.Errorf("told to end: %+v", ends)
	}
}
