// Package kubehttp owns the routes of versions of Kubernetes, clusters, nodes and bindings: it decodes, looks up in the
// caller's scope, calls an intent and presents what came of it.
//
// It refuses rules, and it talks to no cluster: whoever issues certificates is handed in.
package kubehttp

import (
	"context"
	"time"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
)

// Parts is what the routes are made with.
type Parts struct {
	Engine intent.Engine
	Keys   *secret.Keyset
	Kinds  *work.Registry
	// Issue has a cluster sign a client certificate for a user.
	Issue func(ctx context.Context, cluster kube.Cluster, user string, valid time.Duration) (kube.Credential, error)
	// IssueAdmin has it sign one that may do everything.
	IssueAdmin func(ctx context.Context, cluster kube.Cluster, user string, valid time.Duration) (kube.Credential, error)
}

type handlers struct {
	Parts
	server *httpapi.Server
}

// Routes registers the area's routes.
func Routes(parts Parts) func(*httpapi.Server) {
	return func(s *httpapi.Server) {
		h := handlers{parts, s}
		h.versions()
		h.clusters()
		h.nodes()
		h.bindings()
		h.namespaces()
		h.snapshots()
	}
}

func set[T any](into, from *T) {
	if from != nil {
		*into = *from
	}
}

func orEmpty(values []string) []string {
	if values == nil {
		return []string{}
	}
	return values
}
