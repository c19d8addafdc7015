package app

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"kloigos/backend/internal/area/release"
	"kloigos/backend/internal/area/release/releasework"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/fault"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/rollout"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/testkit/site"
)

// releaseSite is an installation with backends on two machines, a web app, and the policy of deliveries.
type releaseSite struct {
	*site.Site
	pool   *pgxpool.Pool
	rule   egress.Rule
	webApp string        // its base URL
	tells  *atomic.Value // what it answers
	policy reconcile.Policy
}

func newReleaseSite(t *testing.T) *releaseSite {
	t.Helper()
	s := &releaseSite{Site: site.New(t), rule: egress.Rule{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, tells: &atomic.Value{}}
	pool, err := pgxpool.New(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s.pool = pool
	s.tells.Store(`{"version":"v1.4.0"}`)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/web/version" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(s.tells.Load().(string)))
	}))
	t.Cleanup(web.Close)
	s.webApp = web.URL
	s.policy = releasework.Policy(releasework.Config{DB: s.DB.DB, Proof: release.Proof{Ask: releasework.Asker(s.rule)}})
	s.runs("backend-1/1", "v1.4.0")
	s.runs("backend-2/1", "v1.4.0")
	return s
}

// runs lets a backend tell its version, in place of all others of its machine.
func (s *releaseSite) runs(name, version string) {
	s.T.Helper()
	machine, _, _ := strings.Cut(name, "/")
	if _, err := s.pool.Exec(s.T.Context(), `UPDATE backends SET seen_at = now() - INTERVAL '1 minute' WHERE split_part(name, '/', 1) = $1`, machine); err != nil {
		s.T.Fatal(err)
	}
	if _, err := s.pool.Exec(s.T.Context(), `INSERT INTO backends (id, name, version, roles) VALUES (gen_random_uuid(), $1, $2, 'api')`, name, version); err != nil {
		s.T.Fatal(err)
	}
}

func (s *releaseSite) do(f func(tx *kernel.Tx) error) error {
	return kernel.Engine{DB: s.DB.DB}.Do(s.T.Context(), kernel.Call{Actor: audit.Actor{Kind: audit.Account, Name: "ada"}, Installation: true}, f)
}

func (s *releaseSite) deliver() uuid.UUID {
	s.T.Helper()
	var id uuid.UUID
	err := s.do(func(tx *kernel.Tx) (err error) {
		id, err = release.CreateDelivery(s.T.Context(), tx, release.DeliveryDraft{
			Name: "d", Version: "v1.5.0", WebApps: []string{s.webApp + "/"}, Plan: rollout.Plan{Canaries: []string{"backend-2"}, First: 10, Groups: 1, WithinMS: 60_000},
		}, s.rule)
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	return id
}

// look runs the policy twice: the second run judges what the first one told.
func (s *releaseSite) look(id uuid.UUID) release.Delivery {
	s.T.Helper()
	for range 3 {
		if _, err := s.policy.Run(s.T.Context(), reconcile.Item{ObjectID: id}); err != nil {
			s.T.Fatal(err)
		}
	}
	d, err := release.DeliveryByID(s.T.Context(), s.DB.Reader, id)
	if err != nil {
		s.T.Fatal(err)
	}
	return d
}

// target is how a target of a delivery stands: 'state: reason'.
func (s *releaseSite) target(id uuid.UUID, name string) string {
	s.T.Helper()
	all, err := rollout.Targets(s.T.Context(), s.DB.Reader, rollout.TargetFilter{Rollout: id, Limit: 10})
	if err != nil {
		s.T.Fatal(err)
	}
	for _, t := range all {
		if t.Name == name {
			return fmt.Sprintf("%s: %s", t.State, t.Reason)
		}
	}
	s.T.Fatalf("no target %s in %v", name, all)
	return ""
}

func (s *releaseSite) want(id uuid.UUID, name, has string) {
	s.T.Helper()
	if got := s.target(id, name); !strings.Contains(got, has) {
		s.T.Errorf("%s is %q, not %q", name, got, has)
	}
}

// TestAReleaseGoesFromMachineToMachine: one at a time, canary first, web apps last, each when the one before runs the version.
func TestAReleaseGoesFromMachineToMachine(t *testing.T) {
	t.Parallel()
	s := newReleaseSite(t)
	id := s.deliver()
	web := strings.TrimPrefix(s.webApp, "http://")
	if d := s.look(id); d.Wave != 1 || d.Waves != 3 {
		t.Fatalf("wave %d of %d: %s", d.Wave, d.Waves, d.Reason)
	}
	s.want(id, "backend-2", "told: It runs v1.4.0. Replace")
	s.want(id, "backend-1", "waiting")
	s.runs("backend-2/2", "v1.5.0")
	if d := s.look(id); d.Wave != 2 {
		t.Fatalf("wave %d: %s", d.Wave, d.Reason)
	}
	s.want(id, "backend-2", "proven")
	s.want(id, "backend-1", "told")
	s.runs("backend-1/2", "v1.5.0")
	s.look(id)
	s.want(id, web, "told: It runs v1.4.0. Replace")
	apps, err := release.WebApps(t.Context(), s.DB.Reader, id)
	if err != nil || len(apps) != 1 || apps[0].Runs != "v1.4.0" {
		t.Errorf("the web app told %+v, %v", apps, err)
	}
	s.tells.Store(`{"version":"v1.5.0"}`)
	if d := s.look(id); d.State != rollout.Done {
		t.Errorf("it is %s: %s", d.State, d.Reason)
	}
}

// TestAReleaseHaltsByConditions: a condition that Kloigos is to blame for halts it, and the way back ends when the version is gone.
func TestAReleaseHaltsByConditions(t *testing.T) {
	t.Parallel()
	s := newReleaseSite(t)
	id := s.deliver()
	s.look(id)
	s.runs("backend-2/2", "v1.5.0")
	_, err := s.pool.Exec(t.Context(), `UPDATE rollout_targets SET told_at = now() - INTERVAL '1 minute' WHERE state = 'told'`)
	if err == nil {
		_, err = s.pool.Exec(t.Context(), `INSERT INTO conditions (noun, object_id, type, status, reason, message, fault, retry_helps, failing, results, flapping, since, observed_at, policy, history)
			VALUES ('policy', $1, 'on_time', 'false', 'late', 'It lags by 90 s.', 'ours', true, 1, 'f', false, now() - INTERVAL '20 seconds', now(), 'p', '[]')`, uuid.New())
	}
	if err != nil {
		t.Fatal(err)
	}
	d := s.look(id)
	if d.State != rollout.Halted || !strings.Contains(d.Reason, "It lags by 90 s.") {
		t.Fatalf("it is %s: %s", d.State, d.Reason)
	}
	s.want(id, "backend-1", "waiting")
	err = s.do(func(tx *kernel.Tx) error {
		return release.RollBackDelivery(t.Context(), tx, scope.Found[release.Delivery](id, uuid.Nil), d.Revision)
	})
	if err != nil {
		t.Fatal(err)
	}
	if d = s.look(id); d.State != rollout.Returning {
		t.Errorf("it is %s: %s", d.State, d.Reason)
	}
	s.want(id, "backend-2", "Replace the program there by the one before")
	s.runs("backend-2/3", "v1.4.0")
	if d = s.look(id); d.State != rollout.Returned {
		t.Errorf("it is %s: %s", d.State, d.Reason)
	}
}

// TestAMachineThatTakesTooLongHaltsARelease: nobody replaced the program, or it does not start.
func TestAMachineThatTakesTooLongHaltsARelease(t *testing.T) {
	t.Parallel()
	s := newReleaseSite(t)
	id := s.deliver()
	s.look(id)
	if _, err := s.pool.Exec(t.Context(), `UPDATE rollout_targets SET told_at = now() - INTERVAL '2 minutes' WHERE state = 'told'`); err != nil {
		t.Fatal(err)
	}
	if d := s.look(id); d.State != rollout.Halted || !strings.Contains(d.Reason, "No proof came within 1m0s. It runs v1.4.0") {
		t.Errorf("it is %s: %s", d.State, d.Reason)
	}
}

// TestWhatAWebAppMayAnswer: what is no version is a problem in words, and nothing hostile is kept.
func TestWhatAWebAppMayAnswer(t *testing.T) {
	t.Parallel()
	s := newReleaseSite(t)
	ask := releasework.Asker(s.rule)
	for _, answer := range []string{"", "ok", "{}", `{"version":"<script>"}`, `{"version":"` + strings.Repeat("v", 65) + `"}`, strings.Repeat("[", 1<<20)} {
		s.tells.Store(answer)
		if runs, why := ask(t.Context(), s.webApp); runs != "" || !strings.Contains(why, "not with a version") {
			t.Errorf("%.40q is taken as %q, %q", answer, runs, why)
		}
	}
	if runs, why := ask(t.Context(), s.webApp+"/elsewhere"); runs != "" || !strings.Contains(why, "older release") {
		t.Errorf("an older release is %q, %q", runs, why)
	}
	if runs, why := releasework.Asker(egress.Rule{})(t.Context(), s.webApp); runs != "" || why == "" {
		t.Errorf("a web app in a network that is not allowed is asked: %q, %q", runs, why)
	}
}

// TestWhatReleaseCantBeDelivered says why.
func TestWhatReleaseCantBeDelivered(t *testing.T) {
	t.Parallel()
	s := newReleaseSite(t)
	plan := rollout.Plan{First: 10, Groups: 1, WithinMS: 60_000}
	lost := plan
	lost.Canaries = []string{"backend-9"}
	for want, draft := range map[string]release.DeliveryDraft{
		"Use lower-case letters":         {Name: "D", Version: "v1", Plan: plan},
		"Use the version as":             {Name: "d", Version: "v 1", Plan: plan},
		"Use scheme, name and port only": {Name: "d", Version: "v1", WebApps: []string{s.webApp + "/path"}, Plan: plan},
		"It is named twice":              {Name: "d", Version: "v1", WebApps: []string{s.webApp, s.webApp}, Plan: plan},
		"Use a URL":                      {Name: "d", Version: "v1", WebApps: []string{"web-1"}, Plan: plan},
		"Neither a backend":              {Name: "d", Version: "v1", Plan: lost},
	} {
		err := s.do(func(tx *kernel.Tx) error {
			_, err := release.CreateDelivery(t.Context(), tx, draft, s.rule)
			return err
		})
		if invalid := (*fault.Invalid)(nil); !errors.As(err, &invalid) || !strings.Contains(fmt.Sprint(invalid.Fields), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	s.deliver()
	err := s.do(func(tx *kernel.Tx) error {
		_, err := release.CreateDelivery(t.Context(), tx, release.DeliveryDraft{Name: "e", Version: "v1", Plan: plan}, s.rule)
		return err
	})
	if conflict := (*fault.Conflict)(nil); !errors.As(err, &conflict) || conflict.Code != "release_delivery_open" {
		t.Errorf("two deliveries at once: %v", err)
	}
}
