package page

import (
	"context"
	"net/url"
	"reflect"
	"strconv"
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

// Once is the idempotency key that came with a form.
func (r *Request) Once() client.Option { return client.IdempotencyKey(KeyOr(r.Form("key"))) }

// IfSeen lets a change pass only if the object is still as it was shown.
func (r *Request) IfSeen() client.Option {
	version, err := strconv.ParseInt(r.Form("version"), 10, 64)
	if err != nil {
		version = 0 // none has it
	}
	return client.IfMatch(version)
}

// Typed refuses an action unless a text was typed with it.
func (r *Request) Typed(want string) error {
	if r.Form("confirm") != want {
		return &api.Problem{Status: fiber.StatusConflict, Code: "not_confirmed", Detail: "the typed text is not " + want + "; nothing was done"}
	}
	return nil
}

// Bind reads a form into a body of the API, by the names that the fields have there: texts, numbers, checkboxes, and lists
// with one value a line. Pointers are set. What is no number is a problem of its field.
func (r *Request) Bind(body any) (wrong ui.Problems) {
	r.bind(reflect.ValueOf(body).Elem(), &wrong)
	return wrong
}

func (r *Request) bind(v reflect.Value, wrong *ui.Problems) {
	for i := range v.NumField() {
		if v.Type().Field(i).Anonymous {
			r.bind(v.Field(i), wrong)
			continue
		}
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if !r.C.Request().PostArgs().Has(name) && v.Field(i).Kind() != reflect.Bool {
			continue
		}
		field := v.Field(i)
		if field.Kind() == reflect.Pointer && field.Type().Elem().Kind() == reflect.Int64 && r.Form(name) == "" {
			continue // no number is none
		}
		if field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		text := r.Form(name)
		switch field.Kind() {
		case reflect.String:
			field.SetString(text)
		case reflect.Bool:
			field.SetBool(text == "true")
		case reflect.Int, reflect.Int64:
			n, err := Number(text)
			if err != nil {
				wrong.Title = "Not accepted. Nothing was changed."
				wrong.Fields = append(wrong.Fields, ui.FieldProblem{Field: name, Message: "enter a whole number"})
			}
			field.SetInt(int64(n))
		case reflect.Slice:
			field.Set(reflect.ValueOf(append([]string{}, Lines(text)...)))
		}
	}
}

// typed is the form as it was typed, so that it can be drawn again. What is secret is left out.
func (r *Request) typed(f *ui.Form) {
	f.Values = url.Values{}
	for key := range r.C.Request().PostArgs().All() {
		if name := string(key); !isSecret(name) {
			f.Values[name] = []string{r.Form(name)}
		}
	}
	f.Version = r.Form("version")
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
