package noun

import (
	"context"
	"iter"
	"strconv"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var policy = shape.Noun[api.Policy, struct{}]{
	Name: "policy", Plural: "policies", Help: "Policies of the reconciler: they compare intent with reality",
	Columns: []show.Column[api.Policy]{
		{Header: "NAME", Value: func(p api.Policy) string { return p.Name }},
		{Header: "OUTCOME", Value: func(p api.Policy) string { return p.LastOutcome }},
		{Header: "LAST RUN", Value: func(p api.Policy) string { return show.AgoOf(p.LastEndedAt) }},
		{Header: "INTERVAL", Value: func(p api.Policy) string { return show.Span(time.Duration(p.IntervalSeconds) * time.Second) }},
		{Header: "ITEMS", Value: func(p api.Policy) string { return strconv.FormatInt(p.Items, 10) }},
		{Header: "FAILING", Value: func(p api.Policy) string { return strconv.FormatInt(p.Failing, 10) }},
		{Header: "PAUSED", Value: pausedBy},
	},
	ID:     func(p api.Policy) string { return p.Name },
	List:   shape.List("list-policies", allPolicies),
	Get:    shape.Get("get-policy", (*client.Client).GetPolicy),
	ByName: true,
	Actions: []shape.Action{
		shape.DoWith("pause", "pause-policy", (*client.Client).PausePolicy),
		shape.DoWith("resume", "resume-policy", (*client.Client).ResumePolicy),
		shape.DoWith("run", "run-policy", (*client.Client).RunPolicy).Full(),
		shape.Create("pause-object", "object_id", (*client.Client).PauseObject).Called("pause-object").Full(),
		shape.Create("resume-object", "object_id", resumeObject).Called("resume-object").Full(),
	},
	Nested: []shape.Entry{policyItem},
}

var notReconciled = shape.Noun[api.NotReconciled, struct{}]{
	Name: "not-reconciled", Plural: "not-reconciled", Help: "What no policy looks at, and why",
	Columns: []show.Column[api.NotReconciled]{
		{Header: "WHAT", Value: func(n api.NotReconciled) string { return n.What }},
		{Header: "WHY", Value: func(n api.NotReconciled) string { return n.Why }},
	},
	ID:   func(n api.NotReconciled) string { return n.What },
	List: shape.List("list-policies", allNotReconciled),
}

func allNotReconciled(c *client.Client, ctx context.Context, _ struct{}) iter.Seq2[api.NotReconciled, error] {
	return func(yield func(api.NotReconciled, error) bool) {
		all, err := c.ListPolicies(ctx)
		if err != nil {
			yield(api.NotReconciled{}, err)
			return
		}
		for _, n := range all.NotReconciled {
			if !yield(n, nil) {
				return
			}
		}
	}
}

func pausedBy(p api.Policy) string {
	if p.Pause == nil {
		return ""
	}
	return p.Pause.Mode + " by " + p.Pause.PausedBy + ": " + p.Pause.Reason
}

func allPolicies(c *client.Client, ctx context.Context, _ struct{}) iter.Seq2[api.Policy, error] {
	return func(yield func(api.Policy, error) bool) {
		all, err := c.ListPolicies(ctx)
		if err != nil {
			yield(api.Policy{}, err)
			return
		}
		for _, p := range all.Items {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func resumeObject(c *client.Client, ctx context.Context, b api.ThisObject, o ...client.Option) (api.ThisObject, error) {
	return b, c.ResumeObject(ctx, b, o...)
}

// itemFilter is a list of items, and whose they are.
type itemFilter struct {
	api.PolicyItemFilter
	Policy string `query:"policy"`
}

var policyItem = shape.Noun[api.PolicyItem, itemFilter]{
	Name: "item", Plural: "items", Help: "Objects that a policy looks at",
	Columns: []show.Column[api.PolicyItem]{
		{Header: "OBJECT", Value: func(i api.PolicyItem) string { return i.ObjectID }},
		{Header: "OUTCOME", Value: func(i api.PolicyItem) string { return i.LastOutcome }},
		{Header: "LAST RUN", Value: func(i api.PolicyItem) string { return show.AgoOf(i.LastEndedAt) }},
		{Header: "DUE", Value: func(i api.PolicyItem) string { return i.DueAt.Format(time.RFC3339) }},
		{Header: "FAILURES", Value: func(i api.PolicyItem) string { return strconv.Itoa(i.Failures) }},
		{Header: "ERROR", Value: func(i api.PolicyItem) string { return i.LastError }},
	},
	ID:     func(i api.PolicyItem) string { return i.ObjectID },
	List:   shape.List("list-policy-items", allPolicyItems),
	Parent: "policy",
}

func allPolicyItems(c *client.Client, ctx context.Context, f itemFilter) iter.Seq2[api.PolicyItem, error] {
	return c.AllPolicyItems(ctx, f.Policy, f.PolicyItemFilter)
}

var condition = shape.Noun[api.Condition, api.ConditionFilter]{
	Name: "condition", Plural: "conditions", Help: "What policies found of an object, or all of a noun that is not as it should be",
	Columns: []show.Column[api.Condition]{
		{Header: "OBJECT", Value: func(c api.Condition) string { return c.Noun + " " + c.ObjectID }},
		{Header: "TYPE", Value: func(c api.Condition) string { return c.Type }},
		{Header: "STATUS", Value: func(c api.Condition) string { return c.Status }},
		{Header: "SINCE", Value: func(c api.Condition) string { return show.Ago(c.Since) }},
		{Header: "FAULT", Value: func(c api.Condition) string { return c.Fault }},
		{Header: "MESSAGE", Value: func(c api.Condition) string { return c.Message }},
	},
	ID:     func(c api.Condition) string { return c.ObjectID + "/" + c.Type },
	List:   shape.List("list-conditions", allConditions),
	Parent: "noun",
}

var objectCondition = shape.Noun[api.Condition, api.ObjectConditionFilter]{
	Name: "object-condition", Plural: "object-conditions", Help: "What policies found of an object of the workspace",
	Columns: condition.Columns, ID: condition.ID, List: shape.List("list-object-conditions", allObjectConditions), Parent: "noun",
}

func allObjectConditions(c *client.Client, ctx context.Context, f api.ObjectConditionFilter) iter.Seq2[api.Condition, error] {
	return each(c.ListObjectConditions(ctx, f))
}

// each goes through a list that is one page.
func each(all []api.Condition, err error) iter.Seq2[api.Condition, error] {
	return func(yield func(api.Condition, error) bool) {
		if err != nil {
			yield(api.Condition{}, err)
			return
		}
		for _, one := range all {
			if !yield(one, nil) {
				return
			}
		}
	}
}

func allConditions(c *client.Client, ctx context.Context, f api.ConditionFilter) iter.Seq2[api.Condition, error] {
	return each(c.ListConditions(ctx, f))
}
