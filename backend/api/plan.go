package api

import (
	"encoding/json"
	"time"
)

// Plan tells what an action would change on a host. It is made by the action
// itself with ?plan=true, and applied by the same action with ?plan_id=.
type Plan struct {
	ID              string          `json:"id" format:"uuid"`
	Workspace       string          `json:"workspace"`
	Action          string          `json:"action" enum:"initialize-host,refence-host,relayout-host,decommission-host,create-allocation,replace-allocation-keys,move-allocation-network,deallocate,cascade-organization,cascade-project,cascade-workspace,create-cluster,delete-cluster,add-cluster-nodes,remove-cluster-node,replace-cluster-node,upgrade-cluster,renew-cluster-certificates,restore-cluster-snapshot,create-hosted-control-plane,delete-hosted-control-plane,upgrade-hosted-control-plane,sleep-hosted-control-plane,wake-hosted-control-plane,cross-check" doc:"id of the operation that is planned; cross-check: a policy looks whether all is as promised, and nobody applies it"`
	Request         json.RawMessage `json:"request" doc:"body of that operation; apply the plan with the same body"`
	Kind            string          `json:"kind" doc:"kind of the job that the action creates"`
	KindMeans       string          `json:"kind_means"`
	HostID          string          `json:"host_id,omitempty" format:"uuid"`
	SharedHost      bool            `json:"shared_host,omitempty" doc:"its host is of another workspace, which granted it; the changes of files there are counted and not shown"`
	Host            string          `json:"host,omitempty" doc:"name of the host that was checked"`
	ObjectKind      string          `json:"object_kind,omitempty" enum:"cluster,cluster_node,cluster_snapshot,organization,project,workspace" doc:"noun of what the action is about, where the plan lists what a job would do; it has no host, no playbook and no check"`
	ObjectID        string          `json:"object_id,omitempty" format:"uuid" doc:"id of that object; absent where the action makes it"`
	ObjectName      string          `json:"object_name,omitempty" doc:"name of that object"`
	ScopeKind       string          `json:"scope_kind,omitempty" enum:"organization,project,workspace" doc:"of a plan to delete a scope with all that is in it, which has no host and no playbook"`
	ScopeID         string          `json:"scope_id,omitempty" format:"uuid" doc:"id of that scope"`
	ScopePath       string          `json:"scope_path,omitempty" doc:"path of that scope"`
	UnitID          string          `json:"unit_id,omitempty"`
	Unit            string          `json:"unit,omitempty" doc:"name of the unit; for a new allocation the chosen unit, which is not reserved"`
	AllocationID    string          `json:"allocation_id,omitempty" doc:"id of the allocation; for a new one the id that it gets when the plan is applied"`
	LoginUser       string          `json:"login_user,omitempty"`
	Proposal        *PlanProposal   `json:"proposal,omitempty" doc:"what a new allocation would get; nothing of it is reserved"`
	Layout          *Layout         `json:"layout,omitempty" doc:"for a relayout: the new layout of the host, kept units first"`
	State           string          `json:"state" enum:"checking,ready,failed,applied"`
	StateMeans      string          `json:"state_means"`
	Expired         bool            `json:"expired" doc:"whether it is too old to be applied"`
	JobID           string          `json:"job_id,omitempty" format:"uuid" doc:"the job that checks it"`
	AppliedJobID    string          `json:"applied_job_id,omitempty" doc:"the job that applies it"`
	Playbook        string          `json:"playbook,omitempty"`
	PlaybookVersion int             `json:"playbook_version,omitempty"`
	PlaybookSHA256  string          `json:"playbook_sha256,omitempty" doc:"SHA-256 of the playbook's version"`
	VariablesSHA256 string          `json:"variables_sha256,omitempty" doc:"SHA-256 of the variables of its plays"`
	Observed        *PlanObserved   `json:"observed_state,omitempty" doc:"checksums of what the check was based on"`
	Counts          *PlanCounts     `json:"counts,omitempty" doc:"result of the check; absent until it has succeeded"`
	Moved           []string        `json:"moved,omitempty" doc:"which of playbook, variables and observed_state changed since the check"`
	Changes         []PlanChange    `json:"changes,omitempty" doc:"changes in the order of the plays; absent in lists"`
	Tasks           int             `json:"tasks,omitempty" doc:"number of checked tasks; absent in lists"`
	LeftOut         int             `json:"left_out,omitempty" doc:"number of changes that are counted but not listed"`
	Approvals       *PlanApprovals  `json:"approvals,omitempty" doc:"where rules ask for approvals of such plans, or somebody decided"`
	Operations      []Operation     `json:"operations" nullable:"false"`
	RequestedBy     string          `json:"requested_by"`
	CreatedAt       time.Time       `json:"created_at"`
	CheckedAt       *time.Time      `json:"checked_at,omitempty"`
	ExpiresAt       time.Time       `json:"expires_at" doc:"end of its validity: an hour after the check, or as long as approval rules leave"`
}

// PlanApprovals says who has to approve a plan, and who did.
type PlanApprovals struct {
	State     string         `json:"state" enum:"pending,approved,refused,expired"`
	Needed    int            `json:"needed" doc:"number of approvals by people other than the one who asked"`
	Given     int            `json:"given" doc:"number of approvals that count"`
	Rules     []string       `json:"rules" nullable:"false" doc:"names of the approval rules that ask for them"`
	Decisions []PlanDecision `json:"decisions" nullable:"false" doc:"in the order in which people decided"`
}

// PlanDecision is what one person decided.
type PlanDecision struct {
	Account  string    `json:"account" doc:"name of the account"`
	Decision string    `json:"decision" enum:"approve,refuse" doc:"what the person decided"`
	Reason   string    `json:"reason,omitempty" doc:"as the person wrote it"`
	Counts   bool      `json:"counts" doc:"false for an account that is disabled, or may not approve plans of the workspace any more"`
	At       time.Time `json:"at"`
}

// DecidePlan approves or refuses a plan.
type DecidePlan struct {
	Reason string `json:"reason,omitempty" maxLength:"500" doc:"shown with the decision, and in the event"`
}

// PlannedKinds are the kinds of jobs that have plans.
func PlannedKinds() []string {
	return []string{
		"allocation_keys", "allocation_network", "cluster_add_nodes", "cluster_create", "cluster_delete", "cluster_remove_node", "cluster_renew_certificates",
		"cluster_replace_node", "cluster_restore", "cluster_upgrade", "host_decommission", "host_initialize", "host_relayout", "hosted_cluster_create",
		"hosted_cluster_delete", "hosted_control_plane_sleep", "hosted_control_plane_upgrade", "hosted_control_plane_wake", "scope_delete", "unit_allocate", "unit_deallocate",
	}
}

// PlanProposal is what an allocation would be given.
type PlanProposal struct {
	LoginUser string   `json:"login_user"`
	UID       int64    `json:"uid"`
	Address   string   `json:"address"`
	Network   string   `json:"network"`
	SSHKeys   []string `json:"ssh_keys" nullable:"false"`
}

// PlanObserved are checksums of the observed state.
type PlanObserved struct {
	RowsSHA256   string `json:"rows_sha256" doc:"SHA-256 of the stored state of host, units and allocation, and of the number of jobs that ran there"`
	ReportSHA256 string `json:"report_sha256" doc:"SHA-256 of the check's report"`
}

// PlanCounts counts the changes.
type PlanCounts struct {
	Create  int `json:"create"`
	Change  int `json:"change"`
	Remove  int `json:"remove"`
	Follows int `json:"follows" doc:"number of changes that could not be checked, because something that they depend on does not exist yet"`
	Stops   int `json:"stops" doc:"number of objections at which a run would stop; such a plan cannot be applied"`
}

// PlanChange is one thing that would change. All of its text came from the
// host: show it as text, never as markup. In a plan that lists what a job would do, task is
// the step of the job, or in the deletion of a scope the path of the scope that the thing is in.
type PlanChange struct {
	Play   string `json:"play" doc:"file of the playbook"`
	Role   string `json:"role,omitempty"`
	Task   string `json:"task"`
	Kind   string `json:"kind" doc:"file, directory, user, group, volume, service, table, address, package, ..."`
	Name   string `json:"name"`
	Action string `json:"action" enum:"create,change,remove,follows,stops"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	Note   string `json:"note,omitempty"`
}

// PlanFilter narrows a list of plans.
type PlanFilter struct {
	PageQuery
	State      string `query:"state" maxLength:"32" doc:"a state, or expired; ready excludes expired plans"`
	Host       string `query:"host" maxLength:"64" doc:"id or name"`
	Allocation string `query:"allocation" maxLength:"64" doc:"id or login user"`
	Action     string `query:"action" enum:"initialize-host,refence-host,relayout-host,decommission-host,create-allocation,replace-allocation-keys,move-allocation-network,deallocate,cascade-organization,cascade-project,cascade-workspace,create-cluster,delete-cluster,add-cluster-nodes,remove-cluster-node,replace-cluster-node,upgrade-cluster,renew-cluster-certificates,restore-cluster-snapshot,create-hosted-control-plane,delete-hosted-control-plane,upgrade-hosted-control-plane,sleep-hosted-control-plane,wake-hosted-control-plane,cross-check" doc:"the planned operation; without it, plans of the policy cross_check are left out"`
	Approval   string `query:"approval" enum:"pending,mine" doc:"pending: waits for approvals; mine: and you can still approve it"`
}

// Planning is how an action is planned, or bound to a plan.
type Planning struct {
	Plan            bool   `query:"plan" doc:"change nothing; create a plan of this action and return it"`
	PlaybookVersion int    `query:"playbook_version" minimum:"0" maximum:"2147483647" doc:"with plan: use this version of the playbook instead of the default"`
	PlanID          string `query:"plan_id" maxLength:"36" doc:"apply this plan; refused with code plan_stale if something changed since"`
}

// ListPlanning is how an action is planned, or bound to its plan, whose plan lists what its job would do. No host is asked, so the plan is
// ready at once. At most one of the two is given.
type ListPlanning struct {
	Plan   bool   `query:"plan" doc:"change nothing; create a plan that lists what the job would do, and return it"`
	PlanID string `query:"plan_id" maxLength:"36" doc:"do what this plan lists; refused with code plan_stale if the list would be another one by now"`
}
