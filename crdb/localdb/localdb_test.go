package localdb_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"kloigos/crdb/localdb"
)

// holdEnv makes this test binary a process that starts a throwaway server and then waits to be killed.
const holdEnv = "KLOIGOS_LOCALDB_TEST_HOLD"

func TestMain(m *testing.M) {
	if os.Getenv(holdEnv) != "" {
		server, err := localdb.Start(context.Background(), localdb.Options{})
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println(server.Dir, server.URL)
		select {}
	}
	os.Exit(m.Run())
}

func TestThrowawayServerAnswersAndLeavesNothing(t *testing.T) {
	t.Parallel()
	server, err := localdb.Start(t.Context(), localdb.Options{Database: "some"})
	if err != nil {
		t.Fatal(err)
	}
	if got := queryString(t, server.URL, `SELECT current_database()`); got != "some" {
		t.Errorf("the URL names database %q", got)
	}
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	mustBeGone(t, server.Dir, server.URL)
}

func TestServerEndsWithAKilledParent(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), holdEnv+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = parent.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("read the child's line: %v", err)
	}
	dir, url, found := strings.Cut(strings.TrimSpace(line), " ")
	if !found || !filepath.IsAbs(dir) {
		t.Fatalf("the child said %q", line)
	}
	queryString(t, url, `SELECT version()`)
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	mustBeGone(t, dir, url)
}

func TestKeptServerKeepsItsData(t *testing.T) {
	t.Parallel()
	kept := keptDir(t)
	for _, statement := range []string{
		`CREATE TABLE notes (note TEXT PRIMARY KEY); INSERT INTO notes (note) VALUES ('still here')`, ``,
	} {
		server, err := localdb.Start(t.Context(), localdb.Options{Dir: kept})
		if err != nil {
			t.Fatal(err)
		}
		if statement != "" {
			conn := connect(t, server.URL)
			if _, err := conn.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		got := queryString(t, server.URL, `SELECT note FROM notes`)
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
		if got != "still here" {
			t.Fatalf("the table holds %q", got)
		}
	}
}

// TestAKilledServerComesBackWhereItWas, with all that was committed, though what it left takes a while to end.
func TestAKilledServerComesBackWhereItWas(t *testing.T) {
	t.Parallel()
	first, err := localdb.Start(t.Context(), localdb.Options{Dir: keptDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	client := connect(t, first.URL)
	if _, err := client.Exec(t.Context(), `CREATE TABLE notes (note TEXT PRIMARY KEY); INSERT INTO notes (note) VALUES ('still here')`); err != nil {
		t.Fatal(err)
	}
	if first.Engine == localdb.Postgres {
		child := int(client.PgConn().PID())
		if err := syscall.Kill(child, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		wake := func() { _ = syscall.Kill(child, syscall.SIGCONT) }
		wakes := time.AfterFunc(time.Second, wake)
		defer func() {
			if wakes.Stop() {
				wake() // or it would stay after a failure
			}
		}()
	}
	if err := syscall.Kill(first.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-first.Done()
	again, err := first.Again(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := queryString(t, first.URL, `SELECT note FROM notes`); got != "still here" || again.PID == first.PID {
		t.Errorf("process %d says %q", again.PID, got)
	}
	if err := again.Stop(); err != nil {
		t.Error(err)
	}
}

func keptDir(t *testing.T) string {
	t.Helper()
	// Not t.TempDir: its parents are closed to the user that PostgreSQL runs as when root runs the tests.
	dir, err := os.MkdirTemp("", "kloigos-localdb-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "kept")
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func queryString(t *testing.T, url, query string) (value string) {
	t.Helper()
	conn := connect(t, url)
	if err := conn.QueryRow(t.Context(), query).Scan(&value); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close(t.Context())
	return value
}

// mustBeGone waits until neither the directory nor a server is there.
func mustBeGone(t *testing.T, dir, url string) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		_, err := os.Stat(dir)
		conn, connErr := pgx.Connect(t.Context(), url)
		if connErr == nil {
			_ = conn.Close(t.Context())
		}
		if errors.Is(err, fs.ErrNotExist) && connErr != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still there: directory (%v), server (%v)", err, connErr)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
