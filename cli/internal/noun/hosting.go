package noun

import (
	"strconv"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var managementCluster = shape.Noun[api.ManagementCluster, api.ManagementClusterFilter]{
	Name: "management-cluster", Plural: "management clusters", Help: "Clusters in which Kamaji runs control planes of others, for operators",
	Columns: []show.Column[api.ManagementCluster]{
		{Header: "NAME", Value: func(m api.ManagementCluster) string { return m.Name }},
		{Header: "POOL", Value: func(m api.ManagementCluster) string { return m.Pool }},
		{Header: "ACTIVE", Value: func(m api.ManagementCluster) string { return strconv.FormatBool(m.Active) }},
		{Header: "HEALTHY", Value: healthOf},
		{Header: "HOSTED", Value: func(m api.ManagementCluster) string {
			return strconv.FormatInt(m.Hosted, 10) + "/" + strconv.FormatInt(m.Capacity, 10)
		}},
		{Header: "NEWEST", Value: func(m api.ManagementCluster) string { return m.NewestVersion }},
		{Header: "SERVER", Value: func(m api.ManagementCluster) string { return m.Server }},
		{Header: "MESSAGE", Value: func(m api.ManagementCluster) string { return m.Message }},
	},
	ID:         func(m api.ManagementCluster) string { return m.ID },
	Label:      func(m api.ManagementCluster) string { return m.Name },
	Version:    func(m api.ManagementCluster) int64 { return m.Version },
	List:       shape.List("list-management-clusters", (*client.Client).AllManagementClusters),
	Get:        shape.Get("get-management-cluster", (*client.Client).GetManagementCluster),
	Events:     shape.InInstallation,
	ByName:     true,
	Operations: func(m api.ManagementCluster) []api.Operation { return m.Operations },
	Actions: []shape.Action{
		shape.Create("create-management-cluster", "name", (*client.Client).CreateManagementCluster).FromFile("kubeconfig"),
		shape.Change("change-management-cluster", (*client.Client).ChangeManagementCluster).FromFile("kubeconfig"),
		shape.Delete("delete-management-cluster", (*client.Client).DeleteManagementCluster),
		shape.Do("check", "check-management-cluster", (*client.Client).CheckManagementCluster),
	},
}

func healthOf(m api.ManagementCluster) string {
	switch {
	case m.Healthy == nil:
		return "unknown"
	case *m.Healthy:
		return "yes"
	}
	return "no"
}

var hostedControlPlane = shape.Noun[api.HostedControlPlane, api.HostedControlPlaneFilter]{
	Name: "hosted-control-plane", Plural: "hosted control planes", Help: "Control planes of clusters that run in management clusters",
	Columns: []show.Column[api.HostedControlPlane]{
		{Header: "CLUSTER", Value: func(h api.HostedControlPlane) string { return h.Cluster }},
		{Header: "STATE", Value: func(h api.HostedControlPlane) string { return h.State }},
		{Header: "VERSION", Value: func(h api.HostedControlPlane) string { return h.KubernetesVersion }},
		{Header: "POOL", Value: func(h api.HostedControlPlane) string { return h.Pool }},
		{Header: "REPLICAS", Value: func(h api.HostedControlPlane) string { return strconv.FormatInt(h.Replicas, 10) }},
		{Header: "MESSAGE", Value: func(h api.HostedControlPlane) string { return h.Message }},
	},
	ID:         func(h api.HostedControlPlane) string { return h.ID },
	Label:      func(h api.HostedControlPlane) string { return h.Cluster },
	Version:    func(h api.HostedControlPlane) int64 { return h.Version },
	List:       shape.List("list-hosted-control-planes", (*client.Client).AllHostedControlPlanes),
	Get:        shape.Get("get-hosted-control-plane", (*client.Client).GetHostedControlPlane),
	Events:     shape.InWorkspace,
	ByName:     true,
	Operations: func(h api.HostedControlPlane) []api.Operation { return h.Operations },
	Actions: []shape.Action{
		shape.CreateJob("create-hosted-control-plane", "name", (*client.Client).CreateHostedControlPlane).Listed(),
		shape.StartWith("upgrade", "upgrade-hosted-control-plane", (*client.Client).UpgradeHostedControlPlane).Listed(),
		shape.Start("sleep", "sleep-hosted-control-plane", (*client.Client).SleepHostedControlPlane).Listed(),
		shape.Start("wake", "wake-hosted-control-plane", (*client.Client).WakeHostedControlPlane).Listed(),
		shape.StartWith("delete", "delete-hosted-control-plane", (*client.Client).DeleteHostedControlPlane).Typed("confirm").Listed(),
	},
}
