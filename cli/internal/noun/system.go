package noun

import (
	"context"
	"iter"
	"strconv"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var system = shape.Noun[api.System, struct{}]{
	Name: "system", Help: "The installation: version, database, SSH key for hosts",
	Single: shape.Single("get-system", (*client.Client).GetSystem),
}

var backend = shape.Noun[api.Backend, struct{}]{
	Name: "backend", Plural: "backends", Help: "Processes of the control plane",
	Columns: []show.Column[api.Backend]{
		{Header: "NAME", Value: func(b api.Backend) string { return b.Name }},
		{Header: "VERSION", Value: func(b api.Backend) string { return b.Version }},
		{Header: "ROLES", Value: func(b api.Backend) string { return b.Roles }},
		{Header: "ALIVE", Value: func(b api.Backend) string { return show.YesNo(b.Alive) }},
		{Header: "RUNNING", Value: func(b api.Backend) string { return strconv.Itoa(b.Running) }},
		{Header: "STARTED", Value: func(b api.Backend) string { return show.Ago(b.StartedAt) }},
	},
	ID:    func(b api.Backend) string { return b.ID },
	Label: func(b api.Backend) string { return b.Name },
	List:  shape.List("get-system", allBackends),
}

func allBackends(c *client.Client, ctx context.Context, _ struct{}) iter.Seq2[api.Backend, error] {
	return func(yield func(api.Backend, error) bool) {
		s, err := c.GetSystem(ctx)
		if err != nil {
			yield(api.Backend{}, err)
			return
		}
		for _, b := range s.Backends {
			if !yield(b, nil) {
				return
			}
		}
	}
}
