package page

import (
	"bufio"
	"context"
	"encoding/csv"
	"io"
	"time"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
)

const (
	// ExportPage is how many rows of an export are in memory.
	ExportPage = 500
	exportMost = 100_000 // rows of one file
	exportTime = 10 * time.Minute
)

// Rows is a way to write a list into a file.
type Rows[T any] struct {
	Write func(T) error
	End   func(note string) error // flushes; a note says why the file is not whole
}

// AsFile makes the answer a file to download, which is kept nowhere on the way.
func AsFile(c *fiber.Ctx, name, contentType string) {
	c.Set(fiber.HeaderContentType, contentType+"; charset=utf-8")
	c.Set(fiber.HeaderContentDisposition, `attachment; filename="`+name+`"`)
	c.Set(fiber.HeaderCacheControl, "no-store")
}

// SendList answers with a list as a file: its first page, and what more tells from each cursor on. It ends after 100,000 rows, and
// where a page can't be read; the file says so.
func SendList[T any](r *Request, name, contentType string, first api.Page[T], more func(ctx context.Context, cursor string) (api.Page[T], error), rows func(io.Writer) Rows[T]) error {
	AsFile(r.C, name, contentType)
	closing := r.App().Closing
	Stream(r.C, func(w *bufio.Writer) {
		ctx, cancel := context.WithTimeout(closing, exportTime)
		defer cancel()
		to := rows(w)
		_ = to.End(writeList(ctx, first, more, to)) // to a client that has left: nobody is there to be told
		_ = w.Flush()
	})
	return nil
}

// writeList returns why the file is not whole; "" if it is.
func writeList[T any](ctx context.Context, some api.Page[T], more func(context.Context, string) (api.Page[T], error), to Rows[T]) (note string) {
	for written := 0; ; {
		for _, item := range some.Items {
			if written == exportMost {
				return "cut off after 100,000 rows; choose a shorter time"
			}
			if to.Write(item) != nil {
				return ""
			}
			written++
		}
		if some.NextCursor == "" {
			return ""
		}
		one, cancel := context.WithTimeout(ctx, Patience)
		next, err := more(one, some.NextCursor)
		cancel()
		if err != nil {
			return "cut off: the rest could not be read; export it again"
		}
		some = next
	}
}

// Table writes rows of CSV below a head, in which no text is taken for a formula. A note stands in a row of its own.
func Table[T any](w io.Writer, cells func(T) []string, head ...string) Rows[T] {
	out := csv.NewWriter(w)
	row := func(cells []string) error {
		for i, cell := range cells {
			cells[i] = harmless(cell)
		}
		return out.Write(cells)
	}
	_ = row(head)
	return Rows[T]{
		Write: func(item T) error { return row(cells(item)) },
		End: func(note string) error {
			if note != "" {
				_ = row([]string{note})
			}
			out.Flush()
			return out.Error()
		},
	}
}

// harmless keeps a spreadsheet from taking a text for a formula.
func harmless(cell string) string {
	if cell == "" {
		return cell
	}
	switch cell[0] {
	case '=', '+', '-', '@', '\t', '\r':
		return "'" + cell
	default:
		return cell
	}
}
