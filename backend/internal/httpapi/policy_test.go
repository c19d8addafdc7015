package httpapi_test

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"kloigos/backend/api"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/reconcile"
)

// A policy is listed, paused with a reason, resumed, and run on request: the answer
// of a run holds a token, and the item echoes it once a run has answered.
func TestPolicies(t *testing.T) {
	t.Parallel()
	one := uuid.New()
	ran := make(chan uuid.UUID, 100)
	run := func(_ context.Context, i reconcile.Item) (reconcile.Outcome, error) {
		ran <- i.ObjectID
		return reconcile.Outcome{Conditions: []reconcile.Condition{{Type: "tidy", Status: reconcile.False, Reason: "dusty", Message: "There is dust.", Fault: reconcile.FaultUser}}}, nil
	}
	whole := reconcile.Policy{Name: "whole", Why: "a test", Interval: time.Hour, Timeout: time.Minute, Run: run}
	things := reconcile.Policy{
		Name: "things", Why: "a test", Noun: "thing", Interval: time.Hour, Timeout: time.Minute, Observes: true, Run: run,
		Objects: func(_ context.Context, after uuid.UUID, _ int) ([]uuid.UUID, error) {
			if after != uuid.Nil {
				return nil, nil
			}
			return []uuid.UUID{one}, nil
		},
	}
	registry, err := reconcile.NewRegistry(map[string]string{"events": "they stay"}, whole, things)
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t, func(c *httpapi.Config) { c.Policies = registry })

	b.mustDo(http.MethodPost, "/policies/whole/pause", api.PausePolicy{Reason: "new switches"}, http.StatusOK)
	p := b.mustDo(http.MethodPost, "/policies/whole/pause", api.PausePolicy{Reason: "again"}, http.StatusConflict).problem(t)
	if p.Code != "policy_paused" {
		t.Errorf("paused twice: %s", p.Code)
	}
	p = b.mustDo(http.MethodPost, "/policies/whole/pause", api.PausePolicy{Reason: "look", Mode: "observe"}, http.StatusConflict).problem(t)
	if p.Code != "policy_cannot_observe" {
		t.Errorf("it can't observe: %s", p.Code)
	}
	b.mustDo(http.MethodPost, "/policies/things/pause", api.PausePolicy{Reason: " ", ObjectID: one.String()}, http.StatusUnprocessableEntity)
	b.mustDo(http.MethodPost, "/policies/none/pause", api.PausePolicy{Reason: "r"}, http.StatusNotFound)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go reconcile.New(b.db.DB, registry, reconcile.Config{Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Poll: 20 * time.Millisecond}).Run(ctx)

	// What no policy looks at is not found, and leaves no pause behind.
	for begun := time.Now(); len(decode[api.Page[api.PolicyItem]](t, b.mustDo(http.MethodGet, "/policies/things/items?object="+one.String(), nil, http.StatusOK)).Items) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > 20*time.Second {
			t.Fatal("the policy never listed its object")
		}
	}
	stranger := uuid.NewString()
	b.mustDo(http.MethodPost, "/policies/pause", api.PauseObject{ObjectID: stranger, Reason: "repair"}, http.StatusNotFound)
	b.mustDo(http.MethodPost, "/policies/things/pause", api.PausePolicy{ObjectID: stranger, Reason: "repair"}, http.StatusNotFound)
	b.mustDo(http.MethodPost, "/policies/whole/pause", api.PausePolicy{ObjectID: one.String(), Reason: "repair"}, http.StatusNotFound)
	b.mustDo(http.MethodPost, "/policies/pause", api.PauseObject{ObjectID: one.String(), Reason: "repair"}, http.StatusOK)

	all := decode[api.Policies](t, b.mustDo(http.MethodGet, "/policies", nil, http.StatusOK))
	if len(all.Items) != 2 || all.Items[1].Pause == nil || all.Items[1].Pause.Reason != "new switches" || all.Items[0].Pause != nil || len(all.Pauses) != 2 || len(all.NotReconciled) != 1 {
		t.Errorf("%+v", all)
	}
	b.mustDo(http.MethodPost, "/policies/resume", api.ThisObject{ObjectID: one.String()}, http.StatusNoContent)
	b.mustDo(http.MethodPost, "/policies/whole/resume", api.OfObject{}, http.StatusOK)
	p = b.mustDo(http.MethodPost, "/policies/whole/resume", api.OfObject{}, http.StatusConflict).problem(t)
	if p.Code != "policy_not_paused" {
		t.Errorf("resumed twice: %s", p.Code)
	}

	item := decode[api.PolicyItem](t, b.mustDo(http.MethodPost, "/policies/whole/run", api.OfObject{}, http.StatusOK))
	for begun := time.Now(); item.TokenAnswered < 1; time.Sleep(10 * time.Millisecond) {
		items := decode[api.Page[api.PolicyItem]](t, b.mustDo(http.MethodGet, "/policies/whole/items", nil, http.StatusOK))
		if item = items.Items[0]; time.Since(begun) > 20*time.Second {
			t.Fatalf("it never ran: %+v", item)
		}
	}
	if item.LastOutcome != "ok" || len(ran) == 0 {
		t.Errorf("%+v", item)
	}
	b.mustDo(http.MethodPost, "/policies/things/run", api.OfObject{ObjectID: uuid.NewString()}, http.StatusNotFound)

	policy := decode[api.Policy](t, b.mustDo(http.MethodGet, "/policies/whole", nil, http.StatusOK))
	if len(policy.Conditions) != 2 || policy.LastEndedAt == nil {
		t.Errorf("%+v", policy)
	}
	conditions := decode[api.Page[api.Condition]](t, b.mustDo(http.MethodGet, "/conditions?noun=policy", nil, http.StatusOK))
	if len(conditions.Items) != 1 || conditions.Items[0].Status != "progressing" || conditions.Items[0].Fault != "user" {
		t.Errorf("%+v", conditions)
	}
	conditions = decode[api.Page[api.Condition]](t, b.mustDo(http.MethodGet, "/conditions?noun=policy&object="+conditions.Items[0].ObjectID, nil, http.StatusOK))
	if len(conditions.Items) != 2 {
		t.Errorf("%+v", conditions)
	}
	b.mustDo(http.MethodGet, "/conditions", nil, http.StatusUnprocessableEntity)

	events := decode[api.Page[api.Event]](t, b.mustDo(http.MethodGet, "/events?object_kind=policy", nil, http.StatusOK))
	actions := map[string]int{}
	for _, e := range events.Items {
		actions[e.Action]++
	}
	if actions["policy.pause"] != 2 || actions["policy.resume"] != 2 || actions["policy.run"] != 1 {
		t.Errorf("%v", actions)
	}
}
