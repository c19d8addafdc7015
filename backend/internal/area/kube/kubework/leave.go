package kubework

import (
	"context"
	"fmt"
	"slices"
	"time"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/work"
)

// drainPause is how often a node that is drained is looked at.
const drainPause = 2 * time.Second

// leaveSteps are the steps by which nodes leave a cluster, and by which it ends.
type leaveSteps struct{ steps }

// leaving are the nodes that a job takes out of the cluster.
func (w world) leaving() []kube.Node {
	return slices.DeleteFunc(slices.Clone(w.nodes), func(n kube.Node) bool { return n.State != kube.NodeLeaving })
}

// drain empties the nodes that leave. A machine that was declared lost runs nothing any more.
func (s leaveSteps) drain(ctx context.Context, a *work.Attempt) error {
	w, client, err := s.loadOpen(ctx, a)
	if err != nil {
		return err
	}
	defer client.Close()
	for _, n := range w.leaving() {
		if n.HostState == kube.HostLost {
			a.Log.Note("%s was declared lost; nothing runs there.", n.Name)
			continue
		}
		if err := drainNode(ctx, client, n.Name); err != nil {
			return err
		}
		a.Log.Note("%s is drained.", n.Name)
	}
	return nil
}

// drainNode keeps new pods off a node and evicts those that are there; a work.NotYet while some are left.
func drainNode(ctx context.Context, client *kubeapi.Client, name string) error {
	known, err := client.Cordon(ctx, name, true)
	if err != nil {
		return notYet(ctx, drainPause, err)
	}
	if !known {
		return nil // it has never joined, or is out already
	}
	left, err := client.Evict(ctx, name)
	if err != nil {
		return notYet(ctx, drainPause, err)
	}
	if len(left) > 0 {
		return work.NotYet(drainPause, fmt.Sprintf("%d pods are left on %s; %s", len(left), name, left[0]))
	}
	return nil
}

// remove takes nodes out of etcd and out of the cluster. A member of etcd goes only if the others can decide without it, as
// they themselves say.
func (s leaveSteps) remove(ctx context.Context, a *work.Attempt) error {
	w, client, err := s.loadOpen(ctx, a)
	if err != nil {
		return err
	}
	defer client.Close()
	for _, n := range w.leaving() {
		if n.Role == kube.ControlPlane {
			if err := s.leaveEtcd(ctx, a, w, n); err != nil {
				return err
			}
		}
		if err := client.DeleteNode(ctx, n.Name); err != nil {
			return notYet(ctx, apiPause, err)
		}
	}
	return nil
}

func (s leaveSteps) leaveEtcd(ctx context.Context, a *work.Attempt, w world, n kube.Node) error {
	speaker, err := w.speaker()
	if err != nil {
		return err
	}
	members, err := s.etcd(ctx, a, speaker)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(members, func(m member) bool { return m.isNode(n) })
	if at < 0 {
		return nil
	}
	var others, ready int
	for i, m := range members {
		if i == at || m.Learner {
			continue
		}
		others++
		if m.Healthy {
			ready++
		}
	}
	if members[at].Learner {
		return s.removeMember(ctx, a, speaker, n)
	}
	if err := kube.KeepsQuorum(n.Name, others, ready, members[at].Healthy); err != nil {
		return &work.Error{Code: "etcd_quorum", Message: err.Error(), NextStep: "Mend the other control planes, then retry the job."}
	}
	a.Log.Note("Taking %s out of etcd, which has %d other members.", n.Name, others)
	return s.removeMember(ctx, a, speaker, n)
}

// resetLeaving takes Kubernetes off the hosts of nodes that are out of the cluster, and forgets the nodes.
func (s leaveSteps) resetLeaving(ctx context.Context, a *work.Attempt) error {
	w, err := s.load(ctx, a)
	if err != nil {
		return err
	}
	for _, n := range w.leaving() {
		if err := s.clean(ctx, a, w, n); err != nil {
			return err
		}
	}
	return nil
}

func (s leaveSteps) resetWorkers(ctx context.Context, a *work.Attempt) error {
	w, err := s.load(ctx, a)
	if err != nil {
		return err
	}
	return s.reset(ctx, a, w, w.nodesOfRole(kube.Worker))
}

func (s leaveSteps) resetControlPlane(ctx context.Context, a *work.Attempt) error {
	w, err := s.load(ctx, a)
	if err != nil {
		return err
	}
	if err := s.reset(ctx, a, w, w.nodesOfRole(kube.ControlPlane)); err != nil {
		return err
	}
	a.Outcome("Kubernetes was taken off %d hosts.", len(w.nodes))
	a.AtSuccess(func(ctx context.Context, tx *db.Tx) error { return kube.Forget(ctx, tx, w.ID) })
	return nil
}

// reset takes Kubernetes off the hosts of nodes.
func (s leaveSteps) reset(ctx context.Context, a *work.Attempt, w world, nodes []kube.Node) error {
	for _, n := range nodes {
		if n.State == kube.NodeLeft {
			continue
		}
		if err := s.takeOff(ctx, a, w, n); err != nil {
			return err
		}
		if err := s.move(ctx, a, n, kube.NodeHasLeft); err != nil {
			return err
		}
	}
	return nil
}
