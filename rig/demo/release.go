package demo

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"aead.dev/minisign"

	"kloigos/agent/release"
)

const (
	// goodAgent is a second build of the agent, and endingAgent one that ends at once.
	goodAgent, endingAgent = "v1.0.1", "v1.0.2"
	releaseDir             = "release"
	releaseKeysFile        = "release-keys"
)

// buildAgent builds the agent of the VM: static, and of its architecture, which is this machine's.
func (i *Installation) buildAgent(ctx context.Context, version string, into ...string) error {
	flags := "-s -w"
	if version != "" {
		flags += " -X main.version=" + version
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags="+flags, "-o", i.path(into...), "./agent/cmd/kloigos-agent")
	cmd.Dir, cmd.Env = i.options.Root, append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build of the agent: %w\n%s", err, bytes.TrimSpace(output))
	}
	return nil
}

// makeRelease makes the builds that the checks deliver, signs them, and forgets the private key.
func (i *Installation) makeRelease(ctx context.Context) error {
	if err := os.MkdirAll(i.path(releaseDir), 0o700); err != nil {
		return fmt.Errorf("make the folder of builds: %w", err)
	}
	if err := i.buildAgent(ctx, goodAgent, releaseDir, goodAgent); err != nil {
		return err
	}
	if err := os.WriteFile(i.path(releaseDir, endingAgent), []byte("#!/bin/sh\nexit 1\n"), 0o600); err != nil {
		return fmt.Errorf("write a build that ends at once: %w", err)
	}
	public, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		return fmt.Errorf("make a release key: %w", err)
	}
	for _, version := range []string{goodAgent, endingAgent} {
		if err := signBuild(private, version, i.path(releaseDir, version)); err != nil {
			return fmt.Errorf("sign the build %s: %w", version, err)
		}
	}
	if err := os.WriteFile(i.path(releaseKeysFile), []byte(public.String()+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the release key: %w", err)
	}
	return nil
}

func signBuild(private minisign.PrivateKey, version, path string) error {
	build, err := os.Open(filepath.Clean(path))
	if err != nil {
		return err
	}
	defer func() { _ = build.Close() }()
	text, signature, err := release.Sign(private, release.Manifest{Version: version, Arch: runtime.GOARCH, Expires: time.Now().AddDate(0, 0, 1)}, build)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+release.ManifestEnding, text, 0o600); err != nil {
		return err
	}
	return os.WriteFile(path+release.SignatureEnding, signature, 0o600)
}
