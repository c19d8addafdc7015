package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"kloigos/backend/internal/kernel/db"
)

const (
	defaultCap = 16
	// How often a reconciler looks for what is due. A wake waits for that long at
	// most, where a slot is free.
	defaultPoll = 200 * time.Millisecond
	// How long an item waits for another reconciler after its own has died.
	defaultLease = 30 * time.Second
	defaultSlots = 48
	// Every so often all of an index is looked at, and less often times that are
	// ahead of the clock are set right.
	fullLookEvery = 10 * time.Second
	setRightEvery = time.Minute
	// Due times from before a look that found nothing older may still come up:
	// leases that run out, transactions that take long.
	lookBack = 5 * time.Minute

	firstBackoff   = time.Second
	longestBackoff = 10 * time.Minute
	// giveBackWithin bounds what a reconciler writes after it was told to stop.
	giveBackWithin = 5 * time.Second
)

// errLost cancels a run whose lease another reconciler may have.
var errLost = errors.New("the lease of the item is lost")

// Config is what a reconciler needs to know.
type Config struct {
	Holder  uuid.UUID // of this process; zeros: a new one
	Log     *slog.Logger
	Metrics *prometheus.Registry
	Slots   int           // items in hand at most, policies about the installation apart; 0: 48
	Poll    time.Duration // 0: 200 ms
	Lease   time.Duration // 0: 30 s
}

// Reconciler claims what is due, runs it and writes what came of it. Any number of
// them work on one database.
type Reconciler struct {
	db       *db.DB
	registry *Registry
	cfg      Config
	metrics  *metrics
	log      *slog.Logger

	mu     sync.Mutex
	inHand map[key]*running
	byName map[string]int // items in hand of each policy

	ended chan result
	freed chan struct{}        // one more look is worth the while
	since map[string]time.Time // due times to look from, by policy
	whole time.Time            // of the last look at all of an index
	right time.Time            // when times ahead of the clock were set right
	full  bool                 // the last claim left some behind
}

// running is an item in hand.
type running struct {
	key
	claimed
	policy    *Policy
	cancel    context.CancelCauseFunc
	renewed   time.Time // by this process's clock
	claimedAt time.Time
}

// New makes a reconciler.
func New(d *db.DB, registry *Registry, cfg Config) *Reconciler {
	if cfg.Holder == uuid.Nil {
		cfg.Holder = uuid.New()
	}
	if cfg.Slots == 0 {
		cfg.Slots = defaultSlots
	}
	if cfg.Poll == 0 {
		cfg.Poll = defaultPoll
	}
	if cfg.Lease == 0 {
		cfg.Lease = defaultLease
	}
	return &Reconciler{
		db: d, registry: registry, cfg: cfg, log: cfg.Log, metrics: newMetrics(cfg.Metrics, registry.policies), inHand: map[key]*running{}, byName: map[string]int{},
		ended: make(chan result, 4*cfg.Slots), freed: make(chan struct{}, 1), since: map[string]time.Time{},
	}
}

// Run reconciles until ctx ends. Then it cancels what it has in hand, and gives it
// back for others to do at once.
func (r *Reconciler) Run(ctx context.Context) {
	if len(r.registry.policies) == 0 {
		return
	}
	var writers sync.WaitGroup
	writers.Go(r.writeEnds)
	renewing, endRenewing := context.WithCancel(context.WithoutCancel(ctx))
	writers.Go(func() { r.renew(renewing) })
	var runs sync.WaitGroup
	for known := false; ctx.Err() == nil; {
		if !known {
			known = r.try(ctx, "add the policies", r.addPolicies)
		}
		if known {
			r.pass(ctx, &runs)
		}
		r.wait(ctx)
	}
	runs.Wait()
	close(r.ended)
	endRenewing()
	writers.Wait()
}

// wait is until the next look: at once where there is more to claim and a slot is
// free.
func (r *Reconciler) wait(ctx context.Context) {
	var freed <-chan struct{}
	if r.full {
		freed = r.freed
	}
	select {
	case <-ctx.Done():
	case <-freed:
	case <-time.After(r.cfg.Poll/2 + rand.N(r.cfg.Poll)/2):
	}
}

func (r *Reconciler) try(ctx context.Context, what string, f func(context.Context) error) bool {
	err := f(ctx)
	if err != nil && ctx.Err() == nil {
		r.log.Error(what+" failed", "error", err)
	}
	return err == nil
}

// addPolicies makes sure that each policy has its item. The first runs of a new
// installation are spread.
func (r *Reconciler) addPolicies(ctx context.Context) error {
	waits := make([]int64, len(r.registry.policies))
	for i, p := range r.registry.policies {
		if p.Noun == "" {
			waits[i] = spread(p.Interval)
		}
	}
	return r.db.InTx(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, sqlAddPolicies, r.registry.names(), waits)
		return err
	})
}

// spread is a wait of up to a third of an interval, in milliseconds.
func spread(interval time.Duration) int64 { return rand.N(interval/3 + 1).Milliseconds() }

// pass claims what is due and begins to run it.
func (r *Reconciler) pass(ctx context.Context, runs *sync.WaitGroup) {
	r.full = false
	if time.Since(r.right) >= setRightEvery {
		if !r.try(ctx, "set due times ahead of the clock right", r.setAheadRight) {
			return
		}
		r.right = time.Now()
	}
	if time.Since(r.whole) >= fullLookEvery {
		clear(r.since)
		r.whole = time.Now()
	}
	found, err := r.due(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.log.Error("look for due items failed", "error", err)
		}
		return
	}
	rand.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	for _, d := range found {
		p := r.registry.find(d.Policy)
		free := r.free(p)
		if free <= 0 {
			r.full = true
			continue
		}
		got, err := claim(ctx, r.db, p.Name, r.since[p.Name], free, r.cfg.Lease, r.cfg.Holder)
		if err != nil {
			if ctx.Err() == nil {
				r.log.Error("claim items failed", "policy", p.Name, "error", err)
			}
			continue
		}
		r.full = r.full || len(got) == free
		for i, c := range got {
			if from := c.DueAt.Add(-lookBack); i == 0 || from.Before(r.since[p.Name]) {
				r.since[p.Name] = from
			}
			r.begin(ctx, runs, p, c)
		}
	}
}

// due asks for which policies something can be claimed. From a policy that has
// nothing, the next looks begin near the present.
func (r *Reconciler) due(ctx context.Context) ([]due, error) {
	names := r.registry.names()
	since := make([]time.Time, len(names))
	for i, name := range names {
		since[i] = r.since[name]
	}
	found, err := db.Collect[due](ctx, r.db.Reader, sqlDue, names, since)
	if err != nil || len(found) == len(names) {
		return found, err
	}
	var now time.Time
	if len(found) > 0 {
		now = found[0].Now
	} else if err := r.db.QueryRow(ctx, sqlNow).Scan(&now); err != nil {
		return nil, err
	}
	is := map[string]bool{}
	for _, d := range found {
		is[d.Policy] = true
	}
	for _, name := range names {
		if !is[name] {
			r.since[name] = now.Add(-lookBack)
		}
	}
	return found, nil
}

// free is how many more items of a policy may be claimed.
func (r *Reconciler) free(p *Policy) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.Noun == "" { // there is one item
		return 1 - r.byName[p.Name]
	}
	items := 0
	for name, n := range r.byName {
		if q := r.registry.find(name); q != nil && q.Noun != "" {
			items += n
		}
	}
	return min(p.Cap-r.byName[p.Name], r.cfg.Slots-items)
}

func (r *Reconciler) begin(ctx context.Context, runs *sync.WaitGroup, p *Policy, c claimed) {
	now := time.Now()
	one := &running{key: key{p.Name, c.ObjectID}, claimed: c, policy: p, renewed: now, claimedAt: now}
	r.metrics.lag.WithLabelValues(p.Name, "claim").Observe(max(0, c.Now.Sub(c.DueAt).Seconds()))
	ctx, one.cancel = context.WithCancelCause(ctx)
	r.mu.Lock()
	r.inHand[one.key] = one
	r.byName[p.Name]++
	r.mu.Unlock()
	runs.Go(func() {
		r.ended <- r.run(ctx, one)
		one.cancel(nil)
	})
}

// drop takes items out of hand once their end is written, or lost.
func (r *Reconciler) drop(all []result) {
	r.mu.Lock()
	for _, e := range all {
		delete(r.inHand, e.key)
		r.byName[e.Policy]--
	}
	r.mu.Unlock()
	select {
	case r.freed <- struct{}{}:
	default:
	}
}

// renew keeps the leases of what is in hand, and cancels what another reconciler
// may have meanwhile.
func (r *Reconciler) renew(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(r.cfg.Lease / 3):
		}
		r.renewOnce(ctx)
	}
}

func (r *Reconciler) renewOnce(ctx context.Context) {
	asked := time.Now()
	r.mu.Lock()
	keys := slices.SortedFunc(maps.Keys(r.inHand), compareKeys)
	numbers := make([]int64, len(keys))
	for i, k := range keys {
		numbers[i] = r.inHand[k].Run
	}
	r.mu.Unlock()
	if len(keys) == 0 {
		return
	}
	policies, objects := columns(keys)
	within, cancel := context.WithTimeout(ctx, r.cfg.Lease/3)
	defer cancel()
	var kept []key
	err := r.db.InTx(within, func(tx *db.Tx) (err error) {
		if err := lock(within, tx, keys); err != nil {
			return err
		}
		kept, err = db.Collect[key](within, tx.Reader, sqlRenew, policies, objects, numbers, r.cfg.Holder, r.cfg.Lease.Milliseconds())
		return err
	})
	if err != nil && ctx.Err() == nil {
		r.log.Warn("renew leases of items failed", "error", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range kept {
		if one := r.inHand[k]; one != nil {
			one.renewed = asked
		}
	}
	for i, k := range keys {
		one := r.inHand[k]
		if one != nil && one.Run == numbers[i] && (err == nil && one.renewed != asked || time.Since(one.renewed) > r.cfg.Lease*3/4) {
			one.cancel(errLost)
		}
	}
}

func (r *Reconciler) setAheadRight(ctx context.Context) error {
	longest := make([]int64, len(r.registry.policies))
	for i, p := range r.registry.policies {
		longest[i] = (p.Interval + p.Jitter + time.Minute).Milliseconds()
	}
	return r.db.InTx(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(ctx, sqlDueAhead, r.registry.names(), longest, (2 * longestBackoff).Milliseconds()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, sqlLeasesAhead, r.cfg.Lease.Milliseconds())
		return err
	})
}
