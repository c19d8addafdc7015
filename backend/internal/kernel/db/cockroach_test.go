package db

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"kloigos/backend/internal/testkit"
	"kloigos/crdb"
	"kloigos/crdb/proxy"
)

// speaking puts a proxy before a database, which speaks as a CockroachDB does.
func speaking(t *testing.T, url string, o proxy.Options) *proxy.Proxy {
	t.Helper()
	if testkit.IsCockroach(t) {
		t.Skip("it speaks so already")
	}
	p, err := proxy.Start(url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// asCockroach is setup, through a proxy.
func asCockroach(t *testing.T, o proxy.Options, options ...Option) (*counters, *proxy.Proxy) {
	t.Helper()
	c := setup(t)
	p := speaking(t, c.url, o)
	c.DB = open(t, p.URL, options...)
	if !c.Cockroach() {
		t.Fatal("it is not taken for a CockroachDB")
	}
	c.OnRetry(func() { c.retries.Add(1) })
	return c, p
}

func (c *counters) add(t *testing.T, name string) error {
	t.Helper()
	return c.InTx(t.Context(), func(tx *Tx) error { return tx.One(t.Context(), errors.New("none"), sqlAdd, name) })
}

// TestRoundTrips: a transaction of one statement takes two of them, on both.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	const transactions = 100
	c, p := asCockroach(t, proxy.Options{})
	one := open(t, p.URL+"&pool_max_conns=1")
	c.DB = one
	for _, statements := range []int{1, 2} {
		trips := 0
		for n := range transactions + 1 {
			if n == 1 { // what is prepared once, is
				trips = p.RoundTrips()
			}
			if err := c.InTx(t.Context(), func(tx *Tx) error {
				for range statements {
					if _, err := tx.Exec(t.Context(), sqlAdd, "a"); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		if each := float64(p.RoundTrips()-trips) / transactions; each > float64(statements)+1.2 {
			t.Errorf("%.1f round trips for %d statements", each, statements)
		}
	}
	if err := c.InTx(t.Context(), func(*Tx) error { return nil }); err != nil {
		t.Error(err)
	}
	if n := c.pool.Stat().AcquiredConns(); n != 0 {
		t.Errorf("%d connections are still out", n)
	}
}

// TestRefusedReleasesRunTheClosureAgain, and none of it is there twice.
func TestRefusedReleasesRunTheClosureAgain(t *testing.T) {
	t.Parallel()
	c, p := asCockroach(t, proxy.Options{Refuse: 0.3, Seed: 1})
	const each, writers = 25, 4
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				if err := c.add(t, "a"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := c.read(t, "a"); n != each*writers || p.Refused() == 0 || int(c.retries.Load()) < p.Refused() || p.Restarts() < p.Refused() {
		t.Errorf("counted %d; %d were refused, %d begun anew, %d told", n, p.Refused(), p.Restarts(), c.retries.Load())
	}
}

// TestRetriesAreBoundedByTime, and pause in between.
func TestRetriesAreBoundedByTime(t *testing.T) {
	t.Parallel()
	c, p := asCockroach(t, proxy.Options{Refuse: 1})
	c.retryFor = time.Second
	begun := time.Now()
	err := c.add(t, "a")
	took := time.Since(begun)
	if SQLState(err) != "40001" || !Unavailable(err) || errors.Is(err, ErrCommitUnknown) {
		t.Errorf("got %v", err)
	}
	if took < c.retryFor || took > 20*c.retryFor || p.Restarts() < 3 || p.Restarts() > 40 {
		t.Errorf("%d tries in %s", p.Restarts()+1, took)
	}
	if n := c.pool.Stat().AcquiredConns(); n != 0 || c.read(t, "a") != 0 {
		t.Errorf("%d connections are still out", n)
	}
}

// TestAmbiguousCommits are not tried again: they may have been applied.
func TestAmbiguousCommits(t *testing.T) {
	t.Parallel()
	c, _ := asCockroach(t, proxy.Options{Unknown: 1})
	unknown := 0
	c.OnCommitUnknown(func() { unknown++ })
	runs := 0
	err := c.InTx(t.Context(), func(tx *Tx) error {
		runs++
		return tx.One(t.Context(), errors.New("none"), sqlAdd, "a")
	})
	if !errors.Is(err, ErrCommitUnknown) || runs != 1 || unknown != 1 || c.retries.Load() != 0 {
		t.Errorf("%d runs, %d told, %v", runs, unknown, err)
	}
}

// TestCancelledBeforeTheRelease: nothing of it was sent, so nothing is unknown.
func TestCancelledBeforeTheRelease(t *testing.T) {
	t.Parallel()
	c, _ := asCockroach(t, proxy.Options{})
	cancelledBeforeCommit(t, c)
}

// TestATransactionThatStoodStill is unavailable, in CockroachDB's words too.
func TestATransactionThatStoodStill(t *testing.T) {
	t.Parallel()
	c, p := asCockroach(t, proxy.Options{})
	db := open(t, p.URL+"&idle_in_transaction_session_timeout=100")
	err := db.InTx(t.Context(), func(tx *Tx) error {
		if _, err := tx.Exec(t.Context(), sqlAdd, "a"); err != nil {
			return err
		}
		time.Sleep(time.Second) // far more than it may
		_, err := tx.Exec(t.Context(), sqlAdd, "a")
		return err
	})
	if err == nil || !Unavailable(err) || c.read(t, "a") != 0 {
		t.Errorf("counted %d, %v", c.read(t, "a"), err)
	}
}

func TestOldCockroachDBsAreRefused(t *testing.T) {
	t.Parallel()
	url := testkit.DatabaseURL(t)
	for version, fits := range map[string]bool{"v23.2.12": false, "v24.1.4": false, "v24.2.10": false, "v24.3.0": true, "v25.1.0": true, "v26.1.0-alpha.1": true} {
		p := speaking(t, url, proxy.Options{Version: version})
		db, err := Open(t.Context(), p.URL)
		if err == nil {
			db.Close()
		}
		_, status := crdb.Status(t.Context(), p.URL) // what serve begins with
		for _, err := range []error{err, status} {
			if (err == nil) != fits || err != nil && (!strings.Contains(err.Error(), version[:5]) || !strings.Contains(err.Error(), "v24.3 or newer")) {
				t.Errorf("%s: %v", version, err)
			}
		}
		if err := crdb.Migrate(t.Context(), p.URL); err == nil && !fits {
			t.Errorf("%s: it was migrated", version)
		}
	}
}
