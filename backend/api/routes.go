package api

import (
	"net/http"
	"slices"
	"strings"
)

// Route is one row of the table of routes. Nobody passes without Permission;
// it is empty only for logging in.
type Route struct {
	ID         string // operation id, stable
	Method     string
	Path       string // below Prefix
	Permission string // <scope>.<noun>:<verb>
	Tag        string
	Summary    string
	Long       bool // answers 202 with the URL of a job in Location
}

// WorkspaceHeader names the workspace that a request is about: an id, or
// organization/project/workspace. Without it a bearer who sees one workspace means
// that one, and else the workspace default/default/default if it is visible.
const WorkspaceHeader = "Kloigos-Workspace"

// Own is the permission to see and end what is one's own; every account has it.
const Own = "account.self:use"

// Permissions is every permission that a route needs, sorted.
func Permissions() []string {
	var all []string
	for _, r := range Routes {
		if r.Permission != "" {
			all = append(all, r.Permission)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Routes is every route of the API.
var Routes = []Route{
	{"create-session", http.MethodPost, "/sessions", "", "sessions", "Log in", false},
	{"delete-session", http.MethodDelete, "/sessions/current", Own, "sessions", "Log out", false},
	{"whoami", http.MethodGet, "/whoami", Own, "sessions", "Show the current account", false},
	{"list-tokens", http.MethodGet, "/tokens", Own, "tokens", "List your tokens and sessions", false},
	{"create-token", http.MethodPost, "/tokens", Own, "tokens", "Create an API token", false},
	{"delete-token", http.MethodDelete, "/tokens/{id}", Own, "tokens", "End a token or session", false},

	{"get-capacity", http.MethodGet, "/capacity", "project.workspace.host:read", "hosts", "Show capacity by region and zone, and a summary of all hosts", false},
	{"list-hosts", http.MethodGet, "/hosts", "project.workspace.host:read", "hosts", "List hosts", false},
	{"register-host", http.MethodPost, "/hosts", "project.workspace.host:create", "hosts", "Register a host and probe it", true},
	{"get-host", http.MethodGet, "/hosts/{id}", "project.workspace.host:read", "hosts", "Show a host", false},
	{"update-host", http.MethodPatch, "/hosts/{id}", "project.workspace.host:update", "hosts", "Change its labels, place, networks, profile or address", false},
	{"probe-host", http.MethodPost, "/hosts/{id}/probe", "project.workspace.host:update", "hosts", "Probe a host. If two probes are already active, returns the newer one", true},
	{"probe-hosts", http.MethodPost, "/hosts/probe", "project.workspace.host:update", "hosts", "Probe several hosts in one job", true},
	{"measure-host", http.MethodPost, "/hosts/{id}/measure", "project.workspace.host:measure", "hosts", "Measure the usage of its tenants. If a measurement is active, returns that job", true},
	{"confirm-host-key", http.MethodPost, "/hosts/{id}/host-key", "project.workspace.host:update", "hosts", "Confirm the SSH host key that the host offers", true},
	{"set-layout", http.MethodPut, "/hosts/{id}/layout", "project.workspace.host:update", "hosts", "Set the layout of a host", false},
	{"preview-layout", http.MethodPost, "/hosts/{id}/layout/preview", "project.workspace.host:read", "hosts", "Compute a layout without setting it; for an initialized host, a layout of its free part", false},
	{"relayout-host", http.MethodPost, "/hosts/{id}/relayout", "project.workspace.host:initialize", "hosts", "Change the layout of the free part; units in use stay unchanged", true},
	{"initialize-host", http.MethodPost, "/hosts/{id}/initialize", "project.workspace.host:initialize", "hosts", "Initialize a host and its units", true},
	{"refence-host", http.MethodPost, "/hosts/{id}/refence", "project.workspace.host:refence", "hosts", "Initialize a host and take over its fence from another installation", true},
	{"drain-host", http.MethodPost, "/hosts/{id}/drain", "project.workspace.host:update", "hosts", "Stop new allocations on a host", false},
	{"undrain-host", http.MethodPost, "/hosts/{id}/undrain", "project.workspace.host:update", "hosts", "Allow new allocations on a host again", false},
	{"decommission-host", http.MethodPost, "/hosts/{id}/decommission", "project.workspace.host:decommission", "hosts", "Remove everything of Kloigos from a host", true},
	{"declare-host-lost", http.MethodPost, "/hosts/{id}/declare-lost", "project.workspace.host:declare_lost", "hosts", "Declare a host lost", false},
	{"remove-host", http.MethodDelete, "/hosts/{id}", "project.workspace.host:delete", "hosts", "Remove a host from Kloigos", false},

	{"list-compute-units", http.MethodGet, "/compute-units", "project.workspace.unit:read", "compute units", "List compute units", false},
	{"get-compute-unit", http.MethodGet, "/compute-units/{id}", "project.workspace.unit:read", "compute units", "Show a compute unit", false},
	{"close-compute-unit", http.MethodPost, "/compute-units/{id}/close", "project.workspace.unit:update", "compute units", "Prevent allocations of a free unit", false},
	{"open-compute-unit", http.MethodPost, "/compute-units/{id}/open", "project.workspace.unit:update", "compute units", "Allow allocations of a closed unit again", false},

	{"list-allocations", http.MethodGet, "/allocations", "project.workspace.allocation:read", "allocations", "List allocations", false},
	{"create-allocation", http.MethodPost, "/allocations", "project.workspace.allocation:create", "allocations", "Allocate a unit", true},
	{"get-allocation", http.MethodGet, "/allocations/{id}", "project.workspace.allocation:read", "allocations", "Show an allocation", false},
	{"replace-allocation-keys", http.MethodPut, "/allocations/{id}/ssh-keys", "project.workspace.allocation:update", "allocations", "Replace the SSH keys of an allocation", true},
	{"move-allocation-network", http.MethodPost, "/allocations/{id}/move-network", "project.workspace.allocation:update", "allocations", "Move the unit of an allocation to a network of its own", true},
	{"deallocate", http.MethodPost, "/allocations/{id}/deallocate", "project.workspace.allocation:delete", "allocations", "End an allocation and wipe its unit", true},

	{"list-addresses", http.MethodGet, "/address-pool", "project.workspace.address:read", "address pool", "List addresses", false},
	{"add-addresses", http.MethodPost, "/address-pool", "project.workspace.address:create", "address pool", "Add addresses", false},
	{"remove-address", http.MethodDelete, "/address-pool/{id}", "project.workspace.address:delete", "address pool", "Remove a free address", false},
	{"close-address", http.MethodPost, "/address-pool/{id}/close", "project.workspace.address:update", "address pool", "Prevent the use of a free address", false},
	{"open-address", http.MethodPost, "/address-pool/{id}/open", "project.workspace.address:update", "address pool", "Allow the use of a closed address again", false},
	{"release-address", http.MethodPost, "/address-pool/{id}/release", "project.workspace.address:update", "address pool", "Release an address from quarantine", false},

	{"list-playbooks", http.MethodGet, "/playbooks", "organization.playbook:read", "playbooks", "List playbooks", false},
	{"get-playbook", http.MethodGet, "/playbooks/{name}", "organization.playbook:read", "playbooks", "Show a playbook", false},
	{"list-playbook-versions", http.MethodGet, "/playbooks/{name}/versions", "organization.playbook:read", "playbooks", "List the versions of a playbook", false},
	{"upload-playbook", http.MethodPost, "/playbooks/{name}/versions", "installation.playbook:upload", "playbooks", "Upload a version", false},
	{"get-playbook-version", http.MethodGet, "/playbooks/{name}/versions/{version}", "organization.playbook:read", "playbooks", "Show a version with the findings of ansible-lint", false},
	{"diff-playbook", http.MethodGet, "/playbooks/{name}/versions/{version}/diff", "organization.playbook:read", "playbooks", "Compare a version with another", false},
	{"set-default-playbook", http.MethodPost, "/playbooks/{name}/versions/{version}/make-default", "installation.playbook:set_default", "playbooks", "Make a version the default for new jobs, or roll back to it", false},
	{"list-playbook-files", http.MethodGet, "/playbooks/{name}/versions/{version}/files", "organization.playbook:read", "playbooks", "List the files of a version", false},
	{"get-playbook-file", http.MethodGet, "/playbooks/{name}/versions/{version}/file", "organization.playbook:read", "playbooks", "Show one file of a version", false},
	{"download-playbook", http.MethodGet, "/playbooks/{name}/versions/{version}/download", "organization.playbook:read", "playbooks", "Download a version as tar.zst", false},

	{"list-jobs", http.MethodGet, "/jobs", "project.workspace.job:read", "jobs", "List jobs", false},
	{"get-job", http.MethodGet, "/jobs/{id}", "project.workspace.job:read", "jobs", "Show a job", false},
	{"get-job-log", http.MethodGet, "/jobs/{id}/log", "project.workspace.job:read", "jobs", "Read a part of the log of a job", false},
	{"get-job-outline", http.MethodGet, "/jobs/{id}/log/outline", "project.workspace.job:read", "jobs", "Show the tasks of a job and their result on each host", false},
	{"stream-job-log", http.MethodGet, "/jobs/{id}/log/stream", "project.workspace.job:read", "jobs", "Follow the log and state of a job (server-sent events)", false},
	{"retry-job", http.MethodPost, "/jobs/{id}/retry", "project.workspace.job:update", "jobs", "Retry a failed job from the failed step or an earlier one", true},
	{"cancel-job", http.MethodPost, "/jobs/{id}/cancel", "project.workspace.job:update", "jobs", "Cancel a job", true},
	{"give-up-job", http.MethodPost, "/jobs/{id}/give-up", "project.workspace.job:update", "jobs", "Clean up after a failed job", true},
	{"get-queue", http.MethodGet, "/queue", "installation.queue:read", "jobs", "Show the state of the job queue", false},
	{"pause-queue", http.MethodPost, "/queue/pause", "installation.queue:pause", "jobs", "Pause the queue; running jobs continue", false},
	{"resume-queue", http.MethodPost, "/queue/resume", "installation.queue:pause", "jobs", "Resume the queue", false},

	{"list-plans", http.MethodGet, "/plans", "project.workspace.plan:read", "plans", "List plans", false},
	{"get-plan", http.MethodGet, "/plans/{id}", "project.workspace.plan:read", "plans", "Show a plan and its changes", false},
	{"approve-plan", http.MethodPost, "/plans/{id}/approve", "project.workspace.plan:approve", "plans", "Approve a plan that somebody else asked for", false},
	{"refuse-plan", http.MethodPost, "/plans/{id}/refuse", "project.workspace.plan:approve", "plans", "Refuse a plan; it can't be applied then", false},

	{"list-policies", http.MethodGet, "/policies", "installation.policy:read", "policies", "List the policies of the reconciler, and what is not reconciled", false},
	{"get-policy", http.MethodGet, "/policies/{name}", "installation.policy:read", "policies", "Show a policy with its conditions", false},
	{"list-policy-items", http.MethodGet, "/policies/{name}/items", "installation.policy:read", "policies", "List the objects that a policy looks at", false},
	{"pause-policy", http.MethodPost, "/policies/{name}/pause", "installation.policy:pause", "policies", "Pause a policy, or one object of it; runs that have begun continue", false},
	{"resume-policy", http.MethodPost, "/policies/{name}/resume", "installation.policy:pause", "policies", "Resume a policy, or one object of it", false},
	{"run-policy", http.MethodPost, "/policies/{name}/run", "installation.policy:run", "policies", "Run a policy now, or one object of it", false},
	{"pause-object", http.MethodPost, "/policies/pause", "installation.policy:pause", "policies", "Pause all policies of one object", false},
	{"resume-object", http.MethodPost, "/policies/resume", "installation.policy:pause", "policies", "Resume all policies of one object", false},
	{"list-conditions", http.MethodGet, "/conditions", "installation.policy:read", "policies", "List the conditions of an object, or all of a noun that are not true", false},
	{"list-object-conditions", http.MethodGet, "/object-conditions", "project.workspace.condition:read", "policies", "List the conditions of an object of the workspace", false},

	{"list-events", http.MethodGet, "/events", "project.workspace.event:read", "events", "List audit events of a workspace, newest first", false},
	{"list-organization-events", http.MethodGet, "/organization-events", "organization.event:read", "events", "List audit events of the whole organization, newest first", false},
	{"list-installation-events", http.MethodGet, "/installation-events", "installation.event:read", "events", "List audit events of what is in no organization, newest first", false},
	{"get-system", http.MethodGet, "/system", "installation.system:read", "system", "Show backends, database and the SSH key for hosts", false},
}

// addRoutes adds the routes of an area to the table.
func addRoutes(routes ...Route) bool {
	Routes = append(Routes, routes...)
	return true
}

// adding are routes that add something to a workspace by another verb than create.
var adding = map[string]bool{
	"initialize-host": true, "relayout-host": true, "refence-host": true, // units
	"adopt-dns-record":  true,
	"add-cluster-nodes": true, "replace-cluster-node": true,
	"wake-hosted-control-plane": true,
}

// Adds tells whether the route adds something to its workspace: it is refused where that is being deleted.
func (r Route) Adds() bool { return strings.HasSuffix(r.Permission, ":create") || adding[r.ID] }

// RouteOf returns the route with this operation id.
func RouteOf(id string) (Route, bool) {
	for _, r := range Routes {
		if r.ID == id {
			return r, true
		}
	}
	return Route{}, false
}
