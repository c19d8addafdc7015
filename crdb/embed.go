// Package crdb owns the database's schema: the migrations, which are part of the binary, and how they are applied. It
// refuses to know what the tables mean; that is the store's.
//
// The migrations run on CockroachDB and on PostgreSQL. CockroachDB changes its schema outside of transactions, so every
// file says NO TRANSACTION and each of its statements can run again (IF NOT EXISTS): a migration that was cut is simply
// started anew. They only ever expand; a contract migration raises `oldest_backend_allowed` in the settings table.
package crdb

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
)

//go:embed migrations/*.sql
var embedded embed.FS

// Migrations returns the migration files, named NNNNN_words.sql.
func Migrations() (fs.FS, error) {
	files, err := fs.Sub(embedded, "migrations")
	if err != nil {
		return nil, fmt.Errorf("open the migrations: %w", err)
	}
	return files, nil
}

// Hash returns 16 hexadecimal digits that change whenever a migration does.
func Hash() (string, error) {
	files, err := Migrations()
	if err != nil {
		return "", err
	}
	names, err := fs.Glob(files, "*.sql") // sorted
	if err != nil {
		return "", fmt.Errorf("list the migrations: %w", err)
	}
	sum := sha256.New()
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return "", fmt.Errorf("read migration %s: %w", name, err)
		}
		_, _ = fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text) // a hash never fails
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}
