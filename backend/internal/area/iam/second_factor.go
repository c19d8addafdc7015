package iam

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"

	"kloigos/backend/internal/kernel/fault"
)

const (
	// codeSeconds is how long a code is shown, codeSkew how many steps a clock may be off, either way.
	codeSeconds, codeSkew = 30, 1
	recoveryCodes         = 10
	recoveryBytes         = 10 // 80 random bits: nobody guesses them, so that a plain hash is enough to store
	pendingLifetime       = 5 * time.Minute
	pendingTries          = 5 // wrong codes after which the password is asked for again
)

// SessionLifetime is how long a login lasts.
const SessionLifetime = 24 * time.Hour

// codeForm is what all authenticator apps know: 6 digits, SHA-1 (RFC 6238).
var codeForm = hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}

// SecondFactor is one row of second_factors.
type SecondFactor struct {
	AccountID    uuid.UUID  `db:"account_id"`
	SecretSealed []byte     `db:"secret_sealed"`
	ConfirmedAt  *time.Time `db:"confirmed_at"`
	LastStep     int64      `db:"last_step"`
	CreatedAt    time.Time  `db:"created_at"`
	Recovery     int64      `db:"recovery"` // codes that are left
}

// Confirmed tells whether logins ask for a code.
func (f SecondFactor) Confirmed() bool { return f.ConfirmedAt != nil }

// sealedAs is what the secret is bound to.
func (f SecondFactor) sealedAs() string { return "second_factors/" + f.AccountID.String() }

var base32Text = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewCodeSecret makes the secret that codes are computed from: 160 bits, as RFC 4226 has it.
func NewCodeSecret() string {
	raw := make([]byte, 20)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return base32Text.EncodeToString(raw)
}

// CodeURI is what an authenticator app reads out of a QR code.
func CodeURI(account, secret string) string {
	q := url.Values{"secret": {secret}, "issuer": {"Kloigos"}}
	return "otpauth://totp/" + url.PathEscape("Kloigos:"+account) + "?" + q.Encode()
}

// stepOf finds the time step that a code is of, around a time.
func stepOf(secret, code string, now time.Time) (step int64, ok bool) {
	at := now.Unix() / codeSeconds
	for _, step := range []int64{at, at - codeSkew, at + codeSkew} {
		if good, err := hotp.ValidateCustom(code, uint64(step), secret, codeForm); err == nil && good { // after 1970
			return step, true
		}
	}
	return 0, false
}

// NewRecoveryCodes makes the codes for whoever lost the device.
func NewRecoveryCodes() []string {
	codes := make([]string, recoveryCodes)
	for i := range codes {
		raw := make([]byte, recoveryBytes)
		_, _ = rand.Read(raw) // never fails (crypto/rand)
		t := strings.ToLower(base32Text.EncodeToString(raw))
		codes[i] = t[:4] + "-" + t[4:8] + "-" + t[8:12] + "-" + t[12:]
	}
	return codes
}

// hashOfRecovery is what is stored of a recovery code; nil if the text can be none.
func hashOfRecovery(account uuid.UUID, code string) []byte {
	raw, err := base32Text.DecodeString(strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code)))
	if err != nil || len(raw) != recoveryBytes {
		return nil
	}
	sum := sha256.Sum256(append(account[:], raw...))
	return sum[:]
}

// digits is a code as it is computed: people type spaces into it.
func digits(code string) string { return strings.ReplaceAll(strings.TrimSpace(code), " ", "") }

func badCode() error {
	var bad fault.Invalid
	bad.Add("code", "This code is wrong or was used before. A new one is shown every %d seconds.", codeSeconds)
	return bad.OrNil()
}

func noSecondFactor() error {
	return fault.Conflictf("no_second_factor", "The account has no second factor.")
}

// PendingLogin is a login that waits for a code.
type PendingLogin struct {
	ID        uuid.UUID `db:"id"`
	AccountID uuid.UUID `db:"account_id"`
	Account   string    `db:"account"`
	Tries     int64     `db:"tries"`
	ExpiresAt time.Time `db:"expires_at"`
	Secret    string    `db:"-"` // shown once
}

// Session is a login that was just made; the secret is shown once.
type Session struct {
	ID        uuid.UUID
	Account   string
	Secret    string
	ExpiresAt time.Time
}

// loginHash is under what failed logins of a name are counted.
func loginHash(account string) []byte {
	sum := sha256.Sum256([]byte(account))
	return sum[:]
}

func codesLeft(n int64) map[string]any { return map[string]any{"recovery_codes": fmt.Sprint(n)} }
