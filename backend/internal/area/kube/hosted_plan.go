package kube

import (
	"context"
	"fmt"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/work"
)

// hostedPlan is what plans of jobs about hosted control planes list by. The management cluster and its port are not part of it: they are
// chosen anew when a plan is applied.
type hostedPlan struct {
	nodesPlan
	Pool         string `json:"pool,omitempty"`
	Replicas     int64  `json:"replicas,omitempty"`
	Konnectivity bool   `json:"konnectivity,omitempty"`
	CoreDNS      bool   `json:"core_dns,omitempty"`
}

// plannedHosted makes the plan of a kind that is about a hosted control plane that is there.
func plannedHosted(list func(ctx context.Context, q db.Reader, s *scene, h Hosted) error) *work.Plan {
	return planned(func(ctx context.Context, q db.Reader, s *scene) (basis any, err error) {
		h, err := HostedByID(ctx, q, s.Object(HostedRole).ID)
		if err != nil {
			return nil, fmt.Errorf("load the hosted control plane of a plan: %w", err)
		}
		return []any{h.State, h.KubeVersion, h.TargetVersion, h.ManagementID}, list(ctx, q, s, h)
	})
}

// hostedCreation lists what makes a cluster with a hosted control plane.
func hostedCreation(_ context.Context, _ db.Reader, s *scene) (any, error) {
	var of hostedPlan
	if err := s.Read(&of); err != nil {
		return nil, err
	}
	note := replicas(of.Replicas)
	if of.Konnectivity {
		note += ", reaches nodes through tunnels that they open"
	}
	if of.CoreDNS {
		note += ", Kamaji sets up CoreDNS"
	}
	s.add(
		work.Change{Task: HostStep, Kind: HostedNoun, Name: of.Name, Action: work.Creates, After: of.Version + " in the pool " + of.Pool, Note: note},
		work.Change{Task: APIStep, Kind: ClusterNoun, Name: of.Name, Action: work.Creates, After: of.Version, Note: "pods in " + of.PodRange + ", services in " + of.ServiceRange},
	)
	s.prepares(of.Comes, of.Version)
	s.joinWorkers(of.Comes, of.Version)
	if len(of.Comes) > 1 {
		for _, c := range of.Comes {
			s.routed(c.Name)
		}
	}
	return nil, nil
}

// hostedDeletion lists what goes with a cluster whose control plane is hosted.
func hostedDeletion(ctx context.Context, q db.Reader, s *scene, h Hosted) error {
	s.resets()
	s.add(work.Change{
		Task: RemovePlaneStep, Kind: HostedNoun, Name: h.Cluster, Action: work.Removes, Before: h.KubeVersion + ", " + replicas(h.Replicas),
		Note: "with its data and its namespace " + h.Namespace + " in the management cluster",
	})
	if err := s.forgetsNames(ctx, q); err != nil {
		return err
	}
	return s.forgets(ctx, q)
}

// hostedUpgrading lists what an upgrade changes.
func hostedUpgrading(_ context.Context, _ db.Reader, s *scene, h Hosted) error {
	var of upgradePlan
	if err := s.Read(&of); err != nil {
		return err
	}
	s.add(work.Change{
		Task: ApplyStep, Kind: HostedNoun, Name: h.Cluster, Action: work.Changes, Before: h.KubeVersion, After: of.To, Note: "its workers stay as they are",
	})
	return nil
}

func hostedFallingAsleep(_ context.Context, _ db.Reader, s *scene, h Hosted) error {
	s.add(work.Change{
		Task: ApplyStep, Kind: HostedNoun, Name: h.Cluster, Action: work.Changes, Before: replicas(h.Replicas), After: replicas(0),
		Note: "nobody can use the cluster then; pods on workers go on, and its data stays",
	})
	return nil
}

func hostedWaking(_ context.Context, _ db.Reader, s *scene, h Hosted) error {
	s.add(work.Change{Task: ApplyStep, Kind: HostedNoun, Name: h.Cluster, Action: work.Changes, Before: replicas(0), After: replicas(h.Replicas)})
	return nil
}

func replicas(n int64) string {
	if n == 1 {
		return "1 replica"
	}
	return fmt.Sprintf("%d replicas", n)
}
