package noun

import (
	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
)

var event = shape.Noun[api.Event, api.EventFilter]{
	Name: "event", Plural: "events", Help: "Who did what, newest first",
	Columns: shape.EventColumns,
	ID:      func(e api.Event) string { return e.ID },
	List:    shape.List("list-events", (*client.Client).AllEvents),
}
