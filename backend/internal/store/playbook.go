package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// Playbook is one row of playbooks.
type Playbook struct {
	Name           string    `db:"name"`
	Description    string    `db:"description"`
	DefaultVersion int       `db:"default_version"`
	Versions       int       `db:"versions"`
	Revision       int64     `db:"revision"` // grows with every change of the default
	UpdatedAt      time.Time `db:"updated_at"`
}

const sqlPlaybook = `
SELECT p.name, p.description, p.default_version, (SELECT count(*) FROM playbook_versions v WHERE v.playbook = p.name) AS versions, p.revision, p.updated_at
  FROM playbooks p
 WHERE true`

// Playbook returns a playbook by its name.
func (r Reads) Playbook(ctx context.Context, name string) (Playbook, error) {
	return db.First[Playbook](ctx, r.q, domain.ErrNotFound, sqlPlaybook+" AND p.name = $1", name)
}

// PlaybookSorting is the orders that playbooks can be listed in.
var PlaybookSorting = db.Sorting[Playbook]{
	{Name: "name", Columns: []db.Column{db.ByText("p.name")}, At: func(p Playbook) db.Position { return db.Position{Text: p.Name} }},
}

// PlaybookFilter narrows a list of playbooks.
type PlaybookFilter struct {
	Sort  string // one of PlaybookSorting; "" for the first
	After *db.Position
	Limit int
}

// Playbooks lists playbooks.
func (r Reads) Playbooks(ctx context.Context, f PlaybookFilter) ([]Playbook, error) {
	l := db.NewList(sqlPlaybook)
	return PlaybookSorting.Read(ctx, r.q, l, f.Sort, f.After, f.Limit)
}

// PlaybookVersion is one row of playbook_versions, without its content.
type PlaybookVersion struct {
	ID           uuid.UUID `db:"id"`
	Playbook     string    `db:"playbook"`
	Version      int       `db:"version"`
	SHA256       string    `db:"sha256"`      // hex, of the content
	TreeSHA256   *string   `db:"tree_sha256"` // hex, of the files as a canonical tar; nil if an older release seeded it
	SizeBytes    int64     `db:"size_bytes"`
	DecodedBytes int64     `db:"decoded_bytes"`
	Files        int       `db:"files"`
	Seeded       bool      `db:"seeded"`
	Default      bool      `db:"is_default"`
	Note         string    `db:"note"`
	CreatedBy    string    `db:"created_by"`
	CreatedAt    time.Time `db:"created_at"`
	LintState    *string   `db:"lint_state"`    // nil: no backend has taken it up
	LintFindings *int      `db:"lint_findings"` // how many there are
}

const sqlPlaybookVersion = `
SELECT v.id, v.playbook, v.version, v.sha256, v.tree_sha256, v.size_bytes, v.decoded_bytes, v.files, v.seeded,
       v.version = p.default_version AS is_default, v.note, v.created_by, v.created_at, l.state AS lint_state,
       jsonb_array_length(l.findings) AS lint_findings
  FROM playbook_versions v
  JOIN playbooks p ON p.name = v.playbook
  LEFT JOIN playbook_lints l ON l.version_id = v.id
 WHERE true`

// PlaybookVersion returns a version of a playbook.
func (r Reads) PlaybookVersion(ctx context.Context, playbook string, version int) (PlaybookVersion, error) {
	return db.First[PlaybookVersion](ctx, r.q, domain.ErrNotFound, sqlPlaybookVersion+" AND v.playbook = $1 AND v.version = $2", playbook, version)
}

// PlaybookVersionByID returns a version by its id.
func (r Reads) PlaybookVersionByID(ctx context.Context, id uuid.UUID) (PlaybookVersion, error) {
	return db.First[PlaybookVersion](ctx, r.q, domain.ErrNotFound, sqlPlaybookVersion+" AND v.id = $1", id)
}

// VersionOnHost returns the version of a playbook that new jobs of a host are bound to: what a delivery gave to the host, or the
// default. uuid.Nil is no host.
func (r Reads) VersionOnHost(ctx context.Context, playbook string, host uuid.UUID) (PlaybookVersion, error) {
	return db.First[PlaybookVersion](ctx, r.q, domain.ErrNotFound, sqlPlaybookVersion+` AND v.playbook = $1
   AND v.version = COALESCE((SELECT b.version FROM host_playbooks b WHERE b.host_id = $2 AND b.playbook = $1), p.default_version)`, playbook, host)
}

const sqlDeliveryOfPlaybook = `
SELECT d.name
  FROM playbook_deliveries d
 WHERE d.playbook = $1 AND d.open`

// DeliveryOfPlaybook returns the name of the delivery of a playbook that has not ended; "" if there is none.
func (r Reads) DeliveryOfPlaybook(ctx context.Context, playbook string) (name string, err error) {
	err = r.q.QueryRow(ctx, sqlDeliveryOfPlaybook, playbook).Scan(&name)
	if db.IsNoRows(err) {
		return "", nil
	}
	return name, err
}

// PlaybookVersionSorting is the orders that a playbook's versions can be listed in.
var PlaybookVersionSorting = db.Sorting[PlaybookVersion]{
	{Name: "-version", Columns: []db.Column{db.ByNumber("v.version", math.MaxInt32)}, At: func(v PlaybookVersion) db.Position { return db.Position{Number: int64(v.Version)} }},
}

// PlaybookVersionFilter narrows a list of versions.
type PlaybookVersionFilter struct {
	Playbook string
	Sort     string // one of PlaybookVersionSorting; "" for the first
	After    *db.Position
	Limit    int
}

// PlaybookVersions lists the versions of a playbook.
func (r Reads) PlaybookVersions(ctx context.Context, f PlaybookVersionFilter) ([]PlaybookVersion, error) {
	l := db.NewList(sqlPlaybookVersion).And("v.playbook = ?", f.Playbook)
	return PlaybookVersionSorting.Read(ctx, r.q, l, f.Sort, f.After, f.Limit)
}

const sqlPlaybookContent = `
SELECT v.content
  FROM playbook_versions v
 WHERE v.id = $1`

// PlaybookContent returns the artifact of a version: a tar compressed with
// zstd.
func (r Reads) PlaybookContent(ctx context.Context, version uuid.UUID) ([]byte, error) {
	var content []byte
	err := r.q.QueryRow(ctx, sqlPlaybookContent, version).Scan(&content)
	if db.IsNoRows(err) {
		return nil, domain.ErrNotFound
	}
	return content, err
}

const sqlInsertPlaybook = `
INSERT INTO playbooks (name, description, default_version)
VALUES ($1, $2, 1)
ON CONFLICT (name) DO UPDATE
   SET description = excluded.description`

const sqlKnownContent = `
SELECT v.id, v.version
  FROM playbook_versions v
 WHERE v.playbook = $1 AND (v.sha256 = $2 OR v.tree_sha256 = $3)`

const sqlSetTree = `
UPDATE playbook_versions
   SET tree_sha256 = $3
 WHERE id = $1 AND tree_sha256 IS NULL
   AND NOT EXISTS (SELECT 1 FROM playbook_versions v WHERE v.playbook = $2 AND v.tree_sha256 = $3)`

const sqlInsertPlaybookVersion = `
INSERT INTO playbook_versions (id, playbook, version, sha256, tree_sha256, content, size_bytes, decoded_bytes, files, seeded, note, created_by)
SELECT $1, $2, COALESCE((SELECT max(v.version) FROM playbook_versions v WHERE v.playbook = $2), 0) + 1, $3, $4, $5, $6, $7, $8, $9, $10, $11
RETURNING version`

const sqlDefaultIsSeeded = `
SELECT v.seeded
  FROM playbooks p
  JOIN playbook_versions v ON v.playbook = p.name AND v.version = p.default_version
 WHERE p.name = $1`

const sqlSetDefaultVersion = `
UPDATE playbooks
   SET default_version = $2, revision = revision + 1, updated_at = now()
 WHERE name = $1`

const sqlChangeDefaultVersion = `
UPDATE playbooks
   SET default_version = $2, revision = revision + 1, updated_at = now()
 WHERE name = $1 AND revision = $3`

// SeedPlaybook brings a packaged version in. Content that is known makes no
// new version; a new one becomes the default only where the present default
// came with a release too. It returns the version and whether it is new.
func (tx *Tx) SeedPlaybook(ctx context.Context, description string, v PlaybookVersion, content []byte) (version int, added bool, err error) {
	tx.Touch(nounPlaybook, playbookID(v.Playbook))
	if _, err := tx.Exec(ctx, sqlInsertPlaybook, v.Playbook, description); err != nil {
		return 0, false, fmt.Errorf("insert playbook: %w", err)
	}
	var seeded bool
	err = tx.q.QueryRow(ctx, sqlDefaultIsSeeded, v.Playbook).Scan(&seeded)
	if err != nil && !db.IsNoRows(err) { // without a version it is the first one, which is the default
		return 0, false, fmt.Errorf("look at the default version: %w", err)
	}
	_, version, added, err = tx.AddPlaybookVersion(ctx, v, content)
	if err != nil || !added {
		return version, added, err
	}
	if seeded {
		if err := tx.One(ctx, domain.ErrNotFound, sqlSetDefaultVersion, v.Playbook, version); err != nil {
			return 0, false, fmt.Errorf("set the default version: %w", err)
		}
	}
	return version, true, nil
}

// AddPlaybookVersion adds a version of a playbook that exists. Content that is
// known, by its bytes or by the files in it, makes no new one.
func (tx *Tx) AddPlaybookVersion(ctx context.Context, v PlaybookVersion, content []byte) (id uuid.UUID, version int, added bool, err error) {
	tx.Touch(nounPlaybook, playbookID(v.Playbook))
	err = tx.q.QueryRow(ctx, sqlKnownContent, v.Playbook, v.SHA256, v.TreeSHA256).Scan(&id, &version)
	if err == nil && v.TreeSHA256 != nil {
		_, err = tx.Exec(ctx, sqlSetTree, id, v.Playbook, v.TreeSHA256)
	}
	if err == nil || !db.IsNoRows(err) {
		return id, version, false, err
	}
	id = uuid.New()
	err = tx.q.QueryRow(ctx, sqlInsertPlaybookVersion, id, v.Playbook, v.SHA256, v.TreeSHA256, content, v.SizeBytes, v.DecodedBytes, v.Files,
		v.Seeded, v.Note, v.CreatedBy).Scan(&version)
	if _, dup := db.UniqueViolation(err); dup {
		return uuid.Nil, 0, false, domain.Conflictf("playbook_changed", "another version of %s was added in the meantime", v.Playbook)
	}
	if err != nil {
		return uuid.Nil, 0, false, errors.Join(errors.New("insert playbook version"), err)
	}
	return id, version, true, nil
}

// SetDefaultPlaybookVersion changes what new jobs of a playbook are bound to,
// as the playbook was read.
func (tx *Tx) SetDefaultPlaybookVersion(ctx context.Context, p Playbook, version int) error {
	tx.Touch(nounPlaybook, playbookID(p.Name))
	changed := domain.Conflictf("version_mismatch", "the default of %s was changed in the meantime", p.Name)
	return tx.One(ctx, changed, sqlChangeDefaultVersion, p.Name, version, p.Revision)
}
