package demo

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"kloigos/backend/api"
)

// Stages prints what happens, one stage after the other, each with its time.
type Stages struct {
	mu    sync.Mutex
	out   io.Writer
	began time.Time
	quiet bool // no notes
}

// NewStages begins to count.
func NewStages(out io.Writer) *Stages { return &Stages{out: out, began: time.Now()} }

// Do runs a stage. What it notes is shown beneath its name while it runs.
func (s *Stages) Do(name string, run func() error) error {
	from := time.Now()
	s.print("==> %s\n", name)
	err := run()
	var problem *api.Problem
	if errors.As(err, &problem) {
		for _, field := range problem.Errors {
			s.Note("%s: %s", field.Field, field.Message)
		}
	}
	word := "done"
	if err != nil {
		word = "FAILED"
	}
	s.print("    %s in %s (%s since the start)\n", word, seconds(time.Since(from)), seconds(time.Since(s.began)))
	if err != nil {
		return fmt.Errorf("%s: %w", strings.ToLower(name), err)
	}
	return nil
}

// Note shows a line of the running stage.
func (s *Stages) Note(format string, args ...any) {
	s.mu.Lock()
	quiet := s.quiet
	s.mu.Unlock()
	if !quiet {
		s.print("    "+format+"\n", args...)
	}
}

// Quiet leaves the notes out from here on.
func (s *Stages) Quiet() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet = true
}

// Line shows a line as it is.
func (s *Stages) Line(format string, args ...any) { s.print(format+"\n", args...) }

// Took is the time since the start.
func (s *Stages) Took() time.Duration { return time.Since(s.began) }

// Writer shows whole lines of text as notes.
func (s *Stages) Writer() io.Writer { return &noteWriter{stages: s} }

func (s *Stages) print(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = fmt.Fprint(s.out, printable(fmt.Sprintf(format, args...)))
}

type noteWriter struct {
	stages *Stages
	rest   string
}

func (w *noteWriter) Write(p []byte) (int, error) {
	text := w.rest + string(p)
	for {
		line, rest, found := strings.Cut(text, "\n")
		if !found {
			w.rest = text
			return len(p), nil
		}
		w.stages.Note("%s", strings.TrimRight(line, "\r"))
		text = rest
	}
}

// printable keeps what a host says from steering the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) {
			return r
		}
		return '\uFFFD'
	}, text)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
