package usage

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

const setPrice = "installation.price:set"

// units are what one of each resource is.
var units = map[string]string{"unit_hour": "a unit for an hour", "cpu_hour": "a CPU for an hour", "memory_gib_hour": "a GiB for an hour", "volume_gib_hour": "a GiB for an hour"}

var priced = map[string]string{"unit_hour": "Units", "cpu_hour": "CPUs", "memory_gib_hour": "Memory", "volume_gib_hour": "Volumes"}

// list is all prices: one row for each resource in force, then those that begin later and those that are past.
type list struct {
	InForce     []api.Price // without a price where the resource has none
	Later, Past []api.Price
	None        bool
	MaySet      bool
	Form        ui.Form
}

func resourcesPriced() []string { return states.Enum(api.CreatePrice{}, "Resource") }

func listOf(all []api.Price) list {
	l := list{None: len(all) == 0}
	names := resourcesPriced()
	for _, p := range all { // those of an API that is newer
		if !slices.Contains(names, p.Resource) {
			names = append(names, p.Resource)
		}
	}
	for _, name := range names {
		row := api.Price{Resource: name}
		for _, p := range all {
			switch {
			case p.Resource != name:
			case p.State == "in_force":
				row = p
			case p.State == "later":
				l.Later = append(l.Later, p)
			default:
				l.Past = append(l.Past, p)
			}
		}
		l.InForce = append(l.InForce, row)
	}
	slices.SortStableFunc(l.Later, func(a, b api.Price) int { return a.BeginsAt.Compare(b.BeginsAt) })
	return l
}

// currency is that of the prices that are there.
func (l list) currency() string {
	for _, p := range slices.Concat(l.InForce, l.Later) {
		if p.Currency != "" {
			return p.Currency
		}
	}
	return "EUR"
}

func prices(r *page.Request) error {
	now := time.Now().UTC()
	next := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	return drawPrices(r, fiber.StatusOK, ui.Form{Values: url.Values{"resource": {resourcesPriced()[0]}, "begins_at": {next.Format(time.DateOnly)}}})
}

func drawPrices(r *page.Request, status int, f ui.Form) error {
	found, err := r.API.ListPrices(r.Ctx, api.PriceFilter{})
	if err != nil {
		return err
	}
	l := listOf(found.Items)
	l.MaySet, l.Form = r.May(setPrice), f
	l.Form.Key = page.NewKey()
	if l.Form.Values.Get("currency") == "" {
		l.Form.Values.Set("currency", l.currency())
	}
	return r.Show(page.View{Title: "Prices", Nav: "/organizations", Status: status, Body: pricesPage(l, r.Here())})
}

func addPrice(r *page.Request) error {
	in := api.CreatePrice{Resource: r.Form("resource"), Price: r.Form("price"), Currency: strings.ToUpper(r.Form("currency"))}
	f := ui.Form{Values: url.Values{"resource": {in.Resource}, "price": {in.Price}, "currency": {in.Currency}, "begins_at": {r.Form("begins_at")}}}
	var err error
	if in.BeginsAt, err = time.Parse(time.DateOnly, r.Form("begins_at")); err != nil {
		f.Wrong = ui.Problems{Title: "Not accepted. Nothing was changed.", Fields: []ui.FieldProblem{{Field: "begins_at", Message: "enter a day, such as 2026-12-01"}}}
		return drawPrices(r, fiber.StatusUnprocessableEntity, f)
	}
	if _, err = r.API.CreatePrice(r.Ctx, in, r.Once()); err == nil {
		return r.Go("/prices", "price-added")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return drawPrices(r, status, f)
	})
}

func deletePrice(r *page.Request) error {
	err := r.API.DeletePrice(r.Ctx, r.Param("id"))
	if err == nil {
		return r.Go("/prices", "price-deleted")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		return drawPrices(r, status, ui.Form{Values: url.Values{}, Wrong: wrong})
	})
}

// pricedAs names a resource that has prices.
func pricedAs(resource string) string {
	if words, known := priced[resource]; known {
		return words
	}
	return ui.Sentence(resource)
}

func mayDelete(p api.Price) bool {
	return slices.ContainsFunc(p.Operations, func(o api.Operation) bool { return o.Name == "delete" && o.Allowed })
}

// money is a price without the zeros that say nothing: at least two digits stay behind the point.
func money(price, currency string) string {
	if whole, part, ok := strings.Cut(price, "."); ok {
		part = strings.TrimRight(part, "0")
		for len(part) < 2 {
			part += "0"
		}
		price = whole + "." + part
	}
	return strings.TrimSpace(price + " " + currency)
}

// moment is a time in UTC, as a day if it is the beginning of one.
func moment(at time.Time) string {
	at = at.UTC()
	if at.Truncate(24 * time.Hour).Equal(at) {
		return at.Format(time.DateOnly)
	}
	return at.Format("2006-01-02 15:04:05")
}

func choices() (all []ui.Choice) {
	for _, name := range resourcesPriced() {
		all = append(all, ui.Choice{Value: name, Label: priced[name] + ": " + units[name]})
	}
	return all
}
