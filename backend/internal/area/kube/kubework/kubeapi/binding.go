package kubeapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

const (
	rbacPath     = "/apis/rbac.authorization.k8s.io/v1"
	bindingsPath = rbacPath + "/clusterrolebindings"
	rbacGroup    = "rbac.authorization.k8s.io"
	managedBy    = "app.kubernetes.io/managed-by"
	// bindingPrefix begins the names of our bindings.
	bindingPrefix = "kloigos-binding-"
)

// ours marks what Kloigos made in a cluster.
func ours() map[string]string { return map[string]string{managedBy: "kloigos"} }

// Bindings are our bindings in a cluster, and the role that they need there.
type Bindings struct{ client *Client }

// Bindings are our bindings in the cluster.
func (c *Client) Bindings() Bindings { return Bindings{c} }

// Binding lets one user have one role of the cluster in one namespace, or in all.
type Binding struct {
	ID        string // of the row that asks for it
	User      string
	Role      string // cluster role: view, edit or admin
	Namespace string // "" for all
}

// Same tells whether both have the same place in the cluster, whatever they say.
func (b Binding) Same(other Binding) bool { return b.ID == other.ID && b.Namespace == other.Namespace }

// path is where bindings of a namespace are, or those of the whole cluster.
func (b Binding) path() string {
	if b.Namespace == "" {
		return bindingsPath
	}
	return rbacPath + "/namespaces/" + url.PathEscape(b.Namespace) + "/rolebindings"
}

func (b Binding) kind() string {
	if b.Namespace == "" {
		return "ClusterRoleBinding"
	}
	return "RoleBinding"
}

type binding struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Metadata   meta      `json:"metadata"`
	RoleRef    roleRef   `json:"roleRef"`
	Subjects   []subject `json:"subjects,omitempty"`
}

type roleRef struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
}

type subject struct {
	APIGroup string `json:"apiGroup,omitempty"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
}

// List lists our bindings as they are in the cluster: by our mark, so that one whose subjects somebody changed is among
// them, with what they say now.
func (bs Bindings) List(ctx context.Context) ([]Binding, error) {
	var items []binding
	for _, path := range []string{bindingsPath, rbacPath + "/rolebindings"} {
		var found struct {
			Items []binding `json:"items"`
		}
		if err := bs.client.call(ctx, http.MethodGet, path, url.Values{"labelSelector": {managedBy + "=kloigos"}}, nil, &found); err != nil {
			return nil, fmt.Errorf("list the bindings: %w", err)
		}
		items = append(items, found.Items...)
	}
	var all []Binding
	for _, b := range items {
		id, is := strings.CutPrefix(b.Metadata.Name, bindingPrefix)
		if !is {
			continue
		}
		made := Binding{ID: id, Role: b.RoleRef.Name, Namespace: b.Metadata.Namespace}
		if b.RoleRef.Kind != "ClusterRole" {
			made.Role = b.RoleRef.Kind + " " + b.RoleRef.Name
		}
		if len(b.Subjects) == 1 && b.Subjects[0].Kind == "User" {
			made.User = b.Subjects[0].Name
		}
		all = append(all, made)
	}
	return all, nil
}

// Create makes a binding; one with its name is replaced, since a role cannot be changed.
func (bs Bindings) Create(ctx context.Context, b Binding) error {
	object := binding{
		APIVersion: rbacGroup + "/v1", Kind: b.kind(), Metadata: meta{Name: bindingPrefix + b.ID, Namespace: b.Namespace, Labels: ours()},
		RoleRef:  roleRef{APIGroup: rbacGroup, Kind: "ClusterRole", Name: b.Role},
		Subjects: []subject{{APIGroup: rbacGroup, Kind: "User", Name: b.User}},
	}
	err := bs.client.call(ctx, http.MethodPost, b.path(), nil, object, nil)
	if Is(err, http.StatusConflict) {
		if err = bs.Delete(ctx, b); err == nil {
			err = bs.client.call(ctx, http.MethodPost, b.path(), nil, object, nil)
		}
	}
	if err != nil {
		return fmt.Errorf("make a binding: %w", err)
	}
	return nil
}

// Delete deletes a binding by the id of its row and its namespace. One that is gone is deleted.
func (bs Bindings) Delete(ctx context.Context, b Binding) error {
	err := bs.client.call(ctx, http.MethodDelete, b.path()+"/"+url.PathEscape(bindingPrefix+b.ID), nil, nil, nil)
	if err != nil && !Is(err, http.StatusNotFound) {
		return fmt.Errorf("delete a binding: %w", err)
	}
	return nil
}
