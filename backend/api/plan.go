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
	Action          string          `json:"action" enum:"initialize-host,refence-host,relayout-host,decommission-host,create-allocation,replace-allocation-keys,deallocate" doc:"operation that it is a plan of"`
	Request         json.RawMessage `json:"request" doc:"body of that operation; apply the plan with the same"`
	Kind            string          `json:"kind" doc:"kind of the job that the action makes"`
	KindMeans       string          `json:"kind_means"`
	HostID          string          `json:"host_id" format:"uuid"`
	Host            string          `json:"host" doc:"name of the host that was checked"`
	UnitID          string          `json:"unit_id,omitempty"`
	Unit            string          `json:"unit,omitempty" doc:"name of the unit; for a new allocation the one that was chosen, which is not taken"`
	AllocationID    string          `json:"allocation_id,omitempty" doc:"for a new allocation the id that it gets when the plan is applied"`
	LoginUser       string          `json:"login_user,omitempty"`
	Proposal        *PlanProposal   `json:"proposal,omitempty" doc:"what a new allocation would get; nothing of it is taken"`
	Layout          *Layout         `json:"layout,omitempty" doc:"of a relayout: how the host would be cut, the units that stay first"`
	State           string          `json:"state" enum:"checking,ready,failed,applied"`
	StateMeans      string          `json:"state_means"`
	Expired         bool            `json:"expired" doc:"it can't be applied any more, whatever else"`
	JobID           string          `json:"job_id" format:"uuid" doc:"the job that checks it"`
	AppliedJobID    string          `json:"applied_job_id,omitempty" doc:"the job that is bound to it"`
	Playbook        string          `json:"playbook"`
	PlaybookVersion int             `json:"playbook_version"`
	PlaybookSHA256  string          `json:"playbook_sha256" doc:"of the version"`
	VariablesSHA256 string          `json:"variables_sha256,omitempty" doc:"of what its plays were given"`
	Observed        *PlanObserved   `json:"observed_state,omitempty" doc:"what the check stood on"`
	Counts          *PlanCounts     `json:"counts,omitempty" doc:"set when the check has ended well"`
	Moved           []string        `json:"moved,omitempty" doc:"which of playbook, variables and observed_state have moved since"`
	Changes         []PlanChange    `json:"changes,omitempty" doc:"what would change, in the order of the plays; not in lists"`
	Tasks           int             `json:"tasks,omitempty" doc:"that were checked; not in lists"`
	LeftOut         int             `json:"left_out,omitempty" doc:"changes that are counted but not kept: there are too many"`
	Operations      []Operation     `json:"operations" nullable:"false"`
	RequestedBy     string          `json:"requested_by"`
	CreatedAt       time.Time       `json:"created_at"`
	CheckedAt       *time.Time      `json:"checked_at,omitempty"`
	ExpiresAt       time.Time       `json:"expires_at" doc:"an hour after the check"`
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
	RowsSHA256   string `json:"rows_sha256" doc:"of what Kloigos knows of the host, its units and the allocation, and of how often a job has begun there"`
	ReportSHA256 string `json:"report_sha256" doc:"of what the check said"`
}

// PlanCounts counts the changes.
type PlanCounts struct {
	Create  int `json:"create"`
	Change  int `json:"change"`
	Remove  int `json:"remove"`
	Follows int `json:"follows" doc:"not checked, since what they depend on is not there yet"`
	Stops   int `json:"stops" doc:"at which a run would stop; such a plan can't be applied"`
}

// PlanChange is one thing that would change. All of its text came from the
// host: show it as text, never as markup.
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
	State      string `query:"state" maxLength:"32" doc:"a state, or expired; ready leaves the expired out"`
	Host       string `query:"host" maxLength:"64" doc:"id or name"`
	Allocation string `query:"allocation" maxLength:"64" doc:"id or login user"`
}

// Planning is how an action is planned, or bound to a plan.
type Planning struct {
	Plan            bool   `query:"plan" doc:"change nothing: make a plan of this action, which is then the answer"`
	PlaybookVersion int    `query:"playbook_version" minimum:"0" maximum:"2147483647" doc:"with plan: of this version of the playbook instead of the default one"`
	PlanID          string `query:"plan_id" maxLength:"36" doc:"do just what this plan showed; refused with code plan_stale if something has moved since"`
}
