package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/store"
)

// PlannedKinds are those of the joint table whose jobs change a host, and those of areas whose jobs list what they would do.
func TestPlannedKinds(t *testing.T) {
	t.Parallel()
	var kinds []string
	b := setup(t)
	b.mustDo(http.MethodGet, "/plans", nil, http.StatusOK) // a server that was never asked does not end
	registry := b.cfg.Kinds
	for _, name := range registry.Kinds() {
		if k, _ := registry.Kind(name); k.Plan != nil {
			kinds = append(kinds, name)
		}
	}
	for _, j := range domain.JointTable {
		if j.Changes() {
			kinds = append(kinds, string(j.Kind))
		}
	}
	slices.Sort(kinds)
	if !slices.Equal(kinds, api.PlannedKinds()) {
		t.Errorf("%v, but the API says %v", kinds, api.PlannedKinds())
	}
}

func bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

// rule makes an approval rule as the administrator.
func (b *backend) rule(name, scope string, approvals, hours int, kinds ...string) api.ApprovalRule {
	b.t.Helper()
	return decode[api.ApprovalRule](b.t, b.mustDo(http.MethodPost, "/approval-rules",
		api.CreateApprovalRule{Name: name, Scope: scope, Kinds: kinds, Approvals: approvals, Hours: hours}, 201))
}

// initializing makes a checked plan to initialize a host, as whoever has the token.
func (b *backend) initializing(host, token string) api.Plan {
	b.t.Helper()
	p := decode[api.Plan](b.t, b.mustDo(http.MethodPost, "/hosts/"+host+"/initialize?plan=true", nil, http.StatusAccepted, bearer(token)...))
	b.checked(p)
	return b.thePlan(p.ID, token)
}

func (b *backend) thePlan(id, token string) api.Plan {
	b.t.Helper()
	return decode[api.Plan](b.t, b.mustDo(http.MethodGet, "/plans/"+id, nil, http.StatusOK, bearer(token)...))
}

func (b *backend) approve(id, token string) answer {
	b.t.Helper()
	return b.do(http.MethodPost, "/plans/"+id+"/approve", api.DecidePlan{}, bearer(token)...)
}

func (b *backend) applied(host, plan, token string) answer {
	b.t.Helper()
	return b.do(http.MethodPost, "/hosts/"+host+"/initialize?plan_id="+plan, nil, bearer(token)...)
}

// coded fails unless an answer is a conflict with this code and these words.
func (b *backend) coded(a answer, code, words string) {
	b.t.Helper()
	if a.status != http.StatusConflict || a.problem(b.t).Code != code || !strings.Contains(a.problem(b.t).Detail, words) {
		b.t.Errorf("%d %s, not %s %q", a.status, a.body, code, words)
	}
}

func (b *backend) operatorOf(name string) string {
	b.t.Helper()
	return b.granted(name, "operator", scope.Organization, domain.DefaultOrganization)
}

// A plan of a kind that a rule names is applied with enough approvals by others, and not before.
func TestApprovals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ready("h1")
	bob, eve, dan := b.operatorOf("bob"), b.operatorOf("eve"), b.operatorOf("dan")
	early := b.initializing("h1", bob)
	if early.Approvals != nil {
		t.Errorf("without a rule: %+v", early.Approvals)
	}
	b.coded(b.approve(early.ID, eve), "no_approval_needed", "No rule")
	rule := b.rule("two", "default/default", 2, 48, "host_initialize", "host_decommission")

	b.coded(b.do(http.MethodPost, "/hosts/h1/initialize", nil, bearer(bob)...), "approval_required", "needs a plan with 2 approvals")
	b.coded(b.applied("h1", early.ID, bob), "approval_required", "has 0: 2 more")
	p := b.initializing("h1", bob)
	if a := p.Approvals; a == nil || a.State != "pending" || a.Needed != 2 || a.Given != 0 || !slices.Equal(a.Rules, []string{"two"}) || p.ExpiresAt.Sub(*p.CheckedAt).Hours() != 48 {
		t.Fatalf("%+v until %v", p.Approvals, p.ExpiresAt)
	}
	b.coded(b.approve(p.ID, bob), "own_plan", "others have to approve")
	own := decode[api.Token](t, b.mustDo(http.MethodPost, "/tokens", api.CreateToken{Name: "mine", Days: 1}, 201, bearer(bob)...)).Token
	b.coded(b.approve(p.ID, own), "own_plan", "others have to approve")

	shown := decode[api.Plan](t, b.mustDo(http.MethodPost, "/plans/"+p.ID+"/approve", api.DecidePlan{Reason: "looks right"}, 200, bearer(eve)...))
	if a := shown.Approvals; a.State != "pending" || a.Given != 1 || len(a.Decisions) != 1 || a.Decisions[0].Account != "eve" || a.Decisions[0].Reason != "looks right" {
		t.Errorf("%+v", a)
	}
	b.coded(b.approve(p.ID, eve), "already_decided", "already")
	waits := func(token, approval string) int {
		return len(decode[api.Page[api.Plan]](t, b.mustDo(http.MethodGet, "/plans?approval="+approval, nil, 200, bearer(token)...)).Items)
	}
	viewer := b.granted("vic", "viewer", scope.Organization, domain.DefaultOrganization)
	if got := []int{waits(bob, "pending"), waits(bob, "mine"), waits(eve, "mine"), waits(dan, "mine"), waits(viewer, "pending"), waits(viewer, "mine")}; !slices.Equal(got, []int{2, 0, 1, 2, 2, 0}) {
		t.Errorf("%v plans wait", got)
	}
	b.coded(b.applied("h1", p.ID, bob), "approval_required", "needs 2 approvals by people other than the one who asked for it, and has 1: 1 more")
	if a := b.approve(p.ID, dan); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if got := []int{waits(bob, "pending"), waits(dan, "mine")}; !slices.Equal(got, []int{1, 1}) {
		t.Errorf("%v plans wait", got)
	}
	if p = b.thePlan(p.ID, bob); p.Approvals.State != "approved" || !p.Operations[0].Allowed {
		t.Errorf("%+v %+v", p.Approvals, p.Operations)
	}

	// What the rule says at the moment counts, and only who may still approve there.
	b.mustDo(http.MethodPatch, "/approval-rules/"+rule.ID, map[string]any{"approvals": 3}, 200)
	b.coded(b.applied("h1", p.ID, bob), "approval_required", "has 2: 1 more")
	b.mustDo(http.MethodPatch, "/approval-rules/"+rule.ID, map[string]any{"approvals": 2}, 200)
	b.sql("DELETE FROM grants WHERE account_id = (SELECT id FROM accounts WHERE name = 'dan')")
	b.coded(b.applied("h1", p.ID, bob), "approval_required", "has 1: 1 more")
	ann := b.operatorOf("ann")
	if a := b.approve(p.ID, ann); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := b.applied("h1", p.ID, bob); a.status != http.StatusAccepted {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var told int
	b.row(&told, "SELECT count(*) FROM events WHERE action = 'plan.approve' AND object_id = $1", p.ID)
	if told != 3 {
		t.Errorf("%d events", told)
	}
}

// A refusal ends a plan, also by who approved it; an old one is refused by the time that the present rules leave.
func TestRefusalsAndLatePlans(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ready("h1")
	bob, eve, member := b.operatorOf("bob"), b.operatorOf("eve"), b.granted("mem", "member", scope.Organization, domain.DefaultOrganization)
	rule := b.rule("one", "default", 1, 24, "host_initialize")
	p := b.initializing("h1", bob)
	if a := b.approve(p.ID, member); a.status != http.StatusForbidden {
		t.Errorf("a member approves: %d", a.status)
	}
	if a := b.approve(p.ID, eve); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	refused := decode[api.Plan](t, b.mustDo(http.MethodPost, "/plans/"+p.ID+"/refuse", api.DecidePlan{Reason: "wrong host"}, 200, bearer(eve)...))
	if a := refused.Approvals; a.State != "refused" || a.Given != 0 || a.Decisions[0].Reason != "wrong host" {
		t.Errorf("%+v", a)
	}
	b.coded(b.applied("h1", p.ID, bob), "plan_refused", "was refused")
	b.coded(b.approve(p.ID, b.operatorOf("dan")), "plan_refused", "was refused")

	p = b.initializing("h1", bob)
	if a := b.approve(p.ID, eve); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	b.sql("UPDATE plans SET checked_at = now() - INTERVAL '3 hours' WHERE id = $1", p.ID)
	b.mustDo(http.MethodPatch, "/approval-rules/"+rule.ID, map[string]any{"hours": 2}, 200)
	b.coded(b.applied("h1", p.ID, bob), "plan_expired", "older than 2 hours")
	b.mustDo(http.MethodDelete, "/approval-rules/"+rule.ID, nil, 204)
	b.coded(b.applied("h1", p.ID, bob), "plan_expired", "older than 1 hours")
	b.sql("UPDATE plans SET expires_at = now() WHERE id = $1", p.ID)
	b.coded(b.applied("h1", p.ID, bob), "plan_expired", "expired at")

	// It is told once that nobody approved a plan in time.
	b.rule("two", "default", 2, 24, "host_initialize")
	b.sql("UPDATE plans SET checked_at = now() - INTERVAL '25 hours'")
	lapsed := func() (n int64) {
		b.tx(func(tx *store.Tx) (err error) {
			n, _, err = tx.TellLapsedPlans(t.Context(), domain.Actor{Kind: domain.ActorPolicy, Name: "lapsed_plans"})
			return err
		})
		return n
	}
	if first, again := lapsed(), lapsed(); first != 1 || again != 0 {
		t.Errorf("%d plans lapsed, then %d", first, again)
	}
	if a := b.thePlan(p.ID, bob).Approvals; a.State != "expired" || a.Given != 1 {
		t.Errorf("%+v", a)
	}
	var told int
	b.row(&told, "SELECT count(*) FROM events WHERE action = 'plan.approval_expire' AND object_id = $1", p.ID)
	if told != 1 {
		t.Errorf("%d events", told)
	}
}

// A service account approves nothing, and who made a key of it does not approve what it asks for.
func TestServiceAccountsAndApprovals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ready("h1")
	eve := b.operatorOf("eve")
	made := decode[api.Account](t, b.mustDo(http.MethodPost, "/service-accounts", api.CreateServiceAccount{Name: "ci"}, 201))
	b.mustDo(http.MethodPost, "/grants", api.CreateGrant{Account: made.Name, Role: "operator", Scope: "default"}, 201)
	key := decode[api.Key](t, b.mustDo(http.MethodPost, "/service-accounts/"+made.ID+"/keys", api.CreateKey{Name: "k", Days: 1}, 201))
	b.rule("one", "default/default/default", 1, 24, "host_initialize")

	theirs := b.initializing("h1", eve)
	b.coded(b.approve(theirs.ID, key.Secret), "not_a_person", "Only people")
	p := b.initializing("h1", key.Secret)
	b.coded(b.approve(p.ID, b.token), "own_plan", "made a key")
	if a := b.approve(p.ID, eve); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	b.sql("UPDATE tokens SET maker_id = NULL WHERE id = $1", key.ID)
	p = b.initializing("h1", key.Secret)
	b.coded(b.approve(p.ID, eve), "unknown_author", "rotate its keys")
}

// Two backends count the approvals of one account once, and those of two accounts twice.
func TestApprovalsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ready("h1")
	b.rule("two", "default", 2, 24, "host_initialize")
	_, second := b.serve(b.cfg2())
	urls := []string{b.url, second}
	bob, eve, dan := b.operatorOf("bob"), b.operatorOf("eve"), b.operatorOf("dan")
	p := b.initializing("h1", bob)
	at := func(url, token string) int {
		other := *b
		other.url = url
		return other.approve(p.ID, token).status
	}
	var wg sync.WaitGroup
	statuses := make([]int, 4)
	for i := range statuses {
		wg.Go(func() { statuses[i] = at(urls[i%2], eve) })
	}
	wg.Wait()
	if slices.Sort(statuses); !slices.Equal(statuses, []int{200, 409, 409, 409}) || b.thePlan(p.ID, bob).Approvals.Given != 1 {
		t.Errorf("%v %+v", statuses, b.thePlan(p.ID, bob).Approvals)
	}
	q := b.initializing("h1", bob)
	p = q
	statuses = statuses[:2]
	for i, token := range []string{eve, dan} {
		wg.Go(func() { statuses[i] = at(urls[i], token) })
	}
	wg.Wait()
	if got := b.thePlan(p.ID, bob).Approvals; statuses[0] != 200 || statuses[1] != 200 || got.Given != 2 || got.State != "approved" {
		t.Errorf("%v %+v", statuses, got)
	}
}

// approver is what a plan shows of the only decision about it.
func (b *backend) approver(plan, token string) (given int, counts bool) {
	b.t.Helper()
	a := b.thePlan(plan, token).Approvals
	if a == nil || len(a.Decisions) != 1 {
		b.t.Fatalf("%+v", a)
	}
	return a.Given, a.Decisions[0].Counts
}

// An approval counts for exactly the roles that permit to approve, at the workspace or above it.
func TestApprovalsOfRoles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ready("h1")
	tree := b.tree()
	b.rule("one", "default/default/default", 1, 24, "host_initialize")
	bob, eve := b.operatorOf("bob"), b.operatorOf("eve")
	p := b.initializing("h1", bob)
	if a := b.approve(p.ID, eve); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	const hers = " WHERE account_id = (SELECT id FROM accounts WHERE name = 'eve')"
	want := func(what string, counts bool) {
		t.Helper()
		given, got := b.approver(p.ID, bob)
		if got != counts || (given == 1) != counts {
			t.Errorf("%s: counts is %v, %d are given", what, got, given)
		}
	}
	permits := iam.Permissions(api.Permissions())
	for _, role := range iam.Roles {
		if role.Installation {
			continue
		}
		b.sql("UPDATE grants SET role = $1"+hers, role.Name)
		want(role.Name, permits[role.Name]["project.workspace.plan:approve"])
	}
	b.sql("UPDATE grants SET role = 'owner'" + hers)
	b.sql("UPDATE accounts SET state = 'disabled' WHERE name = 'eve'")
	want("disabled", false)
	b.sql("UPDATE accounts SET state = 'active' WHERE name = 'eve'")
	for _, at := range []struct {
		level  string
		id     uuid.UUID
		counts bool
	}{{"organization", tree.organizations[1], false}, {"project", tree.projects[0][1], false}, {"workspace", tree.workspaces[0][0][1], false}, {"workspace", domain.DefaultWorkspace, true}} {
		b.sql("UPDATE grants SET scope = $1, scope_id = $2"+hers, at.level, at.id)
		want("owner of "+at.level, at.counts)
	}

	// A role of the organization counts with its permissions as they are now.
	b.sql("DELETE FROM grants" + hers)
	role := decode[api.Role](t, b.mustDo(http.MethodPost, "/roles", api.CreateRole{Name: "reviewer", Organization: "default", Permissions: []string{"project.workspace.plan:approve"}}, 201))
	b.mustDo(http.MethodPost, "/grants", api.CreateGrant{Account: "eve", Role: "reviewer", Scope: "default"}, 201)
	want("reviewer", true)
	b.mustDo(http.MethodPatch, "/roles/"+role.ID, map[string]any{"permissions": []string{"project.workspace.plan:read"}}, 200)
	want("reviewer who may read only", false)
}

// Who lost the permission at one backend no longer counts for a plan that another one applies right after. Given again, it counts.
func TestApproversLoseThePermission(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ready("h1")
	b.rule("one", "default", 1, 24, "host_initialize")
	_, url := b.serve(b.cfg2())
	second := *b
	second.url = url
	bob, eve := b.operatorOf("bob"), b.operatorOf("eve")
	p := b.initializing("h1", bob)
	if a := b.approve(p.ID, eve); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	grantOf := func(role string) string {
		t.Helper()
		return decode[api.Grant](t, b.mustDo(http.MethodPost, "/grants", api.CreateGrant{Account: "eve", Role: role, Scope: "default"}, 201)).ID
	}
	grantOf("viewer")
	var operator string
	b.row(&operator, "SELECT id::TEXT FROM grants WHERE role = 'operator' AND account_id = (SELECT id FROM accounts WHERE name = 'eve')")
	second.mustDo(http.MethodDelete, "/grants/"+operator, nil, 204)
	b.coded(b.applied("h1", p.ID, bob), "approval_required", "has 0: 1 more")
	b.coded(second.applied("h1", p.ID, bob), "approval_required", "has 0: 1 more")
	waiting := func(approval string) int {
		return len(decode[api.Page[api.Plan]](t, b.mustDo(http.MethodGet, "/plans?approval="+approval, nil, 200)).Items)
	}
	if n := waiting("pending"); n != 1 {
		t.Errorf("%d plans wait", n)
	}

	operator = grantOf("operator")
	if n := waiting("pending"); n != 0 {
		t.Errorf("%d plans wait", n)
	}
	// Taken away while the plan is applied: whatever the order, a plan is applied only if the grant was there when it was.
	var wg sync.WaitGroup
	var applied answer
	wg.Go(func() { applied = b.applied("h1", p.ID, bob) })
	wg.Go(func() { second.do(http.MethodDelete, "/grants/"+operator, nil) })
	wg.Wait()
	if applied.status == http.StatusAccepted {
		return // before it was taken away
	}
	b.coded(applied, "approval_required", "has 0: 1 more")
	grantOf("operator")
	if a := b.applied("h1", p.ID, bob); a.status != http.StatusAccepted {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// Rules are written by owners and admins, and other organizations find neither rules nor plans.
func TestWhoWritesApprovalRules(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ready("h1")
	tree := b.tree()
	rule := b.rule("one", "default/second", 1, 24, "host_initialize")
	body := api.CreateApprovalRule{Name: "x", Scope: "default", Kinds: []string{"host_initialize"}}
	for _, role := range iam.Roles {
		if role.Installation {
			continue
		}
		token := b.granted("w"+strings.ReplaceAll(role.Name, "_", ""), role.Name, scope.Organization, domain.DefaultOrganization)
		writes := role.Name == "owner" || role.Name == "admin"
		body.Name = "by-" + role.Name
		if a := b.do(http.MethodPost, "/approval-rules", body, bearer(token)...); (a.status == 201) != writes || !writes && a.status != 403 {
			t.Errorf("%s creates: %d %s", role.Name, a.status, a.body)
		}
		if a := b.do(http.MethodPatch, "/approval-rules/"+rule.ID, map[string]any{"hours": 30}, bearer(token)...); (a.status == 200) != writes || !writes && a.status != 403 {
			t.Errorf("%s changes: %d %s", role.Name, a.status, a.body)
		}
		if a := b.do(http.MethodGet, "/approval-rules/"+rule.ID, nil, bearer(token)...); a.status != 200 {
			t.Errorf("%s reads: %d", role.Name, a.status)
		}
	}
	theirs := b.granted("theirs", "owner", scope.Organization, tree.organizations[1])
	p := decode[api.Plan](t, b.mustDo(http.MethodPost, "/hosts/h1/initialize?plan=true", nil, http.StatusAccepted))
	b.checked(p)
	for _, path := range []string{"/approval-rules/" + rule.ID, "/approval-rules/" + uuid.NewString(), "/plans/" + p.ID, "/plans/" + uuid.NewString()} {
		if a := b.do(http.MethodGet, path, nil, append(bearer(theirs), api.WorkspaceHeader, tree.workspaces[1][0][0].String())...); a.status != 404 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	there := append(bearer(theirs), api.WorkspaceHeader, tree.workspaces[1][0][0].String())
	if a := b.do(http.MethodPost, "/plans/"+p.ID+"/approve", api.DecidePlan{}, there...); a.status != 404 {
		t.Errorf("approve elsewhere: %d", a.status)
	}
	if a := b.do(http.MethodGet, "/approval-rules?scope=default", nil, bearer(theirs)...); a.status != 422 {
		t.Errorf("list elsewhere: %d %s", a.status, a.body)
	}
	if rules := decode[api.Page[api.ApprovalRule]](t, b.mustDo(http.MethodGet, "/approval-rules?scope=other", nil, 200, bearer(theirs)...)); len(rules.Items) != 0 {
		t.Errorf("they see %+v", rules.Items)
	}
	b.coded(b.do(http.MethodPost, "/approval-rules", api.CreateApprovalRule{Name: "one", Scope: "default", Kinds: []string{"unit_allocate"}}), "approval_rule_exists", "already")
	bad := b.mustDo(http.MethodPost, "/approval-rules", api.CreateApprovalRule{Name: "bad", Scope: "default", Kinds: []string{"host_probe"}}, 422).problem(t)
	if len(bad.Errors) != 1 || bad.Errors[0].Field != "kinds[0]" {
		t.Errorf("%+v", bad)
	}
}

// While a backend of another release is there, no rule is made or changed: it would apply plans of kinds that it does not know without approvals.
func TestOlderBackendsKeepApprovalRulesAsTheyAre(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rule := b.rule("one", "default/default", 1, 24, "cluster_delete")
	b.sql("INSERT INTO backends (id, name, version, roles) VALUES ($1, 'old-1', 'v1.2.2', 'api')", uuid.New())
	b.coded(b.do(http.MethodPatch, "/approval-rules/"+rule.ID, map[string]any{"kinds": []string{"hosted_cluster_delete"}}), "older_backend", "old-1 (v1.2.2)")
	b.coded(b.do(http.MethodPost, "/approval-rules", api.CreateApprovalRule{Name: "two", Scope: "default", Kinds: []string{"hosted_cluster_delete"}}), "older_backend", "without approvals")
	b.sql("DELETE FROM backends WHERE name = 'old-1'")
	b.mustDo(http.MethodPatch, "/approval-rules/"+rule.ID, map[string]any{"kinds": []string{"hosted_cluster_delete"}}, http.StatusOK)
}

// SQL lists a plan as waiting for approvals exactly where the rules in Go ask for some.
func TestPendingPlansAreThoseOfTheRules(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.ready("h1")
	bob := b.operatorOf("bob")
	p := b.initializing("h1", bob)
	rule := b.rule("one", "default/default/default", 1, 24, "unit_allocate")
	deletes := 0
	for _, of := range api.PlannedKinds() {
		b.sql("UPDATE approval_rules SET kinds = $2::TEXT[] WHERE id = $1", rule.ID, []string{of})
		for _, kind := range []string{"host_initialize", "scope_delete"} {
			b.sql("UPDATE plans SET kind = $2 WHERE id = $1", p.ID, kind)
			waits := iam.ApprovalFor([]iam.ApprovalRule{{Kinds: []string{of}, Approvals: 1, Hours: 24}}, kind).Needed > 0
			listed := decode[api.Page[api.Plan]](t, b.mustDo(http.MethodGet, "/plans?approval=pending", nil, 200, bearer(bob)...))
			if got := len(listed.Items) == 1; got != waits {
				t.Errorf("a plan of %s waits by a rule for %s: %v; it is listed: %v", kind, of, waits, got)
			}
			if waits && kind == "scope_delete" {
				deletes++
			}
		}
	}
	if deletes != 4 {
		t.Errorf("%d kinds of rules hold up deletions", deletes)
	}
}
