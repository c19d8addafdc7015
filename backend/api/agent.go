package api

import (
	"net/http"
	"time"
)

// Agent is a program on a host that tells how the host is. It never changes the host.
type Agent struct {
	ID           string       `json:"id" format:"uuid"`
	Workspace    string       `json:"workspace"`
	HostID       string       `json:"host_id" format:"uuid"`
	Host         string       `json:"host" doc:"name of its host"`
	MachineID    string       `json:"machine_id" doc:"of the machine that enrolled it"`
	State        string       `json:"state" enum:"enrolled,replaced,quarantined,revoked"`
	StateMeans   string       `json:"state_means"`
	Message      string       `json:"message,omitempty" doc:"why it is in this state"`
	Liveness     string       `json:"liveness" enum:"on_time,late,silent,none" doc:"late: no heartbeat for 20 s; silent: none for 60 s; none: not enrolled"`
	ReceivedAt   *time.Time   `json:"received_at,omitempty" doc:"when its last heartbeat came"`
	AgentVersion string       `json:"agent_version,omitempty" doc:"the version that runs"`
	BootID       string       `json:"boot_id,omitempty" doc:"of the host, new with each start"`
	SkewMS       int64        `json:"skew_ms,omitempty" doc:"clock of the host minus ours, in milliseconds"`
	Report       *AgentReport `json:"report,omitempty" doc:"its last report, at most a minute old while it is on time"`
	ReportedAt   *time.Time   `json:"reported_at,omitempty" doc:"when that report came"`
	Causes       []AgentCause `json:"causes" nullable:"false" doc:"what is wrong on the host"`
	ExpiresAt    *time.Time   `json:"expires_at,omitempty" doc:"when its credential expires"`
	Operations   []Operation  `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	Version      int64        `json:"version" doc:"also the ETag"`
	CreatedAt    time.Time    `json:"created_at"`
	UpdatedAt    time.Time    `json:"updated_at"`
}

// AgentCause is one thing that is wrong on a host.
type AgentCause struct {
	Name    string    `json:"name" doc:"a permanent word, such as disk_nearly_full"`
	Message string    `json:"message" doc:"a sentence for people"`
	Next    string    `json:"next" doc:"what to do about it"`
	Since   time.Time `json:"since" doc:"when it began"`
}

// AgentFilter narrows a list of agents.
type AgentFilter struct {
	PageQuery
	Host  string `query:"host" maxLength:"64" doc:"id or name of a host"`
	State string `query:"state" enum:"enrolled,replaced,quarantined,revoked"`
}

// CreateAgentToken asks for a token that enrols the agent of a host.
type CreateAgentToken struct {
	Host    string `json:"host" minLength:"1" maxLength:"64" doc:"id or name of the host"`
	Minutes int    `json:"minutes,omitempty" minimum:"1" maximum:"60" default:"10" doc:"how long the token is valid"`
}

// AgentToken enrols one agent on one host, once.
type AgentToken struct {
	ID        string    `json:"id" format:"uuid"`
	HostID    string    `json:"host_id" format:"uuid"`
	Host      string    `json:"host" doc:"name of the host"`
	Token     string    `json:"token" doc:"shown once: put it into the file token of the agent's state folder. A repeated request with the same key is not answered with it."`
	ExpiresAt time.Time `json:"expires_at"`
}

// QuarantineAgent takes an agent out of use until somebody has looked at it.
type QuarantineAgent struct {
	Reason string `json:"reason" minLength:"1" maxLength:"200" doc:"shown with the agent"`
}

var _ = addRoutes(
	Route{"list-agents", http.MethodGet, "/agents", "project.workspace.agent:read", "agents", "List agents", false},
	Route{"get-agent", http.MethodGet, "/agents/{id}", "project.workspace.agent:read", "agents", "Show an agent with its last report", false},
	Route{"create-agent-token", http.MethodPost, "/agent-tokens", "project.workspace.agent:create", "agents", "Make a token that enrols the agent of a host, once", false},
	Route{"revoke-agent", http.MethodPost, "/agents/{id}/revoke", "project.workspace.agent:revoke", "agents", "Revoke an agent; its credential is refused from now on", false},
	Route{"quarantine-agent", http.MethodPost, "/agents/{id}/quarantine", "project.workspace.agent:update", "agents", "Take no more heartbeats of an agent until it is released", false},
	Route{"release-agent", http.MethodPost, "/agents/{id}/release", "project.workspace.agent:update", "agents", "Release an agent from quarantine", false},
)
