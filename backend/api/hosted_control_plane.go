package api

import (
	"net/http"
	"time"
)

// HostedControlPlane is the control plane of a cluster that runs in a management cluster.
type HostedControlPlane struct {
	ID                string      `json:"id" format:"uuid"`
	Cluster           string      `json:"cluster" doc:"name of its cluster, and of the control plane there"`
	ClusterID         string      `json:"cluster_id" format:"uuid" doc:"id of its cluster"`
	Pool              string      `json:"pool" doc:"name of the pool of its management cluster"`
	Namespace         string      `json:"namespace" doc:"in the management cluster"`
	KubernetesVersion string      `json:"kubernetes_version" doc:"name of its version in the catalog"`
	TargetVersion     string      `json:"target_version,omitempty" doc:"that it is being upgraded to"`
	Replicas          int64       `json:"replicas" doc:"of the control plane while it is awake"`
	Konnectivity      bool        `json:"konnectivity" doc:"the API server reaches nodes through tunnels that they open"`
	CoreDNS           bool        `json:"core_dns" doc:"Kamaji sets up CoreDNS in the cluster"`
	State             string      `json:"state" enum:"pending,creating,ready,changing,asleep,degraded,failed,deleting,delete_failed"`
	StateMeans        string      `json:"state_means" doc:"the state in a sentence"`
	Message           string      `json:"message,omitempty" doc:"why it is failed or degraded"`
	Operations        []Operation `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	Version           int64       `json:"version" doc:"also the ETag"`
	CreatedAt         time.Time   `json:"created_at"`
	UpdatedAt         time.Time   `json:"updated_at"`
}

// CreateHostedControlPlane asks for the cluster of a kubernetes workspace, with its control plane in a management cluster.
type CreateHostedControlPlane struct {
	Name              string   `json:"name" minLength:"1" maxLength:"40" pattern:"^[a-z][a-z0-9-]*$" patternDescription:"lower-case letters, digits and -, beginning with a letter" doc:"of the cluster; kubeconfigs call it so"`
	KubernetesVersion string   `json:"kubernetes_version" minLength:"1" maxLength:"32" doc:"name of an active version of the catalog that a management cluster of the pool takes"`
	Pool              string   `json:"pool,omitempty" maxLength:"63" default:"default" doc:"pool of management clusters that it goes to"`
	Workers           []string `json:"workers,omitempty" maxItems:"50" doc:"names or ids of the hosts of the workers; their purpose is kubernetes"`
	Replicas          int64    `json:"replicas,omitempty" minimum:"1" maximum:"9" default:"2" doc:"of the control plane"`
	Konnectivity      *bool    `json:"konnectivity,omitempty" default:"true" doc:"the API server reaches nodes through tunnels that they open; without them it has to reach each node by itself"`
	CoreDNS           *bool    `json:"core_dns,omitempty" default:"true" doc:"Kamaji sets up CoreDNS in the cluster"`
	PodRange          string   `json:"pod_range,omitempty" maxLength:"32" default:"10.244.0.0/16" doc:"private range for the addresses of pods; each node gets a /24 of it"`
	ServiceRange      string   `json:"service_range,omitempty" maxLength:"32" default:"10.96.0.0/16" doc:"private range for the addresses of services"`
}

// UpgradeHostedControlPlane names the version that a control plane is brought to.
type UpgradeHostedControlPlane struct {
	KubernetesVersion string `json:"kubernetes_version" minLength:"1" maxLength:"32" doc:"name of a version that the catalog allows: of the same minor version or of the next"`
}

// HostedControlPlaneFilter narrows a list of hosted control planes.
type HostedControlPlaneFilter struct {
	PageQuery
	State string `query:"state" enum:"pending,creating,ready,changing,asleep,degraded,failed,deleting,delete_failed"`
}

var _ = addRoutes(
	Route{"list-hosted-control-planes", http.MethodGet, "/hosted-control-planes", "project.workspace.cluster:read", "kubernetes", "List control planes that run in management clusters", false},
	Route{"create-hosted-control-plane", http.MethodPost, "/hosted-control-planes", "project.workspace.cluster:create", "kubernetes", "Create the cluster of a kubernetes workspace with a hosted control plane", true},
	Route{"get-hosted-control-plane", http.MethodGet, "/hosted-control-planes/{id}", "project.workspace.cluster:read", "kubernetes", "Show a hosted control plane", false},
	Route{"upgrade-hosted-control-plane", http.MethodPost, "/hosted-control-planes/{id}/upgrade", "project.workspace.cluster:update", "kubernetes", "Bring a hosted control plane to another version", true},
	Route{"sleep-hosted-control-plane", http.MethodPost, "/hosted-control-planes/{id}/sleep", "project.workspace.cluster:update", "kubernetes", "Take the replicas of a hosted control plane away; its data stays", true},
	Route{"wake-hosted-control-plane", http.MethodPost, "/hosted-control-planes/{id}/wake", "project.workspace.cluster:update", "kubernetes", "Give a hosted control plane its replicas back", true},
	Route{"delete-hosted-control-plane", http.MethodPost, "/hosted-control-planes/{id}/delete", "project.workspace.cluster:delete", "kubernetes", "Delete a cluster with its hosted control plane", true},
)

var _ = nameJobs(map[string]string{
	"hosted_cluster_create": "Create cluster with hosted control plane", "hosted_cluster_delete": "Delete cluster with hosted control plane",
	"hosted_control_plane_upgrade": "Upgrade hosted control plane", "hosted_control_plane_sleep": "Put hosted control plane to sleep",
	"hosted_control_plane_wake": "Wake hosted control plane",
})
