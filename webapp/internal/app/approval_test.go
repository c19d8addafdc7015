package app

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

const approvalRuleID = "6a1e0000-0000-4000-8000-00000000003a"

var _ = addPages(map[string]string{
	"/approval-rules?scope=acme":        `href="/approval-rules/` + approvalRuleID + `"`,
	"/approval-rules/new?scope=acme":    "For acme and everything in it.",
	"/approval-rules/" + approvalRuleID: "Approval rule two-for-removal",
}, func(a *apitest.API) {
	a.Answer("list-approval-rules", 200, apitest.Page(approvalRuleOf()))
	a.Answer("get-approval-rule", 200, approvalRuleOf())
})

func approvalRuleOf() api.ApprovalRule {
	return api.ApprovalRule{
		ID: approvalRuleID, Name: "two-for-removal", ScopeKind: "organization", ScopeID: organizationID, Scope: "acme", Kinds: []string{"host_decommission"},
		Approvals: 2, Hours: 48, Version: 3, Operations: []api.Operation{{Name: "change", Allowed: true}, {Name: "delete", Allowed: true}},
		CreatedBy: "ada", CreatedAt: apitest.Now, UpdatedAt: apitest.Now,
	}
}

// A rule is made, changed and deleted by forms; who may not change it reads it.
func TestApprovalRules(t *testing.T) {
	t.Parallel()
	s := setup(t)
	form := url.Values{"scope": {"acme"}, "name": {"two"}, "kinds": {"host_decommission", "unit_deallocate"}, "approvals": {"2"}, "hours": {"48"}}
	s.api.Answer("create-approval-rule", 201, approvalRuleOf())
	s.wantRedirect(s.post("/approval-rules/new", form), "/approval-rules?scope=acme&said=approval-rule-created")
	var sent api.CreateApprovalRule
	s.only("create-approval-rule").Into(t, &sent)
	if sent.Name != "two" || sent.Scope != "acme" || !slices.Equal(sent.Kinds, form["kinds"]) || sent.Approvals != 2 || sent.Hours != 48 {
		t.Errorf("%+v", sent)
	}
	form.Set("hours", "soon")
	s.wantText(s.post("/approval-rules/new", form), "Enter a whole number", `value="two"`, `value="unit_deallocate" checked`)

	form.Set("hours", "12")
	form.Set("version", "3")
	s.api.Answer("change-approval-rule", 200, approvalRuleOf())
	s.wantRedirect(s.post("/approval-rules/"+approvalRuleID, form), "/approval-rules?scope=acme&said=approval-rule-changed")
	s.api.Answer("delete-approval-rule", 204, nil)
	s.wantRedirect(s.post("/approval-rules/"+approvalRuleID+"/delete", url.Values{"confirm": {"two-for-removal"}, "version": {"3"}}), "/approval-rules?scope=acme&said=approval-rule-deleted")

	rule := approvalRuleOf()
	rule.Operations = []api.Operation{{Name: "change", Prevents: "You may not."}, {Name: "delete", Prevents: "You may not."}}
	s.api.Answer("get-approval-rule", 200, rule)
	a := s.get("/approval-rules/" + approvalRuleID)
	s.wantText(a, "Decommission host", "48 hours", "You may not.")
	if strings.Contains(a.body, `action="/approval-rules/`) {
		t.Error("offers to who may not")
	}
}

// The page of a plan shows who decided, and has buttons for who can still decide.
func TestApprovalsOfAPlan(t *testing.T) {
	t.Parallel()
	s := setup(t)
	p := apitest.Plan()
	p.Approvals = &api.PlanApprovals{State: "pending", Needed: 2, Given: 1, Rules: []string{"two"}, Decisions: []api.PlanDecision{
		{Account: "eve", Decision: "approve", Reason: "the <rack> is empty", Counts: true, At: apitest.Now},
	}}
	p.Operations = []api.Operation{{Name: "apply", Prevents: "it lacks 1"}, {Name: "approve", Allowed: true}, {Name: "refuse", Allowed: true}}
	s.api.Answer("get-plan", http.StatusOK, p)
	at := "/plans/" + p.ID
	s.wantText(s.get(at), "1 of 2", "<b>eve</b> approved", "the &lt;rack&gt; is empty", `action="`+at+`/decide"`, `value="approve"`, `value="refuse"`)
	s.api.Answer("approve-plan", 200, p)
	s.api.Answer("refuse-plan", 200, p)
	s.wantRedirect(s.post(at+"/decide", url.Values{"decision": {"approve"}, "reason": {"fine"}}), at+"?said=plan-approved")
	var sent api.DecidePlan
	if s.only("approve-plan").Into(t, &sent); sent.Reason != "fine" {
		t.Errorf("%+v", sent)
	}
	s.wantRedirect(s.post(at+"/decide", url.Values{"decision": {"refuse"}}), at+"?said=plan-refused")
	s.only("refuse-plan")

	p.Operations[1], p.Operations[2] = api.Operation{Name: "approve", Prevents: "you asked for this plan"}, api.Operation{Name: "refuse", Prevents: "no"}
	s.api.Answer("get-plan", http.StatusOK, p)
	a := s.get(at)
	s.wantText(a, "You asked for this plan")
	if strings.Contains(a.body, "/decide") {
		t.Error("offers to who can't")
	}
}
