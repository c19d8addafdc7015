// Package kube owns Kubernetes clusters on whole hosts: the catalog of versions, the cluster of a workspace, its nodes, and
// who may do what in it.
//
// It refuses to talk to a cluster or to a host: package kubework does.
//
// Sources: the documentation of kubeadm (bootstrap tokens, phases of init and join), of the certificates API and of RBAC in
// Kubernetes 1.36.
package kube

import (
	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

// Nouns, as events, jobs and problems name them.
const (
	VersionNoun   = "kube_version"
	ClusterNoun   = "cluster"
	NodeNoun      = "cluster_node"
	BindingNoun   = "cluster_binding"
	NamespaceNoun = "cluster_namespace"
	SnapshotNoun  = "cluster_snapshot"
	hostNoun      = "host"
)

func movedMeanwhile(noun string) error {
	return fault.Conflictf(noun+"_state", "Another request changed it at the same time. Reload it.")
}

// sealedFor is what the key of a cluster is bound to, so that it cannot be moved to another row.
func sealedFor(cluster uuid.UUID) string { return "kube_clusters/" + cluster.String() }
