package proxy

import (
	"regexp"
	"strings"
)

// kind is what a statement is to the proxy.
type kind int

const (
	plain kind = iota
	read
	begin
	beginReadOnly
	savepoint
	release
	restart
	commit
	rollback
)

// Statements that the proxy itself sends.
const (
	sqlBegin     = "BEGIN ISOLATION LEVEL SERIALIZABLE"
	sqlSavepoint = "SAVEPOINT cockroach_restart"
)

// raise is a statement that fails with a code.
func raise(code, message string) string {
	return "DO $$BEGIN RAISE EXCEPTION '" + message + "' USING ERRCODE = '" + code + "'; END$$"
}

var (
	sqlRetry   = raise("40001", "restart transaction: TransactionRetryWithProtoRefreshError: TransactionRetryError: retry txn (RETRY_SERIALIZABLE)")
	sqlUnknown = raise("40003", "result is ambiguous: the proxy says so")
	sqlAborted = raise("25P02", "current transaction is aborted, commands ignored until end of transaction block")
	sqlDone    = raise("25000", "current transaction is committed, commands ignored until end of transaction block")
)

// kindOf tells what a single statement is.
func kindOf(sql string) kind {
	words := strings.Fields(strings.ToLower(strings.TrimRight(strings.TrimSpace(sql), "; \n\t")))
	if len(words) == 0 {
		return plain
	}
	last := words[len(words)-1]
	switch words[0] {
	case "select", "with", "table", "values":
		return read
	case "begin", "start":
		if readOnly.MatchString(sql) {
			return beginReadOnly
		}
		return begin
	case "savepoint":
		if last == "cockroach_restart" {
			return savepoint
		}
	case "release":
		if last == "cockroach_restart" {
			return release
		}
	case "commit", "end":
		return commit
	case "rollback", "abort":
		if last == "cockroach_restart" {
			return restart
		}
		if len(words) == 1 {
			return rollback
		}
	}
	return plain
}

// controls tells whether a statement says where a transaction begins or ends.
func (k kind) controls() bool { return k > read }

var (
	version  = regexp.MustCompile(`(?i)\bversion\(\)`)
	settings = regexp.MustCompile(`(?is)^\s*SET\s+(LOCAL\s+|SESSION\s+)?(optimizer_use_lock_op_for_serializable|create_table_with_schema_locked)\s*(?:=|TO)\s*(\w+)\s*;?\s*$`)
	// unknown are settings of PostgreSQL that a CockroachDB refuses.
	unknown   = regexp.MustCompile(`(?is)^\s*SET\s+(?:LOCAL\s+|SESSION\s+)?(?:enable_\w+|deadlock_timeout|work_mem|jit)\b`)
	lockTable = regexp.MustCompile(`(?is)^\s*LOCK\s+TABLE\b`)
	isolation = regexp.MustCompile(`(?is)^\s*SET\s+TRANSACTION\s+ISOLATION\s+LEVEL\s+(?:READ\s+UNCOMMITTED|READ\s+COMMITTED|REPEATABLE\s+READ|SERIALIZABLE)`)
	backup    = regexp.MustCompile(`(?is)^\s*BACKUP\s+DATABASE\b`)
	restore   = regexp.MustCompile(`(?is)^\s*RESTORE\s+DATABASE\s+("[^"]+"|\w+)\s+FROM\s+LATEST\s+IN\s+'[^']*'\s+WITH\s+new_db_name\s*=\s*'(\w+)'`)
	cascade   = regexp.MustCompile(`(?is)^(\s*DROP\s+DATABASE\s+(?:IF\s+EXISTS\s+)?(?:"[^"]+"|\w+))\s+CASCADE\s*;?\s*$`)
	force     = regexp.MustCompile(`(?is)^\s*DROP\s+DATABASE\b.*\bFORCE\b`)
	readOnly  = regexp.MustCompile(`(?i)\bread\s+only\b`)
)

// rewritten is a statement as PostgreSQL has it.
func (p *Proxy) rewritten(sql string) string {
	switch k := kindOf(sql); {
	case k == begin:
		return sqlBegin
	case k == beginReadOnly:
		return sqlBegin + " READ ONLY"
	case k == release: // PostgreSQL would only forget the savepoint
		return "COMMIT"
	case k == restart: // PostgreSQL would stay in the old snapshot
		return "ROLLBACK"
	case k.controls():
		return sql
	case settings.MatchString(sql):
		return settings.ReplaceAllString(sql, "SET ${1}crdb.$2 = '$3'")
	case unknown.MatchString(sql):
		return "SET cockroach_has_no_such_setting = on"
	case lockTable.MatchString(sql), force.MatchString(sql):
		return "COCKROACH HAS NO SUCH STATEMENT"
	case isolation.MatchString(sql):
		return isolation.ReplaceAllString(sql, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
	case backup.MatchString(sql): // a restore copies the database itself
		return "SELECT WHERE false"
	case restore.MatchString(sql):
		return restore.ReplaceAllString(sql, "CREATE DATABASE $2 TEMPLATE $1")
	case cascade.MatchString(sql):
		return cascade.ReplaceAllString(sql, "$1 WITH (FORCE)")
	}
	return version.ReplaceAllLiteralString(sql, "(SELECT 'CockroachDB CCL "+p.options.Version+" (x86_64-pc-linux-gnu, a proxy before PostgreSQL)'::TEXT AS version)")
}

// split cuts a simple query that controls a transaction into its statements; one that does not is left whole. None of
// those that do holds a semicolon within a value.
func split(sql string) []string {
	parts := strings.Split(strings.Trim(sql, "; \n\t"), ";")
	for _, part := range parts {
		if kindOf(part).controls() {
			return parts
		}
	}
	return []string{sql}
}
