package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"kloigos/crdb/localdb"
)

func findPgbench() (string, error) {
	if path, err := exec.LookPath("pgbench"); err == nil {
		return path, nil
	}
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench"); len(found) > 0 {
		return found[len(found)-1], nil
	}
	return "", errors.New("pgbench is not here (Debian: apt-get install postgresql-15)")
}

// script is what pgbench runs, over and over, on each connection: any of the texts, each time by chance.
type script struct {
	texts     []string
	variables []string // name=value
	clients   int
	each      int // times a client
	database  string
}

// measured is what one round of either side came to.
type measured struct {
	perSecond float64
	latencies []time.Duration
}

var tpsPattern = regexp.MustCompile(`(?m)^tps = ([0-9.]+) \(without initial connection time\)`)

// runPgbench runs a script with prepared statements at READ COMMITTED, PostgreSQL's default and what Kloigos uses there.
func (b *Bed) runPgbench(ctx context.Context, s script) (measured, error) {
	url, err := localdb.WithDatabase(b.server.URL, s.database)
	if err != nil {
		return measured{}, err
	}
	dir, err := os.MkdirTemp(b.options.Dir, "pgbench-")
	if err != nil {
		return measured{}, fmt.Errorf("make a directory for pgbench: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	args := []string{
		"--no-vacuum", "--protocol=prepared", "--client=" + strconv.Itoa(s.clients), "--jobs=" + strconv.Itoa(min(2, s.clients)),
		"--transactions=" + strconv.Itoa(s.each), "--log", "--log-prefix=" + filepath.Join(dir, "log"),
	}
	for i, text := range s.texts {
		file := filepath.Join(dir, fmt.Sprintf("script-%d.sql", i))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return measured{}, fmt.Errorf("write pgbench's script: %w", err)
		}
		args = append(args, "--file="+file)
	}
	for _, v := range s.variables {
		args = append(args, "--define="+v)
	}
	cmd := exec.CommandContext(ctx, b.pgbench, append(args, url)...)
	cmd.Dir = dir
	output, err := cmd.CombinedOutput()
	if err != nil {
		return measured{}, fmt.Errorf("pgbench: %w: %s", err, bytes.TrimSpace(output[:min(len(output), 2000)]))
	}
	found := tpsPattern.FindSubmatch(output)
	if found == nil {
		return measured{}, fmt.Errorf("pgbench told no rate: %s", output)
	}
	var m measured
	if m.perSecond, err = strconv.ParseFloat(string(found[1]), 64); err != nil {
		return measured{}, fmt.Errorf("pgbench: %w", err)
	}
	m.latencies, err = pgbenchLatencies(dir)
	if err == nil && len(m.latencies) != s.clients*s.each {
		err = fmt.Errorf("pgbench ran %d transactions, not %d: %s", len(m.latencies), s.clients*s.each, output)
	}
	return m, err
}

// pgbenchLatencies reads the logs: client, transaction, microseconds, script, time.
func pgbenchLatencies(dir string) (all []time.Duration, err error) {
	logs, err := filepath.Glob(filepath.Join(dir, "log.*"))
	if err != nil {
		return nil, err
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			return nil, fmt.Errorf("read pgbench's log: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) < 3 {
				continue
			}
			us, err := strconv.ParseInt(fields[2], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("read pgbench's log: %w", err)
			}
			all = append(all, time.Duration(us)*time.Microsecond)
		}
	}
	return all, nil
}
