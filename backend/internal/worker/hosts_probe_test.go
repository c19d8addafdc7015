package worker_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// several are hosts that are ready, each with an SSH server of its own.
type several struct {
	place
	ids     []uuid.UUID
	servers []*site.SSHServer
}

func setupSeveral(t *testing.T, names ...string) several {
	t.Helper()
	s := several{place: place{Site: site.New(t)}}
	for _, name := range names {
		server := site.NewSSHServer(t)
		s.servers = append(s.servers, server)
		s.ids = append(s.ids, s.ReadyHost(site.HostSpec{Name: name, Port: server.Port}).ID)
	}
	return s
}

func (s several) probe(hosts ...uuid.UUID) uuid.UUID {
	s.T.Helper()
	return s.must(s.Intents.ProbeHosts(s.T.Context(), s.Call, hosts))
}

// told is the state and code of each host of a job.
func (s several) told(job uuid.UUID) (told []string) {
	s.T.Helper()
	hosts, err := s.DB.HostsOfJob(s.T.Context(), job)
	if err != nil {
		s.T.Fatal(err)
	}
	for _, h := range hosts {
		told = append(told, strings.TrimSpace(h.Host+" "+string(h.State)+" "+h.Code))
	}
	return told
}

// plays are the names of the hosts of each play until now.
func (s several) plays() (plays []string) {
	for _, c := range s.Runner.Calls() {
		var names []string
		for _, h := range c.Play.Hosts {
			names = append(names, h.Name)
		}
		plays = append(plays, strings.Join(names, " "))
	}
	return plays
}

// answer lets the probe read these facts of hosts, and fail on others.
func (s several) answer(facts map[string]domain.Facts, failures ...ansible.Failure) {
	s.Runner.HandleFunc("host_probe", func(_ context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		out := ansible.Outcome{Stats: map[string]ansible.Stats{}}
		for _, h := range p.Hosts {
			if f, ok := facts[h.Name]; ok {
				read(h.Name, f, sink)
			}
			for _, f := range failures {
				if f.Host == h.Name {
					out.Failures = append(out.Failures, f)
				}
			}
		}
		if len(out.Failures) > 0 {
			out.Failure = &out.Failures[0]
		}
		return out, nil
	})
}

func read(host string, f domain.Facts, sink func(ansible.Event)) {
	raw, _ := json.Marshal(f)
	sink(ansible.Event{Kind: ansible.EventResult, Host: host, Result: raw})
}

func kernel(host, version string) domain.Facts {
	f := site.Facts(host)
	f.Kernel = version
	return f
}

// TestSeveralHostsAreReadByOneAnsible, each is told of by itself, and only what
// is left is tried again.
func TestSeveralHostsAreReadByOneAnsible(t *testing.T) {
	t.Parallel()
	s := setupSeveral(t, "h1", "h2", "h3")
	away := ansible.Failure{Code: ansible.CodeUnreachable, Host: "h2", Message: "Connection timed out"}
	s.answer(map[string]domain.Facts{"h1": kernel("h1", "6.9.1"), "h3": kernel("h3", "6.9.3")}, away)
	job := s.probe(s.ids...)
	s.Backend()
	site.Eventually(t, "a try", func() bool { return s.Job(job).Failures == 1 })
	want := []string{"h1 succeeded", "h2 failed unreachable", "h3 succeeded"}
	if diff := cmp.Diff(want, s.told(job)); diff != "" {
		t.Errorf("after one try:\n%s", diff)
	}
	if h := s.Host(s.ids[1]); h.Health != domain.HealthUnreachable || h.HealthMessage != away.Message || h.State != domain.HostReady {
		t.Errorf("h2: %+v", h)
	}
	if j := s.Job(job); j.Error == nil || j.Error.Code != domain.ErrCodeUnreachable || j.Error.Host != "" ||
		!strings.Contains(j.Error.Message, "1 of 3 hosts could not be read") || !strings.Contains(j.Error.Message, "h2: Connection timed out") {
		t.Errorf("the error is %+v", j.Error)
	}
	s.answer(map[string]domain.Facts{"h1": kernel("h1", "never"), "h2": kernel("h2", "6.9.2"), "h3": kernel("h3", "never")})
	j := s.Ended(job, domain.JobSucceeded)
	if j.Outcome != "3 hosts read." || j.HostID != nil {
		t.Errorf("outcome %q, host %v", j.Outcome, j.HostID)
	}
	for i, version := range []string{"6.9.1", "6.9.2", "6.9.3"} {
		if h := s.Host(s.ids[i]); h.Facts.Kernel != version || h.Health != domain.HealthHealthy || h.State != domain.HostReady {
			t.Errorf("%s: kernel %s, %s, %s", h.Name, h.Facts.Kernel, h.Health, h.State)
		}
	}
	if diff := cmp.Diff([]string{"h1 h2 h3", "h2"}, s.plays()); diff != "" {
		t.Errorf("plays:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"h1 succeeded", "h2 succeeded", "h3 succeeded"}, s.told(job)); diff != "" {
		t.Errorf("in the end:\n%s", diff)
	}
	for _, id := range s.ids {
		var actions []string
		for _, e := range s.Events(id) {
			if e.JobID != nil && *e.JobID == job {
				actions = append(actions, e.Action)
			}
		}
		slices.Sort(actions)
		if diff := cmp.Diff([]string{"host.probe", "host.probed"}, actions); diff != "" {
			t.Errorf("the events of a host:\n%s", diff)
		}
		jobs, err := s.DB.Jobs(t.Context(), store.JobFilter{WorkspaceID: domain.DefaultWorkspace, HostID: &id, Limit: 9})
		if err != nil || len(jobs) != 1 || jobs[0].ID != job {
			t.Errorf("the jobs of a host: %+v, %v", jobs, err)
		}
	}
}

// TestEachHostFailsForItself: of several hosts one does not answer, one is gone
// by now, one is another machine, one tells nonsense, and one is read.
func TestEachHostFailsForItself(t *testing.T) {
	t.Parallel()
	s := setupSeveral(t, "h1", "h2", "h3", "h4", "h5", "h6")
	other := site.Facts("h3")
	other.MachineID = strings.Repeat("a", 32)
	nonsense := site.Facts("h4")
	nonsense.MemoryBytes = -1
	s.answer(map[string]domain.Facts{"h3": other, "h4": nonsense, "h5": kernel("h5", "6.9.5")})
	job := s.probe(s.ids...)
	s.servers[0].Stop()
	if err := s.Intents.DeclareHostLost(t.Context(), s.Call, s.ids[1], 0, "h2"); err != nil {
		t.Fatal(err)
	}
	s.Backend()
	site.Eventually(t, "a try", func() bool { return s.Job(job).Failures == 1 })
	want := []string{"h1 failed unreachable", "h2 failed superseded", "h3 failed host_differs", "h4 failed host_unsupported", "h5 succeeded", "h6 failed playbook_error"}
	if diff := cmp.Diff(want, s.told(job)); diff != "" {
		t.Errorf("after one try:\n%s", diff)
	}
	if h := s.Host(s.ids[1]); h.State != domain.HostLost || h.Health == domain.HealthUnreachable {
		t.Errorf("h2: %+v", h)
	}
	if h := s.Host(s.ids[2]); h.Facts.MachineID == other.MachineID {
		t.Error("h3 has the machine-id of another machine")
	}
	if h := s.Host(s.ids[4]); h.Facts.Kernel != "6.9.5" {
		t.Errorf("h5 was not read: %+v", h.Facts)
	}
	s.sql(`UPDATE jobs SET failures = max_attempts - 1, run_after = now() WHERE id = $1`, job)
	j := s.Ended(job, domain.JobFailed)
	if j.Error.NextStep == "" || !strings.Contains(j.Error.Message, "5 of 6 hosts could not be read; what was read of the others is kept.") {
		t.Errorf("%+v", j.Error)
	}
	for _, play := range s.plays() {
		if strings.Contains(play, "h1") || strings.Contains(play, "h2") {
			t.Errorf("a play was sent to a host that does not answer, or is lost: %s", play)
		}
	}
	// What was read stays read: a retry is about the others.
	if err := s.Intents.RetryJob(t.Context(), s.Call, job, false); err != nil {
		t.Fatal(err)
	}
	site.Eventually(t, "the retry's try", func() bool { return s.Job(job).Failures == 1 })
	if plays := s.plays(); plays[len(plays)-1] != "h3 h4 h6" {
		t.Errorf("the retry's play is of %q", plays[len(plays)-1])
	}
}

// TestAHostThatHangsIsNamed: the play ends for all that are left, which are told
// so, and wait for a person to retry; one that had been read stays so.
func TestAHostThatHangsIsNamed(t *testing.T) {
	t.Parallel()
	s := setupSeveral(t, "h1", "h2", "h3")
	s.answer(map[string]domain.Facts{"h1": kernel("h1", "6.9.1")})
	for _, whole := range []ansible.Failure{
		{Code: ansible.CodeTimeout, Message: "the run took longer than it may"},
		{Code: ansible.CodePlaybookError, Message: "kloigos_result has 9 bytes too many"},
	} {
		s.Runner.HandleFunc("host_probe", func(_ context.Context, _ ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
			read("h1", kernel("h1", "6.9.1"), sink)
			return ansible.Outcome{Failure: &whole, Failures: []ansible.Failure{whole}}, nil
		})
		job := s.probe(s.ids...)
		b := s.Backend()
		j := s.Ended(job, domain.JobFailed)
		code := string(whole.Code)
		if diff := cmp.Diff([]string{"h1 succeeded", "h2 failed " + code, "h3 failed " + code}, s.told(job)); diff != "" || j.Error.Code != code ||
			!strings.Contains(j.Error.Message, "h2: "+whole.Message) {
			t.Errorf("%+v\n%s", j.Error, diff)
		}
		b.Kill()
		site.Await(t, "its end", b.Stopped())
	}
}

// TestWhatFailsAfterItWasRead fails its job, and is read all the same.
func TestWhatFailsAfterItWasRead(t *testing.T) {
	t.Parallel()
	s := setupSeveral(t, "h1", "h2")
	s.answer(map[string]domain.Facts{"h1": kernel("h1", "6.9.1"), "h2": kernel("h2", "6.9.2")},
		ansible.Failure{Code: ansible.CodeTaskFailed, Host: "h2", Message: "not as it should be"})
	s.Backend()
	j := s.Ended(s.probe(s.ids...), domain.JobFailed)
	if j.Error.Code != domain.ErrCodeTaskFailed || !strings.Contains(j.Error.Message, "h2: not as it should be") {
		t.Errorf("%+v", j.Error)
	}
	if h := s.Host(s.ids[1]); h.Facts.Kernel != "6.9.2" {
		t.Errorf("h2: %s", h.Facts.Kernel)
	}
}

// TestAFailureTellsOfItsHostAsItIs: one that is lost meanwhile is not called
// unreachable, and one that answers is not left so.
func TestAFailureTellsOfItsHostAsItIs(t *testing.T) {
	t.Parallel()
	s := setupSeveral(t, "h1", "h2", "h3")
	s.sql(`UPDATE hosts SET health = 'unreachable' WHERE id = $1`, s.ids[1])
	s.Runner.HandleFunc("host_probe", func(context.Context, ansible.Play, func(ansible.Event)) (ansible.Outcome, error) {
		if err := s.Intents.DeclareHostLost(context.Background(), s.Call, s.ids[0], 0, "h1"); err != nil {
			t.Error(err)
		}
		out := ansible.Outcome{Failures: []ansible.Failure{
			{Code: ansible.CodeUnreachable, Host: "h1", Message: "it hung"},
			{Code: ansible.CodeSudoRefused, Host: "h2", Message: "no"},
			{Code: ansible.CodeHostKeyChanged, Host: "h3", Message: "another key"},
		}}
		out.Failure = &out.Failures[0]
		return out, nil
	})
	s.Backend()
	job := s.probe(s.ids...)
	s.Ended(job, domain.JobFailed)
	want := []string{"h1 failed superseded", "h2 failed sudo_refused", "h3 failed host_key_changed"}
	if diff := cmp.Diff(want, s.told(job)); diff != "" {
		t.Error(diff)
	}
	if h := s.Host(s.ids[0]); h.State != domain.HostLost || h.Health == domain.HealthUnreachable {
		t.Errorf("h1: %s, %s", h.State, h.Health)
	}
	if h := s.Host(s.ids[1]); h.Health != domain.HealthUnknown {
		t.Errorf("h2: %s", h.Health)
	}
	if hosts, err := s.DB.HostsOfJob(t.Context(), job); err != nil || !strings.Contains(hosts[2].Message, "Probe it by itself") {
		t.Errorf("h3: %+v, %v", hosts, err)
	}
}

// TestAnotherBackendReadsTheRest: what a backend that dies has read is not read
// again by the one that takes over.
func TestAnotherBackendReadsTheRest(t *testing.T) {
	t.Parallel()
	s := setupSeveral(t, "h1", "h2")
	half := make(chan struct{}, 1)
	s.Runner.HandleFunc("host_probe", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		read("h1", kernel("h1", "6.9.1"), sink)
		half <- struct{}{}
		<-ctx.Done()
		return ansible.Outcome{Failure: &ansible.Failure{Code: ansible.CodeCancelled}, Failures: []ansible.Failure{{Code: ansible.CodeCancelled}}}, nil
	})
	job := s.probe(s.ids...)
	first := s.Backend()
	site.Await(t, "the first host", half)
	s.answer(map[string]domain.Facts{"h2": kernel("h2", "6.9.2")})
	first.Kill()
	site.Await(t, "its end", first.Stopped())
	if diff := cmp.Diff([]string{"h1 succeeded", "h2 pending"}, s.told(job)); diff != "" {
		t.Errorf("when the backend was killed:\n%s", diff)
	}
	s.Backend()
	s.Ended(job, domain.JobSucceeded)
	if diff := cmp.Diff([]string{"h1 h2", "h2"}, s.plays()); diff != "" {
		t.Errorf("plays:\n%s", diff)
	}
	if h := s.Host(s.ids[0]); h.Facts.Kernel != "6.9.1" {
		t.Errorf("h1: %s", h.Facts.Kernel)
	}
}

// TestHostsAtOneAddressAreReadApart: a connection to one would serve the other.
func TestHostsAtOneAddressAreReadApart(t *testing.T) {
	t.Parallel()
	s := setupSeveral(t, "h1")
	twin := s.ReadyHost(site.HostSpec{Name: "h2", Port: s.servers[0].Port})
	s.answer(map[string]domain.Facts{"h1": site.Facts("h1"), "h2": site.Facts("h2")})
	s.Backend()
	j := s.Ended(s.probe(s.ids[0], twin.ID), domain.JobFailed)
	if diff := cmp.Diff([]string{"h1 succeeded", "h2 failed duplicate_host"}, s.told(j.ID)); diff != "" {
		t.Errorf("hosts:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"h1"}, s.plays()); diff != "" {
		t.Errorf("plays:\n%s", diff)
	}
}

// TestACancelLeavesWhatWasRead, and tells of the rest that it was not.
func TestACancelLeavesWhatWasRead(t *testing.T) {
	t.Parallel()
	s := setupSeveral(t, "h1", "h2")
	half := make(chan struct{}, 1)
	s.Runner.HandleFunc("host_probe", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		read("h1", kernel("h1", "6.9.1"), sink)
		half <- struct{}{}
		<-ctx.Done()
		return ansible.Outcome{Failure: &ansible.Failure{Code: ansible.CodeCancelled}, Failures: []ansible.Failure{{Code: ansible.CodeCancelled}}}, nil
	})
	job := s.probe(s.ids...)
	s.Backend()
	site.Await(t, "the first host", half)
	if err := s.Intents.CancelJob(t.Context(), s.Call, job); err != nil {
		t.Fatal(err)
	}
	s.Ended(job, domain.JobCancelled)
	if diff := cmp.Diff([]string{"h1 succeeded", "h2 pending"}, s.told(job)); diff != "" {
		t.Errorf("hosts:\n%s", diff)
	}
	s.answer(map[string]domain.Facts{"h2": site.Facts("h2")})
	if err := s.Intents.RetryJob(t.Context(), s.Call, job, false); err != nil {
		t.Fatal(err)
	}
	s.Ended(job, domain.JobSucceeded)
}
