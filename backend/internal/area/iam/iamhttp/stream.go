package iamhttp

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// streams are whose event streams some routes are about: those of organizations, or the installation's.
type streams struct {
	h            handlers
	noun         string // of its permissions
	installation bool
}

func registerStreams(h handlers) {
	s := h.server
	example := api.CreateInstallationStream{Name: "siem", Type: iam.StreamSyslog, Server: "logs.example.org"}
	change := httpapi.Example(map[string]any{"enabled": false})
	of := streams{h: h, noun: "organization.event_stream"}
	httpapi.Register(s, "list-event-streams", of.listOf)
	httpapi.Register(s, "create-event-stream", of.createIn, httpapi.Created, httpapi.Example(api.CreateEventStream{Name: example.Name, Type: example.Type, Server: example.Server, Organization: "acme"}))
	httpapi.Register(s, "get-event-stream", of.get)
	httpapi.Register(s, "change-event-stream", of.change, change)
	httpapi.Register(s, "delete-event-stream", of.delete)
	ours := streams{h: h, noun: "installation.event_stream", installation: true}
	httpapi.Register(s, "list-installation-streams", ours.listOurs)
	httpapi.Register(s, "create-installation-stream", ours.createOurs, httpapi.Created, httpapi.Example(example))
	httpapi.Register(s, "get-installation-stream", ours.get)
	httpapi.Register(s, "change-installation-stream", ours.change, change)
	httpapi.Register(s, "delete-installation-stream", ours.delete)
}

// find finds a stream that the caller sees, and asks for a permission at its organization.
func (r streams) find(ctx context.Context, text, verb string) (asker, iam.Stream, iam.Scope, scope.Ref[iam.Stream], error) {
	none := scope.Ref[iam.Stream]{}
	a, err := r.h.asker(ctx)
	if err != nil {
		return a, iam.Stream{}, iam.Scope{}, none, err
	}
	if r.installation {
		s, ref, err := iam.FindInstallationStream(ctx, r.h.server.DB().Reader, text)
		if err == nil {
			err = a.needs(r.noun+":"+verb, iam.Scope{})
		}
		return a, s, iam.Scope{}, ref, err
	}
	id, ok := httpapi.ID(text)
	if !ok {
		return a, iam.Stream{}, iam.Scope{}, none, fault.ErrNotFound
	}
	s, at, ref, err := iam.FindStream(ctx, r.h.server.DB().Reader, a.viewer, id)
	if err == nil {
		err = a.needs(r.noun+":"+verb, at)
	}
	return a, s, at, ref, err
}

func (r streams) listOf(ctx context.Context, in *struct{ api.EventStreamFilter }) (*httpapi.Object[api.Page[api.EventStream]], error) {
	a, at, err := r.h.organizationAt(ctx, in.Organization, r.noun+":read")
	if err != nil {
		return nil, err
	}
	return r.list(ctx, a, at)
}

func (r streams) listOurs(ctx context.Context, _ *struct{}) (*httpapi.Object[api.Page[api.EventStream]], error) {
	a, err := r.h.asker(ctx)
	if err != nil {
		return nil, err
	}
	return r.list(ctx, a, iam.Scope{})
}

func (r streams) list(ctx context.Context, a asker, at iam.Scope) (*httpapi.Object[api.Page[api.EventStream]], error) {
	all, err := iam.Streams(ctx, r.h.server.DB().Reader, at.OrganizationID)
	if err != nil {
		return nil, err
	}
	return httpapi.Whole(all, func(s iam.Stream) api.EventStream { return r.present(a, s, at) }), nil
}

func (r streams) createIn(ctx context.Context, in *struct{ Body api.CreateEventStream }) (*httpapi.Versioned[api.EventStream], error) {
	_, at, err := r.h.organizationAt(ctx, in.Body.Organization, r.noun+":create")
	if err != nil {
		return nil, err
	}
	b := in.Body
	return r.create(ctx, at.ID, api.CreateInstallationStream{
		Name: b.Name, Type: b.Type, URL: b.URL, Secret: b.Secret, Server: b.Server, Authority: b.Authority, History: b.History, Enabled: b.Enabled,
	})
}

func (r streams) createOurs(ctx context.Context, in *struct {
	Body api.CreateInstallationStream
},
) (*httpapi.Versioned[api.EventStream], error) {
	return r.create(ctx, uuid.Nil, in.Body)
}

func (r streams) create(ctx context.Context, organization uuid.UUID, b api.CreateInstallationStream) (*httpapi.Versioned[api.EventStream], error) {
	draft := iam.StreamDraft{Name: b.Name, Type: b.Type, URL: b.URL, Server: b.Server, Authority: b.Authority, Secret: &b.Secret, Enabled: b.Enabled == nil || *b.Enabled}
	made, err := r.h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		made, err := iam.CreateStream(ctx, tx, r.h.Keys, r.h.Streams, organization, draft, b.History)
		return made.ID, err
	})
	if err != nil {
		return nil, err
	}
	return r.get(ctx, &httpapi.ByID{ID: made.Object.String()})
}

func (r streams) get(ctx context.Context, in *httpapi.ByID) (*httpapi.Versioned[api.EventStream], error) {
	a, s, at, _, err := r.find(ctx, in.ID, "read")
	if err != nil {
		return nil, err
	}
	return &httpapi.Versioned[api.EventStream]{ETag: httpapi.ETag(s.Version), Body: r.present(a, s, at)}, nil
}

func (r streams) change(ctx context.Context, in *struct {
	httpapi.Change
	Body api.ChangeEventStream
},
) (*httpapi.Versioned[api.EventStream], error) {
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	_, _, _, ref, err := r.find(ctx, in.ID, "update")
	if err != nil {
		return nil, err
	}
	_, err = r.h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return ref.ID(), iam.ChangeStream(ctx, tx, r.h.Keys, r.h.Streams, ref, version, func(d *iam.StreamDraft) { applyStream(d, in.Body) })
	})
	if err != nil {
		return nil, err
	}
	return r.get(ctx, &httpapi.ByID{ID: ref.ID().String()})
}

func applyStream(d *iam.StreamDraft, body api.ChangeEventStream) {
	for _, f := range []struct{ to, from *string }{{&d.Name, body.Name}, {&d.URL, body.URL}, {&d.Server, body.Server}, {&d.Authority, body.Authority}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	d.Secret = body.Secret
	if body.Enabled != nil {
		d.Enabled = *body.Enabled
	}
}

func (r streams) delete(ctx context.Context, in *httpapi.Change) (*httpapi.Nothing, error) {
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	_, _, _, ref, err := r.find(ctx, in.ID, "delete")
	if err != nil {
		return nil, err
	}
	_, err = r.h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return ref.ID(), iam.DeleteStream(ctx, tx, ref, version)
	})
	return nil, err
}

func (r streams) present(a asker, s iam.Stream, at iam.Scope) api.EventStream {
	out := api.EventStream{
		ID: s.ID.String(), Name: s.Name, Type: s.Type, URL: s.URL, Server: s.Server, Authority: s.Authority, HasSecret: s.SecretSealed != nil,
		Enabled: s.Enabled, Sent: s.Sent, SentAt: s.SentAt, Seal: s.Seal, Version: s.Version, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
		Operations: []api.Operation{a.operation("change", r.noun+":update", at, nil), a.operation("delete", r.noun+":delete", at, nil)},
	}
	if !s.OfInstallation() {
		out.OrganizationID, out.Organization = at.ID.String(), at.Name
	}
	return out
}
