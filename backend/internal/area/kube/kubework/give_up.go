package kubework

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kloigos/backend/internal/area/kube"
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
func (s restoreSteps) removeLost(ctx context.Context, a *work.Attempt) error {
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

// lastPlane is the control plane whose member of etcd has most, of those that are left without a quorum. A member that was started without the
// others answers nobody: etcd waits for a leader before it serves.
func (s snapshotSteps) lastPlane(ctx context.Context, a *work.Attempt, w world) (found kube.Node, err error) {
	most, why := int64(-1), ""
	for _, n := range w.reached() {
		if n.Role != kube.ControlPlane {
			continue
		}
		members, err := s.etcd(ctx, a, n)
		if ctx.Err() != nil || work.Waits(err) {
			return kube.Node{}, err
		}
		if err != nil {
			why += fmt.Sprintf(" %s: %s.", n.Name, strings.TrimSuffix(err.Error(), "."))
			continue
		}
		for _, m := range members {
			if m.isNode(n) && m.Size > 0 && !m.Learner && m.Applied > most {
				found, most = n, m.Applied
			}
		}
	}
	if most < 0 {
		return kube.Node{}, &work.Error{Code: "no_member", Message: "No member of etcd that is left answers: one that was started without the others does not." + why, NextStep: "Restore an older snapshot without the control planes that are lost."}
	}
	a.Log.Note("etcd has no quorum. %s has most of those that are left.", found.Name)
	return found, nil
}
