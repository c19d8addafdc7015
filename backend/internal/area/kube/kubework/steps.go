package kubework

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/lifecycle"
	"kloigos/backend/internal/kernel/work"

	"github.com/google/uuid"
)

// Handlers are what the steps of the jobs about clusters do.
func Handlers(config Config) work.Handlers {
	all := steps{config}
	join, leave, snapshot := joinSteps{all}, leaveSteps{all}, snapshotSteps{all}
	restore := restoreSteps{snapshot}
	return work.Handlers{
		kube.ClusterCreate.Name: {
			kube.PrepareStep: join.prepare, kube.NameStep: join.dnsName, kube.ControlPlaneStep: join.controlPlane, kube.APIStep: join.api, kube.MembersStep: join.members,
			kube.WorkersStep: join.workers, kube.RoutesStep: join.routes, kube.ReadyStep: join.ready,
		},
		kube.ClusterDelete.Name: {kube.ResetWorkersStep: leave.resetWorkers, kube.ResetStep: leave.resetControlPlane},
		kube.ClusterAddNodes.Name: {
			kube.PrepareStep: join.prepare, kube.MembersStep: join.members, kube.WorkersStep: join.workers, kube.RoutesStep: join.routes, kube.ReadyStep: join.ready,
		},
		kube.ClusterRemoveNode.Name: {
			kube.DrainStep: leave.drain, kube.RemoveStep: leave.remove, kube.ResetHostStep: leave.resetLeaving, kube.ResetStep: leave.resetLeaving, kube.RoutesStep: join.routes, kube.ReadyStep: join.ready,
		},
		kube.ClusterReplaceNode.Name: {
			kube.PrepareStep: join.prepare, kube.MembersStep: join.members, kube.WorkersStep: join.workers, kube.DrainStep: leave.drain, kube.RemoveStep: leave.remove,
			kube.ResetHostStep: leave.resetLeaving, kube.ResetStep: leave.resetLeaving, kube.RoutesStep: join.routes, kube.ReadyStep: join.ready,
		},
		kube.ClusterRenew.Name: {kube.RenewStep: all.renewCertificates},
		kube.ClusterSnapshot.Name: {
			kube.TakeStep: snapshot.takeSnapshot, kube.BringPartsStep: snapshot.bringParts, kube.CheckPartsStep: snapshot.checkParts, kube.ForgetPartsStep: snapshot.forgetSnapshot,
		},
		kube.ClusterRestore.Name: {
			kube.CheckPlanesStep: restore.checkPlanes, kube.SendPartsStep: restore.sendParts, kube.MakeDataStep: restore.restoring(doMake), kube.ExchangeStep: restore.exchange,
			kube.StartStep: restore.restoring(doStart, doSettle, doFinish), kube.APIStep: join.api, kube.RemoveLostStep: restore.removeLost, kube.RestartNodesStep: restore.restartKubelets,
			kube.NodesBackStep: restore.nodesBack,
			"restore":          restore.ofOlderRelease,
		},
		kube.ClusterUpgrade.Name: {
			kube.CheckStep: all.upgrading(upgrade.check), kube.BringStep: all.upgrading(upgrade.bring), kube.UpgradePlanesStep: all.upgrading(upgrade.controlPlanes),
			kube.UpgradeWorkersStep: all.upgrading(upgrade.workers), kube.UpgradeFinishedStep: all.upgrading(upgrade.finish),
		},
	}
}

// steps are what all jobs about clusters share, and the steps of those that need no more.
type steps struct{ Config }

// world is the cluster of an attempt with all that the steps look at, read afresh.
type world struct {
	kube.Cluster
	version kube.Version
	nodes   []kube.Node // control plane first
}

func (s steps) load(ctx context.Context, a *work.Attempt) (w world, err error) {
	if w.Cluster, err = kube.ClusterByID(ctx, a.DB.Reader, a.Object(kube.ClusterRole).ID); err != nil {
		return w, fmt.Errorf("load the cluster: %w", err)
	}
	if w.version, err = kube.FindVersion(ctx, a.DB.Reader, w.KubeVersion); err != nil {
		return w, fmt.Errorf("load the version %s: %w", w.KubeVersion, err)
	}
	if w.nodes, err = kube.NodesOf(ctx, a.DB.Reader, w.ID); err != nil {
		return w, fmt.Errorf("load the nodes: %w", err)
	}
	hosted := a.Object(kube.HostedRole).ID != uuid.Nil // its nodes are workers, if it has any
	if !hosted && (len(w.nodes) == 0 || w.nodes[0].Role != kube.ControlPlane) {
		return w, errors.New("the cluster has no control plane")
	}
	return w, nil
}

// loadOpen is load with a client of the cluster's API server, which the caller closes.
func (s steps) loadOpen(ctx context.Context, a *work.Attempt) (world, *kubeapi.Client, error) {
	w, err := s.load(ctx, a)
	if err != nil {
		return w, nil, err
	}
	client, err := s.open(w.Cluster)
	return w, client, err
}

// nodesOfRole are the nodes of a role.
func (w world) nodesOfRole(role string) []kube.Node {
	return slices.DeleteFunc(slices.Clone(w.nodes), func(n kube.Node) bool { return n.Role != role })
}

// reached are the nodes that are in the cluster and on hosts that plays can reach.
func (w world) reached() []kube.Node {
	return slices.DeleteFunc(slices.Clone(w.nodes), func(n kube.Node) bool { return !n.InCluster() || n.HostState == kube.HostLost })
}

// speaker is a control plane that plays about the whole cluster run on: one that is in it, and ready if any is.
func (w world) speaker() (kube.Node, error) {
	all := slices.DeleteFunc(w.reached(), func(n kube.Node) bool { return n.Role != kube.ControlPlane })
	if len(all) == 0 {
		return kube.Node{}, &work.Error{Code: "no_control_plane", Message: "No control plane of the cluster can be reached.", NextStep: "Bring a control plane back, then retry the job."}
	}
	if at := slices.IndexFunc(all, func(n kube.Node) bool { return n.State == kube.NodeReady }); at >= 0 {
		return all[at], nil
	}
	return all[0], nil
}

// record writes what a step found, if the attempt is still the one that counts.
func (s steps) record(ctx context.Context, a *work.Attempt, f func(tx *db.Tx) error) error {
	return a.DB.InTx(ctx, func(tx *db.Tx) error {
		if err := work.Own(ctx, tx, a.ID, a.Number); err != nil {
			return err
		}
		return f(tx)
	})
}

func (s steps) move(ctx context.Context, a *work.Attempt, n kube.Node, on lifecycle.Event) error {
	return s.record(ctx, a, func(tx *db.Tx) error { return kube.MoveNode(ctx, tx, n.ID, on, "") })
}

// Pauses of the steps that wait.
const (
	apiPause   = 5 * time.Second
	readyPause = 10 * time.Second
)

// notYet looks again after an error of the API server that may heal.
func notYet(ctx context.Context, pause time.Duration, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !kubeapi.Heals(err) {
		return &work.Error{Code: "cluster_refused", Message: fmt.Sprintf("The cluster refused a request: %s.", err), NextStep: "Find out why in the cluster's own logs, then retry the job."}
	}
	return work.NotYet(pause, err.Error())
}

func (s steps) tellRoutes(ctx context.Context, a *work.Attempt, w world) error {
	for _, n := range w.reached() {
		if _, err := s.Play(ctx, a, Play{Host: n.HostID, Playbook: kube.PreparePlaybook, File: routesFile, Vars: w.routesVars(n)}); err != nil {
			return err
		}
	}
	return nil
}

// hasStep tells whether the job of an attempt has a step.
func hasStep(a *work.Attempt, name string) bool {
	return slices.ContainsFunc(a.Steps, func(step work.JobStep) bool { return step.Name == name })
}

func whyNotReady(found []kubeapi.Node, name string) string {
	at := slices.IndexFunc(found, func(n kubeapi.Node) bool { return n.Name == name })
	switch {
	case at < 0:
		return "the cluster does not know it"
	case !found[at].Ready:
		return found[at].Why
	}
	return ""
}

// endpointHost is the host of the endpoint, without its port.
func (w world) endpointHost() string {
	host, _, _ := net.SplitHostPort(w.Endpoint) // kube.ParseEndpoint made it
	return host
}

// takeOff takes Kubernetes off the host of a node. A machine that was declared lost is passed over: nobody reaches it any more.
func (s steps) takeOff(ctx context.Context, a *work.Attempt, w world, n kube.Node) error {
	if n.HostState == kube.HostLost {
		a.Log.Note("%s was declared lost; nothing is done there.", n.Name)
		return nil
	}
	a.Log.Note("Taking Kubernetes off %s.", n.Name)
	_, err := s.Play(ctx, a, Play{Host: n.HostID, Playbook: kube.ResetPlaybook, File: mainFile, Vars: w.resetVars(n)})
	return err
}

// clean takes Kubernetes off the host of a node that is out of the cluster, and forgets the node.
func (s steps) clean(ctx context.Context, a *work.Attempt, w world, n kube.Node) error {
	if err := s.takeOff(ctx, a, w, n); err != nil {
		return err
	}
	return s.record(ctx, a, func(tx *db.Tx) error {
		if err := kube.MoveNode(ctx, tx, n.ID, kube.NodeHasLeft, ""); err != nil {
			return err
		}
		return kube.ForgetNode(ctx, tx, n.ID)
	})
}
