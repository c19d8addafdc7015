package kubeapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

const (
	namespacesPath = "/api/v1/namespaces"
	// namespaceLabel says which row a namespace belongs to.
	namespaceLabel = "kloigos.io/namespace"
	// fieldManager owns the fields that we apply.
	fieldManager = "kloigos"
	// keptName is the name of our quota and of our limits in a namespace.
	keptName = "kloigos"
	// maxLeft bounds what is told of a deletion that does not end.
	maxLeft = 5
)

// Namespace is a namespace as it is to be.
type Namespace struct {
	ID       string // of the row that asks for it
	UID      string // of the one that was looked at; "" if there was none. Another one of its name is not touched
	Name     string
	Labels   map[string]string
	Hard     map[string]string // of its quota; empty: none
	Defaults map[string]string // limits of containers that name none; empty: none
}

// FoundNamespace is a namespace as it is.
type FoundNamespace struct {
	Exists   bool
	Owner    string // id of the row that it belongs to; "" if none of ours
	UID      string
	Deleting bool
	Left     []string // why its deletion does not end
}

// Namespaces are the namespaces of a cluster that Kloigos looks after.
type Namespaces struct{ client *Client }

// Namespaces are the namespaces of the cluster.
func (c *Client) Namespaces() Namespaces { return Namespaces{c} }

// Find looks at a namespace.
func (ns Namespaces) Find(ctx context.Context, name string) (FoundNamespace, error) {
	var found struct {
		Metadata struct {
			UID               string            `json:"uid"`
			Labels            map[string]string `json:"labels"`
			DeletionTimestamp string            `json:"deletionTimestamp"`
		} `json:"metadata"`
		Spec struct {
			Finalizers []string `json:"finalizers"`
		} `json:"spec"`
		Status struct {
			Conditions []struct {
				Type    string `json:"type"`
				Status  string `json:"status"`
				Message string `json:"message"`
			} `json:"conditions"`
		} `json:"status"`
	}
	err := ns.client.call(ctx, http.MethodGet, namespacesPath+"/"+url.PathEscape(name), nil, nil, &found)
	if Is(err, http.StatusNotFound) {
		return FoundNamespace{}, nil
	}
	if err != nil {
		return FoundNamespace{}, fmt.Errorf("look for a namespace: %w", err)
	}
	n := FoundNamespace{Exists: true, Owner: found.Metadata.Labels[namespaceLabel], UID: found.Metadata.UID, Deleting: found.Metadata.DeletionTimestamp != ""}
	for _, condition := range found.Status.Conditions {
		if n.Deleting && condition.Status == "True" && len(n.Left) < maxLeft {
			n.Left = append(n.Left, clean(condition.Message))
		}
	}
	if n.Deleting && len(n.Left) == 0 && len(found.Spec.Finalizers) > 0 {
		n.Left = append(n.Left, clean("Waits for: "+strings.Join(found.Spec.Finalizers, ", ")))
	}
	return n, nil
}

// applied is one of the objects that a namespace consists of.
type applied struct {
	what string // as it is told
	path string
	body map[string]any // as it is to be; nil: it must not be there
}

func (n Namespace) objects() []applied {
	labels := ours()
	for key, value := range n.Labels {
		labels[key] = value
	}
	labels[namespaceLabel] = n.ID
	in := namespacesPath + "/" + url.PathEscape(n.Name)
	all := []applied{
		{"namespace", in, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": n.metadata(labels)}},
		{"quota", in + "/resourcequotas/" + keptName, nil},
		{"default limits", in + "/limitranges/" + keptName, nil},
	}
	kept := map[string]any{"name": keptName, "namespace": n.Name, "labels": ours()}
	if len(n.Hard) > 0 {
		all[1].body = map[string]any{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": kept, "spec": map[string]any{"hard": n.Hard}}
	}
	if len(n.Defaults) > 0 {
		limits := []any{map[string]any{"type": "Container", "default": n.Defaults, "defaultRequest": n.Defaults}}
		all[2].body = map[string]any{"apiVersion": "v1", "kind": "LimitRange", "metadata": kept, "spec": map[string]any{"limits": limits}}
	}
	return all
}

// metadata names the namespace that was looked at: the API server refuses a change of another one, and makes none that is gone.
func (n Namespace) metadata(labels map[string]string) map[string]any {
	metadata := map[string]any{"name": n.Name}
	if n.UID != "" {
		metadata["uid"] = n.UID
	}
	if labels != nil {
		metadata["labels"] = labels
	}
	return metadata
}

// Keep brings a namespace, its quota and its limits to what they are to be, by server-side apply, and tells what differed. With
// observe it only tells.
func (ns Namespaces) Keep(ctx context.Context, n Namespace, observe bool) (differs []string, err error) {
	for _, object := range n.objects() {
		why, err := ns.keepObject(ctx, object, observe)
		if err != nil {
			return differs, fmt.Errorf("keep the %s of %s: %w", object.what, n.Name, err)
		}
		if why != "" {
			differs = append(differs, "The "+object.what+" "+why+".")
		}
		if observe && why == "was missing" && object.what == "namespace" {
			break // nothing can be in it
		}
	}
	return differs, nil
}

type keptObject struct {
	Metadata struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec map[string]any `json:"spec"`
}

// keepObject brings one object to what it is to be. What nobody but its controllers writes differs on no side.
func (ns Namespaces) keepObject(ctx context.Context, o applied, observe bool) (why string, err error) {
	var before, after keptObject
	err = ns.client.call(ctx, http.MethodGet, o.path, nil, nil, &before)
	missing := Is(err, http.StatusNotFound)
	switch {
	case err != nil && !missing:
		return "", err
	case o.body == nil && (missing || before.Metadata.Labels[managedBy] != ours()[managedBy]):
		return "", nil
	case o.body == nil:
		if !observe {
			err = ns.client.call(ctx, http.MethodDelete, o.path, nil, nil, nil)
		}
		return "was not asked for", err
	case missing && observe:
		return "was missing", nil
	}
	query := url.Values{"fieldManager": {fieldManager}, "force": {"true"}}
	if observe {
		query.Set("dryRun", "All")
	}
	if err := ns.client.send(ctx, http.MethodPatch, "application/apply-patch+yaml", o.path, query, o.body, &after); err != nil {
		return "", err
	}
	switch {
	case missing:
		return "was missing", nil
	case !reflect.DeepEqual(before.Metadata.Labels, after.Metadata.Labels) || !reflect.DeepEqual(before.Spec, after.Spec):
		return "was changed", nil
	}
	return "", nil
}

// Delete deletes a namespace with all that is in it, if it is still the one that was looked at.
func (ns Namespaces) Delete(ctx context.Context, name, uid string) error {
	err := ns.client.call(ctx, http.MethodDelete, namespacesPath+"/"+url.PathEscape(name), nil, map[string]any{
		"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": map[string]any{"uid": uid},
	}, nil)
	if err != nil && !Is(err, http.StatusNotFound) {
		return fmt.Errorf("delete a namespace: %w", err)
	}
	return nil
}

// Leave lets go of a namespace: our quota, our limits and our labels go, and all else stays.
func (ns Namespaces) Leave(ctx context.Context, name, uid string) error {
	n := Namespace{Name: name, UID: uid}
	bare := n.objects()
	slices.Reverse(bare) // the label last: it says that the rest is ours to delete
	for _, object := range bare {
		if object.what == "namespace" {
			object.body["metadata"] = n.metadata(nil) // who applies no labels owns none
		}
		if _, err := ns.keepObject(ctx, object, false); err != nil {
			return fmt.Errorf("let go of a namespace: %w", err)
		}
	}
	return nil
}
