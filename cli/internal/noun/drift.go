package noun

import (
	"fmt"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var drift = shape.Noun[api.Drift, api.DriftFilter]{
	Name: "drift", Plural: "drifts", Help: "What is not as it was promised on hosts",
	Columns: []show.Column[api.Drift]{
		{Header: "ID", Value: func(d api.Drift) string { return d.ID }},
		{Header: "OF", Value: func(d api.Drift) string { return d.Name }},
		{Header: "PROMISE", Value: func(d api.Drift) string { return d.Promise }},
		{Header: "STATE", Value: func(d api.Drift) string { return d.State }},
		{Header: "PROMISED", Value: func(d api.Drift) string { return d.Promised }},
		{Header: "FOUND", Value: func(d api.Drift) string { return d.Found }},
		{Header: "SINCE", Value: func(d api.Drift) string { return show.Ago(d.Since) }},
	},
	ID:         func(d api.Drift) string { return d.ID },
	Label:      func(d api.Drift) string { return d.Name + " " + d.Promise },
	Version:    func(d api.Drift) int64 { return d.Version },
	List:       shape.List("list-drifts", (*client.Client).AllDrifts),
	Get:        shape.Get("get-drift", (*client.Client).GetDrift),
	Operations: func(d api.Drift) []api.Operation { return d.Operations },
	Actions: []shape.Action{
		shape.DoWith("accept", "accept-drift", (*client.Client).AcceptDrift),
		shape.Start("repair", "repair-drift", (*client.Client).RepairDrift),
	},
}

var driftMode = shape.Noun[api.DriftMode, api.DriftModeFilter]{
	Name: "drift-mode", Plural: "modes", Help: "What is done about drift: observe, repair, or repair in a window",
	Columns: []show.Column[api.DriftMode]{
		{Header: "SCOPE", Value: func(m api.DriftMode) string { return m.Scope }},
		{Header: "NAME", Value: func(m api.DriftMode) string { return m.Name }},
		{Header: "MODE", Value: func(m api.DriftMode) string { return m.Mode }},
		{Header: "WINDOW", Value: func(m api.DriftMode) string {
			if m.Mode != "window" {
				return ""
			}
			return fmt.Sprintf("%s %02d:00 UTC, %d h", m.WindowDay, m.WindowFrom, m.WindowHours)
		}},
		{Header: "SET BY", Value: func(m api.DriftMode) string { return m.UpdatedBy }},
	},
	ID:   func(m api.DriftMode) string { return m.ScopeID },
	List: shape.List("list-drift-modes", (*client.Client).AllDriftModes),
	Actions: []shape.Action{
		shape.Make("set", "set-drift-mode", "scope", (*client.Client).SetDriftMode),
	},
}
