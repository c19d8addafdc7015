package domain

import (
	"maps"
	"slices"
	"time"

	"kloigos/backend/internal/kernel/work"
)

// JobState is where a job is in its life.
type JobState string

// The states of a job.
const (
	JobQueued     JobState = "queued"
	JobRunning    JobState = "running"
	JobCancelling JobState = "cancelling"
	JobSucceeded  JobState = "succeeded"
	JobFailed     JobState = "failed"
	JobCancelled  JobState = "cancelled"
)

// What happens to jobs.
const (
	JobClaimed         Event = "claimed"
	JobTakenOver       Event = "taken_over"
	JobHandedOver      Event = "handed_over" // half done, by a worker that stops
	JobGivenBack       Event = "given_back"  // before it began, or while its host is busy
	JobFinished        Event = "finished"
	JobFailing         Event = "failing"
	JobRetryLater      Event = "retry_later"
	JobCancelRequested Event = "cancel_requested"
	JobStopRequested   Event = "stop_requested" // cancelled between two tries
	JobStopped         Event = "stopped"
	JobRetryRequested  Event = "retry_requested"
)

// JobLifecycle is the life of a job.
var JobLifecycle = Lifecycle[JobState]{
	Noun: "job", Initial: JobQueued,
	States: []StateInfo[JobState]{
		{State: JobQueued, Means: "waits for a worker or for its next attempt"},
		{State: JobRunning, Means: "a worker runs it, or another one is about to continue it", Deadline: 2 * time.Hour},
		{State: JobCancelling, Means: "the worker is stopping it", Deadline: 5 * time.Minute},
		{State: JobSucceeded, Means: "done", Final: true},
		{State: JobFailed, Means: "failed; retry it, or give up and clean", Failed: true},
		{State: JobCancelled, Means: "cancelled; retry it, or give up and clean", Failed: true},
	},
	Transitions: []Transition[JobState]{
		{JobQueued, JobClaimed, JobRunning},
		{JobRunning, JobTakenOver, JobRunning},
		{JobRunning, JobHandedOver, JobRunning},
		{JobRunning, JobGivenBack, JobQueued},
		{JobRunning, JobRetryLater, JobQueued},
		{JobRunning, JobFinished, JobSucceeded},
		{JobRunning, JobFailing, JobFailed},
		{JobQueued, JobFailing, JobFailed},
		{JobQueued, JobCancelRequested, JobCancelled},
		{JobQueued, JobStopRequested, JobCancelling},
		{JobRunning, JobCancelRequested, JobCancelling},
		{JobCancelling, JobTakenOver, JobCancelling},
		{JobCancelling, JobHandedOver, JobCancelling},
		{JobCancelling, JobFinished, JobSucceeded},
		{JobCancelling, JobFailing, JobFailed},
		{JobCancelling, JobStopped, JobCancelled},
		{JobFailed, JobRetryRequested, JobQueued},
		{JobCancelled, JobRetryRequested, JobQueued},
	},
}

// StepState is where one step of a job is.
type StepState string

// The states of a step.
const (
	StepPending   StepState = "pending"
	StepRunning   StepState = "running"
	StepSucceeded StepState = "succeeded"
	StepFailed    StepState = "failed"
)

// JobError is why a job, or its last attempt, failed. It is shown to people:
// it holds no internal text, and the host's own message with it.
type JobError struct {
	Code     string `json:"code"`                // stable: "unreachable", "task_failed", ...
	Message  string `json:"message"`             // what happened, the host's own words included
	Host     string `json:"host,omitempty"`      // name of the host
	Task     string `json:"task,omitempty"`      // Ansible's task
	NextStep string `json:"next_step,omitempty"` // what a person can do now
	OwnTimes int    `json:"own_times,omitempty"` // how often in a row the backend itself failed (Own)
}

func (e *JobError) Error() string { return e.Code + ": " + e.Message }

// Codes of job errors that other code branches on or explains.
const (
	ErrCodeUnreachable     = "unreachable"
	ErrCodeHostKeyChanged  = "host_key_changed"
	ErrCodeSudoRefused     = "sudo_refused"
	ErrCodeTaskFailed      = "task_failed"
	ErrCodeFenced          = "fenced"
	ErrCodeNoFence         = "no_fence"
	ErrCodeFenceUnchecked  = "fence_unchecked"
	ErrCodeTimeout         = "timeout"
	ErrCodeCancelled       = work.CodeCancelled
	ErrCodeKilled          = "play_killed"
	ErrCodePlaybookError   = "playbook_error"
	ErrCodeInternal        = work.CodeInternal
	ErrCodeDeadline        = work.CodeDeadline
	ErrCodeHostDiffers     = "host_differs"
	ErrCodeSuperseded      = "superseded"
	ErrCodeAccessDenied    = "ssh_access_denied"
	ErrCodeAccountClosed   = "account_closed"
	ErrCodeLoginPrints     = "login_prints"
	ErrCodeTargetDenied    = "target_denied"
	ErrCodeHostUnsupported = "host_unsupported"
	ErrCodeDuplicate       = "duplicate_host"
	ErrCodePlanStale       = "plan_stale"
	ErrCodeMachineLost     = "machine_lost"
	ErrCodeIdentityTaken   = "identity_taken"
	ErrCodeAddressOnHost   = "address_on_host"
)

var nextSteps = map[string]string{
	ErrCodeUnreachable:     "Check that the host is up and that its address and port are right, then retry the job.",
	ErrCodeHostKeyChanged:  "Find out on the host itself why its SSH host key changed. If the new key is right, confirm it on the host's page and retry. If not, someone may be intercepting the connection.",
	ErrCodeSudoRefused:     "Give the admin user passwordless sudo on the host (a file in /etc/sudoers.d with NOPASSWD: ALL), then retry the job.",
	ErrCodeTaskFailed:      "Read the host's message, fix the cause on the host, then retry the job. Completed steps are not repeated.",
	ErrCodeFenced:          "Another job holds this host now. If none does, for example after a restore of the database, re-fence the host.",
	ErrCodeNoFence:         "The fence was removed from the host, or the machine was reinstalled. Make sure that it is the right machine, then re-fence the host.",
	ErrCodeFenceUnchecked:  "The fence on the host could not make its check, so nothing ran. Either processes of an older run do not end, or the fence's lock is held. The message names the cause. Fix it on the host, then retry the job.",
	ErrCodeTimeout:         "The host was too slow, or the play hangs. Look at the last task in the log, then retry the job.",
	ErrCodeCancelled:       "Retry the job to continue where it stopped, or give up and clean.",
	ErrCodeKilled:          "Something on the backend's machine killed Ansible several times: the kernel when memory ran out (see its log), or a person. Fix the cause, then retry the job.",
	ErrCodePlaybookError:   "The playbook is wrong. Make another version the default, then retry the job with it.",
	ErrCodeInternal:        "Search the backend's log for the job's id, then retry the job.",
	ErrCodeDeadline:        "Retry the job. It gets a new deadline.",
	ErrCodeHostDiffers:     "Another machine answers at this address, or the machine was reinstalled. Check the address. Declare a machine lost if it is gone for good; register a reinstalled machine as a new host.",
	ErrCodeSuperseded:      "The object has changed since this was requested; no action is needed.",
	ErrCodeAccessDenied:    "Add the public key shown on the host's page to ~/.ssh/authorized_keys of its admin user, then retry the job.",
	ErrCodeAccountClosed:   "Check the admin user's account on the host: its expiry date (chage -l), its login shell, /etc/nologin and the rules of PAM. Then retry the job.",
	ErrCodeLoginPrints:     "Let the admin user's ~/.bashrc and the files that it reads print only in interactive shells, then retry the job.",
	ErrCodeTargetDenied:    "Register the host under an address that the control plane may connect to.",
	ErrCodeHostUnsupported: "Fix the cause that the message names, then probe the host again.",
	ErrCodePlanStale:       "Nothing more was changed on the host. Retry the job to continue without the plan, or give up and start again with a new plan.",
	ErrCodeMachineLost:     "This machine was declared lost, and its old data must not come back. Reinstall it, so that it gets another machine-id, and probe again; or remove this host.",
	ErrCodeIdentityTaken:   "The host, or a directory service that it asks, already has an account or group with this login name or UID. Nothing was written on the host. Give up, then allocate with another login user.",
	ErrCodeAddressOnHost:   "The address is in use on the host, and Kloigos did not add it. Nothing was written on the host. Give up, which closes the address in its pool, then allocate again.",
	ErrCodeDuplicate:       "This machine is already registered under another name. Remove one of the two.",
}

// JobErrorCodes lists the codes that are explained.
func JobErrorCodes() []string { return slices.Sorted(maps.Keys(nextSteps)) }

// NextStep tells what a person can do about an error with this code.
func NextStep(code string) string { return nextSteps[code] }

// Healable tells whether the same job may well succeed a little later without
// anyone doing anything, so that it is tried again by itself.
func (e *JobError) Healable() bool {
	return e.Code == ErrCodeUnreachable || e.Code == ErrCodeFenceUnchecked || e.Code == ErrCodeKilled
}

// Answered tells whether a host that was asked and failed so had answered.
func (e *JobError) Answered() bool {
	switch e.Code {
	case ErrCodeTaskFailed, ErrCodeFenced, ErrCodeNoFence, ErrCodeFenceUnchecked, ErrCodeSudoRefused, ErrCodeAccessDenied,
		ErrCodeAccountClosed, ErrCodeLoginPrints, ErrCodeHostDiffers, ErrCodeHostUnsupported, ErrCodeIdentityTaken, ErrCodeAddressOnHost:
		return true
	default:
		return false
	}
}

// Own tells whether the backend failed, and not the host or the playbook.
func (e *JobError) Own() bool { return e.Code == ErrCodeInternal || e.Code == ErrCodeKilled }
