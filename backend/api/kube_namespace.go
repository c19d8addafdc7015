package api

import (
	"net/http"
	"time"
)

// ClusterNamespace is a namespace of a cluster that Kloigos keeps there, with its quota.
type ClusterNamespace struct {
	ID            string            `json:"id" format:"uuid"`
	Cluster       string            `json:"cluster" doc:"name of its cluster"`
	ClusterID     string            `json:"cluster_id" format:"uuid" doc:"id of its cluster"`
	Name          string            `json:"name"`
	Labels        map[string]string `json:"labels" nullable:"false" doc:"that it has in the cluster beside those of Kloigos"`
	QuotaCPU      string            `json:"quota_cpu,omitempty" doc:"sum of the CPU limits of its containers, such as 4 or 500m"`
	QuotaMemory   string            `json:"quota_memory,omitempty" doc:"sum of the memory limits of its containers, such as 8Gi"`
	QuotaPods     int64             `json:"quota_pods,omitempty" doc:"how many pods it may have"`
	QuotaStorage  string            `json:"quota_storage,omitempty" doc:"sum of what its volume claims ask for, such as 100Gi"`
	DefaultCPU    string            `json:"default_cpu,omitempty" doc:"CPU limit of a container that names none"`
	DefaultMemory string            `json:"default_memory,omitempty" doc:"memory limit of a container that names none"`
	Adopt         bool              `json:"adopt" doc:"one that somebody else made in the cluster may be taken over"`
	State         string            `json:"state" enum:"kept,deleting"`
	StateMeans    string            `json:"state_means" doc:"the state in a sentence"`
	Operations    []Operation       `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	Version       int64             `json:"version" doc:"also the ETag"`
	CreatedAt     time.Time         `json:"created_at"`
	UpdatedAt     time.Time         `json:"updated_at"`
}

// CreateClusterNamespace asks for a namespace of a cluster.
type CreateClusterNamespace struct {
	Cluster       string            `json:"cluster" minLength:"1" maxLength:"64" doc:"id or name of the cluster"`
	Name          string            `json:"name" minLength:"1" maxLength:"63" pattern:"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$" patternDescription:"lower-case letters, digits and -, with a letter or digit at both ends" doc:"of the namespace; default, kube-… and kloigos-… are reserved"`
	Labels        map[string]string `json:"labels,omitempty" doc:"that it has in the cluster, such as those of pod-security.kubernetes.io"`
	QuotaCPU      string            `json:"quota_cpu,omitempty" maxLength:"32" doc:"sum of the CPU limits of its containers, such as 4 or 500m"`
	QuotaMemory   string            `json:"quota_memory,omitempty" maxLength:"32" doc:"sum of the memory limits of its containers, such as 8Gi"`
	QuotaPods     int64             `json:"quota_pods,omitempty" minimum:"0" maximum:"100000" doc:"how many pods it may have; 0: no limit"`
	QuotaStorage  string            `json:"quota_storage,omitempty" maxLength:"32" doc:"sum of what its volume claims ask for, such as 100Gi"`
	DefaultCPU    string            `json:"default_cpu,omitempty" maxLength:"32" doc:"CPU limit of a container that names none; 100m where there is a quota"`
	DefaultMemory string            `json:"default_memory,omitempty" maxLength:"32" doc:"memory limit of a container that names none; 128Mi where there is a quota"`
	Adopt         bool              `json:"adopt,omitempty" doc:"take over a namespace of this name that somebody else made in the cluster"`
}

// ChangeClusterNamespace changes the fields that are given. The name stays.
type ChangeClusterNamespace struct {
	Labels        *map[string]string `json:"labels,omitempty" doc:"all labels that it is to have beside those of Kloigos"`
	QuotaCPU      *string            `json:"quota_cpu,omitempty" maxLength:"32" doc:"sum of the CPU limits of its containers; empty: no limit"`
	QuotaMemory   *string            `json:"quota_memory,omitempty" maxLength:"32" doc:"sum of the memory limits of its containers; empty: no limit"`
	QuotaPods     *int64             `json:"quota_pods,omitempty" minimum:"0" maximum:"100000" doc:"how many pods it may have; 0: no limit"`
	QuotaStorage  *string            `json:"quota_storage,omitempty" maxLength:"32" doc:"sum of what its volume claims ask for; empty: no limit"`
	DefaultCPU    *string            `json:"default_cpu,omitempty" maxLength:"32" doc:"CPU limit of a container that names none"`
	DefaultMemory *string            `json:"default_memory,omitempty" maxLength:"32" doc:"memory limit of a container that names none"`
	Adopt         *bool              `json:"adopt,omitempty" doc:"take over a namespace of this name that somebody else made in the cluster"`
}

// DeleteClusterNamespace deletes a namespace with all that is in it, or lets go of it.
type DeleteClusterNamespace struct {
	Confirm string `json:"confirm" maxLength:"64" doc:"repeat the name of the namespace to confirm that all that is in it is deleted"`
	Leave   bool   `json:"leave,omitempty" doc:"leave it in the cluster with all that is in it: only the quota, the limits and the labels of Kloigos go"`
}

// ClusterNamespaceFilter narrows a list of namespaces.
type ClusterNamespaceFilter struct {
	PageQuery
	State string `query:"state" enum:"kept,deleting"`
}

var _ = addRoutes(
	Route{"list-cluster-namespaces", http.MethodGet, "/cluster-namespaces", "project.workspace.cluster:read", "kubernetes", "List the namespaces that Kloigos keeps in clusters", false},
	Route{"create-cluster-namespace", http.MethodPost, "/cluster-namespaces", "project.workspace.cluster_namespace:create", "kubernetes", "Add a namespace to a cluster, with its quota", false},
	Route{"get-cluster-namespace", http.MethodGet, "/cluster-namespaces/{id}", "project.workspace.cluster:read", "kubernetes", "Show a namespace", false},
	Route{"change-cluster-namespace", http.MethodPatch, "/cluster-namespaces/{id}", "project.workspace.cluster_namespace:update", "kubernetes", "Change the quota, limits and labels of a namespace", false},
	Route{"delete-cluster-namespace", http.MethodPost, "/cluster-namespaces/{id}/delete", "project.workspace.cluster_namespace:delete", "kubernetes", "Delete a namespace with all that is in it, or let go of it", false},
)
