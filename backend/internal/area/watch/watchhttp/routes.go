// Package watchhttp owns the routes of notification channels: it decodes, looks up in the caller's scope, calls an intent and
// presents what came of it.
//
// It refuses rules: what a channel may be is for package watch.
package watchhttp

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/watch"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
)

// Parts is what the routes are made with.
type Parts struct {
	Engine intent.Engine
	Keys   *secret.Keyset
	Kinds  *work.Registry
	Rule   egress.Rule
}

type handlers struct {
	Parts
	server *httpapi.Server
}

// exampleSecret stands in the description of requests.
const exampleSecret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

// Routes registers the area's routes.
func Routes(parts Parts) func(*httpapi.Server) {
	return func(s *httpapi.Server) {
		h := handlers{parts, s}
		httpapi.Register(s, "list-channels", h.list, httpapi.Sorted(watch.ChannelSorting))
		httpapi.Register(s, "create-channel", h.create, httpapi.Created, httpapi.Example(api.CreateChannel{
			Name: "on-call", Type: "webhook", URL: "https://hooks.example.org/kloigos", Secret: exampleSecret, Subscribes: []string{"dns_zone"},
		}))
		httpapi.Register(s, "get-channel", h.get)
		httpapi.Register(s, "change-channel", h.change, httpapi.Example(map[string]any{"enabled": false}))
		httpapi.Register(s, "delete-channel", h.remove)
		httpapi.Register(s, "test-channel", h.test)
		httpapi.Register(s, "add-channel-secret", h.addSecret, httpapi.Example(api.AddChannelSecret{Secret: exampleSecret}))
		httpapi.Register(s, "remove-channel-secret", h.removeSecret, httpapi.Example(api.RemoveChannelSecret{SecretID: "6d1f3f6e-7c0b-4d5a-9a55-0f1f7a3f2c11"}))
		httpapi.Register(s, "list-channel-deliveries", h.deliveries, httpapi.Sorted(watch.DeliverySorting))
	}
}

type answer = httpapi.Versioned[api.Channel]

func (h handlers) list(ctx context.Context, in *struct{ api.ChannelFilter }) (*httpapi.Object[api.Page[api.Channel]], error) {
	return httpapi.PageOf(h.server, "list-channels", in.PageQuery, []string{in.Type}, watch.ChannelSorting,
		func(after *db.Position, limit int) ([]watch.Channel, error) {
			return watch.Channels(ctx, h.server.DB().Reader, watch.ChannelFilter{
				WorkspaceID: httpapi.Workspace(ctx), Type: in.Type, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		present)
}

func (h handlers) find(ctx context.Context, text string) (watch.Channel, scope.Ref[watch.Channel], error) {
	return watch.FindChannel(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), text)
}

func (h handlers) get(ctx context.Context, in *httpapi.ByID) (*answer, error) {
	c, _, err := h.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &answer{ETag: httpapi.ETag(c.Version), Body: present(c)}, nil
}

// once runs one intent, and answers with the channel as it is then.
func (h handlers) once(ctx context.Context, do func(tx *intent.Tx) (object, job uuid.UUID, err error)) (*answer, uuid.UUID, error) {
	made, err := httpapi.Once(ctx, h.server, func(ctx context.Context, call intent.Call) (made httpapi.Made, err error) {
		err = h.Engine.Do(ctx, call, func(tx *intent.Tx) error {
			made.Object, made.Job, err = do(tx)
			return err
		})
		return made, err
	})
	if err != nil {
		return nil, uuid.Nil, err
	}
	out, err := h.get(ctx, &httpapi.ByID{ID: made.Object.String()})
	return out, made.Job, err
}

func (h handlers) create(ctx context.Context, in *struct{ Body api.CreateChannel }) (*answer, error) {
	b := in.Body
	draft := watch.Draft{
		Name: b.Name, Type: watch.Type(b.Type), Enabled: b.Enabled == nil || *b.Enabled, Subscribes: b.Subscribes, URL: b.URL, Server: b.Server, TLS: b.TLS,
		Username: b.Username, Password: b.Password, Sender: b.Sender, Recipients: b.Recipients,
	}
	out, _, err := h.once(ctx, func(tx *intent.Tx) (object, job uuid.UUID, err error) {
		c, err := watch.CreateChannel(ctx, tx, h.Keys, h.Rule, draft, b.Secret)
		return c.ID, uuid.Nil, err
	})
	return out, err
}

func (h handlers) change(ctx context.Context, in *struct {
	httpapi.Change
	Body api.ChangeChannel
},
) (*answer, error) {
	_, ref, err := h.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	out, _, err := h.once(ctx, func(tx *intent.Tx) (object, job uuid.UUID, err error) {
		_, err = watch.ChangeChannel(ctx, tx, h.Keys, h.Rule, ref, version, func(d *watch.Draft) { apply(in.Body, d) })
		return ref.ID(), uuid.Nil, err
	})
	return out, err
}

// apply puts the fields that are given into a draft.
func apply(b api.ChangeChannel, d *watch.Draft) {
	set(&d.Name, b.Name)
	set(&d.Enabled, b.Enabled)
	set(&d.Subscribes, b.Subscribes)
	set(&d.URL, b.URL)
	set(&d.Server, b.Server)
	set(&d.TLS, b.TLS)
	set(&d.Username, b.Username)
	set(&d.Password, b.Password)
	set(&d.Sender, b.Sender)
	set(&d.Recipients, b.Recipients)
}

func set[T any](into, from *T) {
	if from != nil {
		*into = *from
	}
}

func (h handlers) remove(ctx context.Context, in *httpapi.Change) (*httpapi.Nothing, error) {
	_, ref, err := h.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	_, err = httpapi.Once(ctx, h.server, func(ctx context.Context, call intent.Call) (httpapi.Made, error) {
		return httpapi.Made{Object: ref.ID()}, h.Engine.Do(ctx, call, func(tx *intent.Tx) error { return watch.DeleteChannel(ctx, tx, ref, version) })
	})
	return nil, err
}

func (h handlers) test(ctx context.Context, in *httpapi.ByID) (*httpapi.Accepted[api.Channel], error) {
	c, _, err := h.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out, job, err := h.once(ctx, func(tx *intent.Tx) (object, job uuid.UUID, err error) {
		job, err = watch.AskTest(ctx, tx, h.Kinds, c)
		return c.ID, job, err
	})
	if err != nil {
		return nil, err
	}
	return &httpapi.Accepted[api.Channel]{Location: httpapi.JobURL(job), ETag: out.ETag, Body: out.Body}, nil
}

func (h handlers) addSecret(ctx context.Context, in *struct {
	httpapi.ByID
	Body api.AddChannelSecret
},
) (*answer, error) {
	_, ref, err := h.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out, _, err := h.once(ctx, func(tx *intent.Tx) (object, job uuid.UUID, err error) {
		_, err = watch.AddSecret(ctx, tx, h.Keys, ref, in.Body.Secret)
		return ref.ID(), uuid.Nil, err
	})
	return out, err
}

func (h handlers) removeSecret(ctx context.Context, in *struct {
	httpapi.ByID
	Body api.RemoveChannelSecret
},
) (*answer, error) {
	_, ref, err := h.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	id, ok := httpapi.ID(in.Body.SecretID)
	if !ok {
		return nil, httpapi.BadField("secret_id", "Use the id of a secret of the channel.")
	}
	out, _, err := h.once(ctx, func(tx *intent.Tx) (object, job uuid.UUID, err error) {
		_, err = watch.RemoveSecret(ctx, tx, ref, id)
		return ref.ID(), uuid.Nil, err
	})
	return out, err
}

func (h handlers) deliveries(ctx context.Context, in *struct{ api.ChannelDeliveryFilter }) (*httpapi.Object[api.Page[api.ChannelDelivery]], error) {
	f := watch.DeliveryFilter{WorkspaceID: httpapi.Workspace(ctx), Outcome: in.Outcome, Sort: in.Sort}
	if in.Channel != "" {
		c, _, err := h.find(ctx, in.Channel)
		if errors.Is(err, fault.ErrNotFound) {
			return nil, httpapi.BadField("channel", "There is no such channel.")
		}
		if err != nil {
			return nil, err
		}
		f.ChannelID = c.ID
	}
	return httpapi.PageOf(h.server, "list-channel-deliveries", in.PageQuery, []string{in.Channel, in.Outcome}, watch.DeliverySorting,
		func(after *db.Position, limit int) ([]watch.Delivery, error) {
			f.After, f.Limit = after, limit
			return watch.Deliveries(ctx, h.server.DB().Reader, f)
		},
		presentDelivery)
}

func present(c watch.Channel) api.Channel {
	out := api.Channel{
		ID: c.ID.String(), Workspace: c.WorkspaceID.String(), Name: c.Name, Type: string(c.Type), Enabled: c.Enabled, Subscribes: c.Subscribes, URL: c.URL,
		Server: c.Server, TLS: c.TLS, Username: c.Username, HasPassword: c.PasswordSealed != nil, Sender: c.Sender, Recipients: c.Recipients,
		Secrets: []api.ChannelSecret{}, Version: c.Version, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		Operations: []api.Operation{{Name: "change", Allowed: true}, {Name: "test", Allowed: true}, {Name: "delete", Allowed: true}},
	}
	for _, s := range c.Secrets {
		out.Secrets = append(out.Secrets, api.ChannelSecret{ID: s.ID.String(), CreatedAt: s.CreatedAt})
	}
	return out
}

func presentDelivery(d watch.Delivery) api.ChannelDelivery {
	return api.ChannelDelivery{
		ID: d.ID.String(), ChannelID: d.ChannelID.String(), MessageID: d.MessageID.String(), Kind: d.Kind, Attempt: d.Attempt, At: d.At, Outcome: d.Outcome,
		StatusCode: d.StatusCode, DurationMS: d.Duration, Error: d.Error,
	}
}
