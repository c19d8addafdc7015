package noun

import (
	"context"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var host = shape.Noun[api.Host, api.HostFilter]{
	Name: "host", Plural: "hosts", Help: "Linux servers that Kloigos manages",
	Columns: []show.Column[api.Host]{
		{Header: "NAME", Value: func(h api.Host) string { return h.Name }},
		{Header: "STATE", Value: func(h api.Host) string { return h.State }},
		{Header: "HEALTH", Value: func(h api.Host) string { return h.Health }},
		{Header: "ADDRESS", Value: func(h api.Host) string { return h.Address }},
		{Header: "REGION", Value: func(h api.Host) string { return h.Region }},
		{Header: "ZONE", Value: func(h api.Host) string { return h.Zone }},
		{Header: "UNITS", Value: func(h api.Host) string { return show.Counts(h.Units) }},
		{Header: "LABELS", Value: func(h api.Host) string { return show.Map(h.Labels) }},
	},
	ID:         func(h api.Host) string { return h.ID },
	Label:      func(h api.Host) string { return h.Name },
	Version:    func(h api.Host) int64 { return h.Version },
	List:       shape.List("list-hosts", (*client.Client).AllHosts),
	Get:        shape.Get("get-host", (*client.Client).GetHost),
	Events:     shape.InWorkspace,
	ByName:     true,
	Operations: func(h api.Host) []api.Operation { return h.Operations },
	Actions: []shape.Action{
		shape.CreateJob("register-host", "name", (*client.Client).RegisterHost),
		shape.ChangeJob("update-host", (*client.Client).UpdateHost),
		shape.Delete("remove-host", (*client.Client).RemoveHost),
		shape.Start("probe", "probe-host", (*client.Client).ProbeHost),
		shape.StartWith("probe-together", "probe-hosts", probeHosts).Takes("hosts"),
		shape.StartWith("measure", "measure-host", measureHost),
		shape.StartWith("confirm-host-key", "confirm-host-key", (*client.Client).ConfirmHostKey),
		shape.DoWith("set-layout", "set-layout", (*client.Client).SetLayout),
		shape.DoWith("preview-layout", "preview-layout", previewLayout),
		shape.Planned(shape.Start("initialize", "initialize-host", (*client.Client).InitializeHost), (*client.Client).PlanInitializeHost),
		shape.PlannedWith(shape.StartWith("relayout", "relayout-host", (*client.Client).RelayoutHost), (*client.Client).PlanRelayoutHost),
		shape.Planned(shape.Start("refence", "refence-host", (*client.Client).RefenceHost).Asks("Take over the fence of %s?"), (*client.Client).PlanRefenceHost),
		shape.Do("drain", "drain-host", (*client.Client).DrainHost),
		shape.Do("undrain", "undrain-host", (*client.Client).UndrainHost),
		shape.Planned(shape.Start("decommission", "decommission-host", (*client.Client).DecommissionHost).Asks("Remove everything of Kloigos from %s?"), (*client.Client).PlanDecommissionHost),
		shape.DoWith("declare-lost", "declare-host-lost", (*client.Client).DeclareHostLost).Typed("confirm"),
	},
	PlanObject: func(p api.Plan) string { return p.HostID },
}

func probeHosts(c *client.Client, ctx context.Context, _ string, b api.ProbeHosts, o ...client.Option) (api.Job, string, error) {
	return c.ProbeHosts(ctx, b, o...)
}

// samples is the query of a measurement as a body.
type samples struct {
	Samples int `json:"samples" default:"1" doc:"how often, a few seconds apart: 1 to 30"`
}

func measureHost(c *client.Client, ctx context.Context, id string, b samples, o ...client.Option) (api.Host, string, error) {
	return c.MeasureHost(ctx, id, max(b.Samples, 1), o...)
}

func previewLayout(c *client.Client, ctx context.Context, id string, b api.SetLayout, _ ...client.Option) (api.Layout, error) {
	return c.PreviewLayout(ctx, id, b)
}
