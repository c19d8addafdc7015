package noun

import (
	"strconv"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var clusterNamespace = shape.Noun[api.ClusterNamespace, api.ClusterNamespaceFilter]{
	Name: "cluster-namespace", Plural: "namespaces", Help: "Namespaces of a cluster, with their quotas",
	Columns: []show.Column[api.ClusterNamespace]{
		{Header: "NAME", Value: func(n api.ClusterNamespace) string { return n.Name }},
		{Header: "STATE", Value: func(n api.ClusterNamespace) string { return n.State }},
		{Header: "CLUSTER", Value: func(n api.ClusterNamespace) string { return n.Cluster }},
		{Header: "CPU", Value: func(n api.ClusterNamespace) string { return n.QuotaCPU }},
		{Header: "MEMORY", Value: func(n api.ClusterNamespace) string { return n.QuotaMemory }},
		{Header: "PODS", Value: func(n api.ClusterNamespace) string { return orNone(n.QuotaPods) }},
		{Header: "STORAGE", Value: func(n api.ClusterNamespace) string { return n.QuotaStorage }},
	},
	ID:         func(n api.ClusterNamespace) string { return n.ID },
	Label:      func(n api.ClusterNamespace) string { return n.Name },
	Version:    func(n api.ClusterNamespace) int64 { return n.Version },
	List:       shape.List("list-cluster-namespaces", (*client.Client).AllClusterNamespaces),
	Get:        shape.Get("get-cluster-namespace", (*client.Client).GetClusterNamespace),
	Events:     shape.InWorkspace,
	ByName:     true,
	Operations: func(n api.ClusterNamespace) []api.Operation { return n.Operations },
	Actions: []shape.Action{
		shape.Create("create-cluster-namespace", "name", (*client.Client).CreateClusterNamespace),
		shape.Change("change-cluster-namespace", (*client.Client).ChangeClusterNamespace),
		shape.DoWith("delete", "delete-cluster-namespace", (*client.Client).DeleteClusterNamespace).Typed("confirm"),
	},
}

// orNone is a number, and nothing for 0.
func orNone(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
