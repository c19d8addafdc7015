package ansible

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// maxEventLine is above what the callback plugin can send: its largest text, with every byte escaped as \u00xx.
	maxEventLine  = 4 << 20
	maxStrayLine  = 8 << 10
	maxMessage    = 8 << 10
	maxOutput     = 64 << 10
	maxDiff       = 256 << 10
	maxName       = 512
	maxChange     = 32 << 10
	maxStderrTail = 4 << 10
	// Of a run that floods its log, the events go on, without their outputs and diffs.
	maxRunBytes   = 32 << 20
	maxStrayLines = 5000
)

// readLines calls line with each line that is not longer than limit, and dropped with the length of each that is.
// Unlike bufio.Scanner it never stops at one, since the writer would then block for ever.
func readLines(r io.Reader, limit int, line func([]byte), dropped func(int64)) error {
	in := bufio.NewReaderSize(r, 16<<10) // a run has three; longer lines are put together from parts
	var held []byte
	var length int64
	end := func() {
		switch {
		case length > int64(limit):
			dropped(length)
		case length > 0:
			line(held)
		}
		held, length = held[:0], 0
	}
	for {
		part, err := in.ReadSlice('\n')
		whole := err == nil
		if whole {
			part = part[:len(part)-1]
		}
		length += int64(len(part))
		if length <= int64(limit) {
			held = append(held, part...)
		}
		switch {
		case whole:
			end()
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			end()
			return nil
		default:
			end()
			return err
		}
	}
}

// wireEvent is a line of the callback plugin.
type wireEvent struct {
	Event
	Time   float64          `json:"time"` // seconds since 1970
	Stderr string           `json:"stderr"`
	Killed bool             `json:"killed"` // of a failed task: its SSH was ended here, so that nobody heard what came of it
	Result string           `json:"result"` // a JSON document in a string: it was measured as such
	Stats  map[string]Stats `json:"-"`
	Counts map[string]struct {
		OK          int `json:"ok"`
		Changed     int `json:"changed"`
		Failures    int `json:"failures"`
		Unreachable int `json:"unreachable"`
		Skipped     int `json:"skipped"`
		Rescued     int `json:"rescued"`
		Ignored     int `json:"ignored"`
	} `json:"stats"`
}

// collector brings what several readers see into one order, and gathers the outcome.
type collector struct {
	mu      sync.Mutex
	sink    func(Event)
	redact  *strings.Replacer
	results map[string]json.RawMessage
	stats   map[string]Stats // nil until Ansible has come to its end
	// failures holds the last one for each host: an earlier one was rescued.
	failures []Failure
	hosts    map[string]bool
	current  Event  // the task that started last
	wentOn   bool   // it started after the last failure, which was rescued, or another host's
	begun    bool   // Ansible has told of something
	stderr   string // the end of what Ansible wrote there
	problem  string // why an outcome cannot be trusted
	bytes    int
	stray    int
}

func newCollector(p *Play) *collector {
	c := &collector{sink: func(Event) {}, redact: newRedactor(p.secrets()), results: map[string]json.RawMessage{}, hosts: map[string]bool{}}
	for i := range p.Hosts {
		c.hosts[p.Hosts[i].Name] = true
	}
	return c
}

// clean redacts before and after: an escape sequence may stand in the middle of a secret.
func (c *collector) clean(s string, limit int) string { return cut(c.harmless(s), limit) }

func (c *collector) harmless(s string) string {
	return c.redact.Replace(cleanText(c.redact.Replace(s)))
}

// names cleans what an event is about: a failure and its task are kept beside the events.
func (c *collector) names(e *Event) {
	for _, name := range []*string{&e.Play, &e.Role, &e.Task, &e.Action, &e.Host, &e.Item} {
		*name = c.clean(*name, maxName)
	}
}

// deliver hands on one event; the caller holds the lock.
func (c *collector) deliver(e Event) {
	e.Message = c.clean(e.Message, maxMessage)
	e.Output = c.clean(e.Output, maxOutput)
	e.Diff = c.clean(e.Diff, maxDiff)
	c.names(&e)
	if e.Change != nil {
		change := c.cleanChange(*e.Change)
		e.Change = &change
	}
	c.bytes += len(e.Message) + len(e.Output) + len(e.Diff)
	if c.bytes > maxRunBytes && e.Output+e.Diff != "" {
		e.Output, e.Diff = "[left out: this run has written too much]", ""
	}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Time = e.Time.UTC()
	c.sink(e)
}

var changeActions = []string{"create", "change", "remove", "follows", "stops"}

// cleanChange also takes the colours out: a change is shown in colours of ours.
func (c *collector) cleanChange(change Change) Change {
	plain := func(s string, limit int) string {
		return cut(c.redact.Replace(colours.ReplaceAllString(c.clean(s, 2*limit), "")), limit)
	}
	for _, name := range []*string{&change.Kind, &change.Name, &change.Note} {
		*name = plain(strings.ToValidUTF8(*name, "?"), maxName)
	}
	change.Before, change.After = plain(change.Before, maxChange), plain(change.After, maxChange)
	if !slices.Contains(changeActions, change.Action) {
		change.Action = "change"
	}
	return change
}

var colours = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// note is an event of the runner's own.
func (c *collector) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deliver(Event{Kind: EventOutput, Message: fmt.Sprintf(format, args...)})
}

// line takes one line of the callback plugin.
func (c *collector) line(raw []byte) {
	var w wireEvent
	if err := json.Unmarshal(raw, &w); err != nil {
		c.note("an event could not be read")
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun = true
	w.Event.Time = time.UnixMicro(int64(w.Time * 1e6))
	c.names(&w.Event)
	switch w.Kind {
	case "result":
		c.takeResult(w)
	case "stats":
		c.stats = map[string]Stats{}
		for host, n := range w.Counts {
			c.stats[host] = Stats{OK: n.OK, Changed: n.Changed, Failed: n.Failures, Unreachable: n.Unreachable, Skipped: n.Skipped, Rescued: n.Rescued, Ignored: n.Ignored}
		}
	case EventFailed, EventUnreachable:
		c.deliver(w.Event)
		if w.Item == "" {
			c.fail(w)
		}
	case EventTaskStarted:
		c.current, c.wentOn = w.Event, true
		c.deliver(w.Event)
	case EventChange:
		if w.Change != nil {
			c.deliver(w.Event)
		}
	case EventPlayStarted, EventOK, EventChanged, EventSkipped, EventIgnored, EventRetry, EventOutput:
		c.deliver(w.Event)
	default:
		c.deliver(Event{Kind: EventOutput, Message: "an event of an unknown kind: " + string(w.Kind)})
	}
}

func (c *collector) takeResult(w wireEvent) {
	if w.Result == "" {
		c.problem = fmt.Sprintf("host %s: %s", w.Host, c.clean(w.Message, maxMessage))
		return
	}
	clean, err := cleanJSON([]byte(w.Result), c.harmless)
	if err != nil {
		c.problem = fmt.Sprintf("host %s: kloigos_result is not valid JSON", w.Host)
		return
	}
	c.results[w.Host] = clean
	c.deliver(Event{Time: w.Event.Time, Kind: EventResult, Host: w.Host, Result: clean})
}

func (c *collector) fail(w wireEvent) {
	stderr := strings.TrimSpace(c.clean(w.Stderr, maxStderrTail+maxName))
	message := strings.TrimSpace(c.clean(w.Message, maxMessage))
	f := Failure{Host: w.Host, Role: w.Role, Task: w.Task, Code: classify(w.Kind, message+"\n"+stderr+"\n"+w.Output)}
	if w.Killed && f.Code == CodeTaskFailed {
		f.Code = CodeKilled
	}
	if code, rest, ok := refused(message); ok && f.Code == CodeTaskFailed {
		f.Code, message = code, rest
	}
	c.wentOn = false
	switch {
	case f.Code == CodeKilled:
		message = "the ssh that ran the task was killed"
	case w.Kind == EventUnreachable:
		message = explainConnection(f.Code, message)
	case stderr == "" || strings.Contains(message, stderr):
	case strings.HasPrefix(message, "MODULE FAILURE"):
		message = stderr
	default:
		message += "\n" + stderr
	}
	f.Message = cut(message, maxMessage)
	for i, earlier := range c.failures {
		if earlier.Host == f.Host {
			c.failures = append(c.failures[:i], c.failures[i+1:]...)
			break
		}
	}
	c.failures = append(c.failures, f)
}

// rawAnswer begins what Ansible shows with -vvv of each answer of a host: whole, and in spite of no_log.
var rawAnswer = regexp.MustCompile(`^(<[^>]+> \(\d+, )b['"]`)

// strayLine takes what Ansible, ssh or Python wrote by themselves.
func (c *collector) strayLine(stderr bool) func([]byte) {
	return func(raw []byte) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if answer := rawAnswer.FindSubmatch(raw); answer != nil {
			raw = fmt.Appendf(nil, "%s[%d bytes are not shown])", answer[1], len(raw))
		}
		text := c.clean(string(raw), maxStrayLine)
		if strings.TrimSpace(text) == "" {
			return
		}
		if stderr {
			c.stderr = tail(c.stderr+text+"\n", maxMessage)
		}
		switch c.stray++; {
		case c.stray < maxStrayLines:
			c.deliver(Event{Kind: EventOutput, Message: text})
		case c.stray == maxStrayLines:
			c.deliver(Event{Kind: EventOutput, Message: "[further output is left out]"})
		}
	}
}

// read drains the three streams until all writers are gone.
func (c *collector) read(events, stdout, stderr *os.File) *sync.WaitGroup {
	var wg sync.WaitGroup
	drop := func(what string) func(int64) {
		return func(n int64) { c.note("[%s of %d bytes is left out]", what, n) }
	}
	wg.Go(func() { _ = readLines(events, maxEventLine, c.line, drop("an event")) })
	wg.Go(func() { _ = readLines(stdout, maxStrayLine, c.strayLine(false), drop("a line")) })
	wg.Go(func() { _ = readLines(stderr, maxStrayLine, c.strayLine(true), drop("a line")) })
	return &wg
}
