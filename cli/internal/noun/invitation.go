package noun

import (
	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var invitation = shape.Noun[api.Invitation, api.InvitationFilter]{
	Name: "invitation", Plural: "invitations", Help: "Roles that wait for somebody to accept them with a link",
	Columns: []show.Column[api.Invitation]{
		{Header: "ID", Value: func(i api.Invitation) string { return i.ID }},
		{Header: "PERSON", Value: func(i api.Invitation) string { return i.Person }},
		{Header: "ROLE", Value: func(i api.Invitation) string { return i.Role }},
		{Header: "SCOPE", Value: func(i api.Invitation) string { return i.Scope }},
		{Header: "EXPIRES", Value: func(i api.Invitation) string { return show.Ago(i.ExpiresAt) }},
	},
	ID: func(i api.Invitation) string { return i.ID }, Label: func(i api.Invitation) string { return i.Person + " as " + i.Role + " at " + i.Scope }, Events: shape.InOrganization,
	List: shape.List("list-invitations", (*client.Client).AllInvitations),
	Get:  shape.Get("get-invitation", (*client.Client).GetInvitation),
	Actions: []shape.Action{
		shape.Create("create-invitation", "person", (*client.Client).CreateInvitation).Full(),
		shape.Delete("delete-invitation", (*client.Client).DeleteInvitation),
	},
}
