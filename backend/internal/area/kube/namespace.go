package kube

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"kloigos/backend/internal/kernel/fault"
)

// States of namespaces.
const (
	NamespaceKept     = "kept"
	NamespaceDeleting = "deleting"
)

// Namespace is one row of kube_namespaces.
type Namespace struct {
	ID            uuid.UUID         `db:"id"`
	WorkspaceID   uuid.UUID         `db:"workspace_id"`
	ClusterID     uuid.UUID         `db:"cluster_id"`
	Cluster       string            `db:"cluster"` // its name
	Name          string            `db:"name"`
	Labels        map[string]string `db:"labels"`
	QuotaCPU      string            `db:"quota_cpu"`
	QuotaMemory   string            `db:"quota_memory"`
	QuotaPods     int64             `db:"quota_pods"`
	QuotaStorage  string            `db:"quota_storage"`
	DefaultCPU    string            `db:"default_cpu"`
	DefaultMemory string            `db:"default_memory"`
	Adopt         bool              `db:"adopt"`
	Leave         bool              `db:"leave"`
	DeletingAt    *time.Time        `db:"deleting_at"`
	Version       int64             `db:"version"`
	CreatedAt     time.Time         `db:"created_at"`
	UpdatedAt     time.Time         `db:"updated_at"`
}

// State is what is done about the namespace.
func (n Namespace) State() string {
	if n.DeletingAt != nil {
		return NamespaceDeleting
	}
	return NamespaceKept
}

// NamespaceDraft is a namespace as somebody asks for it. Quantities are those of Kubernetes; "" and 0 for none.
type NamespaceDraft struct {
	Name          string
	Labels        map[string]string
	QuotaCPU      string
	QuotaMemory   string
	QuotaPods     int64
	QuotaStorage  string
	DefaultCPU    string
	DefaultMemory string
	Adopt         bool // take over one that somebody else made
}

// What containers get that name no limit, where a quota would refuse them otherwise.
const (
	defaultCPU    = "100m"
	defaultMemory = "128Mi"
)

// plainQuantity is what a quantity may look like. Exponents are left out: to parse 1e-99999999 takes minutes.
var plainQuantity = regexp.MustCompile(`^[0-9]{1,15}(\.[0-9]{1,9})?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$`)

const (
	maxLabels = 30
	maxPods   = 100000
)

// checked returns the draft with its quantities in the form of Kubernetes, or a fault.Invalid with all mistakes.
func (d NamespaceDraft) checked() (NamespaceDraft, error) {
	var bad fault.Invalid
	switch {
	case len(validation.IsDNS1123Label(d.Name)) > 0:
		bad.Add("name", "Use lower-case letters, digits and hyphens, 63 at most; begin and end with a letter or a digit.")
	case d.Name == "default" || strings.HasPrefix(d.Name, "kube-") || strings.HasPrefix(d.Name, "kloigos-"):
		bad.Add("name", "The name is reserved: default, kube-… and kloigos-… belong to the cluster and to Kloigos.")
	}
	checkLabels(&bad, d.Labels)
	for _, q := range []struct {
		field string
		value *string
	}{
		{"quota_cpu", &d.QuotaCPU}, {"quota_memory", &d.QuotaMemory}, {"quota_storage", &d.QuotaStorage}, {"default_cpu", &d.DefaultCPU}, {"default_memory", &d.DefaultMemory},
	} {
		if *q.value == "" {
			continue
		}
		found, good := quantity(*q.value)
		if !good {
			bad.Add(q.field, "Use a quantity of Kubernetes above 0, such as 500m, 4, 512Mi or 20Gi.")
			continue
		}
		*q.value = found
	}
	if d.QuotaPods < 0 || d.QuotaPods > maxPods {
		bad.Add("quota_pods", "Use 1 to %d; 0 for no limit.", maxPods)
	}
	if err := bad.OrNil(); err != nil {
		return d, err
	}
	d.DefaultCPU = defaultOf(d.DefaultCPU, d.QuotaCPU, defaultCPU)
	d.DefaultMemory = defaultOf(d.DefaultMemory, d.QuotaMemory, defaultMemory)
	if above(d.DefaultCPU, d.QuotaCPU) {
		bad.Add("default_cpu", "It is more than the quota of the whole namespace.")
	}
	if above(d.DefaultMemory, d.QuotaMemory) {
		bad.Add("default_memory", "It is more than the quota of the whole namespace.")
	}
	return d, bad.OrNil()
}

// quantity returns a quantity above 0 in the form of Kubernetes.
func quantity(text string) (string, bool) {
	if !plainQuantity.MatchString(text) {
		return "", false
	}
	found, err := resource.ParseQuantity(text)
	if err != nil || found.Sign() <= 0 {
		return "", false
	}
	return found.String(), true
}

// defaultOf is the limit of a container that names none: as asked for, and where a quota needs one, usual or the quota itself.
func defaultOf(asked, quota, usual string) string {
	switch {
	case asked != "" || quota == "":
		return asked
	case above(usual, quota):
		return quota
	}
	return usual
}

// above tells whether a quantity is more than a bound; both were parsed before.
func above(text, bound string) bool {
	if text == "" || bound == "" {
		return false
	}
	a, b := resource.MustParse(text), resource.MustParse(bound)
	return a.Cmp(b) > 0
}

func checkLabels(bad *fault.Invalid, labels map[string]string) {
	if len(labels) > maxLabels {
		bad.Add("labels", "Use at most %d labels.", maxLabels)
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		prefix, _, named := strings.Cut(key, "/")
		of := func(domain string) bool { return prefix == domain || strings.HasSuffix(prefix, "."+domain) }
		switch {
		case len(validation.IsQualifiedName(key)) > 0 || len(validation.IsValidLabelValue(labels[key])) > 0:
			bad.Add("labels", "A key is a name of at most 63 letters, digits, -, _ and ., with a domain and / before it if you like; so is a value.")
			return
		case named && (of("kloigos.io") || prefix != "pod-security.kubernetes.io" && (of("kubernetes.io") || of("k8s.io"))):
			bad.Add("labels", "Labels of kubernetes.io, k8s.io and kloigos.io are reserved, but for those of pod-security.kubernetes.io.")
			return
		}
	}
}

// Hard is the quota of the namespace, as a ResourceQuota has it.
func (n Namespace) Hard() map[string]string {
	hard := map[string]string{}
	for name, value := range map[string]string{"limits.cpu": n.QuotaCPU, "limits.memory": n.QuotaMemory, "requests.storage": n.QuotaStorage} {
		if value != "" {
			hard[name] = value
		}
	}
	if n.QuotaPods > 0 {
		hard["pods"] = resource.NewQuantity(n.QuotaPods, resource.DecimalSI).String()
	}
	return hard
}

// Defaults are the limits of containers that name none, as a LimitRange has them.
func (n Namespace) Defaults() map[string]string {
	limits := map[string]string{}
	for name, value := range map[string]string{"cpu": n.DefaultCPU, "memory": n.DefaultMemory} {
		if value != "" {
			limits[name] = value
		}
	}
	return limits
}

func (n Namespace) facts() map[string]any {
	return map[string]any{
		"cluster": n.Cluster, "name": n.Name, "labels": n.Labels, "quota_cpu": n.QuotaCPU, "quota_memory": n.QuotaMemory, "quota_pods": n.QuotaPods,
		"quota_storage": n.QuotaStorage, "default_cpu": n.DefaultCPU, "default_memory": n.DefaultMemory, "adopt": n.Adopt,
	}
}

func (n Namespace) draft() NamespaceDraft {
	return NamespaceDraft{
		Name: n.Name, Labels: n.Labels, QuotaCPU: n.QuotaCPU, QuotaMemory: n.QuotaMemory, QuotaPods: n.QuotaPods, QuotaStorage: n.QuotaStorage,
		DefaultCPU: n.DefaultCPU, DefaultMemory: n.DefaultMemory, Adopt: n.Adopt,
	}
}
