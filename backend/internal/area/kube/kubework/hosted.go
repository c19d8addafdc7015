package kubework

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kamaji"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/work"
)

// HostedHandlers are what the steps of the jobs about hosted control planes do. Workers are joined by the steps of clusters on
// hosts.
func HostedHandlers(config Config) work.Handlers {
	all := steps{config}
	s, join, leave := hostedSteps{all}, joinSteps{all}, leaveSteps{all}
	change := map[string]work.Handler{kube.ApplyStep: s.apply, kube.HostReadyStep: s.planeReady, kube.APIStep: s.hostedAPI}
	return work.Handlers{
		kube.HostedCreate.Name: {
			kube.HostStep: s.host, kube.HostReadyStep: s.planeReady, kube.AccessStep: s.access, kube.APIStep: s.hostedAPI,
			kube.PrepareStep: join.prepare, kube.WorkersStep: join.workers, kube.RoutesStep: join.routes, kube.ReadyStep: join.ready,
		},
		kube.HostedDelete.Name:  {kube.ResetWorkersStep: leave.resetWorkers, kube.RemovePlaneStep: s.remove},
		kube.HostedUpgrade.Name: change,
		kube.HostedWake.Name:    change,
		kube.HostedSleep.Name:   {kube.ApplyStep: s.apply, kube.AsleepStep: s.asleep},
	}
}

type hostedSteps struct{ steps }

// site is a hosted control plane with its cluster and the management cluster, read afresh.
type site struct {
	kube.Hosted
	cluster    kube.Cluster
	management kube.Management
}

func (c Config) loadSite(ctx context.Context, q db.Reader, h kube.Hosted) (s site, err error) {
	s.Hosted = h
	if s.cluster, err = kube.ClusterByID(ctx, q, h.ClusterID); err != nil {
		return s, fmt.Errorf("load the cluster: %w", err)
	}
	if s.management, err = kube.ManagementByID(ctx, q, h.ManagementID); err != nil {
		return s, fmt.Errorf("load the management cluster: %w", err)
	}
	return s, nil
}

// plane is what the control plane is to be, but for its replicas while it sleeps.
func (s site) plane() kamaji.Plane {
	version := s.cluster.KubeVersion
	if s.TargetVersion != "" {
		version = s.TargetVersion
	}
	return kamaji.Plane{
		Cluster: s.ClusterID, Namespace: s.Namespace, Name: s.Cluster, Version: version, Replicas: s.Replicas, ServiceType: s.management.ServiceType,
		Address: s.management.Address, Port: s.Port, KonnectivityPort: s.KonnectivityPort, Konnectivity: s.Konnectivity, CoreDNS: s.CoreDNS,
		PodRange: s.cluster.PodRange, ServiceRange: s.cluster.ServiceRange, DataStore: s.management.DataStore,
	}
}

// manage makes a client of a management cluster.
func (c Config) manage(m kube.Management) (*kamaji.Client, error) {
	reach, err := m.OpenReach(c.Keys)
	if err != nil {
		return nil, err
	}
	return kamaji.New(reach, c.Managers)
}

// withClient loads what an attempt is about, and runs something with a client of the management cluster.
func (s hostedSteps) withClient(ctx context.Context, a *work.Attempt, do func(client *kamaji.Client, at site) error) error {
	h, err := kube.HostedByID(ctx, a.DB.Reader, a.Object(kube.HostedRole).ID)
	if err != nil {
		return fmt.Errorf("load the hosted control plane: %w", err)
	}
	at, err := s.loadSite(ctx, a.DB.Reader, h)
	if err != nil {
		return err
	}
	client, err := s.manage(at.management)
	if err != nil {
		return err
	}
	defer client.Close()
	return do(client, at)
}

// planePause is how often a management cluster is looked at while a job waits for it.
const planePause = 5 * time.Second

// later looks again after an error that may heal, and fails with the reason otherwise.
func later(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case kamaji.Heals(err) && !isForeign(err):
		return work.NotYet(planePause, err.Error())
	}
	return refusedBy(err)
}

func isForeign(err error) bool {
	var foreign *kamaji.Foreign
	return errors.As(err, &foreign)
}

func refusedBy(err error) error {
	next := "Find out why in the management cluster, then retry the job."
	var foreign *kamaji.Foreign
	if errors.As(err, &foreign) {
		next = "Delete or rename it there if nobody needs it, then retry the job."
	} else if kubeapi.Is(err, 409) {
		next = "Somebody else changed fields of the control plane. Give them back in the management cluster, then retry the job."
	}
	return &work.Error{Code: "management_cluster_refused", Message: fmt.Sprintf("The management cluster refused: %s.", err), NextStep: next}
}

// host makes namespace and control plane. Their names have been in the row since the job was asked for, so that whatever an
// attempt before left is found by name and label, and taken up.
func (s hostedSteps) host(ctx context.Context, a *work.Attempt) error {
	return s.withClient(ctx, a, func(client *kamaji.Client, at site) error {
		if _, err := client.Check(ctx, at.management.DataStore); err != nil {
			return later(ctx, err)
		}
		if err := client.Prepare(ctx, at.plane()); err != nil {
			return later(ctx, err)
		}
		return later(ctx, client.Apply(ctx, at.plane()))
	})
}

// apply tells the management cluster what a control plane is to be now.
func (s hostedSteps) apply(ctx context.Context, a *work.Attempt) error {
	return s.withClient(ctx, a, func(client *kamaji.Client, at site) error {
		plane := at.plane()
		if a.Kind == kube.HostedSleep.Name {
			plane.Replicas = 0
		}
		return later(ctx, client.Apply(ctx, plane))
	})
}

func (s hostedSteps) planeReady(ctx context.Context, a *work.Attempt) error {
	return s.withClient(ctx, a, func(client *kamaji.Client, at site) error {
		found, err := client.Look(ctx, at.plane())
		switch wanted := at.plane(); {
		case err != nil:
			return later(ctx, err)
		case !found.Exists:
			return &work.Error{Code: "control_plane_gone", Message: "The management cluster has no such control plane any more.", NextStep: "Somebody deleted it there, with its data. Delete the cluster."}
		case !found.Ready:
			return work.NotYet(planePause, "the control plane is not ready: "+found.Why)
		case found.Version != wanted.Version || found.Asked != wanted.Replicas:
			return work.NotYet(planePause, fmt.Sprintf("the control plane has %s and %d replicas, and is to have %s and %d", found.Version, found.Asked, wanted.Version, wanted.Replicas))
		}
		return nil
	})
}

func (s hostedSteps) asleep(ctx context.Context, a *work.Attempt) error {
	return s.withClient(ctx, a, func(client *kamaji.Client, at site) error {
		found, err := client.Look(ctx, at.plane())
		switch {
		case err != nil:
			return later(ctx, err)
		case found.Asked > 0:
			return &work.Error{Code: "control_plane_changed", Message: fmt.Sprintf("Somebody gave the control plane %d replicas meanwhile.", found.Asked)}
		case found.Replicas > 0:
			return work.NotYet(planePause, fmt.Sprintf("%d pods of the control plane are left", found.Replicas))
		}
		a.Outcome("The control plane sleeps. Its data stays in the data store.")
		return nil
	})
}

// access takes over what Kamaji made: the authority, and our own access, sealed.
func (s hostedSteps) access(ctx context.Context, a *work.Attempt) error {
	return s.withClient(ctx, a, func(client *kamaji.Client, at site) error {
		found, err := client.Access(ctx, at.plane(), at.management.HostedEndpoint(at.Slot))
		if err != nil {
			return later(ctx, err)
		}
		return s.record(ctx, a, func(tx *db.Tx) error { return kube.SetHostedAccess(ctx, tx, s.Keys, at.ClusterID, found) })
	})
}

// hostedAPI asks the API server itself: a control plane that nobody reaches still reads ready in its management cluster.
func (s hostedSteps) hostedAPI(ctx context.Context, a *work.Attempt) error {
	w, err := s.load(ctx, a)
	if err != nil {
		return err
	}
	h, err := kube.HostedByID(ctx, a.DB.Reader, a.Object(kube.HostedRole).ID)
	if err != nil {
		return fmt.Errorf("load the hosted control plane: %w", err)
	}
	client, err := s.open(w.Cluster)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.Ready(ctx); err != nil {
		return notYet(ctx, apiPause, err)
	}
	version, err := client.Version(ctx)
	if err != nil {
		return notYet(ctx, apiPause, err)
	}
	if err := s.versionFits(w, h, version); err != nil {
		return err
	}
	if len(w.nodes) > 0 {
		if err := client.ClusterInfo(ctx); err != nil {
			return work.NotYet(apiPause, "Kamaji has not made what nodes join with: "+err.Error())
		}
	}
	if _, err := s.keepBindings(ctx, client, w.Cluster, false); err != nil {
		return notYet(ctx, apiPause, err)
	}
	a.Outcome("The API server answers at %s with %s.", w.Endpoint, version)
	if a.Kind == kube.HostedUpgrade.Name {
		return s.record(ctx, a, func(tx *db.Tx) error { return kube.SetUpgraded(ctx, tx, h) })
	}
	return nil
}

// versionFits holds the version that an API server says against the one that it is to have, and against that of its kubelets.
func (s hostedSteps) versionFits(w world, h kube.Hosted, version string) error {
	if h.TargetVersion != "" && version != h.TargetVersion {
		return work.NotYet(apiPause, fmt.Sprintf("the API server still has %s", version))
	}
	if len(w.nodes) == 0 {
		return nil
	}
	if err := kube.KubeletFits(w.version.Name, version); err != nil {
		return &work.Error{
			Code: "kubelet_too_new", Message: fmt.Sprintf("No worker can join: %s.", err),
			NextStep: "Give the catalog a version that the management cluster can run, and make the cluster with it.",
		}
	}
	return nil
}

// remove takes a control plane out of its management cluster, and forgets the cluster once nothing is left there.
func (s hostedSteps) remove(ctx context.Context, a *work.Attempt) error {
	return s.withClient(ctx, a, func(client *kamaji.Client, at site) error {
		left, err := client.Delete(ctx, at.plane())
		if err != nil {
			return later(ctx, err)
		}
		if left != "" {
			return work.NotYet(planePause, left)
		}
		a.Outcome("The control plane is gone from its management cluster, with its data.")
		a.AtSuccess(func(ctx context.Context, tx *db.Tx) error { return kube.ForgetHosted(ctx, tx, at.Hosted) })
		return nil
	})
}
