package kubework

import (
	"context"
	"fmt"
	"slices"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/work"
)

// givenUp divides the control planes into those that a restore is on, and those that it is without. One that answers again is not given up: it
// has the old data.
func (w world) givenUp(a *work.Attempt) (stay, gone []kube.Node, err error) {
	var args kube.RestoreArgs
	if err := a.Arguments(&args); err != nil {
		return nil, nil, fmt.Errorf("read the arguments of the job: %w", err)
	}
	for _, n := range w.nodesOfRole(kube.ControlPlane) {
		switch {
		case !slices.Contains(args.Without, n.ID):
			stay = append(stay, n)
		case n.MayBeGivenUp():
			gone = append(gone, n)
		default:
			return nil, nil, &work.Error{Code: "restore_host", Message: fmt.Sprintf("The control plane %s is given up, but it is %s and its host is %s.", n.Name, n.State, n.HostState), NextStep: "Declare its host lost, or ask for a restore with it."}
		}
	}
	return stay, gone, nil
}

// removeLost takes what a restore gave up out of the cluster that has the new data, and forgets it. A host that is there is cleaned: a cut join may
// have left something on it.
func (s steps) removeLost(ctx context.Context, a *work.Attempt) error {
	var args kube.RestoreArgs
	if err := a.Arguments(&args); err != nil {
		return fmt.Errorf("read the arguments of the job: %w", err)
	}
	if len(args.Without) == 0 {
		return nil
	}
	w, client, err := s.loadOpen(ctx, a)
	if err != nil {
		return err
	}
	defer client.Close()
	_, gone, err := w.givenUp(a)
	if err != nil {
		return err
	}
	for _, n := range gone {
		if err := client.DeleteNode(ctx, n.Name); err != nil {
			return notYet(ctx, apiPause, err)
		}
		if err := s.clean(ctx, a, w, n); err != nil {
			return err
		}
	}
	if w, err = s.load(ctx, a); err != nil {
		return err
	}
	return s.tellRoutes(ctx, a, w)
}

// clean takes Kubernetes off the host of a node that is out of the cluster, and forgets the node. On a host that was declared lost nothing is done.
func (s steps) clean(ctx context.Context, a *work.Attempt, w world, n kube.Node) error {
	if n.HostState == kube.HostLost {
		a.Log.Note("%s was declared lost; nothing is done there.", n.Name)
	} else {
		a.Log.Note("Taking Kubernetes off %s.", n.Name)
		if _, err := s.Play(ctx, a, Play{Host: n.HostID, Playbook: kube.ResetPlaybook, File: mainFile, Vars: w.resetVars(n)}); err != nil {
			return err
		}
	}
	return s.record(ctx, a, func(tx *db.Tx) error {
		if err := kube.MoveNode(ctx, tx, n.ID, kube.NodeHasLeft, ""); err != nil {
			return err
		}
		return kube.ForgetNode(ctx, tx, n.ID)
	})
}
