package noun

import (
	"fmt"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var releaseDelivery = shape.Noun[api.ReleaseDelivery, api.ReleaseDeliveryFilter]{
	Name: "release-delivery", Plural: "deliveries of releases", Help: "Releases of Kloigos on their way to backends and web apps; replaces no program",
	Columns: []show.Column[api.ReleaseDelivery]{
		{Header: "NAME", Value: func(d api.ReleaseDelivery) string { return d.Name }},
		{Header: "VERSION", Value: func(d api.ReleaseDelivery) string { return d.Release }},
		{Header: "STATE", Value: func(d api.ReleaseDelivery) string { return d.State }},
		{Header: "WAVE", Value: func(d api.ReleaseDelivery) string { return fmt.Sprintf("%d of %d", d.Wave, d.WaveCount) }},
		{Header: "REASON", Value: func(d api.ReleaseDelivery) string { return d.Reason }},
	},
	ID:         func(d api.ReleaseDelivery) string { return d.ID },
	Label:      func(d api.ReleaseDelivery) string { return d.Name },
	Version:    func(d api.ReleaseDelivery) int64 { return d.Version },
	List:       shape.List("list-release-deliveries", (*client.Client).AllReleaseDeliveries),
	Get:        shape.Get("get-release-delivery", (*client.Client).GetReleaseDelivery),
	Events:     shape.InInstallation,
	ByName:     true,
	Operations: func(d api.ReleaseDelivery) []api.Operation { return d.Operations },
	Actions: []shape.Action{
		shape.Create("create-release-delivery", "name", (*client.Client).CreateReleaseDelivery),
		shape.Do("pause", "pause-release-delivery", (*client.Client).PauseReleaseDelivery),
		shape.Do("resume", "resume-release-delivery", (*client.Client).ResumeReleaseDelivery),
		shape.Do("roll-back", "roll-back-release-delivery", (*client.Client).RollBackReleaseDelivery).Asks("Tell each machine that was told to go back?"),
	},
}

var releaseTarget = shape.Noun[api.ReleaseTarget, api.ReleaseTargetFilter]{
	Name: "release-target", Plural: "machines", Help: "Machines of a delivery of a release, and which is next",
	Columns: []show.Column[api.ReleaseTarget]{
		{Header: "MACHINE", Value: func(t api.ReleaseTarget) string { return t.Name }},
		{Header: "KIND", Value: func(t api.ReleaseTarget) string { return t.Kind }},
		{Header: "RUNS", Value: func(t api.ReleaseTarget) string { return t.Runs }},
		{Header: "WAVE", Value: func(t api.ReleaseTarget) string { return fmt.Sprint(t.Wave) }},
		{Header: "STATE", Value: func(t api.ReleaseTarget) string { return t.State }},
		{Header: "REASON", Value: func(t api.ReleaseTarget) string { return t.Reason }},
	},
	ID:    func(t api.ReleaseTarget) string { return t.ID },
	Label: func(t api.ReleaseTarget) string { return t.Name },
	List:  shape.List("list-release-targets", (*client.Client).AllReleaseTargets),
}
