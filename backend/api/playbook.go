package api

import "time"

// Playbook is an Ansible playbook with its versions.
type Playbook struct {
	Name           string    `json:"name"`
	Description    string    `json:"description"`
	DefaultVersion int       `json:"default_version" doc:"what new jobs are bound to"`
	Versions       int       `json:"versions" doc:"how many there are"`
	Revision       int64     `json:"revision" doc:"grows with every change of the default; its ETag"`
	UpdatedAt      time.Time `json:"updated_at"`
}

// PlaybookVersion is one version of a playbook.
type PlaybookVersion struct {
	ID           string    `json:"id" format:"uuid"`
	Playbook     string    `json:"playbook"`
	Version      int       `json:"version"`
	SHA256       string    `json:"sha256" doc:"of the compressed artifact, hex"`
	SizeBytes    int64     `json:"size_bytes"`
	DecodedBytes int64     `json:"decoded_bytes"`
	Files        int       `json:"files"`
	Seeded       bool      `json:"seeded" doc:"came with a release of Kloigos"`
	Default      bool      `json:"default"`
	Note         string    `json:"note,omitempty" doc:"why it was made, in words of whoever uploaded it"`
	CreatedBy    string    `json:"created_by"`
	CreatedAt    time.Time `json:"created_at"`
	LintState    string    `json:"lint_state" enum:"waiting,running,done,unavailable,failed" doc:"of ansible-lint's look at it"`
	LintFindings int       `json:"lint_findings" doc:"how many things ansible-lint would write otherwise"`
	Lint         *Lint     `json:"lint,omitempty" doc:"what they are, where one version is asked for"`
}

// Lint is what ansible-lint says of a version.
type Lint struct {
	State     string        `json:"state" enum:"running,done,unavailable,failed"`
	Tool      string        `json:"tool,omitempty" doc:"name and version of what looked"`
	Message   string        `json:"message,omitempty" doc:"why it is unavailable or failed"`
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
	Base  int                `json:"base,omitempty" minimum:"1" maximum:"2147483647" doc:"take all files of this version, and of these files what differs from it"`
	Files map[string]*string `json:"files" doc:"text by path, as playbook.yml or roles/x/tasks/main.yml; null leaves a file of the base out"`
	Note  string             `json:"note,omitempty" maxLength:"500" doc:"why the version is made"`
}

// PlaybookDiff is how a version differs from another.
type PlaybookDiff struct {
	Playbook string             `json:"playbook"`
	Version  int                `json:"version"`
	Against  int                `json:"against"`
	Files    []PlaybookFileDiff `json:"files" nullable:"false" doc:"those that differ"`
}

// PlaybookFileDiff is how one file differs.
type PlaybookFileDiff struct {
	Path    string `json:"path"`
	Change  string `json:"change" enum:"added,removed,changed"`
	Added   int    `json:"lines_added"`
	Removed int    `json:"lines_removed"`
	Diff    string `json:"diff" doc:"unified, with three lines around each change"`
	Cut     bool   `json:"cut,omitempty" doc:"the diff is longer than what is shown of it"`
}

// PlaybookFile is one file of a version.
type PlaybookFile struct {
	Path      string `json:"path"`
	SizeBytes int64  `json:"size_bytes"`
	Content   string `json:"content,omitempty" doc:"its text, where one file is asked for"`
}
