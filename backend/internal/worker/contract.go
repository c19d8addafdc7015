package worker

import (
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/playbook"
)

// Contract is what the jobs that run a playbook give to it and want of it; false if no job runs one of this name. It
// is read off the very structs that fill the variables.
func Contract(name string) (playbook.Contract, bool) {
	bootstrap := playbook.Entry{Role: "host_bootstrap", Variables: playbook.VariablesOf(inputs.HostBootstrap{}, nil)}
	main := func(vars any, values map[string][]string) playbook.Entry {
		return playbook.Entry{Role: name, Variables: playbook.VariablesOf(vars, values)}
	}
	entries := map[string]map[string]playbook.Entry{
		"host_probe":   {"playbook.yml": main(struct{}{}, nil)},
		"host_measure": {"playbook.yml": main(inputs.HostMeasure{}, nil)},
		"host_initialize": {
			"bootstrap.yml": bootstrap,
			"playbook.yml":  main(inputs.HostInitialize{}, map[string][]string{"host_initialize_profile": {string(domain.ProfileMinimal), string(domain.ProfileStandard), string(domain.ProfileBuild)}}),
		},
		"host_decommission": {"bootstrap.yml": bootstrap, "playbook.yml": main(inputs.HostDecommission{}, nil)},
		"unit_allocate":     {"playbook.yml": main(inputs.UnitAllocate{}, nil)},
		"unit_deallocate":   {"playbook.yml": main(inputs.UnitDeallocate{}, nil)},
	}[name]
	return playbook.Contract{Entries: entries}, entries != nil
}
