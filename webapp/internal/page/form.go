package page

import (
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/ui"
)

// Refused draws a form again, with what is wrong with it, if that is what the error is about.
func Refused(err error, draw func(status int, wrong ui.Problems) error) error {
	if err == nil {
		return nil
	}
	problems, ok := Problems(err)
	if !ok {
		return err
	}
	return draw(fiber.StatusUnprocessableEntity, problems)
}

// Create makes an object of a form, and leads to it; a form that is refused is drawn again.
func Create[B, T any](call func(*client.Client, context.Context, B, ...client.Option) (T, error), draw func(*Request, int, ui.Form) error, to func(T) string, said string) func(*Request) error {
	return func(r *Request) error {
		var body B
		return r.send(r.Bind(&body), draw, said, func() (string, error) {
			made, err := call(r.API, r.Ctx, body, r.Once())
			return to(made), err
		})
	}
}

// Change changes the object of the path by a form, unless somebody else did so first.
func Change[B, T any](call func(*client.Client, context.Context, string, B, ...client.Option) (T, error), draw func(*Request, int, ui.Form) error, to func(T) string, said string) func(*Request) error {
	return func(r *Request) error {
		var body B
		return r.send(r.Bind(&body), draw, said, func() (string, error) {
			made, err := call(r.API, r.Ctx, r.Param("id"), body, r.IfSeen())
			return to(made), err
		})
	}
}

func (r *Request) send(wrong ui.Problems, draw func(*Request, int, ui.Form) error, said string, call func() (to string, err error)) error {
	var f ui.Form
	r.typed(&f)
	if f.Wrong = wrong; wrong.Any() {
		return draw(r, fiber.StatusUnprocessableEntity, f)
	}
	to, err := call()
	if err == nil {
		return r.Go(to, said)
	}
	problems, ok := Problems(err)
	if !ok {
		return err
	}
	f.Wrong = problems
	return draw(r, fiber.StatusUnprocessableEntity, f)
}

// Start asks for a job about the object of the path, and leads to it.
func Start[T any](call func(*client.Client, context.Context, string, ...client.Option) (T, string, error), list string) func(*Request) error {
	return func(r *Request) error {
		_, job, err := call(r.API, r.Ctx, r.Param("id"))
		if err != nil {
			return err
		}
		return r.GoJob(job, list+r.Param("id"), "")
	}
}

// Delete deletes the object of the path, if its name was typed. about tells of an object which name that is, and where to go then.
func Delete[T any](
	get func(*client.Client, context.Context, string) (T, error), remove func(*client.Client, context.Context, string, ...client.Option) error,
	about func(T) (name, to string), said string,
) func(*Request) error {
	return func(r *Request) error {
		object, err := get(r.API, r.Ctx, r.Param("id"))
		if err != nil {
			return err
		}
		name, to := about(object)
		if err := r.Typed(name); err != nil {
			return err
		}
		if err := remove(r.API, r.Ctx, r.Param("id"), r.IfSeen()); err != nil {
			return err
		}
		return r.Go(to, said)
	}
}

// Typed lets act go on if the name of the object of the path was typed.
func Typed[T any](get func(*client.Client, context.Context, string) (T, error), name func(T) string, act func(*Request) error) func(*Request) error {
	return func(r *Request) error {
		object, err := get(r.API, r.Ctx, r.Param("id"))
		if err != nil {
			return err
		}
		if err := r.Typed(name(object)); err != nil {
			return err
		}
		return act(r)
	}
}

// Operations words what the API says can be done with an object, in the order of the words. Those without words are left out.
func Operations(given []api.Operation, words []ui.Operation) (all []ui.Operation) {
	for _, o := range words {
		for _, g := range given {
			if strings.ReplaceAll(g.Name, "_", "-") == o.Name {
				o.Allowed, o.Prevents = g.Allowed, g.Prevents
				all = append(all, o)
			}
		}
	}
	return all
}
