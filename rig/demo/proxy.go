package demo

import (
	"bytes"
	"context"
	_ "embed" // the template
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"text/template"
)

//go:embed haproxy.cfg.tmpl
var proxyTemplate string

// Proxy is what HAProxy's configuration is made of; addresses are host:port.
type Proxy struct {
	Listen   string // the origin, TLS
	Internal string // the web apps' way to the API, plain, for loopback only
	Metrics  string // for a monitoring system, plain; empty: nothing is told
	Bundle   string // PEM file with the origin's certificate and key
	Backends []string
	Webapps  []string
}

// Write writes the configuration and lets HAProxy check it.
func (p Proxy) Write(ctx context.Context, file string) error {
	parsed, err := template.New("haproxy.cfg").Funcs(template.FuncMap{"inc": func(i int) int { return i + 1 }}).Parse(proxyTemplate)
	if err != nil {
		return fmt.Errorf("read HAProxy's template: %w", err)
	}
	var config bytes.Buffer
	if err := parsed.Execute(&config, p); err != nil {
		return fmt.Errorf("fill HAProxy's template: %w", err)
	}
	if err := os.WriteFile(file, config.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write HAProxy's configuration: %w", err)
	}
	program, err := haproxy()
	if err != nil {
		return err
	}
	output, err := exec.CommandContext(ctx, program, "-c", "-f", file).CombinedOutput()
	if err != nil {
		return fmt.Errorf("haproxy refuses its configuration: %w: %s", err, strings.TrimSpace(string(output)))
	}
	return nil
}

// Start writes the configuration and starts HAProxy with it, and with more arguments of its own.
func (p Proxy) Start(ctx context.Context, g *Group, env []string, file string, more ...string) (*Process, error) {
	if err := p.Write(ctx, file); err != nil {
		return nil, err
	}
	program, err := haproxy()
	if err != nil {
		return nil, err
	}
	return g.Start("haproxy", program, env, append([]string{"-db", "-f", file}, more...)...)
}

// haproxy finds the program: Debian keeps it where only root's PATH leads.
func haproxy() (string, error) {
	for _, name := range []string{"haproxy", "/usr/sbin/haproxy", "/usr/local/sbin/haproxy"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("haproxy is not installed")
}
