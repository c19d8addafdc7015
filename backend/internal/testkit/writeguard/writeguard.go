// Package writeguard makes a test fail when a transaction writes the table of a
// noun and does not record the object (db.Tx.Touch): a policy that waits for that
// noun would not be made due. It watches the connection, so no writer can be
// forgotten.
//
// It knows tables and nouns, and nothing of what a statement means.
package writeguard

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/kernel/db"
	"kloigos/crdb"
)

// nouns are the tables of nouns. A table is one of these or of the exceptions. Old
// tables stand here; a newer one says itself what it is, see declared.
var nouns = map[string]string{
	"hosts": "host", "compute_units": "unit", "allocations": "allocation", "addresses": "address", "plans": "plan", "playbooks": "playbook",
	"playbook_versions": "playbook", "jobs": "job", "dns_zones": "dns_zone",
	"dns_record_sets": "dns_record_set", "agents": "agent",
}

// Exceptions are the tables that are no nouns, with the reason.
var Exceptions = map[string]string{
	"agent_credentials": "they only expire", "agent_liveness": "liveness", "agent_receivers": "liveness", "agent_reports": "measurements",
	"agent_tokens": "they only expire",
	"accounts":     "no policy looks at accounts", "account_links": "no policy looks at accounts", "invitations": "no policy looks at invitations", "backends": "liveness", "conditions": "the end of a run", "dns_names": "a part of their record sets", "dns_foreign_records": "what a synchronization found", "event_seals": "the audit trail", "events": "the audit trail",
	"host_addresses": "a part of its host, which is recorded", "host_locks": "what a job holds; the job's end is recorded", "idempotency_keys": "of a request",
	"job_hosts": "a part of its job", "job_log": "a log", "job_objects": "a part of its job", "job_steps": "a part of its job", "job_locks": "what a job holds; the job's end is recorded",
	"login_failures": "they only expire", "organizations": "no policy looks at scopes", "organization_keys": "whatever replaces one touches its ssh_key", "playbook_lints": "what a policy found",
	"projects": "no policy looks at scopes", "queue_pauses": "of the queue", "reconcile_items": "the scheduler's own", "reconcile_pauses": "the scheduler's own", "settings": "of the installation",
	"tokens": "they only expire", "uids": "a part of its allocation", "unit_cpus": "a part of its unit", "unit_uses": "measurements", "unit_use": "measurements",
	"grants": "no policy looks at grants", "roles": "no policy looks at roles", "workspaces": "no policy looks at scopes", "locks": "what a job holds",
}

// progress are the columns of jobs whose change is not recorded: claims, leases,
// retries and the removal of logs come often, and end nothing.
var progress = regexp.MustCompile(`(?s)UPDATE jobs\s+SET (lease_expires_at|state = 'running'|attempt|run_after|deadline_at|log_expired_at|state = 'queued'|failures|worker_id|state = 'cancelling'|slots)`)

// observed are columns with what was seen of an object: a policy that writes them
// would make itself due for ever.
var observed = regexp.MustCompile(`UPDATE (dns_record_sets\s+SET checked|dns_zones\s+SET reason) `)

var write = regexp.MustCompile(`(?:INSERT INTO|UPDATE|DELETE FROM)\s+"?([a-z_]+)`)

// rowLock is an UPDATE that is none.
var rowLock = regexp.MustCompile(`FOR (NO KEY )?UPDATE|DO UPDATE`)

// Guard watches the transactions of one database.
type Guard struct {
	t  testing.TB
	mu sync.Mutex
	// wrote are the nouns that each connection has written since BEGIN.
	wrote map[*pgx.Conn]map[string]string
}

// New makes a guard. It is a tracer for db.Open; Watch then tells it what is
// recorded.
func New(t testing.TB) *Guard {
	return &Guard{t: t, wrote: map[*pgx.Conn]map[string]string{}}
}

// Watch lets the guard look at every transaction that is about to commit.
func (g *Guard) Watch(d *db.DB) { d.BeforeCommit(g.check) }

func (g *Guard) check(_ context.Context, tx *db.Tx) error {
	g.mu.Lock()
	wrote := g.wrote[tx.Connection()]
	delete(g.wrote, tx.Connection())
	g.mu.Unlock()
	touched := tx.Touched()
	for noun, sql := range wrote {
		if !slices.ContainsFunc(touched, func(o db.Object) bool { return o.Noun == noun }) {
			g.t.Errorf("a transaction writes a %s and does not record it (Tx.Touch):\n%s", noun, sql)
		}
	}
	return nil
}

// declaration is how a migration says what a table is:
//
//	CREATE TABLE IF NOT EXISTS channels ( -- noun: channel
//	CREATE TABLE IF NOT EXISTS channel_secrets ( -- no noun: a part of their channel
var declaration = regexp.MustCompile(`(?m)^CREATE TABLE IF NOT EXISTS ([a-z_]+) \( -- (no )?noun: (.+)$`)

// declared are what the migrations say of tables: the noun of each, "" for one that
// is none.
var declared = sync.OnceValues(func() (map[string]string, error) {
	tables := map[string]string{}
	files, err := crdb.Migrations()
	if err != nil {
		return nil, err
	}
	return tables, fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		for _, m := range declaration.FindAllStringSubmatch(string(text), -1) {
			if tables[m[1]] = m[3]; m[2] != "" {
				tables[m[1]] = ""
			}
		}
		return err
	})
})

// nounOf is the noun of a table, "" if it is none; known tells whether anything says
// so.
func nounOf(table string) (noun string, known bool) {
	if noun, known = nouns[table]; known || Exceptions[table] != "" {
		return noun, true
	}
	tables, err := declared()
	if err != nil {
		panic(err) // the migrations are part of the program
	}
	noun, known = tables[table]
	return noun, known
}

// Nouns are those whose tables a statement writes.
func Nouns(sql string) (written []string, unknown []string) {
	plain := rowLock.ReplaceAllString(sql, "")
	for _, m := range write.FindAllStringSubmatch(plain, -1) {
		noun, known := nounOf(m[1])
		switch {
		case !known:
			unknown = append(unknown, m[1])
		case noun == "job" && progress.MatchString(sql), observed.MatchString(sql):
		case noun != "":
			written = append(written, noun)
		}
	}
	return written, unknown
}

func (g *Guard) note(conn *pgx.Conn, sql string, rows int64) {
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(sql)), "begin") || strings.HasPrefix(strings.ToLower(sql), "rollback") {
		g.mu.Lock()
		delete(g.wrote, conn)
		g.mu.Unlock()
		return
	}
	written, unknown := Nouns(sql)
	for _, table := range unknown {
		g.t.Errorf("%s", fmt.Sprintf("the table %s is neither a noun's nor an exception; say which where its migration makes it:\n%s", table, sql))
	}
	if rows == 0 || len(written) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.wrote[conn] == nil {
		g.wrote[conn] = map[string]string{}
	}
	for _, noun := range written {
		g.wrote[conn][noun] = sql
	}
}

type sqlKey struct{}

// TraceQueryStart implements pgx.QueryTracer.
func (g *Guard) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, sqlKey{}, data.SQL)
}

// TraceQueryEnd implements pgx.QueryTracer.
func (g *Guard) TraceQueryEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryEndData) {
	if sql, ok := ctx.Value(sqlKey{}).(string); ok && data.Err == nil {
		g.note(conn, sql, data.CommandTag.RowsAffected())
	}
}

// TraceBatchStart implements pgx.BatchTracer.
func (g *Guard) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

// TraceBatchQuery implements pgx.BatchTracer.
func (g *Guard) TraceBatchQuery(_ context.Context, conn *pgx.Conn, data pgx.TraceBatchQueryData) {
	if data.Err == nil {
		g.note(conn, data.SQL, data.CommandTag.RowsAffected())
	}
}

// TraceBatchEnd implements pgx.BatchTracer.
func (g *Guard) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}
