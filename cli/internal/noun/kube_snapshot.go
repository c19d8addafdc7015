package noun

import (
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var clusterSnapshot = shape.Noun[api.ClusterSnapshot, api.ClusterSnapshotFilter]{
	Name: "cluster-snapshot", Plural: "snapshots", Help: "Snapshots of the etcd of clusters on hosts",
	Columns: []show.Column[api.ClusterSnapshot]{
		{Header: "ID", Value: func(s api.ClusterSnapshot) string { return s.ID }},
		{Header: "CLUSTER", Value: func(s api.ClusterSnapshot) string { return s.Cluster }},
		{Header: "TAKEN", Value: func(s api.ClusterSnapshot) string { return s.BegunAt.UTC().Format(time.RFC3339) }},
		{Header: "NODE", Value: func(s api.ClusterSnapshot) string { return s.Node }},
		{Header: "VERSION", Value: func(s api.ClusterSnapshot) string { return s.KubernetesVersion }},
		{Header: "SIZE", Value: func(s api.ClusterSnapshot) string { return show.Bytes(s.Size) }},
		{Header: "STORED", Value: func(s api.ClusterSnapshot) string { return show.Bytes(s.Stored) }},
	},
	ID:         func(s api.ClusterSnapshot) string { return s.ID },
	Label:      func(s api.ClusterSnapshot) string { return s.ID },
	Version:    func(s api.ClusterSnapshot) int64 { return s.Version },
	List:       shape.List("list-cluster-snapshots", (*client.Client).AllClusterSnapshots),
	Get:        shape.Get("get-cluster-snapshot", (*client.Client).GetClusterSnapshot),
	Events:     shape.InWorkspace,
	Operations: func(s api.ClusterSnapshot) []api.Operation { return s.Operations },
	Actions: []shape.Action{
		shape.StartWith("restore", "restore-cluster-snapshot", (*client.Client).RestoreClusterSnapshot).Typed("confirm").Listed(),
		shape.Delete("delete-cluster-snapshot", (*client.Client).DeleteClusterSnapshot),
	},
}
