package app

import (
	"context"
	"encoding/json"
	"net/netip"
	"slices"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/area/iam/iamwork"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubehttp"
	"kloigos/backend/internal/area/kube/kubework"
	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/worker"
)

// kubeArea is Kubernetes clusters on whole hosts.
func kubeArea(p Parts) Area {
	config := kubework.Config{
		DB: p.DB, Keys: p.Keyset, Kinds: p.Kinds, Check: func(a netip.Addr) error { return domain.CheckTarget(a, p.Targets) },
		NameOf:   dns.NameOfCluster,
		Managers: egress.Rule{Allowed: p.Config.ManagementNetworks, Denied: p.Config.DeniedNetworks},
		Play: func(ctx context.Context, a *work.Attempt, play kubework.Play) (json.RawMessage, error) {
			return p.Play(ctx, a, worker.HostPlay(play))
		},
	}
	return Area{
		Nouns:    []work.Noun{kube.ClusterJobs, kube.HostedJobs},
		Kinds:    append(kube.Kinds(), kube.HostedKinds()...),
		Handlers: handlers(kubework.Handlers(config), kubework.HostedHandlers(config)),
		Routes: routes(
			kubehttp.Routes(kubehttp.Parts{Engine: p.Engine, Keys: p.Keyset, Kinds: p.Kinds, Issue: config.Issue, IssueAdmin: config.IssueAdmin}),
			kubehttp.HostedRoutes(kubehttp.HostedParts{Engine: p.Engine, Keys: p.Keyset, Kinds: p.Kinds, Rule: config.Managers, Check: config.CheckManagement}),
		),
		Policies: slices.Concat(kubework.Policies(config), kubework.NamespacePolicies(config), kubework.HealthPolicies(config), kubework.SnapshotPolicies(config), kubework.HostedPolicies(config)),
		InFlight: []reconcile.Deadlines{kube.ClustersInFlight(), kube.HostedInFlight()},
		NotReconciled: map[string]string{
			"cluster_binding":  "the policy of its cluster keeps it",
			"cluster_snapshot": "the policy of its cluster takes and expires it",
			"kube_version":     "an operator writes it; the policy of a cluster looks at what its nodes have",
		},
	}
}

// contract is what the jobs that run a playbook give to it; false if no job runs one of this name.
func contract(name string) (bundle.Contract, bool) {
	if name == iam.AdminKeyPlaybook {
		return bundle.Contract{Entries: map[string]bundle.Entry{
			"playbook.yml": {Role: name, Variables: bundle.VariablesOf(iamwork.AdminKeyVars{}, nil)},
		}}, true
	}
	files, ok := kubework.Playbooks()[name]
	if !ok {
		return worker.Contract(name)
	}
	c := bundle.Contract{Entries: map[string]bundle.Entry{}}
	for file, run := range files {
		c.Entries[file] = bundle.Entry{Role: run.Role, Variables: bundle.VariablesOf(run.Vars, nil)}
	}
	return c, true
}
