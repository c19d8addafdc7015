package api

import (
	"net/http"
	"time"
)

// Drift is one promise of a host or a unit that does not hold, from when it was seen until it holds again.
type Drift struct {
	ID          string      `json:"id" format:"uuid"`
	Workspace   string      `json:"workspace"`
	HostID      string      `json:"host_id" format:"uuid"`
	Host        string      `json:"host" doc:"name of the host"`
	UnitID      string      `json:"unit_id,omitempty" doc:"absent for a promise of the host itself"`
	Name        string      `json:"name" doc:"of the unit, or of the host"`
	Promise     string      `json:"promise" doc:"a permanent word, such as memory or nftables"`
	Promised    string      `json:"promised" doc:"by the rows of the control plane, as fact=value; ..."`
	Found       string      `json:"found" doc:"by the word of the host's agent, as fact=value; ..."`
	State       string      `json:"state" enum:"open,repairing,given_up,accepted,ended"`
	StateMeans  string      `json:"state_means"`
	Message     string      `json:"message,omitempty" doc:"why it is in this state"`
	Since       time.Time   `json:"since" doc:"when it was seen first"`
	EndedAt     *time.Time  `json:"ended_at,omitempty" doc:"when it was as promised again"`
	JobID       string      `json:"job_id,omitempty" doc:"of the last repair"`
	RepairedAt  *time.Time  `json:"repaired_at,omitempty" doc:"when the last repair was asked for"`
	Repairs     int64       `json:"repairs" doc:"how often a repair was asked for"`
	AcceptedBy  string      `json:"accepted_by,omitempty" doc:"name of who accepted it"`
	AcceptUntil *time.Time  `json:"accept_until,omitempty" doc:"until when it is accepted"`
	Operations  []Operation `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	Version     int64       `json:"version" doc:"also the ETag"`
}

// DriftFilter narrows a list of drifts.
type DriftFilter struct {
	PageQuery
	Host    string `query:"host" maxLength:"64" doc:"id or name of a host"`
	Unit    string `query:"unit" maxLength:"80" doc:"id or name of a unit"`
	State   string `query:"state" enum:"open,repairing,given_up,accepted,ended" doc:"without it, all that have not ended"`
	Promise string `query:"promise" maxLength:"40" doc:"only of this promise, such as memory"`
}

// AcceptDrift says that a drift may stay as it is for some time.
type AcceptDrift struct {
	Reason string `json:"reason" minLength:"1" maxLength:"200" doc:"shown with the drift"`
	Hours  int64  `json:"hours" minimum:"1" maximum:"8760" doc:"for how long; the drift is open again then"`
}

// DriftMode is what is done about drift of a workspace, a host or a unit. The closest one counts; without any, drift is observed.
type DriftMode struct {
	Scope       string    `json:"scope" enum:"workspace,host,unit" doc:"what it is set for"`
	ScopeID     string    `json:"scope_id" format:"uuid" doc:"id of the workspace, the host or the unit"`
	Name        string    `json:"name" doc:"of the workspace, the host or the unit"`
	Mode        string    `json:"mode" enum:"observe,repair,window" doc:"window: repair in a maintenance window"`
	WindowDay   string    `json:"window_day,omitempty" enum:",mon,tue,wed,thu,fri,sat,sun" doc:"absent for each day"`
	WindowFrom  int64     `json:"window_from" doc:"hour, UTC"`
	WindowHours int64     `json:"window_hours" doc:"how long the window is open"`
	UpdatedBy   string    `json:"updated_by" doc:"name of who set it"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// DriftModeFilter narrows a list of modes.
type DriftModeFilter struct {
	Scope string `query:"scope" enum:"workspace,host,unit" doc:"only modes of such scopes"`
}

// SetDriftMode says what is done about drift.
type SetDriftMode struct {
	Scope       string `json:"scope" enum:"workspace,host,unit" doc:"workspace: the one that the request is in"`
	Name        string `json:"name,omitempty" maxLength:"80" doc:"id or name of the host or the unit"`
	Mode        string `json:"mode" enum:"observe,repair,window" doc:"window: repair in a maintenance window"`
	WindowDay   string `json:"window_day,omitempty" enum:"mon,tue,wed,thu,fri,sat,sun" doc:"absent for each day"`
	WindowFrom  int64  `json:"window_from,omitempty" minimum:"0" maximum:"23" doc:"hour, UTC"`
	WindowHours int64  `json:"window_hours,omitempty" minimum:"1" maximum:"24" default:"24" doc:"how long the window is open"`
}

var _ = addRoutes(
	Route{"list-drifts", http.MethodGet, "/drifts", "project.workspace.drift:read", "drift", "List what is not as promised", false},
	Route{"get-drift", http.MethodGet, "/drifts/{id}", "project.workspace.drift:read", "drift", "Show a drift", false},
	Route{"accept-drift", http.MethodPost, "/drifts/{id}/accept", "project.workspace.drift:update", "drift", "Accept a drift until a time, with a reason", false},
	Route{"repair-drift", http.MethodPost, "/drifts/{id}/repair", "project.workspace.drift:repair", "drift", "Run the job that puts a drift right", true},
	Route{"list-drift-modes", http.MethodGet, "/drift-modes", "project.workspace.drift:read", "drift", "List what is done about drift", false},
	Route{"set-drift-mode", http.MethodPost, "/drift-modes", "project.workspace.drift:update", "drift", "Say what is done about drift", false},
)
