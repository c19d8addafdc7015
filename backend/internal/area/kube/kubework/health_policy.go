package kubework

import (
	"context"
	"encoding/pem"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
	"kloigos/backend/internal/kernel/reconcile"
)

const (
	healthInterval = time.Hour
	// churnWithin and churnMost: more ReplicaSets of one owner within this time are a loop, and no roll-out.
	churnWithin = 30 * time.Minute
	churnMost   = 5
	// storageMost is 80 % of what etcd takes without a flag (2 GiB): beyond that it refuses every write.
	storageMost = 2 << 30 / 10 * 8
)

// HealthPolicies look deeper into clusters than the policy that keeps bindings, and less often.
func HealthPolicies(config Config) []reconcile.Policy {
	return []reconcile.Policy{config.overClusters(reconcile.Policy{
		Name: "cluster_health", Why: "a cluster can answer while its nodes, DNS, network or certificates are broken",
		Interval: healthInterval, Jitter: 5 * time.Minute, Timeout: 2 * time.Minute,
	}, func(ctx context.Context, c kube.Cluster, _ bool) (reconcile.Outcome, error) {
		if quiet, err := config.sleeping(ctx, c.ID); quiet || err != nil || !c.Serves() || c.State == kube.ClusterChanging {
			return reconcile.Outcome{}, err
		}
		nodes, err := kube.NodesOf(ctx, config.DB.Reader, c.ID)
		if err != nil {
			return reconcile.Outcome{}, fmt.Errorf("load the nodes of cluster %s: %w", c.ID, err)
		}
		client, err := config.open(c)
		if err != nil {
			return reconcile.Outcome{}, err
		}
		defer client.Close()
		return reconcile.Outcome{Conditions: health{c, nodes, client}.look(ctx)}, nil
	})}
}

// health is one deep look at one cluster. It changes nothing.
type health struct {
	cluster kube.Cluster
	nodes   []kube.Node
	client  *kubeapi.Client
}

// finding is what one question found: why is "" if all is well, and unknown says why nothing can be said.
type finding struct{ why, unknown string }

func (h health) look(ctx context.Context) []reconcile.Condition {
	var all []reconcile.Condition
	var causes []string
	for _, question := range []struct {
		kind, good string
		ask        func(context.Context) (finding, error)
	}{
		{"authority_served", "served", h.authority},
		{"kubelets_fit", "fit", h.kubelets},
		{"etcd_healthy", "healthy", h.etcd},
		{"network_kept", "kept", h.network},
		{"dns_ready", "ready", h.dns},
		{"pods_reached", "reached", h.pods},
		{"replica_sets_steady", "steady", h.steady},
		{"nodes_remedied", "well", h.remedies},
	} {
		c := reconcile.Condition{Type: question.kind, Status: reconcile.True, Reason: question.good, Threshold: 1}
		switch found, err := question.ask(ctx); {
		case err != nil:
			c.Status, c.Reason, c.Message, c.RetryHelps = reconcile.Unknown, "no_answer", sentence(err), kubeapi.Heals(err)
		case found.unknown != "":
			c.Status, c.Reason, c.Message = reconcile.Unknown, "nothing_to_ask", found.unknown
		case found.why != "":
			c.Status, c.Reason, c.Message, c.Fault = reconcile.False, "differs", found.why, reconcile.FaultDependency
			causes = append(causes, question.kind)
		}
		all = append(all, c)
	}
	c := reconcile.Condition{Type: "health", Status: reconcile.True, Reason: "ready", Threshold: 1}
	if len(causes) > 0 {
		c.Status, c.Reason, c.Fault = reconcile.False, "degraded", reconcile.FaultDependency
		c.Message = "Degraded: " + strings.Join(causes, ", ") + "."
	}
	return append(all, c)
}

// told joins the first of several findings.
func told(all []string) finding {
	return finding{why: strings.Join(all[:min(len(all), maxTold)], " ")}
}

// authority compares the stored authority, which stands in kubeconfigs, with the served one and with the one that pods get.
func (h health) authority(ctx context.Context) (finding, error) {
	pods, err := h.client.Health().Authority(ctx)
	switch {
	case kubeapi.OtherAuthority(err):
		return finding{why: "The API server shows a certificate of another authority than the one in kubeconfigs: they do not work any more."}, nil
	case err != nil:
		return finding{}, err
	case pods == "":
		return finding{unknown: "The certificate of the API server fits. The cluster gives its pods no authority to compare with."}, nil
	case !sameAuthority(pods, h.cluster.CA):
		return finding{why: "Pods get another authority than kubeconfigs: the authority of the cluster was replaced, in part at least."}, nil
	}
	return finding{}, nil
}

// sameAuthority tells whether all certificates of one text (PEM) are in the other.
func sameAuthority(a, b string) bool {
	read := func(text string) (all []string) {
		for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
			all = append(all, string(block.Bytes))
		}
		slices.Sort(all)
		return all
	}
	return slices.Equal(read(a), read(b))
}

// kubelets: one may be three minor versions older than its API server, and never newer.
func (h health) kubelets(ctx context.Context) (finding, error) {
	server, err := h.client.Version(ctx)
	if err != nil {
		return finding{}, err
	}
	var all []string
	if server != h.cluster.KubeVersion && server != h.cluster.TargetVersion {
		all = append(all, fmt.Sprintf("The API server is %s, and the cluster is to be %s.", server, h.cluster.KubeVersion))
	}
	found, err := h.client.Nodes(ctx)
	if err != nil {
		return finding{}, err
	}
	for _, n := range found {
		if why := kube.Skew(server, n.Version); why != "" {
			all = append(all, n.Name+": "+why)
		}
	}
	return told(all), nil
}

func (h health) etcd(ctx context.Context) (finding, error) {
	if way := kube.WayOut(h.cluster.Name, h.nodes); way != "" {
		return finding{why: way}, nil // no API server answers then
	}
	failed, err := h.client.Health().FailedChecks(ctx)
	if err != nil {
		return finding{}, err
	}
	if len(failed) > 0 {
		return finding{why: "Checks of the API server fail: " + strings.Join(failed[:min(len(failed), maxTold)], ", ") + "."}, nil
	}
	size, known, err := h.client.Health().StorageBytes(ctx)
	switch {
	case err != nil:
		return finding{}, err
	case !known:
		return finding{unknown: "etcd answers with a quorum. The API server does not say how large it is."}, nil
	case size > storageMost:
		return finding{why: fmt.Sprintf("etcd has %d MiB. From 2048 MiB on it refuses every write: delete what is not needed, then defragment it.", size>>20)}, nil
	}
	return finding{}, nil
}

// network finds another CNI than ours: by what it runs as, and by addresses that are not of the node's range.
func (h health) network(ctx context.Context) (finding, error) {
	others, err := h.client.Health().OtherNetworks(ctx)
	if err != nil {
		return finding{}, err
	}
	if len(others) > 0 {
		return finding{why: "Another network for pods was installed: " + strings.Join(others, ", ") + "."}, nil
	}
	pods, err := h.client.Health().RunningPods(ctx)
	if err != nil {
		return finding{}, err
	}
	looked := 0
	var all []string
	for _, p := range pods {
		at := slices.IndexFunc(h.nodes, func(n kube.Node) bool { return n.Name == p.Node })
		if p.OfHost || p.Address == "" || at < 0 {
			continue
		}
		looked++
		in, err := netip.ParsePrefix(h.nodes[at].PodRange)
		if a, wrong := netip.ParseAddr(p.Address); err == nil && wrong == nil && !in.Contains(a) {
			all = append(all, fmt.Sprintf("The pod %s/%s on %s has the address %s, which is not of %s.", p.Namespace, p.Name, p.Node, p.Address, in))
		}
	}
	if looked == 0 {
		return finding{unknown: "No pod with an address of its own runs."}, nil
	}
	return told(all), nil
}

func (h health) dns(ctx context.Context) (finding, error) {
	ready, there, err := h.client.Health().DNS(ctx)
	switch {
	case err != nil:
		return finding{}, err
	case !there:
		return finding{unknown: "The cluster has no DNS of its own."}, nil
	case ready == 0:
		return finding{why: "Nobody answers for the DNS of the cluster."}, nil
	}
	return finding{}, nil
}

// noProgram is what is asked for in a pod: it need not be there, and does nothing if it is.
const noProgram = "/bin/true"

// pods reads a log and runs a program through the API server, on one pod of each of a few nodes: both go to the kubelet, which no
// state of a node shows.
func (h health) pods(ctx context.Context) (finding, error) {
	pods, err := h.client.Health().RunningPods(ctx)
	if err != nil {
		return finding{}, err
	}
	var all []string
	asked := map[string]bool{}
	for _, p := range pods {
		if asked[p.Node] || len(asked) == maxTold {
			continue
		}
		asked[p.Node] = true
		if err := h.client.Health().ReadLog(ctx, p); err != nil {
			all = append(all, fmt.Sprintf("The log of %s/%s on %s can't be read: %s", p.Namespace, p.Name, p.Node, sentence(err)))
			continue
		}
		ran, why, err := h.client.Health().Exec(ctx, p, noProgram)
		if err != nil {
			why = sentence(err)
		}
		if !ran {
			all = append(all, fmt.Sprintf("No program can be run in %s/%s on %s: %s", p.Namespace, p.Name, p.Node, why))
		}
	}
	if len(asked) == 0 {
		return finding{unknown: "No pod runs whose log could be read."}, nil
	}
	return told(all), nil
}

func (h health) steady(ctx context.Context) (finding, error) {
	loops, err := h.client.Health().Churn(ctx, time.Now().Add(-churnWithin), churnMost)
	if err != nil || len(loops) == 0 {
		return finding{}, err
	}
	return finding{why: fmt.Sprintf("More than %d ReplicaSets within %s: %s. Something changes them again and again.", churnMost, churnWithin, strings.Join(loops[:min(len(loops), maxTold)], ", "))}, nil
}

// remedies names nodes that are not ready for long, with what can be done: nothing is done about them by itself.
func (h health) remedies(ctx context.Context) (finding, error) {
	var all []string
	if way := kube.WayOut(h.cluster.Name, h.nodes); way != "" {
		return finding{why: way}, nil // before it no node can be replaced
	}
	since, err := h.client.Health().Unready(ctx)
	if err != nil {
		return finding{}, err
	}
	found, tooMany := kube.Remedies(h.nodes, since, time.Now())
	if tooMany {
		all = append(all, fmt.Sprintf("TooManyUnhealthy: %d of %d nodes are not ready.", len(found), len(h.nodes)))
	}
	for _, r := range found {
		all = append(all, fmt.Sprintf("%s is not ready for more than %s. %s.", r.Node.Name, kube.RemedyAfter, strings.TrimSuffix(r.Action, ".")))
	}
	return told(all), nil
}
