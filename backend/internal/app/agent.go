package app

import (
	"strings"

	"kloigos/backend/internal/area/agent/agenthttp"
	"kloigos/backend/internal/area/agent/agentwork"
)

// agentArea is agents on hosts, and the health of hosts by their heartbeats.
func agentArea(p Parts) Area {
	desired := Version()
	if strings.HasPrefix(desired, "devel") || strings.HasPrefix(desired, "(") || strings.HasPrefix(desired, "v0.0.0-") { // no release: agents of any build belong to it
		desired = ""
	}
	http := agenthttp.New(agenthttp.Parts{DB: p.DB, Engine: p.Engine, Keys: p.Keyset, Backend: p.Backend, Desired: desired})
	return Area{
		Routes:   http.Routes,
		Run:      http.Run,
		Policies: agentwork.Policies(agentwork.Config{DB: p.DB, Desired: desired}),
	}
}
