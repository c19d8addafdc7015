package intent

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// The kinds of tokens.
const (
	TokenSession = "session"
	TokenAPI     = "api"
)

const (
	tokenPrefix = "kl_"
	// 256 bits: no one guesses it, so that a plain hash is enough to store.
	secretBytes = 32
	shownPrefix = len(tokenPrefix) + 5
)

// HashToken is what is stored of a token's secret; nil if it has not the shape
// of one, so that nothing need be looked up.
func HashToken(secret string) []byte {
	body, ok := strings.CutPrefix(secret, tokenPrefix)
	if !ok || len(body) != base64.RawURLEncoding.EncodedLen(secretBytes) {
		return nil
	}
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

func newSecret() string {
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(raw)
}

// Issued is a token that was just made, with the secret that is shown once.
type Issued struct {
	store.Token
	Secret  string
	Pending iam.PendingLogin // of an account with a second factor: no token was made yet
}

// issue inserts a token and its audit event.
func issue(ctx context.Context, tx *store.Tx, who domain.Actor, t store.Token, secret, action string, valid time.Duration) (store.Token, error) {
	t.Prefix = secret[:shownPrefix]
	expires, err := tx.InsertToken(ctx, t, HashToken(secret), valid)
	if err != nil {
		return t, err
	}
	t.ExpiresAt = expires
	return t, tx.AddEvent(ctx, who, store.Audit{
		Workspace: domain.DefaultWorkspace, Action: action, ObjectKind: "token", ObjectID: t.ID,
		ObjectName: t.Name, After: map[string]any{"kind": t.Kind, "expires_at": expires},
	})
}

// ErrSessionRequired says that the bearer is no session: an API token makes no
// other one, or whoever found it could keep what its owner takes away.
var ErrSessionRequired = errors.New("only a session makes API tokens")

// CreateToken makes an API token for the actor's own account, out of a session
// of it. The session is locked, so that a token is either revoked with it or
// not made.
func (in *Intents) CreateToken(ctx context.Context, call Call, session uuid.UUID, name string, valid time.Duration) (Issued, error) {
	if err := checkTokenName(name); err != nil {
		return Issued{}, err
	}
	made := Issued{Secret: newSecret()}
	err := in.do(ctx, call, func(tx *store.Tx) error {
		err := tx.HoldSession(ctx, call.Actor.ID, session)
		if errors.Is(err, domain.ErrNotFound) {
			return ErrSessionRequired
		}
		if err != nil {
			return err
		}
		t := store.Token{ID: uuid.New(), Kind: TokenAPI, AccountID: call.Actor.ID, SessionID: &session, Name: name}
		t, err = issue(ctx, tx, call.Actor, t, made.Secret, "token.create", valid)
		if err != nil {
			return err
		}
		if err := recordMade(ctx, tx, call, "token", t.ID, uuid.Nil); err != nil {
			return err
		}
		made.Token, err = tx.Token(ctx, call.Actor.ID, t.ID)
		return err
	})
	return made, err
}

func checkTokenName(name string) error {
	var bad domain.Invalid
	switch {
	case strings.TrimSpace(name) == "":
		bad.Add("name", "describe the purpose of the token")
	case len(name) > 256:
		bad.Add("name", "is longer than 256 bytes")
	case strings.ContainsFunc(name, unicode.IsControl):
		bad.Add("name", "remove the control characters")
	}
	return bad.OrNil()
}

// LogOut ends a session or a token by itself. Tokens that the session made stay:
// they are for programs that run on when their owner has gone home.
func (in *Intents) LogOut(ctx context.Context, call Call, id uuid.UUID) error {
	return in.do(ctx, call, func(tx *store.Tx) error {
		t, err := tx.Token(ctx, call.Actor.ID, id)
		if err != nil {
			return err
		}
		return endToken(ctx, tx, call.Actor, t)
	})
}

// RevokeToken ends a token or a session of the actor's own account, and the
// tokens that the session made: whoever revokes a session does not trust what
// was done with it.
func (in *Intents) RevokeToken(ctx context.Context, call Call, id uuid.UUID) error {
	return in.do(ctx, call, func(tx *store.Tx) error {
		t, err := tx.Token(ctx, call.Actor.ID, id)
		if err != nil {
			return err
		}
		if t.Kind == TokenSession {
			if err := tx.HoldSession(ctx, call.Actor.ID, id); err != nil {
				return err
			}
			made, err := tx.TokensOfSession(ctx, call.Actor.ID, id)
			if err != nil {
				return err
			}
			for _, m := range made {
				if err := endToken(ctx, tx, call.Actor, m); err != nil {
					return err
				}
			}
		}
		return endToken(ctx, tx, call.Actor, t)
	})
}

func endToken(ctx context.Context, tx *store.Tx, who domain.Actor, t store.Token) error {
	if err := tx.DeleteToken(ctx, who.ID, t.ID); err != nil {
		return err
	}
	return tx.AddEvent(ctx, who, store.Audit{
		Workspace: domain.DefaultWorkspace, Action: "token.delete", ObjectKind: "token",
		ObjectID: t.ID, ObjectName: t.Name, Before: map[string]any{"kind": t.Kind, "expires_at": t.ExpiresAt},
	})
}
