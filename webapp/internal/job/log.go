package job

import (
	"bufio"
	"context"
	"fmt"
	"hash/fnv"
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const (
	// window is how many lines of a log are drawn at once. A page holds one, and
	// its script asks for those that come into sight.
	window = 200
	// mostLooks is how often one page asks the API to look further where a
	// filter lets nothing through.
	mostLooks = 20
	textPart  = 1000    // lines in memory of a log that is sent as text
	mostText  = 1 << 20 // bytes of one window, and what one look brought beyond
)

// choice is what of a log is shown.
type choice struct {
	Show   string // one of shows; "" for all
	Search string
	After  int64
}

// shows are the kinds of entries that each choice lets through.
var shows = map[string]string{
	"changed": "changed", "failed": "failed,unreachable,ignored", "tasks": "play_started,task_started,failed,unreachable,finished",
}

func choiceOf(r *page.Request) choice {
	c := choice{Show: r.Query("show"), Search: r.Query("q")}
	if shows[c.Show] == "" {
		c.Show = ""
	}
	c.After, _ = strconv.ParseInt(r.Query("after"), 10, 64)
	if line, err := strconv.ParseInt(r.Query("line"), 10, 64); err == nil {
		c.After = (line - 1) / window * window
	}
	c.After = max(c.After, 0)
	return c
}

// narrows tells whether only some of the lines are wanted.
func (c choice) narrows() bool { return c.Show != "" || c.Search != "" }

// logURL is the address of a part of the log, chosen in the same way.
func (c choice) logURL(job string, after int64) string {
	q := url.Values{}
	for name, value := range map[string]string{"show": c.Show, "q": c.Search} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if after > 0 {
		q.Set("after", strconv.FormatInt(after, 10))
	}
	if len(q) == 0 {
		return "/jobs/" + job
	}
	return "/jobs/" + job + "?" + q.Encode()
}

// read asks for a window of a log: as many lines as there are, up to limit.
func read(r *page.Request, id string, c choice, limit int) (api.JobLog, error) {
	f := api.LogFilter{After: c.After, Limit: limit, Kinds: shows[c.Show], Search: c.Search}
	log := api.JobLog{Last: c.After}
	size := 0
	for range mostLooks {
		part, err := r.API.FindInJobLog(r.Ctx, id, f)
		if err != nil {
			return log, err
		}
		log.Items = append(log.Items, part.Items...)
		for _, e := range part.Items {
			size += len(e.Message) + len(e.Output) + len(e.Diff)
		}
		moved := part.Last > log.Last && size < mostText
		log.Last, log.Newest, log.Complete = part.Last, max(part.Newest, part.Last), part.Complete
		f.After, f.Limit = part.Last, limit-len(log.Items)
		if !moved || log.Complete || f.Limit <= 0 {
			break
		}
	}
	return log, nil
}

// lineParts answers with lines for the page's script. How far they reach
// stands in the headers.
func lineParts(r *page.Request) error {
	limit, err := strconv.Atoi(r.Query("limit"))
	if err != nil || limit < 1 || limit > window {
		limit = window
	}
	c := choiceOf(r)
	log, err := read(r, r.Param("id"), c, limit)
	if err != nil {
		return err
	}
	r.C.Set("X-Log-Last", strconv.FormatInt(log.Last, 10))
	r.C.Set("X-Log-Newest", strconv.FormatInt(log.Newest, 10))
	r.C.Set("X-Log-Complete", strconv.FormatBool(log.Complete))
	return r.Fragment(logLines(lines(log.Items, c.narrows())))
}

func outline(r *page.Request) error {
	o, err := r.API.GetJobOutline(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	return r.Fragment(matrix(matrixOf(o)))
}

// text sends the whole log as plain text, part by part.
func text(a *page.App) fiber.Handler {
	return a.Page(func(r *page.Request) error {
		id := r.Param("id")
		log, err := r.API.GetJobLog(r.Ctx, id, 0, textPart)
		if err != nil {
			return err
		}
		speaker, c := r.API, r.C
		c.Set(fiber.HeaderContentType, "text/plain; charset=utf-8")
		c.Set(fiber.HeaderCacheControl, "no-store")
		page.Stream(c, func(w *bufio.Writer) { writeText(a.Closing, speaker, id, log, w) })
		return nil
	})
}

// writeText writes a log from its first part on, up to what is the newest line
// when it gets there.
func writeText(ctx context.Context, speaker *client.Client, id string, log api.JobLog, w *bufio.Writer) {
	for {
		for _, e := range log.Items {
			writeLine(w, e)
		}
		if w.Flush() != nil || log.Complete || len(log.Items) == 0 {
			return
		}
		var err error
		part, cancel := context.WithTimeout(ctx, page.Patience)
		log, err = speaker.GetJobLog(part, id, log.Last, textPart)
		cancel()
		if err != nil {
			_, _ = w.WriteString("\n[The rest of the log could not be read. Reload it.]\n")
			_ = w.Flush()
			return
		}
	}
}

func writeLine(w *bufio.Writer, e api.LogEntry) {
	l := lineOf(e)
	said := []string{l.Title, ui.Word(l.Word), e.Host, e.Item, plain(e.Message)}
	if l.Title != "" {
		said[1] = e.Role
	}
	words := ""
	for _, s := range said {
		if s != "" {
			words += "  " + s
		}
	}
	_, _ = fmt.Fprintf(w, "%7d  %s%s", e.Sequence, e.Time.UTC().Format("15:04:05"), words)
	if e.DurationMS > 0 {
		_, _ = fmt.Fprintf(w, "  (%s)", ui.Span(ms(e.DurationMS)))
	}
	_ = w.WriteByte('\n')
	for _, block := range []string{e.Diff, e.Output} {
		if block == "" {
			continue
		}
		for line := range strings.SplitSeq(strings.TrimRight(plain(block), "\n"), "\n") {
			_, _ = w.WriteString("         | " + line + "\n")
		}
	}
}

// plain is a host's text without its terminal escapes.
func plain(s string) string {
	var b strings.Builder
	for _, r := range ui.Terminal(s) {
		b.WriteString(r.Text)
	}
	return b.String()
}

// key is a short name for what lines of a log are folded by.
func key(parts ...string) string {
	h := fnv.New32a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p + "\x00"))
	}
	return strconv.FormatUint(uint64(h.Sum32()), 36)
}
