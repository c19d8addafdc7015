package api

import "time"

// Queue is how the queue of jobs stands, in the whole installation.
type Queue struct {
	Paused              bool       `json:"paused" doc:"whether the queue is paused: queued jobs do not start, running jobs continue"`
	PausedAt            *time.Time `json:"paused_at,omitempty"`
	PausedBy            string     `json:"paused_by,omitempty"`
	Reason              string     `json:"reason,omitempty"`
	Queued              int64      `json:"queued" doc:"jobs that a worker may start now; counted up to 100,000"`
	Delayed             int64      `json:"delayed" doc:"jobs that wait for their next attempt"`
	Running             int64      `json:"running"`
	Cancelling          int64      `json:"cancelling"`
	OldestQueuedSeconds float64    `json:"oldest_queued_seconds" doc:"waiting time of the oldest job that a worker may start now"`
}

// PauseQueue asks for a pause.
type PauseQueue struct {
	Reason string `json:"reason" minLength:"1" maxLength:"500" doc:"shown to everyone who waits for a job"`
}
