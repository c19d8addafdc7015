package noun

import (
	"strings"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var agent = shape.Noun[api.Agent, api.AgentFilter]{
	Name: "agent", Plural: "agents", Help: "Programs on hosts that tell how the host is",
	Columns: []show.Column[api.Agent]{
		{Header: "ID", Value: func(a api.Agent) string { return a.ID }},
		{Header: "HOST", Value: func(a api.Agent) string { return a.Host }},
		{Header: "STATE", Value: func(a api.Agent) string { return a.State }},
		{Header: "LIVENESS", Value: func(a api.Agent) string { return a.Liveness }},
		{Header: "LAST HEARTBEAT", Value: func(a api.Agent) string { return show.AgoOf(a.ReceivedAt) }},
		{Header: "VERSION", Value: func(a api.Agent) string { return a.AgentVersion }},
		{Header: "CAUSES", Value: func(a api.Agent) string {
			names := make([]string, len(a.Causes))
			for i, c := range a.Causes {
				names[i] = c.Name
			}
			return strings.Join(names, ", ")
		}},
	},
	ID:         func(a api.Agent) string { return a.ID },
	Label:      func(a api.Agent) string { return a.Host },
	Version:    func(a api.Agent) int64 { return a.Version },
	List:       shape.List("list-agents", (*client.Client).AllAgents),
	Get:        shape.Get("get-agent", (*client.Client).GetAgent),
	Events:     shape.InWorkspace,
	Operations: func(a api.Agent) []api.Operation { return a.Operations },
	Actions: []shape.Action{
		shape.Create("create-agent-token", "host", (*client.Client).CreateAgentToken).Called("token").Full(),
		shape.Do("revoke", "revoke-agent", (*client.Client).RevokeAgent).Asks("Revoke the agent? Its host must be enrolled again."),
		shape.DoWith("quarantine", "quarantine-agent", (*client.Client).QuarantineAgent),
		shape.Do("release", "release-agent", (*client.Client).ReleaseAgent),
	},
}
