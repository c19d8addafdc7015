package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// Token is one row of tokens: a session or an API token. The secret itself is
// stored nowhere.
type Token struct {
	ID         uuid.UUID  `db:"id"`
	Kind       string     `db:"kind"`
	AccountID  uuid.UUID  `db:"account_id"`
	SessionID  *uuid.UUID `db:"session_id"` // that made it; nil for a session, and for tokens that are older than this column
	Name       string     `db:"name"`
	Prefix     string     `db:"prefix"`
	CreatedAt  time.Time  `db:"created_at"`
	ExpiresAt  time.Time  `db:"expires_at"`
	LastUsedAt *time.Time `db:"last_used_at"`
}

// Bearer is who a token belongs to.
type Bearer struct {
	TokenID   uuid.UUID `db:"token_id"`
	Kind      string    `db:"kind"`
	ExpiresAt time.Time `db:"expires_at"`
	Stale     bool      `db:"stale"` // its last use should be noted
	AccountID uuid.UUID `db:"account_id"`
	Account   string    `db:"account"`
	Role      string    `db:"role"`
	// What the token may use of its account's grants; nil: all of it.
	Permissions []string   `db:"permissions"`
	Scope       *string    `db:"scope"`
	ScopeID     *uuid.UUID `db:"scope_id"`
	// With what a person proved to be there, besides a password or the word of a provider.
	SecondFactor *string `db:"second_factor"`
	AccountKind  string  `db:"account_kind"`
}

// Unproved tells whether it is a person's, without a second factor.
func (b Bearer) Unproved() bool { return b.SecondFactor == nil && b.AccountKind == "person" }

const sqlBearer = `
SELECT t.id AS token_id, t.kind, t.expires_at, COALESCE(t.last_used_at < now() - INTERVAL '30 seconds', true) AS stale,
       a.id AS account_id, a.name AS account, a.role, t.permissions, t.scope, t.scope_id,
       t.second_factor, a.kind AS account_kind
  FROM tokens t
  JOIN accounts a ON a.id = t.account_id
 WHERE t.hash = $1 AND t.expires_at > now() AND a.state = 'active'`

// Bearer returns who the token with this hash belongs to. One that has expired
// (by the database's clock) and one that never was are both ErrNotFound.
func (r Reads) Bearer(ctx context.Context, hash []byte) (Bearer, error) {
	return db.First[Bearer](ctx, r.q, domain.ErrNotFound, sqlBearer, hash)
}

const sqlToken = `
SELECT t.id, t.kind, t.account_id, t.session_id, t.name, t.prefix, t.created_at, t.expires_at, t.last_used_at
  FROM tokens t
 WHERE true`

// Token returns a token of an account.
func (r Reads) Token(ctx context.Context, account, id uuid.UUID) (Token, error) {
	return db.First[Token](ctx, r.q, domain.ErrNotFound, sqlToken+" AND t.account_id = $1 AND t.id = $2", account, id)
}

// TokensOfSession returns the tokens that a session of an account made.
func (r Reads) TokensOfSession(ctx context.Context, account, session uuid.UUID) ([]Token, error) {
	return db.Collect[Token](ctx, r.q, sqlToken+" AND t.account_id = $1 AND t.session_id = $2 ORDER BY t.id", account, session)
}

// TokenSorting is the orders that tokens can be listed in.
var TokenSorting = db.Sorting[Token]{
	{Name: "kind", Columns: []db.Column{db.ByText("t.kind"), db.ByID("t.id")}, At: func(t Token) db.Position { return db.Position{Text: t.Kind, ID: t.ID} }},
	{Name: "created_at", Columns: []db.Column{db.ByTime("t.created_at"), db.ByID("t.id")}, At: func(t Token) db.Position { return db.Position{Time: t.CreatedAt, ID: t.ID} }},
}

// TokenFilter narrows a list of tokens.
type TokenFilter struct {
	AccountID uuid.UUID
	Sort      string // one of TokenSorting; "" for the first
	After     *db.Position
	Limit     int
}

// Tokens lists the tokens of an account that have not expired.
func (r Reads) Tokens(ctx context.Context, f TokenFilter) ([]Token, error) {
	l := db.NewList(sqlToken).And("t.account_id = ?", f.AccountID).And("t.expires_at > now()")
	return TokenSorting.Read(ctx, r.q, l, f.Sort, f.After, f.Limit)
}

// A token has the scope, the identity provider and the second factor of the session that makes it.
const sqlInsertToken = `
INSERT INTO tokens (id, kind, account_id, session_id, name, prefix, hash, expires_at, scope, scope_id, identity_provider_id, second_factor)
SELECT $1::UUID, $2::TEXT, $3::UUID, $4::UUID, $5::TEXT, $6::TEXT, $7::BYTEA, now() + $8::INT8 * INTERVAL '1 second',
       (SELECT s.scope FROM tokens s WHERE s.id = $4),
       (SELECT s.scope_id FROM tokens s WHERE s.id = $4),
       (SELECT s.identity_provider_id FROM tokens s WHERE s.id = $4),
       (SELECT s.second_factor FROM tokens s WHERE s.id = $4)
RETURNING expires_at`

// InsertToken adds a token that expires after a while, and returns when that
// is.
func (tx *Tx) InsertToken(ctx context.Context, t Token, hash []byte, valid time.Duration) (time.Time, error) {
	var expires time.Time
	err := tx.q.QueryRow(ctx, sqlInsertToken, t.ID, t.Kind, t.AccountID, t.SessionID, t.Name, t.Prefix, hash, int64(valid/time.Second)).Scan(&expires)
	if err != nil {
		return time.Time{}, fmt.Errorf("insert token: %w", err)
	}
	return expires, nil
}

const sqlHoldSession = `
SELECT t.id
  FROM tokens t
 WHERE t.account_id = $1 AND t.id = $2 AND t.kind = 'session' AND t.expires_at > now()
   FOR UPDATE`

// HoldSession locks a session of an account that has not expired.
func (tx *Tx) HoldSession(ctx context.Context, account, id uuid.UUID) error {
	return tx.One(ctx, domain.ErrNotFound, sqlHoldSession, account, id)
}

const sqlDeleteToken = `
DELETE FROM tokens
 WHERE account_id = $1 AND id = $2`

// DeleteToken ends a token of an account.
func (tx *Tx) DeleteToken(ctx context.Context, account, id uuid.UUID) error {
	return tx.One(ctx, domain.ErrNotFound, sqlDeleteToken, account, id)
}

const sqlDeleteExpiredTokens = `
DELETE FROM tokens
 WHERE id IN (SELECT t.id
                FROM tokens t
               WHERE t.expires_at < now() - INTERVAL '1 day'
               ORDER BY t.expires_at
               LIMIT $1)`

// DeleteExpiredTokens takes away tokens that expired long ago.
func (tx *Tx) DeleteExpiredTokens(ctx context.Context) (n int64, more bool, err error) {
	return tx.removeSome(ctx, sqlDeleteExpiredTokens)
}

const sqlTouchTokens = `
UPDATE tokens
   SET last_used_at = now()
 WHERE id = ANY($1)`

// TouchTokens notes that tokens were used just now.
func (tx *Tx) TouchTokens(ctx context.Context, ids []uuid.UUID) error {
	_, err := tx.Exec(ctx, sqlTouchTokens, ids)
	return err
}
