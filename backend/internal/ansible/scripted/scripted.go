// Package scripted is an [ansible.Runner] that plays back what a test tells it to, for tests of orchestration: order,
// retries, takeover, cancelling. It checks each play as the real runner does, so that what it accepts can really be
// run. It proves nothing about a playbook.
package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"kloigos/backend/internal/ansible"
)

// Func answers one run.
type Func func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error)

// Script is a run told in advance.
type Script struct {
	// Events go to the sink, in order, before anything else happens.
	Events []ansible.Event
	// Wait, if there is one, holds the run until it is closed or the context is done. A run whose context is done
	// comes to nothing but a failure, as a real one does. The Done of that context is no Wait: it is closed a moment before the run's own.
	Wait <-chan struct{}
	// Result is marshalled as the kloigos_result of every host, and told as an event as well; nil means none.
	Result any
	// ResultOf is Result for each host by itself.
	ResultOf func(host string) any
	// Failure makes the play fail. An empty Host means the play's first.
	Failure *ansible.Failure
	// Err means that the run could not be carried out.
	Err error
}

// Call is a run that was asked for.
type Call struct {
	Play ansible.Play
	// Vars as they would have been given to Ansible, without its marks.
	Vars json.RawMessage
}

// Runner is an [ansible.Runner]. Its zero value knows no playbook; use [New].
type Runner struct {
	mu       sync.Mutex
	handlers map[string]Func
	calls    []Call
	ends     []ansible.Host
}

var _ ansible.Runner = (*Runner)(nil)

// New makes a runner that knows no playbook yet.
func New() *Runner { return &Runner{handlers: map[string]Func{}} }

// Handle answers the runs of a playbook (Play.Name) with the scripts in turn; the last one answers all further runs.
func (r *Runner) Handle(name string, scripts ...Script) {
	if len(scripts) == 0 {
		scripts = []Script{{}}
	}
	var mu sync.Mutex
	r.HandleFunc(name, func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		mu.Lock()
		script := scripts[0]
		if len(scripts) > 1 {
			scripts = scripts[1:]
		}
		mu.Unlock()
		return script.run(ctx, play, sink)
	})
}

// HandleFunc answers the runs of a playbook with a function.
func (r *Runner) HandleFunc(name string, fn Func) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handlers[name] = fn
}

// Calls are the runs that were asked for until now, in order.
func (r *Runner) Calls() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Call(nil), r.calls...)
}

// Ends are the hosts on which older runs were ended, in order.
func (r *Runner) Ends() []ansible.Host {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]ansible.Host(nil), r.ends...)
}

// End implements [ansible.Runner]; it only notes what was asked.
func (r *Runner) End(_ context.Context, host ansible.Host) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends = append(r.ends, host)
	return nil
}

// Run implements [ansible.Runner].
func (r *Runner) Run(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
	if err := play.Validate(); err != nil {
		return ansible.Outcome{}, err
	}
	vars, err := json.Marshal(play.Vars)
	if err != nil {
		return ansible.Outcome{}, fmt.Errorf("record call: %w", err)
	}
	r.mu.Lock()
	handler := r.handlers[play.Name]
	r.calls = append(r.calls, Call{Play: play, Vars: vars})
	r.mu.Unlock()
	if handler == nil {
		return ansible.Outcome{}, fmt.Errorf("no script for playbook %q", play.Name)
	}
	if play.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, play.Timeout)
		defer cancel()
	}
	if sink == nil {
		sink = func(ansible.Event) {}
	}
	return handler(ctx, play, sink)
}

func (s Script) run(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
	if s.Err != nil {
		return ansible.Outcome{}, s.Err
	}
	for _, e := range s.Events {
		sink(e)
	}
	if s.Wait != nil {
		select {
		case <-s.Wait:
		case <-ctx.Done():
		}
	}
	out := ansible.Outcome{Results: map[string]json.RawMessage{}, Stats: map[string]ansible.Stats{}}
	failure := s.Failure
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		failure = &ansible.Failure{Code: ansible.CodeTimeout, Message: "the run took longer than it may"}
	case ctx.Err() != nil:
		failure = &ansible.Failure{Code: ansible.CodeCancelled, Message: "the run was cancelled"}
	default:
		if err := s.fill(play, &out, sink); err != nil {
			return ansible.Outcome{}, err
		}
		if failure != nil && failure.Host == "" {
			named := *failure
			named.Host = play.Hosts[0].Name
			failure = &named
		}
	}
	if failure != nil {
		out.Failures = []ansible.Failure{*failure}
		out.Failure = &out.Failures[0]
	}
	sink(ansible.Event{Kind: ansible.EventFinished})
	return out, nil
}

// fill sets the results and counts of hosts that were reached.
func (s Script) fill(play ansible.Play, out *ansible.Outcome, sink func(ansible.Event)) error {
	result := s.ResultOf
	if result == nil {
		result = func(string) any { return s.Result }
	}
	for _, h := range play.Hosts {
		if of := result(h.Name); of != nil {
			raw, err := json.Marshal(of)
			if err != nil {
				return fmt.Errorf("marshal scripted result: %w", err)
			}
			out.Results[h.Name] = raw
			sink(ansible.Event{Kind: ansible.EventResult, Host: h.Name, Result: raw})
		}
		out.Stats[h.Name] = ansible.Stats{OK: 1}
		if s.Failure != nil {
			out.Stats[h.Name] = ansible.Stats{Failed: 1}
		}
	}
	return nil
}
