// Package localdb runs one private database server on this machine, for the demo and for the tests: CockroachDB
// where a `cockroach` binary is on the PATH, PostgreSQL (15 or newer) from the system's package otherwise.
//
// It owns the server's whole life: the data directory, the secrets, a free loopback port, readiness, and the end. The
// server ends with the process that started it, however that one ends. The package refuses to listen on anything but
// loopback, knows no schema, and is not how production runs (see crdb/README.md).
package localdb

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"
)

// Engine names a database server that this package can run.
type Engine string

// The engines. The zero value of Options.Engine picks CockroachDB where there is a binary, else PostgreSQL.
const (
	Cockroach Engine = "cockroach"
	Postgres  Engine = "postgres"
)

// How long a server may take to answer, and to end. A first start makes the data directory, which on a busy machine
// takes several seconds.
const (
	startTimeout = 90 * time.Second
	stopTimeout  = 40 * time.Second
)

// Options say which server to run, and where.
type Options struct {
	// Dir holds everything of the server. It is made where it is missing, and kept. Empty means a throwaway server in
	// a temporary directory: not durable (no fsync), fast, and gone without a trace after Stop.
	Dir string
	// Engine forces one; empty picks.
	Engine Engine
	// Database is created where it is missing, and named by the server's URL. Empty means "kloigos".
	Database string
	// Env is added to the server's environment, as NAME=value.
	Env []string
	// Settings are further ones of PostgreSQL, as name=value; CockroachDB gets none of them.
	Settings []string
	// Port of loopback to listen on; 0 means a free one.
	Port int
}

// Server is a running database server.
type Server struct {
	// URL names the database with a user who may do everything, other databases included.
	URL    string
	Engine Engine
	// Dir holds the data and server.log.
	Dir string
	// PID is the server's own process, not its watchdog's.
	PID int

	watch   *watched
	options Options
}

// Find returns the engine that Start would run, or an error that says what to install.
func Find() (Engine, error) {
	if _, err := exec.LookPath("cockroach"); err == nil {
		return Cockroach, nil
	}
	if _, err := postgresBin(); err != nil {
		return "", err
	}
	return Postgres, nil
}

// Start runs a server and returns when it answers. The context bounds the start, not the server's life.
func Start(ctx context.Context, opts Options) (_ *Server, err error) {
	if opts.Engine == "" {
		if opts.Engine, err = Find(); err != nil {
			return nil, err
		}
	}
	if opts.Database == "" {
		opts.Database = "kloigos"
	}
	throwaway := opts.Dir == ""
	if throwaway {
		if opts.Dir, err = os.MkdirTemp(memoryDir(), "kloigos-db-"); err != nil {
			return nil, fmt.Errorf("make a directory for the database: %w", err)
		}
		defer func() {
			if err != nil {
				_ = os.RemoveAll(opts.Dir)
			}
		}()
	} else {
		if opts.Dir, err = filepath.Abs(opts.Dir); err != nil {
			return nil, fmt.Errorf("find the database's directory: %w", err)
		}
		if err = os.MkdirAll(opts.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the database's directory: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()

	var plan launch
	switch opts.Engine {
	case Postgres:
		plan, err = preparePostgres(ctx, opts, throwaway)
	case Cockroach:
		plan, err = prepareCockroach(ctx, opts, throwaway)
	default:
		err = fmt.Errorf("unknown database engine %q", opts.Engine)
	}
	if err != nil {
		return nil, err
	}
	plan.env = append(plan.env, opts.Env...)
	watch, err := startWatched(plan, opts.Dir, throwaway)
	if err != nil {
		return nil, err
	}
	server := &Server{Engine: opts.Engine, Dir: opts.Dir, watch: watch, options: opts}
	if server.URL, err = server.awaitDatabase(ctx, plan, opts.Database); err != nil {
		log := watch.logTail()
		return nil, errors.Join(fmt.Errorf("start %s: %w%s", opts.Engine, err, log), server.Stop())
	}
	if server.PID, err = readPID(opts.Dir); err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return server, nil
}

// Again starts a kept server that has ended where it was, so that whoever has its URL finds it there.
func (s *Server) Again(ctx context.Context) (*Server, error) {
	if err := s.Stop(); err != nil {
		return nil, err
	}
	listened, err := url.Parse(s.URL)
	if err != nil {
		return nil, errors.New("the database URL can't be parsed") // the cause would print the password
	}
	options := s.options
	if options.Port, err = strconv.Atoi(listened.Port()); err != nil {
		return nil, errors.New("the database URL has no port")
	}
	return Start(ctx, options)
}

// LastWords are the end of the server's log, for an error message.
func (s *Server) LastWords() string { return strings.TrimSpace(s.watch.logTail()) }

// Stop ends the server and waits until it is gone. A throwaway server's directory goes with it.
func (s *Server) Stop() error { return s.watch.stop(stopTimeout) }

// Done is closed when the server has ended, by Stop or by itself.
func (s *Server) Done() <-chan struct{} { return s.watch.done }

// awaitDatabase waits until the server answers, and makes the database that the returned URL names.
func (s *Server) awaitDatabase(ctx context.Context, plan launch, database string) (string, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		adminURL, err := plan.adminURL()
		if err == nil {
			if err = createDatabase(ctx, adminURL, database); err == nil {
				return WithDatabase(adminURL, database)
			}
		}
		select {
		case <-s.watch.done:
			return "", errors.New("the server ended by itself")
		case <-ctx.Done():
			return "", fmt.Errorf("the server does not answer: %w", errors.Join(ctx.Err(), err))
		case <-tick.C:
		}
	}
}

func createDatabase(ctx context.Context, adminURL, database string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, adminURL)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var exists bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)`, database).Scan(&exists)
	if err != nil {
		return fmt.Errorf("look for database %s: %w", database, err)
	}
	if exists {
		return nil
	}
	if _, err := conn.Exec(ctx, `CREATE DATABASE `+pgx.Identifier{database}.Sanitize()); err != nil {
		return fmt.Errorf("create database %s: %w", database, err)
	}
	return nil
}

// WithDatabase returns the URL with another database in it.
func WithDatabase(databaseURL, name string) (string, error) {
	parsed, err := url.Parse(databaseURL)
	if err != nil {
		return "", errors.New("the database URL can't be parsed") // the cause would print the password
	}
	parsed.Path = "/" + name
	return parsed.String(), nil
}

// memoryDir returns a directory in memory with room for a throwaway server, or "" for the system's default. Containers
// often have a /dev/shm of 64 MiB, which a server fills at once.
func memoryDir() string {
	const dir, enough = "/dev/shm", 2 << 30
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil || unix.Access(dir, unix.W_OK) != nil {
		return ""
	}
	if stat.Bavail*uint64(stat.Bsize) < enough {
		return ""
	}
	return dir
}
