package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"kloigos/crdb/localdb"
)

// benchjob is the program that does what only the backend's own packages can do.
func (b *Bed) benchjob(ctx context.Context, database string, args ...string) (*exec.Cmd, error) {
	url, err := localdb.WithDatabase(b.server.URL, database)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, b.path("benchjob"), args...)
	cmd.Env = b.environment(url)
	return cmd, nil
}

// benchjobSays runs it to its end and reads what it measured.
func (b *Bed) benchjobSays(ctx context.Context, database string, into any, args ...string) error {
	cmd, err := b.benchjob(ctx, database, args...)
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("benchjob %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	if err := json.Unmarshal(out, into); err != nil {
		return fmt.Errorf("benchjob %s: %w", args[0], err)
	}
	return nil
}

// teller is a job that runs, and tells entries when it is asked to.
type teller struct {
	job    string
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr bytes.Buffer
}

// newTeller starts a job.
func (b *Bed) newTeller(ctx context.Context, database string) (*teller, error) {
	cmd, err := b.benchjob(ctx, database, "tell")
	if err != nil {
		return nil, err
	}
	t := &teller{cmd: cmd}
	cmd.Stderr = &t.stderr
	if t.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	t.out = bufio.NewScanner(out)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start benchjob: %w", err)
	}
	var begun struct {
		Job string `json:"job"`
	}
	err = t.hear(&begun)
	t.job = begun.Job
	return t, err
}

func (t *teller) hear(into any) error {
	if !t.out.Scan() {
		return errors.Join(fmt.Errorf("benchjob ended early: %s", bytes.TrimSpace(t.stderr.Bytes())), t.end())
	}
	return json.Unmarshal(t.out.Bytes(), into)
}

// tell has it tell so many entries more, at most so many a second (0: as fast as it goes), and returns how long it took
// until all were stored.
func (t *teller) tell(entries, pace int) (time.Duration, error) {
	if _, err := fmt.Fprintln(t.in, entries, pace); err != nil {
		return 0, err
	}
	var told struct {
		Seconds float64 `json:"seconds"`
	}
	err := t.hear(&told)
	return time.Duration(told.Seconds * float64(time.Second)), err
}

// end ends the job, and fails if something of what it told was lost, or is there twice.
func (t *teller) end() error {
	_ = t.in.Close() // an error means that it has ended
	if err := t.cmd.Wait(); err != nil {
		return fmt.Errorf("benchjob: %w: %s", err, bytes.TrimSpace(t.stderr.Bytes()))
	}
	return nil
}
