package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
)

// follows tells which complaints of a check say nothing when another field
// could not be read: by field, the fields that it depends on. An index is [].
type follows map[string][]string

// means lets a route look at the meaning of a body whose shape is bad already,
// so that every bad field is told in one answer. The intent checks by itself
// what has a good shape.
func means[B any](check func(ctx context.Context, id string, body B) error, after follows) func(*huma.Operation) {
	return func(op *huma.Operation) {
		op.Middlewares = append(op.Middlewares, func(c huma.Context, next func(huma.Context)) {
			requestOf(c.Context()).meaning = func(faults []api.FieldProblem) []api.FieldProblem {
				text, err := io.ReadAll(c.BodyReader())
				if err != nil {
					return nil
				}
				var body B
				_ = json.Unmarshal(text, &body) // passes over what has another type, which the faults tell of
				var bad *domain.Invalid
				if !errors.As(check(c.Context(), c.Param("id"), body), &bad) {
					return nil // no such object, or not in a state for it: said when the request can be read
				}
				return after.tellable(bad.Fields, faults)
			}
			next(c)
		})
	}
}

func (f follows) tellable(fields []domain.FieldError, faults []api.FieldProblem) (out []api.FieldProblem) {
	unread := map[string]bool{}
	for _, p := range faults {
		unread[p.Field], unread[index.ReplaceAllString(p.Field, "[]")] = true, true
	}
	for _, e := range fields {
		silent := func(field string) bool { return unread[field] }
		if !unread[e.Field] && !slices.ContainsFunc(f[index.ReplaceAllString(e.Field, "[]")], silent) {
			out = append(out, api.FieldProblem{Field: e.Field, Message: e.Problem})
		}
	}
	return out
}

var index = regexp.MustCompile(`\[\d+\]`)

// complete adds to what is wrong with a request's shape what strict found
// before, and what its other fields mean.
func complete(ctx context.Context, faults []api.FieldProblem) []api.FieldProblem {
	r := requestOf(ctx)
	faults = oneEach(append(slices.Clone(r.faults), faults...))
	if r.meaning == nil || slices.ContainsFunc(faults, func(p api.FieldProblem) bool { return p.Field == "" }) {
		return faults // nothing is known of a body that is no object
	}
	return oneEach(append(faults, r.meaning(faults)...))
}

// oneEach leaves one entry for every field: the first that was found.
func oneEach(faults []api.FieldProblem) []api.FieldProblem {
	seen := map[api.FieldProblem]bool{}
	return slices.DeleteFunc(faults, func(p api.FieldProblem) bool {
		key := api.FieldProblem{Field: p.Field}
		if p.Field == "" {
			key = p
		}
		again := seen[key]
		seen[key] = true
		return again
	})
}
