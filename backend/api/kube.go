package api

import (
	"net/http"
	"time"
)

// KubeVersion is a version of Kubernetes that the installation offers.
type KubeVersion struct {
	ID           string      `json:"id" format:"uuid"`
	Name         string      `json:"name" doc:"such as v1.36.3"`
	Active       bool        `json:"active" doc:"new clusters may have it"`
	UpgradesTo   []string    `json:"upgrades_to" nullable:"false" doc:"names of the versions that a cluster of this one may be upgraded to"`
	Bundle       string      `json:"bundle" doc:"where hosts find binaries and images: a URL, or a file on each host"`
	BundleSHA256 string      `json:"bundle_sha256" doc:"of the bundle, in hexadecimal"`
	Operations   []Operation `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	Version      int64       `json:"version" doc:"also the ETag"`
	CreatedAt    time.Time   `json:"created_at"`
	UpdatedAt    time.Time   `json:"updated_at"`
}

// CreateKubeVersion adds a version to the catalog.
type CreateKubeVersion struct {
	Name         string   `json:"name" minLength:"1" maxLength:"32" pattern:"^v1\\.[0-9]+\\.[0-9]+$" patternDescription:"a full version such as v1.36.3" doc:"full version, such as v1.36.3"`
	Active       *bool    `json:"active,omitempty" default:"true" doc:"new clusters may have it"`
	UpgradesTo   []string `json:"upgrades_to,omitempty" maxItems:"50" doc:"names of the versions that a cluster of this one may be upgraded to: of the same minor version or of the next"`
	Bundle       string   `json:"bundle" minLength:"1" maxLength:"2048" doc:"where hosts find binaries and images: a URL with http or https, or the absolute path of a file on each host"`
	BundleSHA256 string   `json:"bundle_sha256" minLength:"64" maxLength:"64" doc:"of the bundle, in hexadecimal; a host takes nothing else"`
}

// ChangeKubeVersion changes the fields that are given. The name stays.
type ChangeKubeVersion struct {
	Active       *bool     `json:"active,omitempty" doc:"new clusters may have it"`
	UpgradesTo   *[]string `json:"upgrades_to,omitempty" maxItems:"50" doc:"names of the versions that a cluster of this one may be upgraded to"`
	Bundle       *string   `json:"bundle,omitempty" minLength:"1" maxLength:"2048" doc:"where hosts find binaries and images: a URL with http or https, or the absolute path of a file on each host"`
	BundleSHA256 *string   `json:"bundle_sha256,omitempty" minLength:"64" maxLength:"64" doc:"of the bundle, in hexadecimal"`
}

// KubeVersionFilter asks for a page of versions.
type KubeVersionFilter struct{ PageQuery }

// Cluster is the Kubernetes cluster of a workspace.
type Cluster struct {
	ID                string             `json:"id" format:"uuid"`
	Workspace         string             `json:"workspace" doc:"id of its workspace"`
	Name              string             `json:"name"`
	KubernetesVersion string             `json:"kubernetes_version" doc:"name of its version in the catalog"`
	TargetVersion     string             `json:"target_version,omitempty" doc:"version that it is being upgraded to"`
	MaintenanceWindow *MaintenanceWindow `json:"maintenance_window,omitempty" doc:"when upgrades and automatic changes may begin; absent: always"`
	Endpoint          string             `json:"endpoint" doc:"host:port where its API server answers"`
	PodRange          string             `json:"pod_range" doc:"range of the addresses of pods"`
	ServiceRange      string             `json:"service_range" doc:"range of the addresses of services"`
	OIDCIssuer        string             `json:"oidc_issuer,omitempty" doc:"provider that people log in to the cluster itself with (OpenID Connect)"`
	OIDCClientID      string             `json:"oidc_client_id,omitempty" doc:"client that its tokens are made for"`
	OIDCUsernameClaim string             `json:"oidc_username_claim,omitempty" doc:"claim that names the user; the cluster puts oidc: before it"`
	OIDCGroupsClaim   string             `json:"oidc_groups_claim,omitempty" doc:"claim that names the groups; the cluster puts oidc: before them"`
	State             string             `json:"state" enum:"pending,creating,active,degraded,changing,failed,deleting,delete_failed"`
	StateMeans        string             `json:"state_means" doc:"the state in a sentence"`
	Message           string             `json:"message,omitempty" doc:"why it is failed or degraded"`
	CA                string             `json:"ca,omitempty" doc:"authority of the cluster (PEM)"`
	Nodes             int64              `json:"nodes" doc:"number of its nodes"`
	NodesReady        int64              `json:"nodes_ready" doc:"how many of its nodes the cluster calls ready"`
	Snapshots         *ClusterSnapshots  `json:"snapshots,omitempty" doc:"when snapshots of its etcd are taken by themselves, and which are kept; absent where the control plane is hosted"`
	BreakGlass        *OpenGlass         `json:"break_glass,omitempty" doc:"the last file of an administrator, while it is good"`
	Operations        []Operation        `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	Version           int64              `json:"version" doc:"also the ETag"`
	CreatedAt         time.Time          `json:"created_at"`
	UpdatedAt         time.Time          `json:"updated_at"`
}

// CreateCluster asks for the cluster of a kubernetes workspace.
type CreateCluster struct {
	Name              string   `json:"name" minLength:"1" maxLength:"40" pattern:"^[a-z][a-z0-9-]*$" patternDescription:"lower-case letters, digits and -, beginning with a letter" doc:"of the cluster; kubeconfigs call it so"`
	KubernetesVersion string   `json:"kubernetes_version" minLength:"1" maxLength:"32" doc:"name of an active version of the catalog"`
	ControlPlane      []string `json:"control_plane" minItems:"1" maxItems:"7" doc:"names or ids of the hosts of the control planes, 1, 3, 5 or 7; their purpose is kubernetes"`
	Workers           []string `json:"workers,omitempty" maxItems:"49" doc:"names or ids of the hosts of the workers; their purpose is kubernetes"`
	Endpoint          string   `json:"endpoint,omitempty" maxLength:"300" doc:"name or IPv4 address under which nodes and people reach the API server, with a port if it is not 6443; default: the address of the one control plane. Several need a load-balanced name or a virtual address"`
	PodRange          string   `json:"pod_range,omitempty" maxLength:"32" default:"10.244.0.0/16" doc:"private range for the addresses of pods; each node gets a /24 of it"`
	ServiceRange      string   `json:"service_range,omitempty" maxLength:"32" default:"10.96.0.0/16" doc:"private range for the addresses of services"`
	OIDCIssuer        string   `json:"oidc_issuer,omitempty" maxLength:"500" doc:"https URL of a provider that people log in to the cluster itself with (OpenID Connect); default: none"`
	OIDCClientID      string   `json:"oidc_client_id,omitempty" maxLength:"200" doc:"client that its tokens are made for"`
	OIDCUsernameClaim string   `json:"oidc_username_claim,omitempty" maxLength:"100" doc:"claim that names the user; default: sub. The cluster puts oidc: before it"`
	OIDCGroupsClaim   string   `json:"oidc_groups_claim,omitempty" maxLength:"100" doc:"claim that names the groups; default: no groups. The cluster puts oidc: before them"`
}

// DeleteCluster deletes a cluster with all that is in it.
type DeleteCluster struct {
	Confirm string `json:"confirm" maxLength:"64" doc:"repeat the name of the cluster to confirm that all that is in it is deleted"`
}

// IssueKubeconfig asks for a client certificate of your own account.
type IssueKubeconfig struct {
	Hours int `json:"hours,omitempty" minimum:"1" maximum:"24" default:"1" doc:"how long it is good for"`
}

// Kubeconfig is a file for kubectl with a client certificate. It is stored nowhere.
type Kubeconfig struct {
	Cluster    string    `json:"cluster" doc:"name of the cluster"`
	User       string    `json:"user" doc:"how the cluster knows the account"`
	Role       string    `json:"role" enum:"viewer,editor,admin" doc:"what the account may do in the cluster"`
	ExpiresAt  time.Time `json:"expires_at" doc:"when the certificate ends"`
	Kubeconfig string    `json:"kubeconfig" doc:"the file, with the private key; keep it to yourself"`
}

// ClusterFilter narrows a list of clusters.
type ClusterFilter struct {
	PageQuery
	State string `query:"state" enum:"pending,creating,active,degraded,changing,failed,deleting,delete_failed"`
}

// ClusterNode is a host as a node of a cluster.
type ClusterNode struct {
	ID                string      `json:"id" format:"uuid"`
	Cluster           string      `json:"cluster" doc:"name of its cluster"`
	ClusterID         string      `json:"cluster_id" format:"uuid" doc:"id of its cluster"`
	HostID            string      `json:"host_id" format:"uuid" doc:"id of its host"`
	Name              string      `json:"name" doc:"of the host and of the node"`
	Role              string      `json:"role" enum:"control_plane,worker" doc:"what it is for"`
	Address           string      `json:"address" doc:"of the uplink of the host"`
	PodRange          string      `json:"pod_range" doc:"range of the addresses of its pods"`
	KubernetesVersion string      `json:"kubernetes_version" doc:"that a job brought to it"`
	CertificatesEnd   *time.Time  `json:"certificates_end,omitempty" doc:"when the first certificate of a control plane ends; absent for workers, and until it was read"`
	Operations        []Operation `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	State             string      `json:"state" enum:"pending,prepared,joined,ready,not_ready,leaving,left"`
	StateMeans        string      `json:"state_means" doc:"the state in a sentence"`
	Message           string      `json:"message,omitempty" doc:"why it is not ready"`
	Version           int64       `json:"version" doc:"also the ETag"`
	CreatedAt         time.Time   `json:"created_at"`
	UpdatedAt         time.Time   `json:"updated_at"`
}

// ClusterNodeFilter narrows a list of nodes.
type ClusterNodeFilter struct {
	PageQuery
	State string `query:"state" enum:"pending,prepared,joined,ready,not_ready,leaving,left"`
}

// ClusterBinding is the role of an account in a cluster.
type ClusterBinding struct {
	ID        string    `json:"id" format:"uuid"`
	Cluster   string    `json:"cluster" doc:"name of its cluster"`
	ClusterID string    `json:"cluster_id" format:"uuid" doc:"id of its cluster"`
	AccountID string    `json:"account_id" format:"uuid" doc:"id of the account"`
	Account   string    `json:"account" doc:"name of the account when it was bound"`
	User      string    `json:"user" doc:"how the cluster knows the account"`
	Role      string    `json:"role" enum:"viewer,editor,admin" doc:"what the account may do in the cluster"`
	Namespace string    `json:"namespace,omitempty" doc:"namespace that the role is limited to"`
	Version   int64     `json:"version" doc:"also the ETag"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// CreateClusterBinding gives an account a role in a cluster.
type CreateClusterBinding struct {
	Cluster   string `json:"cluster" minLength:"1" maxLength:"64" doc:"id or name of the cluster"`
	Account   string `json:"account" minLength:"1" maxLength:"255" doc:"id or name of an account with a role in the workspace"`
	Role      string `json:"role" enum:"viewer,editor,admin" doc:"viewer reads, editor changes what is in namespaces, admin also gives roles in namespaces"`
	Namespace string `json:"namespace,omitempty" maxLength:"64" doc:"id or name of the namespace that the role is limited to; default: all"`
}

// ClusterBindingFilter narrows a list of bindings.
type ClusterBindingFilter struct {
	PageQuery
	Role string `query:"role" enum:"viewer,editor,admin" doc:"what the account may do in the cluster"`
}

// AddClusterNodes asks for more nodes of a cluster.
type AddClusterNodes struct {
	ControlPlane []string `json:"control_plane,omitempty" maxItems:"6" doc:"names or ids of hosts for control planes; the endpoint has to lead to them too"`
	Workers      []string `json:"workers,omitempty" maxItems:"49" doc:"names or ids of hosts for workers"`
}

// RemoveClusterNode takes a node out of its cluster.
type RemoveClusterNode struct {
	Confirm string `json:"confirm" maxLength:"64" doc:"repeat the name of the node to confirm that its pods are evicted and Kubernetes is taken off its host"`
}

// ReplaceClusterNode puts another host in the place of a node.
type ReplaceClusterNode struct {
	Host    string `json:"host" minLength:"1" maxLength:"64" doc:"name or id of the host that takes its place"`
	Confirm string `json:"confirm" maxLength:"64" doc:"repeat the name of the node that goes"`
}

var _ = addRoutes(
	Route{"list-kube-versions", http.MethodGet, "/kube-versions", "project.workspace.cluster:read", "kubernetes", "List the versions of Kubernetes that clusters can have", false},
	Route{"create-kube-version", http.MethodPost, "/kube-versions", "installation.kube_version:set", "kubernetes", "Add a version of Kubernetes with its bundle", false},
	Route{"get-kube-version", http.MethodGet, "/kube-versions/{id}", "project.workspace.cluster:read", "kubernetes", "Show a version of Kubernetes", false},
	Route{"change-kube-version", http.MethodPatch, "/kube-versions/{id}", "installation.kube_version:set", "kubernetes", "Change a version of Kubernetes", false},
	Route{"delete-kube-version", http.MethodDelete, "/kube-versions/{id}", "installation.kube_version:set", "kubernetes", "Delete a version of Kubernetes that no cluster has", false},
	Route{"list-clusters", http.MethodGet, "/clusters", "project.workspace.cluster:read", "kubernetes", "List clusters", false},
	Route{"create-cluster", http.MethodPost, "/clusters", "project.workspace.cluster:create", "kubernetes", "Create the cluster of a kubernetes workspace", true},
	Route{"get-cluster", http.MethodGet, "/clusters/{id}", "project.workspace.cluster:read", "kubernetes", "Show a cluster", false},
	Route{"delete-cluster", http.MethodPost, "/clusters/{id}/delete", "project.workspace.cluster:delete", "kubernetes", "Delete a cluster and take Kubernetes off its hosts", true},
	Route{"add-cluster-nodes", http.MethodPost, "/clusters/{id}/add-nodes", "project.workspace.cluster:update", "kubernetes", "Join more hosts to a cluster", true},
	Route{"issue-kubeconfig", http.MethodPost, "/clusters/{id}/kubeconfig", "project.workspace.cluster:connect", "kubernetes", "Issue a kubeconfig with a short client certificate of your own", false},
	Route{"list-cluster-nodes", http.MethodGet, "/cluster-nodes", "project.workspace.cluster:read", "kubernetes", "List the nodes of clusters", false},
	Route{"get-cluster-node", http.MethodGet, "/cluster-nodes/{id}", "project.workspace.cluster:read", "kubernetes", "Show a node", false},
	Route{"remove-cluster-node", http.MethodPost, "/cluster-nodes/{id}/remove", "project.workspace.cluster:update", "kubernetes", "Drain a node, take it out of its cluster and take Kubernetes off its host", true},
	Route{"replace-cluster-node", http.MethodPost, "/cluster-nodes/{id}/replace", "project.workspace.cluster:update", "kubernetes", "Put another host in the place of a node", true},
	Route{"list-cluster-bindings", http.MethodGet, "/cluster-bindings", "project.workspace.cluster:read", "kubernetes", "List who has a role in a cluster", false},
	Route{"create-cluster-binding", http.MethodPost, "/cluster-bindings", "project.workspace.cluster_binding:create", "kubernetes", "Give an account a role in a cluster", false},
	Route{"get-cluster-binding", http.MethodGet, "/cluster-bindings/{id}", "project.workspace.cluster:read", "kubernetes", "Show a binding", false},
	Route{"delete-cluster-binding", http.MethodDelete, "/cluster-bindings/{id}", "project.workspace.cluster_binding:delete", "kubernetes", "Take an account's role in a cluster away", false},
)

var _ = nameJobs(map[string]string{
	"cluster_create": "Create cluster", "cluster_delete": "Delete cluster",
	"cluster_add_nodes": "Add nodes to cluster", "cluster_remove_node": "Remove node of cluster", "cluster_replace_node": "Replace node of cluster",
})
