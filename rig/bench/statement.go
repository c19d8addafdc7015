package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// statement is what a backend sent to the database, as the server's log has it.
type statement struct {
	sql    string
	values []string // of $1, $2, ...
}

var (
	executed  = regexp.MustCompile(`^\S+ \S+ UTC \[\d+\] LOG:  execute [^:]+: `)
	newEntry  = regexp.MustCompile(`^\S+ \S+ UTC \[\d+\] `)
	parameter = regexp.MustCompile(`\$(\d+) = (?:'((?:[^']|'')*)'|NULL)`)
)

// watch returns the statements that the server runs while f does.
func (b *Bed) watch(ctx context.Context, f func() error) ([]statement, error) {
	info, err := os.Stat(b.log)
	if err != nil {
		return nil, fmt.Errorf("look at the database's log: %w", err)
	}
	logging := func(what string) error {
		for _, s := range []string{"ALTER SYSTEM SET log_statement = '" + what + "'", "SELECT pg_reload_conf()", "SELECT pg_sleep(0.2)"} {
			if _, err := b.admin.Exec(ctx, s); err != nil {
				return fmt.Errorf("have statements logged: %w", err)
			}
		}
		return nil
	}
	if err := logging("all"); err != nil {
		return nil, err
	}
	if err := errors.Join(f(), logging("none")); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(b.log)
	if err != nil {
		return nil, fmt.Errorf("read the database's log: %w", err)
	}
	return readStatements(string(text[min(info.Size(), int64(len(text))):])), nil
}

func readStatements(log string) (all []statement) {
	in := false
	for line := range strings.Lines(log) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case executed.MatchString(line):
			all = append(all, statement{sql: executed.ReplaceAllString(line, "")})
			in = true
		case newEntry.MatchString(line):
			in = false
			if _, parameters, ok := strings.Cut(line, "DETAIL:  parameters: "); ok && len(all) > 0 && all[len(all)-1].values == nil {
				for _, found := range parameter.FindAllStringSubmatch(parameters, -1) {
					all[len(all)-1].values = append(all[len(all)-1].values, strings.ReplaceAll(found[2], "''", "'"))
				}
			}
		case in: // a continued line begins with a tab
			all[len(all)-1].sql += "\n" + strings.TrimPrefix(line, "\t")
		}
	}
	return all
}

// with returns those that hold a text.
func with(all []statement, text string) (some []statement) {
	for _, s := range all {
		if strings.Contains(s.sql, text) {
			some = append(some, s)
		}
	}
	return some
}

// script makes the statement one for pgbench: each parameter is a variable, given on the command line, so that pgbench
// sends it as a parameter too. The number keeps the variables of several scripts apart.
func (s statement) script(number int) (sql string, variables []string) {
	sql = regexp.MustCompile(`\$(\d+)`).ReplaceAllString(s.sql, ":p"+strconv.Itoa(number)+"_$1")
	for i, v := range s.values {
		variables = append(variables, fmt.Sprintf("p%d_%d=%s", number, i+1, v))
	}
	return sql + ";\n", variables
}
