package noun

import (
	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var passkey = shape.Noun[api.Passkey, struct{}]{
	Name: "passkey", Plural: "passkeys", Help: "Devices that log you in without a password; they are added in the web app",
	Columns: []show.Column[api.Passkey]{
		{Header: "ID", Value: func(k api.Passkey) string { return k.ID }},
		{Header: "NAME", Value: func(k api.Passkey) string { return k.Name }},
		{Header: "ADDED", Value: func(k api.Passkey) string { return show.Ago(k.CreatedAt) }},
		{Header: "LAST USED", Value: func(k api.Passkey) string { return show.AgoOf(k.LastUsedAt) }},
	},
	ID: func(k api.Passkey) string { return k.ID }, Label: func(k api.Passkey) string { return k.Name },
	List:    shape.List("list-passkeys", (*client.Client).AllPasskeys),
	Actions: []shape.Action{shape.Delete("delete-passkey", (*client.Client).DeletePasskey)},
}
