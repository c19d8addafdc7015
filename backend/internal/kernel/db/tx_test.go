package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"kloigos/backend/internal/testkit"
)

// counters is a database with one table that knows nothing of Kloigos.
type counters struct {
	*DB
	url     string
	retries atomic.Int64
}

func setup(t *testing.T) *counters {
	t.Helper()
	c := &counters{url: testkit.DatabaseURL(t)}
	c.DB = open(t, c.url)
	c.OnRetry(func() { c.retries.Add(1) })
	c.exec(t, `CREATE TABLE counters (name TEXT PRIMARY KEY, n INT8 NOT NULL)`)
	c.exec(t, `INSERT INTO counters (name, n) VALUES ('a', 0), ('b', 0)`)
	return c
}

func open(t *testing.T, url string, options ...Option) *DB {
	t.Helper()
	db, err := Open(t.Context(), url, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// exec runs one statement by itself.
func (c *counters) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := c.pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (c *counters) read(t *testing.T, name string) (n int) {
	t.Helper()
	if err := c.pool.QueryRow(t.Context(), `SELECT n FROM counters WHERE name = $1`, name).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

const (
	sqlAdd    = `UPDATE counters SET n = n + 1 WHERE name = $1`
	sqlLook   = `SELECT n FROM counters WHERE name = $1`
	sqlFrozen = `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`
)

func TestTransactionCommits(t *testing.T) {
	t.Parallel()
	c := setup(t)
	if err := c.InTx(t.Context(), func(tx *Tx) error { return tx.One(t.Context(), errors.New("none"), sqlAdd, "a") }); err != nil {
		t.Fatal(err)
	}
	if c.read(t, "a") != 1 {
		t.Error("not committed")
	}
}

// TestSerializationFailureRunsTheClosureAgain in a snapshot of its own.
func TestSerializationFailureRunsTheClosureAgain(t *testing.T) {
	t.Parallel()
	c := setup(t)
	runs := 0
	var saw int
	err := c.InTx(t.Context(), func(tx *Tx) error {
		runs++
		if tx.Postgres() {
			if _, err := tx.Exec(t.Context(), sqlFrozen); err != nil {
				return err
			}
		}
		if err := tx.QueryRow(t.Context(), sqlLook, "a").Scan(&saw); err != nil {
			return err
		}
		if runs <= 2 { // somebody else commits behind our snapshot
			c.exec(t, sqlAdd, "a")
		}
		if _, err := tx.Exec(t.Context(), sqlAdd, "a"); err != nil {
			return fmt.Errorf("deep inside: %w", err)
		}
		return nil
	})
	if err != nil || runs < 3 || !c.cockroach && runs > 3 || saw != 2 || c.read(t, "a") != 3 || int(c.retries.Load()) != runs-1 { // there its commit may be refused as well
		t.Errorf("%v: %d runs, %d retries, saw %d, counted %d", err, runs, c.retries.Load(), saw, c.read(t, "a"))
	}
}

// TestDeadlocksEnd: both sides get their turn.
func TestDeadlocksEnd(t *testing.T) {
	t.Parallel()
	c := setup(t)
	var both sync.WaitGroup
	both.Add(2)
	var all sync.WaitGroup
	for _, order := range [][2]string{{"a", "b"}, {"b", "a"}} {
		all.Go(func() {
			runs := 0
			err := c.InTx(t.Context(), func(tx *Tx) error {
				runs++
				if tx.Postgres() {
					if _, err := tx.Exec(t.Context(), `SET LOCAL deadlock_timeout = '50ms'`); err != nil {
						return err
					}
				}
				if _, err := tx.Exec(t.Context(), sqlAdd, order[0]); err != nil {
					return err
				}
				if runs == 1 { // each holds what the other wants
					both.Done()
					both.Wait()
				}
				_, err := tx.Exec(t.Context(), sqlAdd, order[1])
				return err
			})
			if err != nil {
				t.Errorf("%v: %v", order, err)
			}
		})
	}
	all.Wait()
	if c.read(t, "a") != 2 || c.read(t, "b") != 2 || c.retries.Load() < 1 {
		t.Errorf("a %d, b %d, %d retries", c.read(t, "a"), c.read(t, "b"), c.retries.Load())
	}
}

func TestRetriesEnd(t *testing.T) {
	t.Parallel()
	c := setup(t)
	c.retryFor = 500 * time.Millisecond // there it is time that bounds them
	runs := 0
	always := &pgconn.PgError{Code: "40001"}
	err := c.InTx(t.Context(), func(*Tx) error { runs++; return always })
	if !errors.Is(err, always) || runs < 2 || c.cockroach && runs > maxTries || !c.cockroach && runs != maxTries {
		t.Errorf("%d runs, %v", runs, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	runs = 0
	err = c.InTx(ctx, func(*Tx) error { runs++; cancel(); return always })
	if !errors.Is(err, context.Canceled) || !errors.Is(err, always) || runs != 1 {
		t.Errorf("cancelled: %d runs, %v", runs, err)
	}
}

func TestErrorsRollBack(t *testing.T) {
	t.Parallel()
	c := setup(t)
	mine := errors.New("mine")
	err := c.InTx(t.Context(), func(tx *Tx) error {
		if _, err := tx.Exec(t.Context(), sqlAdd, "a"); err != nil {
			return err
		}
		return fmt.Errorf("wrapped: %w", mine)
	})
	if !errors.Is(err, mine) || c.read(t, "a") != 0 || c.retries.Load() != 0 {
		t.Errorf("%v, counted %d", err, c.read(t, "a"))
	}
	if n := c.pool.Stat().AcquiredConns(); n != 0 {
		t.Errorf("%d connections are still out", n)
	}
}

func TestPanicGivesTheConnectionBack(t *testing.T) {
	t.Parallel()
	c := setup(t)
	func() {
		defer func() { _ = recover() }()
		_ = c.InTx(t.Context(), func(tx *Tx) error {
			if _, err := tx.Exec(t.Context(), sqlAdd, "a"); err != nil {
				t.Error(err)
			}
			panic("in the middle")
		})
	}()
	if n := c.pool.Stat().AcquiredConns(); n != 0 || c.read(t, "a") != 0 {
		t.Errorf("%d connections are still out, counted %d", n, c.read(t, "a"))
	}
}

// unsendable can't be made a parameter.
type unsendable struct{ panics bool }

func (u unsendable) Value() (driver.Value, error) {
	if u.panics {
		panic("in the middle of a parameter")
	}
	return nil, errors.New("not to be sent")
}

// TestWhatCannotBeSent as a transaction's first statement is not tried again,
// and keeps no connection.
func TestWhatCannotBeSent(t *testing.T) {
	t.Parallel()
	c := setup(t)
	for _, u := range []unsendable{{}, {panics: true}} {
		tries, panicked := 0, false
		func() {
			defer func() { panicked = recover() != nil }()
			if err := c.InTx(t.Context(), func(tx *Tx) error {
				tries++
				_, err := tx.Exec(t.Context(), sqlAdd, u)
				return err
			}); err == nil {
				t.Error("it was sent")
			}
		}()
		for range 500 { // the pool closes it beside
			if c.pool.Stat().AcquiredConns() == 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if n := c.pool.Stat().AcquiredConns(); n != 0 || tries != 1 || panicked != u.panics {
			t.Errorf("%+v: %d tries, %d connections are still out, panicked %v", u, tries, n, panicked)
		}
	}
}

// TestRefusedCommits are errors, and not unknown: nothing was written.
func TestRefusedCommits(t *testing.T) {
	t.Parallel()
	c := setup(t)
	if !c.cockroach { // which has no such constraints
		c.exec(t, `CREATE TABLE late (n INT8 UNIQUE DEFERRABLE INITIALLY DEFERRED)`)
		err := c.InTx(t.Context(), func(tx *Tx) error {
			_, err := tx.Exec(t.Context(), `INSERT INTO late (n) VALUES (1), (1)`)
			return err
		})
		if _, dup := UniqueViolation(err); !dup || errors.Is(err, ErrCommitUnknown) {
			t.Errorf("a constraint that is checked at COMMIT: %v", err)
		}
	}
	err := c.InTx(t.Context(), func(tx *Tx) error {
		if _, err := tx.Exec(t.Context(), sqlAdd, "a"); err != nil {
			return err
		}
		_, _ = tx.Exec(t.Context(), `SELECT 1 / 0`) // swallowed: the server rolls back all the same
		return nil
	})
	if err == nil || !c.cockroach && !errors.Is(err, pgx.ErrTxCommitRollback) || errors.Is(err, ErrCommitUnknown) || c.read(t, "a") != 0 {
		t.Errorf("a transaction that is broken: %v", err)
	}
}

func TestCancelledBeforeCommit(t *testing.T) {
	t.Parallel()
	cancelledBeforeCommit(t, setup(t))
}

func cancelledBeforeCommit(t *testing.T, c *counters) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	err := c.InTx(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, sqlAdd, "a")
		cancel()
		return err
	})
	if !errors.Is(err, context.Canceled) || c.read(t, "a") != 0 {
		t.Errorf("%v, counted %d", err, c.read(t, "a"))
	}
	if errors.Is(err, ErrCommitUnknown) {
		t.Errorf("nothing was sent, yet it is called unknown: %v", err)
	}
	if err := c.InTx(ctx, func(*Tx) error { t.Error("ran"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before it began: %v", err)
	}
	if err := c.InTx(t.Context(), func(tx *Tx) error { return tx.One(t.Context(), nil, sqlAdd, "a") }); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// TestLostCommitIsUnknown cuts the connection at COMMIT, before and after the
// server got it. In both cases the caller can't know.
func TestLostCommitIsUnknown(t *testing.T) {
	t.Parallel()
	for _, delivered := range []bool{true, false} {
		t.Run(fmt.Sprintf("delivered=%v", delivered), func(t *testing.T) {
			t.Parallel()
			want, tries := 0, 1
			if delivered {
				want = 1
			}
			if delivered && testkit.IsCockroach(t) {
				tries = 6 // it may refuse a COMMIT whose answer nobody hears; never all of so many
			}
			for try := 1; ; try++ {
				c := setup(t)
				loseCommit(t, c, delivered)
				if counted := c.waitFor(t, "a", want); counted == want {
					return
				} else if try == tries {
					t.Fatalf("counted %d after try %d, want %d", counted, try, want)
				}
			}
		})
	}
}

// loseCommit adds to a counter over a connection that is cut at COMMIT.
func loseCommit(t *testing.T, c *counters, delivered bool) {
	t.Helper()
	db := open(t, cutAtCommit(t, c.url, delivered))
	runs := 0
	err := db.InTx(t.Context(), func(tx *Tx) error {
		runs++
		return tx.One(t.Context(), errors.New("none"), sqlAdd, "a")
	})
	if !errors.Is(err, ErrCommitUnknown) || runs != 1 {
		t.Fatalf("%d runs, %v", runs, err)
	}
}

// waitFor reads a counter until it is what is wanted, for up to 10 s: the server
// may still be at it.
func (c *counters) waitFor(t *testing.T, name string, want int) (n int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if n = c.read(t, name); n == want {
			break
		}
	}
	return n
}

func TestEndOfTheConnectionIsNoRefusal(t *testing.T) {
	t.Parallel()
	shutdown := &pgconn.PgError{Severity: "FATAL", Code: "57P01", Message: "terminating connection due to administrator command"}
	if err := commitError(fmt.Errorf("commit: %w", shutdown)); !errors.Is(err, ErrCommitUnknown) || retryable(err) {
		t.Errorf("got %v", err)
	}
	refused := &pgconn.PgError{Severity: "ERROR", Code: "40001"}
	if err := commitError(refused); errors.Is(err, ErrCommitUnknown) || !retryable(err) {
		t.Errorf("got %v", err)
	}
}

func TestOpenHidesThePassword(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), "postgres://ada:geheim@localhost:port/x")
	if err == nil || strings.Contains(err.Error(), "geheim") {
		t.Errorf("got %v", err)
	}
}

// TestTheURLBoundsTheConnections: an operator may want fewer than it would take
// by itself.
func TestTheURLBoundsTheConnections(t *testing.T) {
	t.Parallel()
	url := testkit.DatabaseURL(t)
	if n := open(t, url).pool.Config().MaxConns; n < 16 {
		t.Errorf("%d connections by default", n)
	}
	sign := "?"
	if strings.Contains(url, "?") {
		sign = "&"
	}
	if n := open(t, url+sign+"pool_max_conns=3").pool.Config().MaxConns; n != 3 {
		t.Errorf("%d connections, not 3", n)
	}
}

// TestIdleTransactionsEnd, or whoever dies in one keeps what it has locked. An
// operator's own limit counts.
func TestIdleTransactionsEnd(t *testing.T) {
	t.Parallel()
	url := testkit.DatabaseURL(t)
	limit := func(url string) (is time.Duration) {
		var text string
		if err := open(t, url).pool.QueryRow(t.Context(), `SHOW idle_in_transaction_session_timeout`).Scan(&text); err != nil {
			t.Fatal(err)
		}
		is, err := time.ParseDuration(text)
		if err != nil { // CockroachDB tells milliseconds
			is, err = time.ParseDuration(text + "ms")
		}
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	if is := limit(url); is != 10*time.Second {
		t.Errorf("%s by default", is)
	}
	sign := "?"
	if strings.Contains(url, "?") {
		sign = "&"
	}
	if is := limit(url + sign + "idle_in_transaction_session_timeout=3000"); is != 3*time.Second {
		t.Errorf("%s where the URL says 3 s", is)
	}
}

// TestUnavailable: what may well succeed a little later is told from a defect.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		"53100": true, // its disk is full
		"25006": true, // a standby
		"25P03": true, // stood still in a transaction
		"40001": true, "40P01": true, "57P01": true,
		"XXUUU": true, // CockroachDB's for the same, and for whatever comes from below SQL
		"23505": false, "42601": false, "22P02": false,
	} {
		if got := Unavailable(fmt.Errorf("write: %w", &pgconn.PgError{Code: code})); got != want {
			t.Errorf("%s: %v", code, got)
		}
	}
}

// cutAtCommit stands between a client and the server, and cuts the connection
// when the client sends COMMIT: once the server has answered, or before it
// hears of it. It returns the URL that leads through it.
func cutAtCommit(t *testing.T, server string, deliver bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); _ = l.Close(); open.Wait() })
	open.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			upstream, err := testkit.DialServer(server)
			if err != nil {
				t.Errorf("proxy: %v", err)
				_ = client.Close()
				return
			}
			shut := sync.OnceFunc(func() { _ = client.Close(); _ = upstream.Close() })
			context.AfterFunc(ctx, shut)
			var mute atomic.Bool // the answer is not for the client any more
			open.Go(func() {     // server to client
				defer shut()
				buffer := make([]byte, 64<<10)
				for {
					n, err := upstream.Read(buffer)
					if err != nil || mute.Load() {
						return
					}
					if _, err := client.Write(buffer[:n]); err != nil {
						return
					}
				}
			})
			open.Go(func() { // client to server
				defer func() {
					if !mute.Load() {
						shut()
					}
				}()
				buffer := make([]byte, 64<<10)
				for {
					n, err := client.Read(buffer)
					if err != nil {
						return
					}
					if testkit.Commits(buffer[:n]) {
						if !deliver {
							shut()
							return
						}
						mute.Store(true)
					}
					if _, err := upstream.Write(buffer[:n]); err != nil && !errors.Is(err, io.EOF) {
						return
					}
				}
			})
		}
	})
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = l.Addr().String()
	q := u.Query()
	q.Del("host")
	q.Del("port")
	q.Set("sslmode", "disable")
	u.RawQuery = q.Encode()
	return u.String()
}
