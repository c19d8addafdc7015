package kamaji

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
)

// Plane is a control plane as it is to be.
type Plane struct {
	Cluster          uuid.UUID // whose it is; on everything as a label
	Namespace        string
	Name             string
	Version          string
	Replicas         int64 // 0 while it sleeps
	ServiceType      string
	Address          string // "" for a load balancer
	Port             int64
	KonnectivityPort int64
	Konnectivity     bool
	CoreDNS          bool
	PodRange         string
	ServiceRange     string
	DataStore        string
}

// serviceTypes are what Kamaji calls the types of kube.
var serviceTypes = map[string]string{kube.LoadBalancer: "LoadBalancer", kube.NodePort: "NodePort", kube.ClusterIP: "ClusterIP"}

func (p Plane) labels() map[string]any {
	return map[string]any{managedBy: ours, clusterLabel: p.Cluster.String()}
}

// object is the TenantControlPlane with exactly the fields that are ours.
func (p Plane) object() *unstructured.Unstructured {
	network := map[string]any{"port": p.Port, "podCidr": p.PodRange, "serviceCidr": p.ServiceRange}
	if p.Address != "" {
		network["address"] = p.Address
		if _, err := netip.ParseAddr(p.Address); err != nil { // Kamaji takes an address there, and names in the certificate
			delete(network, "address")
			network["certSANs"] = []any{p.Address}
		}
	}
	if services, err := netip.ParsePrefix(p.ServiceRange); err == nil {
		network["dnsServiceIPs"] = []any{tenth(services).String()}
	}
	addons := map[string]any{"kubeProxy": map[string]any{}}
	if p.CoreDNS {
		addons["coreDNS"] = map[string]any{}
	}
	if p.Konnectivity {
		addons["konnectivity"] = map[string]any{"server": map[string]any{"port": p.KonnectivityPort}}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group.String(), "kind": "TenantControlPlane",
		"metadata": map[string]any{"name": p.Name, "namespace": p.Namespace, "labels": p.labels()},
		"spec": map[string]any{
			"dataStore": p.DataStore,
			"controlPlane": map[string]any{
				"deployment": map[string]any{"replicas": p.Replicas},
				"service":    map[string]any{"serviceType": serviceTypes[p.ServiceType]},
			},
			"kubernetes":     map[string]any{"version": p.Version, "kubelet": map[string]any{"cgroupfs": "systemd"}},
			"networkProfile": network, "addons": addons,
		},
	}}
}

// tenth is the address of DNS by custom: the tenth of the services.
func tenth(services netip.Prefix) netip.Addr {
	a := services.Masked().Addr()
	for range 10 {
		a = a.Next()
	}
	return a
}

// Foreign is something of our name that is not ours: it is neither changed nor deleted.
type Foreign struct{ Kind, Name string }

func (f *Foreign) Error() string {
	return fmt.Sprintf("the %s %s of the management cluster belongs to somebody else: it has no label %s of this cluster", f.Kind, f.Name, clusterLabel)
}

// Check looks whether control planes can be made: it answers, Kamaji's types are there, and the data store is. It returns the
// version of the API server as far as it came.
func (c *Client) Check(ctx context.Context, store string) (version string, err error) {
	ctx, cancel := within(ctx)
	defer cancel()
	if version, err = c.plain.Version(ctx); err != nil {
		return "", plainly("ask the management cluster for its version", err)
	}
	_, err = c.dynamic.Resource(dataStores).Get(ctx, store, metav1.GetOptions{})
	if err = judged("look for the data store "+store, err); kubeapi.Is(err, http.StatusNotFound) {
		return version, fmt.Errorf("there is no Kamaji, or it has no data store %s: %w", store, err)
	}
	if err != nil {
		return version, err
	}
	// Whoever may not list them can't make them either; a limit of one keeps the answer small.
	_, err = c.dynamic.Resource(planes).List(ctx, metav1.ListOptions{Limit: 1})
	return version, judged("list control planes", err)
}

// plainly is judged for what kubeapi asked.
func plainly(doing string, err error) error {
	var answer *kubeapi.Error
	if errors.As(err, &answer) {
		return fmt.Errorf("%s: %w", doing, answer)
	}
	return judged(doing, err)
}

// Prepare makes the namespace of a control plane, or adopts the one that an attempt before made.
func (c *Client) Prepare(ctx context.Context, p Plane) error {
	ctx, cancel := within(ctx)
	defer cancel()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": p.Namespace, "labels": p.labels()},
	}}
	return c.apply(ctx, c.dynamic.Resource(namespaces), "namespace", p.Cluster, object)
}

// Apply makes a control plane, or brings the one that is there to what it is to be. A field that somebody else owns is a conflict.
func (c *Client) Apply(ctx context.Context, p Plane) error {
	ctx, cancel := within(ctx)
	defer cancel()
	return c.apply(ctx, c.dynamic.Resource(planes).Namespace(p.Namespace), "control plane", p.Cluster, p.object())
}

// apply is a server-side apply that takes over nothing of somebody else: whatever is there has our label, and the request names
// its uid, so that it is still the same.
func (c *Client) apply(ctx context.Context, in dynamic.ResourceInterface, kind string, cluster uuid.UUID, object *unstructured.Unstructured) error {
	there, err := in.Get(ctx, object.GetName(), metav1.GetOptions{})
	switch err = judged("look for the "+kind, err); {
	case kubeapi.Is(err, http.StatusNotFound):
	case err != nil:
		return err
	case there.GetLabels()[clusterLabel] != cluster.String():
		return &Foreign{kind, object.GetName()}
	case there.GetDeletionTimestamp() != nil:
		return &kubeapi.Error{Status: http.StatusServiceUnavailable, Reason: "Terminating", Message: "the " + kind + " of an attempt before is still being deleted"}
	default:
		object.SetUID(there.GetUID())
	}
	_, err = in.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: manager})
	return judged("make the "+kind, err)
}

// children are what Kamaji makes beside a control plane. They have an owner, but only a controller manager deletes by that.
var children = []schema.GroupVersionResource{
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Version: "v1", Resource: "services"},
	secrets,
	{Version: "v1", Resource: "configmaps"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"},
}

// kamajiLabel is on whatever Kamaji makes for a control plane.
const kamajiLabel = "kamaji.clastix.io/name"

// Delete deletes a control plane with all that Kamaji made for it, and its namespace, as far as it can now. It returns what is
// left; nothing once all of it is gone. It can be repeated, and deletes nothing of somebody else.
func (c *Client) Delete(ctx context.Context, p Plane) (left string, err error) {
	ctx, cancel := within(ctx)
	defer cancel()
	space, err := c.ownSpace(ctx, p)
	if err != nil || space == nil {
		return "", err
	}
	in := c.dynamic.Resource(planes).Namespace(p.Namespace)
	plane, err := in.Get(ctx, p.Name, metav1.GetOptions{})
	switch err = judged("look for the control plane", err); {
	case kubeapi.Is(err, http.StatusNotFound):
	case err != nil:
		return "", err
	case plane.GetLabels()[clusterLabel] != p.Cluster.String():
		return "", &Foreign{"control plane", p.Name}
	default:
		// First the control plane alone: Kamaji takes its data out of the data store, with what is in its secrets.
		if plane.GetDeletionTimestamp() == nil {
			uid := plane.GetUID()
			err = judged("delete the control plane", in.Delete(ctx, p.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}))
		} else {
			err = nil
		}
		return "Kamaji has not let go of the control plane yet", gone(err)
	}
	if left, err = c.deleteChildren(ctx, p); left != "" || err != nil {
		return left, err
	}
	if space.GetDeletionTimestamp() == nil {
		uid := space.GetUID()
		err = judged("delete the namespace", c.dynamic.Resource(namespaces).Delete(ctx, p.Namespace, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}))
	}
	return "the namespace is still being deleted", gone(err)
}

// gone is an error of a deletion, but for what is gone already.
func gone(err error) error {
	if kubeapi.Is(err, http.StatusNotFound) {
		return nil
	}
	return err
}

// ownSpace is the namespace of a control plane; nil if there is none.
func (c *Client) ownSpace(ctx context.Context, p Plane) (*unstructured.Unstructured, error) {
	space, err := c.dynamic.Resource(namespaces).Get(ctx, p.Namespace, metav1.GetOptions{})
	if err = judged("look for the namespace", err); err != nil {
		return nil, gone(err)
	}
	if space.GetLabels()[clusterLabel] != p.Cluster.String() {
		return nil, &Foreign{"namespace", p.Namespace}
	}
	return space, nil
}

func (c *Client) deleteChildren(ctx context.Context, p Plane) (left string, err error) {
	chosen := metav1.ListOptions{LabelSelector: kamajiLabel + "=" + p.Name}
	for _, kind := range children {
		in := c.dynamic.Resource(kind).Namespace(p.Namespace)
		found, err := in.List(ctx, chosen)
		if err = judged("list "+kind.Resource, err); err != nil {
			return "", err
		}
		for _, each := range found.Items {
			left = fmt.Sprintf("some %s are still being deleted", kind.Resource)
			if each.GetDeletionTimestamp() != nil {
				continue
			}
			if err := gone(judged("delete "+kind.Resource, in.Delete(ctx, each.GetName(), metav1.DeleteOptions{}))); err != nil {
				return "", err
			}
		}
	}
	return left, nil
}
