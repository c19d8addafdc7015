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
