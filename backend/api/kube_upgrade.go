package api

import (
	"net/http"
	"time"
)

// UpgradeCluster asks for another version of Kubernetes on all nodes of a cluster.
type UpgradeCluster struct {
	To       string `json:"to" minLength:"1" maxLength:"32" doc:"name of the version; the catalog says which ones the present one may be upgraded to"`
	Parallel int    `json:"parallel,omitempty" minimum:"1" maximum:"10" default:"1" doc:"how many workers are drained and upgraded at the same time; control planes are upgraded one by one"`
	Now      bool   `json:"now,omitempty" doc:"also while the maintenance window is closed"`
}

// ClusterUpgrades is which upgrades of a cluster there are, by the rules that they are asked for by.
type ClusterUpgrades struct {
	From          string               `json:"from" doc:"version that the cluster has"`
	WindowOpensAt *time.Time           `json:"window_opens_at,omitempty" doc:"when the maintenance window opens; absent while it is open"`
	Plans         []ClusterUpgradePlan `json:"plans" nullable:"false" doc:"one for each version that the catalog lets the present one be upgraded to; one alone while an upgrade is not finished"`
}

// ClusterUpgradePlan is what an upgrade to one version would do.
type ClusterUpgradePlan struct {
	To       string               `json:"to" doc:"version that the cluster would have"`
	Allowed  bool                 `json:"allowed" doc:"it can be asked for now"`
	Prevents string               `json:"prevents,omitempty" doc:"what prevents it"`
	Nodes    []ClusterUpgradeTurn `json:"nodes" nullable:"false" doc:"the nodes in their order, with one worker at a time"`
}

// ClusterUpgradeTurn is the turn of a node in an upgrade.
type ClusterUpgradeTurn struct {
	Name string `json:"name" doc:"of the node"`
	Role string `json:"role" enum:"control_plane,worker" doc:"what it is for"`
	From string `json:"from" doc:"version that it has"`
	Wave int    `json:"wave" doc:"nodes of one wave are upgraded at the same time, the waves one after the other"`
	Done bool   `json:"done" doc:"it has the version already"`
}

// MaintenanceWindow is when upgrades and automatic changes of a cluster may begin, in UTC.
type MaintenanceWindow struct {
	Days []string `json:"days,omitempty" maxItems:"7" doc:"mon to sun, on which it opens; absent: every day"`
	From string   `json:"from,omitempty" maxLength:"5" doc:"HH:MM"`
	To   string   `json:"to,omitempty" maxLength:"5" doc:"HH:MM; if it is not later than from, on the next day"`
}

// SetClusterWindow changes when upgrades and automatic changes of a cluster may begin.
type SetClusterWindow struct {
	Days []string `json:"days,omitempty" maxItems:"7" doc:"mon to sun, on which it opens; absent: every day"`
	From string   `json:"from,omitempty" maxLength:"5" doc:"HH:MM of UTC; absent with to: always"`
	To   string   `json:"to,omitempty" maxLength:"5" doc:"HH:MM of UTC; if it is not later than from, on the next day"`
}

var _ = addRoutes(
	Route{"get-cluster-upgrades", http.MethodGet, "/clusters/{id}/upgrades", "project.workspace.cluster:read", "kubernetes", "Show the upgrades of a cluster: what each would do, and what prevents it", false},
	Route{"upgrade-cluster", http.MethodPost, "/clusters/{id}/upgrade", "project.workspace.cluster:update", "kubernetes", "Upgrade a cluster on hosts to another version of Kubernetes", true},
	Route{"renew-cluster-certificates", http.MethodPost, "/clusters/{id}/renew-certificates", "project.workspace.cluster:update", "kubernetes", "Renew the certificates of the control planes of a cluster, one after the other", true},
	Route{"set-cluster-window", http.MethodPut, "/clusters/{id}/window", "project.workspace.cluster:update", "kubernetes", "Set the maintenance window of a cluster", false},
)

var _ = nameJobs(map[string]string{"cluster_upgrade": "Upgrade cluster", "cluster_renew_certificates": "Renew certificates of cluster"})
