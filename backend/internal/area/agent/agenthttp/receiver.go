package agenthttp

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/agent"
)

const (
	flushEvery = time.Second
	flushLimit = 10 * time.Second
	// trustFor is how long credentials are believed that this backend cannot look up again: a revoked agent is refused within
	// a second while the database answers, and everything is refused soon after it does not.
	trustFor    = 10 * time.Second
	reportEvery = time.Minute
	// An agent sends one heartbeat in 10 s, and some more after it lost its connection.
	beatsFree      = 10
	beatsPerSecond = 0.5
	mostInFlush    = 20000
	// mostLookups at once: agents that come all together after a backend died must not take every connection.
	mostLookups = 8
	// A build is some 30 parts.
	buildFree      = 60
	buildPerSecond = 4
)

// known is an enrolled agent that this backend has heard.
type known struct {
	agent.Known
	hash     [32]byte
	until    time.Time // the credential is valid
	rate     bucket
	said     time.Time // when its report was last handed on
	boot     string
	version  string
	causes   agent.Causes
	reported bool
	state    string // hash in its last heartbeat
	telling  bucket
	fetched  bucket // parts of a build
}

// receiver takes heartbeats from memory to the database in batches.
type receiver struct {
	parts   Parts
	lookups chan struct{}

	mu      sync.Mutex
	agents  map[uuid.UUID]*known
	pending map[uuid.UUID]agent.Beat
	flushed time.Time // of the last batch that was written
	ended   atomic.Bool
}

func newReceiver(parts Parts) *receiver {
	return &receiver{
		parts: parts, lookups: make(chan struct{}, mostLookups), agents: map[uuid.UUID]*known{}, pending: map[uuid.UUID]agent.Beat{}, flushed: time.Now(),
	}
}

// Why a heartbeat is not taken.
var (
	errFlood    = errors.New("too many heartbeats")
	errReplay   = errors.New("the heartbeat is no newer than the last one")
	errNotReady = errors.New("the backend cannot take heartbeats now")
	// errOtherBuild is of a build that the agent was not told to run.
	errOtherBuild = errors.New("the agent was not told to run this build")
)

// admit finds the agent whose credential it is.
func (r *receiver) admit(ctx context.Context, id uuid.UUID, hash [32]byte) error {
	now := time.Now()
	r.mu.Lock()
	ready := !r.ended.Load() && now.Sub(r.flushed) < trustFor && len(r.pending) < mostInFlush
	k := r.agents[id]
	good := k != nil && k.hash == hash && now.Before(k.until)
	r.mu.Unlock()
	switch {
	case !ready:
		return errNotReady
	case good:
		return nil
	}
	return r.lookUp(ctx, id, hash)
}

// newKnown is what a backend keeps of an agent that it looked up. It counts as heard from then on: else it would be forgotten
// between that and its heartbeat, which would be refused.
func newKnown(row agent.Known, hash [32]byte, asked time.Time) *known {
	return &known{
		Known: row, hash: hash, until: asked.Add(time.Duration(row.ValidMS) * time.Millisecond), causes: row.Causes,
		rate: bucket{left: beatsFree, at: asked},
	}
}

func (r *receiver) lookUp(ctx context.Context, id uuid.UUID, hash [32]byte) error {
	select {
	case r.lookups <- struct{}{}:
		defer func() { <-r.lookups }()
	case <-ctx.Done():
		return ctx.Err()
	}
	asked := time.Now()
	row, err := agent.Know(ctx, r.parts.DB.Reader, id)
	if err != nil {
		return err
	}
	if [32]byte(row.Hash) != hash || row.ValidMS <= 0 {
		return agent.ErrRefused
	}
	k := newKnown(row, hash, asked)
	if row.AgentVersion != nil && row.BootID != nil {
		k.version, k.boot, k.reported = *row.AgentVersion, *row.BootID, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if before := r.agents[id]; before != nil {
		k.rate, k.telling, k.fetched = before.rate, before.telling, before.fetched // another credential is no way around the limits
		if before.hash == hash {
			k.Seq = max(k.Seq, before.Seq)
		}
	}
	r.agents[id] = k
	return nil
}

// beat is one heartbeat of an agent that was admitted, cleaned.
type beat struct {
	agent.Reading
	seq     int64
	boot    string
	state   string
	trouble agent.Trouble
}

// take hands a heartbeat on to the next batch, and returns the version that the agent is to run.
func (r *receiver) take(id uuid.UUID, hash [32]byte, b beat, now time.Time) (run string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.agents[id]
	switch {
	case k == nil || k.hash != hash:
		return "", agent.ErrRefused
	case !k.rate.take(now, beatsPerSecond, beatsFree):
		return "", errFlood
	case b.seq <= k.Seq:
		return "", errReplay
	}
	k.Seq = b.seq
	out := agent.Beat{Agent: id, Hash: hash, Seq: b.seq, Said: r.pending[id].Said, Trouble: r.pending[id].Trouble}
	b.Desired = r.parts.Desired
	if k.Run != "" {
		b.Desired = k.Run
	}
	if b.trouble.Version != k.Trouble {
		k.Trouble, out.Trouble = b.trouble.Version, &b.trouble
	}
	causes := b.Find(k.causes, now)
	if !k.reported || !causes.Same(k.causes) || b.Version != k.version || b.boot != k.boot || b.state != k.state || now.Sub(k.said) >= reportEvery {
		k.reported, k.causes, k.version, k.boot, k.state, k.said = true, causes, b.Version, b.boot, b.state, now
		out.Said = &agent.Said{Version: b.Version, BootID: b.boot, SkewMS: b.SkewMS, Report: b.Report, Causes: causes, State: b.state}
	}
	r.pending[id] = out
	return k.Run, nil
}

// mayFetch tells why an agent may not have a part of a build: it gets the one that it was told to run, at a bounded rate.
func (r *receiver) mayFetch(id uuid.UUID, hash [32]byte, version string, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.agents[id]
	switch {
	case k == nil || k.hash != hash || k.Run == "" || k.Run != version:
		return errOtherBuild
	case !k.fetched.take(now, buildPerSecond, buildFree):
		return errFlood
	}
	return nil
}

// told notes the versions that agents are to run since lately.
func (r *receiver) told(all []agent.ToldVersion) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range all {
		if k := r.agents[t.Agent]; k != nil {
			k.Run = t.Run
		}
	}
}

// Parts of states: a host with all of its units at once, and then as often as something changes.
const (
	partsFree      = 128
	partsPerSecond = 1
)

// mayTell tells whether an agent that was admitted may send another part of its state.
func (r *receiver) mayTell(id uuid.UUID, hash [32]byte, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.agents[id]
	switch {
	case k == nil || k.hash != hash:
		return agent.ErrRefused
	case !k.telling.take(now, partsPerSecond, partsFree):
		return errFlood
	}
	return nil
}

// run writes batches until ctx is done, and one more.
func (r *receiver) run(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			r.ended.Store(true)
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			if r.flush(last) == nil {
				_ = agent.StopReceiving(last, r.parts.DB, r.parts.Backend)
			}
			return
		case <-tick.C:
			_ = r.flush(ctx) // what was not written is part of the next batch
		}
	}
}

// flush writes what was received since the last one, and forgets agents that are not listened to any more.
func (r *receiver) flush(ctx context.Context) error {
	r.mu.Lock()
	batch := r.pending
	r.pending = make(map[uuid.UUID]agent.Beat, len(batch))
	r.mu.Unlock()
	beats := make([]agent.Beat, 0, len(batch))
	for _, b := range batch {
		beats = append(beats, b)
	}
	ctx, cancel := context.WithTimeout(ctx, flushLimit)
	defer cancel()
	began := time.Now()
	taken, err := agent.Receive(ctx, r.parts.DB, r.parts.Backend, beats)
	if err == nil {
		var told []agent.ToldVersion
		if told, err = agent.ToldLately(ctx, r.parts.DB.Reader); err != nil {
			return err
		}
		r.told(told)
		var changed []uuid.UUID
		if changed, err = agent.ChangedLately(ctx, r.parts.DB.Reader); err == nil {
			r.settle(batch, taken, changed, began)
			return nil
		}
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, b := range batch {
		if newer, ok := r.pending[id]; !ok {
			r.pending[id] = b
		} else {
			if newer.Said == nil {
				newer.Said = b.Said
			}
			if newer.Trouble == nil {
				newer.Trouble = b.Trouble
			}
			r.pending[id] = newer
		}
	}
	return err
}

// settle forgets agents whose heartbeat was not taken, and those that changed: they are looked up again.
func (r *receiver) settle(batch map[uuid.UUID]agent.Beat, taken, changed []uuid.UUID, began time.Time) {
	for _, id := range taken {
		delete(batch, id)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, b := range batch {
		if k := r.agents[id]; k != nil && k.hash == b.Hash {
			k.until = time.Time{}
		}
	}
	for _, id := range changed {
		if k := r.agents[id]; k != nil {
			k.until = time.Time{}
		}
	}
	r.forget(began)
	r.flushed = began
}

// forget drops agents that were not heard for as long as a credential is good. The caller holds the lock.
func (r *receiver) forget(now time.Time) {
	for id, k := range r.agents {
		if now.Sub(k.rate.at) > agent.CredentialTime {
			delete(r.agents, id)
		}
	}
}
