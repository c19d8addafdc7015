package crdb_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/crdb/localdb"
)

// testServer is the server that KLOIGOS_TEST_DATABASE_URL names, else one that ends with this process. The backend's
// testkit does this for everybody else; it is internal to the backend, and builds on this package.
var testServer = sync.OnceValues(func() (string, error) {
	if url := os.Getenv("KLOIGOS_TEST_DATABASE_URL"); url != "" {
		return url, nil
	}
	server, err := localdb.Start(context.Background(), localdb.Options{})
	if err != nil {
		return "", err
	}
	return server.URL, nil
})

func emptyDatabase(t *testing.T) string {
	t.Helper()
	server, err := testServer()
	if err != nil {
		t.Fatal(err)
	}
	name := "kloigos_crdb_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	onServer := func(ctx context.Context, statement string) {
		conn, err := pgx.Connect(ctx, server)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(ctx) }()
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	onServer(t.Context(), "CREATE DATABASE "+name)
	t.Cleanup(func() { onServer(context.Background(), "DROP DATABASE "+name) })
	url, err := localdb.WithDatabase(server, name)
	if err != nil {
		t.Fatal(err)
	}
	return url
}
