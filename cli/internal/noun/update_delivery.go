package noun

import (
	"fmt"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var updateDelivery = shape.Noun[api.UpdateDelivery, api.UpdateDeliveryFilter]{
	Name: "update-delivery", Plural: "deliveries", Help: "Versions of the agent on their way to hosts, in waves",
	Columns: []show.Column[api.UpdateDelivery]{
		{Header: "NAME", Value: func(d api.UpdateDelivery) string { return d.Name }},
		{Header: "VERSION", Value: func(d api.UpdateDelivery) string { return d.AgentVersion }},
		{Header: "STATE", Value: func(d api.UpdateDelivery) string { return d.State }},
		{Header: "WAVE", Value: func(d api.UpdateDelivery) string { return fmt.Sprintf("%d of %d", d.Wave, d.WaveCount) }},
		{Header: "REASON", Value: func(d api.UpdateDelivery) string { return d.Reason }},
	},
	ID:         func(d api.UpdateDelivery) string { return d.ID },
	Label:      func(d api.UpdateDelivery) string { return d.Name },
	Version:    func(d api.UpdateDelivery) int64 { return d.Version },
	List:       shape.List("list-update-deliveries", (*client.Client).AllUpdateDeliveries),
	Get:        shape.Get("get-update-delivery", (*client.Client).GetUpdateDelivery),
	Events:     shape.InWorkspace,
	ByName:     true,
	Operations: func(d api.UpdateDelivery) []api.Operation { return d.Operations },
	Actions: []shape.Action{
		shape.Create("create-update-delivery", "name", (*client.Client).CreateUpdateDelivery),
		shape.Do("pause", "pause-update-delivery", (*client.Client).PauseUpdateDelivery),
		shape.Do("resume", "resume-update-delivery", (*client.Client).ResumeUpdateDelivery),
		shape.Do("roll-back", "roll-back-update-delivery", (*client.Client).RollBackUpdateDelivery).Asks("Send each host that was told back to the version before?"),
	},
}

var deliveryTarget = shape.Noun[api.DeliveryTarget, api.DeliveryTargetFilter]{
	Name: "delivery-target", Plural: "hosts", Help: "Hosts of a delivery, and what each waits for",
	Columns: []show.Column[api.DeliveryTarget]{
		{Header: "HOST", Value: func(t api.DeliveryTarget) string { return t.Host }},
		{Header: "ZONE", Value: func(t api.DeliveryTarget) string { return t.Zone }},
		{Header: "WAVE", Value: func(t api.DeliveryTarget) string { return fmt.Sprint(t.Wave) }},
		{Header: "STATE", Value: func(t api.DeliveryTarget) string { return t.State }},
		{Header: "REASON", Value: func(t api.DeliveryTarget) string { return t.Reason }},
	},
	ID:    func(t api.DeliveryTarget) string { return t.HostID },
	Label: func(t api.DeliveryTarget) string { return t.Host },
	List:  shape.List("list-delivery-targets", (*client.Client).AllDeliveryTargets),
}

var agentBuild = shape.Noun[api.AgentBuild, api.AgentBuildFilter]{
	Name: "agent-build", Plural: "builds", Help: "Builds of the agent that can be delivered",
	Columns: []show.Column[api.AgentBuild]{
		{Header: "VERSION", Value: func(b api.AgentBuild) string { return b.AgentVersion }},
		{Header: "ARCH", Value: func(b api.AgentBuild) string { return b.Arch }},
		{Header: "EXPIRES", Value: func(b api.AgentBuild) string { return b.ExpiresAt.Format(time.DateOnly) }},
		{Header: "SHA256", Value: func(b api.AgentBuild) string { return b.SHA256[:min(12, len(b.SHA256))] }},
	},
	ID:    func(b api.AgentBuild) string { return b.AgentVersion },
	Label: func(b api.AgentBuild) string { return b.AgentVersion + " for " + b.Arch },
	List:  shape.List("list-agent-builds", (*client.Client).AllAgentBuilds),
}
