package noun

import (
	"context"
	"iter"
	"strconv"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var providerColumns = []show.Column[api.IdentityProvider]{
	{Header: "NAME", Value: func(p api.IdentityProvider) string { return p.Name }},
	{Header: "STATE", Value: func(p api.IdentityProvider) string { return p.State }},
	{Header: "ISSUER", Value: func(p api.IdentityProvider) string { return p.Issuer }},
	{Header: "CLIENT", Value: func(p api.IdentityProvider) string { return p.ClientID }},
	{Header: "MAPPINGS", Value: func(p api.IdentityProvider) string { return strconv.Itoa(len(p.Mappings)) }},
	{Header: "FAILURE", Value: func(p api.IdentityProvider) string { return p.Failure }},
	{Header: "ID", Value: func(p api.IdentityProvider) string { return p.ID }},
}

func providerID(p api.IdentityProvider) string                  { return p.ID }
func providerName(p api.IdentityProvider) string                { return p.Name }
func providerVersion(p api.IdentityProvider) int64              { return p.Version }
func providerOperations(p api.IdentityProvider) []api.Operation { return p.Operations }

const endsWithProvider = "Delete %s? The identities, roles and sessions that it gave end with it."

var identityProvider = shape.Noun[api.IdentityProvider, api.IdentityProviderFilter]{
	Name: "identity-provider", Plural: "identity providers", Help: "Identity providers of an organization (OpenID Connect)",
	Columns: providerColumns, ID: providerID, Label: providerName, Version: providerVersion, Events: shape.InOrganization, Operations: providerOperations,
	List: shape.List("list-identity-providers", (*client.Client).AllIdentityProviders),
	Get:  shape.Get("get-identity-provider", (*client.Client).GetIdentityProvider),
	Actions: []shape.Action{
		shape.Create("create-identity-provider", "name", (*client.Client).CreateIdentityProvider).FromFile("client_secret").Full(),
		shape.Change("change-identity-provider", (*client.Client).ChangeIdentityProvider).FromFile("client_secret"),
		shape.Delete("delete-identity-provider", (*client.Client).DeleteIdentityProvider).Asks(endsWithProvider),
	},
}

var installationProvider = shape.Noun[api.IdentityProvider, struct{}]{
	Name: "installation-identity-provider", Plural: "identity providers", Help: "Identity providers of the installation, for its operators",
	Columns: providerColumns, ID: providerID, Label: providerName, Version: providerVersion, Events: shape.InInstallation, Operations: providerOperations,
	List: shape.List("list-installation-providers", (*client.Client).AllInstallationProviders),
	Get:  shape.Get("get-installation-provider", (*client.Client).GetInstallationProvider),
	Actions: []shape.Action{
		shape.Create("create-installation-provider", "name", (*client.Client).CreateInstallationProvider).FromFile("client_secret").Full(),
		shape.Change("change-installation-provider", (*client.Client).ChangeInstallationProvider).FromFile("client_secret"),
		shape.Delete("delete-installation-provider", (*client.Client).DeleteInstallationProvider).Asks(endsWithProvider),
	},
}

var mappingColumns = []show.Column[api.GroupMapping]{
	{Header: "ID", Value: func(m api.GroupMapping) string { return m.ID }},
	{Header: "PROVIDER", Value: func(m api.GroupMapping) string { return m.Provider }},
	{Header: "GROUP", Value: func(m api.GroupMapping) string { return m.Group }},
	{Header: "ROLE", Value: func(m api.GroupMapping) string { return m.Role }},
	{Header: "SCOPE", Value: scopeOfMapping},
	{Header: "CREATED BY", Value: func(m api.GroupMapping) string { return m.CreatedBy }},
}

func scopeOfMapping(m api.GroupMapping) string {
	if m.Scope == "" {
		return m.ScopeKind
	}
	return m.Scope
}

func mappingID(m api.GroupMapping) string { return m.ID }
func mappingLabel(m api.GroupMapping) string {
	return m.Group + " as " + m.Role + " at " + scopeOfMapping(m)
}

var groupMapping = shape.Noun[api.GroupMapping, api.IdentityProviderFilter]{
	Name: "group-mapping", Plural: "group mappings", Help: "Which groups of identity providers have which roles in an organization",
	Columns: mappingColumns, ID: mappingID, Label: mappingLabel,
	List: shape.List("list-group-mappings", (*client.Client).AllGroupMappings),
	Actions: []shape.Action{
		shape.Create("create-group-mapping", "group", (*client.Client).CreateGroupMapping),
		shape.Delete("delete-group-mapping", (*client.Client).DeleteGroupMapping),
	},
}

var installationMapping = shape.Noun[api.GroupMapping, struct{}]{
	Name: "installation-group-mapping", Plural: "group mappings", Help: "Which groups of the installation's identity providers have which roles",
	Columns: mappingColumns, ID: mappingID, Label: mappingLabel,
	List: shape.List("list-installation-providers", allInstallationMappings),
	Actions: []shape.Action{
		shape.Create("create-installation-mapping", "group", (*client.Client).CreateInstallationMapping),
		shape.Delete("delete-installation-mapping", (*client.Client).DeleteInstallationMapping),
	},
}

func allInstallationMappings(c *client.Client, ctx context.Context, f struct{}) iter.Seq2[api.GroupMapping, error] {
	return func(yield func(api.GroupMapping, error) bool) {
		for p, err := range c.AllInstallationProviders(ctx, f) {
			if err != nil {
				yield(api.GroupMapping{}, err)
				return
			}
			for _, m := range p.Mappings {
				if !yield(m, nil) {
					return
				}
			}
		}
	}
}

var identity = shape.Noun[api.Identity, struct{}]{
	Name: "identity", Plural: "identities", Help: "What proves at identity providers that somebody is you",
	Columns: []show.Column[api.Identity]{
		{Header: "ID", Value: func(i api.Identity) string { return i.ID }},
		{Header: "PROVIDER", Value: func(i api.Identity) string { return i.Provider }},
		{Header: "ORGANIZATION", Value: func(i api.Identity) string { return i.Organization }},
		{Header: "LABEL", Value: func(i api.Identity) string { return i.Label }},
		{Header: "SUBJECT", Value: func(i api.Identity) string { return i.Subject }},
		{Header: "LAST LOGIN", Value: func(i api.Identity) string { return show.Ago(i.LastLoginAt) }},
	},
	ID: func(i api.Identity) string { return i.ID }, Label: func(i api.Identity) string { return i.Provider + " " + i.Label },
	List:    shape.List("list-identities", (*client.Client).AllIdentities),
	Actions: []shape.Action{shape.Delete("delete-identity", (*client.Client).DeleteIdentity)},
}
