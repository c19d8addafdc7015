package shape

import (
	"context"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/show"
)

// EventColumns are the columns of audit events.
var EventColumns = []show.Column[api.Event]{
	{Header: "AT", Value: func(e api.Event) string { return e.At.UTC().Format(time.RFC3339) }},
	{Header: "ACTOR", Value: func(e api.Event) string { return e.Actor }},
	{Header: "ACTION", Value: func(e api.Event) string { return e.Action }},
	{Header: "KIND", Value: func(e api.Event) string { return e.ObjectKind }},
	{Header: "OBJECT", Value: func(e api.Event) string { return e.Object }},
	{Header: "JOB", Value: func(e api.Event) string { return e.JobID }},
}

// EventsIn says which list of audit events an object's are in.
type EventsIn int

// Where events of objects are listed.
const (
	Nowhere        EventsIn = iota
	InWorkspace             // of the workspace that the context names
	InOrganization          // of the organization of that workspace
	InInstallation          // of what is in no organization
)

func (in EventsIn) list() (route string, all func(*client.Client, context.Context, api.EventFilter) iter.Seq2[api.Event, error]) {
	switch in {
	case InOrganization:
		return "list-organization-events", (*client.Client).AllOrganizationEvents
	case InInstallation:
		return "list-installation-events", (*client.Client).AllInstallationEvents
	default:
		return "list-events", (*client.Client).AllEvents
	}
}

// eventsCommand lists the events of one object.
func (n Noun[T, F]) eventsCommand(a *App) *cobra.Command {
	route, all := n.Events.list()
	cmd := Calls(&cobra.Command{
		Use: "events " + n.argument(), Short: "Show who did what with one " + n.Name + ", newest first",
		Args: Exactly(n.argument()), ValidArgsFunction: n.complete(a),
	}, route)
	pages := addPaging(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := a.Client()
		if err != nil {
			return err
		}
		item, err := n.Resolve(cmd.Context(), c, args[0])
		if err != nil {
			return err
		}
		f := api.EventFilter{Object: n.ID(item)}
		events, err := listed(a, pages, &f, func() iter.Seq2[api.Event, error] { return all(c, cmd.Context(), f) })
		if err != nil {
			return err
		}
		return PrintList(a, "events", EventColumns, events, pages.headers())
	}
	return cmd
}
