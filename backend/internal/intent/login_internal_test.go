package intent

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit"
)

// Tries that fail block their name for longer and longer, never for good, and
// as long for a name that no account has. A blocked try costs no hash.
func TestFailedLoginsBlockTheName(t *testing.T) {
	t.Parallel()
	url := testkit.MigratedURL(t)
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, _, err := CreateAdministrator(t.Context(), db, domain.Actor{Kind: domain.ActorInit, Name: "init"}, "admin"); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	s := NewSessions(db)
	passes := func(statement string) { // time passes
		t.Helper()
		s.blocks.names = nil
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	const blockEnds, hourEnds = `UPDATE login_failures SET blocked_until = now()`, `UPDATE login_failures SET last_at = now() - INTERVAL '61 minutes'`
	blockOf := func(name string) (seconds float64) {
		t.Helper()
		hash := sha256.Sum256([]byte(name))
		err := conn.QueryRow(t.Context(), `SELECT EXTRACT(EPOCH FROM blocked_until - last_at)::FLOAT8 FROM login_failures WHERE name_hash = $1`, hash[:]).Scan(&seconds)
		if err != nil {
			t.Fatal(err)
		}
		return seconds
	}
	hashes := 0
	s.compare = func(password, _ string) (bool, error) { hashes++; return password == "right", nil }
	try := func(name, password string) error {
		_, err := s.Login(t.Context(), domain.Actor{Address: "192.0.2.7"}, name, password)
		return err
	}
	wrong := func(name string) {
		t.Helper()
		if err := try(name, "wrong"); !errors.Is(err, ErrBadLogin) {
			t.Fatalf("%s: %v", name, err)
		}
	}
	blocked := func(name string) {
		t.Helper()
		var b *LoginBlocked
		if before := hashes; !errors.As(try(name, "right"), &b) || b.For <= 0 || b.For.Seconds() > 30 || hashes != before {
			t.Fatalf("%s, blocked: %v, %d hashes", name, b, hashes-before)
		}
	}
	names := []string{"admin", "nobody"}
	for n := 1; n < store.FreeLogins; n++ {
		for _, name := range names {
			wrong(name)
			if got := blockOf(name); got != 0 {
				t.Errorf("%s is blocked for %v s after %d tries", name, got, n)
			}
		}
	}
	for _, want := range []float64{1, 2, 4, 8, 16, 32, 64, 64, 64} {
		for _, name := range names {
			wrong(name)
			if got := blockOf(name); got != want {
				t.Errorf("%s is blocked for %v s, not %v", name, got, want)
			}
		}
		passes(`UPDATE login_failures SET blocked_until = now() + INTERVAL '30 seconds'`)
		for _, name := range names {
			blocked(name)
			asked := db.Connections().Acquired
			blocked(name)
			if now := db.Connections().Acquired; now != asked {
				t.Errorf("%s: the database was asked again at once", name)
			}
		}
		passes(blockEnds)
	}
	if err := try("admin", "right"); err != nil {
		t.Fatalf("the right password after a block: %v", err)
	}
	wrong("admin")
	if got := blockOf("admin"); got != 0 {
		t.Errorf("a login that succeeded left the failures before it: blocked for %v s", got)
	}
	passes(hourEnds)
	wrong("nobody")
	if got := blockOf("nobody"); got != 0 {
		t.Errorf("an hour of quiet did not forget: blocked for %v s", got)
	}
	passes(hourEnds)
	if err := db.InTx(t.Context(), func(tx *store.Tx) error {
		n, _, err := tx.DeleteOldLogins(t.Context())
		if err == nil && n != 2 {
			t.Errorf("%d names were taken away", n)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	// A try whose password nobody looked at is none.
	s.compare = func(string, string) (bool, error) { return false, errors.New("no memory") }
	for range 3 * store.FreeLogins {
		var b *LoginBlocked
		if err := try("admin", "right"); errors.As(err, &b) || errors.Is(err, ErrBadLogin) {
			t.Fatal(err)
		}
	}
}

// However many log in, few connections are held by them: all under one name wait
// for one row, with strangers among them who would keep everybody else out.
func TestLoginsHoldFewConnections(t *testing.T) {
	t.Parallel()
	url := testkit.MigratedURL(t)
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := NewSessions(db)
	s.compare = func(string, string) (bool, error) { return false, nil }
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256([]byte("admin"))
	if _, err := tx.Exec(t.Context(), `INSERT INTO login_failures (name_hash, failures, last_at, blocked_until) VALUES ($1, 1, now(), now())`, hash[:]); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var refused, answered atomic.Int32
	for range 2 * waitingLogins {
		all.Go(func() {
			if _, err := s.Login(t.Context(), domain.Actor{}, "admin", "wrong"); errors.Is(err, ErrTooManyLogins) {
				refused.Add(1)
			}
			answered.Add(1)
		})
	}
	for end := time.Now().Add(20 * time.Second); answered.Load() < waitingLogins || db.Connections().Used < int32(parallelLogins()); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d were answered, %d connections are used", answered.Load(), db.Connections().Used)
		}
	}
	if used := db.Connections().Used; used > int32(parallelLogins()) || refused.Load() != waitingLogins {
		t.Errorf("%d connections are used, %d logins were refused", used, refused.Load())
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	all.Wait()
}
