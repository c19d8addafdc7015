// Package allocation owns the pages of allocations: the list, asking for a unit
// (and why none fits), an allocation with the command to log in, its keys, and
// giving it back.
package allocation

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/job"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

type listView struct {
	Sort              ui.Sorter
	Columns           ui.Columns
	Allocations       []api.Allocation
	State, Host, User string
	Region, Zone      string // of the host
	Labels            string
	Pages             ui.Pages
	Filtered          bool
}

type detailView struct {
	Allocation api.Allocation
	Use        useView
	Keys       string // what the form of keys holds
	Wrong      ui.Problems
	Object     object.View
	Shared     string // name of the network, if it is of another workspace; the allocation has its id then
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/allocations", a.Page(list))
	r.Get("/allocations/new", a.Page(showCreate))
	r.Post("/allocations/new", a.Page(create))
	r.Post("/allocations/move-network", a.Page(moveNetworks))
	r.Post("/allocations/new/capacity", a.Page(showCapacity))
	r.Get("/allocations/:id", a.Page(detail))
	r.Get("/allocations/:id/use", a.Page(use))
	r.Post("/allocations/:id/measure", a.Page(measure))
	r.Post("/allocations/:id/ssh-keys", a.Page(replaceKeys))
	r.Post("/allocations/:id/move-network", a.Page(moveNetwork))
	r.Post("/allocations/:id/deallocate", a.Page(deallocate))
}

var listColumns = []ui.Column{
	{Key: "unit", Label: "Unit", Default: true},
	{Key: "address", Label: "Address", Default: true},
	{Key: "cpus", Label: "CPUs", Default: true},
	{Key: "memory", Label: "Memory", Default: true},
	{Key: "made", Label: "Made", Default: true},
	{Key: "ssh", Label: "SSH command"},
	{Key: "volume", Label: "Volume"},
	{Key: "host", Label: "Host"},
	{Key: "network", Label: "Network"},
	{Key: "uid", Label: "UID"},
	{Key: "keys", Label: "SSH keys"},
}

func list(r *page.Request) error {
	f := api.AllocationFilter{State: r.Query("state"), Host: r.Query("host"), LoginUser: r.Query("login_user"), Region: r.Query("region"), Zone: r.Query("zone"), Labels: ui.LabelFilter(r.Query("labels"))}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	v := listView{State: f.State, Host: f.Host, User: f.LoginUser, Region: f.Region, Zone: f.Zone, Labels: f.Labels}
	v.Filtered = f.State+f.Host+f.LoginUser+f.Region+f.Zone+f.Labels != ""
	switch f.State {
	case "":
		f.State, v.State = "live", "live" // those that have ended are many, and seldom looked for
	case "all":
		f.State = ""
	}
	found, err := r.API.ListAllocations(r.Ctx, f)
	if err != nil {
		return err
	}
	v.Allocations = found.Items
	v.Pages = r.Pages(found.PreviousCursor, found.NextCursor)
	v.Sort, v.Columns = r.Sorter("-created_at"), r.Columns(listColumns)
	return r.Show(page.View{Title: "Allocations", Nav: "/allocations", Body: listPage(v, r.Here())})
}

func detail(r *page.Request) error {
	return drawDetail(r, fiber.StatusOK, "", ui.Problems{})
}

func drawDetail(r *page.Request, status int, typed string, wrong ui.Problems) error {
	a, err := r.API.GetAllocation(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := detailView{Allocation: a, Keys: strings.Join(a.SSHKeys, "\n"), Wrong: wrong}
	if wrong.Any() {
		v.Keys = typed
	}
	g, ctx := errgroup.WithContext(r.Ctx)
	g.Go(func() error {
		measures, err := measuring(r, a)
		v.Use = useView{Allocation: a, Job: measures}
		return err
	})
	g.Go(func() (err error) {
		v.Shared, err = sharedNetwork(ctx, r, a.Network)
		return err
	})
	g.Go(func() (err error) {
		v.Object, err = object.Load(ctx, r, "allocation", a.ID, api.JobFilter{Allocation: a.ID})
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	here := "/allocations/" + a.ID
	return r.Show(page.View{Title: a.LoginUser + " on " + a.Unit, Nav: "/allocations", Status: status, Body: detailPage(v, here)})
}

// sharedNetwork is the name of a network that another workspace shares, by its id; "" for all others.
func sharedNetwork(ctx context.Context, r *page.Request, network string) (string, error) {
	if len(network) != len(uuid.Nil.String()) {
		return "", nil // a name
	}
	found, err := r.API.ListSharedNetworks(ctx, api.SharedNetworkFilter{PageQuery: api.PageQuery{Limit: 200}})
	for _, n := range found.Items {
		if n.ID == network {
			return n.Name + " of " + n.Organization, nil
		}
	}
	return "", page.Optional(err)
}

func replaceKeys(r *page.Request) error {
	typed := r.Form("ssh_keys")
	a, err := r.API.GetAllocation(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	in := api.ReplaceKeys{SSHKeys: orNone(page.Lines(typed))}
	return page.PlanOr(r, "replace-allocation-keys", a.ID, in, func() (api.Allocation, string, error) {
		return r.API.ReplaceKeys(r.Ctx, a.ID, in)
	}, "/allocations/"+a.ID, func(_ int, wrong ui.Problems) error {
		return drawDetail(r, fiber.StatusUnprocessableEntity, typed, wrong)
	})
}

func moveNetwork(r *page.Request) error {
	return page.PlanOr(r, "move-allocation-network", r.Param("id"), nil, func() (api.Allocation, string, error) {
		return r.API.MoveNetwork(r.Ctx, r.Param("id"))
	}, "/allocations/"+r.Param("id"), nil)
}

// moveNetworks moves those that were shown. What can't be moved any more is left: its own page says why.
func moveNetworks(r *page.Request) error {
	for _, id := range r.FormAll("allocation") {
		_, _, err := r.API.MoveNetwork(r.Ctx, id)
		var p *api.Problem
		if err != nil && (!errors.As(err, &p) || p.Status != fiber.StatusConflict) {
			return err
		}
	}
	return r.Go("/jobs?kind=allocation_network", "")
}

// restarts are those of the list that would be isolated better after a restart, and can be restarted now.
func (v listView) restarts() (those []api.Allocation) {
	for _, a := range v.Allocations {
		if can, _ := allowed(a, "move-network"); a.RestartNeeded && can {
			those = append(those, a)
		}
	}
	return those
}

// users names the login users with their units.
func users(those []api.Allocation) string {
	names := make([]string, len(those))
	for at, a := range those {
		names[at] = a.LoginUser + " (" + a.Unit + ")"
	}
	return strings.Join(names, ", ")
}

func deallocate(r *page.Request) error {
	id := r.Param("id")
	if r.Planning() { // nothing needs to be typed to look
		a, err := r.API.GetAllocation(r.Ctx, id)
		if err != nil {
			return err
		}
		p, _, err := r.API.PlanDeallocate(r.Ctx, id, api.Deallocate{Confirm: a.LoginUser})
		return r.GoPlan(p, err)
	}
	_, job, err := r.API.Deallocate(r.Ctx, id, api.Deallocate{Confirm: r.Form("confirm")})
	if err != nil {
		return err
	}
	return r.GoJob(job, "/allocations/"+id, "")
}

// createForm is what was typed, as it was typed.
type createForm struct {
	CPUs, Unit, Host, Region, Zone, Network, HostLabels, LoginUser, SSHKeys, Labels string
	Key                                                                             string // for idempotency: one form, one allocation
	Wrong                                                                           ui.Problems
	Why                                                                             *api.WhyNot
	Free                                                                            *capacity // nil where it can't be told
}

var createFields = []string{"cpu_count", "unit", "host", "region", "zone", "network", "host_labels", "login_user", "ssh_keys", "labels"}

func showCreate(r *page.Request) error {
	f := createForm{CPUs: "1", Unit: r.Query("unit"), Host: r.Query("host")}
	if f.Unit != "" {
		f.CPUs = ""
	}
	return drawCreate(r, fiber.StatusOK, f)
}

func drawCreate(r *page.Request, status int, f createForm) error {
	f.Key = page.NewKey()
	if c, err := look(r, f); err == nil { // the form does without it
		f.Free = c
	}
	return r.Show(page.View{Title: "Allocate a unit", Nav: "/allocations", Status: status, Body: createPage(f)})
}

func readCreate(r *page.Request) createForm {
	return createForm{
		CPUs: r.Form("cpu_count"), Unit: r.Form("unit"), Host: r.Form("host"), Region: r.Form("region"), Zone: r.Form("zone"),
		Network: r.Form("network"), HostLabels: r.Form("host_labels"), LoginUser: r.Form("login_user"), SSHKeys: r.Form("ssh_keys"),
		Labels: r.Form("labels"),
	}
}

func create(r *page.Request) error {
	f := readCreate(r)
	in, wrong := f.request()
	if wrong.Any() {
		f.Wrong = wrong
		return drawCreate(r, fiber.StatusUnprocessableEntity, f)
	}
	key := client.IdempotencyKey(page.KeyOr(r.Form("key")))
	var err error
	if r.Planning() {
		var p api.Plan
		if p, _, err = r.API.PlanCreateAllocation(r.Ctx, in, key); err == nil {
			return r.GoPlan(p, nil)
		}
	} else {
		var a api.Allocation
		var job string
		if a, job, err = r.API.CreateAllocation(r.Ctx, in, key); err == nil {
			return r.GoJob(job, "/allocations/"+a.ID, "")
		}
	}
	problems, ok := page.Problems(err)
	if !ok {
		return err
	}
	f.Wrong = problems
	var p *api.Problem
	if errors.As(err, &p) && p.Placement != nil {
		f.Why = p.Placement
		f.Wrong.Title, f.Wrong.Detail = "No unit fits. Nothing was allocated.", ""
	}
	return drawCreate(r, p.Status, f)
}

func (f createForm) request() (in api.CreateAllocation, wrong ui.Problems) {
	bad := func(field string, err error) {
		if err != nil {
			wrong.Title = "Not accepted. Nothing was changed."
			wrong.Fields = append(wrong.Fields, ui.FieldProblem{Field: field, Message: err.Error()})
		}
	}
	in = api.CreateAllocation{
		Unit: f.Unit, Host: f.Host, Region: f.Region, Zone: f.Zone, Network: f.Network, LoginUser: f.LoginUser,
		SSHKeys: orNone(page.Lines(f.SSHKeys)),
	}
	var err error
	in.CPUs, err = page.Number(f.CPUs)
	bad("cpu_count", err)
	in.Labels, err = page.Labels(f.Labels)
	bad("labels", err)
	in.HostLabels, err = page.Labels(f.HostLabels)
	bad("host_labels", err)
	return in, wrong
}

// orNone makes an empty list an empty JSON array: the API answers with what is
// wrong, and not with a complaint about null.
func orNone(keys []string) []string {
	if keys == nil {
		return []string{}
	}
	return keys
}

func allowed(a api.Allocation, name string) (can bool, prevents string) {
	for _, o := range a.Operations {
		if strings.ReplaceAll(o.Name, "_", "-") == name {
			return o.Allowed, o.Prevents
		}
	}
	return false, ""
}

// neverBegan tells whether the allocation was cancelled before anything was done
// for it.
func (v detailView) neverBegan() bool {
	sets := func(j api.Job) bool { return j.Kind == "unit_allocate" }
	return v.Allocation.State == "deallocated" && slices.ContainsFunc(v.Object.Jobs, sets) &&
		!slices.ContainsFunc(v.Object.Jobs, func(j api.Job) bool { return sets(j) && !job.NeverBegan(j) })
}

// operations are what can be done with the allocation, the way out of a failure
// first.
func (v detailView) operations() []ui.Operation {
	if v.neverBegan() {
		return nil
	}
	if strings.HasSuffix(v.Allocation.State, "_failed") {
		return append(job.WayOut(v.Object.Jobs), operations(v.Allocation)...)
	}
	return operations(v.Allocation)
}

func operations(a api.Allocation) []ui.Operation {
	var all []ui.Operation
	if a.RestartNeeded {
		can, prevents := allowed(a, "move-network")
		all = append(all, ui.Operation{
			Label: "Restart with new isolation", What: "Gives the unit a network of its own. All sessions and services of its user end once; services that are enabled start again.",
			Action: "/allocations/" + a.ID + "/move-network", Allowed: can, Prevents: prevents, Plan: true,
		})
	}
	can, prevents := allowed(a, "deallocate")
	return append(all, ui.Operation{
		Label: "Deallocate", What: "Ends all processes in the unit, removes the user and wipes the volume. All data in it is lost.",
		Action: "/allocations/" + a.ID + "/deallocate", Allowed: can, Prevents: prevents, Danger: true, Plan: true, Confirm: a.LoginUser, Typed: "the login user",
	})
}

// key is an SSH key as a person reads it.
type key struct{ Kind, Tail, Comment string }

func keyOf(line string) key {
	parts := strings.SplitN(line, " ", 3)
	k := key{Kind: parts[0]}
	if len(parts) > 1 {
		k.Tail = parts[1][max(0, len(parts[1])-12):]
	}
	if len(parts) > 2 {
		k.Comment = parts[2]
	}
	return k
}
