package kubeapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
)

const (
	rolesPath = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	// nodesRole is a role that each cluster adds to view, and so to edit and admin: those of Kubernetes show no nodes.
	nodesRole      = "kloigos-nodes"
	aggregateLabel = "rbac.authorization.k8s.io/aggregate-to-view"
)

type role struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   meta   `json:"metadata"`
	Rules      []rule `json:"rules"`
}

type rule struct {
	APIGroups []string `json:"apiGroups"`
	Resources []string `json:"resources"`
	Verbs     []string `json:"verbs"`
}

func nodesShown() role {
	labels := ours()
	labels[aggregateLabel] = "true"
	return role{
		APIVersion: rbacGroup + "/v1", Kind: "ClusterRole", Metadata: meta{Name: nodesRole, Labels: labels},
		Rules: []rule{{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list", "watch"}}},
	}
}

// ShowsNodes tells whether the roles of our bindings show the nodes of the cluster.
func (bs Bindings) ShowsNodes(ctx context.Context) (bool, error) {
	var found struct {
		Items []role `json:"items"`
	}
	if err := bs.client.call(ctx, http.MethodGet, rolesPath, url.Values{"labelSelector": {managedBy + "=kloigos"}}, nil, &found); err != nil {
		return false, fmt.Errorf("list our roles: %w", err)
	}
	wanted := nodesShown()
	for _, r := range found.Items {
		if r.Metadata.Name == nodesRole {
			return r.Metadata.Labels[aggregateLabel] == "true" && reflect.DeepEqual(r.Rules, wanted.Rules), nil
		}
	}
	return false, nil
}

// ShowNodes has the roles of our bindings show the nodes of the cluster.
func (bs Bindings) ShowNodes(ctx context.Context) error {
	wanted := nodesShown()
	err := bs.client.call(ctx, http.MethodPost, rolesPath, nil, wanted, nil)
	if Is(err, http.StatusConflict) {
		if err = bs.client.call(ctx, http.MethodDelete, rolesPath+"/"+nodesRole, nil, nil, nil); err == nil || Is(err, http.StatusNotFound) {
			err = bs.client.call(ctx, http.MethodPost, rolesPath, nil, wanted, nil)
		}
	}
	if err != nil {
		return fmt.Errorf("make the role that shows nodes: %w", err)
	}
	return nil
}
