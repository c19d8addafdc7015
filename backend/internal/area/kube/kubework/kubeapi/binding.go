package kubeapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

const (
	bindingsPath = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
	rbacGroup    = "rbac.authorization.k8s.io"
	managedBy    = "app.kubernetes.io/managed-by"
	// bindingPrefix begins the names of our bindings.
	bindingPrefix = "kloigos-binding-"
)

// ours marks what Kloigos made in a cluster.
func ours() map[string]string { return map[string]string{managedBy: "kloigos"} }

// Binding lets one user have one role of the cluster in all namespaces.
type Binding struct {
	ID   string // of the row that asks for it
	User string
	Role string // cluster role: view, edit or admin
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

// Bindings lists our bindings as they are in the cluster: by our mark, so that one whose subjects somebody changed is among
// them, with what they say now.
func (c *Client) Bindings(ctx context.Context) ([]Binding, error) {
	var found struct {
		Items []binding `json:"items"`
	}
	if err := c.call(ctx, http.MethodGet, bindingsPath, url.Values{"labelSelector": {managedBy + "=kloigos"}}, nil, &found); err != nil {
		return nil, fmt.Errorf("list the bindings: %w", err)
	}
	var all []Binding
	for _, b := range found.Items {
		id, is := strings.CutPrefix(b.Metadata.Name, bindingPrefix)
		if !is {
			continue
		}
		made := Binding{ID: id, Role: b.RoleRef.Name}
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

// CreateBinding makes a binding; one with its name is replaced, since a role cannot be changed.
func (c *Client) CreateBinding(ctx context.Context, b Binding) error {
	object := binding{
		APIVersion: rbacGroup + "/v1", Kind: "ClusterRoleBinding", Metadata: meta{Name: bindingPrefix + b.ID, Labels: ours()},
		RoleRef:  roleRef{APIGroup: rbacGroup, Kind: "ClusterRole", Name: b.Role},
		Subjects: []subject{{APIGroup: rbacGroup, Kind: "User", Name: b.User}},
	}
	err := c.call(ctx, http.MethodPost, bindingsPath, nil, object, nil)
	if Is(err, http.StatusConflict) {
		if err = c.DeleteBinding(ctx, b.ID); err == nil {
			err = c.call(ctx, http.MethodPost, bindingsPath, nil, object, nil)
		}
	}
	if err != nil {
		return fmt.Errorf("make a binding: %w", err)
	}
	return nil
}

// DeleteBinding deletes a binding by the id of its row. One that is gone is deleted.
func (c *Client) DeleteBinding(ctx context.Context, id string) error {
	err := c.call(ctx, http.MethodDelete, bindingsPath+"/"+url.PathEscape(bindingPrefix+id), nil, nil, nil)
	if err != nil && !Is(err, http.StatusNotFound) {
		return fmt.Errorf("delete a binding: %w", err)
	}
	return nil
}
