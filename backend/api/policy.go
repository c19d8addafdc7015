package api

import "time"

// Policy is a reconciliation policy and how it stands.
type Policy struct {
	ID              string       `json:"id" format:"uuid" doc:"under which the conditions of the policy itself stand, with the noun policy"`
	Name            string       `json:"name"`
	Why             string       `json:"why" doc:"what would happen without it"`
	Noun            string       `json:"noun,omitempty" doc:"what it looks at, one object a run; empty for a policy about the whole installation"`
	IntervalSeconds int64        `json:"interval_seconds" doc:"from the end of a run to the next one; a change may start it earlier"`
	TimeoutSeconds  int64        `json:"timeout_seconds" doc:"of one run"`
	Triggers        []string     `json:"triggers" nullable:"false" doc:"nouns whose changes make it due at once"`
	Observes        bool         `json:"observes" doc:"it has a mode that looks and changes nothing"`
	Items           int64        `json:"items" doc:"objects that it looks at; at most 10,000 are counted"`
	Failing         int64        `json:"failing" doc:"of these, whose last run failed; at most 10,000 are counted"`
	Running         bool         `json:"running" doc:"a run is under way: of the installation, or of the list of its objects"`
	LastStartedAt   *time.Time   `json:"last_started_at,omitempty" doc:"when the last run began"`
	LastEndedAt     *time.Time   `json:"last_ended_at,omitempty" doc:"when the last run ended"`
	LastOutcome     string       `json:"last_outcome" enum:",ok,changed,observed,failed" doc:"of the last run; empty before the first"`
	LastChanged     int64        `json:"last_changed" doc:"how many things the last run changed"`
	LastError       string       `json:"last_error,omitempty" doc:"why the last run failed"`
	NextDueAt       *time.Time   `json:"next_due_at,omitempty" doc:"when the next object is due"`
	LagSeconds      float64      `json:"lag_seconds" doc:"how long the oldest due object has waited"`
	Pause           *PolicyPause `json:"pause,omitempty" doc:"of the whole policy"`
	Conditions      []Condition  `json:"conditions,omitempty" doc:"of the policy itself; only where one policy is shown"`
}

// Policies is the registry of policies.
type Policies struct {
	Page[Policy]
	NotReconciled []NotReconciled `json:"not_reconciled" nullable:"false" doc:"what no policy looks at by itself, with the reason: every noun without a policy, and some parts"`
	Pauses        []PolicyPause   `json:"pauses" nullable:"false" doc:"all pauses that count now, also of single objects"`
}

// NotReconciled is something that no policy looks at.
type NotReconciled struct {
	What string `json:"what" doc:"what no policy looks at"`
	Why  string `json:"why"`
}

// PolicyPause says what is not reconciled for now.
type PolicyPause struct {
	Policy   string     `json:"policy,omitempty" doc:"empty: every policy"`
	ObjectID string     `json:"object_id,omitempty" format:"uuid" doc:"empty: every object of the policy"`
	Mode     string     `json:"mode" enum:"pause,observe" doc:"pause: nothing runs; observe: it looks and changes nothing"`
	PausedAt time.Time  `json:"paused_at"`
	PausedBy string     `json:"paused_by"`
	Reason   string     `json:"reason"`
	Until    *time.Time `json:"until,omitempty" doc:"when it ends by itself"`
}

// PausePolicy pauses a policy, or one object of it.
type PausePolicy struct {
	ObjectID string     `json:"object_id,omitempty" format:"uuid" doc:"only this object"`
	Mode     string     `json:"mode,omitempty" enum:"pause,observe" default:"pause" doc:"observe: look, but change nothing"`
	Reason   string     `json:"reason" minLength:"1" maxLength:"500" doc:"shown to everyone who waits"`
	Until    *time.Time `json:"until,omitempty" doc:"when it ends by itself"`
}

// PauseObject pauses all policies of one object.
type PauseObject struct {
	ObjectID string     `json:"object_id" format:"uuid" doc:"id of the object"`
	Reason   string     `json:"reason" minLength:"1" maxLength:"500" doc:"shown to everyone who waits"`
	Until    *time.Time `json:"until,omitempty" doc:"when it ends by itself"`
}

// OfObject names the object that is meant.
type OfObject struct {
	ObjectID string `json:"object_id,omitempty" format:"uuid" doc:"only this object; else the whole policy"`
}

// ThisObject names an object.
type ThisObject struct {
	ObjectID string `json:"object_id" format:"uuid" doc:"id of the object"`
}

// PolicyItem is one object that a policy looks at.
type PolicyItem struct {
	ObjectID      string     `json:"object_id,omitempty" format:"uuid" doc:"empty: the whole installation, or the list of the policy's objects"`
	DueAt         time.Time  `json:"due_at" doc:"when the next run may begin"`
	Running       bool       `json:"running"`
	Token         int64      `json:"token" doc:"counts requests to run"`
	TokenAnswered int64      `json:"token_answered" doc:"the newest token that a run has answered: one that began after that request and has ended"`
	Failures      int        `json:"failures" doc:"runs that failed in a row"`
	LastStartedAt *time.Time `json:"last_started_at,omitempty" doc:"when the last run began"`
	LastEndedAt   *time.Time `json:"last_ended_at,omitempty" doc:"when the last run ended"`
	LastOutcome   string     `json:"last_outcome" enum:",ok,changed,observed,failed" doc:"of the last run; empty before the first"`
	LastChanged   int64      `json:"last_changed" doc:"how many things the last run changed"`
	LastError     string     `json:"last_error,omitempty" doc:"why the last run failed"`
}

// PolicyItemFilter narrows a list of items.
type PolicyItemFilter struct {
	PageQuery
	Object  string `query:"object" maxLength:"64" doc:"id of the object"`
	Failing bool   `query:"failing" doc:"only those whose last run failed"`
}

// Condition is one property of an object, as a policy found it.
type Condition struct {
	Noun       string            `json:"noun" doc:"of the object: host, unit, policy and so on"`
	ObjectID   string            `json:"object_id" format:"uuid"`
	Type       string            `json:"type" doc:"the property; true where all is well"`
	Status     string            `json:"status" enum:"true,false,progressing,unknown" doc:"progressing: it begins to fail, or is on its way"`
	Reason     string            `json:"reason" doc:"one word, for programs"`
	Message    string            `json:"message"`
	Fault      string            `json:"fault" enum:",user,capacity,provider,dependency,ours" doc:"who can do something about it"`
	RetryHelps bool              `json:"retry_helps" doc:"a retry may help"`
	Flapping   bool              `json:"flapping" doc:"it changed often of late"`
	Since      time.Time         `json:"since" doc:"since when it has this status"`
	ObservedAt time.Time         `json:"observed_at" doc:"when a policy last looked"`
	Policy     string            `json:"policy" doc:"that looked"`
	History    []ConditionChange `json:"history" nullable:"false" doc:"what it was before, newest first; at most 10"`
}

// ConditionChange is what a condition once was.
type ConditionChange struct {
	Status  string    `json:"status" enum:"true,false,progressing,unknown"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Since   time.Time `json:"since" doc:"since when it had this status"`
}

// ConditionFilter names an object, or all that is not true of a noun.
type ConditionFilter struct {
	Noun   string `query:"noun" required:"true" maxLength:"32" doc:"host, unit, policy, ..."`
	Object string `query:"object" maxLength:"64" doc:"id of the object; without it, the first 500 conditions of the noun that are not true"`
}

// ObjectConditionFilter names an object of a workspace.
type ObjectConditionFilter struct {
	Noun   string `query:"noun" required:"true" minLength:"1" maxLength:"32" doc:"host, dns_zone, channel, ..."`
	Object string `query:"object" required:"true" minLength:"36" maxLength:"36" doc:"id of the object"`
}
