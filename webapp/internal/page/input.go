package page

import (
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/ui"
)

// input is what a browser sent.
type input struct{ C *fiber.Ctx }

// Param returns a part of the path.
func (in input) Param(name string) string { return strings.Clone(in.C.Params(name)) }

// Query returns a parameter of the address, trimmed.
func (in input) Query(name string) string { return strings.TrimSpace(in.C.Query(name)) }

// Form returns a field of the form that was sent, trimmed, with line ends as
// on Unix.
func (in input) Form(name string) string {
	return clean(string(in.C.Request().PostArgs().Peek(name)))
}

// FormRaw returns a field as it was typed: passwords.
func (in input) FormRaw(name string) string {
	return string(in.C.Request().PostArgs().Peek(name))
}

// FormAll returns the values of a field that may come several times.
func (in input) FormAll(name string) []string {
	var all []string
	for _, v := range in.C.Request().PostArgs().PeekMulti(name) {
		if s := clean(string(v)); s != "" {
			all = append(all, s)
		}
	}
	return all
}

// Live tells whether htmx asked, for a part of the page.
func (in input) Live() bool { return in.C.Get("HX-Request") == "true" }

// Here is the address of the page, without the notice of what was just done.
func (in input) Here() string {
	if in.C.Method() != fiber.MethodGet {
		return "/"
	}
	u := string(in.C.Request().URI().RequestURI())
	if i := strings.LastIndexAny(u, "?&"); i >= 0 && strings.HasPrefix(u[i+1:], "said=") {
		return u[:i]
	}
	return u
}

// Planning tells whether a form asks for a plan instead of the action.
func (in input) Planning() bool { return in.Form("plan") == "true" }

// queryBut are the parameters of a list that stay from page to page: all but
// these.
func (in input) queryBut(but ...string) url.Values {
	q := url.Values{}
	all, _ := url.ParseQuery(string(in.C.Request().URI().QueryString())) // what can be read of it
	for k, values := range all {
		for _, v := range values {
			if v != "" && k != "cursor" && k != "said" && !slices.Contains(but, k) {
				q.Add(k, v)
			}
		}
	}
	return q
}

// Sorter is the order of the list that is looked at, with the addresses of the
// others; theDefault is what the API does where none is named.
func (in input) Sorter(theDefault string) ui.Sorter {
	return ui.Sorter{Path: in.C.Path(), Query: in.queryBut("sort"), Given: in.Query("sort"), Default: theDefault}
}

// Columns are the columns of the list that is looked at; what is not one of
// them was not chosen.
func (in input) Columns(all []ui.Column) ui.Columns {
	c := ui.Columns{All: all, Path: in.C.Path(), Query: in.queryBut("col")}
	for _, key := range in.queryBut()["col"] {
		known := slices.ContainsFunc(all, func(col ui.Column) bool { return col.Key == key })
		if known && !slices.Contains(c.Given, key) {
			c.Given = append(c.Given, key)
		}
	}
	return c
}

// Pages returns the addresses of the pages around one of a list, with the same
// filters, by the cursors that lead there.
func (in input) Pages(previous, next string) (p ui.Pages) {
	q := in.queryBut()
	at := func(cursor string) string {
		q.Del("cursor")
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		if len(q) == 0 {
			return in.C.Path()
		}
		return in.C.Path() + "?" + q.Encode()
	}
	if previous != "" {
		p.First, p.Previous = at(""), at(previous)
	}
	if next != "" {
		p.Next = at(next)
	}
	return p
}

// Once is the idempotency key that came with a form.
func (in input) Once() client.Option { return client.IdempotencyKey(KeyOr(in.Form("key"))) }

// IfSeen lets a change pass only if the object is still as it was shown.
func (in input) IfSeen() client.Option {
	version, err := strconv.ParseInt(in.Form("version"), 10, 64)
	if err != nil {
		version = 0 // none has it
	}
	return client.IfMatch(version)
}

// Typed refuses an action unless a text was typed with it.
func (in input) Typed(want string) error {
	if in.Form("confirm") != want {
		return &api.Problem{Status: fiber.StatusConflict, Code: "not_confirmed", Detail: "the typed text is not " + want + "; nothing was done"}
	}
	return nil
}

// Bind reads a form into a body of the API, by the names that the fields have there: texts, numbers, checkboxes, and lists
// with one value a line. Pointers are set. What is no number is a problem of its field.
func (in input) Bind(body any) (wrong ui.Problems) {
	in.bind(reflect.ValueOf(body).Elem(), &wrong)
	return wrong
}

func (in input) bind(v reflect.Value, wrong *ui.Problems) {
	for i := range v.NumField() {
		if v.Type().Field(i).Anonymous {
			in.bind(v.Field(i), wrong)
			continue
		}
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if !in.C.Request().PostArgs().Has(name) && v.Field(i).Kind() != reflect.Bool {
			continue
		}
		field := v.Field(i)
		if field.Kind() == reflect.Pointer && field.Type().Elem().Kind() == reflect.Int64 && in.Form(name) == "" {
			continue // no number is none
		}
		if field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		text := in.Form(name)
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
func (in input) typed(f *ui.Form) {
	f.Values = url.Values{}
	for key := range in.C.Request().PostArgs().All() {
		if name := string(key); !isSecret(name) {
			f.Values[name] = []string{in.Form(name)}
		}
	}
	f.Version = in.Form("version")
}
