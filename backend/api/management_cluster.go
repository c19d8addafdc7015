package api

import (
	"net/http"
	"time"
)

// ManagementCluster is a cluster of the operator in which Kamaji runs the control planes of other clusters.
type ManagementCluster struct {
	ID                string      `json:"id" format:"uuid"`
	Name              string      `json:"name"`
	Pool              string      `json:"pool" doc:"name of its pool; whoever makes a cluster names a pool"`
	Active            bool        `json:"active" doc:"new control planes may go there"`
	Server            string      `json:"server" doc:"host:port of its API server"`
	DataStore         string      `json:"data_store" doc:"name of the DataStore of Kamaji that control planes use"`
	NewestVersion     string      `json:"newest_version" doc:"newest version of Kubernetes that Kamaji takes there"`
	ServiceType       string      `json:"service_type" enum:"load_balancer,node_port,cluster_ip" doc:"how control planes are reached"`
	Address           string      `json:"address,omitempty" doc:"that leads to the control planes; empty for a load balancer"`
	FirstPort         int64       `json:"first_port,omitempty" doc:"of the ports of control planes, two each; none for a load balancer"`
	Capacity          int64       `json:"capacity" doc:"how many control planes it may have"`
	Hosted            int64       `json:"hosted" doc:"how many control planes it has"`
	Healthy           *bool       `json:"healthy,omitempty" doc:"whether it was well when it was looked at last; empty before that"`
	Message           string      `json:"message,omitempty" doc:"why it is not healthy"`
	KubernetesVersion string      `json:"kubernetes_version,omitempty" doc:"of its own API server, when it was looked at last"`
	SeenAt            *time.Time  `json:"seen_at,omitempty" doc:"when it was looked at last"`
	Operations        []Operation `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	Version           int64       `json:"version" doc:"also the ETag"`
	CreatedAt         time.Time   `json:"created_at"`
	UpdatedAt         time.Time   `json:"updated_at"`
}

// CreateManagementCluster adds a management cluster.
type CreateManagementCluster struct {
	Name          string `json:"name" minLength:"1" maxLength:"40" pattern:"^[a-z][a-z0-9-]*$" patternDescription:"lower-case letters, digits and -, beginning with a letter" doc:"of the management cluster"`
	Kubeconfig    string `json:"kubeconfig" minLength:"1" maxLength:"65536" doc:"file that reaches it, with authority and credentials in it; it is sealed and never shown again"`
	Pool          string `json:"pool,omitempty" maxLength:"63" default:"default" doc:"name of its pool"`
	Active        *bool  `json:"active,omitempty" default:"true" doc:"new control planes may go there"`
	DataStore     string `json:"data_store,omitempty" maxLength:"253" default:"default" doc:"name of the DataStore of Kamaji that control planes use"`
	NewestVersion string `json:"newest_version,omitempty" maxLength:"32" default:"v1.30.2" doc:"newest version of Kubernetes that Kamaji takes there; Kamaji v1.0.0 takes v1.30.2"`
	ServiceType   string `json:"service_type,omitempty" enum:"load_balancer,node_port,cluster_ip" default:"load_balancer" doc:"how control planes are reached: by addresses of their own, or by one address with ports of their own"`
	Address       string `json:"address,omitempty" maxLength:"253" doc:"IPv4 address or name that leads to the control planes; none for a load balancer"`
	FirstPort     int64  `json:"first_port,omitempty" minimum:"0" maximum:"65535" doc:"of the ports of control planes, two each; default: 30000, none for a load balancer"`
	Capacity      int64  `json:"capacity,omitempty" minimum:"0" maximum:"10000" default:"100" doc:"how many control planes it may have"`
}

// ChangeManagementCluster changes the fields that are given. The name stays.
type ChangeManagementCluster struct {
	Kubeconfig    *string `json:"kubeconfig,omitempty" maxLength:"65536" doc:"another file that reaches it; it is sealed and never shown again"`
	Pool          *string `json:"pool,omitempty" minLength:"1" maxLength:"63" doc:"name of its pool"`
	Active        *bool   `json:"active,omitempty" doc:"new control planes may go there"`
	DataStore     *string `json:"data_store,omitempty" minLength:"1" maxLength:"253" doc:"name of the DataStore of Kamaji; only while there are no control planes"`
	NewestVersion *string `json:"newest_version,omitempty" minLength:"1" maxLength:"32" doc:"newest version of Kubernetes that Kamaji takes there"`
	ServiceType   *string `json:"service_type,omitempty" enum:"load_balancer,node_port,cluster_ip" doc:"how control planes are reached; only while there are none"`
	Address       *string `json:"address,omitempty" maxLength:"253" doc:"that leads to the control planes; only while there are none"`
	FirstPort     *int64  `json:"first_port,omitempty" minimum:"0" maximum:"65535" doc:"of the ports of control planes, two each; only while there are none"`
	Capacity      *int64  `json:"capacity,omitempty" minimum:"1" maximum:"10000" doc:"how many control planes it may have"`
}

// ManagementClusterFilter narrows a list of management clusters.
type ManagementClusterFilter struct {
	PageQuery
	Pool string `query:"pool" maxLength:"63" doc:"name of a pool"`
}

// ManagementCheck is what one look at a management cluster found.
type ManagementCheck struct {
	Healthy           bool   `json:"healthy" doc:"it answers, Kamaji is installed, and the data store is there"`
	Message           string `json:"message,omitempty" doc:"why it is not healthy"`
	KubernetesVersion string `json:"kubernetes_version,omitempty" doc:"of its API server"`
}

var _ = addRoutes(
	Route{"list-management-clusters", http.MethodGet, "/management-clusters", "installation.management_cluster:read", "kubernetes", "List management clusters", false},
	Route{"create-management-cluster", http.MethodPost, "/management-clusters", "installation.management_cluster:create", "kubernetes", "Add a cluster in which Kamaji runs control planes", false},
	Route{"get-management-cluster", http.MethodGet, "/management-clusters/{id}", "installation.management_cluster:read", "kubernetes", "Show a management cluster", false},
	Route{"change-management-cluster", http.MethodPatch, "/management-clusters/{id}", "installation.management_cluster:update", "kubernetes", "Change a management cluster", false},
	Route{"delete-management-cluster", http.MethodDelete, "/management-clusters/{id}", "installation.management_cluster:delete", "kubernetes", "Forget a management cluster without control planes", false},
	Route{"check-management-cluster", http.MethodPost, "/management-clusters/{id}/check", "installation.management_cluster:read", "kubernetes", "Look at a management cluster now", false},
)
