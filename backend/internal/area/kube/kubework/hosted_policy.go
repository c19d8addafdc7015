package kubework

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kamaji"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/reconcile"
)

// HostedPolicies look at management clusters and at what they say of control planes.
func HostedPolicies(config Config) []reconcile.Policy {
	return []reconcile.Policy{managementPolicy(config), hostedPolicy(config)}
}

func managementPolicy(config Config) reconcile.Policy {
	return reconcile.Policy{
		Name: "management_cluster", Noun: kube.ManagementNoun,
		Why:      "a management cluster fails without us, and new control planes are to go to one that is well",
		Interval: policyInterval, Jitter: 30 * time.Second, Timeout: time.Minute, Triggers: []string{kube.ManagementNoun}, Observes: true,
		Objects: reconcile.Rows(config.DB, kube.ManagementIDs),
		Run: reconcile.Look(config.DB, kube.ManagementByID, func(ctx context.Context, _ reconcile.Item, m kube.Management) (reconcile.Outcome, error) {
			return config.lookAtManagement(ctx, m)
		}),
	}
}

// nearlyFull is the share of its capacity, in percent, from which a management cluster is told of.
const nearlyFull = 90

// knownAtMost bounds the rows that a management cluster is compared with.
const knownAtMost = 10000

func (c Config) lookAtManagement(ctx context.Context, m kube.Management) (reconcile.Outcome, error) {
	client, err := c.manage(m)
	if err != nil {
		return reconcile.Outcome{}, err
	}
	defer client.Close()
	healthy := reconcile.Condition{Type: "healthy", Status: reconcile.True, Reason: "answers", Threshold: 2}
	version, err := client.Check(ctx, m.DataStore)
	if err != nil {
		healthy.Status, healthy.Reason, healthy.Message = reconcile.False, "check_failed", sentence(err)
		healthy.Fault, healthy.RetryHelps = reconcile.FaultDependency, kamaji.Heals(err)
	}
	out := reconcile.Outcome{Conditions: []reconcile.Condition{healthy, room(m)}}
	if err == nil {
		forgotten, err := c.forgotten(ctx, client, m)
		if err != nil {
			return out, err
		}
		out.Conditions = append(out.Conditions, forgotten)
	}
	seen := c.DB.InTx(ctx, func(tx *db.Tx) error {
		return kube.SeeManagement(ctx, tx, m.ID, err == nil, healthy.Message, version, time.Now())
	})
	return out, seen
}

// sentence is an error as a person reads it.
func sentence(err error) string {
	text := strings.TrimSuffix(err.Error(), ".")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func room(m kube.Management) reconcile.Condition {
	c := reconcile.Condition{Type: "has_room", Status: reconcile.True, Reason: "room", Threshold: 1}
	if m.Hosted*100 >= m.Capacity*nearlyFull {
		c.Status, c.Reason, c.Fault = reconcile.False, "nearly_full", reconcile.FaultCapacity
		c.Message = fmt.Sprintf("It has %d of %d control planes.", m.Hosted, m.Capacity)
	}
	return c
}

// forgotten tells of control planes with our mark that are in no row.
func (c Config) forgotten(ctx context.Context, client *kamaji.Client, m kube.Management) (reconcile.Condition, error) {
	out := reconcile.Condition{Type: "all_known", Status: reconcile.True, Reason: "known", Threshold: 2}
	rows, err := kube.HostedIn(ctx, c.DB.Reader, m.ID, knownAtMost)
	if err != nil {
		return out, fmt.Errorf("list the control planes of a management cluster: %w", err)
	}
	known := map[uuid.UUID]bool{}
	for _, row := range rows {
		known[row.ClusterID] = true
	}
	strangers, err := client.Strangers(ctx, known)
	if err != nil {
		return out, &reconcile.Failure{Reason: "management_cluster_refused", Message: sentence(err), Fault: reconcile.FaultDependency, RetryHelps: kamaji.Heals(err), Err: err}
	}
	if len(strangers) > 0 {
		out.Status, out.Reason, out.Fault = reconcile.False, "forgotten", reconcile.FaultOurs
		out.Message = fmt.Sprintf("It has %d control planes with our mark that Kloigos does not know: %s.", len(strangers), strings.Join(strangers[:min(len(strangers), maxTold)], ", "))
	}
	return out, nil
}

func hostedPolicy(config Config) reconcile.Policy {
	return reconcile.Policy{
		Name: "hosted_control_plane", Noun: kube.HostedNoun,
		Why:      "a control plane is changed or deleted in its management cluster without us, and Kamaji renews its authority and certificates",
		Interval: policyInterval, Jitter: 30 * time.Second, Timeout: time.Minute, Triggers: []string{kube.HostedNoun}, Observes: true,
		Objects: reconcile.Rows(config.DB, kube.HostedIDs),
		Run: reconcile.Look(config.DB, kube.HostedByID, func(ctx context.Context, item reconcile.Item, h kube.Hosted) (reconcile.Outcome, error) {
			if h.Quiet() && h.State != kube.HostedAsleep {
				return reconcile.Outcome{}, nil // its job looks after it
			}
			at, err := config.loadSite(ctx, config.DB.Reader, h)
			if err != nil {
				return reconcile.Outcome{}, err
			}
			return planeLook{config, at, item.Observe}.run(ctx)
		}),
	}
}

// planeLook is one look at one hosted control plane.
type planeLook struct {
	Config
	at      site
	observe bool
}

func (l planeLook) run(ctx context.Context) (reconcile.Outcome, error) {
	client, err := l.manage(l.at.management)
	if err != nil {
		return reconcile.Outcome{}, err
	}
	defer client.Close()
	wanted := l.at.plane()
	found, err := client.Look(ctx, wanted)
	if err != nil && !isForeign(err) {
		return reconcile.Outcome{}, &reconcile.Failure{Reason: "no_answer", Message: sentence(err), Fault: reconcile.FaultDependency, RetryHelps: kamaji.Heals(err), Err: err}
	}
	if err != nil {
		found.Why = err.Error()
	}
	out := reconcile.Outcome{Conditions: []reconcile.Condition{l.ready(found), l.asAsked(found)}}
	if !found.Exists || l.at.State == kube.HostedAsleep {
		return out, nil
	}
	access, changed, err := l.access(ctx, client)
	if err != nil {
		return out, err
	}
	out.Changed += changed
	steady, err := l.steady(ctx, client)
	if err != nil {
		return out, err
	}
	out.Conditions = append(out.Conditions, access, steady)
	return out, nil
}

func (l planeLook) ready(found kamaji.Status) reconcile.Condition {
	c := reconcile.Condition{Type: "control_plane_ready", Status: reconcile.True, Reason: "ready", Threshold: 2}
	if !found.Ready {
		c.Status, c.Reason, c.Fault, c.RetryHelps = reconcile.False, "not_ready", reconcile.FaultDependency, true
		c.Message = "The control plane is not ready in the management cluster: " + strings.TrimSuffix(found.Why, ".") + "."
	}
	if !found.Exists {
		c.Reason, c.RetryHelps = "gone", false
	}
	return c
}

// asAsked compares what the object in the management cluster asks for with the row.
func (l planeLook) asAsked(found kamaji.Status) reconcile.Condition {
	c := reconcile.Condition{Type: "as_asked", Status: reconcile.True, Reason: "as_asked", Threshold: 1}
	wanted := l.at.plane()
	if l.at.State == kube.HostedAsleep {
		wanted.Replicas = 0
	}
	var differs []string
	if found.Exists && found.Wanted != wanted.Version {
		differs = append(differs, fmt.Sprintf("version %s instead of %s", found.Wanted, wanted.Version))
	}
	if found.Exists && found.Asked != wanted.Replicas {
		differs = append(differs, fmt.Sprintf("%d replicas instead of %d", found.Asked, wanted.Replicas))
	}
	if found.Exists && wanted.Konnectivity && wanted.Replicas > 0 && !found.Konnectivity {
		differs = append(differs, "no konnectivity, so that logs and exec reach no pod")
	}
	if len(differs) > 0 {
		c.Status, c.Reason, c.Fault = reconcile.False, "differs", reconcile.FaultUser
		c.Message = "The management cluster has " + strings.Join(differs, ", ") + "."
	}
	return c
}

// access keeps authority and certificate as Kamaji has them now: it renews both by itself.
func (l planeLook) access(ctx context.Context, client *kamaji.Client) (reconcile.Condition, int64, error) {
	c := reconcile.Condition{Type: "access_kept", Status: reconcile.True, Reason: "kept", Threshold: 2}
	found, err := client.Access(ctx, l.at.plane(), l.at.management.HostedEndpoint(l.at.Slot))
	if err != nil {
		c.Status, c.Reason, c.Message, c.Fault, c.RetryHelps = reconcile.False, "unreadable", sentence(err), reconcile.FaultDependency, kamaji.Heals(err)
		return c, 0, nil
	}
	now := l.at.cluster
	if found.CA == now.CA && found.Certificate == now.AdminCertificate && found.Endpoint == now.Endpoint {
		return c, 0, nil
	}
	c.Message = "The certificate of Kloigos was renewed by Kamaji."
	if found.CA != now.CA {
		c.Message = "The authority of the cluster is another one: kubeconfigs that were issued before do not know it."
	}
	if l.observe {
		c.Status, c.Reason, c.Fault = reconcile.False, "differs", reconcile.FaultUser
		return c, 0, nil
	}
	err = l.DB.InTx(ctx, func(tx *db.Tx) error { return kube.SetHostedAccess(ctx, tx, l.Keys, now.ID, found) })
	return c, 1, err
}

func (l planeLook) steady(ctx context.Context, client *kamaji.Client) (reconcile.Condition, error) {
	c := reconcile.Condition{Type: "steady", Status: reconcile.True, Reason: "steady", Threshold: 1}
	fresh, loops, err := client.Churn(ctx, l.at.plane(), time.Now())
	if err != nil {
		return c, &reconcile.Failure{Reason: "management_cluster_refused", Message: sentence(err), Fault: reconcile.FaultDependency, RetryHelps: kamaji.Heals(err), Err: err}
	}
	if loops {
		c.Status, c.Reason, c.Fault = reconcile.False, "restarts", reconcile.FaultDependency
		c.Message = fmt.Sprintf("The control plane got %d ReplicaSets within half an hour: something restarts it again and again.", fresh)
	}
	return c, nil
}

// sleeping tells whether the control plane of a cluster is not expected to answer now.
func (c Config) sleeping(ctx context.Context, cluster uuid.UUID) (bool, error) {
	h, err := kube.HostedOf(ctx, c.DB.Reader, cluster)
	if errors.Is(err, fault.ErrNotFound) {
		return false, nil
	}
	return err == nil && h.Quiet(), err
}

// CheckManagement looks at a management cluster at once, for whoever asks. why is a sentence; "" if all is well.
func (c Config) CheckManagement(ctx context.Context, m kube.Management) (version, why string, err error) {
	client, err := c.manage(m)
	if err != nil {
		return "", "", err
	}
	defer client.Close()
	version, err = client.Check(ctx, m.DataStore)
	if err != nil {
		return version, sentence(err), nil
	}
	return version, "", nil
}
