package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"kloigos/backend/api"
)

// load is what goes on during an upgrade.
type load struct {
	u       *upgrade
	loading context.Context
	enough  context.CancelFunc
	asking  sync.WaitGroup
	streams sync.WaitGroup
	mu      sync.Mutex
	all     []acknowledged
}

// load begins to register hosts, by the API and by a form, follows the log of
// each one's probe, and looks at lists, of the API and of the web app.
func (u *upgrade) load(ctx context.Context) *load {
	l := &load{u: u}
	l.loading, l.enough = context.WithCancel(ctx)
	for worker := range 2 {
		l.asking.Go(func() {
			l.every(2*time.Second, func(n int) error {
				name := fmt.Sprintf("h%d-%d", worker, n)
				_, job, err := u.api.RegisterHost(ctx, api.RegisterHost{Name: name, Address: "127.0.0.1", Port: u.ssh.Port, TrustOnFirstUse: true})
				if err != nil {
					return fmt.Errorf("register %s: %w", name, err)
				}
				l.add(name, job)
				l.streams.Go(func() { u.follow(ctx, job) })
				return nil
			})
		})
	}
	l.asking.Go(func() {
		l.every(1500*time.Millisecond, func(n int) error {
			name := fmt.Sprintf("b-%d", n)
			if err := u.browser.register(ctx, name, u.ssh.Port); err != nil {
				return err
			}
			host, err := u.api.GetHost(ctx, name)
			if err != nil {
				return fmt.Errorf("look at %s: %w", name, err)
			}
			jobs, err := u.api.ListJobs(ctx, api.JobFilter{Host: host.ID})
			if err != nil || len(jobs.Items) != 1 {
				return fmt.Errorf("%d jobs of %s: %w", len(jobs.Items), name, err)
			}
			l.add(name, jobs.Items[0].ID)
			l.streams.Go(func() { u.browser.follow(ctx, jobs.Items[0].ID) })
			return nil
		})
	})
	// Who only looks meets nothing of it.
	l.asking.Go(func() {
		l.every(50*time.Millisecond, func(int) error {
			_, err := u.api.ListJobs(ctx, api.JobFilter{PageQuery: api.PageQuery{Limit: 1}})
			return err
		})
	})
	l.asking.Go(func() {
		l.every(100*time.Millisecond, func(int) error {
			if status := u.browser.get(ctx, "/hosts"); status != http.StatusOK {
				return fmt.Errorf("the page of the hosts: %d", status)
			}
			return nil
		})
	})
	return l
}

// every does something until it is enough or something fails.
func (l *load) every(pause time.Duration, do func(n int) error) {
	for n := 0; l.loading.Err() == nil; n++ {
		if err := do(n); err != nil {
			l.u.t.Error(err)
			return
		}
		select {
		case <-l.loading.Done():
		case <-time.After(pause):
		}
	}
}

func (l *load) add(name, job string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, acknowledged{name, job})
}

func (l *load) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all)
}

// more waits until so many more hosts are registered.
func (l *load) more(n int) {
	l.u.t.Helper()
	before := l.count()
	eventually(l.u.t, "more load", func() bool { return l.count() >= before+n })
}

// end ends the load, and waits until the logs of all jobs were read to their ends.
func (l *load) end() {
	l.enough()
	l.asking.Wait()
	l.streams.Wait()
}
