package api

import (
	"encoding/json"
	"net/http"
	"time"
)

// Passkey is a key of a device with which its owner logs in without a password.
type Passkey struct {
	ID         string     `json:"id" format:"uuid"`
	Name       string     `json:"name" doc:"which device it is"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`
}

// PasskeyChallenge is what a device is asked. It is valid for 5 minutes, once.
type PasskeyChallenge struct {
	Challenge string          `json:"challenge" doc:"send it back with what the device answers"`
	Options   json.RawMessage `json:"options" doc:"for navigator.credentials, with binary values in base64url (WebAuthn)"`
}

// CreatePasskey is what a device answers to a challenge for a new passkey.
type CreatePasskey struct {
	Name       string          `json:"name" minLength:"1" maxLength:"64" doc:"which device it is"`
	Challenge  string          `json:"challenge" minLength:"1" maxLength:"4096" doc:"as it was given"`
	Credential json.RawMessage `json:"credential" doc:"PublicKeyCredential, with binary values in base64url (WebAuthn)"`
}

// PasskeyLogin is what a device answers to a challenge for a login.
type PasskeyLogin struct {
	Challenge  string          `json:"challenge" minLength:"1" maxLength:"4096" doc:"as it was given"`
	Credential json.RawMessage `json:"credential" doc:"PublicKeyCredential, with binary values in base64url (WebAuthn)"`
}

var _ = addRoutes(
	Route{"list-passkeys", http.MethodGet, "/passkeys", Own, "accounts", "List your passkeys", false},
	Route{"begin-passkey", http.MethodPost, "/passkeys/challenge", Own, "accounts", "Ask for a challenge for a new passkey", false},
	Route{"create-passkey", http.MethodPost, "/passkeys", Own, "accounts", "Add a passkey", false},
	Route{"delete-passkey", http.MethodDelete, "/passkeys/{id}", Own, "accounts", "Remove a passkey of yours", false},
	Route{"begin-passkey-login", http.MethodPost, "/sessions/passkey/challenge", "", "accounts", "Ask for a challenge to log in with a passkey", false},
	Route{"create-passkey-session", http.MethodPost, "/sessions/passkey", "", "accounts", "Log in with a passkey", false},
)
