package iam

import (
	"errors"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/work"
)

// ErrLoginRefused says that a host answers, and does not let a key in.
var ErrLoginRefused = errors.New("the host refused the login")

// SSHKeyNoun names the SSH keys of organizations where policies are made due.
const SSHKeyNoun = "ssh_key"

// SSHKeyState is how far the replacement of an organization's key is.
type SSHKeyState string

// The states of a key.
const (
	SSHKeyInUse       SSHKeyState = "in_use"
	SSHKeyDeploying   SSHKeyState = "deploying"
	SSHKeyWithdrawing SSHKeyState = "withdrawing"
)

// Means says what a state means.
func (s SSHKeyState) Means() string {
	switch s {
	case SSHKeyDeploying:
		return "hosts get the next key; each is reached with the former one until a login with the next one has succeeded"
	case SSHKeyWithdrawing:
		return "every host is reached with the new key; the former one is taken from them"
	default:
		return "every host is reached with this key"
	}
}

// SSHKey is the key pair with which the hosts of an organization are reached.
type SSHKey struct {
	OrganizationID uuid.UUID  `db:"organization_id"`
	Version        int64      `db:"version"` // of the key that is in use
	PublicKey      string     `db:"public_key"`
	PrivateSealed  []byte     `db:"private_sealed"`
	NextPublicKey  *string    `db:"next_public_key"` // nil: no replacement is under way
	NextSealed     []byte     `db:"next_sealed"`
	Former         []string   `db:"former_public_keys"`
	ReplacedBy     *string    `db:"replaced_by"`
	ReplacedAt     *time.Time `db:"replaced_at"`
	Hosts          int64      `db:"hosts"`   // that can be logged in to
	Done           int64      `db:"done"`    // of these, proved with the newest key and without a former one
	Left           int64      `db:"left"`    // of these, left behind by a person
	Behind         int64      `db:"behind"`  // of these, not proved with the newest key and not left behind
	Unclean        int64      `db:"unclean"` // of these, with a former key that is to be taken away
}

// Newest is the version of the newest key.
func (k SSHKey) Newest() int64 {
	if k.NextPublicKey != nil {
		return k.Version + 1
	}
	return k.Version
}

// NewestPublicKey is what a host is to let in.
func (k SSHKey) NewestPublicKey() string {
	if k.NextPublicKey != nil {
		return *k.NextPublicKey
	}
	return k.PublicKey
}

// newestSealed is the private key of NewestPublicKey.
func (k SSHKey) newestSealed() []byte {
	if k.NextPublicKey != nil {
		return k.NextSealed
	}
	return k.PrivateSealed
}

// State is how far its replacement is.
func (k SSHKey) State() SSHKeyState {
	switch {
	case k.NextPublicKey != nil:
		return SSHKeyDeploying
	case k.Unclean > 0:
		return SSHKeyWithdrawing
	default:
		return SSHKeyInUse
	}
}

// CanReplace tells why the key can't be replaced now; nil if it can.
func (k SSHKey) CanReplace() error {
	if k.NextPublicKey != nil {
		return fault.Conflictf("ssh_key_replacing", "The key is being replaced already. Wait until every host has the next one, or leave hosts behind.")
	}
	return nil
}

// CanLeave tells why no host can be left behind now; nil if one can.
func (k SSHKey) CanLeave() error {
	if k.Behind+k.Unclean == 0 {
		return fault.Conflictf("ssh_key_in_use", "No host is behind.")
	}
	return nil
}

// SSHKeyHost is a host that does not have the newest key alone.
type SSHKeyHost struct {
	ID          uuid.UUID  `db:"id"`
	Name        string     `db:"name"`
	WorkspaceID uuid.UUID  `db:"workspace_id"`
	Workspace   string     `db:"workspace"` // its path
	Fenced      bool       `db:"fenced"`    // plays can change it
	Behind      bool       `db:"behind"`    // it is not proved with the newest key
	LeftBehind  bool       `db:"left_behind"`
	JobID       *uuid.UUID `db:"job_id"` // the last one about its key
	JobState    *string    `db:"job_state"`
	JobMessage  *string    `db:"job_message"` // why it failed
	Idle        bool       `db:"idle"`        // no job about its key is unfinished, and none failed a moment ago
	BackingOff  bool       `db:"backing_off"` // the job failed and is tried again later
}

// Working tells whether a job about the key of the host has not ended.
func (h SSHKeyHost) Working() bool {
	return h.JobState != nil && (*h.JobState == "queued" || *h.JobState == "running" || *h.JobState == "cancelling")
}

// State says in a word how far the host is.
func (h SSHKeyHost) State() string {
	switch {
	case h.LeftBehind:
		return "left_behind"
	case h.Working() && h.Behind:
		return "deploying"
	case h.Working():
		return "withdrawing"
	case h.JobState != nil && (*h.JobState == "failed" || *h.JobState == "cancelled"):
		return "failed"
	default:
		return "waiting"
	}
}

// HostRole is the host that a job about a key is about.
const HostRole = "host"

// Steps of the jobs about keys of hosts.
const (
	AddKeyStep   = "add"
	ProveKeyStep = "prove"
	DropKeyStep  = "drop"
)

// AdminKeyPlaybook changes which keys log in as the admin user of a host.
const AdminKeyPlaybook = "host_admin_key"

// How long a step of these jobs waits for a host that another job holds, and when a job is given up. The policy begins another one then.
const (
	keyWithin   = time.Hour
	keyDeadline = 2 * time.Hour
)

// SSHKeyArgs are the arguments of the jobs about keys.
type SSHKeyArgs struct {
	Version int64 `json:"version"` // that the host is to have
}

// SSHKeyDeploy is the job that brings the newest key of its organization to a host. The former one stays.
var SSHKeyDeploy = work.Kind{
	Name:  "ssh_key_deploy",
	Means: "lets the next SSH key of the organization in on a host, and proves it by a login; the former key stays",
	Steps: []work.Step{
		{Name: AddKeyStep, Means: "log in with the former key, and add the next one beside it", Within: keyWithin},
		{Name: ProveKeyStep, Means: "log in with the next key; from then on the host is reached with it"},
	},
	Deadline: keyDeadline, Tries: 10, Priority: -1,
	Locks:     []string{HostRole},
	Playbooks: []string{AdminKeyPlaybook},
}

// SSHKeyWithdraw is the job that takes former keys from a host that is reached with the newest one.
var SSHKeyWithdraw = work.Kind{
	Name:     "ssh_key_withdraw",
	Means:    "takes former SSH keys of the organization from a host that is reached with the new one",
	Steps:    []work.Step{{Name: DropKeyStep, Means: "log in with the new key, and remove the former ones", Within: keyWithin}},
	Deadline: keyDeadline, Tries: 10, Priority: -1,
	Locks:     []string{HostRole},
	Playbooks: []string{AdminKeyPlaybook},
}
