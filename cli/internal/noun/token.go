package noun

import (
	"context"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var token = shape.Noun[api.Token, api.PageQuery]{
	Name: "token", Plural: "tokens", Help: "Your API tokens and sessions",
	Columns: []show.Column[api.Token]{
		{Header: "ID", Value: func(t api.Token) string { return t.ID }},
		{Header: "KIND", Value: func(t api.Token) string { return t.Kind }},
		{Header: "NAME", Value: func(t api.Token) string { return t.Name }},
		{Header: "BEGINS WITH", Value: func(t api.Token) string { return t.Prefix }},
		{Header: "EXPIRES", Value: func(t api.Token) string { return show.Ago(t.ExpiresAt) }},
		{Header: "LAST USED", Value: func(t api.Token) string { return show.AgoOf(t.LastUsedAt) }},
	},
	ID:    func(t api.Token) string { return t.ID },
	Label: func(t api.Token) string { return t.Name },
	List:  shape.List("list-tokens", (*client.Client).AllTokens),
	Actions: []shape.Action{
		shape.Create("create-token", "name", (*client.Client).CreateToken).Full(),
		shape.Delete("delete-token", deleteToken),
	},
}

func deleteToken(c *client.Client, ctx context.Context, id string, _ ...client.Option) error {
	return c.DeleteToken(ctx, id)
}
