package host

import (
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

// registerForm is what was typed, as it was typed.
type registerForm struct {
	Name, Address, Port, AdminUser, Region, Zone, Networks, Labels, Profile, Trust, HostKey string
	Key                                                                                     string // for idempotency: one form, one host
	PublicKey                                                                               string
	Wrong                                                                                   ui.Problems
}

var registerFields = []string{"name", "address", "port", "admin_user", "region", "zone", "networks", "labels", "profile", "host_key"}

var profiles = []ui.Choice{
	{Value: "minimal", Label: "minimal: required by Kloigos"},
	{Value: "standard", Label: "standard: minimal and language runtimes"},
	{Value: "build", Label: "build: standard and compilers"},
}

func showRegister(r *page.Request) error {
	return drawRegister(r, fiber.StatusOK, registerForm{Port: "22", AdminUser: "root", Networks: "default", Profile: "minimal"})
}

func drawRegister(r *page.Request, status int, f registerForm) error {
	f.Key = page.NewKey()
	if s, err := r.API.GetSystem(r.Ctx); err == nil { // shown where it may be seen
		f.PublicKey = s.PublicKey
	}
	return r.Show(page.View{Title: "Register a host", Nav: "/hosts", Status: status, Body: registerPage(f)})
}

func register(r *page.Request) error {
	f := registerForm{
		Name: r.Form("name"), Address: r.Form("address"), Port: r.Form("port"), AdminUser: r.Form("admin_user"), Region: r.Form("region"),
		Zone: r.Form("zone"), Networks: r.Form("networks"), Labels: r.Form("labels"), Profile: r.Form("profile"), Trust: r.Form("trust"),
		HostKey: r.Form("host_key"),
	}
	in, wrong := f.request()
	if wrong.Any() {
		f.Wrong = wrong
		return drawRegister(r, fiber.StatusUnprocessableEntity, f)
	}
	h, _, err := r.API.RegisterHost(r.Ctx, in, client.IdempotencyKey(page.KeyOr(r.Form("key"))))
	if err != nil {
		problems, ok := page.Problems(err)
		if !ok {
			return err
		}
		f.Wrong = problems
		return drawRegister(r, fiber.StatusUnprocessableEntity, f)
	}
	return r.Go(setupAt(h), "registered")
}

func (f registerForm) request() (in api.RegisterHost, wrong ui.Problems) {
	in = api.RegisterHost{
		Name: f.Name, Address: f.Address, AdminUser: f.AdminUser, Region: f.Region, Zone: f.Zone,
		Networks: page.Words(f.Networks), Profile: f.Profile, HostKey: f.HostKey, TrustOnFirstUse: f.Trust == "first",
	}
	if f.Trust != "key" {
		in.HostKey = ""
	}
	// An address that was pasted as user@host:port is taken apart.
	if user, rest, ok := strings.Cut(in.Address, "@"); ok {
		in.AdminUser, in.Address = user, rest
	}
	labels, err := page.Labels(f.Labels)
	if err != nil {
		wrong = problemsOf("labels", err)
	}
	in.Labels = labels
	if f.Port != "" {
		port, err := strconv.Atoi(f.Port)
		if err != nil || port < 1 || port > 65535 {
			wrong.Title = "Not accepted. Nothing was changed."
			wrong.Fields = append(wrong.Fields, ui.FieldProblem{Field: "port", Message: "enter a number from 1 to 65535"})
		}
		in.Port = port
	}
	return in, wrong
}
