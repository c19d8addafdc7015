// Package system owns the page of the installation: backends, database, the key
// for hosts.
package system

import (
	"github.com/gofiber/fiber/v2"

	"kloigos/webapp/internal/page"
)

// Mount adds the routes.
func Mount(r fiber.Router, a *page.App) {
	r.Get("/system", a.Page(show))
}

func show(r *page.Request) error {
	s, err := r.API.GetSystem(r.Ctx)
	if err != nil {
		return err
	}
	return r.Show(page.View{Title: "System", Nav: "/system", Body: systemPage(s)})
}
