package app

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/playbook"
	"kloigos/backend/internal/area/playbook/playbookhttp"
	"kloigos/backend/internal/area/playbook/playbookwork"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/reconcile"
)

// playbookArea is deliveries of versions of playbooks.
func playbookArea(p Parts) Area {
	return Area{
		Routes:   playbookhttp.Routes(playbookhttp.Parts{Engine: p.Engine, Playable: playable()}),
		Policies: []reconcile.Policy{playbookwork.Policy(playbookwork.Config{DB: p.DB, Proof: playbookProof(p)})},
	}
}

// playable are the playbooks that jobs of one host play.
func playable() (names []string) {
	for _, j := range domain.JointTable {
		if j.Playbook != "" && !slices.Contains(names, j.Playbook) {
			names = append(names, j.Playbook)
		}
	}
	return names
}

// playbookProof asks for a probe, or for the plans that also the cross-check of drift makes. Other playbooks are proven by the jobs
// that people ask for.
func playbookProof(p Parts) playbook.Proof {
	by := audit.Actor{Kind: audit.Policy, Name: playbookwork.Deliveries}
	ask := func(ctx context.Context, name string, workspace, host, allocation uuid.UUID) (asked bool, err error) {
		set, _ := domain.JointOf(domain.KindHostInitialize)
		unit, _ := domain.JointOf(domain.KindUnitAllocate)
		probe, _ := domain.JointOf(domain.KindHostsProbe)
		switch {
		case name == probe.Playbook:
			_, err = p.Probe(ctx, workspace, []uuid.UUID{host})
		case name == set.Playbook:
			_, err = p.CrossCheck(ctx, by, host, uuid.Nil)
		case name == unit.Playbook && allocation != uuid.Nil:
			_, err = p.CrossCheck(ctx, by, host, allocation)
		default:
			return false, nil
		}
		return err == nil, err
	}
	return playbook.Proof{
		Ask: ask,
		Innocent: []string{
			domain.ErrCodeUnreachable, domain.ErrCodeHostKeyChanged, domain.ErrCodeSudoRefused, domain.ErrCodeFenced, domain.ErrCodeNoFence,
			domain.ErrCodeFenceUnchecked, domain.ErrCodeCancelled, domain.ErrCodeKilled, domain.ErrCodeInternal, domain.ErrCodeDeadline,
			domain.ErrCodeHostDiffers, domain.ErrCodeSuperseded, domain.ErrCodeAccessDenied, domain.ErrCodeAccountClosed,
			domain.ErrCodeTargetDenied, domain.ErrCodeDuplicate, domain.ErrCodePlanStale, domain.ErrCodeMachineLost, domain.ErrCodeIdentityTaken,
			domain.ErrCodeAddressOnHost,
		},
	}
}
