// Package quota owns the page of the quotas that bound a scope, with how much of each is in use, and the forms that set one
// and take it away.
package quota

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/organization"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

const (
	icon = "M2 13.500h12M4 13.500v-4M8 13.500v-9M12 13.500V7"
	set  = "organization.quota:set"
	// nearly and full are from how many thousandths in use a quota says so.
	nearly, full = 800, 1000
)

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Pages: []ui.Target{{Href: "/quotas", Label: "Quotas", Icon: icon, Needs: "organization.quota:read"}},
	Notices: map[string]string{
		"quota-set":     "The quota is set. It counts at once for what begins.",
		"quota-cleared": "The quota is taken away.",
	},
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/quotas", a.Page(list))
	r.Post("/quotas", a.Page(change))
	r.Post("/quotas/clear", a.Page(remove))
}

// bar is a quota as it is drawn.
type bar struct {
	api.Quota
	Share   int64 // thousandths in use
	MaySet  bool
	Tone    ui.Tone
	Says    string
	InWords string
}

type view struct {
	Scope  api.Scope
	Up     []ui.Target
	Scopes []string // at which the session may set quotas
	Bars   []bar
	Form   ui.Form
}

func quotasURL(path string) string { return "/quotas?scope=" + url.QueryEscape(path) }

func list(r *page.Request) error {
	return draw(r, fiber.StatusOK, ui.Form{Values: url.Values{"resource": {"units"}}})
}

// above is the scope above one, "" for the installation.
func above(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return ""
	}
	return path[:i]
}

func draw(r *page.Request, status int, f ui.Form) error {
	s, err := organization.Named(r, "scope")
	if err != nil {
		return err
	}
	found, err := r.API.ListQuotas(r.Ctx, api.QuotaFilter{Scope: s.Path})
	if err != nil {
		return err
	}
	v := view{Scope: s, Up: organization.Crumbs(s), Form: f}
	// Who sets a quota has the permission in the scope above.
	may := map[string]bool{above(s.Path): false}
	for _, q := range found.Items {
		may[above(q.Scope)] = false
	}
	if r.May(set) {
		for path := range may {
			if may[path], err = r.MayAt(set, path); err != nil {
				return err
			}
		}
	}
	for _, q := range found.Items {
		v.Bars = append(v.Bars, drawn(q, may[above(q.Scope)]))
	}
	slices.SortStableFunc(v.Bars, func(a, b bar) int {
		if n := strings.Count(a.Scope, "/") - strings.Count(b.Scope, "/"); n != 0 {
			return n
		}
		return strings.Compare(a.Scope+a.Resource, b.Scope+b.Resource)
	})
	if may[above(s.Path)] && s.State == "active" && s.SuspendedBy == "" {
		v.Scopes = []string{s.Path}
	}
	v.Form.Key = page.NewKey()
	return r.Show(page.View{Title: "Quotas of " + s.Path, Nav: "/organizations", Status: status, Body: listPage(v, r.Here())})
}

func drawn(q api.Quota, maySet bool) bar {
	b := bar{Quota: q, Share: ui.GaugeOf(q.Used, q.Amount), MaySet: maySet, Tone: ui.Used, InWords: Amount(q.Resource, q.Used) + " of " + Amount(q.Resource, q.Amount)}
	if q.Used >= q.Amount { // also one of nothing at all
		b.Share = full
	}
	switch {
	case b.Share >= full:
		b.Tone, b.Says = ui.Bad, "used up: nothing more begins"
	case b.Share >= nearly:
		b.Tone, b.Says = ui.Wait, "nearly used up"
	}
	return b
}

// percent never says 100 before all is in use.
func (b bar) percent() string {
	if b.Amount > 0 && b.Used > b.Amount {
		return strconv.FormatInt(int64(float64(b.Used)/float64(b.Amount)*100), 10) + " %"
	}
	return strconv.FormatInt(b.Share/10, 10) + " %"
}

// Amount is an amount of a resource in words.
func Amount(resource string, n int64) string {
	if resource == "memory_bytes" {
		return ui.Bytes(n)
	}
	return ui.Number(n)
}

// resource is a resource in words.
func resource(name string) string {
	switch name {
	case "memory_bytes":
		return "Memory"
	case "cpus":
		return "CPUs"
	}
	return ui.Sentence(name)
}

func resources() (all []ui.Choice) {
	for _, name := range states.Enum(api.SetQuota{}, "Resource") {
		all = append(all, ui.Choice{Value: name, Label: resource(name)})
	}
	return all
}

func change(r *page.Request) error {
	f := ui.Form{Values: url.Values{"resource": {r.Form("resource")}, "amount": {r.Form("amount")}}}
	in := api.SetQuota{Scope: r.Form("scope"), Resource: r.Form("resource")}
	var err error
	if in.Resource == "memory_bytes" {
		in.Amount, err = page.Size(r.Form("amount"))
	} else {
		in.Amount, err = strconv.ParseInt(r.Form("amount"), 10, 64)
	}
	if err != nil || r.Form("amount") == "" {
		f.Wrong = ui.Problems{Title: "Not accepted. Nothing was changed.", Fields: []ui.FieldProblem{{Field: "amount", Message: "enter a whole number; memory as 64 GiB"}}}
		return draw(r, fiber.StatusUnprocessableEntity, f)
	}
	if _, err = r.API.SetQuota(r.Ctx, in, client.IdempotencyKey(page.KeyOr(r.Form("key")))); err == nil {
		return r.Go(quotasURL(in.Scope), "quota-set")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return draw(r, status, f)
	})
}

func remove(r *page.Request) error {
	if _, err := r.API.RemoveQuota(r.Ctx, api.QuotaOf{Scope: r.Form("of"), Resource: r.Form("resource")}); err != nil {
		return err
	}
	return r.Go(quotasURL(r.Form("scope")), "quota-cleared")
}
