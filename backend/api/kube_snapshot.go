package api

import (
	"net/http"
	"time"
)

// ClusterSnapshot is a snapshot of the etcd of a cluster. Its content is kept encrypted.
type ClusterSnapshot struct {
	ID                string      `json:"id" format:"uuid"`
	Cluster           string      `json:"cluster" doc:"name of its cluster"`
	ClusterID         string      `json:"cluster_id" format:"uuid" doc:"id of its cluster"`
	Node              string      `json:"node" doc:"control plane that it was taken on"`
	KubernetesVersion string      `json:"kubernetes_version" doc:"that the cluster had then"`
	Size              int64       `json:"size" doc:"bytes of the snapshot, as etcd reads it"`
	Stored            int64       `json:"stored" doc:"bytes that are kept of it, compressed"`
	SHA256            string      `json:"sha256" doc:"of the snapshot, in hexadecimal"`
	ControlPlanes     []string    `json:"control_planes" nullable:"false" doc:"those of the cluster now: a restore stops etcd and the API server on all of them"`
	Lost              []string    `json:"lost_control_planes" nullable:"false" doc:"those whose hosts were declared lost, or that never joined: a restore has to name them in without, and takes them out of the cluster"`
	BegunAt           time.Time   `json:"begun_at" doc:"when it was taken: it has all that was written before"`
	TakenAt           time.Time   `json:"taken_at" doc:"when all of it was here and had been read again"`
	Operations        []Operation `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	Version           int64       `json:"version" doc:"also the ETag"`
	CreatedAt         time.Time   `json:"created_at"`
	UpdatedAt         time.Time   `json:"updated_at"`
}

// ClusterSnapshotFilter asks for a page of snapshots.
type ClusterSnapshotFilter struct{ PageQuery }

// ClusterSnapshots is when snapshots of a cluster are taken by themselves, and which are kept.
type ClusterSnapshots struct {
	Hours int64 `json:"hours" doc:"hours between two snapshots; 0: none is taken by itself"`
	Keep  int64 `json:"keep" doc:"how many are kept; the newest always is"`
	Days  int64 `json:"days" doc:"for how many days they are kept"`
}

// SetClusterSnapshots changes when snapshots of a cluster are taken by themselves, and which are kept.
type SetClusterSnapshots struct {
	Hours int64 `json:"hours" minimum:"0" maximum:"744" doc:"hours between two snapshots; 0: none is taken by itself"`
	Keep  int64 `json:"keep,omitempty" minimum:"1" maximum:"100" default:"7" doc:"how many are kept; the newest always is"`
	Days  int64 `json:"days,omitempty" minimum:"1" maximum:"3650" default:"30" doc:"for how many days they are kept; the newest is kept longer"`
}

// RestoreClusterSnapshot puts the etcd of a cluster back to a snapshot.
type RestoreClusterSnapshot struct {
	Confirm string   `json:"confirm" maxLength:"64" doc:"repeat the name of the cluster to confirm that it forgets what it was told since the snapshot, and that its control planes stop meanwhile"`
	Without []string `json:"without,omitempty" maxItems:"7" doc:"control planes that are given up for good, by name or id: their hosts were declared lost, or they never joined. The others get the snapshot, and those leave the cluster"`

	EndpointMoved bool `json:"endpoint_moved,omitempty" doc:"the endpoint is the address of a control plane that is given up, and another control plane has that address by now"`
}

var _ = addRoutes(
	Route{"take-cluster-snapshot", http.MethodPost, "/clusters/{id}/snapshot", "project.workspace.cluster_snapshot:create", "kubernetes", "Take a snapshot of the etcd of a cluster on hosts", true},
	Route{"set-cluster-snapshots", http.MethodPut, "/clusters/{id}/snapshots", "project.workspace.cluster:update", "kubernetes", "Set how often snapshots of a cluster are taken, and which are kept", false},
	Route{"list-cluster-snapshots", http.MethodGet, "/cluster-snapshots", "project.workspace.cluster:read", "kubernetes", "List the snapshots of the etcd of clusters", false},
	Route{"get-cluster-snapshot", http.MethodGet, "/cluster-snapshots/{id}", "project.workspace.cluster:read", "kubernetes", "Show a snapshot, without its content", false},
	Route{"restore-cluster-snapshot", http.MethodPost, "/cluster-snapshots/{id}/restore", "project.workspace.cluster_snapshot:restore", "kubernetes", "Put the etcd of a cluster back to a snapshot", true},
	Route{"delete-cluster-snapshot", http.MethodDelete, "/cluster-snapshots/{id}", "project.workspace.cluster_snapshot:delete", "kubernetes", "Delete a snapshot", false},
)

var _ = nameJobs(map[string]string{"cluster_snapshot": "Take snapshot of cluster", "cluster_restore": "Restore snapshot of cluster"})
