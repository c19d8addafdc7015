package iamhttp

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/area/iam/iamoidc"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// realm is whose identity providers some routes are about: those of organizations, or the installation's.
type realm struct {
	h            handlers
	noun         string // of its permissions
	installation bool
}

func registerProviders(h handlers) {
	s := h.server
	example := api.CreateInstallationProvider{Name: "login", Issuer: "https://login.example.org/realms/acme", ClientID: "kloigos", Scopes: []string{"profile", "email", "groups"}}
	change := httpapi.Example(map[string]any{"groups_claim": "roles"})
	of := realm{h: h, noun: "organization.identity_provider"}
	httpapi.Register(s, "list-identity-providers", of.listOf)
	httpapi.Register(s, "create-identity-provider", of.createIn, httpapi.Created, httpapi.Example(api.CreateIdentityProvider{Name: example.Name, Issuer: example.Issuer, ClientID: example.ClientID, Scopes: example.Scopes, Organization: "acme"}))
	httpapi.Register(s, "get-identity-provider", of.get)
	httpapi.Register(s, "change-identity-provider", of.change, change)
	httpapi.Register(s, "delete-identity-provider", of.delete)
	httpapi.Register(s, "list-group-mappings", of.listMappings)
	httpapi.Register(s, "create-group-mapping", of.mapIn, httpapi.Created, httpapi.Example(api.CreateGroupMapping{Group: "platform", Provider: "login", Role: "operator", Scope: "acme/web"}))
	httpapi.Register(s, "delete-group-mapping", of.unmap)
	ours := realm{h: h, noun: "installation.identity_provider", installation: true}
	httpapi.Register(s, "list-installation-providers", ours.listOurs)
	httpapi.Register(s, "create-installation-provider", ours.createOurs, httpapi.Created, httpapi.Example(example))
	httpapi.Register(s, "get-installation-provider", ours.get)
	httpapi.Register(s, "change-installation-provider", ours.change, change)
	httpapi.Register(s, "delete-installation-provider", ours.delete)
	httpapi.Register(s, "create-installation-mapping", ours.mapOurs, httpapi.Created, httpapi.Example(api.CreateInstallationMapping{Group: "sre", Provider: "login", Role: iam.RoleInstallationOperator}))
	httpapi.Register(s, "delete-installation-mapping", ours.unmap)
}

// find finds a provider that the caller sees, and asks for a permission at its organization.
func (r realm) find(ctx context.Context, text, verb string) (asker, iam.Provider, iam.Scope, scope.Ref[iam.Provider], error) {
	none := scope.Ref[iam.Provider]{}
	a, err := r.h.asker(ctx)
	if err != nil {
		return a, iam.Provider{}, iam.Scope{}, none, err
	}
	if r.installation {
		p, ref, err := iam.FindInstallationProvider(ctx, r.h.server.DB().Reader, text)
		if err == nil {
			err = a.needs(r.noun+":"+verb, iam.Scope{})
		}
		return a, p, iam.Scope{}, ref, err
	}
	id, ok := httpapi.ID(text)
	if !ok {
		return a, iam.Provider{}, iam.Scope{}, none, fault.ErrNotFound
	}
	p, at, ref, err := iam.FindProvider(ctx, r.h.server.DB().Reader, a.viewer, id)
	if err == nil {
		err = a.needs(r.noun+":"+verb, at)
	}
	return a, p, at, ref, err
}

func (r realm) listOf(ctx context.Context, in *struct{ api.IdentityProviderFilter }) (*httpapi.Object[api.Page[api.IdentityProvider]], error) {
	a, at, err := r.h.organizationAt(ctx, in.Organization, r.noun+":read")
	if err != nil {
		return nil, err
	}
	return r.list(ctx, a, at)
}

func (r realm) listOurs(ctx context.Context, _ *struct{}) (*httpapi.Object[api.Page[api.IdentityProvider]], error) {
	a, err := r.h.asker(ctx)
	if err != nil {
		return nil, err
	}
	return r.list(ctx, a, iam.Scope{})
}

func (r realm) list(ctx context.Context, a asker, at iam.Scope) (*httpapi.Object[api.Page[api.IdentityProvider]], error) {
	providers, err := iam.Providers(ctx, r.h.server.DB().Reader, at.OrganizationID)
	if err != nil {
		return nil, err
	}
	shown := []api.IdentityProvider{}
	for _, p := range providers {
		one, err := r.present(ctx, a, p, at)
		if err != nil {
			return nil, err
		}
		shown = append(shown, one)
	}
	return httpapi.Whole(shown, func(p api.IdentityProvider) api.IdentityProvider { return p }), nil
}

func (r realm) createIn(ctx context.Context, in *struct{ Body api.CreateIdentityProvider }) (*httpapi.Versioned[api.IdentityProvider], error) {
	_, at, err := r.h.organizationAt(ctx, in.Body.Organization, r.noun+":create")
	if err != nil {
		return nil, err
	}
	b := in.Body
	return r.create(ctx, at.ID, api.CreateInstallationProvider{
		Name: b.Name, Issuer: b.Issuer, ClientID: b.ClientID, ClientSecret: b.ClientSecret, Scopes: b.Scopes, GroupsClaim: b.GroupsClaim, State: b.State,
	})
}

func (r realm) createOurs(ctx context.Context, in *struct {
	Body api.CreateInstallationProvider
},
) (*httpapi.Versioned[api.IdentityProvider], error) {
	return r.create(ctx, uuid.Nil, in.Body)
}

func (r realm) create(ctx context.Context, organization uuid.UUID, body api.CreateInstallationProvider) (*httpapi.Versioned[api.IdentityProvider], error) {
	draft := iam.ProviderDraft{
		Name: body.Name, Issuer: body.Issuer, ClientID: body.ClientID, Secret: &body.ClientSecret, Scopes: body.Scopes, GroupsClaim: body.GroupsClaim, Enabled: body.State != iam.ProviderDisabled,
	}
	if body.Scopes == nil {
		draft.Scopes = iam.DefaultScopes()
	}
	if draft.GroupsClaim == "" {
		draft.GroupsClaim = iam.DefaultGroupsClaim
	}
	made, err := r.h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		made, err := iam.CreateProvider(ctx, tx, r.h.Keys, r.h.Providers.Rule, organization, draft)
		return made.ID, err
	})
	if err != nil {
		return nil, err
	}
	return r.show(ctx, made.Object)
}

// show is a provider as it is after a change, to who changed it.
func (r realm) show(ctx context.Context, id uuid.UUID) (*httpapi.Versioned[api.IdentityProvider], error) {
	return r.get(ctx, &httpapi.ByID{ID: id.String()})
}

func (r realm) get(ctx context.Context, in *httpapi.ByID) (*httpapi.Versioned[api.IdentityProvider], error) {
	a, p, at, _, err := r.find(ctx, in.ID, "read")
	if err != nil {
		return nil, err
	}
	shown, err := r.present(ctx, a, p, at)
	if err != nil {
		return nil, err
	}
	return &httpapi.Versioned[api.IdentityProvider]{ETag: httpapi.ETag(p.Version), Body: shown}, nil
}

func (r realm) change(ctx context.Context, in *struct {
	httpapi.Change
	Body api.ChangeIdentityProvider
},
) (*httpapi.Versioned[api.IdentityProvider], error) {
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	a, _, _, ref, err := r.find(ctx, in.ID, "update")
	if err != nil {
		return nil, err
	}
	_, err = r.h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		_, err := iam.ChangeProvider(ctx, tx, r.h.Keys, r.h.Providers.Rule, r.h.roles, a.may, ref, version, func(d *iam.ProviderDraft) { apply(d, in.Body) })
		return ref.ID(), err
	})
	if err != nil {
		return nil, err
	}
	return r.show(ctx, ref.ID())
}

func apply(d *iam.ProviderDraft, body api.ChangeIdentityProvider) {
	for _, f := range []struct {
		to   *string
		from *string
	}{{&d.Name, body.Name}, {&d.Issuer, body.Issuer}, {&d.ClientID, body.ClientID}, {&d.GroupsClaim, body.GroupsClaim}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	d.Secret = body.ClientSecret
	if body.Scopes != nil {
		d.Scopes = *body.Scopes
	}
	if body.State != nil {
		d.Enabled = *body.State == iam.ProviderEnabled
	}
}

func (r realm) delete(ctx context.Context, in *httpapi.Change) (*httpapi.Nothing, error) {
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	a, _, _, ref, err := r.find(ctx, in.ID, "delete")
	if err != nil {
		return nil, err
	}
	_, err = r.h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return ref.ID(), iam.DeleteProvider(ctx, tx, r.h.roles, a.may, ref, version)
	})
	return nil, err
}

func (r realm) present(ctx context.Context, a asker, p iam.Provider, at iam.Scope) (api.IdentityProvider, error) {
	mappings, err := iam.MappingsOf(ctx, r.h.server.DB().Reader, p.ID)
	if err != nil {
		return api.IdentityProvider{}, err
	}
	out := api.IdentityProvider{
		ID: p.ID.String(), Name: p.Name, Issuer: p.Issuer, ClientID: p.ClientID, HasSecret: p.SecretSealed != nil, Scopes: p.Scopes, GroupsClaim: p.GroupsClaim,
		State: p.State, LoginPath: "/login/" + p.ID.String(), RedirectURI: iamoidc.RedirectURI(r.h.Web, p), Mappings: []api.GroupMapping{},
		FailedAt: p.FailedAt, Failure: p.Failure, Version: p.Version, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
		Operations: []api.Operation{
			a.operation("change", r.noun+":update", at, nil), a.operation("map", r.noun+":grant", at, nil), a.operation("delete", r.noun+":delete", at, nil),
		},
	}
	if !p.OfInstallation() {
		out.OrganizationID, out.Organization = at.ID.String(), at.Name
	}
	for _, m := range mappings {
		out.Mappings = append(out.Mappings, presentMapping(m))
	}
	return out, nil
}

func presentMapping(m iam.Mapping) api.GroupMapping {
	return api.GroupMapping{
		ID: m.ID.String(), ProviderID: m.ProviderID.String(), Provider: m.Provider, Shared: m.ProviderOf == uuid.Nil, Group: m.Group, Role: m.Role,
		ScopeKind: m.Scope, ScopeID: m.ScopeID.String(), Scope: m.Path, CreatedBy: m.CreatedBy, CreatedAt: m.CreatedAt,
	}
}

func (r realm) listMappings(ctx context.Context, in *struct{ api.IdentityProviderFilter }) (*httpapi.Object[api.Page[api.GroupMapping]], error) {
	_, at, err := r.h.organizationAt(ctx, in.Organization, r.noun+":read")
	if err != nil {
		return nil, err
	}
	all, err := iam.MappingsIn(ctx, r.h.server.DB().Reader, at.ID)
	if err != nil {
		return nil, err
	}
	return httpapi.Whole(all, presentMapping), nil
}

func (r realm) mapIn(ctx context.Context, in *struct{ Body api.CreateGroupMapping }) (*httpapi.Object[api.GroupMapping], error) {
	a, err := r.h.asker(ctx)
	if err != nil {
		return nil, err
	}
	at, _, err := r.h.scopeAt(ctx, a, in.Body.Scope, r.noun+":grant")
	if err != nil {
		return nil, err
	}
	return r.mapped(ctx, a, at, at.OrganizationID, in.Body.Provider, in.Body.Group, in.Body.Role)
}

func (r realm) mapOurs(ctx context.Context, in *struct{ Body api.CreateInstallationMapping }) (*httpapi.Object[api.GroupMapping], error) {
	a, err := r.h.asker(ctx)
	if err != nil {
		return nil, err
	}
	at := iam.Scope{}
	if in.Body.Scope != "" {
		if at, _, err = r.h.scopeAt(ctx, a, in.Body.Scope, "organization.identity_provider:grant"); err != nil {
			return nil, err
		}
	}
	return r.mapped(ctx, a, at, uuid.Nil, in.Body.Provider, in.Body.Group, in.Body.Role)
}

// mapped maps a group of a provider of an organization; of the installation for uuid.Nil.
func (r realm) mapped(ctx context.Context, a asker, at iam.Scope, organization uuid.UUID, provider, group, role string) (*httpapi.Object[api.GroupMapping], error) {
	p, err := iam.ProviderNamed(ctx, r.h.server.DB().Reader, organization, provider)
	if err != nil {
		return nil, filterOf("provider", err)
	}
	var mapping iam.Mapping
	made, err := r.h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		mapping, err = iam.CreateMapping(ctx, tx, r.h.roles, a.may, p, at, group, role)
		return mapping.ID, err
	})
	if err != nil {
		return nil, err
	}
	if made.Repeated {
		if mapping, err = iam.MappingByID(ctx, r.h.server.DB().Reader, made.Object); err != nil {
			return nil, err
		}
	}
	return &httpapi.Object[api.GroupMapping]{Body: presentMapping(mapping)}, nil
}

// unmap deletes a mapping. An organization takes away what any provider gives in it.
func (r realm) unmap(ctx context.Context, in *httpapi.ByID) (*httpapi.Nothing, error) {
	a, err := r.h.asker(ctx)
	if err != nil {
		return nil, err
	}
	id, ok := httpapi.ID(in.ID)
	if !ok {
		return nil, fault.ErrNotFound
	}
	ref, at, err := r.findMapping(ctx, a, r.h.server.DB().Reader, id)
	if err == nil {
		err = a.needs(r.noun+":grant", at)
	}
	if err != nil {
		return nil, err
	}
	_, err = r.h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return ref.ID(), iam.DeleteMapping(ctx, tx, r.h.roles, a.may, ref)
	})
	return nil, err
}

func (r realm) findMapping(ctx context.Context, a asker, q db.Reader, id uuid.UUID) (scope.Ref[iam.Mapping], iam.Scope, error) {
	if r.installation {
		_, ref, err := iam.FindInstallationMapping(ctx, q, id)
		return ref, iam.Scope{}, err
	}
	_, at, ref, err := iam.FindMapping(ctx, q, a.viewer, id)
	return ref, at, err
}
