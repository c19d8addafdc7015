// Package ansible runs one Ansible play against real hosts and tells what happened, task by task.
//
// It owns: the command line, the private directory of a run (variables, inventory, keys, known host keys),
// the clean environment, the wall that leaves Ansible nothing else of this machine, the supervisor that outlives neither its backend nor its play, the callback plugin
// that turns Ansible's results into events, and the reading of failures (unreachable, wrong host key, refused
// by the fence, ...). It is the only place that knows go-ansible.
//
// It refuses: values that could become options or templates on the controller, variables named ansible_*,
// hosts without a known host key, and anything of the caller's environment. It knows no noun of the domain,
// decides nothing about retries, and keeps nothing after a run.
package ansible

import (
	"context"
	"encoding/json"
	"time"
)

// Runner runs one play. The two implementations are [Supervised] (real) and scripted.Runner (for tests of
// orchestration).
//
// The error tells that the run could not be carried out at all (no ansible-playbook, no room for the run's
// directory, an invalid play: [ErrInvalidPlay]). Everything that the play itself came to, a cancelled context and a
// timeout included, is in the Outcome, with the events and results that were seen until then. When Run returns, no
// process of the run is left on this machine.
//
// sink is called from one goroutine at a time, in order, and never after Run has returned. A slow sink slows the
// play down. It may be nil.
type Runner interface {
	Run(ctx context.Context, play Play, sink func(Event)) (Outcome, error)
	// End comes to a host as its newest holder and starts nothing: the host's fence, which has not seen the number yet,
	// ends whatever older runs still do there, and End returns when nothing of them is left. It is what a run that was
	// ended from here needs, since a module on the host goes on without its play. The host must have a fence.
	End(ctx context.Context, host Host) error
}

// Play is one run of one playbook over some hosts.
type Play struct {
	// Name of the playbook ("host_probe"); for logs and for the scripted runner.
	Name string
	// Bundle is the directory of the unpacked bundle: the playbook, roles/, library/. It is copied. Leave it empty and give
	// Unpack instead to fill the run's own directory, which goes away with the run.
	Bundle string
	// Unpack fills the directory, which exists and is empty. Exactly one of Bundle and Unpack is given.
	Unpack func(dir string) error
	// BundleSHA256 names what is in the bundle, in hexadecimal. Where it is given, what Ansible packs of its modules is
	// kept for the next run of the same bundle.
	BundleSHA256 string
	// Playbook is a file at the top of the bundle; "playbook.yml" if empty.
	Playbook string
	Hosts    []Host
	// Vars is marshalled to JSON and must come out as an object. Every string in it is data: no template in it is
	// ever evaluated. Keys at every depth match ^[a-z][a-z0-9_]*$ and do not begin with ansible_.
	Vars  any
	Check bool
	Diff  bool
	// Verbosity from 0 to 3. What Ansible then prints comes as EventOutput.
	Verbosity int
	// Timeout of the whole run; 0 means none beside the context's.
	Timeout time.Duration
	// Secrets are strings that must not appear in any event, beside the private keys. Shorter than 4 bytes are
	// ignored: redacting them would shred everything else.
	Secrets []string
}

// Host is one target.
type Host struct {
	// Name in the inventory: lower-case letters, digits and dashes, at most 63.
	Name string
	// Address is an IP address or a DNS name.
	Address string
	Port    int // 22 if 0
	User    string
	// PrivateKey in PEM, without a passphrase.
	PrivateKey []byte
	// HostKeys in the form of authorized_keys ("ssh-ed25519 AAAA..."). At least one: an unknown host is never
	// connected to, and only these types of key are offered to it.
	HostKeys []string
	// Fence guards every module's start on the host; nil means plain python3.
	Fence *Fence
}

// Fence is the token that the fence on the host compares (docs/host-contract.md).
type Fence struct {
	Incarnation string // UUID
	Number      int64  // >= 1
	Run         string // ^[a-zA-Z0-9-]{1,64}$
}

// EventKind says what an [Event] tells.
type EventKind string

// The kinds of events.
const (
	EventPlayStarted EventKind = "play_started"
	EventTaskStarted EventKind = "task_started"
	EventOK          EventKind = "ok"
	EventChanged     EventKind = "changed"
	EventSkipped     EventKind = "skipped"
	EventFailed      EventKind = "failed"
	EventUnreachable EventKind = "unreachable"
	EventIgnored     EventKind = "ignored" // failed, but the task has ignore_errors
	EventRetry       EventKind = "retry"   // one turn of until/retries
	EventOutput      EventKind = "output"  // a stray line of stdout or stderr, or a note of the runner
	EventFinished    EventKind = "finished"
	EventResult      EventKind = "result" // a kloigos_result, in Event.Result: of a loop, one for each turn, as it comes
	EventChange      EventKind = "change" // of a check only: one thing that the task would change, in Event.Change
)

// Event is one thing that happened in a run. All strings are valid UTF-8, without secrets, NUL or terminal
// control other than SGR colours (a Change has none of them either), and capped: Message 8 KiB, Output 64 KiB, Diff 256 KiB.
type Event struct {
	Time    time.Time `json:"time"`
	Kind    EventKind `json:"kind"`
	Play    string    `json:"play,omitempty"`
	Role    string    `json:"role,omitempty"`
	Task    string    `json:"task,omitempty"`
	Action  string    `json:"action,omitempty"` // module, fully qualified
	Host    string    `json:"host,omitempty"`
	Item    string    `json:"item,omitempty"` // set on the single turns of a loop; the task's own event follows with it empty
	Changed bool      `json:"changed,omitempty"`
	Message string    `json:"message,omitempty"`
	Output  string    `json:"output,omitempty"`
	Diff    string    `json:"diff,omitempty"`
	// DurationMS is the time that the task took on the host.
	DurationMS int64   `json:"duration_ms,omitempty"`
	Change     *Change `json:"change,omitempty"`
	// Result is a JSON object of at most 1 MiB, as in Outcome.Results.
	Result json.RawMessage `json:"-"`
}

// Change is one thing that a check says a run would change. Before and After are capped at 32 KiB, the rest at 512 bytes;
// all of it came from the host, but Action.
type Change struct {
	Kind   string `json:"kind"` // "file", "user", "volume", "service", ...
	Name   string `json:"name"`
	Action string `json:"action"` // create, change, remove; follows: could not be checked yet; stops: a run would stop there
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	Note   string `json:"note,omitempty"`
}

// Stats are Ansible's counts for one host.
type Stats struct {
	OK          int `json:"ok"`
	Changed     int `json:"changed"`
	Failed      int `json:"failed"`
	Unreachable int `json:"unreachable"`
	Skipped     int `json:"skipped"`
	Rescued     int `json:"rescued"`
	Ignored     int `json:"ignored"`
}

// Outcome is what a play came to.
type Outcome struct {
	// Results holds, for each host, the last kloigos_result that a module on it returned: at most 1 MiB each, a
	// JSON object. It came from the host: data to be validated, never to be templated.
	Results map[string]json.RawMessage
	Stats   map[string]Stats
	// Failure is nil if the play succeeded; else the one that came first.
	Failure *Failure
	// Failures holds one for each host that failed, Failure among them.
	Failures []Failure
	Usage    Usage
}

// Usage is what the run cost on this machine.
type Usage struct {
	MaxRSSBytes int64         // the largest single process
	CPU         time.Duration // user and system, all processes
	Elapsed     time.Duration // from the order on: without what was made ready before
}

// FailureCode is stable: callers branch on it, and it is shown.
type FailureCode string

// The codes of failures.
const (
	CodeUnreachable    FailureCode = "unreachable"      // no connection, or it broke
	CodeHostKeyChanged FailureCode = "host_key_changed" // the host shows another key than the known ones
	CodeLoginRefused   FailureCode = "login_refused"    // the host does not take our key for this user
	CodeAccountClosed  FailureCode = "account_closed"   // the host takes our key, and lets this user run nothing: expired, nologin, PAM
	CodeLoginPrints    FailureCode = "login_prints"     // what the user's shell prints makes the answers of modules unreadable
	CodeSudoRefused    FailureCode = "sudo_refused"     // passwordless sudo does not work
	CodeTaskFailed     FailureCode = "task_failed"
	CodeFenced         FailureCode = "fenced"          // the fence on the host refused: a newer holder, or another incarnation
	CodeNoFence        FailureCode = "no_fence"        // the host was to check the run, and has no fence
	CodeFenceUnchecked FailureCode = "fence_unchecked" // the host's fence could not make its check for now, and ran nothing
	CodeIdentityTaken  FailureCode = "identity_taken"  // a role refused, before it wrote anything: the login name or the UID is another's on the host
	CodeAddressOnHost  FailureCode = "address_on_host" // the same: the address is on the host, and is not the unit's
	CodeTimeout        FailureCode = "timeout"         // Play.Timeout
	CodeCancelled      FailureCode = "cancelled"
	CodeKilled         FailureCode = "killed"         // something else than we ended Ansible: the kernel for want of memory, or a person
	CodePlaybookError  FailureCode = "playbook_error" // the playbook itself is wrong, or ran no task on a host
)

// Failure tells why a play did not succeed.
type Failure struct {
	Code FailureCode `json:"code"`
	Host string      `json:"host,omitempty"`
	Role string      `json:"role,omitempty"`
	Task string      `json:"task,omitempty"`
	// Message is the host's own: the module's message and the end of what it wrote to stderr.
	Message string `json:"message"`
}

// Retryable tells whether the same play may well succeed later with nothing changed by a person.
func (f Failure) Retryable() bool { return f.Code == CodeUnreachable }
