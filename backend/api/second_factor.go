package api

import (
	"net/http"
	"time"
)

// ConfirmSession shows the code of a login that waits for one.
type ConfirmSession struct {
	Pending string `json:"pending" minLength:"1" maxLength:"128" doc:"the secret of the pending login"`
	Code    string `json:"code" minLength:"1" maxLength:"64" doc:"6 digits of the authenticator app, or a recovery code"`
}

// SecondFactor is the second factor of one's own account.
type SecondFactor struct {
	State         string     `json:"state" enum:"none,unconfirmed,confirmed" doc:"logins ask for a code if it is confirmed"`
	RecoveryCodes int        `json:"recovery_codes" doc:"number of recovery codes that are left"`
	CreatedAt     *time.Time `json:"created_at,omitempty"`
	ConfirmedAt   *time.Time `json:"confirmed_at,omitempty" doc:"when the first code was shown"`
}

// ProvePassword shows the present password again.
type ProvePassword struct {
	Password string `json:"password" minLength:"1" maxLength:"1024" doc:"the present one"`
}

// SecondFactorSecret is what an authenticator app is given. It is shown once.
type SecondFactorSecret struct {
	Secret string `json:"secret" doc:"base32, to be typed into an authenticator app"`
	URI    string `json:"uri" doc:"the same as a QR code has it (otpauth)"`
}

// ConfirmSecondFactor shows the first code.
type ConfirmSecondFactor struct {
	Code string `json:"code" minLength:"1" maxLength:"64" doc:"6 digits of the authenticator app"`
}

// RecoveryCodes are for whoever lost the device. They are shown once; each works once.
type RecoveryCodes struct {
	Codes []string `json:"codes" nullable:"false" doc:"each works once, in the place of a code"`
}

var _ = addRoutes(
	Route{"confirm-session", http.MethodPost, "/sessions/confirm", "", "accounts", "End a login that waits for a code", false},
	Route{"get-second-factor", http.MethodGet, "/second-factor", Own, "accounts", "Show whether your logins ask for a code", false},
	Route{"enrol-second-factor", http.MethodPost, "/second-factor", Own, "accounts", "Begin a second factor; the answer has its secret", false},
	Route{"confirm-second-factor", http.MethodPost, "/second-factor/confirm", Own, "accounts", "Confirm your second factor with a code; the answer has recovery codes", false},
	Route{"renew-recovery-codes", http.MethodPost, "/second-factor/recovery-codes", Own, "accounts", "Replace your recovery codes", false},
	Route{"remove-second-factor", http.MethodPost, "/second-factor/remove", Own, "accounts", "Remove your second factor", false},
	Route{"reset-second-factor", http.MethodPost, "/accounts/{id}/reset-second-factor", "installation.account:update", "accounts", "Remove the second factor of a person who lost it", false},
	Route{"list-account-events", http.MethodGet, "/account-events", Own, "accounts", "List what happened to your account last", false},
)
