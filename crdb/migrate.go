package crdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"kloigos/crdb/nodes"
)

// The tables in which the schema's own state is kept.
const (
	versionTable = "schema_migrations"
	lockTable    = "schema_migrations_lock"
)

// Migrations take a lease on one row, because advisory locks lock nothing on CockroachDB. A process that dies while
// migrating is waited for as long as its lease lasts.
const (
	lockLease     = 30 * time.Second
	lockHeartbeat = 5 * time.Second
	lockPoll      = 500 * time.Millisecond
	lockPolls     = 600
	unlockPolls   = 10
)

// SchemaStatus compares the schema of a database with the one this binary was built with.
type SchemaStatus struct {
	// Pending lists the files not applied yet, in order: this binary can't serve until they are.
	Pending []string
	// Unknown lists versions that the database has and this binary doesn't know: a newer one migrated it.
	Unknown []int64
}

// Migrate applies what is pending, one process at a time. Applied migrations are left alone, so that it can be called
// on every start of `init`.
func Migrate(ctx context.Context, url string) error {
	db, err := open(url)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if err := checkVersion(ctx, db); err != nil {
		return err
	}
	provider, err := newProvider(db)
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// Status reads only: it makes neither tables nor locks, so that a process that must not change the schema can ask.
func Status(ctx context.Context, url string) (SchemaStatus, error) {
	db, err := open(url)
	if err != nil {
		return SchemaStatus{}, err
	}
	defer func() { _ = db.Close() }()
	if err := checkVersion(ctx, db); err != nil {
		return SchemaStatus{}, err
	}
	provider, err := newProvider(db)
	if err != nil {
		return SchemaStatus{}, err
	}
	applied, err := appliedVersions(ctx, db)
	if err != nil {
		return SchemaStatus{}, err
	}
	var status SchemaStatus
	for _, source := range provider.ListSources() {
		if at := slices.Index(applied, source.Version); at >= 0 {
			applied = slices.Delete(applied, at, at+1)
			continue
		}
		status.Pending = append(status.Pending, source.Path)
	}
	if len(applied) > 0 {
		status.Unknown = applied
	}
	return status, nil
}

// checkVersion refuses a database that is too old, before anything is changed in it.
func checkVersion(ctx context.Context, db *sql.DB) error {
	var version string
	if err := db.QueryRowContext(ctx, `SELECT version()`).Scan(&version); err != nil {
		return fmt.Errorf("ask the database for its version: %w", err)
	}
	return nodes.CheckVersion(version)
}

func appliedVersions(ctx context.Context, db *sql.DB) ([]int64, error) {
	var exists bool
	err := db.QueryRowContext(ctx, `SELECT EXISTS (
	SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = $1)`, versionTable).Scan(&exists)
	if err != nil {
		return nil, fmt.Errorf("look for the schema's versions: %w", err)
	}
	if !exists {
		return nil, nil
	}
	rows, err := db.QueryContext(ctx, `SELECT version_id FROM `+versionTable+` WHERE is_applied AND version_id > 0 ORDER BY version_id`)
	if err != nil {
		return nil, fmt.Errorf("read the schema's versions: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var applied []int64
	for rows.Next() {
		var version int64
		if err := rows.Scan(&version); err != nil {
			return nil, fmt.Errorf("read the schema's versions: %w", err)
		}
		applied = append(applied, version)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the schema's versions: %w", err)
	}
	return applied, nil
}

func open(url string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the database URL can't be parsed") // the cause can print the password
	}
	// Statements are planned anew each time: a prepared one does not survive a change of its table.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	nodes.Prepare(config)
	db := stdlib.OpenDB(*config, stdlib.OptionBeforeConnect(nodes.Spread), stdlib.OptionAfterConnect(keepUnlocked))
	db.SetMaxOpenConns(4)
	return db, nil
}

// keepUnlocked has the tables that are made here not be locked against later
// migrations, as CockroachDB's are by default since 26.1: not each of its ways to
// change a table takes such a lock off.
func keepUnlocked(ctx context.Context, conn *pgx.Conn) error {
	if conn.PgConn().ParameterStatus("crdb_version") == "" {
		return nil
	}
	_, err := conn.Exec(ctx, `SET create_table_with_schema_locked = off`)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "42704" { // one of before, which does not know it
		return nil
	}
	return err
}

func newProvider(db *sql.DB) (*goose.Provider, error) {
	files, err := Migrations()
	if err != nil {
		return nil, err
	}
	locker, err := lock.NewPostgresTableLocker(
		lock.WithTableName(lockTable),
		lock.WithTableLeaseDuration(lockLease),
		lock.WithTableHeartbeatInterval(lockHeartbeat),
		lock.WithTableLockTimeout(lockPoll, lockPolls),
		lock.WithTableUnlockTimeout(lockPoll, unlockPolls),
	)
	if err != nil {
		return nil, fmt.Errorf("make the migration lock: %w", err)
	}
	// goose has no dialect for CockroachDB; what it sends for PostgreSQL is understood by both.
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithTableName(versionTable), goose.WithLocker(locker), goose.WithDisableGlobalRegistry(true),
		goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	return provider, nil
}
