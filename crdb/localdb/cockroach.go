package localdb

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// prepareCockroach makes the certificates where they are missing, and returns how to run a single node.
//
// Layout of dir: certs/ (its own CA, the node's and root's certificate), data/, url (written by the server), server.pid, server.log.
func prepareCockroach(ctx context.Context, opts Options, throwaway bool) (launch, error) {
	dir := opts.Dir
	bin, err := exec.LookPath("cockroach")
	if err != nil {
		return launch{}, fmt.Errorf("find cockroach: %w", err)
	}
	certs := filepath.Join(dir, "certs")
	if err := cockroachCerts(ctx, bin, certs); err != nil {
		return launch{}, err
	}
	urlFile := filepath.Join(dir, "url")
	if err := os.Remove(urlFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return launch{}, fmt.Errorf("remove the last run's address: %w", err)
	}
	store, signal := "path="+filepath.Join(dir, "data"), "TERM"
	if throwaway {
		store, signal = "type=mem,size=1GiB", "KILL"
	}
	argv := []string{
		bin, "start-single-node", "--certs-dir=" + certs, "--listen-addr=127.0.0.1:" + strconv.Itoa(opts.Port), "--http-addr=127.0.0.1:0",
		"--store=" + store, "--cache=128MiB", "--max-sql-memory=256MiB", "--listening-url-file=" + urlFile,
	}
	return launch{
		argv: withParentDeath(signal, nil, argv),
		// HOME: it keeps a history and a telemetry mark there.
		env:    []string{"HOME=" + dir, "COCKROACH_SKIP_ENABLING_DIAGNOSTIC_REPORTING=true"},
		signal: signal,
		adminURL: func() (string, error) {
			text, err := os.ReadFile(urlFile)
			if err != nil {
				return "", fmt.Errorf("read the server's address: %w", err)
			}
			listening, err := url.Parse(strings.TrimSpace(string(text)))
			if err != nil || listening.Host == "" {
				return "", errors.New("the server has not written its address yet")
			}
			query := url.Values{
				"sslmode":     {"verify-full"},
				"sslrootcert": {filepath.Join(certs, "ca.crt")},
				"sslcert":     {filepath.Join(certs, "client.root.crt")},
				"sslkey":      {filepath.Join(certs, "client.root.key")},
			}
			admin := url.URL{Scheme: "postgresql", User: url.User("root"), Host: listening.Host, Path: "/defaultdb", RawQuery: query.Encode()}
			return admin.String(), nil
		},
	}, nil
}

// cockroachCerts makes what is missing; each step is skipped where its result is there.
func cockroachCerts(ctx context.Context, bin, certs string) error {
	if err := os.MkdirAll(certs, 0o700); err != nil {
		return fmt.Errorf("make the certificates' directory: %w", err)
	}
	caKey := filepath.Join(certs, "ca.key")
	steps := []struct {
		result string
		args   []string
	}{
		{"ca.crt", []string{"cert", "create-ca"}},
		{"node.crt", []string{"cert", "create-node", "localhost", "127.0.0.1"}},
		{"client.root.crt", []string{"cert", "create-client", "root"}},
	}
	for _, step := range steps {
		if _, err := os.Stat(filepath.Join(certs, step.result)); err == nil {
			continue
		}
		cmd := exec.CommandContext(ctx, bin, append(step.args, "--certs-dir="+certs, "--ca-key="+caKey)...)
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("cockroach %s: %w: %s", strings.Join(step.args, " "), err, strings.TrimSpace(string(output)))
		}
	}
	return nil
}
