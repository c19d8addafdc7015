package noun

import (
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var event = shape.Noun[api.Event, api.EventFilter]{
	Name: "event", Plural: "events", Help: "Who did what, newest first",
	Columns: []show.Column[api.Event]{
		{Header: "AT", Value: func(e api.Event) string { return e.At.UTC().Format(time.RFC3339) }},
		{Header: "ACTOR", Value: func(e api.Event) string { return e.Actor }},
		{Header: "ACTION", Value: func(e api.Event) string { return e.Action }},
		{Header: "KIND", Value: func(e api.Event) string { return e.ObjectKind }},
		{Header: "OBJECT", Value: func(e api.Event) string { return e.Object }},
		{Header: "JOB", Value: func(e api.Event) string { return e.JobID }},
	},
	ID:   func(e api.Event) string { return e.ID },
	List: shape.List("list-events", (*client.Client).AllEvents),
}
