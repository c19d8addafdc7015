package kubework

import (
	"context"
	"fmt"
	"strings"
	"time"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
)

// namespacePause is how long the end of a namespace is waited for between two looks.
const namespacePause = 5 * time.Second

// NamespacePolicies keep the namespaces of clusters.
func NamespacePolicies(config Config) []reconcile.Policy {
	return []reconcile.Policy{{
		Name: "cluster_namespace", Noun: kube.NamespaceNoun,
		Why:      "namespaces and their quotas change in the cluster itself, and a deletion takes as long as what is in one",
		Interval: policyInterval, Jitter: 30 * time.Second, Timeout: time.Minute, Triggers: []string{kube.NamespaceNoun}, Observes: true,
		Objects: reconcile.Rows(config.DB, kube.NamespaceIDs),
		Run: reconcile.Look(config.DB, kube.NamespaceByID, func(ctx context.Context, item reconcile.Item, n kube.Namespace) (reconcile.Outcome, error) {
			c, err := kube.ClusterByID(ctx, config.DB.Reader, n.ClusterID)
			if err != nil {
				return reconcile.Outcome{}, fmt.Errorf("load the cluster of namespace %s: %w", item.ObjectID, err)
			}
			if quiet, err := config.sleeping(ctx, c.ID); quiet || err != nil || !c.Serves() {
				return reconcile.Outcome{}, err // it is looked at again once the cluster serves
			}
			client, err := config.open(c)
			if err != nil {
				return reconcile.Outcome{}, err
			}
			defer client.Close()
			return space{config, n, client, item.Observe}.run(ctx)
		}),
	}}
}

// space is one look at one namespace.
type space struct {
	Config
	row     kube.Namespace
	client  *kubeapi.Client
	observe bool
}

func (s space) run(ctx context.Context) (reconcile.Outcome, error) {
	found, err := s.client.Namespaces().Find(ctx, s.row.Name)
	if err != nil {
		return reconcile.Outcome{}, namespaceRefused(err)
	}
	if s.row.DeletingAt != nil {
		return s.end(ctx, found)
	}
	c := reconcile.Condition{Type: "namespace_kept", Status: reconcile.True, Reason: "kept", Threshold: 1}
	out := func(changed int) reconcile.Outcome {
		return reconcile.Outcome{Changed: int64(changed), Conditions: []reconcile.Condition{c}}
	}
	switch {
	case found.Deleting:
		c.Status, c.Reason, c.Fault, c.RetryHelps = reconcile.False, "deleted_there", reconcile.FaultUser, true
		c.Message = "Somebody deleted the namespace in the cluster. It is made again once it is gone. " + strings.Join(found.Left, " ")
		o := out(0)
		o.Again = namespacePause
		return o, nil
	case found.Exists && found.Owner != s.row.ID.String() && !s.row.Adopt:
		c.Status, c.Reason, c.Fault = reconcile.False, "foreign", reconcile.FaultUser
		c.Message = "The cluster has a namespace of this name that Kloigos did not make. Nothing is changed in it before you adopt it."
		return out(0), nil
	}
	differs, err := s.client.Namespaces().Keep(ctx, s.wanted(found.UID), s.observe)
	if err != nil {
		return out(len(differs)), namespaceRefused(err)
	}
	c.Message = strings.Join(differs, " ")
	if s.observe && len(differs) > 0 {
		c.Status, c.Reason, c.Fault = reconcile.False, "differs", reconcile.FaultUser
		return out(0), nil
	}
	if !found.Exists && len(differs) > 0 { // bindings of this namespace wait for it
		err = s.DB.InTx(ctx, func(tx *db.Tx) error { tx.Touch(kube.ClusterNoun, s.row.ClusterID); return nil })
	}
	return out(len(differs)), err
}

func (s space) wanted(uid string) kubeapi.Namespace {
	return kubeapi.Namespace{ID: s.row.ID.String(), UID: uid, Name: s.row.Name, Labels: s.row.Labels, Hard: s.row.Hard(), Defaults: s.row.Defaults()}
}

// end deletes a namespace, or lets go of it, and waits until that is done.
func (s space) end(ctx context.Context, found kubeapi.FoundNamespace) (reconcile.Outcome, error) {
	mine := found.Exists && found.Owner == s.row.ID.String()
	c := reconcile.Condition{
		Type: "namespace_gone", Status: reconcile.False, Reason: "deleting", Threshold: 1, Fault: reconcile.FaultDependency, RetryHelps: true,
		Message: "The cluster is deleting the namespace. " + strings.Join(found.Left, " "),
	}
	waits := reconcile.Outcome{Again: namespacePause, Conditions: []reconcile.Condition{c}}
	switch {
	case mine && s.observe:
		waits.Again, waits.Conditions[0].Message = 0, "The policy only observes, and deletes nothing."
		return waits, nil
	case mine && s.row.Leave:
		if err := s.client.Namespaces().Leave(ctx, s.row.Name, found.UID); err != nil {
			return reconcile.Outcome{}, namespaceRefused(err)
		}
	case mine:
		if !found.Deleting {
			if err := s.client.Namespaces().Delete(ctx, s.row.Name, found.UID); err != nil {
				return reconcile.Outcome{}, namespaceRefused(err)
			}
		}
		return waits, nil
	case s.observe:
		return reconcile.Outcome{}, nil
	}
	err := s.DB.InTx(ctx, func(tx *db.Tx) error { return kube.ForgetNamespace(ctx, tx, s.row.ID) })
	return reconcile.Outcome{Changed: 1, Gone: true}, err
}

func namespaceRefused(err error) error {
	return &reconcile.Failure{Reason: "cluster_refused", Message: err.Error(), Fault: reconcile.FaultDependency, RetryHelps: kubeapi.Heals(err), Err: err}
}
