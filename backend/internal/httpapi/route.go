package httpapi

import (
	"context"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/kernel/scope"
)

const jobsPath = api.Prefix + "/jobs/"

// Answers of the common shapes.
type (
	object[T any] struct {
		Body T
	}
	versioned[T any] struct {
		ETag string `header:"ETag" doc:"the object's version; give it as If-Match with a change"`
		Body T
	}
	accepted[T any] struct {
		Location string `header:"Location" doc:"URL of the job"`
		ETag     string `header:"ETag" doc:"the object's version"`
		Body     T
	}
	nothing struct{}
)

// ByID is the input of an operation on one object.
type ByID struct {
	ID string `path:"id" maxLength:"64" doc:"id of the object, or its name where names are unique"`
}

// Change is the input of an operation that changes one object.
type Change struct {
	ByID
	IfMatch string `header:"If-Match" maxLength:"32" doc:"ETag of the version that is to be changed; 412 if it is another by now"`
}

// version reads If-Match: 0 if any version will do.
func (c Change) version() (int64, error) {
	tag := strings.TrimSpace(c.IfMatch)
	if tag == "" || tag == "*" {
		return 0, nil
	}
	if len(tag) > 2 && tag[0] == '"' && tag[len(tag)-1] == '"' {
		tag = tag[1 : len(tag)-1]
	}
	n, err := strconv.ParseInt(tag, 10, 64)
	if err != nil || n < 1 {
		return 0, badField("If-Match", `must be an ETag of this API, such as "5"`)
	}
	return n, nil
}

func etag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

func jobURL(id uuid.UUID) string {
	if id == uuid.Nil {
		return ""
	}
	return jobsPath + id.String()
}

// describeSort writes the orders of a list into the API's description, from
// which requests are checked.
func describeSort(a huma.API, op huma.Operation) {
	names, _ := op.Metadata["sort"].([]string)
	if len(names) == 0 {
		return
	}
	for _, p := range a.OpenAPI().Paths[op.Path].Get.Parameters {
		if p.Name != "sort" {
			continue
		}
		for _, n := range names {
			p.Schema.Enum = append(p.Schema.Enum, n)
		}
		p.Schema.Default, p.Schema.MaxLength = names[0], nil
		p.Schema.PrecomputeMessages()
	}
}

func humaConfig(version string) huma.Config {
	c := huma.DefaultConfig("Kloigos", version)
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", "" // ours need a token
	c.CreateHooks = nil                                   // no $schema in every answer
	c.RejectUnknownQueryParameters = true
	c.Info.Description = "Kloigos cuts Linux servers into compute units and hands them out. Work that takes long answers 202 with the URL of a job in Location."
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {Type: "http", Scheme: "bearer", Description: "A session's or an API token: kl_..."},
	}
	return c
}

// created makes an operation answer 201.
func created(o *huma.Operation) { o.DefaultStatus = http.StatusCreated }

// register makes a route of api.Routes answer with a handler.
func register[I, O any](s *Server, id string, handler func(ctx context.Context, in *I) (*O, error), options ...func(*huma.Operation)) {
	r, ok := api.RouteOf(id)
	if !ok {
		panic("httpapi: no route is called " + id)
	}
	if s.handled[id] {
		panic("httpapi: route " + id + " has two handlers")
	}
	s.handled[id] = true
	op := huma.Operation{
		OperationID: id, Method: r.Method, Path: api.Prefix + r.Path, Tags: []string{r.Tag}, Summary: r.Summary,
		MaxBodyBytes: -1, BodyReadTimeout: -1, // the server has limited both already
		Errors: statuses(r),
	}
	if r.Long {
		op.DefaultStatus = http.StatusAccepted
	}
	if r.Permission != "" {
		op.Security = []map[string][]string{{"bearer": {}}}
		op.Extensions = map[string]any{"x-permission": r.Permission}
	}
	var input I
	op.Middlewares = huma.Middlewares{admission{s}.authenticate(r), s.strict(hasBody(input), has(input, "RawBody"))}
	if scope.LevelOf(r.Permission) == scope.Workspace {
		op.Parameters = append(op.Parameters, workspaceParameter())
	}
	if keyed(r) {
		op.Parameters = append(op.Parameters, idempotencyParameter())
		op.Middlewares = append(op.Middlewares, s.idempotency(r))
	}
	for _, o := range options {
		o(&op)
	}
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		if len(requestOf(ctx).faults) > 0 { // what the types would let pass
			return nil, s.asProblem(ctx, invalid(complete(ctx, nil)...))
		}
		if decoded := requestOf(ctx).decoded; decoded != nil {
			decoded() // what the handler waits for keeps no other body waiting
		}
		out, err := handler(ctx, in)
		if err != nil {
			return nil, s.asProblem(ctx, err)
		}
		permitOperations(ctx, out)
		return out, nil
	})
	describeSort(s.api, op)
}

// statuses lists the problems that a route can answer with.
func statuses(r api.Route) []int {
	all := []int{http.StatusUnprocessableEntity, http.StatusTooManyRequests}
	if r.Permission != "" {
		all = append(all, http.StatusUnauthorized, http.StatusForbidden)
	} else {
		all = append(all, http.StatusUnauthorized)
	}
	if strings.Contains(r.Path, "{") {
		all = append(all, http.StatusNotFound)
	}
	if r.Method != http.MethodGet {
		all = append(all, http.StatusConflict)
	}
	return append(all, http.StatusServiceUnavailable)
}

// hasBody tells whether an operation's input has a body.
func hasBody(input any) bool { return has(input, "Body") || has(input, "RawBody") }

func has(input any, field string) bool {
	_, ok := reflect.TypeOf(input).FieldByName(field)
	return ok
}
