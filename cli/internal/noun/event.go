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

var organizationEvent = shape.Noun[api.Event, api.EventFilter]{
	Name: "organization-event", Plural: "organization-events", Help: "Who did what in the whole organization, newest first",
	Columns: shape.EventColumns,
	ID:      func(e api.Event) string { return e.ID },
	List:    shape.List("list-organization-events", (*client.Client).AllOrganizationEvents),
}

var installationEvent = shape.Noun[api.Event, api.EventFilter]{
	Name: "installation-event", Plural: "installation-events", Help: "Who did what outside of organizations, newest first",
	Columns: shape.EventColumns,
	ID:      func(e api.Event) string { return e.ID },
	List:    shape.List("list-installation-events", (*client.Client).AllInstallationEvents),
}
