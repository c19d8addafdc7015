package api

import "time"

// Playbook is an Ansible playbook with its versions.
type Playbook struct {
	Name           string    `json:"name"`
	Description    string    `json:"description"`
	DefaultVersion int       `json:"default_version" doc:"version that new jobs use"`
	Versions       int       `json:"versions" doc:"number of versions"`
	Revision       int64     `json:"revision" doc:"increases with every change of the default version; also the ETag"`
	UpdatedAt      time.Time `json:"updated_at"`
}

// PlaybookVersion is one version of a playbook.
type PlaybookVersion struct {
	ID           string    `json:"id" format:"uuid"`
	Playbook     string    `json:"playbook"`
	Version      int       `json:"version"`
	SHA256       string    `json:"sha256" doc:"SHA-256 of the compressed artifact, in hex"`
	SizeBytes    int64     `json:"size_bytes"`
	DecodedBytes int64     `json:"decoded_bytes"`
	Files        int       `json:"files"`
	Seeded       bool      `json:"seeded" doc:"whether it is part of a release of Kloigos"`
	Default      bool      `json:"default"`
	Note         string    `json:"note,omitempty" doc:"why it was created, as its author put it"`
	CreatedBy    string    `json:"created_by"`
	CreatedAt    time.Time `json:"created_at"`
	LintState    string    `json:"lint_state" enum:"waiting,running,done,unavailable,failed" doc:"state of the check by ansible-lint"`
	LintFindings int       `json:"lint_findings" doc:"number of findings of ansible-lint"`
	Lint         *Lint     `json:"lint,omitempty" doc:"findings of ansible-lint; absent in lists"`
}

// Lint is what ansible-lint says of a version.
type Lint struct {
	State     string        `json:"state" enum:"running,done,unavailable,failed"`
	Tool      string        `json:"tool,omitempty" doc:"name and version of the linter"`
	Message   string        `json:"message,omitempty" doc:"why it failed or is unavailable"`
	Findings  []LintFinding `json:"findings" nullable:"false"`
	StartedAt time.Time     `json:"started_at"`
	EndedAt   *time.Time    `json:"ended_at,omitempty"`
}

// LintFinding is one thing that ansible-lint would write otherwise.
type LintFinding struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity,omitempty"`
	Path     string `json:"path"`
	Line     int    `json:"line,omitempty"`
	Message  string `json:"message"`
}

// UploadPlaybook is a version as a set of files. Sent as application/zstd, it
// is a tar compressed with zstd instead.
type UploadPlaybook struct {
	Base  int                `json:"base,omitempty" minimum:"1" maximum:"2147483647" doc:"start from the files of this version; files holds only what differs"`
	Files map[string]*string `json:"files" doc:"text by path, such as playbook.yml or roles/x/tasks/main.yml; null removes a file of the base"`
	Note  string             `json:"note,omitempty" maxLength:"500" doc:"why the version is created"`
}

// PlaybookDiff is how a version differs from another.
type PlaybookDiff struct {
	Playbook string             `json:"playbook"`
	Version  int                `json:"version"`
	Against  int                `json:"against"`
	Files    []PlaybookFileDiff `json:"files" nullable:"false" doc:"files that differ"`
}

// PlaybookFileDiff is how one file differs.
type PlaybookFileDiff struct {
	Path    string `json:"path"`
	Change  string `json:"change" enum:"added,removed,changed"`
	Added   int    `json:"lines_added"`
	Removed int    `json:"lines_removed"`
	Diff    string `json:"diff" doc:"unified diff with three lines of context"`
	Cut     bool   `json:"cut,omitempty" doc:"whether the diff was cut"`
}

// PlaybookFile is one file of a version.
type PlaybookFile struct {
	Path      string `json:"path"`
	SizeBytes int64  `json:"size_bytes"`
	Content   string `json:"content,omitempty" doc:"text of the file; absent in lists"`
}
