package hosting

import (
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

var managementsTarget = ui.Target{Href: "/management-clusters", Label: "Management clusters"}

// stands is how a management cluster stands in a word.
func stands(m api.ManagementCluster) (ui.Tone, string, string) {
	switch {
	case m.Healthy == nil:
		return ui.Line, "not_seen", "it was not looked at yet"
	case !*m.Healthy:
		return ui.Bad, "not_healthy", "it does not answer, or Kamaji is not as it should be"
	case !m.Active:
		return ui.Shut, "not_active", "it gets no new control planes; those that are there stay"
	}
	return ui.Good, "healthy", "it answered, and Kamaji is there"
}

func listManagements(r *page.Request) error {
	f := api.ManagementClusterFilter{Pool: r.Query("pool")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListManagementClusters(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Management clusters", Path: managementsTarget.Href, Here: r.Here(), Means: "Kamaji runs the control planes of other clusters in them. They belong to the operator.",
		New: ui.Target{Href: "/management-clusters/new", Label: "Add a management cluster"}, Filters: managementFilters(f), Filtered: f.Pool != "", Empty: len(found.Items) == 0,
		None: "No management cluster", NoneText: "Add one with its kubeconfig. Kamaji has to be installed there.", NoMatch: "No management cluster matches",
		Heads: []ui.Head{{Field: "name", Label: "Name"}, {Label: "State"}, {Label: "Pool"}, {Label: "Control planes"}, {Label: "Newest version"}, {Label: "Message"}},
		Sort:  r.Sorter("name"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: managementsTarget.Href, Body: managementsPage(l, found.Items)})
}

type managementView struct {
	object.Detail
	Management api.ManagementCluster
	Found      *api.ManagementCheck
}

func showManagement(r *page.Request) error { return drawManagement(r, nil) }

func drawManagement(r *page.Request, found *api.ManagementCheck) error {
	m, err := r.API.GetManagementCluster(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := managementView{Management: m, Found: found}
	if v.View, err = object.Load(r.Ctx, r, "management_cluster", m.ID, api.JobFilter{Object: m.ID}); err != nil {
		return err
	}
	v.Up, v.Name, v.Here, v.Message = []ui.Target{managementsTarget}, m.Name, managementsTarget.Href+"/"+m.ID, m.Message
	v.Tone, v.State, v.Means = stands(m)
	v.Operations = page.Operations(m.Operations, []ui.Operation{
		{Name: "check", Label: "Check now", What: "Looks whether it answers, and whether Kamaji and its data store are there. Changes nothing.", Action: v.Here + "/check", Main: true},
		{Name: "change", Label: "Edit", What: "Changes its pool, its capacity or its kubeconfig.", Href: v.Here + "/edit"},
		{Name: "delete", Label: "Delete", What: "Forgets it. Nothing is changed there.", Action: v.Here + "/delete", Danger: true, Confirm: m.Name, Typed: "the name", Version: m.Version},
	})
	return r.Show(page.View{Title: m.Name, Nav: managementsTarget.Href, Body: managementPage(v)})
}

func checkManagement(r *page.Request) error {
	found, err := r.API.CheckManagementCluster(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	return drawManagement(r, &found)
}

var managementFields = []string{"name", "kubeconfig", "pool", "data_store", "newest_version", "service_type", "address", "first_port", "capacity"}

func showNewManagement(r *page.Request) error {
	return drawNewManagement(r, fiber.StatusOK, ui.Form{Values: url.Values{
		"pool": {"default"}, "data_store": {"default"}, "newest_version": {"v1.30.2"}, "service_type": {"load_balancer"}, "capacity": {"100"}, "active": {"true"},
	}})
}

func drawNewManagement(r *page.Request, status int, f ui.Form) error {
	f.Up, f.Title, f.Action, f.Submit, f.Cancel = []ui.Target{managementsTarget}, "Add a management cluster", "/management-clusters/new", "Add", managementsTarget.Href
	f.Key, f.Fields = page.NewKey(), managementFields
	return r.Show(page.View{Title: f.Title, Nav: managementsTarget.Href, Status: status, Body: managementForm(f)})
}

// typedManagement are the fields of the form, without the kubeconfig.
func typedManagement(r *page.Request) url.Values {
	values := url.Values{}
	for _, name := range append([]string{"active"}, managementFields...) {
		if name != "kubeconfig" {
			values.Set(name, r.Form(name))
		}
	}
	return values
}

func createManagement(r *page.Request) error {
	in := api.CreateManagementCluster{}
	wrong := r.Bind(&in)
	active := r.Form("active") != ""
	in.Active, in.Kubeconfig = &active, r.FormRaw("kubeconfig")
	if wrong.Any() {
		return drawNewManagement(r, fiber.StatusUnprocessableEntity, ui.Form{Wrong: wrong, Values: typedManagement(r)})
	}
	made, err := r.API.CreateManagementCluster(r.Ctx, in, r.Once())
	if err == nil {
		return r.Go(managementsTarget.Href+"/"+made.ID, "management-created")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		return drawNewManagement(r, status, ui.Form{Wrong: wrong, Values: typedManagement(r)})
	})
}

func showEditManagement(r *page.Request) error {
	return drawEditManagement(r, fiber.StatusOK, ui.Form{})
}

func drawEditManagement(r *page.Request, status int, f ui.Form) error {
	m, err := r.API.GetManagementCluster(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if f.Values == nil {
		f.Version = strconv.FormatInt(m.Version, 10)
		f.Values = url.Values{
			"pool": {m.Pool}, "data_store": {m.DataStore}, "newest_version": {m.NewestVersion}, "service_type": {m.ServiceType}, "address": {m.Address},
			"capacity": {strconv.FormatInt(m.Capacity, 10)},
		}
		if m.FirstPort > 0 {
			f.Values.Set("first_port", strconv.FormatInt(m.FirstPort, 10))
		}
		if m.Active {
			f.Values.Set("active", "true")
		}
	}
	at := managementsTarget.Href + "/" + m.ID
	f.Up, f.Title, f.Action, f.Submit, f.Cancel, f.Fields = []ui.Target{managementsTarget, {Href: at, Label: m.Name}}, "Edit "+m.Name, at+"/edit", "Save", at, managementFields
	return r.Show(page.View{Title: f.Title, Nav: managementsTarget.Href, Status: status, Body: managementForm(f)})
}

func saveManagement(r *page.Request) error {
	values := typedManagement(r)
	in := api.ChangeManagementCluster{}
	wrong := r.Bind(&in)
	active, address := r.Form("active") != "", values.Get("address")
	in.Active, in.Address, in.Kubeconfig = &active, &address, nil
	if file := r.FormRaw("kubeconfig"); file != "" {
		in.Kubeconfig = &file
	}
	if wrong.Any() {
		return drawEditManagement(r, fiber.StatusUnprocessableEntity, ui.Form{Wrong: wrong, Values: values, Version: r.Form("version")})
	}
	_, err := r.API.ChangeManagementCluster(r.Ctx, r.Param("id"), in, r.IfSeen())
	if err == nil {
		return r.Go(managementsTarget.Href+"/"+r.Param("id"), "management-changed")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		return drawEditManagement(r, status, ui.Form{Wrong: wrong, Values: values, Version: r.Form("version")})
	})
}
