package kamaji

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
)

// Status is what a management cluster says of a control plane. Ready says nothing of its API server: that is asked by itself.
type Status struct {
	Exists       bool
	Ready        bool   // Kamaji calls it ready, with the version that it is to have
	Why          string // it is not ready
	Version      string // that runs
	Wanted       string // that the object asks for
	Replicas     int64  // pods of it that there are
	Asked        int64  // replicas that the object asks for
	Konnectivity bool   // Kamaji has set the tunnels up
	Endpoint     string // host:port; "" if it has none yet
}

// Look reads what a management cluster says of a control plane.
func (c *Client) Look(ctx context.Context, p Plane) (Status, error) {
	ctx, cancel := within(ctx)
	defer cancel()
	plane, err := c.get(ctx, p)
	if kubeapi.Is(err, http.StatusNotFound) {
		return Status{Why: "the management cluster has no such control plane"}, nil
	}
	if err != nil {
		return Status{}, err
	}
	return statusOf(plane), nil
}

func (c *Client) get(ctx context.Context, p Plane) (*unstructured.Unstructured, error) {
	plane, err := c.dynamic.Resource(planes).Namespace(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	if err != nil {
		return nil, judged("look at the control plane", err)
	}
	if plane.GetLabels()[clusterLabel] != p.Cluster.String() {
		return nil, &Foreign{"control plane", p.Name}
	}
	return plane, nil
}

func statusOf(plane *unstructured.Unstructured) Status {
	text := func(path ...string) string {
		found, _, _ := unstructured.NestedString(plane.Object, path...)
		return kubeapi.Clean(found)
	}
	number := func(path ...string) int64 {
		found, _, _ := unstructured.NestedInt64(plane.Object, path...)
		return found
	}
	s := Status{
		Exists: true, Version: text("status", "kubernetesResources", "version", "version"), Wanted: text("spec", "kubernetes", "version"),
		Replicas: number("status", "kubernetesResources", "deployment", "replicas"), Asked: number("spec", "controlPlane", "deployment", "replicas"),
		Endpoint: text("status", "controlPlaneEndpoint"),
	}
	s.Konnectivity, _, _ = unstructured.NestedBool(plane.Object, "status", "addons", "konnectivity", "enabled")
	state := text("status", "kubernetesResources", "version", "status")
	ready := number("status", "kubernetesResources", "deployment", "readyReplicas")
	switch {
	case plane.GetDeletionTimestamp() != nil:
		s.Why = "it is being deleted"
	case state == "":
		s.Why = "Kamaji has not taken it up yet"
	case state != "Ready":
		s.Why = "Kamaji calls it " + state + deployment(plane)
	case s.Version != s.Wanted:
		s.Why = fmt.Sprintf("it runs %s, and is to run %s", s.Version, s.Wanted)
	case s.Asked > 0 && ready == 0:
		s.Why = "none of its pods is ready" + deployment(plane)
	case s.Endpoint == "":
		s.Why = "it has no address yet"
	default:
		s.Ready = true
	}
	return s
}

// deployment is what the conditions of its Deployment say that is not well.
func deployment(plane *unstructured.Unstructured) string {
	all, _, _ := unstructured.NestedSlice(plane.Object, "status", "kubernetesResources", "deployment", "conditions")
	for _, each := range all {
		condition, _ := each.(map[string]any)
		kind, _ := condition["type"].(string)
		status, _ := condition["status"].(string)
		if (kind == "ReplicaFailure") != (status == "True") {
			continue
		}
		reason, _ := condition["reason"].(string)
		message, _ := condition["message"].(string)
		return ": " + kubeapi.Clean(strings.TrimSuffix(reason+": "+message, "."))
	}
	return ""
}

// kubeconfigKeys are where Kamaji puts the kubeconfig of an administrator.
var kubeconfigKeys = []string{"super-admin.conf", "admin.conf"}

// Access reads the access that Kamaji made for a control plane. It is believed only if key, certificate and authority belong
// together, and if it leads to the endpoint that the row has; that of a load balancer is in no row before.
func (c *Client) Access(ctx context.Context, p Plane, endpoint string) (kube.Access, error) {
	ctx, cancel := within(ctx)
	defer cancel()
	plane, err := c.get(ctx, p)
	if err != nil {
		return kube.Access{}, err
	}
	name, _, _ := unstructured.NestedString(plane.Object, "status", "kubeconfig", "admin", "secretName")
	if name == "" {
		return kube.Access{}, &kubeapi.Error{Status: http.StatusServiceUnavailable, Reason: "NoKubeconfig", Message: "Kamaji has made no kubeconfig yet"}
	}
	secret, err := c.dynamic.Resource(secrets).Namespace(p.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return kube.Access{}, judged("read the kubeconfig", err)
	}
	for _, key := range kubeconfigKeys {
		text, _, _ := unstructured.NestedString(secret.Object, "data", key)
		file, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(file) == 0 {
			continue
		}
		return accessOf(string(file), endpoint)
	}
	return kube.Access{}, errors.New("the secret with the kubeconfig has no kubeconfig")
}

func accessOf(text, endpoint string) (kube.Access, error) {
	reach, err := kube.ParseKubeconfig(text)
	if err != nil || reach.Token != "" {
		return kube.Access{}, errors.New("the kubeconfig that Kamaji made has no certificate with its key, or no authority")
	}
	if endpoint != "" && reach.Server != endpoint {
		return kube.Access{}, fmt.Errorf("the kubeconfig that Kamaji made leads to %s, not to %s", kubeapi.Clean(reach.Server), endpoint)
	}
	if _, err := kube.ParseEndpoint(reach.Server); err != nil {
		return kube.Access{}, errors.New("the kubeconfig that Kamaji made leads to no address that is used")
	}
	pair, err := tls.X509KeyPair(reach.Certificate, reach.Key)
	if err != nil {
		return kube.Access{}, errors.New("certificate and key of the kubeconfig that Kamaji made do not belong together")
	}
	certificate, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return kube.Access{}, errors.New("the certificate of the kubeconfig that Kamaji made can't be read")
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(reach.CA)
	if _, err := certificate.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: time.Now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		return kube.Access{}, errors.New("the certificate of the kubeconfig that Kamaji made is not signed by its authority, or has ended")
	}
	return kube.Access{Endpoint: reach.Server, CA: string(reach.CA), Certificate: string(reach.Certificate), Key: reach.Key}, nil
}

// churnWithin and churnMost bound how many ReplicaSets a control plane may get: a loop over its certificates makes one after the
// other, and every one restarts it.
const (
	churnWithin = 30 * time.Minute
	churnMost   = 5
)

// Churn tells how many ReplicaSets a control plane got within the last half hour, and whether that is a loop.
func (c *Client) Churn(ctx context.Context, p Plane, now time.Time) (fresh int, loops bool, err error) {
	ctx, cancel := within(ctx)
	defer cancel()
	found, err := c.dynamic.Resource(replicas).Namespace(p.Namespace).List(ctx, metav1.ListOptions{LabelSelector: kamajiLabel + "=" + p.Name, Limit: 100})
	if err != nil {
		return 0, false, judged("list the ReplicaSets", err)
	}
	for _, each := range found.Items {
		if now.Sub(each.GetCreationTimestamp().Time) < churnWithin {
			fresh++
		}
	}
	return fresh, fresh > churnMost, nil
}

// Strangers are control planes of a management cluster that have our mark and that are in none of the rows: something that we
// made and forgot. They are told, and never deleted by themselves.
func (c *Client) Strangers(ctx context.Context, known map[uuid.UUID]bool) ([]string, error) {
	ctx, cancel := within(ctx)
	defer cancel()
	found, err := c.dynamic.Resource(planes).List(ctx, metav1.ListOptions{LabelSelector: managedBy + "=" + ours, Limit: 500})
	if err != nil {
		return nil, judged("list control planes", err)
	}
	var names []string
	for _, each := range found.Items {
		if id, err := uuid.Parse(each.GetLabels()[clusterLabel]); err != nil || !known[id] {
			names = append(names, kubeapi.Clean(each.GetNamespace()+"/"+each.GetName()))
		}
	}
	return names, nil
}
