package page

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/webapp/internal/session"
)

// mostKept is how many bytes of a form go over a login: it comes back in the
// body of someone who has no session yet, which is small.
const mostKept = 12 << 10

// Kept is a form that was sent when its session had ended. It is carried by the
// login page, and sent again by a click only. The zero Kept is none.
type Kept struct {
	Path string // where it was sent
	Form string // its fields, encoded; nothing secret
}

// secretFields are parts of the names of fields that are never kept.
var secretFields = []string{"password", "secret", "token"}

func isSecret(name string) bool {
	if name == "code" || name == "pending" || name == "credential" || name == "challenge" { // of a second factor or a passkey
		return true
	}
	return slices.ContainsFunc(secretFields, func(part string) bool { return strings.Contains(strings.ToLower(name), part) })
}

// KeptOf reads a kept form that came back; none of what can't have been ours.
func KeptOf(path, form string) Kept {
	if path == "" || session.ReturnPath(path) != path || path == "/" || len(form) > mostKept {
		return Kept{}
	}
	if _, err := url.ParseQuery(form); err != nil {
		return Kept{}
	}
	return Kept{path, form}
}

// Fields are the fields of the form.
func (k Kept) Fields() url.Values {
	fields, _ := url.ParseQuery(k.Form) // was looked at by KeptOf
	return fields
}

// keep takes up the form of a request. Files are not kept, and neither is a form
// that is too long.
func keep(c *fiber.Ctx) Kept {
	if !bytes.HasPrefix(c.Request().Header.ContentType(), []byte(fiber.MIMEApplicationForm)) || c.Path() == "/logout" {
		return Kept{}
	}
	fields, err := url.ParseQuery(string(c.Request().Body()))
	if err != nil {
		return Kept{}
	}
	for name := range fields {
		if isSecret(name) {
			delete(fields, name)
		}
	}
	form := fields.Encode()
	if len(url.QueryEscape(form)) > mostKept {
		return Kept{}
	}
	return KeptOf(requestURI(c), form)
}

// formPage is the page that a form was sent from.
func formPage(c *fiber.Ctx) string {
	u, err := url.Parse(c.Get(fiber.HeaderReferer))
	if err != nil || u.Host != string(c.Request().Header.Host()) {
		return "/"
	}
	return session.ReturnPath(u.RequestURI())
}
