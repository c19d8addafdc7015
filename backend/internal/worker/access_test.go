package worker_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

func signer(t *testing.T, key any) ssh.Signer {
	t.Helper()
	s, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestHostKeysOfOtherTypes: the known type is asked for, so a key of another
// type beside it is no change; the known type gone is one.
func TestHostKeysOfOtherTypes(t *testing.T) {
	t.Parallel()
	p := setup(t)
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p.ssh.UseKeys(signer(t, rs))
	host := p.probed("h1")
	if h := p.Host(host); !strings.HasPrefix(h.HostKey, "ssh-rsa ") {
		t.Fatalf("%+v", h)
	}
	p.ssh.UseKeys(signer(t, ec), signer(t, rs))
	p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0)), domain.JobSucceeded)
	p.ssh.UseKeys(signer(t, ec))
	j := p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0)), domain.JobFailed)
	if h := p.Host(host); j.Error.Code != domain.ErrCodeHostKeyChanged || h.OfferedHostKey != p.ssh.Key() {
		t.Errorf("%+v, %+v", j.Error, h)
	}
}

// TestTargetsAreCheckedWhenConnecting, not only when they were registered.
func TestTargetsAreCheckedWhenConnecting(t *testing.T) {
	t.Parallel()
	p := place{Site: site.New(t), ssh: site.NewSSHServer(t)}
	p.Policy.Denied = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	p.Backend()
	host, _, err := p.Intents.RegisterHost(t.Context(), p.Call, intent.RegisterHost{Name: "h1", Address: "localhost", Port: p.ssh.Port, AdminUser: "operator1", TrustOnFirstUse: true})
	if err != nil {
		t.Fatal(err)
	}
	site.Eventually(t, "the probe's end", func() bool { return p.Host(host).State == domain.HostRegistered })
	jobs, err := p.DB.Jobs(t.Context(), store.JobFilter{WorkspaceID: domain.DefaultWorkspace, HostID: &host, Limit: 5})
	if err != nil || len(jobs) != 1 || jobs[0].Error.Code != domain.ErrCodeTargetDenied {
		t.Errorf("%+v, %v", jobs, err)
	}
	if h := p.Host(host); h.HostKey != "" || h.OfferedHostKey != "" {
		t.Errorf("%+v", h)
	}
}

// TestKilledPlayIsTriedAgain, by itself, but not for ever: what ends Ansible on the backend's machine may go on.
func TestKilledPlayIsTriedAgain(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.probed("h1")
	killed := scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeKilled, Message: "ansible-playbook was killed by signal 9"}}
	p.Runner.Handle("host_probe", killed, scripted.Script{Result: site.Facts("h1")})
	j := p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0)), domain.JobSucceeded)
	if j.Attempt != 2 || j.Failures != 1 {
		t.Errorf("attempt %d, %d failures", j.Attempt, j.Failures)
	}
	p.Runner.Handle("host_probe", killed)
	id := p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0))
	site.Eventually(t, "a failed try", func() bool { j := p.Job(id); return j.Failures == 1 && j.State == domain.JobQueued })
	p.sql(`UPDATE jobs SET failures = max_attempts - 1, run_after = now() WHERE id = $1`, id)
	if j := p.Ended(id, domain.JobFailed); j.Error.Code != domain.ErrCodeKilled || j.Error.NextStep == "" || j.Attempt != 2 {
		t.Errorf("attempt %d: %+v", j.Attempt, j.Error)
	}
}

// TestOwnFailuresCountInARow: a host that was away for long leaves a job the
// tries that failures of the backend's own have.
func TestOwnFailuresCountInARow(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.ready("h1")
	away := scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeUnreachable, Message: "no route"}}
	killed := scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeKilled, Message: "ansible-playbook was killed by signal 9"}}
	p.Runner.Handle("host_decommission", away, killed)
	id := p.must(p.Intents.DecommissionHost(t.Context(), p.Call, host, 0))
	again := func(failures int, ownTimes string) store.Job {
		site.Eventually(t, "a failed try", func() bool { j := p.Job(id); return j.Failures == failures && j.State == domain.JobQueued })
		before := p.Job(id)
		p.sql(`UPDATE jobs SET failures = 10, error = error || $2::JSONB, run_after = now() WHERE id = $1`, id, ownTimes)
		return before
	}
	again(1, `{}`)
	if j := again(11, `{"own_times": 3}`); j.Error.OwnTimes != 1 {
		t.Errorf("after one kill: %+v", j.Error)
	}
	if j := again(11, `{}`); j.Error.OwnTimes != 4 {
		t.Errorf("after four kills: %+v", j.Error)
	}
	if j := p.Ended(id, domain.JobFailed); j.Error.Code != domain.ErrCodeKilled || j.Error.OwnTimes != 5 {
		t.Errorf("%+v", j.Error)
	}
}

// TestUnknownJobsAreLeft: a job that only a newer backend knows waits for one.
func TestUnknownJobsAreLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ change, back string }{
		"kind": {`UPDATE jobs SET kind = 'host_dance' WHERE id = $1`, `UPDATE jobs SET kind = 'host_probe', run_after = now() WHERE id = $1`},
		"step": {`UPDATE job_steps SET name = 'dance' WHERE job_id = $1 AND position = 1`, `UPDATE job_steps SET name = 'probe' WHERE job_id = $1 AND position = 1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := place{Site: site.New(t), ssh: site.NewSSHServer(t)}
			first := p.Backend()
			host := p.probed("h1")
			first.Stop()
			site.Await(t, "the backend to stop", first.Stopped())
			p.Runner.Handle("host_probe", scripted.Script{Result: site.Facts("h1")})
			id := p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0))
			p.sql(c.change, id)
			p.Backend()
			site.Eventually(t, "an attempt that gave it back", func() bool { j := p.Job(id); return j.Attempt > 0 && j.State == domain.JobQueued })
			if j := p.Job(id); j.Failures != 0 || j.Error != nil || time.Until(j.RunAfter) < time.Second {
				t.Errorf("%d failures, %+v, again at %s", j.Failures, j.Error, j.RunAfter)
			}
			p.sql(c.back, id)
			p.Ended(id, domain.JobSucceeded)
		})
	}
}

// TestEveryFailureTellsWhatToDo: what Ansible met is a code, a message and a
// next step on the job.
func TestEveryFailureTellsWhatToDo(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.probed("h1")
	for code, want := range map[ansible.FailureCode]string{
		ansible.CodeHostKeyChanged: domain.ErrCodeHostKeyChanged, ansible.CodeLoginRefused: domain.ErrCodeAccessDenied,
		ansible.CodeSudoRefused: domain.ErrCodeSudoRefused, ansible.CodeTaskFailed: domain.ErrCodeTaskFailed, ansible.CodeFenced: domain.ErrCodeFenced,
		ansible.CodeNoFence: domain.ErrCodeNoFence, ansible.CodeAccountClosed: domain.ErrCodeAccountClosed, ansible.CodeLoginPrints: domain.ErrCodeLoginPrints,
		ansible.CodeTimeout: domain.ErrCodeTimeout, ansible.CodePlaybookError: domain.ErrCodePlaybookError, "something new": domain.ErrCodeTaskFailed,
	} {
		p.Runner.Handle("host_probe", scripted.Script{Failure: &ansible.Failure{Code: code}})
		j := p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0)), domain.JobFailed)
		if j.Error.Code != want || j.Error.Message == "" || j.Error.NextStep == "" || j.Error.Host != "h1" || j.Attempt != 1 {
			t.Errorf("%s: %+v in attempt %d", code, j.Error, j.Attempt)
		}
	}
	// A play that can't be run at all is tried once: nothing will change.
	p.Runner.Handle("host_probe", scripted.Script{Err: ansible.ErrInvalidPlay})
	j := p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0)), domain.JobFailed)
	if j.Error.Code != domain.ErrCodeInternal || j.Attempt != 1 || strings.Contains(j.Error.Message, "invalid play") {
		t.Errorf("%+v in attempt %d", j.Error, j.Attempt)
	}
}

// TestARetryOffersTodaysPlaybook, or keeps to the version it was bound to.
func TestARetryOffersTodaysPlaybook(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.probed("h1")
	p.Runner.Handle("host_probe", taskFailed)
	job := p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0)), domain.JobFailed)
	p.Tx(func(tx *store.Tx) error {
		v := store.PlaybookVersion{Playbook: "host_probe", SHA256: strings.Repeat("b", 64), Seeded: true, CreatedBy: "init"}
		_, _, err := tx.SeedPlaybook(t.Context(), "host_probe", v, []byte("version 2"))
		return err
	})
	for _, c := range []struct {
		useDefault bool
		want       int
	}{{false, 1}, {true, 2}, {false, 2}} {
		if err := p.Intents.RetryJob(t.Context(), p.Call, job.ID, c.useDefault); err != nil {
			t.Fatal(err)
		}
		if j := p.Ended(job.ID, domain.JobFailed); *j.PlaybookVersion != c.want {
			t.Errorf("asked for the default: %v, ran version %d", c.useDefault, *j.PlaybookVersion)
		}
	}
}
