package kube

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

const sqlVersion = `
SELECT v.id, v.name, v.active, v.upgrades_to, v.bundle, v.bundle_sha256, v.version, v.created_at, v.updated_at
  FROM kube_versions v
 WHERE true`

// FindVersion finds a version of Kubernetes by its id or its name. Every workspace may see the catalog.
func FindVersion(ctx context.Context, q db.Reader, text string) (Version, error) {
	if id, err := uuid.Parse(text); err == nil {
		return db.First[Version](ctx, q, fault.ErrNotFound, sqlVersion+" AND v.id = $1", id)
	}
	return db.First[Version](ctx, q, fault.ErrNotFound, sqlVersion+" AND v.name = $1", text)
}

// holdVersion returns a version that nobody else changes until the transaction ends.
func holdVersion(ctx context.Context, tx *db.Tx, id uuid.UUID) (Version, error) {
	return db.First[Version](ctx, tx.Reader, fault.ErrNotFound, sqlVersion+" AND v.id = $1 FOR UPDATE", id)
}

// VersionSorting is the orders that versions can be listed in.
var VersionSorting = db.Sorting[Version]{
	{Name: "name", Columns: []db.Column{db.ByText("v.name"), db.ByID("v.id")}, At: func(v Version) db.Position {
		return db.Position{Text: v.Name, ID: v.ID}
	}},
}

// VersionFilter narrows a list of versions.
type VersionFilter struct {
	Sort  string // one of VersionSorting; "" for the first
	After *db.Position
	Limit int
}

// Versions lists versions.
func Versions(ctx context.Context, q db.Reader, f VersionFilter) ([]Version, error) {
	return VersionSorting.Read(ctx, q, db.NewList(sqlVersion), f.Sort, f.After, f.Limit)
}

const sqlInsertVersion = `
INSERT INTO kube_versions (id, name, active, upgrades_to, bundle, bundle_sha256)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (name) DO NOTHING`

const sqlChangeVersion = `
UPDATE kube_versions
   SET active = $3, upgrades_to = $4, bundle = $5, bundle_sha256 = $6, version = version + 1, updated_at = now()
 WHERE id = $1 AND version = $2`

const sqlDeleteVersion = `
DELETE FROM kube_versions
 WHERE id = $1 AND version = $2`

const sqlVersionInUse = `
SELECT count(*) AS n
  FROM kube_clusters c
 WHERE c.kube_version = $1`

// clustersOf is how many clusters have a version.
func clustersOf(ctx context.Context, q db.Reader, name string) (int64, error) {
	type row struct {
		N int64 `db:"n"`
	}
	found, err := db.First[row](ctx, q, fault.ErrNotFound, sqlVersionInUse, name)
	return found.N, err
}
