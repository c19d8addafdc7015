package noun

import (
	"strconv"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var kubeVersion = shape.Noun[api.KubeVersion, api.KubeVersionFilter]{
	Name: "kube-version", Plural: "versions of Kubernetes", Help: "Versions of Kubernetes that clusters can have, with their bundles",
	Columns: []show.Column[api.KubeVersion]{
		{Header: "NAME", Value: func(v api.KubeVersion) string { return v.Name }},
		{Header: "ACTIVE", Value: func(v api.KubeVersion) string { return strconv.FormatBool(v.Active) }},
		{Header: "BUNDLE", Value: func(v api.KubeVersion) string { return v.Bundle }},
	},
	ID:         func(v api.KubeVersion) string { return v.ID },
	Label:      func(v api.KubeVersion) string { return v.Name },
	Version:    func(v api.KubeVersion) int64 { return v.Version },
	List:       shape.List("list-kube-versions", (*client.Client).AllKubeVersions),
	Get:        shape.Get("get-kube-version", (*client.Client).GetKubeVersion),
	ByName:     true,
	Operations: func(v api.KubeVersion) []api.Operation { return v.Operations },
	Actions: []shape.Action{
		shape.Create("create-kube-version", "name", (*client.Client).CreateKubeVersion),
		shape.Change("change-kube-version", (*client.Client).ChangeKubeVersion),
		shape.Delete("delete-kube-version", (*client.Client).DeleteKubeVersion),
	},
}

var cluster = shape.Noun[api.Cluster, api.ClusterFilter]{
	Name: "cluster", Plural: "clusters", Help: "Kubernetes clusters on whole hosts",
	Columns: []show.Column[api.Cluster]{
		{Header: "NAME", Value: func(c api.Cluster) string { return c.Name }},
		{Header: "STATE", Value: func(c api.Cluster) string { return c.State }},
		{Header: "VERSION", Value: func(c api.Cluster) string { return c.KubernetesVersion }},
		{Header: "ENDPOINT", Value: func(c api.Cluster) string { return c.Endpoint }},
		{Header: "NODES", Value: func(c api.Cluster) string {
			return strconv.FormatInt(c.NodesReady, 10) + "/" + strconv.FormatInt(c.Nodes, 10)
		}},
		{Header: "MESSAGE", Value: func(c api.Cluster) string { return c.Message }},
	},
	ID:         func(c api.Cluster) string { return c.ID },
	Label:      func(c api.Cluster) string { return c.Name },
	Version:    func(c api.Cluster) int64 { return c.Version },
	List:       shape.List("list-clusters", (*client.Client).AllClusters),
	Get:        shape.Get("get-cluster", (*client.Client).GetCluster),
	Events:     shape.InWorkspace,
	ByName:     true,
	Operations: func(c api.Cluster) []api.Operation { return c.Operations },
	Actions: []shape.Action{
		shape.CreateJob("create-cluster", "name", (*client.Client).CreateCluster).Listed(),
		shape.StartWith("delete", "delete-cluster", (*client.Client).DeleteCluster).Typed("confirm").Listed(),
		shape.StartWith("add-nodes", "add-cluster-nodes", (*client.Client).AddClusterNodes).Listed(),
		shape.Do("upgrades", "get-cluster-upgrades", (*client.Client).ClusterUpgrades).Full(),
		shape.StartWith("upgrade", "upgrade-cluster", (*client.Client).UpgradeCluster).Listed(),
		shape.Start("renew-certificates", "renew-cluster-certificates", (*client.Client).RenewClusterCertificates).Listed(),
		shape.Start("snapshot", "take-cluster-snapshot", (*client.Client).TakeClusterSnapshot),
		shape.DoWith("set-snapshots", "set-cluster-snapshots", (*client.Client).SetClusterSnapshots),
		shape.DoWith("set-window", "set-cluster-window", (*client.Client).SetClusterWindow),
		shape.DoWith("kubeconfig", "issue-kubeconfig", (*client.Client).IssueKubeconfig),
		shape.DoWith("break-glass", "break-glass", (*client.Client).BreakGlass),
	},
}

var clusterNode = shape.Noun[api.ClusterNode, api.ClusterNodeFilter]{
	Name: "cluster-node", Plural: "nodes", Help: "Hosts as nodes of a cluster",
	Columns: []show.Column[api.ClusterNode]{
		{Header: "NAME", Value: func(n api.ClusterNode) string { return n.Name }},
		{Header: "ROLE", Value: func(n api.ClusterNode) string { return n.Role }},
		{Header: "STATE", Value: func(n api.ClusterNode) string { return n.State }},
		{Header: "VERSION", Value: func(n api.ClusterNode) string { return n.KubernetesVersion }},
		{Header: "ADDRESS", Value: func(n api.ClusterNode) string { return n.Address }},
		{Header: "PODS", Value: func(n api.ClusterNode) string { return n.PodRange }},
		{Header: "MESSAGE", Value: func(n api.ClusterNode) string { return n.Message }},
	},
	ID:         func(n api.ClusterNode) string { return n.ID },
	Label:      func(n api.ClusterNode) string { return n.Name },
	List:       shape.List("list-cluster-nodes", (*client.Client).AllClusterNodes),
	Get:        shape.Get("get-cluster-node", (*client.Client).GetClusterNode),
	ByName:     true,
	Operations: func(n api.ClusterNode) []api.Operation { return n.Operations },
	Actions: []shape.Action{
		shape.StartWith("remove", "remove-cluster-node", (*client.Client).RemoveClusterNode).Typed("confirm").Listed(),
		shape.StartWith("replace", "replace-cluster-node", (*client.Client).ReplaceClusterNode).Typed("confirm").Listed(),
	},
}

var clusterBinding = shape.Noun[api.ClusterBinding, api.ClusterBindingFilter]{
	Name: "cluster-binding", Plural: "bindings", Help: "Who has a role in a cluster",
	Columns: []show.Column[api.ClusterBinding]{
		{Header: "ACCOUNT", Value: func(b api.ClusterBinding) string { return b.Account }},
		{Header: "ROLE", Value: func(b api.ClusterBinding) string { return b.Role }},
		{Header: "CLUSTER", Value: func(b api.ClusterBinding) string { return b.Cluster }},
		{Header: "NAMESPACE", Value: func(b api.ClusterBinding) string { return b.Namespace }},
		{Header: "ID", Value: func(b api.ClusterBinding) string { return b.ID }},
	},
	ID:      func(b api.ClusterBinding) string { return b.ID },
	Label:   func(b api.ClusterBinding) string { return b.Account },
	Version: func(b api.ClusterBinding) int64 { return b.Version },
	List:    shape.List("list-cluster-bindings", (*client.Client).AllClusterBindings),
	Get:     shape.Get("get-cluster-binding", (*client.Client).GetClusterBinding),
	Events:  shape.InWorkspace,
	Actions: []shape.Action{
		shape.Create("create-cluster-binding", "account", (*client.Client).CreateClusterBinding),
		shape.Delete("delete-cluster-binding", (*client.Client).DeleteClusterBinding),
	},
}
