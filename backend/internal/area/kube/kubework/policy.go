package kubework

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
)

// policyInterval is how often a cluster is looked at if nothing of it changes here.
const policyInterval = 5 * time.Minute

// Policies of the area.
func Policies(config Config) []reconcile.Policy {
	return []reconcile.Policy{clusterPolicy(config), certificatesPolicy(config)}
}

// clusterPolicy holds a cluster to its rows: bindings are kept, and what else differs is told.
func clusterPolicy(config Config) reconcile.Policy {
	return config.overClusters(reconcile.Policy{
		Name: "cluster", Why: "bindings, nodes and certificates change in the cluster itself, and without us",
		Interval: policyInterval, Jitter: 30 * time.Second, Timeout: time.Minute,
	}, func(ctx context.Context, c kube.Cluster, observe bool) (reconcile.Outcome, error) {
		if !c.Serves() {
			return reconcile.Outcome{}, nil // its job looks after it
		}
		if quiet, err := config.sleeping(ctx, c.ID); quiet || err != nil {
			return reconcile.Outcome{}, err // nobody expects it to answer
		}
		return look{config, c, observe}.run(ctx)
	})
}

// overClusters completes a policy of clusters: it runs for each, and whenever one is written.
func (c Config) overClusters(p reconcile.Policy, run func(ctx context.Context, cluster kube.Cluster, observe bool) (reconcile.Outcome, error)) reconcile.Policy {
	p.Noun, p.Triggers, p.Observes = kube.ClusterNoun, []string{kube.ClusterNoun}, true
	p.Objects = reconcile.Rows(c.DB, kube.ClusterIDs)
	p.Run = reconcile.Look(c.DB, kube.ClusterByID, func(ctx context.Context, item reconcile.Item, cluster kube.Cluster) (reconcile.Outcome, error) {
		return run(ctx, cluster, item.Observe)
	})
	return p
}

// look is one look at one cluster.
type look struct {
	Config
	cluster kube.Cluster
	observe bool
}

func (l look) run(ctx context.Context) (reconcile.Outcome, error) {
	client, err := l.open(l.cluster)
	if err != nil {
		return reconcile.Outcome{}, err
	}
	defer client.Close()
	out := reconcile.Outcome{Conditions: []reconcile.Condition{l.certificate()}}
	answers := reconcile.Condition{Type: "api_ready", Status: reconcile.True, Reason: "answers", Threshold: 2}
	if err := client.Ready(ctx); err != nil {
		answers.Status, answers.Reason, answers.Message = reconcile.False, "no_answer", fmt.Sprintf("The API server at %s is not ready: %s.", l.cluster.Endpoint, err)
		answers.Fault, answers.RetryHelps = reconcile.FaultDependency, true
		rows, err := kube.NodesOf(ctx, l.DB.Reader, l.cluster.ID)
		if err != nil {
			return out, fmt.Errorf("load the nodes: %w", err)
		}
		if way := kube.WayOut(l.cluster.Name, rows); way != "" {
			answers.Message, answers.RetryHelps = answers.Message+" "+way, false
		}
		out.Conditions = append(out.Conditions, answers)
		if l.cluster.State == kube.ClusterChanging {
			return out, nil
		}
		return l.judge(ctx, out, answers.Message)
	}
	out.Conditions = append(out.Conditions, answers)
	if out.Conditions[0].Reason == endsSoon && !l.observe {
		if err := l.renewAccess(ctx, client, l.cluster); err != nil {
			out.Conditions[0].Message += " The cluster did not renew it: " + err.Error() + "."
		} else {
			out.Changed++
			out.Conditions[0] = reconcile.Condition{Type: "access_certificate", Status: reconcile.True, Reason: "renewed", Threshold: 1}
		}
	}
	bindings, changed, err := l.bindings(ctx, client)
	if err != nil {
		return out, err
	}
	out.Changed += int64(changed)
	if l.cluster.State == kube.ClusterChanging { // who may do what is kept; the rest is its job's
		out.Conditions = append(out.Conditions, bindings)
		return out, nil
	}
	nodes, cause, err := l.nodes(ctx, client)
	if err != nil {
		return out, err
	}
	versions, unfinished, err := l.versions(ctx, client)
	if err != nil {
		return out, err
	}
	cause = strings.TrimSpace(cause + " " + unfinished)
	out.Conditions = append(out.Conditions, bindings, nodes, versions)
	return l.judge(ctx, out, cause)
}

// judge moves the cluster where what was found is another state.
func (l look) judge(ctx context.Context, out reconcile.Outcome, cause string) (reconcile.Outcome, error) {
	if l.observe {
		return out, nil
	}
	var changed bool
	err := l.DB.InTx(ctx, func(tx *db.Tx) (err error) {
		changed, err = kube.Judge(ctx, tx, l.cluster.ID, cause)
		return err
	})
	if changed {
		out.Changed++
	}
	return out, err
}

// endsSoon is the reason of a condition about a certificate that is to be renewed.
const endsSoon = "ends_soon"

func (l look) certificate() reconcile.Condition {
	c := reconcile.Condition{Type: "access_certificate", Status: reconcile.True, Reason: "valid", Threshold: 1}
	ends, err := endOf(l.cluster.AdminCertificate)
	switch {
	case err != nil:
		c.Status, c.Reason, c.Message, c.Fault = reconcile.False, "unreadable", err.Error(), reconcile.FaultOurs
	case time.Until(ends) < kube.RenewBefore:
		c.Status, c.Reason, c.Fault = reconcile.False, endsSoon, reconcile.FaultUser
		c.Message = fmt.Sprintf("The certificate with which Kloigos reaches the cluster ends at %s.", ends.UTC().Format(time.RFC3339))
		if time.Now().After(ends) {
			c.Message = fmt.Sprintf("The certificate with which Kloigos reaches the cluster ended at %s: nothing can be done there any more.", ends.UTC().Format(time.RFC3339))
		}
	}
	return c
}

func (l look) bindings(ctx context.Context, client *kubeapi.Client) (reconcile.Condition, int, error) {
	c := reconcile.Condition{Type: "bindings_kept", Status: reconcile.True, Reason: "kept", Threshold: 1}
	differs, err := l.keepBindings(ctx, client, l.cluster, l.observe)
	if err != nil {
		return c, 0, &reconcile.Failure{Reason: "cluster_refused", Message: err.Error(), Fault: reconcile.FaultDependency, RetryHelps: kubeapi.Heals(err), Err: err}
	}
	if len(differs) > 0 && l.observe {
		c.Status, c.Reason, c.Message, c.Fault = reconcile.False, "differ", strings.Join(differs[:min(len(differs), maxTold)], " "), reconcile.FaultUser
		return c, 0, nil
	}
	c.Message = strings.Join(differs[:min(len(differs), maxTold)], " ")
	return c, len(differs), nil
}

// clusterRoles are the roles of a cluster that those of bindings stand for; every cluster has them.
var clusterRoles = map[string]string{kube.Viewer: "view", kube.Editor: "edit", kube.Admin: "admin"}

// maxTold bounds how many differences one message tells of.
const maxTold = 5

// keepBindings brings our bindings in a cluster to what the rows say, and tells what differed. With observe it only tells.
func (c Config) keepBindings(ctx context.Context, client *kubeapi.Client, cluster kube.Cluster, observe bool) (differs []string, err error) {
	rows, err := kube.BindingsIn(ctx, c.DB.Reader, cluster.ID)
	if err != nil {
		return nil, fmt.Errorf("load the bindings: %w", err)
	}
	shown, err := client.Bindings().ShowsNodes(ctx)
	if err == nil && !shown {
		differs = append(differs, "The role that shows nodes to viewers was missing or changed.")
		if !observe {
			err = client.Bindings().ShowNodes(ctx)
		}
	}
	if err != nil {
		return differs, err
	}
	found, err := client.Bindings().List(ctx)
	if err != nil {
		return differs, err
	}
	spaces, err := c.ownedSpaces(ctx, client, cluster, rows)
	if err != nil {
		return differs, err
	}
	for _, row := range rows {
		if row.Namespace != "" && !spaces[row.Namespace] {
			differs = append(differs, fmt.Sprintf("The binding of %s waits for the namespace %s.", row.Account, row.Namespace))
			continue
		}
		wanted := wantedBinding(row)
		at := slices.IndexFunc(found, wanted.Same)
		if at >= 0 && found[at] == wanted {
			continue
		}
		was := "was missing"
		if at >= 0 {
			was = "was changed"
		}
		differs = append(differs, fmt.Sprintf("The binding of %s %s.", row.Account, was))
		if observe {
			continue
		}
		if err := client.Bindings().Create(ctx, wanted); err != nil {
			return differs, err
		}
	}
	for _, b := range found {
		if slices.ContainsFunc(rows, func(row kube.Binding) bool { return wantedBinding(row).Same(b) }) {
			continue
		}
		differs = append(differs, fmt.Sprintf("A binding of %s was left over.", kubeapi.Clean(b.User)))
		if observe {
			continue
		}
		if err := client.Bindings().Delete(ctx, b); err != nil {
			return differs, err
		}
	}
	return differs, nil
}

func wantedBinding(row kube.Binding) kubeapi.Binding {
	return kubeapi.Binding{ID: row.ID.String(), User: kube.User(row.AccountID), Role: clusterRoles[row.Role], Namespace: row.Namespace}
}

// ownedSpaces tells which of the namespaces that bindings name are ours in the cluster: nothing is written into another one, and
// their own policy makes those that are missing.
func (c Config) ownedSpaces(ctx context.Context, client *kubeapi.Client, cluster kube.Cluster, rows []kube.Binding) (map[string]bool, error) {
	owned := map[string]bool{}
	if !slices.ContainsFunc(rows, func(row kube.Binding) bool { return row.Namespace != "" }) {
		return owned, nil
	}
	spaces, err := kube.NamespacesIn(ctx, c.DB.Reader, cluster.ID)
	if err != nil {
		return nil, fmt.Errorf("load the namespaces: %w", err)
	}
	for _, n := range spaces {
		if !slices.ContainsFunc(rows, func(row kube.Binding) bool { return row.Namespace == n.Name }) {
			continue
		}
		there, err := client.Namespaces().Find(ctx, n.Name)
		if err != nil {
			return nil, err
		}
		owned[n.Name] = there.Owner == n.ID.String() && !there.Deleting
	}
	return owned, nil
}

func (l look) nodes(ctx context.Context, client *kubeapi.Client) (c reconcile.Condition, cause string, err error) {
	c = reconcile.Condition{Type: "nodes_ready", Status: reconcile.True, Reason: "ready", Threshold: 2}
	rows, err := kube.NodesOf(ctx, l.DB.Reader, l.cluster.ID)
	if err != nil {
		return c, "", fmt.Errorf("load the nodes: %w", err)
	}
	found, err := client.Nodes(ctx)
	if err != nil {
		return c, "", &reconcile.Failure{Reason: "cluster_refused", Message: err.Error(), Fault: reconcile.FaultDependency, RetryHelps: kubeapi.Heals(err), Err: err}
	}
	var told []string
	if way := kube.WayOut(l.cluster.Name, rows); way != "" {
		told = append(told, way)
	}
	for _, row := range rows {
		if !row.InCluster() {
			told = append(told, fmt.Sprintf("%s: its job ended while it was %s; retry the job, or remove the node.", row.Name, row.State))
			continue
		}
		on, why := kube.NodeIsReady, whyNotReady(found, row.Name)
		if why != "" {
			on, told = kube.NodeIsNotReady, append(told, row.Name+": "+strings.TrimSuffix(why, ".")+".")
		}
		if l.observe || row.State == kube.NodeJoined && why != "" {
			continue
		}
		if err := l.DB.InTx(ctx, func(tx *db.Tx) error { return kube.MoveNode(ctx, tx, row.ID, on, why) }); err != nil {
			return c, "", err
		}
	}
	for _, n := range found {
		if !slices.ContainsFunc(rows, func(row kube.Node) bool { return row.Name == n.Name }) {
			told = append(told, n.Name+": the cluster has this node, and Kloigos does not know it.")
		}
	}
	if len(told) > 0 {
		c.Status, c.Reason, c.Message, c.Fault = reconcile.False, "not_ready", strings.Join(told[:min(len(told), maxTold)], " "), reconcile.FaultDependency
		cause = c.Message
	}
	return c, cause, nil
}
