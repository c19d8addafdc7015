package api

import "time"

// Queue is how the queue of jobs stands, in the whole installation.
type Queue struct {
	Paused              bool       `json:"paused" doc:"no queued job is begun; what runs goes on"`
	PausedAt            *time.Time `json:"paused_at,omitempty"`
	PausedBy            string     `json:"paused_by,omitempty"`
	Reason              string     `json:"reason,omitempty"`
	Queued              int64      `json:"queued" doc:"jobs that a worker may begin; at most 100,000 are counted"`
	Delayed             int64      `json:"delayed" doc:"queued for a later try"`
	Running             int64      `json:"running"`
	Cancelling          int64      `json:"cancelling"`
	OldestQueuedSeconds float64    `json:"oldest_queued_seconds" doc:"how long the oldest of those that a worker may begin has waited"`
}

// PauseQueue asks for a pause.
type PauseQueue struct {
	Reason string `json:"reason" minLength:"1" maxLength:"500" doc:"shown to everyone who waits for a job"`
}
