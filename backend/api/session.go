package api

import "time"

// Login asks for a session.
type Login struct {
	Account  string `json:"account" maxLength:"64"`
	Password string `json:"password" maxLength:"1024"`
}

// Session is a login; the token is shown once.
type Session struct {
	ID        string    `json:"id" format:"uuid"`
	Account   string    `json:"account"`
	Token     string    `json:"token,omitempty" doc:"bearer token, shown once; none if a code is needed first"`
	Pending   string    `json:"pending,omitempty" doc:"the account has a second factor: send this with a code to /sessions/confirm"`
	ExpiresAt time.Time `json:"expires_at" doc:"of the session, or of the time in which a code is taken"`
}

// Whoami is who a bearer is.
type Whoami struct {
	AccountID    string    `json:"account_id" format:"uuid"`
	Account      string    `json:"account"`
	Role         string    `json:"role" doc:"administrator for the first account, account for every other; permissions tell what the bearer may do"`
	WorkspaceID  string    `json:"workspace_id,omitempty" format:"uuid" doc:"id of the workspace that requests of this bearer are about, if they name none"`
	Workspace    string    `json:"workspace,omitempty" doc:"organization/project/workspace that requests of this bearer are about, if they name none"`
	Permissions  []string  `json:"permissions" nullable:"false" doc:"what the bearer may do in this workspace, or at a higher scope"`
	TokenKind    string    `json:"token_kind" enum:"session,api"`
	TokenID      string    `json:"token_id" format:"uuid"`
	SecondFactor string    `json:"second_factor,omitempty" enum:"code,recovery code,passkey,provider" doc:"what the session was proved with besides a password, or the session that made the token; empty for nothing"`
	ExpiresAt    time.Time `json:"expires_at"`
}

// CreateToken asks for an API token.
type CreateToken struct {
	Name string `json:"name" minLength:"1" maxLength:"64" doc:"what it is for"`
	Days int    `json:"days,omitempty" minimum:"1" maximum:"3650" default:"90" doc:"how long it is valid"`
}

// Token is an API token or a session; its secret is shown once.
type Token struct {
	ID         string     `json:"id" format:"uuid"`
	Kind       string     `json:"kind" enum:"session,api"`
	SessionID  string     `json:"session_id,omitempty" format:"uuid" doc:"the session that made it; revoking that session revokes this token"`
	Name       string     `json:"name"`
	Prefix     string     `json:"prefix" doc:"first characters of the token"`
	Token      string     `json:"token,omitempty" doc:"the secret, shown once"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  time.Time  `json:"expires_at"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`
}

// System is what an operator sees of the installation.
type System struct {
	Version   string    `json:"version"`
	Database  string    `json:"database" doc:"product and version"`
	PublicKey string    `json:"authorized_key" doc:"public key for authorized_keys of the admin user of each host"`
	Backends  []Backend `json:"backends" nullable:"false"`
}

// Backend is one backend process.
type Backend struct {
	ID        string    `json:"id" format:"uuid"`
	Name      string    `json:"name"`
	Version   string    `json:"version"`
	Roles     string    `json:"roles"`
	Slots     *int      `json:"slots,omitempty" doc:"for a worker: maximum number of jobs at a time (KLOIGOS_WORKERS)"`
	Running   int       `json:"running" doc:"number of jobs that it runs now"`
	StartedAt time.Time `json:"started_at"`
	SeenAt    time.Time `json:"seen_at"`
	Alive     bool      `json:"alive" doc:"whether it was seen within the last 30 s"`
}
