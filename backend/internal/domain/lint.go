package domain

// The states of a version's lint.
const (
	LintRunning     = "running"
	LintDone        = "done"
	LintUnavailable = "unavailable" // the backend that looked has no ansible-lint
	LintFailed      = "failed"
)

// Lint is what ansible-lint said of a version of a playbook.
type Lint struct {
	State    string // done, unavailable or failed
	Tool     string // name and version
	Message  string // why it is unavailable or failed
	Findings []LintFinding
}

// LintFinding is one thing that ansible-lint would write otherwise.
type LintFinding struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Path     string `json:"path"`
	Line     int    `json:"line"`
	Message  string `json:"message"`
}
