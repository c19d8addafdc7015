package worker

import (
	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/inputs"
)

// Contract is what the jobs that run a playbook give to it and want of it; false if no job runs one of this name. It
// is read off the very structs that fill the variables.
func Contract(name string) (bundle.Contract, bool) {
	bootstrap := bundle.Entry{Role: "host_bootstrap", Variables: bundle.VariablesOf(inputs.HostBootstrap{}, nil)}
	main := func(vars any, values map[string][]string) bundle.Entry {
		return bundle.Entry{Role: name, Variables: bundle.VariablesOf(vars, values)}
	}
	entries := map[string]map[string]bundle.Entry{
		"host_probe":   {"playbook.yml": main(struct{}{}, nil)},
		"host_measure": {"playbook.yml": main(inputs.HostMeasure{}, nil)},
		"host_initialize": {
			"bootstrap.yml": bootstrap,
			"agent.yml":     {Role: "host_agent", Variables: bundle.VariablesOf(inputs.HostAgent{}, nil), Optional: true},
			"playbook.yml":  main(inputs.HostInitialize{}, map[string][]string{"host_initialize_profile": {string(domain.ProfileMinimal), string(domain.ProfileStandard), string(domain.ProfileBuild)}}),
		},
		"host_decommission": {"bootstrap.yml": bootstrap, "playbook.yml": main(inputs.HostDecommission{}, nil)},
		"unit_allocate":     {"playbook.yml": main(inputs.UnitAllocate{}, map[string][]string{"unit_allocate_network": {"host", "unit"}})},
		"unit_deallocate":   {"playbook.yml": main(inputs.UnitDeallocate{}, nil)},
	}[name]
	return bundle.Contract{Entries: entries}, entries != nil
}
