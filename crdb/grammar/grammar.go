// Package grammar holds Kloigos' SQL to what CockroachDB understands: its own parser reads every statement, and a list
// of what parses but is missing or works differently there is searched for.
//
// It is a module of its own, because the parser brings more dependencies than the rest of Kloigos together. It knows
// syntax only; names, types and behaviour are for the test suite on a real CockroachDB.
package grammar

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/parser"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/parser/statements"
)

// Check returns what is wrong with the statements of a text, and how many there are.
func Check(sql string) (count int, problems []string) {
	parsed, err := parse(sql)
	if err != nil {
		// What is known to be missing has a better message than the parser's.
		return 0, append(checkBans(sql), "CockroachDB can't parse it: "+firstLines(err.Error(), 3))
	}
	if len(parsed) == 0 {
		return 0, []string{"no statement in it"}
	}
	for _, statement := range parsed {
		problems = append(problems, checkBans(statement.SQL)...)
	}
	return len(parsed), problems
}

// parse turns a panic into an error: without the rest of CockroachDB, the parser has holes where functions would be.
func parse(sql string) (parsed statements.Statements, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the parser gave up: %v", reason)
		}
	}()
	return parser.Parse(sql)
}

// CheckExpression is Check for a condition, such as one behind WHERE.
func CheckExpression(expression string) (problems []string) {
	if _, err := parser.ParseExpr(expression); err != nil {
		return []string{"CockroachDB can't parse it: " + firstLines(err.Error(), 3)}
	}
	return checkBans(expression)
}

// CheckSchema is Check for a migration, where types matter too.
func CheckSchema(sql string) (count int, problems []string) {
	count, problems = Check(sql)
	if m := nakedInt.FindString(withoutText(sql)); m != "" {
		problems = append(problems, m+": eight bytes on CockroachDB, four on PostgreSQL; say INT4 or INT8")
	}
	return count, problems
}

var nakedInt = regexp.MustCompile(`(?i)\b(INT|INTEGER)\b`)

// bans are what parses, but is missing on CockroachDB or means something else there.
var bans = []struct {
	pattern *regexp.Regexp
	why     string
}{
	ban(`^\s*(UN)?LISTEN\b|^\s*NOTIFY\b|\bpg_notify\b`, "LISTEN/NOTIFY is missing: poll"),
	ban(`\bpg_(try_)?advisory_\w+`, "advisory locks exist and lock nothing: use a row with a lease"),
	ban(`\bCREATE\s+(OR\s+REPLACE\s+)?TRIGGER\b`, "no triggers: write it in the statement"),
	ban(`\bPLPGSQL\b`, "no PL/pgSQL"),
	ban(`\bCREATE\s+DOMAIN\b`, "domains are missing: use a CHECK"),
	ban(`\bEXCLUDE\s+USING\b`, "exclusion constraints are missing: use a unique key"),
	ban(`\bDEFERRABLE\b|\bINITIALLY\s+DEFERRED\b|\bSET\s+CONSTRAINTS\b`, "constraints can't be deferred"),
	ban(`^\s*DO\s+(\$|')`, "DO blocks are missing"),
	ban(`\bDECLARE\s+\w+.*\bCURSOR\b|^\s*FETCH\b`, "no cursors: use keyset pages"),
	ban(`\bjsonb_path_\w+`, "JSON path functions are missing"),
	ban(`\bformat\s*\(`, "format() is missing: use ||"),
	ban(`\btxid_\w+|\bpg_(current_)?(xact_id|snapshot)\w*|\bxmin\b|\bxmax\b|\bctid\b`, "PostgreSQL's transaction ids and row addresses are missing: keep a version column"),
	ban(`\bON\s+CONFLICT\s+ON\s+CONSTRAINT\b`, "name the columns of the conflict instead"),
	ban(`\bDELETE\s+FROM\s+[\w.]+(\s+(AS\s+)?\w+)?\s+USING\b`, "DELETE ... USING: use WHERE EXISTS (SELECT ...)"),
	ban(`\b(SMALL|BIG)?SERIAL\d?\b`, "SERIAL makes other numbers there, and a hot range: use a random UUID"),
	ban(`[?$]\d*\s*=\s*(ANY|ALL|SOME)\b`, "a placeholder before ANY has no type there: write ?::TEXT = ANY (...)"),
	ban(`\bjsonb?_object_agg\s*\([^()]*\)\s*([^\sF]|F[^I]|$)`, "a subquery of it becomes a join, whose NULL is no key: add FILTER (WHERE ...)"),
	ban(`\bCREATE\s+EXTENSION\b`, "extensions are missing"),
	ban(`\bLOCK\s+TABLE\b`, "table locks are missing"),
	ban(`\bINHERITS\s*\(`, "table inheritance is missing"),
	ban(`\bCREATE\s+(UNIQUE\s+)?INDEX\b.*\bUSING\s+(BRIN|HASH|SPGIST)\b`, "only B-tree and GIN (inverted) indexes"),
}

type banned = struct {
	pattern *regexp.Regexp
	why     string
}

func ban(pattern, why string) banned {
	return banned{regexp.MustCompile(`(?is)` + pattern), why}
}

func checkBans(statement string) (problems []string) {
	bare := withoutText(statement)
	for _, ban := range bans {
		if found := ban.pattern.FindString(bare); found != "" {
			problems = append(problems, strings.Join(strings.Fields(found), " ")+": "+ban.why)
		}
	}
	if table := changedTwice(bare); table != "" {
		problems = append(problems, fmt.Sprintf("%s is changed twice in one statement: CockroachDB refuses it or loses one", table))
	}
	return problems
}

var change = regexp.MustCompile(`(?i)\b(INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(ONLY\s+)?"?([a-z_][a-z0-9_]*)`)

// changedTwice returns a table that one statement writes in two places (in a WITH, say).
func changedTwice(statement string) string {
	seen := make(map[string]bool)
	for _, found := range change.FindAllStringSubmatch(statement, -1) {
		table := strings.ToLower(found[3])
		switch table {
		case "set", "skip", "of", "nowait", "no", "cascade", "restrict": // FOR UPDATE SKIP LOCKED, DO UPDATE SET, ON UPDATE CASCADE
			continue
		}
		if seen[table] {
			return table
		}
		seen[table] = true
	}
	return ""
}

var text = regexp.MustCompile(`'(?:[^']|'')*'|--[^\n]*|(?s:/\*.*?\*/)`)

// withoutText empties string constants and removes comments, so that only SQL is searched.
func withoutText(sql string) string {
	return text.ReplaceAllStringFunc(sql, func(found string) string {
		if found[0] == '\'' {
			return "''"
		}
		return " "
	})
}

func firstLines(message string, n int) string {
	lines := strings.SplitN(message, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], " | ")
}
