package event

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"time"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
)

const (
	exportPage = 500     // events in memory
	exportMost = 100_000 // events of one file
	exportTime = 10 * time.Minute
)

// export sends the events that a filter lets through as a file, newest first:
// CSV, or a JSON object a line.
func export(a *page.App) fiber.Handler {
	return a.Page(func(r *page.Request) error {
		f := filterOf(r)
		f.Sort, f.Limit = r.Query("sort"), exportPage
		of := trailOf(r)
		firstPage, err := of.list(r.API, r.Ctx, f)
		if err != nil {
			return err
		}
		name, contentType, make := "events.jsonl", "application/jsonl; charset=utf-8", jsonLines
		if r.Query("format") == "csv" {
			name, contentType, make = "events.csv", "text/csv; charset=utf-8", commaSeparated
		}
		speaker, c := r.API, r.C
		c.Set(fiber.HeaderContentType, contentType)
		c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+name+`"`)
		c.Set(fiber.HeaderCacheControl, "no-store")
		page.Stream(c, func(w *bufio.Writer) {
			ctx, cancel := context.WithTimeout(a.Closing, exportTime)
			defer cancel()
			writeAll(ctx, speaker, of, f, firstPage, make(w))
			_ = w.Flush() // to a client that has left: nobody is there to be told
		})
		return nil
	})
}

// form is a way to write events into a file.
type form struct {
	event func(api.Event) error
	end   func(note string) error // flushes; a note says why the file is not whole
}

func writeAll(ctx context.Context, speaker *client.Client, of trail, f api.EventFilter, some api.Page[api.Event], to form) {
	for written := 0; ; {
		for _, e := range some.Items {
			if written == exportMost {
				_ = to.end("cut off after 100,000 events; choose a shorter time")
				return
			}
			if to.event(e) != nil {
				return
			}
			written++
		}
		if f.Cursor = some.NextCursor; f.Cursor == "" {
			_ = to.end("")
			return
		}
		var err error
		one, cancel := context.WithTimeout(ctx, page.Patience)
		some, err = of.list(speaker, one, f)
		cancel()
		if err != nil {
			_ = to.end("cut off: the rest could not be read; export it again")
			return
		}
	}
}

func jsonLines(w io.Writer) form {
	out := json.NewEncoder(w)
	return form{
		event: func(e api.Event) error { return out.Encode(e) },
		end: func(note string) error {
			if note == "" {
				return nil
			}
			return out.Encode(map[string]string{"export": note})
		},
	}
}

func commaSeparated(w io.Writer) form {
	out := csv.NewWriter(w)
	row := page.Row(out)
	_ = out.Write([]string{"at", "actor_kind", "actor", "client", "action", "object_kind", "object_id", "object", "job_id", "request_id", "before", "after"})
	return form{
		event: func(e api.Event) error {
			return row(e.At.UTC().Format(time.RFC3339Nano), e.ActorKind, e.Actor, e.Client, e.Action, e.ObjectKind, e.ObjectID, e.Object, e.JobID, e.RequestID, string(e.Before), string(e.After))
		},
		end: func(note string) error {
			if note != "" {
				_ = row("", "", "", "", note)
			}
			out.Flush()
			return out.Error()
		},
	}
}
