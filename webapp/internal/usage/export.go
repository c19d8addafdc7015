package usage

import (
	"bufio"
	"context"
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
)

const (
	exportPage = 500     // lines in memory
	exportMost = 100_000 // lines of one file
	exportTime = 10 * time.Minute
)

func asFile(c *fiber.Ctx, name string) {
	c.Set(fiber.HeaderContentType, "text/csv; charset=utf-8")
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+name+`"`)
	c.Set(fiber.HeaderCacheControl, "no-store")
}

// export sends the usage of a period as CSV.
func export(a *page.App) fiber.Handler {
	return a.Page(func(r *page.Request) error {
		p := periodOf(r)
		some, err := r.API.ListUsage(r.Ctx, p.filter("", exportPage))
		if err != nil {
			return err
		}
		speaker := r.API
		asFile(r.C, "usage.csv")
		page.Stream(r.C, func(w *bufio.Writer) {
			ctx, cancel := context.WithTimeout(a.Closing, exportTime)
			defer cancel()
			writeUsage(ctx, speaker, p, some, w)
			_ = w.Flush() // to a client that has left: nobody is there to be told
		})
		return nil
	})
}

func writeUsage(ctx context.Context, speaker *client.Client, p period, some api.Page[api.UsageLine], w io.Writer) {
	out := csv.NewWriter(w)
	defer out.Flush()
	row := page.Row(out)
	_ = row("day", "project", "workspace", "allocation_id", "name", "cpu_count", "memory_bytes", "volume_bytes", "seconds")
	for written := 0; ; {
		for _, l := range some.Items {
			if written == exportMost {
				_ = row("cut off after 100,000 lines; choose a shorter time")
				return
			}
			err := row(l.Day, l.Project, l.Workspace, l.AllocationID, l.Name, strconv.FormatInt(l.CPUCount, 10), strconv.FormatInt(l.MemoryBytes, 10),
				strconv.FormatInt(l.VolumeBytes, 10), strconv.FormatFloat(l.Seconds, 'f', -1, 64))
			if err != nil {
				return
			}
			written++
		}
		if some.NextCursor == "" {
			return
		}
		one, cancel := context.WithTimeout(ctx, page.Patience)
		more, err := speaker.ListUsage(one, p.filter(some.NextCursor, exportPage))
		cancel()
		if err != nil {
			_ = row("cut off: the rest could not be read; export it again")
			return
		}
		some = more
	}
}

// statementFile sends a statement as CSV.
func statementFile(r *page.Request) error {
	s, err := r.API.GetStatement(r.Ctx, api.StatementFilter{Organization: r.Query("organization"), Month: r.Query("month")})
	if err != nil {
		return err
	}
	asFile(r.C, "statement-"+s.Month+".csv")
	out := csv.NewWriter(r.C)
	row := page.Row(out)
	_ = row("project", "workspace", "resource", "quantity", "price", "currency", "cost")
	for _, l := range s.Lines {
		if err := row(l.Project, l.Workspace, l.Resource, l.Quantity, l.Price, l.Currency, l.Cost); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
