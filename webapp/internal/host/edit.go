package host

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

// editForm is what was typed, as it was typed.
type editForm struct {
	Host                                                            api.Host
	Address, Port, HostKey, Region, Zone, Networks, Labels, Profile string
	Version                                                         string // that was shown: nobody overwrites what they have not seen
	Wrong                                                           ui.Problems
}

var editFields = []string{"address", "port", "host_key", "region", "zone", "networks", "labels", "profile"}

func showEdit(r *page.Request) error {
	h, err := r.API.GetHost(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	return drawEdit(r, fiber.StatusOK, editForm{
		Host: h, Address: h.Address, Port: strconv.Itoa(h.Port), Region: h.Region, Zone: h.Zone, Networks: strings.Join(h.Networks, ", "),
		Labels: labelText(h.Labels), Profile: h.Profile, Version: strconv.FormatInt(h.Version, 10),
	})
}

func drawEdit(r *page.Request, status int, f editForm) error {
	return r.Show(page.View{Title: "Edit " + f.Host.Name, Nav: "/hosts", Status: status, Body: editPage(f)})
}

func edit(r *page.Request) error {
	h, err := r.API.GetHost(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	f := editForm{
		Host: h, Address: r.Form("address"), Port: r.Form("port"), HostKey: r.Form("host_key"), Region: r.Form("region"), Zone: r.Form("zone"),
		Networks: r.Form("networks"), Labels: r.Form("labels"), Profile: r.Form("profile"), Version: r.Form("version"),
	}
	in, wrong := f.request()
	if wrong.Any() {
		f.Wrong = wrong
		return drawEdit(r, fiber.StatusUnprocessableEntity, f)
	}
	version, err := strconv.ParseInt(f.Version, 10, 64)
	if err != nil {
		version = h.Version
	}
	_, job, err := r.API.UpdateHost(r.Ctx, h.ID, in, client.IfMatch(version))
	if err != nil {
		problems, ok := page.Problems(err)
		if !ok {
			return err
		}
		f.Wrong = problems
		return drawEdit(r, fiber.StatusUnprocessableEntity, f)
	}
	if job != "" {
		return r.GoJob(job, hostURL(r), "")
	}
	return r.Go(hostURL(r), "host-changed")
}

// request is all fields of the form: what is the same changes nothing.
func (f editForm) request() (in api.UpdateHost, wrong ui.Problems) {
	networks := page.Words(f.Networks)
	in = api.UpdateHost{Address: &f.Address, Region: &f.Region, Zone: &f.Zone, Networks: &networks, Profile: &f.Profile}
	if f.HostKey != "" {
		in.HostKey = &f.HostKey
	}
	labels, err := page.Labels(f.Labels)
	if err != nil {
		wrong = problemsOf("labels", err)
	}
	if labels == nil {
		labels = map[string]string{}
	}
	in.Labels = &labels
	port, err := strconv.Atoi(f.Port)
	if err != nil || port < 1 || port > 65535 {
		wrong.Title = "Not accepted. Nothing was changed."
		wrong.Fields = append(wrong.Fields, ui.FieldProblem{Field: "port", Message: "enter a number from 1 to 65535"})
	}
	in.Port = &port
	return in, wrong
}

// labelText is what page.Labels reads.
func labelText(labels map[string]string) string {
	pairs := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, key+"="+labels[key])
	}
	return strings.Join(pairs, ", ")
}
