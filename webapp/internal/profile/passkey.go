package profile

import (
	"encoding/json"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
)

const passkeyForm = "passkey"

// askForPasskey answers the script of the page.
func askForPasskey(r *page.Request) error {
	return r.Ask(r.API.BeginPasskey(r.Ctx, api.ProvePassword{Password: r.FormRaw("passkey_password")}))
}

func addPasskey(r *page.Request) error {
	in := api.CreatePasskey{Name: r.Form("passkey_name"), Challenge: r.Form("challenge"), Credential: json.RawMessage(r.FormRaw("credential"))}
	if !json.Valid(in.Credential) {
		in.Credential = json.RawMessage("{}") // the API says what is wrong
	}
	if _, err := r.API.CreatePasskey(r.Ctx, in); err != nil {
		return refused(r, passkeyForm, err)
	}
	return r.Go("/profile", "passkey-added")
}

func removePasskey(r *page.Request) error {
	if err := r.API.DeletePasskey(r.Ctx, r.Param("id")); err != nil {
		return refused(r, passkeyForm, err)
	}
	return r.Go("/profile", "passkey-removed")
}
