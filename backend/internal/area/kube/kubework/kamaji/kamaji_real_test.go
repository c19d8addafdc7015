package kamaji

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/testkit/realkube"
)

// TestRealKamaji has Kamaji itself make, upgrade, put to sleep, wake and delete a control plane, with an API server of it that lives. Its
// pods are kwok's: the API server runs beside them, with what Kamaji wrote into its Deployment and its secrets.
func TestRealKamaji(t *testing.T) {
	hosts := realkube.Alone(t)
	if hosts == "" {
		return
	}
	m := realkube.NewManagement(t, hosts)
	ctx := t.Context()
	c, err := New(kube.Reach{Server: m.Endpoint, CA: m.CA, Certificate: m.Admin, Key: m.AdminKey}, egress.Rule{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	must(t, err)
	t.Cleanup(c.Close)
	if _, err := c.Check(ctx, "default"); err != nil {
		t.Fatalf("check: %v", err)
	}

	p := realPlane()
	p.Address, p.Konnectivity, p.Replicas = realkube.TenantAddress, false, 1
	must(t, c.Prepare(ctx, p))
	for range 2 { // a repetition adopts what Kamaji has filled in by now
		must(t, c.Apply(ctx, p))
	}
	m.Eventually("Kamaji to call it ready", readyAs(ctx, c, p))
	stop := m.Tenant(p.Namespace, p.Name)
	access, err := c.Access(ctx, p, realkube.TenantAddress+":30000")
	must(t, err)
	tenant, err := New(kube.Reach{Server: access.Endpoint, CA: []byte(access.CA), Certificate: []byte(access.Certificate), Key: access.Key},
		egress.Rule{Allowed: []netip.Prefix{netip.MustParsePrefix(realkube.TenantAddress + "/32")}})
	must(t, err)
	t.Cleanup(tenant.Close)
	m.Eventually("the API server of the control plane, with what Kamaji puts there", func() error {
		_, err := tenant.dynamic.Resource(configMaps).Namespace("kube-system").Get(ctx, "kubeadm-config", metav1.GetOptions{})
		return err
	})
	m.Eventually("the add-ons", func() error {
		_, err := tenant.dynamic.Resource(daemonSets).Namespace("kube-system").Get(ctx, "kube-proxy", metav1.GetOptions{})
		return err
	})

	if m.Stored() == 0 {
		t.Error("the control plane keeps nothing in the data store")
	}

	refused := p
	refused.Version = "v1.36.3"
	if err := c.Apply(ctx, refused); err == nil || Heals(err) || !strings.Contains(err.Error(), "1.30.2") {
		t.Errorf("a version that Kamaji does not know: %v", err)
	}
	p.Version = "v1.30.2"
	must(t, c.Apply(ctx, p))
	m.Eventually("the upgrade", readyAs(ctx, c, p))

	p.Replicas = 0
	must(t, c.Apply(ctx, p))
	m.Eventually("it to sleep", asleep(ctx, c, p))
	stop() // as its pods did
	p.Replicas = 1
	must(t, c.Apply(ctx, p))
	m.Eventually("it to wake", readyAs(ctx, c, p))

	left := ""
	m.Eventually("the deletion", func() error {
		if left, err = c.Delete(ctx, p); err == nil && left != "" {
			err = errors.New(left)
		}
		return err
	})
	if left := m.Stored(); left != 0 {
		t.Errorf("%d keys of the control plane are left in the data store", left)
	}
}

var (
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	daemonSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}
)

// readyAs tells whether a control plane is ready with the version that it is to have, and at its address.
func readyAs(ctx context.Context, c *Client, p Plane) func() error {
	return func() error {
		found, err := c.Look(ctx, p)
		if err == nil && (!found.Ready || found.Version != p.Version || found.Endpoint != fmt.Sprintf("%s:%d", p.Address, p.Port)) {
			err = fmt.Errorf("%+v", found)
		}
		return err
	}
}

// asleep tells whether a control plane has no pods, as it was asked to.
func asleep(ctx context.Context, c *Client, p Plane) func() error {
	return func() error {
		found, err := c.Look(ctx, p)
		if err == nil && (found.Asked != 0 || found.Replicas != 0) {
			err = fmt.Errorf("%+v", found)
		}
		return err
	}
}
