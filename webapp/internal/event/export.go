package event

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
)

// export sends the events that a filter lets through as a file, newest first:
// CSV, or a JSON object a line.
func export(r *page.Request) error {
	f := filterOf(r)
	f.Sort, f.Limit = r.Query("sort"), page.ExportPage
	of := trailOf(r)
	first, err := of.list(r.API, r.Ctx, f)
	if err != nil {
		return err
	}
	speaker := r.API
	more := func(ctx context.Context, cursor string) (api.Page[api.Event], error) {
		f.Cursor = cursor
		return of.list(speaker, ctx, f)
	}
	if r.Query("format") == "csv" {
		return page.SendList(r, "events.csv", "text/csv", first, more, commaSeparated)
	}
	return page.SendList(r, "events.jsonl", "application/jsonl", first, more, jsonLines)
}

func jsonLines(w io.Writer) page.Rows[api.Event] {
	out := json.NewEncoder(w)
	return page.Rows[api.Event]{
		Write: func(e api.Event) error { return out.Encode(e) },
		End: func(note string) error {
			if note == "" {
				return nil
			}
			return out.Encode(map[string]string{"export": note})
		},
	}
}

func commaSeparated(w io.Writer) page.Rows[api.Event] {
	return page.Table(w, func(e api.Event) []string {
		return []string{
			e.At.UTC().Format(time.RFC3339Nano), e.ActorKind, e.Actor, e.Client, e.Action, e.ObjectKind, e.ObjectID, e.Object, e.JobID, e.RequestID, string(e.Before), string(e.After),
		}
	}, "at", "actor_kind", "actor", "client", "action", "object_kind", "object_id", "object", "job_id", "request_id", "before", "after")
}
