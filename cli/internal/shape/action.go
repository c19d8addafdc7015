package shape

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
)

// Plan is what an action would change.
type Plan = api.Plan

// Action is one command about an object of a noun, or, if New, about none. It is
// made by one of the functions below and refined by its methods.
type Action struct {
	Name    string   // of the command
	Route   string   // of the API; its summary is the help of the command
	Help    string   // instead of the summary
	New     bool     // there is no object yet
	Aliases []string // other names of the command

	kind     kind
	body     reflect.Type // of the request; nil for none
	name     string       // field of the body that the argument fills, or that names the object of a change
	files    []string     // fields of the body that a file can fill
	question string       // asked before anything is done; %s is the object
	confirm  string       // field of the body in which the object's name is typed
	listed   bool         // its plan lists what the job would do, and plays no playbook
	full     bool         // show all fields of the answer, not a row of the table
	do       func(context.Context, *client.Client, string, any, []client.Option) (any, string, error)
	plan     func(context.Context, *client.Client, string, any, []client.Option) (Plan, string, error)
}

type kind int

const (
	anAction kind = iota
	aCreate
	aChange
	aDelete
)

type (
	call[A any]        = func(*client.Client, context.Context, string, ...client.Option) (A, error)
	callWith[B, A any] = func(*client.Client, context.Context, string, B, ...client.Option) (A, error)
	job[A any]         = func(*client.Client, context.Context, string, ...client.Option) (A, string, error)
	jobWith[B, A any]  = func(*client.Client, context.Context, string, B, ...client.Option) (A, string, error)
	made[B, A any]     = func(*client.Client, context.Context, B, ...client.Option) (A, error)
	madeJob[B, A any]  = func(*client.Client, context.Context, B, ...client.Option) (A, string, error)
)

// Do is an action that ends with its answer.
func Do[A any](name, route string, f call[A]) Action {
	return Action{Name: name, Route: route, do: func(ctx context.Context, c *client.Client, id string, _ any, o []client.Option) (any, string, error) {
		out, err := f(c, ctx, id, o...)
		return out, "", err
	}}
}

// DoWith is Do with a body.
func DoWith[B, A any](name, route string, f callWith[B, A]) Action {
	return Action{Name: name, Route: route, body: reflect.TypeFor[B](), do: func(ctx context.Context, c *client.Client, id string, b any, o []client.Option) (any, string, error) {
		out, err := f(c, ctx, id, *b.(*B), o...) //nolint:forcetypeassert // made of body
		return out, "", err
	}}
}

// Start is an action that starts a job.
func Start[A any](name, route string, f job[A]) Action {
	return Action{Name: name, Route: route, do: func(ctx context.Context, c *client.Client, id string, _ any, o []client.Option) (any, string, error) {
		out, job, err := f(c, ctx, id, o...)
		return out, job, err
	}}
}

// StartWith is Start with a body.
func StartWith[B, A any](name, route string, f jobWith[B, A]) Action {
	return Action{Name: name, Route: route, body: reflect.TypeFor[B](), do: func(ctx context.Context, c *client.Client, id string, b any, o []client.Option) (any, string, error) {
		out, job, err := f(c, ctx, id, *b.(*B), o...) //nolint:forcetypeassert // made of body
		return out, job, err
	}}
}

// Create makes an object. name is the field that the command's argument fills;
// "" for none.
func Create[B, A any](route, name string, f made[B, A]) Action {
	return Action{Name: "create", Route: route, New: true, kind: aCreate, name: name, body: reflect.TypeFor[B](), do: func(ctx context.Context, c *client.Client, _ string, b any, o []client.Option) (any, string, error) {
		out, err := f(c, ctx, *b.(*B), o...) //nolint:forcetypeassert // made of body
		return out, "", err
	}}
}

// Make is Create under another name.
func Make[B, A any](verb, route, name string, f made[B, A]) Action {
	a := Create(route, name, f)
	a.Name = verb
	return a
}

// CreateJob is Create where a job is started.
func CreateJob[B, A any](route, name string, f madeJob[B, A]) Action {
	return Action{Name: "create", Route: route, New: true, kind: aCreate, name: name, body: reflect.TypeFor[B](), do: func(ctx context.Context, c *client.Client, _ string, b any, o []client.Option) (any, string, error) {
		out, job, err := f(c, ctx, *b.(*B), o...) //nolint:forcetypeassert // made of body
		return out, job, err
	}}
}

// Change changes fields of an object, under the ETag that was read.
func Change[B, A any](route string, f callWith[B, A]) Action {
	a := DoWith("change", route, f)
	a.kind, a.Aliases = aChange, []string{"update"}
	return a
}

// ChangeJob is Change where a job may be started.
func ChangeJob[B, A any](route string, f jobWith[B, A]) Action {
	a := StartWith("change", route, f)
	a.kind, a.Aliases = aChange, []string{"update"}
	return a
}

// Delete removes an object, under the ETag that was read.
func Delete(route string, f func(*client.Client, context.Context, string, ...client.Option) error) Action {
	return Action{Name: "delete", Aliases: []string{"remove"}, Route: route, kind: aDelete, question: "Delete %s?", do: func(ctx context.Context, c *client.Client, id string, _ any, o []client.Option) (any, string, error) {
		return nil, "", f(c, ctx, id, o...)
	}}
}

// Planned adds --plan to an action.
func Planned(a Action, f job[Plan]) Action {
	a.plan = func(ctx context.Context, c *client.Client, id string, _ any, o []client.Option) (Plan, string, error) {
		return f(c, ctx, id, o...)
	}
	return a
}

// PlannedWith is Planned for an action with a body.
func PlannedWith[B any](a Action, f jobWith[B, Plan]) Action {
	a.plan = func(ctx context.Context, c *client.Client, id string, b any, o []client.Option) (Plan, string, error) {
		return f(c, ctx, id, *b.(*B), o...) //nolint:forcetypeassert // made of body
	}
	return a
}

// PlannedCreate is Planned for what makes an object.
func PlannedCreate[B any](a Action, f madeJob[B, Plan]) Action {
	a.plan = func(ctx context.Context, c *client.Client, _ string, b any, o []client.Option) (Plan, string, error) {
		return f(c, ctx, *b.(*B), o...) //nolint:forcetypeassert // made of body
	}
	return a
}

// Listed adds --plan to an action whose plan lists what its job would do.
func (a Action) Listed() Action {
	a.listed = true
	route := a.Route
	a.plan = func(ctx context.Context, c *client.Client, id string, b any, o []client.Option) (Plan, string, error) {
		p, err := c.PlanOf(ctx, route, id, b, o...)
		return p, "", err
	}
	return a
}

// Asks has a person agree first; %s is the object. --yes answers for them.
func (a Action) Asks(question string) Action {
	a.question = question
	return a
}

// Typed has the object's name typed into this field of the body; --yes does so
// too.
func (a Action) Typed(field string) Action {
	a.confirm = field
	return a
}

// FromFile adds a flag --<field>-file to each of these fields of the body: a
// list takes the lines of the file, a text all of it.
func (a Action) FromFile(fields ...string) Action {
	a.files = fields
	return a
}

// Takes names the field of the body that the argument of a command without an
// object fills; a list takes several arguments.
func (a Action) Takes(field string) Action {
	a.New, a.name = true, field
	return a
}

// Full shows all fields of the answer: a secret, say, that is never shown again. An answer with objects in it is shown as YAML.
func (a Action) Full() Action {
	a.full = true
	return a
}

// Alias adds another name.
func (a Action) Alias(name string) Action {
	a.Aliases = append(a.Aliases, name)
	return a
}

// Called gives the command another name.
func (a Action) Called(name string) Action {
	a.Name = name
	return a
}

// summary is the command's help in short.
func (a Action) summary() string {
	if a.Help != "" {
		return a.Help
	}
	if r, ok := api.RouteOf(a.Route); ok {
		return r.Summary
	}
	return ""
}

// apply carries the action out as a plan has it: with the plan's own request.
func (a Action) apply(ctx context.Context, c *client.Client, id string, request json.RawMessage, o []client.Option) (any, string, error) {
	var body any
	if a.body != nil {
		body = reflect.New(a.body).Interface()
		if err := json.Unmarshal(request, body); err != nil {
			return nil, "", fmt.Errorf("read the request of the plan: %w", err)
		}
	}
	return a.do(ctx, c, id, body, o)
}
