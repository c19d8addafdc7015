package shape

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/show"
)

// The exit codes; docs/cli.md lists them for users.
const (
	CodeOK           = 0
	CodeError        = 1
	CodeUsage        = 2   // wrong arguments, or a request that the API finds invalid
	CodeNotFound     = 3   // no such object
	CodeConflict     = 4   // the state of the object doesn't allow it, or someone else changed it
	CodeUnauthorized = 5   // no valid token, or no permission
	CodeJobFailed    = 6   // the job that the command waited for
	CodeUnreachable  = 7   // no answer, or an answer that says to try later
	CodeInterrupted  = 130 // as shells have it
)

// Failure is an error with the exit code that it leads to. Text of the server
// in it is made safe before it is printed.
type Failure struct {
	Code int
	Err  error
}

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// Fail makes a Failure of words.
func Fail(code int, format string, a ...any) error {
	return &Failure{code, fmt.Errorf(format, a...)}
}

// Usage is wrong use of a command.
func Usage(format string, a ...any) error { return Fail(CodeUsage, format, a...) }

// CodeOf returns the exit code for an error.
func CodeOf(err error) int {
	var f *Failure
	var p *api.Problem
	switch {
	case err == nil:
		return CodeOK
	case errors.As(err, &f):
		return f.Code
	case errors.As(err, &p):
		return codeOfStatus(p.Status)
	case errors.Is(err, context.Canceled):
		return CodeInterrupted
	case errors.Is(err, client.ErrUnreachable):
		return CodeUnreachable
	}
	return CodeError
}

func codeOfStatus(status int) int {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return CodeUnauthorized
	case http.StatusNotFound, http.StatusGone:
		return CodeNotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return CodeConflict
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		return CodeUsage
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return CodeUnreachable
	}
	return CodeError
}

// Message is an error as plain sentences: the problem of the API, each bad field
// on a line of its own, and what to do where that is known.
func Message(err error) string {
	var p *api.Problem
	if !errors.As(err, &p) {
		if errors.Is(err, context.Canceled) {
			return "Interrupted."
		}
		return show.Text(err.Error())
	}
	var lines []string
	add := func(format string, a ...any) { lines = append(lines, show.Line(fmt.Sprintf(format, a...))) }
	// The words around the problem, if a command put some there.
	if before, found := strings.CutSuffix(err.Error(), p.Error()); found && before != "" {
		add("%s%s", before, sentence(p))
	} else {
		add("%s", sentence(p))
	}
	for _, f := range p.Errors {
		add("  %s: %s", f.Field, f.Message)
	}
	if p.Placement != nil {
		for _, r := range p.Placement.Ruled {
			add("  %d ruled out: %s", r.Units, r.Why)
		}
		if p.Placement.Nearest != "" {
			add("  This would fit: %s", p.Placement.Nearest)
		}
	}
	if len(p.Moved) > 0 {
		add("  Changed since the plan was made: %s", strings.Join(p.Moved, ", "))
	}
	switch {
	case p.Status == http.StatusUnauthorized && p.Code != "bad_login":
		add("Log in with: kloigos login")
	case p.Status == http.StatusPreconditionFailed:
		add("Someone else changed the object since it was read. Read it again, then repeat the command.")
	case p.Status == http.StatusTooManyRequests && p.RetryAfter > 0:
		add("Repeat the command in %d s.", p.RetryAfter)
	case p.Code == "commit_unknown":
		add("It is not known whether the request was carried out. Look at the object before you repeat it.")
	case p.Status >= http.StatusInternalServerError && p.Instance != "":
		add("The request's id, for the log of the backend: %s", p.Instance)
	}
	return strings.Join(lines, "\n")
}

func sentence(p *api.Problem) string {
	text := p.Detail
	if text == "" {
		text = p.Title
	}
	if text == "" {
		text = fmt.Sprintf("The server answered with status %d", p.Status)
	}
	if !slices.Contains([]string{".", "!", "?", ":"}, text[len(text)-1:]) {
		text += "."
	}
	return text
}
