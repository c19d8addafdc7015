package api

import "time"

// Playbook is an Ansible playbook with its versions.
type Playbook struct {
	Name           string    `json:"name"`
	Description    string    `json:"description"`
	DefaultVersion int       `json:"default_version" doc:"what new jobs are bound to"`
	Versions       int       `json:"versions" doc:"how many there are"`
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
	CreatedBy    string    `json:"created_by"`
	CreatedAt    time.Time `json:"created_at"`
}

// PlaybookFile is one file of a version.
type PlaybookFile struct {
	Path      string `json:"path"`
	SizeBytes int64  `json:"size_bytes"`
	Content   string `json:"content,omitempty" doc:"its text, where one file is asked for"`
}
