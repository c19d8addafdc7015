package organization

import (
	"fmt"
	"net/url"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

// keyView is the page of the SSH key of an organization.
type keyView struct {
	Scope      api.Scope
	Key        api.SSHKey
	Here       string
	Up         []ui.Target
	Operations []ui.Operation
	MayLeave   bool
	Wrong      ui.Problems
}

var (
	keyTones     = states.Tones{"in_use": ui.Good, "deploying": ui.Busy, "withdrawing": ui.Busy}
	keyHostTones = states.Tones{"waiting": ui.Wait, "deploying": ui.Busy, "withdrawing": ui.Busy, "failed": ui.Bad, "left_behind": ui.Shut}
)

// keyHostMeans says what the state of a host means.
var keyHostMeans = map[string]string{
	"waiting":     "its job has not begun",
	"deploying":   "it gets the new key beside the former one",
	"withdrawing": "the former key is taken from it",
	"failed":      "its job failed; it is tried again within the hour",
	"left_behind": "put the new key on it by hand, then probe it",
}

func mountSSHKey(r fiber.Router, a *page.App) {
	r.Get("/organizations/:id/ssh-key", a.Page(showSSHKey))
	r.Post("/organizations/:id/ssh-key/replace", a.Page(replaceSSHKey))
	r.Post("/organizations/:id/ssh-key/leave", a.Page(leaveHost))
}

// job is the page of the last job about the key of a host.
func (v keyView) job(h api.SSHKeyHost) string {
	if h.JobID == "" {
		return ""
	}
	return "/w/" + h.Workspace + "/jobs/" + url.PathEscape(h.JobID)
}

func (v keyView) host(h api.SSHKeyHost) string { return "/w/" + h.Workspace + "/hosts/" + h.ID }

func (v keyView) progress() string {
	text := fmt.Sprintf("%d of %d", v.Key.Done, v.Key.Hosts)
	if v.Key.Left > 0 {
		text += fmt.Sprintf(", %d left behind", v.Key.Left)
	}
	return text
}

func showSSHKey(r *page.Request) error { return drawSSHKey(r, fiber.StatusOK, ui.Problems{}) }

func drawSSHKey(r *page.Request, status int, wrong ui.Problems) error {
	s, err := r.API.GetOrganization(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	k, err := r.API.GetSSHKey(r.Ctx, s.ID)
	if err != nil {
		return err
	}
	v := keyView{Scope: s, Key: k, Up: Crumbs(s), Here: At(s) + "/ssh-key", Wrong: wrong}
	for _, o := range k.Operations {
		v.MayLeave = v.MayLeave || o.Name == "leave" && o.Allowed
	}
	v.Operations = page.Operations(k.Operations, []ui.Operation{{
		Name: "replace", Label: "Replace the key", What: "Every host gets another key beside this one, and loses this one when all have the other.",
		Action: v.Here + "/replace", Danger: true, Confirm: s.Name, Typed: "the name of the organization",
	}})
	return r.Show(page.View{Title: "SSH key of " + s.Path, Nav: "/organizations", Status: status, Body: sshKeyPage(v)})
}

func replaceSSHKey(r *page.Request) error {
	s, err := r.API.GetOrganization(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if err = r.Typed(s.Name); err == nil {
		_, err = r.API.ReplaceSSHKey(r.Ctx, s.ID)
	}
	if err != nil {
		return page.Refused(err, func(status int, wrong ui.Problems) error { return drawSSHKey(r, status, wrong) })
	}
	return r.Go(At(s)+"/ssh-key", "key-replacing")
}

func leaveHost(r *page.Request) error {
	id := r.Param("id")
	if _, err := r.API.LeaveSSHKeyHosts(r.Ctx, id, api.LeaveHosts{Hosts: []string{r.Form("host")}}); err != nil {
		return page.Refused(err, func(status int, wrong ui.Problems) error { return drawSSHKey(r, status, wrong) })
	}
	return r.Go("/organizations/"+url.PathEscape(id)+"/ssh-key", "key-left")
}
