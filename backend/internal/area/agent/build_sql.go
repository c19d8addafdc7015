package agent

import (
	"context"
	"fmt"
	"time"

	"kloigos/backend/internal/kernel/db"
)

const sqlInsertBuild = `
INSERT INTO agent_builds (version, arch, manifest, signature, lowest_before, expires_at, size_bytes, sha256, parts)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (version, arch) DO NOTHING`

const sqlInsertBuildPart = `
INSERT INTO agent_build_parts (version, arch, part, content)
VALUES ($1, $2, $3, $4)`

const sqlBuildPart = `
SELECT b.manifest, b.signature, b.parts, p.content
  FROM agent_builds b
  JOIN agent_build_parts p ON p.version = b.version AND p.arch = b.arch
 WHERE b.version = $1 AND b.arch = $2 AND p.part = $3`

type buildRow struct {
	SHA256 []byte `db:"sha256"`
}

const sqlBuild = `
SELECT b.sha256
  FROM agent_builds b
 WHERE b.version = $1 AND b.arch = $2`

const sqlBuilds = `
SELECT b.arch, b.expires_at
  FROM agent_builds b
 WHERE b.version = $1
 ORDER BY b.arch`

type offered struct {
	Arch      string    `db:"arch"`
	ExpiresAt time.Time `db:"expires_at"`
}

// builds lists the builds of a version.
func builds(ctx context.Context, q db.Reader, version string) ([]offered, error) {
	all, err := db.Collect[offered](ctx, q, sqlBuilds, version)
	if err != nil {
		return nil, fmt.Errorf("list the builds of version %s: %w", version, err)
	}
	return all, nil
}

// StoredBuild is a build in the list of those that can be delivered.
type StoredBuild struct {
	Version      string    `db:"version"`
	Arch         string    `db:"arch"`
	LowestBefore string    `db:"lowest_before"`
	ExpiresAt    time.Time `db:"expires_at"`
	Size         int64     `db:"size_bytes"`
	SHA256       []byte    `db:"sha256"`
	CreatedAt    time.Time `db:"created_at"`
}

const sqlStoredBuilds = `
SELECT b.version, b.arch, b.lowest_before, b.expires_at, b.size_bytes, b.sha256, b.created_at
  FROM agent_builds b
 WHERE true`

// BuildSorting is the orders that builds can be listed in.
var BuildSorting = db.Sorting[StoredBuild]{
	{Name: "-created_at", Columns: []db.Column{db.ByTime("b.created_at"), db.ByText("b.version || ' ' || b.arch")}, At: func(b StoredBuild) db.Position {
		return db.Position{Time: b.CreatedAt, Text: b.Version + " " + b.Arch}
	}},
}

// BuildFilter narrows a list of builds.
type BuildFilter struct {
	Arch, Sort string
	After      *db.Position
	Limit      int
}

// StoredBuilds lists the builds of the agent. A release has a few, so no index is needed for it.
func StoredBuilds(ctx context.Context, q db.Reader, f BuildFilter) ([]StoredBuild, error) {
	return BuildSorting.Read(ctx, q, db.NewList(sqlStoredBuilds).AndIf(f.Arch, "b.arch = ?"), f.Sort, f.After, f.Limit)
}
