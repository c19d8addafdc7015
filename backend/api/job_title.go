package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// jobTitle names a kind of job.
type jobTitle struct {
	kind string // where no object is at hand: in a filter, say
	// of is sentences about a job. {host}, {hosts}, {unit} and {user} stand for
	// names; the first sentence whose names the job has is its title.
	of []string
}

var jobTitles = map[string]jobTitle{
	"host_probe":         {"Probe host", []string{"Probe host {host}"}},
	"hosts_probe":        {"Probe several hosts", []string{"Probe {hosts}"}},
	"host_measure":       {"Measure usage", []string{"Measure usage on {host}"}},
	"host_initialize":    {"Initialize host", []string{"Initialize host {host}"}},
	"host_relayout":      {"Change layout", []string{"Change layout of {host}"}},
	"host_decommission":  {"Decommission host", []string{"Decommission host {host}"}},
	"unit_allocate":      {"Allocate unit", []string{"Allocate {unit} to {user}", "Allocate {unit}", "Allocate a unit to {user}"}},
	"unit_deallocate":    {"Deallocate unit", []string{"Deallocate {unit} from {user}", "Deallocate {unit}", "Deallocate the unit of {user}"}},
	"allocation_keys":    {"Replace SSH keys", []string{"Replace SSH keys of {user} on {unit}", "Replace SSH keys of {user}"}},
	"allocation_network": {"Move to own network", []string{"Move {unit} of {user} to its own network", "Move the unit of {user} to its own network"}},
	"plan":               {"Check plan", []string{"Check a plan for {unit}", "Check a plan for {host}", "Check a plan"}},
}

// Title says in a sentence what a job does, such as "Initialize host fra2-042".
// Where every sentence lacks a name, it is the kind in words.
func (j Job) Title() string {
	names := map[string]string{"{host}": j.Host, "{unit}": j.Unit, "{user}": j.LoginUser, "{hosts}": hostCount(j.HostCount)}
next:
	for _, title := range jobTitles[j.Kind].of {
		for name, value := range names {
			if value == "" && strings.Contains(title, name) {
				continue next
			}
			title = strings.ReplaceAll(title, name, value)
		}
		return title
	}
	if len(j.Objects) > 0 {
		return JobKindTitle(j.Kind) + " " + j.Objects[0].Name
	}
	return JobKindTitle(j.Kind)
}

func hostCount(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 host"
	default:
		return fmt.Sprintf("%d hosts", n)
	}
}

// JobKindTitle names a kind of job in words.
func JobKindTitle(kind string) string {
	if title, ok := jobTitles[kind]; ok {
		return title.kind
	}
	return strings.ReplaceAll(kind, "_", " ")
}

// JobKinds are all kinds of jobs, by their titles.
func JobKinds() []string {
	return slices.SortedFunc(maps.Keys(jobTitles), func(a, b string) int { return strings.Compare(jobTitles[a].kind, jobTitles[b].kind) })
}

// nameJobs gives the jobs of an area their titles. Each is followed by the name of
// the job's first object where that is at hand.
func nameJobs(titles map[string]string) bool {
	for kind, title := range titles {
		jobTitles[kind] = jobTitle{kind: title}
	}
	return true
}
