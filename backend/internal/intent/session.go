package intent

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"sync"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/memory"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/store"
)

// ErrBadLogin says that there is no such account or that its password is
// another; which of the two is told to nobody.
var ErrBadLogin = errors.New("no account with this name and password")

// ErrTooManyLogins says that more logins wait than can be answered soon.
var ErrTooManyLogins = errors.New("too many logins at once")

// LoginBlocked says that too many logins failed under a name, whether an
// account is called so or not.
type LoginBlocked struct{ For time.Duration }

func (e *LoginBlocked) Error() string {
	return fmt.Sprintf("too many logins failed under this name; blocked for %s", e.For)
}

// noPassword stands in the place of a hash where an account has no password: nobody
// logs in with one.
const noPassword = "none"

// SessionLifetime is how long a login lasts.
const SessionLifetime = iam.SessionLifetime

// RoleAdministrator is the role of the first account in releases without grants.
const RoleAdministrator = "administrator"

const (
	waitingLogins = 32 // beyond these, a login is refused at once
	// blockSeen is how long a name that is found blocked is refused without asking
	// again, and mostBlocks of how many names that is remembered.
	blockSeen, mostBlocks = time.Second, 1000
)

// parallelLogins is how many passwords are looked at at once: each takes a core, 19 MiB and a connection to the database. At least
// half of the cores are left to everybody else.
func parallelLogins() int { return max(1, min(2, runtime.GOMAXPROCS(0)/2)) }

// passwordCost is the first of OWASP's equivalent settings for argon2id
// (Password Storage Cheat Sheet): 19 MiB, two passes, one lane.
var passwordCost = argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// Sessions checks passwords, a few at a time, and opens sessions.
type Sessions struct {
	db      *store.DB
	waiting chan struct{}
	logins  chan struct{}
	blocks  blocks
	nobody  func() string // hash of a password that nobody has
	compare func(password, hash string) (bool, error)
}

// blocks are names that were found blocked a moment ago, by their hashes, and
// until when: whoever goes on trying costs the database nothing.
type blocks struct {
	mu    sync.Mutex
	names map[[sha256.Size]byte]block
}

type block struct{ ends, ask time.Time }

// left is for how long a name is blocked still, as far as is known.
func (b *blocks) left(name [sha256.Size]byte) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	have := b.names[name]
	if now := time.Now(); now.Before(have.ask) {
		return have.ends.Sub(now)
	}
	return 0
}

func (b *blocks) note(name [sha256.Size]byte, blocked time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if len(b.names) >= mostBlocks {
		maps.DeleteFunc(b.names, func(_ [sha256.Size]byte, old block) bool { return !now.Before(old.ask) })
	}
	if b.names == nil {
		b.names = map[[sha256.Size]byte]block{}
	}
	if len(b.names) < mostBlocks {
		b.names[name] = block{ends: now.Add(blocked), ask: now.Add(min(blocked, blockSeen))}
	}
}

// NewSessions makes the logins over a database.
func NewSessions(db *store.DB) *Sessions {
	return &Sessions{
		db: db, waiting: make(chan struct{}, waitingLogins), logins: make(chan struct{}, parallelLogins()),
		compare: argon2id.ComparePasswordAndHash,
		nobody: sync.OnceValue(func() string {
			hash, _ := argon2id.CreateHash(newSecret(), &passwordCost) // fails only where crypto/rand does, which never does
			return hash
		}),
	}
}

// Login opens a session for whoever knows the password. An account that does
// not exist takes as long as a wrong password, and is blocked as one that does.
// While a name is blocked no password is looked at; sessions and tokens that
// are there already stay good. However many strangers try, only a few at a time
// talk to the database.
func (s *Sessions) Login(ctx context.Context, from domain.Actor, name, password string) (Issued, error) {
	leave, err := s.enter(ctx, name)
	if err != nil {
		return Issued{}, err
	}
	defer leave()
	account, err := s.check(ctx, name, password)
	if err != nil {
		return Issued{}, err
	}
	from.Kind, from.ID, from.Name = domain.ActorAccount, account.ID, account.Name
	made, waits := Issued{Secret: newSecret()}, iam.NewPendingSecret()
	tried := sha256.Sum256([]byte(name))
	err = s.db.InTx(ctx, func(tx *store.Tx) error {
		made.Pending = iam.PendingLogin{}
		pending, err := iam.BeginLogin(ctx, tx.Tx, account.ID, waits)
		if err == nil { // failed logins are forgotten once the code was right too
			made.Pending = pending
			return nil
		}
		if !errors.Is(err, domain.ErrNotFound) {
			return fmt.Errorf("look for a second factor: %w", err)
		}
		t := store.Token{ID: uuid.New(), Kind: TokenSession, AccountID: account.ID, Name: from.Address}
		made.Token, err = issue(ctx, tx, from, t, made.Secret, "session.create", SessionLifetime)
		if err != nil {
			return err
		}
		return tx.ForgetLogins(ctx, tried[:])
	})
	return made, err
}

// Count counts a try to log in under a name before it is known how it ends: a code, or a passkey.
func (s *Sessions) Count(ctx context.Context, name string) error {
	tried := sha256.Sum256([]byte(name))
	if blocked := s.blocks.left(tried); blocked > 0 {
		return &LoginBlocked{For: blocked}
	}
	var blocked time.Duration
	err := s.db.InTx(ctx, func(tx *store.Tx) (err error) {
		blocked, err = tx.TryLogin(ctx, tried[:])
		return err
	})
	if err != nil {
		return fmt.Errorf("count the login: %w", err)
	}
	if blocked > 0 {
		s.blocks.note(tried, blocked)
		return &LoginBlocked{For: blocked}
	}
	return nil
}

// Check tells whether this is the password of an account, as a login would, and
// opens no session. Wrong ones are counted with failed logins.
func (s *Sessions) Check(ctx context.Context, name, password string) error {
	leave, err := s.enter(ctx, name)
	if err != nil {
		return err
	}
	defer leave()
	if _, err := s.check(ctx, name, password); err != nil {
		return err
	}
	tried := sha256.Sum256([]byte(name))
	return s.db.InTx(ctx, func(tx *store.Tx) error { return tx.ForgetLogins(ctx, tried[:]) })
}

// HashPassword is what is stored of a password. Few are made at a time.
func (s *Sessions) HashPassword(ctx context.Context, password string) (string, error) {
	leave, err := s.enter(ctx, "")
	if err != nil {
		return "", err
	}
	defer leave()
	defer memory.Return() // an idle backend would hold the 19 MiB for minutes
	hash, err := argon2id.CreateHash(password, &passwordCost)
	if err != nil {
		return "", fmt.Errorf("hash the password: %w", err)
	}
	return hash, nil
}

func (s *Sessions) check(ctx context.Context, name, password string) (store.Account, error) {
	tried := sha256.Sum256([]byte(name))
	if err := s.Count(ctx, name); err != nil {
		return store.Account{}, err
	}
	account, err := s.db.AccountByName(ctx, name)
	known := err == nil && account.PasswordHash != noPassword
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return store.Account{}, fmt.Errorf("look for the account: %w", err)
	}
	hash := account.PasswordHash
	if !known {
		hash = s.nobody()
	}
	match, err := s.compare(password, hash)
	defer memory.Return() // an idle backend would hold the 19 MiB for minutes
	if err != nil {
		return store.Account{}, errors.Join(fmt.Errorf("compare password: %w", err), s.uncount(ctx, tried[:]))
	}
	if !known || !match {
		return store.Account{}, ErrBadLogin
	}
	return account, nil
}

// uncount is for a try whose password could not be looked at.
func (s *Sessions) uncount(ctx context.Context, nameHash []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return s.db.InTx(ctx, func(tx *store.Tx) error { return tx.UncountLogin(ctx, nameHash) })
}

// enter waits until a login may go on, behind few others. A name that was found
// blocked a moment ago does not wait.
func (s *Sessions) enter(ctx context.Context, name string) (leave func(), err error) {
	if blocked := s.blocks.left(sha256.Sum256([]byte(name))); blocked > 0 {
		return nil, &LoginBlocked{For: blocked}
	}
	select {
	case s.waiting <- struct{}{}:
	default:
		return nil, ErrTooManyLogins
	}
	select {
	case s.logins <- struct{}{}:
		return func() { <-s.logins; <-s.waiting }, nil
	case <-ctx.Done():
		<-s.waiting
		return nil, ErrTooManyLogins
	}
}

// GrantAdministrator lets an account operate the installation and own the
// organization that a single team works in.
func GrantAdministrator(ctx context.Context, tx *store.Tx, account uuid.UUID, by string) error {
	if err := scope.Give(ctx, tx.Tx, account, iam.RoleInstallationOperator, scope.Installation, uuid.Nil, by); err != nil {
		return err
	}
	return scope.Give(ctx, tx.Tx, account, iam.RoleOwner, scope.Organization, domain.DefaultOrganization, by)
}

// CreateAdministrator makes the first account with a generated password, which
// it returns; false if there is an account already.
func CreateAdministrator(ctx context.Context, db *store.DB, who domain.Actor, name string) (password string, made bool, err error) {
	raw := make([]byte, 18)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	password = base64.RawURLEncoding.EncodeToString(raw)
	hash, err := argon2id.CreateHash(password, &passwordCost)
	if err != nil {
		return "", false, fmt.Errorf("hash the password: %w", err)
	}
	err = db.InTx(ctx, func(tx *store.Tx) error {
		made = false
		n, err := tx.CountAccounts(ctx)
		if err != nil || n > 0 {
			return err
		}
		a := store.Account{ID: uuid.New(), Name: name, PasswordHash: hash, Role: RoleAdministrator}
		if err := tx.InsertAccount(ctx, a); err != nil {
			return err
		}
		if err := GrantAdministrator(ctx, tx, a.ID, who.Name); err != nil {
			return err
		}
		made = true
		return tx.AddEvent(ctx, who, store.Audit{
			Workspace: domain.DefaultWorkspace, Action: "account.create", ObjectKind: "account",
			ObjectID: a.ID, ObjectName: a.Name, After: map[string]any{"role": a.Role},
		})
	})
	if err != nil || !made {
		return "", false, err
	}
	return password, true, nil
}
