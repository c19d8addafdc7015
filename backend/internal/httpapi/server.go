package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humafiber"
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"kloigos/backend/api"
	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/bundle/judge"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/failpoint"
	"kloigos/backend/internal/kernel/memory"
	"kloigos/backend/internal/kernel/recent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/store"
)

const (
	maxBody        = 1 << 20
	strangersBody  = 8 << 10 // of who has not shown a valid token; a login is smaller
	maxHeader      = 16 << 10
	readTimeout    = 15 * time.Second
	writeTimeout   = 30 * time.Second // a stream renews it with each write
	idleTimeout    = 2 * time.Minute
	requestTimeout = 30 * time.Second // for the database's part of a request
	maxConnections = 8192
)

// Signals tells that something about a job moved in this process.
type Signals interface {
	Watch(job uuid.UUID) (moved <-chan struct{}, stop func())
}

// Check is one thing that must hold before a backend takes requests. Its error
// goes to the log, never to the one who asks.
type Check struct {
	Name string
	Run  func(ctx context.Context) error
}

// Config is what a Server is made of.
type Config struct {
	DB             *store.DB
	Intents        *intent.Intents
	Sessions       *intent.Sessions
	Policies       *reconcile.Registry // nil: none
	Signals        Signals             // nil: viewers poll the database only
	Log            *slog.Logger
	TrustedProxies []netip.Prefix // whose word on the client's address is taken
	Limits         Limits         // of requests; the zero value: none
	Version        string
	Codes          Codes // of cursors; nil: ones that only this process knows
	// Contract is what the job that runs a playbook gives to it: a version from
	// outside must take it. Without it no version is taken.
	Contract     func(playbook string) (bundle.Contract, bool)
	Judge        *judge.Judge         // of the templates of such a version
	Health       *store.DB            // connections that no request can take, for /readyz; nil: DB
	Ready        []Check              // beside the database, which is always checked
	Metrics      *prometheus.Registry // nil: one of its own
	ReadTimeout  time.Duration        // for a whole request, body included; 0: 15 s
	StallTimeout time.Duration        // a viewer of a log that takes nothing for so long is cut; 0: 30 s
	Failpoints   failpoint.Points     // where a test lets this process die
	Kinds        *work.Registry       // of jobs that areas handed in; nil: none
	Areas        []func(*Server)      // each registers the routes of one area
	// Roles are those that the product brings, with what each permits.
	Roles map[string]map[string]bool
}

// Server is the HTTP side of one backend.
type Server struct {
	cfg     Config
	db      *store.DB
	intents *intent.Intents
	log     *slog.Logger
	app     *fiber.App
	api     huma.API
	openapi []byte
	roles   map[string]map[string]bool // of the product: role -> permission

	accesses accesses
	handled  map[string]bool // operation ids that have a handler
	metrics  *metrics
	limiter  *limiter
	uses     uses
	scrapers scrapers
	ready    *ready
	backlog  *recent.Reads[struct{}, []store.Backlog]
	capacity *recent.Reads[uuid.UUID, api.Capacity]
	watches  watches
	bearers  *recent.Reads[string, store.Bearer] // of viewers, by the hash of the token
	viewers  chan struct{}                       // one for each
	gates    chan struct{}                       // one for each upload that is being looked at
	// largeBodies holds a place for each large body that is being decoded.
	largeBodies chan struct{}
	collector   memory.Collector

	// life ends when the server stops, and with it all streams.
	life context.Context
	end  context.CancelFunc
	// stopped ends with Shutdown, and with it the listener.
	stopped context.Context
	stop    context.CancelFunc
}

// New makes the server and every route of api.Routes. It panics if a route has
// no handler or a handler no route: that is a mistake in the program.
func New(cfg Config) *Server {
	if cfg.Codes == nil {
		alone := &own{}
		_, _ = rand.Read(alone[:]) // never fails
		cfg.Codes = alone
	}
	s := bare(cfg)
	s.api = humafiber.NewV2(s.app, humaConfig(cfg.Version))
	useProblems()
	for _, of := range []interface{ register() }{
		sessionHandlers{s},
		tokenHandlers{s},
		hostHandlers{s},
		unitHandlers{s},
		allocationHandlers{s},
		addressHandlers{s},
		playbookHandlers{s},
		jobHandlers{s},
		logHandlers{s},
		queueHandlers{s},
		policyHandlers{s},
		capacityHandlers{s},
		planHandlers{s},
		eventHandlers{s},
		systemHandlers{s},
	} {
		of.register()
	}
	for _, register := range cfg.Areas {
		register(s)
	}
	for _, r := range api.Routes {
		if !s.handled[r.ID] {
			panic("httpapi: route " + r.ID + " has no handler")
		}
	}
	describe(s)
	s.openapi = document(s.api.OpenAPI())
	serveDocuments(s)
	return s.complete()
}

// NewHealth makes the server of a backend without the API: /healthz, /readyz
// and /metrics, and nothing else. Of the configuration it needs no intents.
func NewHealth(cfg Config) *Server { return bare(cfg).complete() }

// bare makes a server that tells of its health.
func bare(cfg Config) *Server {
	if cfg.ReadTimeout == 0 {
		cfg.ReadTimeout = readTimeout
	}
	if cfg.StallTimeout == 0 {
		cfg.StallTimeout = stallTimeout
	}
	if cfg.Policies == nil {
		cfg.Policies = &reconcile.Registry{}
	}
	if cfg.Health == nil {
		cfg.Health = cfg.DB
	}
	if cfg.Metrics == nil {
		cfg.Metrics = prometheus.NewRegistry()
	}
	s := &Server{
		cfg: cfg, db: cfg.DB, intents: cfg.Intents, log: cfg.Log, roles: cfg.Roles, handled: map[string]bool{},
		metrics: newMetrics(cfg.Metrics), limiter: newLimiter(cfg.Limits), viewers: make(chan struct{}, maxViewers),
		gates: make(chan struct{}, maxGates), largeBodies: make(chan struct{}, maxLargeBodies), collector: memory.Collector{Every: collectAfter},
		watches: watches{jobs: map[uuid.UUID]*watch{}}, backlog: newBacklog(cfg.DB), bearers: newBearers(cfg.DB), capacity: newCapacity(cfg.DB),
	}
	s.accesses = newAccesses(cfg.DB, cfg.Roles)
	s.ready = newReady(s)
	cfg.Metrics.MustRegister(s.ready)
	s.life, s.end = context.WithCancel(context.Background())
	s.stopped, s.stop = context.WithCancel(context.Background())
	s.app = fiber.New(fiber.Config{
		AppName: "kloigos", DisableStartupMessage: true, Immutable: true, StrictRouting: true, CaseSensitive: true,
		BodyLimit: maxBody, ReadBufferSize: maxHeader, ReadTimeout: cfg.ReadTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		Concurrency: maxConnections, ErrorHandler: transport{s}.broken,
		// A connection that waits, or that a stream is written to, holds no buffer for requests.
		ReduceMemoryUsage: true,
		// Forms of several parts would be parsed before anyone has asked who sends them; the API has none.
		DisablePreParseMultipartForm: true,
	})
	s.app.Use(transport{s}.enter)
	healthHandlers{admission{s}}.register()
	return s
}

// complete puts the guard in front of the routes, once all of them are there:
// Fiber answers a method that it does not know with text, and reads the URL
// before any handler of ours.
func (s *Server) complete() *Server {
	s.app.Server().Handler = transport{s}.guard(s.app.Handler())
	s.app.Server().HeaderReceived = admission{s}.headerReceived
	return s
}

// OpenAPI is the OpenAPI 3.1 document, as served.
func (s *Server) OpenAPI() []byte { return s.openapi }

// Serve answers requests until Shutdown, which may have come first: fasthttp closes only the listeners that it knows by then.
func (s *Server) Serve(l net.Listener) error {
	once := &closedOnce{Listener: l}
	defer context.AfterFunc(s.stopped, func() { _ = once.Close() })()
	if err := s.app.Server().Serve(once); err != nil {
		return fmt.Errorf("serve the API: %w", err)
	}
	return nil
}

// closedOnce is a listener that is closed by whoever comes first.
type closedOnce struct {
	net.Listener
	close sync.Once
	err   error
}

func (l *closedOnce) Close() error {
	l.close.Do(func() { l.err = l.Listener.Close() })
	return l.err
}

// Run does what need not be done while a request waits, until ctx ends.
func (s *Server) Run(ctx context.Context) {
	tick, count := time.NewTicker(usesEvery), time.NewTicker(limitEvery)
	defer tick.Stop()
	defer count.Stop()
	for {
		select {
		case <-count.C:
			s.SyncLimits(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			s.writeUses(last)
			return
		case <-tick.C:
			s.writeUses(ctx)
		}
	}
}

// Shutdown takes no more requests, ends streams, and waits for what is being
// answered. From its first moment /readyz says no.
func (s *Server) Shutdown(ctx context.Context) error {
	s.end()
	s.stop()
	err := s.app.Server().ShutdownWithContext(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("shut the API down: %w", err)
	}
	return nil
}

// Drain makes /readyz say no and ends streams, so that the load balancer sends
// new requests elsewhere, while requests are still answered.
func (s *Server) Drain() { s.end() }

func (s *Server) isClosing() bool { return s.life.Err() != nil }
