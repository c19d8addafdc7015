// Package approval owns the pages of approval rules: the list of a scope, and the forms that make and change one.
package approval

import (
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/organization"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const (
	icon   = "M8 1.500l5.500 2v4c0 3.500-2.300 5.800-5.500 7-3.200-1.200-5.500-3.500-5.500-7v-4zM5.500 8l1.800 1.800L10.800 6.200"
	create = "organization.approval_rule:create"
)

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Pages: []ui.Target{
		{Href: "/approval-rules", Label: "Approval rules", Icon: icon, Needs: "organization.approval_rule:read"},
		{Href: "/approval-rules/new", Label: "Create an approval rule", Icon: icon, Needs: create},
	},
	Nouns: []page.Noun{{Name: "approval_rule", Path: "/approval-rules/"}},
	Notices: map[string]string{
		"approval-rule-created": "The rule is created. It counts for plans that are there already as well.",
		"approval-rule-changed": "The rule is changed, for plans that are there already as well.",
		"approval-rule-deleted": "The rule is deleted. Plans that waited for it need it no more.",
	},
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/approval-rules", a.Page(list))
	r.Get("/approval-rules/new", a.Page(showNew))
	r.Post("/approval-rules/new", a.Page(write))
	r.Get("/approval-rules/:id", a.Page(showEdit))
	r.Post("/approval-rules/:id", a.Page(change))
	r.Post("/approval-rules/:id/delete", a.Page(remove))
}

func rulesURL(path string) string { return "/approval-rules?scope=" + url.QueryEscape(path) }

func list(r *page.Request) error {
	s, err := organization.Named(r, "scope")
	if err != nil {
		return err
	}
	found, err := r.API.ListApprovalRules(r.Ctx, api.ApprovalRuleFilter{Scope: s.Path})
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Approval rules of " + s.Path, Path: "/approval-rules", Here: rulesURL(s.Path), Up: organization.Crumbs(s),
		Means: "A rule asks other people to approve plans before they are applied. It binds its scope and everything in it.",
		Empty: len(found.Items) == 0, None: "No approval rules", NoneText: "Plans are applied without approvals.",
		Heads: []ui.Head{{Label: "Rule"}, {Label: "Scope"}, {Label: "Plans"}, {Label: "Approvals"}, {Label: "Within"}},
	}
	may, err := r.MayAt(create, s.Path)
	if err != nil {
		return err
	}
	if may {
		l.New = ui.Target{Href: "/approval-rules/new?scope=" + url.QueryEscape(s.Path), Label: "Create an approval rule"}
	}
	return r.Show(page.View{Title: l.Title, Nav: "/organizations", Body: listPage(l, found.Items)})
}

// form is a rule as it was typed.
type form struct {
	ui.Form
	Chosen     map[string]bool  // kinds
	Rule       api.ApprovalRule // that is changed
	Operations []ui.Operation
	MayChange  bool
}

func chosen(kinds []string) map[string]bool {
	all := map[string]bool{}
	for _, k := range kinds {
		all[k] = true
	}
	return all
}

func read(r *page.Request) form {
	f := form{Chosen: chosen(r.FormAll("kinds"))}
	f.Values = url.Values{"name": {r.Form("name")}, "approvals": {r.Form("approvals")}, "hours": {r.Form("hours")}}
	f.Version = r.Form("version")
	return f
}

func showNew(r *page.Request) error {
	return drawNew(r, fiber.StatusOK, form{Form: ui.Form{Values: url.Values{"approvals": {"1"}, "hours": {"24"}}}})
}

func drawNew(r *page.Request, status int, f form) error {
	s, err := organization.Named(r, "scope")
	if err != nil {
		return err
	}
	f.Values.Set("scope", s.Path)
	f.Up, f.Title, f.Action, f.Submit = append(organization.Crumbs(s), ui.Target{Href: rulesURL(s.Path), Label: "Approval rules"}), "Create an approval rule", "/approval-rules/new", "Create"
	f.Cancel, f.Key, f.Fields = rulesURL(s.Path), page.NewKey(), []string{"name", "kinds", "approvals", "hours"}
	f.Means = "For " + s.Path + " and everything in it. Such actions are then refused without an approved plan."
	return r.Show(page.View{Title: f.Title, Nav: "/organizations", Status: status, Body: newPage(f)})
}

func write(r *page.Request) error {
	var body api.CreateApprovalRule
	f := read(r)
	if f.Wrong = r.Bind(&body); f.Wrong.Any() {
		return drawNew(r, fiber.StatusUnprocessableEntity, f)
	}
	body.Kinds = append([]string{}, r.FormAll("kinds")...)
	made, err := r.API.CreateApprovalRule(r.Ctx, body, r.Once())
	if err == nil {
		return r.Go(rulesURL(made.Scope), "approval-rule-created")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return drawNew(r, status, f)
	})
}

func shown(rule api.ApprovalRule) form {
	f := form{Chosen: chosen(rule.Kinds)}
	f.Values = url.Values{"name": {rule.Name}, "approvals": {strconv.Itoa(rule.Approvals)}, "hours": {strconv.Itoa(rule.Hours)}}
	f.Version = strconv.FormatInt(rule.Version, 10)
	return f
}

func showEdit(r *page.Request) error {
	rule, err := r.API.GetApprovalRule(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	return drawEdit(r, fiber.StatusOK, rule, shown(rule))
}

func drawEdit(r *page.Request, status int, rule api.ApprovalRule, f form) error {
	f.Rule = rule
	f.Up, f.Title, f.Action, f.Submit = []ui.Target{{Href: rulesURL(rule.Scope), Label: "Approval rules"}}, "Approval rule "+rule.Name, "/approval-rules/"+rule.ID, "Save"
	f.Cancel, f.Fields = rulesURL(rule.Scope), []string{"name", "kinds", "approvals", "hours"}
	f.Means = "For " + rule.Scope + " and everything in it. A change counts at once."
	for _, o := range rule.Operations {
		switch o.Name {
		case "change":
			f.MayChange = o.Allowed
		case "delete":
			f.Operations = []ui.Operation{{
				Label: "Delete", What: "Plans that wait for it need it no more.", Action: "/approval-rules/" + rule.ID + "/delete",
				Allowed: o.Allowed, Prevents: o.Prevents, Danger: true, Confirm: rule.Name, Typed: "its name", Version: rule.Version,
			}}
		}
	}
	return r.Show(page.View{Title: f.Title, Nav: "/organizations", Status: status, Body: editPage(f)})
}

func change(r *page.Request) error {
	rule, err := r.API.GetApprovalRule(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	var body api.ChangeApprovalRule
	f := read(r)
	if f.Wrong = r.Bind(&body); f.Wrong.Any() {
		return drawEdit(r, fiber.StatusUnprocessableEntity, rule, f)
	}
	kinds := append([]string{}, r.FormAll("kinds")...)
	body.Kinds = &kinds
	_, err = r.API.ChangeApprovalRule(r.Ctx, rule.ID, body, r.IfSeen())
	if err == nil {
		return r.Go(rulesURL(rule.Scope), "approval-rule-changed")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return drawEdit(r, status, rule, f)
	})
}

func remove(r *page.Request) error {
	rule, err := r.API.GetApprovalRule(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if err = r.Typed(rule.Name); err == nil {
		err = r.API.DeleteApprovalRule(r.Ctx, rule.ID, r.IfSeen())
	}
	if err == nil {
		return r.Go(rulesURL(rule.Scope), "approval-rule-deleted")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		f := shown(rule)
		f.Wrong = wrong
		return drawEdit(r, status, rule, f)
	})
}
