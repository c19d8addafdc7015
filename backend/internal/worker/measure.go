package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/store"
)

var hostMeasure = handler{steps: map[string]step{"measure": {do: measure}}}

// measuring is a measurement under way: each sample is stored as it comes.
type measuring struct {
	r       *run
	asked   map[string]bool // ids of units
	tenants []store.Allocation
	taken   int
	bad     error    // why the last one could not be stored; nil if it could
	lacks   []string // what units had lost in the last one, each in a sentence
}

// measure runs one play for all of its samples: whoever looks on sees each of
// them when it is there, and they cost one Ansible.
func measure(ctx context.Context, r *run) error {
	tenants, err := r.w.db.LiveAllocationsOfHost(ctx, r.host.ID)
	if err != nil {
		return fmt.Errorf("load allocations: %w", err)
	}
	if len(tenants) == 0 {
		r.outcome = "No unit has a tenant any more; nothing was measured."
		return nil
	}
	m := &measuring{r: r, asked: map[string]bool{}, tenants: tenants}
	for _, a := range tenants {
		m.asked[a.UnitID.String()] = true
	}
	_, err = r.ansible(ctx, inputs.OfMeasure(tenants, samples(r.job)), false, false, func(e ansible.Event) {
		if e.Kind == ansible.EventResult && e.Host == r.host.Name {
			m.take(ctx, e.Result)
		}
	})
	switch {
	case err != nil:
		return err
	case m.bad != nil:
		return m.bad
	case m.taken == 0:
		return &domain.JobError{Code: domain.ErrCodePlaybookError, Host: r.host.Name, Message: "The playbook returned no measurement."}
	}
	r.outcome = strings.Join(append([]string{fmt.Sprintf("%s measured, %s.", counted(len(tenants), "unit"), counted(m.taken, "sample"))}, m.lacks...), " ")
	r.faults = m.lacks
	return nil
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// take stores one sample. One that makes no sense is left out; only if none
// comes after it that does, the job fails.
func (m *measuring) take(ctx context.Context, result json.RawMessage) {
	found, err := domain.ParseUse(result, m.asked)
	if err != nil {
		m.bad = &domain.JobError{
			Code: domain.ErrCodeHostUnsupported, Host: m.r.host.Name, Message: fmt.Sprintf("The host's report about its units is invalid: %v.", err),
		}
		m.r.log.Note("A sample is left out: %v.", err)
		return
	}
	all := make([]store.UnitUse, 0, len(m.tenants))
	m.lacks = nil
	for _, a := range m.tenants {
		of := found[a.UnitID.String()]
		all = append(all, store.UnitUse{UnitID: a.UnitID, AllocationID: a.ID, Use: of.Use})
		if len(of.Lacks) > 0 {
			m.lacks = append(m.lacks, fmt.Sprintf("Unit %s lacks: %s.", a.Unit, strings.Join(of.Lacks, ", ")))
		}
	}
	if err := m.r.write(ctx, func(tx *store.Tx) error { return tx.SetUse(ctx, all) }); err != nil {
		m.bad = err
		return
	}
	m.bad = nil
	m.taken++
}

// samples is how many a job was asked for, within what a play is given.
func samples(j store.Job) int {
	var args struct {
		Samples int `json:"samples"`
	}
	if err := json.Unmarshal(j.Args, &args); err != nil {
		return 1
	}
	return min(max(args.Samples, 1), domain.MaxSamples)
}
