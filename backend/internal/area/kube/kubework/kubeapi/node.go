package kubeapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// abandoned is how long a pod on a node that does not answer may be on its way out, before nobody waits for it any more.
const abandoned = 5 * time.Minute

func nodePath(name string) string { return "/api/v1/nodes/" + url.PathEscape(name) }

// Cordon keeps new pods off a node, or lets them there again. known is false if the cluster has no such node.
func (c *Client) Cordon(ctx context.Context, name string, off bool) (known bool, err error) {
	err = c.patch(ctx, nodePath(name), map[string]any{"spec": map[string]any{"unschedulable": off}})
	switch {
	case Is(err, http.StatusNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("cordon %s: %w", name, err)
	}
	return true, nil
}

// DeleteNode takes a node out of the cluster. One that is gone is deleted.
func (c *Client) DeleteNode(ctx context.Context, name string) error {
	err := c.call(ctx, http.MethodDelete, nodePath(name), nil, nil, nil)
	if err != nil && !Is(err, http.StatusNotFound) {
		return fmt.Errorf("delete the node %s: %w", name, err)
	}
	return nil
}

type pod struct {
	Metadata struct {
		meta
		Annotations map[string]string `json:"annotations"`
		Owners      []struct {
			Kind       string `json:"kind"`
			Controller bool   `json:"controller"`
		} `json:"ownerReferences"`
		DeletedAt *time.Time `json:"deletionTimestamp"`
	} `json:"metadata"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// stays tells whether a pod belongs to its node: the node itself runs it, or a DaemonSet makes it anew. Finished ones count for nothing.
func (p pod) stays() bool {
	if _, is := p.Metadata.Annotations["kubernetes.io/config.mirror"]; is || p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" {
		return true
	}
	for _, owner := range p.Metadata.Owners {
		if owner.Controller && owner.Kind == "DaemonSet" {
			return true
		}
	}
	return false
}

// Evict asks the pods of a node to leave, through the Eviction API, which keeps disruption budgets. It returns those that are
// still there, each with the reason.
func (c *Client) Evict(ctx context.Context, node string) (left []string, err error) {
	var found struct {
		Items []pod `json:"items"`
	}
	if err := c.call(ctx, http.MethodGet, "/api/v1/pods", url.Values{"fieldSelector": {"spec.nodeName=" + node}}, nil, &found); err != nil {
		return nil, fmt.Errorf("list the pods of %s: %w", node, err)
	}
	for _, p := range found.Items {
		name := clean(p.Metadata.Namespace + "/" + p.Metadata.Name)
		switch {
		case p.stays():
			continue
		case p.Metadata.DeletedAt != nil:
			if time.Since(*p.Metadata.DeletedAt) < abandoned {
				left = append(left, name+" is ending")
			}
			continue
		}
		path := "/api/v1/namespaces/" + url.PathEscape(p.Metadata.Namespace) + "/pods/" + url.PathEscape(p.Metadata.Name) + "/eviction"
		err := c.call(ctx, http.MethodPost, path, nil, map[string]any{
			"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta{Name: p.Metadata.Name, Namespace: p.Metadata.Namespace},
		}, nil)
		switch {
		case Is(err, http.StatusNotFound):
		case Is(err, http.StatusTooManyRequests): // its disruption budget says no for now
			left = append(left, name+" may not be evicted now: "+err.Error())
		case err != nil:
			return left, fmt.Errorf("evict %s: %w", name, err)
		default:
			left = append(left, name+" is ending")
		}
	}
	return left, nil
}

// uploadedPath is where kubeadm keeps the encrypted keys of a cluster for a control plane that joins.
const uploadedPath = tokensPath + "/kubeadm-certs"

// DeleteUploadedCertificates deletes the encrypted keys that a control plane joins with, and the token that kubeadm made to end
// them: it is their owner.
func (c *Client) DeleteUploadedCertificates(ctx context.Context) error {
	var found struct {
		Metadata struct {
			Owners []struct {
				Kind string `json:"kind"`
				Name string `json:"name"`
			} `json:"ownerReferences"`
		} `json:"metadata"`
	}
	err := c.call(ctx, http.MethodGet, uploadedPath, nil, nil, &found)
	if Is(err, http.StatusNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for uploaded certificates: %w", err)
	}
	paths := []string{uploadedPath}
	for _, owner := range found.Metadata.Owners {
		if owner.Kind == "Secret" {
			paths = append(paths, tokensPath+"/"+url.PathEscape(owner.Name))
		}
	}
	for _, path := range paths {
		if err := c.call(ctx, http.MethodDelete, path, nil, nil, nil); err != nil && !Is(err, http.StatusNotFound) {
			return fmt.Errorf("delete uploaded certificates: %w", err)
		}
	}
	return nil
}
