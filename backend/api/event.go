package api

import (
	"encoding/json"
	"time"
)

// Event is one audit record.
type Event struct {
	ID         string          `json:"id" format:"uuid"`
	At         time.Time       `json:"at"`
	Workspace  string          `json:"workspace"`
	ActorKind  string          `json:"actor_kind" enum:"account,backend,policy,init"`
	Actor      string          `json:"actor" doc:"name of who did it"`
	Client     string          `json:"client,omitempty" doc:"address of the client"`
	RequestID  string          `json:"request_id,omitempty"`
	Action     string          `json:"action" doc:"host.register, allocation.create, ..."`
	ObjectKind string          `json:"object_kind"`
	ObjectID   string          `json:"object_id,omitempty"`
	Object     string          `json:"object,omitempty" doc:"name of the object"`
	JobID      string          `json:"job_id,omitempty"`
	Before     json.RawMessage `json:"before,omitempty" doc:"the changed fields, before the change"`
	After      json.RawMessage `json:"after,omitempty" doc:"the changed fields, after the change"`
}

// EventFilter narrows a list of events.
type EventFilter struct {
	PageQuery
	Object     string `query:"object" maxLength:"64" doc:"id of the object, or its name at the time of the event"`
	ObjectKind string `query:"object_kind" maxLength:"32" doc:"host, unit, allocation, ..."`
	Action     string `query:"action" maxLength:"64" doc:"host.register, allocation.create, ..."`
	Actor      string `query:"actor" maxLength:"64" doc:"name of who did it"`
	Since      string `query:"since" maxLength:"40" format:"date-time" doc:"events at this time or later"`
	Until      string `query:"until" maxLength:"40" format:"date-time" doc:"events earlier than this time"`
}
