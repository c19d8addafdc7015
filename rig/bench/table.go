package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Print writes the table as Markdown.
func Print(w io.Writer, results []Result) {
	_, _ = fmt.Fprintf(w, "| figure | target | measured | met | medians |\n|---|---|---|---|---|\n")
	for _, r := range results {
		met := "yes"
		if !r.Met() {
			met = "**no**"
		}
		_, _ = fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", r.What, r.Limit, number(r.Measured, r.Limit.Unit), met, r.Raw)
	}
}

// The table stands between these lines of docs/benchmarks.md.
const (
	tableBegins = "<!-- ./task bench -- --write: begin -->\n"
	tableEnds   = "<!-- ./task bench -- --write: end -->\n"
)

// Write puts the machine and the table into a file, in the place of those that are there.
func Write(file, machine string, results []Result) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	before, rest, begins := bytes.Cut(text, []byte(tableBegins))
	_, after, ends := bytes.Cut(rest, []byte(tableEnds))
	if !begins || !ends {
		return fmt.Errorf("write the table: %s has no place for it", file)
	}
	var out bytes.Buffer
	out.Write(before)
	out.WriteString(tableBegins + machine + "\n\n")
	Print(&out, results)
	out.WriteString(tableEnds)
	out.Write(after)
	info, err := os.Stat(file)
	if err == nil {
		err = os.WriteFile(file, out.Bytes(), info.Mode())
	}
	if err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

// Machine describes what the figures were taken on, in one sentence. The load is that of the last minutes before.
func (b *Bed) Machine(ctx context.Context) (string, error) {
	var postgres, settings string
	err := b.admin.QueryRow(ctx, `SELECT current_setting('server_version'), 'fsync ' || current_setting('fsync') || ', shared_buffers '
	                                     || current_setting('shared_buffers') || ', ' || current_setting('default_transaction_isolation')`).Scan(&postgres, &settings)
	if err != nil {
		return "", fmt.Errorf("ask the database for its settings: %w", err)
	}
	var failed []error
	read := func(file string) string {
		text, err := os.ReadFile(file)
		failed = append(failed, err)
		return string(text)
	}
	ansible, err := exec.CommandContext(ctx, "ansible-playbook", "--version").Output()
	failed = append(failed, err)
	first, _, _ := strings.Cut(string(ansible), "\n")
	load := strings.Fields(read("/proc/loadavg") + " ? ?")
	text := fmt.Sprintf("Taken on %s: %d cores (%s), %s of memory, Linux %s, %s, PostgreSQL %s (%s), %s. Load before: %s.",
		time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), entry(read("/proc/cpuinfo"), "model name"), gibibytes(entry(read("/proc/meminfo"), "MemTotal")),
		strings.TrimSpace(read("/proc/sys/kernel/osrelease")), runtime.Version(), strings.Fields(postgres + " ?")[0], settings,
		strings.TrimSpace(first), strings.Join(load[:3], ", "))
	return text, errors.Join(failed...)
}

// entry returns the value of the first line "name : value".
func entry(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func gibibytes(kib string) string {
	var n float64
	if _, err := fmt.Sscanf(kib, "%f kB", &n); err != nil {
		return kib
	}
	return fmt.Sprintf("%.0f GiB", n/(1<<20))
}
