package kubework

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
	"kloigos/backend/internal/kernel/reconcile"
)

// versions holds what kubelets tell of themselves against the rows. An upgrade that is not finished is a cause for a degraded
// cluster, also where all nodes are ready.
func (l look) versions(ctx context.Context, client *kubeapi.Client) (c reconcile.Condition, cause string, err error) {
	c = reconcile.Condition{Type: "versions_match", Status: reconcile.True, Reason: "match", Threshold: 2}
	if l.cluster.Hosted { // its workers may lag behind a control plane that was upgraded
		return c, "", nil
	}
	if l.cluster.TargetVersion != "" {
		c.Status, c.Reason, c.Fault = reconcile.False, "upgrade_unfinished", reconcile.FaultUser
		c.Message = fmt.Sprintf("The upgrade to %s is not finished. Retry its job, or ask for it again.", l.cluster.TargetVersion)
		return c, c.Message, nil
	}
	rows, err := kube.NodesOf(ctx, l.DB.Reader, l.cluster.ID)
	if err != nil {
		return c, "", fmt.Errorf("load the nodes: %w", err)
	}
	found, err := client.Nodes(ctx)
	if err != nil {
		return c, "", &reconcile.Failure{Reason: "cluster_refused", Message: err.Error(), Fault: reconcile.FaultDependency, RetryHelps: kubeapi.Heals(err), Err: err}
	}
	var told []string
	for _, row := range rows {
		at := slices.IndexFunc(found, func(n kubeapi.Node) bool { return n.Name == row.Name })
		if at >= 0 && row.InCluster() && found[at].Version != "" && found[at].Version != row.HasVersion() {
			told = append(told, fmt.Sprintf("%s has %s, not %s.", row.Name, found[at].Version, row.HasVersion()))
		}
	}
	if len(told) > 0 {
		c.Status, c.Reason, c.Message, c.Fault = reconcile.False, "differ", strings.Join(told[:min(len(told), maxTold)], " "), reconcile.FaultUser
	}
	return c, "", nil
}
