package api

import (
	"net/http"
	"time"
)

// SSHKey is the key with which the hosts of an organization are reached, and how far its replacement is.
type SSHKey struct {
	Version       int64        `json:"version" doc:"counts replacements; of the newest key"`
	AuthorizedKey string       `json:"authorized_key" doc:"public key for authorized_keys of the admin user of each host: the newest one"`
	FormerKey     string       `json:"former_key,omitempty" doc:"while the newest one is deployed: the key that hosts let in until then"`
	State         string       `json:"state" enum:"in_use,deploying,withdrawing" doc:"deploying: hosts get the next key beside the former one; withdrawing: the former one is taken from them"`
	StateMeans    string       `json:"state_means"`
	ReplacedBy    string       `json:"replaced_by,omitempty" doc:"who asked for the last replacement"`
	ReplacedAt    *time.Time   `json:"replaced_at,omitempty" doc:"when it was asked for"`
	Hosts         int64        `json:"hosts" doc:"hosts that can be logged in to"`
	Done          int64        `json:"done" doc:"of these, hosts that are reached with the newest key and are to lose no former one"`
	Left          int64        `json:"left_behind" doc:"of these, hosts that somebody left behind"`
	Waiting       []SSHKeyHost `json:"waiting" nullable:"false" doc:"the first 200 hosts that are not done"`
	Operations    []Operation  `json:"operations" nullable:"false" doc:"what state and permissions allow now, and what prevents the rest"`
}

// SSHKeyHost is a host that does not have the newest key alone.
type SSHKeyHost struct {
	ID        string `json:"id" format:"uuid"`
	Name      string `json:"name"`
	Workspace string `json:"workspace" doc:"path of its workspace"`
	State     string `json:"state" enum:"waiting,deploying,withdrawing,failed,left_behind" doc:"how far it is"`
	JobID     string `json:"job_id,omitempty" format:"uuid" doc:"the last job about its key"`
	Message   string `json:"message,omitempty" doc:"why that failed, or is tried again"`
}

// LeaveHosts names hosts that a replacement does not wait for.
type LeaveHosts struct {
	Hosts []string `json:"hosts" minItems:"1" maxItems:"200" nullable:"false" doc:"ids or names of hosts, or names behind the path of their workspace"`
}

var _ = addRoutes(
	Route{"get-ssh-key", http.MethodGet, "/organizations/{id}/ssh-key", "organization.ssh_key:read", "tenancy", "Show the SSH key of an organization, and how far its replacement is", false},
	Route{"replace-ssh-key", http.MethodPost, "/organizations/{id}/ssh-key/replace", "organization.ssh_key:replace", "tenancy", "Replace the SSH key of an organization on all of its hosts", false},
	Route{"leave-ssh-key-hosts", http.MethodPost, "/organizations/{id}/ssh-key/leave", "organization.ssh_key:replace", "tenancy", "Have the replacement of an SSH key go on without some hosts", false},
)

var _ = nameJobs(map[string]string{"ssh_key_deploy": "Deploy SSH key", "ssh_key_withdraw": "Remove former SSH key"})
