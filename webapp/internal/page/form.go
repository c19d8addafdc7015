package page

import (
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
