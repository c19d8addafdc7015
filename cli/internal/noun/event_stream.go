package noun

import (
	"strconv"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var streamColumns = []show.Column[api.EventStream]{
	{Header: "NAME", Value: func(s api.EventStream) string { return s.Name }},
	{Header: "TYPE", Value: func(s api.EventStream) string { return s.Type }},
	{Header: "ENABLED", Value: func(s api.EventStream) string { return strconv.FormatBool(s.Enabled) }},
	{Header: "RECEIVER", Value: func(s api.EventStream) string { return s.URL + s.Server }},
	{Header: "SENT", Value: func(s api.EventStream) string { return strconv.FormatInt(s.Sent, 10) }},
	{Header: "ID", Value: func(s api.EventStream) string { return s.ID }},
}

func streamID(s api.EventStream) string                  { return s.ID }
func streamName(s api.EventStream) string                { return s.Name }
func streamVersion(s api.EventStream) int64              { return s.Version }
func streamOperations(s api.EventStream) []api.Operation { return s.Operations }

var eventStream = shape.Noun[api.EventStream, api.EventStreamFilter]{
	Name: "event-stream", Plural: "event streams", Help: "Where the events of an organization go: webhooks, and syslog over TLS",
	Columns: streamColumns, ID: streamID, Label: streamName, Version: streamVersion, Events: shape.InOrganization, Operations: streamOperations,
	List: shape.List("list-event-streams", (*client.Client).AllEventStreams),
	Get:  shape.Get("get-event-stream", (*client.Client).GetEventStream),
	Actions: []shape.Action{
		shape.Create("create-event-stream", "name", (*client.Client).CreateEventStream).FromFile("secret", "authority"),
		shape.Change("change-event-stream", (*client.Client).ChangeEventStream).FromFile("secret", "authority"),
		shape.Delete("delete-event-stream", (*client.Client).DeleteEventStream),
	},
}

var installationStream = shape.Noun[api.EventStream, struct{}]{
	Name: "installation-event-stream", Plural: "event streams", Help: "Where the events that are in no organization go, for operators",
	Columns: streamColumns, ID: streamID, Label: streamName, Version: streamVersion, Events: shape.InInstallation, Operations: streamOperations,
	List: shape.List("list-installation-streams", (*client.Client).AllInstallationStreams),
	Get:  shape.Get("get-installation-stream", (*client.Client).GetInstallationStream),
	Actions: []shape.Action{
		shape.Create("create-installation-stream", "name", (*client.Client).CreateInstallationStream).FromFile("secret", "authority"),
		shape.Change("change-installation-stream", (*client.Client).ChangeInstallationStream).FromFile("secret", "authority"),
		shape.Delete("delete-installation-stream", (*client.Client).DeleteInstallationStream),
	},
}
