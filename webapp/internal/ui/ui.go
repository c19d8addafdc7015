// Package ui owns the visual language: the shell around each page and the
// components that pages are made of. A component takes plain arguments and
// knows no type of the API; text from outside is always text.
package ui

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Tone is what a state means to the person who looks, whatever the noun. Each
// has a colour and a shape of its own; the word stands beside them.
type Tone string

// The tones.
const (
	Good Tone = "good" // as it should be
	Busy Tone = "busy" // something is being done; it will end by itself
	Wait Tone = "wait" // a person has to decide or confirm
	Bad  Tone = "bad"  // failed; a person has to mend
	Used Tone = "used" // handed out to someone
	Free Tone = "free" // nobody has it; it can be handed out
	Line Tone = "line" // queued: begins when its turn comes
	Shut Tone = "shut" // closed on purpose: takes nothing new
	None Tone = "none" // not known
	Idle Tone = "idle" // none of the others
	Gone Tone = "gone" // over
	Edit Tone = "edit" // something was changed
)

type nowKey struct{}

// WithNow fixes the time from which relative times are counted.
func WithNow(ctx context.Context, now time.Time) context.Context {
	return context.WithValue(ctx, nowKey{}, now)
}

// Now is the time from which relative times are counted.
func Now(ctx context.Context) time.Time {
	if t, ok := ctx.Value(nowKey{}).(time.Time); ok {
		return t
	}
	return time.Now()
}

// Ago writes when t was or will be, as seen from now.
func Ago(t, now time.Time) string {
	d := now.Sub(t)
	if d < 0 {
		if d > -5*time.Second { // clocks of two machines
			return "just now"
		}
		return "in " + Span(-d)
	}
	if d < 5*time.Second {
		return "just now"
	}
	return Span(d) + " ago"
}

// Span writes a duration in its largest unit, or two where that tells more.
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < 10*time.Minute:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min"
	case d < 48*time.Hour:
		if m := int(d.Minutes()) % 60; d < 10*time.Hour && m > 0 {
			return fmt.Sprintf("%d h %02d min", int(d.Hours()), m)
		}
		return strconv.Itoa(int(d.Hours())) + " h"
	default:
		return strconv.Itoa(int(d.Hours()/24)) + " days"
	}
}

// Exact writes a time in full.
func Exact(t time.Time) string { return t.UTC().Format("Mon 2 Jan 2006 15:04:05 UTC") }

// Bytes writes a size with a binary unit, to three digits.
func Bytes(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	v, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB", "PiB"} {
		v /= 1024
		if v < 1023.95 {
			break
		}
	}
	digits := 1
	if v >= 100 {
		digits = 0
	}
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', digits, 64), ".0") + " " + unit
}

// CPUs writes thousandths of a CPU: 0.05, 1.3, 12.
func CPUs(millis int64) string {
	switch {
	case millis < 1000:
		return strconv.FormatFloat(float64(millis)/1000, 'f', 2, 64)
	case millis < 100_000:
		return strconv.FormatFloat(float64(millis)/1000, 'f', 1, 64)
	default:
		return strconv.FormatInt((millis+500)/1000, 10)
	}
}

// Number writes how many there are, thousands apart: 12,345.
func Number[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count writes a number with its noun: 1 unit, 2,000 units.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "s") {
		noun += "e"
	}
	return Number(n) + " " + noun + "s"
}

// Word writes a state or an action as words: init_failed -> init failed.
func Word(s string) string { return strings.ReplaceAll(s, "_", " ") }

// Sentence writes it with a capital first letter.
func Sentence(s string) string {
	words := strings.Split(Word(s), " ")
	for i, word := range words {
		if word == "dns" || word == "ssh" { // no other word of ours has capitals
			words[i] = strings.ToUpper(word)
		}
	}
	if first := words[0]; first != "" {
		words[0] = strings.ToUpper(first[:1]) + first[1:]
	}
	return strings.Join(words, " ")
}

// Problems is what is wrong with a form that was sent: the whole, and each bad
// field by its path in the request.
type Problems struct {
	Title  string
	Detail string
	Fields []FieldProblem
}

// FieldProblem is what is wrong with one field.
type FieldProblem struct{ Field, Message string }

// Any tells whether anything is wrong.
func (p Problems) Any() bool { return p.Title != "" || p.Detail != "" || len(p.Fields) > 0 }

// For returns what is wrong with a field, its elements included.
func (p Problems) For(field string) []string {
	var all []string
	for _, f := range p.Fields {
		if m, ok := f.within(field); ok {
			all = append(all, m)
		}
	}
	return all
}

func (f FieldProblem) within(field string) (string, bool) {
	rest, ok := strings.CutPrefix(f.Field, field)
	switch {
	case !ok:
		return "", false
	case rest == "":
		return f.Message, true
	case rest[0] == '[' || rest[0] == '.':
		return element(rest) + f.Message, true
	default:
		return "", false
	}
}

// element names the part of a field as a person counts: [0] is the 1st line.
func element(rest string) string {
	if end := strings.IndexByte(rest, ']'); rest[0] == '[' && end > 1 {
		if n, err := strconv.Atoi(rest[1:end]); err == nil {
			return "No. " + strconv.Itoa(n+1) + ": "
		}
	}
	return strings.TrimPrefix(rest, ".") + ": "
}

// Rest returns the problems of fields that the form does not show.
func (p Problems) Rest(shown ...string) []FieldProblem {
	var rest []FieldProblem
	for _, f := range p.Fields {
		claimed := false
		for _, s := range shown {
			if _, ok := f.within(s); ok {
				claimed = true
			}
		}
		if !claimed {
			rest = append(rest, f)
		}
	}
	return rest
}

// Operation is something that can be done with an object, or what prevents it.
type Operation struct {
	Name     string // as the API has it, where that says what is allowed
	Label    string // what the button says
	What     string // what it will do, a sentence
	Action   string // where it is posted
	Href     string // a page that leads to it, instead of Action
	Allowed  bool
	Prevents string // why not
	Danger   bool
	Main     bool   // the next natural step
	Plan     bool   // it can be shown first what it would change
	Confirm  string // text that must be typed, "" for none
	Typed    string // what it is that must be typed: "the host's name"
	Version  int64  // of the object that was shown, where the action needs it
}
