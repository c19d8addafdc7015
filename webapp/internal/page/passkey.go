package page

import (
	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
)

// Ask answers the script that talks to devices (passkey.js) with a challenge of the API, or with why there is none.
func (r *Request) Ask(challenge api.PasskeyChallenge, err error) error {
	r.C.Set(fiber.HeaderCacheControl, "no-store")
	if err == nil {
		return r.C.JSON(challenge)
	}
	wrong, ok := Problems(err)
	if !ok {
		return err
	}
	text := wrong.Detail
	for _, f := range wrong.Fields {
		text = f.Message
	}
	return r.C.Status(fiber.StatusUnprocessableEntity).JSON(map[string]string{"detail": text})
}
