package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/store"
)

// checked makes a plan ready, as its job would.
func (b *backend) checked(p api.Plan, changes ...domain.PlanChange) {
	b.t.Helper()
	b.tx(func(tx *store.Tx) error {
		row, err := tx.Plan(b.t.Context(), uuid.MustParse(p.ID))
		if err != nil {
			return err
		}
		of := inputs.About{Kind: row.Kind, Subject: job.Subject{domain.OfHost: row.HostID}, Proposal: row.Proposal}
		if row.UnitID != nil {
			of.Subject[domain.OfUnit], of.Subject[domain.OfAllocation] = *row.UnitID, *row.AllocationID
		}
		rows, err := inputs.Load(b.t.Context(), tx.Reads, of)
		if err != nil {
			return err
		}
		row.Result = &domain.PlanResult{}
		for _, c := range changes {
			row.Result.Add(c)
		}
		if row.VariablesSHA256, err = rows.VariablesSHA256(); err != nil {
			return err
		}
		if row.RowsSHA256, err = rows.RowsSHA256(); err != nil {
			return err
		}
		row.ReportSHA256 = "r"
		if _, err := tx.SetPlanResult(b.t.Context(), row); err != nil {
			return err
		}
		_, err = tx.MovePlan(b.t.Context(), row.ID, row.State, domain.CheckSucceeded)
		return err
	})
}

func TestPlansOverTheAPI(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := b.ready("h1")
	b.mustDo(http.MethodPost, "/address-pool", api.AddAddresses{Network: "default", Addresses: []api.AddRange{{Range: "10.0.2.101-10.0.2.102"}}}, http.StatusCreated)
	before := b.rows()

	for path, field := range map[string]string{
		"/hosts/h1/probe?plan=true": "plan", "/hosts/h1/initialize?playbook_version=1": "playbook_version",
		"/hosts/h1/initialize?plan=true&playbook_version=7": "playbook_version", "/hosts/h1/initialize?plan=maybe": "plan",
		"/hosts/h1/initialize?plan_id=x": "plan_id", "/hosts/h1/initialize?plan=true&plan_id=" + h.ID: "plan_id",
	} {
		p := b.mustDo(http.MethodPost, path, nil, http.StatusUnprocessableEntity).problem(t)
		if len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%s: %+v", path, p)
		}
	}
	b.mustDo(http.MethodPost, "/hosts/h1/initialize?plan_id="+uuid.NewString(), nil, http.StatusNotFound)
	if p := b.mustDo(http.MethodPost, "/hosts/h1/drain?plan=true", nil, http.StatusUnprocessableEntity).problem(t); p.Errors[0].Field != "plan" {
		t.Errorf("an action without a job: %+v", p)
	}
	if after := b.rows(); after != before {
		t.Errorf("rows were written:\n%s\nbefore:\n%s", after, before)
	}

	// One key, one plan; and the plan's key is not the action's.
	key := []string{"Idempotency-Key", uuid.NewString()}
	a := b.mustDo(http.MethodPost, "/hosts/h1/initialize?plan=true", nil, http.StatusAccepted, key...)
	plan := decode[api.Plan](t, a)
	again := decode[api.Plan](t, b.mustDo(http.MethodPost, "/hosts/h1/initialize?plan=true", nil, http.StatusAccepted, key...))
	if plan.ID != again.ID || plan.State != "checking" || plan.Action != "initialize-host" || plan.HostID != h.ID || plan.Counts != nil ||
		string(plan.Request) != "{}" || a.header.Get("Location") != api.Prefix+"/jobs/"+plan.JobID || plan.Operations[0].Allowed {
		t.Fatalf("%+v, then %+v", plan, again)
	}
	if p := b.mustDo(http.MethodPost, "/hosts/h1/initialize", nil, http.StatusUnprocessableEntity, key...).problem(t); p.Code != "idempotency_key_reused" {
		t.Errorf("%+v", p)
	}
	j := decode[api.Job](t, b.mustDo(http.MethodGet, "/jobs/"+plan.JobID, nil, http.StatusOK))
	if j.Kind != "plan" || j.PlanID != plan.ID || j.Playbook != "host_initialize" || j.State != "queued" {
		t.Errorf("job %+v", j)
	}
	if p := b.mustDo(http.MethodPost, "/hosts/h1/initialize?plan_id="+plan.ID, nil, http.StatusConflict).problem(t); p.Code != "plan_not_ready" {
		t.Errorf("%+v", p)
	}
	hostile := domain.PlanChange{Play: "playbook.yml", Task: "t", Kind: "file", Name: "<script>", Action: domain.ActionCreate, After: "{{ 7*7 }}\n"}
	b.checked(plan, hostile)
	plan = decode[api.Plan](t, b.mustDo(http.MethodGet, "/plans/"+plan.ID, nil, http.StatusOK))
	if diff := cmp.Diff([]api.PlanChange{api.PlanChange(hostile)}, plan.Changes); diff != "" || plan.Counts.Create != 1 || !plan.Operations[0].Allowed || plan.Observed == nil {
		t.Errorf("%+v %s", plan, diff)
	}

	// A new allocation: proposed, not taken.
	body := api.CreateAllocation{CPUs: 2, Host: "h1", LoginUser: "alice", SSHKeys: []string{sshKey}}
	made := decode[api.Plan](t, b.mustDo(http.MethodPost, "/allocations?plan=true", body, http.StatusAccepted))
	if made.Proposal == nil || made.Proposal.LoginUser != "alice" || made.Unit == "" || made.AllocationID == "" || made.LoginUser != "alice" {
		t.Fatalf("%+v", made)
	}
	b.mustDo(http.MethodGet, "/allocations/"+made.AllocationID, nil, http.StatusNotFound)
	b.checked(made)
	other := body
	other.LoginUser = "mallory"
	if p := b.mustDo(http.MethodPost, "/allocations?plan_id="+made.ID, other, http.StatusConflict).problem(t); p.Code != "plan_mismatch" {
		t.Errorf("%+v", p)
	}
	got := decode[api.Allocation](t, b.mustDo(http.MethodPost, "/allocations?plan_id="+made.ID, body, http.StatusAccepted))
	if got.ID != made.AllocationID || got.UID != made.Proposal.UID || got.Address != made.Proposal.Address || got.Unit != made.Unit {
		t.Errorf("allocated %+v, planned %+v", got, made)
	}
	made = decode[api.Plan](t, b.mustDo(http.MethodGet, "/plans/"+made.ID, nil, http.StatusOK))
	if made.State != "applied" || made.AppliedJobID != got.ActiveJob || made.Operations[0].Allowed {
		t.Errorf("%+v", made)
	}

	// The allocation is on the host now, so that the other plan does not hold.
	plan = decode[api.Plan](t, b.mustDo(http.MethodGet, "/plans/"+plan.ID, nil, http.StatusOK))
	if diff := cmp.Diff([]string{"observed_state"}, plan.Moved); diff != "" || plan.Operations[0].Allowed || plan.Operations[0].Prevents == "" {
		t.Errorf("%+v %s", plan, diff)
	}
	p := b.mustDo(http.MethodPost, "/hosts/h1/initialize?plan_id="+plan.ID, nil, http.StatusConflict).problem(t)
	if diff := cmp.Diff([]string{"observed_state"}, p.Moved); diff != "" || p.Code != "plan_stale" || p.Detail == "" {
		t.Errorf("%+v %s", p, diff)
	}

	ids := func(query string) (all string) {
		for _, p := range decode[api.Page[api.Plan]](t, b.mustDo(http.MethodGet, "/plans"+query, nil, http.StatusOK)).Items {
			if p.Changes != nil {
				t.Errorf("%s shows changes", query)
			}
			all += p.ID + " "
		}
		return strings.TrimSpace(all)
	}
	for query, want := range map[string]string{
		"": made.ID + " " + plan.ID, "?state=ready": plan.ID, "?state=applied&host=h1": made.ID, "?state=expired": "", "?host=nowhere": "",
		"?allocation=" + made.AllocationID: made.ID, "?allocation=" + uuid.NewString(): "",
	} {
		if got := ids(query); got != want {
			t.Errorf("/plans%s: %q, not %q", query, got, want)
		}
	}
	for _, query := range []string{"?state=happy", "?colour=red"} {
		b.mustDo(http.MethodGet, "/plans"+query, nil, http.StatusUnprocessableEntity)
	}
	b.mustDo(http.MethodGet, "/plans/h1", nil, http.StatusNotFound)
	b.sql(`UPDATE plans SET expires_at = now() WHERE id = $1`, plan.ID)
	if p := b.mustDo(http.MethodPost, "/hosts/h1/initialize?plan_id="+plan.ID, nil, http.StatusConflict).problem(t); p.Code != "plan_expired" {
		t.Errorf("%+v", p)
	}
}
