// Package unit owns the pages of compute units: the list, and a unit with its
// limits, its tenant and the evidence of its last wipe.
package unit

import (
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/webapp/internal/drift"
	"kloigos/webapp/internal/job"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

type listView struct {
	Sort                      ui.Sorter
	Columns                   ui.Columns
	Units                     []api.ComputeUnit
	State, Host, Region, Zone string
	Labels                    string // of the host
	MinCPUs                   string
	Pages                     ui.Pages
	Filtered                  bool
}

type detailView struct {
	Unit   api.ComputeUnit
	Object object.View
	// OutOfReach is true of a free unit whose host does not answer.
	OutOfReach bool
	Drifts     []api.Drift // what is not as promised
}

// operations are what can be done with the unit, the way out of a failure first.
func (v detailView) operations() (all []ui.Operation) {
	if strings.HasSuffix(v.Unit.State, "_failed") {
		all = job.WayOut(v.Object.Jobs)
	}
	if v.Unit.State == "preparation_failed" {
		all = append(all, ui.Operation{Label: "Go to its host", What: "There it can be initialized again or laid out anew.", Href: "/hosts/" + v.Unit.HostID, Allowed: true})
	}
	for _, o := range operations(v.Unit) {
		if o.Main && v.OutOfReach {
			o.Allowed, o.Prevents = false, "Its host is unreachable."
		}
		all = append(all, o)
	}
	return all
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/compute-units", a.Page(list))
	r.Get("/compute-units/:id", a.Page(detail))
	r.Post("/compute-units/:id/close", a.Page(closeUnit))
	r.Post("/compute-units/:id/open", a.Page(openUnit))
}

var listColumns = []ui.Column{
	{Key: "tenant", Label: "Tenant", Default: true},
	{Key: "cpus", Label: "CPUs", Default: true},
	{Key: "memory", Label: "Memory", Default: true},
	{Key: "volume", Label: "Volume", Default: true},
	{Key: "use", Label: "Use"},
	{Key: "host", Label: "Host", Default: true},
	{Key: "place", Label: "Region, zone", Default: true},
	{Key: "nodes", Label: "NUMA nodes"},
	{Key: "labels", Label: "Host labels"},
	{Key: "mount", Label: "Mounted at"},
	{Key: "wiped", Label: "Wiped"},
	{Key: "created", Label: "Made"},
}

// OfHost are the columns of a table of one host's units.
var OfHost = ui.Columns{All: listColumns, Given: []string{"tenant", "cpus", "memory", "use"}}

func list(r *page.Request) error {
	f := api.UnitFilter{State: r.Query("state"), Host: r.Query("host"), Region: r.Query("region"), Zone: r.Query("zone"), Labels: ui.LabelFilter(r.Query("labels"))}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	if n, err := strconv.Atoi(r.Query("min_cpus")); err == nil && n > 0 {
		f.MinCPUs = n
	}
	units, err := r.API.ListComputeUnits(r.Ctx, f)
	if err != nil {
		return err
	}
	v := listView{Units: units.Items, State: f.State, Host: f.Host, Region: f.Region, Zone: f.Zone, Labels: f.Labels}
	v.Filtered = f.State+f.Host+f.Region+f.Zone+f.Labels != "" || f.MinCPUs > 0
	if f.MinCPUs > 0 {
		v.MinCPUs = strconv.Itoa(f.MinCPUs)
	}
	v.Pages = r.Pages(units.PreviousCursor, units.NextCursor)
	v.Sort, v.Columns = r.Sorter("name"), r.Columns(listColumns)
	return r.Show(page.View{Title: "Compute units", Nav: "/compute-units", Body: listPage(v, r.Here())})
}

func detail(r *page.Request) error {
	u, err := r.API.GetComputeUnit(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := detailView{Unit: u}
	g, ctx := errgroup.WithContext(r.Ctx)
	if u.State == "free" {
		g.Go(func() error {
			h, err := r.API.GetHost(ctx, u.HostID)
			v.OutOfReach = h.Health == "unreachable"
			return page.Optional(err)
		})
	}
	g.Go(func() (err error) {
		v.Drifts, err = drift.Of(ctx, r, "", u.ID)
		return err
	})
	g.Go(func() (err error) {
		v.Object, err = object.Load(ctx, r, "unit", u.ID, api.JobFilter{Unit: u.ID})
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	return r.Show(page.View{Title: u.Name, Nav: "/compute-units", Body: detailPage(v, r.Here())})
}

func closeUnit(r *page.Request) error {
	u, err := r.API.CloseComputeUnit(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	return r.Go("/compute-units/"+u.ID, "unit-closed")
}

func openUnit(r *page.Request) error {
	u, err := r.API.OpenComputeUnit(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	return r.Go("/compute-units/"+u.ID, "unit-opened")
}

// operations are what the state of a unit lets one do.
func operations(u api.ComputeUnit) []ui.Operation {
	at := "/compute-units/" + u.ID
	switch u.State {
	case "free":
		return []ui.Operation{
			{Label: "Allocate", What: "Gives this unit to a person: login user, SSH keys, address.", Href: "/allocations/new?unit=" + u.Name, Allowed: u.HostState == "ready", Prevents: "Its host is " + ui.Word(u.HostState) + ".", Main: true},
			{Label: "Close", What: "Prevents allocations of this unit until you open it. Nothing changes on the host.", Action: at + "/close", Allowed: true},
		}
	case "unavailable":
		return []ui.Operation{{Label: "Open", What: "Allows allocations of this unit again.", Action: at + "/open", Allowed: true}}
	default:
		return nil
	}
}

// kindsOfRemoved are in the order in which they are shown.
var kindsOfRemoved = []struct{ kind, name string }{
	{"crontab", "Crontab"},
	{"at", "Jobs of at"},
	{"mail", "Mail"},
	{"ipc", "IPC objects"},
	{"linger", "Lingering"},
	{"journal", "Journal"},
	{"core_dump", "Core dumps"},
	{"subordinate_ids", "Subordinate ids"},
	{"file", "Files elsewhere"},
}

type removedKind struct {
	Name string
	What []string
}

// removedByKind sorts what was removed by what it was.
func removedByKind(w api.Wipe) (all []removedKind) {
	for _, k := range kindsOfRemoved {
		of := removedKind{Name: k.name}
		for _, r := range w.Removed {
			if r.Kind == k.kind {
				of.What = append(of.What, r.What)
			}
		}
		if len(of.What) > 0 {
			all = append(all, of)
		}
	}
	return all
}

func methodMeans(method string) string {
	switch method {
	case "discard":
		return "zeroed by the device, then a new file system; a sample was read back as zeroes"
	case "discard+zero":
		return "discarded and written with zeroes, then a new file system; every byte was read back as zero"
	case "zero":
		return "written with zeroes, then a new file system; every byte was read back as zero"
	default:
		return method
	}
}
