package iam

import (
	"slices"
	"strings"
)

// Role is one of the roles that the product brings.
type Role struct {
	Name  string
	Means string
	// Installation is true for a role that is granted for the installation alone, and
	// false for one that is granted at an organization, a project or a workspace.
	Installation bool
	permits      func(noun, verb string) bool
}

// Names of the roles that the product itself grants.
const (
	RoleOwner                = "owner"
	RoleInstallationOperator = "installation_operator"
)

// privileged are verbs that a member of a team does not need: they destroy, take
// over, or show a secret.
var privileged = []string{"refence", "declare_lost", "decommission", "delete", "confirm", "adopt", "grant", "own", "suspend", "reveal", "restore", "break_glass"}

// identity are the nouns of people and of what they may do.
var identity = []string{"organization", "project", "project.workspace", "organization.member", "organization.role", "organization.ssh_key", "organization.service_account", "organization.invitation", "organization.approval_rule", "project.workspace.host_grant", "project.workspace.dns_zone_grant", "project.workspace.network_grant", "organization.quota", "organization.identity_provider"}

// Roles are all roles of the product, the widest first.
var Roles = []Role{
	{Name: RoleInstallationOperator, Installation: true, permits: func(noun, _ string) bool {
		return strings.HasPrefix(noun, "installation.") || noun == "organization.playbook" || noun == "organization.quota" || noun == "organization.statement"
	}, Means: "Operates the installation: backends, queue, policies, playbooks, organizations and accounts. Sees nothing inside of an organization."},
	{
		Name: RoleOwner, permits: func(string, string) bool { return true },
		Means: "May do everything in its scope, and decides who else owns it.",
	},
	{Name: "admin", permits: func(noun, verb string) bool {
		return verb != "own" && (noun != "organization" || verb == "read" || verb == "update")
	}, Means: "May do everything in its scope but give it away, suspend or delete it."},
	{Name: "operator", permits: func(noun, verb string) bool {
		return verb == "read" || verb != "break_glass" && !slices.Contains(identity, noun)
	}, Means: "Runs hosts, units, addresses and names of its scope; does not decide who may do what."},
	{Name: "member", permits: func(noun, verb string) bool {
		return verb == "read" && !strings.HasSuffix(noun, ".event") ||
			(noun == "project.workspace.allocation" || noun == "project.workspace.job" || noun == "project.workspace.dns_record_set") && (verb == "delete" || !slices.Contains(privileged, verb))
	}, Means: "Uses what is there: allocates units and gives them back, sets names, cancels and retries jobs."},
	{
		Name: "viewer", permits: func(noun, verb string) bool { return verb == "read" && !strings.HasSuffix(noun, ".event") },
		Means: "Sees everything in its scope but the audit trail, and changes nothing.",
	},
	{
		Name: "auditor", permits: func(_, verb string) bool { return verb == "read" },
		Means: "Sees everything in its scope, the audit trail as well, and changes nothing.",
	},
}

// Own is the permission to see and end what is one's own; every account has it.
const Own = "account.self:use"

// Permissions gives each role of the product its share of all permissions.
func Permissions(all []string) map[string]map[string]bool {
	roles := map[string]map[string]bool{}
	for _, r := range Roles {
		roles[r.Name] = map[string]bool{}
		for _, p := range all {
			noun, verb, _ := strings.Cut(p, ":")
			if p == Own || strings.HasPrefix(noun, "installation.") && !r.Installation {
				continue
			}
			if r.permits(noun, verb) {
				roles[r.Name][p] = true
			}
		}
	}
	return roles
}
