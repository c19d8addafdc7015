package faults

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kloigos/crdb/localdb"
)

// databaseEnds ends the database in three ways, each under clients.
func databaseEnds(ctx context.Context, w *World) error {
	stop := w.tenants(ctx, 4)
	defer stop()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} {
		if !sleep(ctx, 3*time.Second) {
			return ctx.Err()
		}
		if err := w.restartDatabase(ctx, signal); err != nil {
			return fmt.Errorf("restart the database after %s: %w", signal, err)
		}
	}
	sleep(ctx, 3*time.Second)
	return nil
}

// restartDatabase ends the world's own server by a signal and starts it again,
// at another port: the wires lead there.
func (w *World) restartDatabase(ctx context.Context, signal syscall.Signal) error {
	raw, err := os.ReadFile(filepath.Join(w.server.Dir, "pgdata", "postmaster.pid"))
	if err != nil {
		return fmt.Errorf("find the server's process: %w", err)
	}
	first, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return fmt.Errorf("find the server's process: %w", err)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		return fmt.Errorf("end the server: %w", err)
	}
	select {
	case <-w.server.Done():
	case <-time.After(patience):
		return errors.New("the server does not end")
	}
	return w.startDatabase(ctx)
}

// startDatabase starts the world's own server, which has ended, again.
func (w *World) startDatabase(ctx context.Context) (err error) {
	if err := w.server.Stop(); err != nil {
		return err
	}
	if w.server, err = localdb.Start(ctx, localdb.Options{Engine: localdb.Postgres, Dir: w.server.Dir}); err != nil {
		return err
	}
	w.database = w.server.URL
	u, err := url.Parse(w.database)
	if err != nil {
		return errors.New("the database URL can't be read")
	}
	for _, b := range w.backends {
		b.wire.Lead(u.Host)
	}
	return nil
}

// databaseFull leaves the database no room, under clients, until it has
// refused or ended; then there is room again.
func databaseFull(ctx context.Context, w *World) error {
	if !w.small {
		w.skips("a small file system can't be mounted here")
		return nil
	}
	stop := w.tenants(ctx, 4)
	defer stop()
	sleep(ctx, 2*time.Second)
	full := filepath.Join(w.server.Dir, "full")
	if err := os.WriteFile(full, make([]byte, w.spec.Room), 0o600); err == nil {
		return errors.New("the small file system is not full")
	}
	sleep(ctx, 5*time.Second)
	if err := os.Remove(full); err != nil {
		return err
	}
	told, err := os.ReadFile(filepath.Join(w.server.Dir, "server.log"))
	if err != nil {
		return err
	}
	if !strings.Contains(string(told), "No space left on device") {
		return errors.New("the database never wanted room, so nothing is proven")
	}
	select {
	case <-w.server.Done():
		if err := w.startDatabase(ctx); err != nil {
			return err
		}
	default:
	}
	sleep(ctx, 3*time.Second)
	return nil
}

// databaseSlow holds that work goes on, only slower.
func databaseSlow(ctx context.Context, w *World) error {
	for _, late := range []time.Duration{5 * time.Millisecond, 50 * time.Millisecond, 500 * time.Millisecond} {
		for _, b := range w.backends {
			b.wire.Slow(late)
		}
		if late < 100*time.Millisecond {
			stop := w.tenants(ctx, 3)
			slept := sleep(ctx, 4*time.Second)
			stop()
			if !slept {
				return ctx.Err()
			}
		}
		a, job, err := w.create(ctx, "") // a job has some sixty round trips
		if err == nil {
			err = w.succeeds(ctx, job)
		}
		if err != nil && !definite(err) {
			return fmt.Errorf("%s late: %w", late, err)
		}
		if err == nil && late < 100*time.Millisecond {
			if _, err = w.remove(ctx, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// lostCommits lets the answer to a COMMIT vanish every few moments.
func lostCommits(ctx context.Context, w *World) error {
	stop := w.tenants(ctx, 5)
	defer stop()
	lost := 0
	for range 60 {
		if !sleep(ctx, w.between(50*time.Millisecond, 250*time.Millisecond)) {
			return ctx.Err()
		}
		wire := w.backends[w.someInt(len(w.backends))].wire
		if wire.LoseKeyed(1); w.chance(0.5) { // of a request, or of whatever comes
			wire.LoseCommits(1)
		}
	}
	for _, b := range w.backends {
		lost += b.wire.Lost()
	}
	if lost < 20 && !w.cockroach { // which commits in other words
		return fmt.Errorf("only %d answers were lost, so nothing is proven", lost)
	}
	return nil
}

// serialization makes every transaction SERIALIZABLE under clients that meet.
func serialization(ctx context.Context, w *World) error {
	for _, b := range w.backends {
		b.wire.Strict(true)
	}
	stop := w.tenants(ctx, 12)
	slept := sleep(ctx, 12*time.Second)
	stop()
	if !slept {
		return ctx.Err()
	}
	refused := 0
	for _, b := range w.backends {
		refused += b.wire.Refused()
	}
	if w.cockroach { // it is SERIALIZABLE by itself, and refuses in other words
		return nil
	}
	if refused < 10 {
		return fmt.Errorf("only %d transactions were refused, so nothing is proven", refused)
	}
	return nil
}
