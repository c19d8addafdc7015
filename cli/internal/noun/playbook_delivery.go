package noun

import (
	"fmt"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var playbookDelivery = shape.Noun[api.PlaybookDelivery, api.PlaybookDeliveryFilter]{
	Name: "playbook-delivery", Plural: "deliveries of playbooks", Help: "Versions of playbooks on their way to hosts, in waves, and then the default",
	Columns: []show.Column[api.PlaybookDelivery]{
		{Header: "NAME", Value: func(d api.PlaybookDelivery) string { return d.Name }},
		{Header: "VERSION", Value: func(d api.PlaybookDelivery) string { return fmt.Sprintf("%s@%d", d.Playbook, d.PlaybookVersion) }},
		{Header: "STATE", Value: func(d api.PlaybookDelivery) string { return d.State }},
		{Header: "WAVE", Value: func(d api.PlaybookDelivery) string { return fmt.Sprintf("%d of %d", d.Wave, d.WaveCount) }},
		{Header: "REASON", Value: func(d api.PlaybookDelivery) string { return d.Reason }},
	},
	ID:         func(d api.PlaybookDelivery) string { return d.ID },
	Label:      func(d api.PlaybookDelivery) string { return d.Name },
	Version:    func(d api.PlaybookDelivery) int64 { return d.Version },
	List:       shape.List("list-playbook-deliveries", (*client.Client).AllPlaybookDeliveries),
	Get:        shape.Get("get-playbook-delivery", (*client.Client).GetPlaybookDelivery),
	Events:     shape.InInstallation,
	ByName:     true,
	Operations: func(d api.PlaybookDelivery) []api.Operation { return d.Operations },
	Actions: []shape.Action{
		shape.Create("create-playbook-delivery", "name", (*client.Client).CreatePlaybookDelivery),
		shape.Do("pause", "pause-playbook-delivery", (*client.Client).PausePlaybookDelivery),
		shape.Do("resume", "resume-playbook-delivery", (*client.Client).ResumePlaybookDelivery),
		shape.Do("roll-back", "roll-back-playbook-delivery", (*client.Client).RollBackPlaybookDelivery).Asks("Bind the jobs of all hosts to the default again?"),
	},
}

var playbookDeliveryTarget = shape.Noun[api.DeliveryTarget, api.PlaybookDeliveryTargetFilter]{
	Name: "playbook-delivery-target", Plural: "hosts", Help: "Hosts of a delivery of a playbook, and what each waits for",
	Columns: []show.Column[api.DeliveryTarget]{
		{Header: "HOST", Value: func(t api.DeliveryTarget) string { return t.Host }},
		{Header: "ZONE", Value: func(t api.DeliveryTarget) string { return t.Zone }},
		{Header: "WAVE", Value: func(t api.DeliveryTarget) string { return fmt.Sprint(t.Wave) }},
		{Header: "STATE", Value: func(t api.DeliveryTarget) string { return t.State }},
		{Header: "REASON", Value: func(t api.DeliveryTarget) string { return t.Reason }},
	},
	ID:    func(t api.DeliveryTarget) string { return t.HostID },
	Label: func(t api.DeliveryTarget) string { return t.Host },
	List:  shape.List("list-playbook-delivery-targets", (*client.Client).AllPlaybookDeliveryTargets),
}
