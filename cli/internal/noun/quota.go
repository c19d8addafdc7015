package noun

import (
	"strconv"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var quota = shape.Noun[api.Quota, api.QuotaFilter]{
	Name: "quota", Plural: "quotas", Help: "Quotas: how much a scope may have in use, and how much it has",
	Columns: []show.Column[api.Quota]{
		{Header: "SCOPE", Value: func(q api.Quota) string { return q.Scope }},
		{Header: "RESOURCE", Value: func(q api.Quota) string { return q.Resource }},
		{Header: "USED", Value: func(q api.Quota) string { return strconv.FormatInt(q.Used, 10) }},
		{Header: "AMOUNT", Value: func(q api.Quota) string { return strconv.FormatInt(q.Amount, 10) }},
		{Header: "SET BY", Value: func(q api.Quota) string { return q.UpdatedBy }},
	},
	ID:   func(q api.Quota) string { return q.ScopeID + " " + q.Resource },
	List: shape.List("list-quotas", (*client.Client).AllQuotas),
	Actions: []shape.Action{
		shape.Make("set", "set-quota", "scope", (*client.Client).SetQuota),
		shape.Make("clear", "remove-quota", "scope", (*client.Client).RemoveQuota),
	},
}
