package noun

import (
	"strconv"
	"strings"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var approvalRule = shape.Noun[api.ApprovalRule, api.ApprovalRuleFilter]{
	Name: "approval-rule", Plural: "approval rules", Help: "Which plans need approvals by other people, and how many",
	Columns: []show.Column[api.ApprovalRule]{
		{Header: "NAME", Value: func(r api.ApprovalRule) string { return r.Name }},
		{Header: "SCOPE", Value: func(r api.ApprovalRule) string { return r.Scope }},
		{Header: "APPROVALS", Value: func(r api.ApprovalRule) string { return strconv.Itoa(r.Approvals) }},
		{Header: "HOURS", Value: func(r api.ApprovalRule) string { return strconv.Itoa(r.Hours) }},
		{Header: "KINDS", Value: func(r api.ApprovalRule) string { return strings.Join(r.Kinds, ",") }},
		{Header: "ID", Value: func(r api.ApprovalRule) string { return r.ID }},
	},
	ID: func(r api.ApprovalRule) string { return r.ID }, Label: func(r api.ApprovalRule) string { return r.Name }, Version: func(r api.ApprovalRule) int64 { return r.Version },
	Events: shape.InOrganization, Operations: func(r api.ApprovalRule) []api.Operation { return r.Operations },
	List: shape.List("list-approval-rules", (*client.Client).AllApprovalRules),
	Get:  shape.Get("get-approval-rule", (*client.Client).GetApprovalRule),
	Actions: []shape.Action{
		shape.Create("create-approval-rule", "name", (*client.Client).CreateApprovalRule),
		shape.Change("change-approval-rule", (*client.Client).ChangeApprovalRule),
		shape.Delete("delete-approval-rule", (*client.Client).DeleteApprovalRule),
	},
}
