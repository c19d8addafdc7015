package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"kloigos/agent/release"
	"kloigos/backend/api"
	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/bundle/judge"
	"kloigos/backend/internal/bundle/lint"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/config"
	"kloigos/backend/internal/kernel/failpoint"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/memory"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/metrics"
	"kloigos/backend/internal/policy"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/worker"
	"kloigos/crdb"
)

const (
	heartbeat       = 10 * time.Second
	heartbeatRetry  = time.Second
	heartbeatWithin = 5 * time.Second
	// How long a running task may go on after the first request to stop.
	taskGrace = 30 * time.Second
	// How long Ansible waits for a host's sshd and sudo.
	patience = 60 * time.Second
	// How long a load balancer may take to see that this backend stops: its
	// checks come every second.
	drainPause = 1500 * time.Millisecond
	// How long answers that are under way may take then.
	answerGrace = 10 * time.Second
)

// Generation counts the changes after which older backends must not write any
// more. A contract migration raises 'oldest_backend_allowed' to the generation
// that it needs.
const Generation = iam.SharedGeneration

// Version is this build's version.
func Version() string { return api.BuildVersion() }

// Backend is one backend process.
type Backend struct {
	cfg    config.Config
	log    *slog.Logger
	db     *store.DB // for requests and the reconciler
	jobs   *store.DB // connections that no request can take: leases are renewed whatever the API is asked
	keyset *secret.Keyset
	runner ansible.Runner
	judge  *judge.Judge
	id     uuid.UUID
	name   string
	keys   release.Keys // whose builds of the agent hosts take
}

// sweep ends and removes what is left of runs whose backend was killed. It needs
// no database: the keys of those runs don't lie there until one is back.
func sweep(cfg config.Config, log *slog.Logger) {
	if !cfg.Has(config.RoleWorker) {
		return
	}
	if n, err := ansible.SweepRuns(cfg.RunRoot); err != nil {
		log.Warn("remove files of dead backends failed", "error", err)
	} else if n > 0 {
		log.Info("removed files of dead backends", "runs", n)
	}
}

// Open connects a backend and makes sure that it fits the database. It never
// migrates, seeds or makes keys: that is init's.
func Open(ctx context.Context, cfg config.Config, log *slog.Logger) (*Backend, error) {
	sweep(cfg, log)
	status, err := crdb.Status(ctx, cfg.DatabaseURL)
	if err != nil {
		return nil, fmt.Errorf("look at the schema: %w", err)
	}
	if len(status.Pending) > 0 {
		return nil, fmt.Errorf("the database lacks migrations (%s); run kloigos-backend init", strings.Join(status.Pending, ", "))
	}
	db, jobs, err := pools(ctx, cfg)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	b := &Backend{judge: judge.New("ansible-playbook"), cfg: cfg, log: log, db: db, jobs: jobs, id: uuid.New(), name: fmt.Sprintf("%s/%d", host, os.Getpid())}
	if err := b.prepare(ctx); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// pools opens one pool of connections for requests and one for jobs.
func pools(ctx context.Context, cfg config.Config) (requests, jobs *store.DB, err error) {
	if requests, err = store.Open(ctx, cfg.DatabaseURL); err != nil {
		return nil, nil, err
	}
	var options []store.Option
	if cfg.Has(config.RoleAPI) {
		options = append(options, store.HalfAsMany())
	}
	if jobs, err = store.Open(ctx, cfg.DatabaseURL, options...); err != nil {
		requests.Close()
	}
	return requests, jobs, err
}

// prepare makes sure that this backend may work on its database, and that it can.
func (b *Backend) prepare(ctx context.Context) (err error) {
	if b.keyset, err = secret.Load(b.cfg.KeysetFile); err != nil {
		return err
	}
	// With another key it would claim jobs, and fail each of them.
	if err := b.keyset.CheckCanary(ctx, b.db.Setting); err != nil {
		return err
	}
	if err := allowed(ctx, b.db); err != nil || !b.cfg.Has(config.RoleWorker) {
		return err
	}
	if b.keys, err = releaseKeys(b.cfg); err != nil {
		return err
	}
	runner, err := ansible.NewRunner(ansible.Config{
		RunRoot: b.cfg.RunRoot, ConnectTimeout: patience, Ahead: b.cfg.PlaysAhead,
		// What is made ahead never takes the memory that the next job is reckoned with.
		MayLoad:  func() bool { return b.cfg.JobMemory == 0 || memory.Here().Room(b.cfg.JobMemory, 0) > 1 },
		ForksFit: b.forksFit(),
	})
	if err != nil {
		return fmt.Errorf("prepare Ansible: %w", err)
	}
	b.runner = runner
	return nil
}

// allowed refuses a backend that is older than the schema allows.
func allowed(ctx context.Context, db *store.DB) error {
	oldest, err := db.Setting(ctx, "oldest_backend_allowed")
	if err != nil {
		return fmt.Errorf("read the oldest backend allowed: %w", err)
	}
	if n, err := strconv.Atoi(string(oldest)); oldest != nil && (err != nil || n > Generation) {
		return fmt.Errorf("the schema needs backends of generation %s; this one is of generation %d: upgrade it", oldest, Generation)
	}
	return nil
}

// WithRunner replaces Ansible, for tests of orchestration.
func (b *Backend) WithRunner(r ansible.Runner) *Backend {
	b.runner = r
	return b
}

// Close lets go of the database, and ends what the runner made ahead of time.
func (b *Backend) Close() {
	if r, ok := b.runner.(*ansible.Supervised); ok {
		r.Close()
	}
	b.judge.Close()
	b.db.Close()
	b.jobs.Close()
}

// Serve does what the backend's roles say until stop is done: then it takes no
// more work, answers what is under way, and gives running tasks taskGrace or
// until hard is done. ready, if not nil, is told the address of the API.
func (b *Backend) Serve(stop, hard context.Context, ready func(net.Addr)) error {
	// What can't be served ends the other parts too, in good order: whoever started
	// this process starts it again.
	stop, end := context.WithCancel(stop)
	defer end()
	hard, endHard := context.WithCancel(hard)
	defer endHard()
	defer context.AfterFunc(stop, func() { time.AfterFunc(taskGrace, endHard) })()

	if b.cfg.FailpointDir != "" {
		b.log.Warn("failpoints are enabled: use this backend for tests only", "dir", b.cfg.FailpointDir)
	}
	points := failpoint.In(b.cfg.FailpointDir)
	targets := domain.TargetPolicy{AllowLoopback: b.cfg.AllowLoopbackHosts, Denied: b.cfg.DeniedNetworks}
	signals := queue.NewSignals()
	registry := metrics.NewRegistry(Version())
	metrics.Watch(registry, b.db, b.jobs)
	wake, placed := func() {}, func(store.Place, time.Time) {}
	runWorker := func() {}
	var parts sync.WaitGroup
	defer func() { end(); parts.Wait() }()
	var w *worker.Worker
	forJobs, err := NewAreas(Parts{
		DB: b.jobs.DB, Engine: kernel.Engine{DB: b.jobs.DB}, Keyset: b.keyset, Config: b.cfg, Targets: targets, Backend: b.id, Version: Version(),
		Play: func(ctx context.Context, a *work.Attempt, p worker.HostPlay) (json.RawMessage, error) {
			return w.PlayFor(ctx, a, p)
		},
		LogIn: b.logsIn(targets),
	})
	if err != nil {
		return err
	}
	if b.cfg.Has(config.RoleWorker) {
		w = worker.New(b.jobs, b.runner, b.keyset, worker.Config{Name: b.name, Targets: targets, Failpoints: points, Metrics: registry, Agents: b.agents()})
		runner := &work.Runner{DB: b.jobs.DB, Registry: forJobs.Kinds, Handlers: forJobs.Handlers, Backend: b.name, Failpoints: points}
		q := queue.New(b.jobs, queue.Kinds(runner, w.Work), signals, queue.Config{
			Worker: b.id, Slots: b.cfg.Workers, Lease: b.cfg.Lease, Logger: b.log, Failpoints: points, Metrics: registry, Room: b.room(registry),
		})
		wake, placed = q.Wake, q.SetPlace
		runWorker = func() { q.Run(stop, hard) }
	}
	var intents *intent.Intents
	asked, err := NewAreas(Parts{
		DB: b.db.DB, Engine: kernel.Engine{DB: b.db.DB, Wake: wake}, Keyset: b.keyset, Config: b.cfg, Repair: repairs(&intents), CrossCheck: crossChecks(&intents), Probe: probes(&intents), Ask: b.asks(stop, targets), Intents: &intents, Targets: targets, Backend: b.id, Version: Version(),
	})
	if err != nil {
		return err
	}
	intents = intent.New(b.db, intent.Config{Targets: targets, Kinds: asked.Kinds, FirstUID: b.cfg.FirstUID, LastUID: b.cfg.LastUID, UnitNetwork: domain.UnitNetwork(b.cfg.UnitNetwork), Wake: wake})
	policies, err := b.policies(stop, intents, asked)
	if err != nil {
		return err
	}
	parts.Go(runWorker) // not before its writes make policies due
	if b.cfg.Has(config.RoleReconciler) {
		r := reconcile.New(b.db.DB, policies, reconcile.Config{Holder: b.id, Log: b.log, Metrics: registry})
		parts.Go(func() { r.Run(stop) })
	}
	parts.Go(func() { b.beat(stop, placed) })
	if b.cfg.Has(config.RoleAPI) {
		for _, run := range asked.Runs {
			parts.Go(func() { run(stop) })
		}
	}
	if b.cfg.Listen == "" {
		b.log.Info("backend started", "version", Version(), "roles", b.cfg.Roles)
		<-stop.Done()
		return nil
	}
	err = b.serveHTTP(stop, hard, b.server(intents, asked, policies, signals, registry, points), ready)
	if err != nil {
		b.log.Error("API stopped; this backend exits", "error", err)
	}
	return err
}

// policies are all that are known, whether this backend runs them or not: its
// writes make them due, and its API shows them.
func (b *Backend) policies(stop context.Context, intents *intent.Intents, areas Areas) (*reconcile.Registry, error) {
	all := policy.Policies(b.db, policy.Retention{Logs: b.cfg.KeepLogs, Events: b.cfg.KeepEvents})
	var linter policy.Linter // of who runs policies: looking for the tool takes time
	if b.cfg.Has(config.RoleReconciler) {
		linter = b.linter(stop)
	}
	all = append(all, policy.LintPlaybooks(intents, linter), policy.SealEvents(b.db, b.keyset), policy.CheckEvents(b.db, b.keyset))
	all = append(all, areas.Policies...)
	all = append(all, reconcile.InFlight(b.db.DB, append(intents.InFlight(), areas.InFlight...))...)
	all = append(all, reconcile.Lag(b.db.DB, all))
	not := policy.NotReconciled()
	maps.Copy(not, areas.NotReconciled)
	registry, err := reconcile.NewRegistry(not, all...)
	if err != nil {
		return nil, err
	}
	registry.Trigger(b.db.DB)
	registry.Trigger(b.jobs.DB)
	return registry, nil
}

// linter says in the log why this backend can't lint, since versions then wait for another one.
func (b *Backend) linter(ctx context.Context) *lint.Linter {
	l := lint.New(ctx)
	if !l.Able() {
		b.log.Warn("this backend lints no playbooks", "reason", l.Missing())
	}
	return l
}

// room bounds the jobs that run at once by the memory that is there; nil where
// that is not wanted or can't be known.
func (b *Backend) room(registry *prometheus.Registry) func(recent int) int {
	if b.cfg.JobMemory == 0 {
		return nil
	}
	m := memory.Here()
	if _, err := m.Available(); err != nil {
		b.log.Warn("available memory is unknown; only KLOIGOS_WORKERS limits parallel jobs", "error", err)
		return nil
	}
	metrics.Memory(registry, m.Available)
	return func(recent int) int { return m.Room(b.cfg.JobMemory, recent) }
}

// forksFit is how many hosts more than one a play may work on at a time, by the
// memory that is left; nil where that is not looked at.
func (b *Backend) forksFit() func() int {
	if b.cfg.JobMemory == 0 {
		return nil
	}
	return func() int { return memory.Here().Room(ansible.ForkMemory, 0) }
}

// server is the API, or for a backend without it what tells of its health.
func (b *Backend) server(intents *intent.Intents, areas Areas, policies *reconcile.Registry, signals *queue.Signals, registry *prometheus.Registry, points failpoint.Points) *httpapi.Server {
	cfg := httpapi.Config{
		Roles: iam.Permissions(api.Permissions()),
		DB:    b.db, Health: b.jobs, Intents: intents, Sessions: intent.NewSessions(b.db), Policies: policies, Signals: signals, Log: b.log, Metrics: registry,
		Limits: httpapi.Limits{
			Account: float64(b.cfg.LimitAccount), Key: float64(b.cfg.LimitKey), Address: float64(b.cfg.LimitAddress),
		},
		TrustedProxies: b.cfg.TrustedProxies, Failpoints: points, Version: Version(), Codes: b.keyset, Contract: contract, Judge: b.judge, Kinds: areas.Kinds, Areas: areas.Routes, Ready: []httpapi.Check{
			{Name: "keyset", Run: func(ctx context.Context) error { return b.keyset.CheckCanary(ctx, b.jobs.Setting) }},
			{Name: "schema", Run: b.schemaFits},
		},
	}
	if b.cfg.Has(config.RoleAPI) {
		return httpapi.New(cfg)
	}
	return httpapi.NewHealth(cfg)
}

func (b *Backend) serveHTTP(stop, hard context.Context, server *httpapi.Server, ready func(net.Addr)) error {
	listener, err := net.Listen("tcp", b.cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if listener, err = b.cfg.TLS.Listen(listener, b.log); err != nil {
		return err
	}
	b.log.Info("backend started", "version", Version(), "roles", b.cfg.Roles, "listen", listener.Addr().String(), "tls", b.cfg.TLS.Given())
	if ready != nil {
		ready(listener.Addr())
	}
	var background sync.WaitGroup
	defer background.Wait()
	background.Go(func() { server.Run(stop) })
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-stop.Done():
	}
	// The load balancer notices at its next look and sends no more.
	server.Drain()
	select {
	case <-hard.Done():
	case <-time.After(drainPause):
	}
	grace, cancel := context.WithTimeout(context.Background(), answerGrace)
	defer cancel()
	if err := server.Shutdown(grace); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

func (b *Backend) schemaFits(ctx context.Context) error {
	applied, err := b.jobs.AppliedMigrations(ctx)
	if err != nil {
		return err
	}
	needed, err := crdb.Versions()
	if err != nil {
		return err
	}
	have := map[int64]bool{}
	for _, v := range applied {
		have[v] = true
	}
	for _, v := range needed {
		if !have[v] {
			return fmt.Errorf("migration %d is missing", v)
		}
	}
	return nil
}

// beat shows this process to operators and to the other workers for as long as
// it lives, and tells of its place among them.
func (b *Backend) beat(stop context.Context, placed func(store.Place, time.Time)) {
	roles := make([]string, len(b.cfg.Roles))
	for i, r := range b.cfg.Roles {
		roles[i] = string(r)
	}
	me := store.Backend{ID: b.id, Name: b.name, Version: Version(), Roles: strings.Join(roles, ",")}
	if b.cfg.Has(config.RoleWorker) {
		me.Slots = &b.cfg.Workers
	}
	for {
		pause, asked := heartbeat, time.Now()
		try, cancel := context.WithTimeout(stop, heartbeatWithin)
		place, err := b.jobs.SeenBackend(try, me)
		cancel()
		switch {
		case err == nil:
			placed(place, asked)
		case stop.Err() == nil:
			b.log.Warn("write heartbeat of this backend failed", "error", err)
			pause = heartbeatRetry
		}
		select {
		case <-stop.Done():
			bye, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			_ = b.jobs.InTx(bye, func(tx *store.Tx) error { return tx.GoneBackend(bye, b.id) })
			return
		case <-time.After(pause):
		}
	}
}
