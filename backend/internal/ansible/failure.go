package ansible

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// signs are the words by which a cause shows, in the texts of ssh, sudo, Ansible's sudo plugin and our fence.
// LC_ALL is fixed on this side, and on the host's side sudo -n and sshd do not translate for a login without a locale.
var (
	fenceSigns = []string{"kloigos-fence: refused"}
	// Of the shell, where the wrapper is not there, and of the wrapper, where its state is not.
	noFenceSigns = []string{"fence-python: not found", "fence-python: No such file or directory", "kloigos-fence: cannot check: no fence state here"}
	// Of the wrapper, where waiting may help; it does not where its log or its token can't be written.
	uncheckedSigns = []string{
		"kloigos-fence: cannot check: older run", "kloigos-fence: cannot check: the lock is busy",
		"kloigos-fence: cannot check: no cgroup for", "kloigos-fence: cannot check: the run's cgroup cannot be entered",
	}
	hostKeySigns = []string{"REMOTE HOST IDENTIFICATION HAS CHANGED", "Host key verification failed", "no matching host key type found", "host key is known for"}
	loginSigns   = []string{"Permission denied (", "Too many authentication failures"}
	sudoSigns    = []string{
		"Missing sudo password", "sudo: a password is required", "sudo: a terminal is required", "is not in the sudoers file",
		"may not run sudo", "is not allowed to execute", "sudo: command not found", "sudo: not found", "Incorrect sudo password",
	}
	// Of Ansible, where a host is too busy to get as far as sudo within ssh's time: nothing was done there yet.
	tooSlow = regexp.MustCompile(`^Timeout \(\d+s\) waiting for privilege escalation prompt`)
)

// refusal is how our modules begin the message of a failure that has a code of its own.
var refusal = regexp.MustCompile(`^refused \(([a-z_]+)\): `)

var refusals = []FailureCode{CodeIdentityTaken, CodeAddressOnHost}

// refused tells the code that a module gave its failure, and its message without it.
func refused(message string) (code FailureCode, rest string, ok bool) {
	match := refusal.FindStringSubmatch(message)
	if match == nil || !slices.Contains(refusals, FailureCode(match[1])) {
		return "", message, false
	}
	return FailureCode(match[1]), message[len(match[0]):], true
}

// classify reads the cause of a failure out of a host's words.
func classify(kind EventKind, text string) FailureCode {
	has := func(signs []string) bool {
		return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(text, sign) })
	}
	switch {
	case kind == EventUnreachable && has(hostKeySigns):
		return CodeHostKeyChanged
	case kind == EventUnreachable && has(loginSigns):
		return CodeLoginRefused
	case has(fenceSigns):
		return CodeFenced
	case has(noFenceSigns):
		return CodeNoFence
	case has(uncheckedSigns):
		return CodeFenceUnchecked
	case kind == EventUnreachable, tooSlow.MatchString(text):
		return CodeUnreachable
	case has(sudoSigns):
		return CodeSudoRefused
	}
	return CodeTaskFailed
}

var shownKeyPattern = regexp.MustCompile(`fingerprint for the (\S+) key sent by the remote host is\s+(SHA256:[A-Za-z0-9+/=]+)`)

// explainConnection leaves of ssh's words what is of use: its advice about a changed key names files that are gone
// when somebody reads it.
func explainConnection(code FailureCode, message string) string {
	for _, preface := range []string{"Make sure this host can be reached over ssh:", "Failed to connect to the host via ssh:"} {
		if _, after, found := strings.Cut(message, preface); found {
			message = after
		}
	}
	if shown := shownKeyPattern.FindStringSubmatch(message); code == CodeHostKeyChanged && shown != nil {
		return describeUnknownKey(shown[1], shown[2])
	}
	return strings.TrimSpace(message)
}

// vague tells whether Ansible's words leave the cause open: it has lost ssh's, or ssh has none for a login that the
// host has ended.
func (f *Failure) vague() bool {
	return f.Code == CodeUnreachable && (f.Message == "" || strings.Contains(f.Message, "[Errno ") ||
		strings.Contains(f.Message, "Connection closed by") || strings.Contains(f.Message, "Connection reset by"))
}

// noAnswer tells whether a module's answer was not to be read, and nothing says why. What the login of the user prints
// or refuses can be the cause.
func (f *Failure) noAnswer() bool {
	return f.Code == CodeTaskFailed && strings.HasPrefix(f.Message, "MODULE FAILURE")
}

// outcome is settled after all streams have ended. stopped is the code of a run that was ended from here, else "".
func (c *collector) outcome(status superviseStatus, stopped FailureCode) Outcome {
	out := Outcome{Results: c.results, Stats: c.stats, Usage: Usage{MaxRSSBytes: status.MaxRSSBytes, CPU: status.CPU}}
	if out.Stats == nil {
		out.Stats = map[string]Stats{}
	}
	if stopped != "" && c.stats == nil {
		f := Failure{Code: stopped, Role: c.current.Role, Task: c.clean(c.current.Task, maxName), Message: "the run was cancelled"}
		if stopped == CodeTimeout {
			f.Message = "the run took longer than it may"
		}
		out.Failure = &f
		out.Failures = []Failure{f}
		return out
	}
	for _, f := range c.failures {
		// Where Ansible did not come to its end, a task that failed before it went on is not what ended it.
		if s, counted := c.stats[f.Host]; !counted && (c.stats != nil || !c.wentOn) || s.Failed > 0 || s.Unreachable > 0 {
			out.Failures = append(out.Failures, f)
		}
	}
	if len(out.Failures) == 0 {
		if code, message := c.unexplained(status); message != "" {
			out.Failures = []Failure{{Code: code, Role: c.current.Role, Task: c.clean(c.current.Task, maxName), Message: message}}
		}
	}
	if len(out.Failures) > 0 {
		out.Failure = &out.Failures[0]
	}
	return out
}

// wallSays begins what the wall writes to stderr where it can't be built.
const wallSays = "bwrap: "

// notWalled is the wall's reason where it could not be built, so that nothing has begun; else "".
func (c *collector) notWalled(status superviseStatus) string {
	if status.Exit != 1 || c.stats != nil || c.begun || !strings.HasPrefix(c.stderr, wallSays) {
		return ""
	}
	return strings.TrimSpace(c.stderr)
}

// deadWorker is what Ansible says of a child of its own that something else has ended.
const deadWorker = "A worker was found in a dead state"

// unexplained finds what is wrong where no task has failed; "" is a success. A run counts as one only if Ansible said
// so, came to its end, and did something on every host.
func (c *collector) unexplained(status superviseStatus) (code FailureCode, message string) {
	switch {
	case c.problem != "":
		return CodePlaybookError, c.problem
	case status.Signal != 0:
		return CodeKilled, strings.TrimSpace(fmt.Sprintf("ansible-playbook was killed by signal %d\n%s", status.Signal, c.stderr))
	case status.Exit != 0 && strings.Contains(c.stderr, deadWorker):
		return CodeKilled, "a process of ansible-playbook was killed"
	case status.Exit != 0:
		return CodePlaybookError, c.complaint(status.Exit)
	case c.stats == nil:
		return CodePlaybookError, "ansible-playbook ended without its statistics"
	}
	for host := range c.hosts {
		if _, ok := c.stats[host]; !ok {
			return CodePlaybookError, "no task was run on host " + host
		}
	}
	return "", ""
}

// complaint is what Ansible said when it ended with an exit code.
func (c *collector) complaint(exit int) string {
	message := c.stderr
	if at := strings.Index(message, "ERROR!"); at >= 0 {
		message = message[at+len("ERROR!"):]
	}
	if message = strings.TrimSpace(message); message == "" {
		message = fmt.Sprintf("ansible-playbook ended with %d", exit)
	}
	return message
}
