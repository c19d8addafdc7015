package httpapi_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"kloigos/backend/api"
)

// described is the part of a schema that readers go by.
type described struct {
	Ref         string                `json:"$ref"`
	Type        any                   `json:"type"`
	Description string                `json:"description"`
	Enum        []any                 `json:"enum"`
	Minimum     *float64              `json:"minimum"`
	Maximum     *float64              `json:"maximum"`
	Pattern     string                `json:"pattern"`
	InWords     string                `json:"patternDescription"` // of the pattern, for the problem that says what is wrong
	Properties  map[string]*described `json:"properties"`
}

// TestTheDocumentIsComplete: each field and parameter has a description, numbers have bounds, patterns words, closed sets their values,
// bodies an example, the whole a server; and cpus is a set of CPUs everywhere.
func TestTheDocumentIsComplete(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var doc struct {
		Servers []struct{ URL string }
		Paths   map[string]map[string]struct {
			ID         string `json:"operationId"`
			Parameters []struct {
				Name, Description string
				Schema            described
			}
			RequestBody *struct {
				Content map[string]struct{ Example json.RawMessage }
			}
		}
		Components struct{ Schemas map[string]*described }
	}
	if err := json.Unmarshal(b.server.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Servers) == 0 {
		t.Error("the document names no server")
	}
	// Open sets: what they hold grows without a change of the API.
	open := []string{
		"Event.action", "list-events action", "Event.object_kind", "list-events object_kind", "list-organization-events action", "list-organization-events object_kind", "list-installation-events action", "list-installation-events object_kind", "PlanChange.kind", "LogEntry.action", "LogEntry.role", "LogTask.role", "PlanChange.role", "Grant.role", "CreateGrant.role", "AccessGrant.role", "LintFinding.severity", "JobObject.role",
		"Invitation.role", "CreateInvitation.role", "OfferedRole.role", "Joined.role", "GroupMapping.role", "CreateGroupMapping.role", "CreateInstallationMapping.role", "FinishLogin.state",
	}
	closed := []string{"state", "host_state", "kind", "health", "role", "action", "profile", "purpose", "method", "change", "actor_kind", "token_kind", "lint_state", "object_kind", "severity"}
	check := func(where, name string, s *described) {
		if strings.TrimSpace(s.Description) == "" {
			t.Errorf("%s has no description", where)
		}
		if slices.Contains(closed, name) && s.Type == "string" && len(s.Enum) == 0 && !slices.Contains(open, where) {
			t.Errorf("%s has no enum", where)
		}
		if s.Pattern != "" && s.InWords == "" {
			t.Errorf("%s has a pattern that nothing says in words", where)
		}
		if s.Type == "integer" && (s.Minimum == nil || s.Maximum == nil) {
			t.Errorf("%s has no bounds", where)
		}
		if name == "cpus" && s.Type != "string" || strings.HasSuffix(name, "cpu_count") && s.Type != "integer" {
			t.Errorf("%s is a %v", where, s.Type)
		}
	}
	for name, s := range doc.Components.Schemas {
		for field, p := range s.Properties {
			check(name+"."+field, field, p)
		}
	}
	for _, r := range api.Routes {
		op := doc.Paths[api.Prefix+r.Path][strings.ToLower(r.Method)]
		for _, p := range op.Parameters {
			p.Schema.Description = p.Description
			check(r.ID+" "+p.Name, p.Name, &p.Schema)
		}
		if op.RequestBody == nil {
			continue
		}
		if example := op.RequestBody.Content["application/json"].Example; len(example) == 0 {
			t.Errorf("%s has a body without an example", r.ID)
		} else if a := b.do(r.Method, pathOf(r), string(example)); a.status == 422 && strings.Contains(string(a.body), "is no field") {
			t.Errorf("the example of %s: %s", r.ID, a.body)
		}
	}
}
