// Command benchjob does for ./task bench what only the backend's own packages can do, on the database that
// KLOIGOS_DATABASE_URL names: it runs a job that tells so much and nothing else, copies the same rows into a table,
// times what a queue does most often, removes what is old, and reconciles items. What it measured is one JSON document on standard output.
//
// It is no part of the product.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/store"
)

const usage = `benchjob tell|copy|times|expire|items|lag|reconcile [options]
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "benchjob:", err)
		if errors.Is(err, errUsage) {
			fmt.Fprint(os.Stderr, usage)
		}
		os.Exit(1)
	}
}

var errUsage = errors.New("no such command")

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	count := flags.Int("entries", 1000, "that are copied")
	times := flags.Int("times", 500, "that something is timed")
	keep := flags.Duration("keep", 30*24*time.Hour, "what is older is removed")
	lease := flags.Duration("lease", 5*time.Second, "of a reconciler")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	url := os.Getenv("KLOIGOS_DATABASE_URL")
	db, err := store.Open(ctx, url)
	if err != nil {
		return err
	}
	defer db.Close()
	switch args[0] {
	case "tell":
		return tell(ctx, db)
	case "copy":
		return copyRows(ctx, url, *count)
	case "times":
		return clock(ctx, db, *times)
	case "expire":
		return expire(ctx, db, *keep)
	case "items":
		return items(ctx, db, *count)
	case "lag":
		return lag(ctx, db, *times)
	case "reconcile":
		return hold(ctx, db, *lease)
	}
	return errUsage
}

func say(v any) error { return json.NewEncoder(os.Stdout).Encode(v) }

// enqueue asks for a job on the first host there is.
func enqueue(ctx context.Context, db *store.DB) (id uuid.UUID, err error) {
	hosts, err := db.Hosts(ctx, store.HostFilter{WorkspaceID: domain.DefaultWorkspace, Limit: 1})
	if err != nil {
		return id, err
	}
	if len(hosts) == 0 {
		return id, errors.New("there is no host")
	}
	err = db.InTx(ctx, func(tx *store.Tx) (err error) {
		id, err = tx.Enqueue(ctx, domain.Actor{Kind: domain.ActorAccount, Name: "bench"}, domain.DefaultWorkspace, job.HostProbe{HostID: hosts[0].ID})
		return err
	})
	return id, err
}

// appear makes a worker known, as a backend does when it starts.
func appear(ctx context.Context, db *store.DB) (uuid.UUID, error) {
	me := store.Backend{ID: uuid.New(), Name: "benchjob", Roles: "worker"}
	_, err := db.SeenBackend(ctx, me)
	return me.ID, err
}
