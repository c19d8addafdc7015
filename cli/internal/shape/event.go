package shape

import (
	"iter"
	"time"

	"github.com/spf13/cobra"

	"kloigos/backend/api"
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

// eventsCommand lists the events of one object.
func (n Noun[T, F]) eventsCommand(a *App) *cobra.Command {
	cmd := Calls(&cobra.Command{
		Use: "events " + n.argument(), Short: "Show who did what with one " + n.Name + ", newest first",
		Args: Exactly(n.argument()), ValidArgsFunction: n.complete(a),
	}, "list-events")
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
		events, err := listed(a, pages, &f, func() iter.Seq2[api.Event, error] { return c.AllEvents(cmd.Context(), f) })
		if err != nil {
			return err
		}
		return PrintList(a, "events", EventColumns, events, pages.headers())
	}
	return cmd
}
