package kube

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// parts are the files of a tar by name, and the names in order.
func parts(t *testing.T, text []byte) (files map[string][]byte, names []string) {
	t.Helper()
	files = map[string][]byte{}
	in := tar.NewReader(bytes.NewReader(text))
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files, names
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = content
		names = append(names, header.Name)
	}
}

// What the manifest names is there, under the digest of what it is.
func TestArchiveOfAnImage(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := image{"registry.k8s.io/pause:3.10.2", map[string]string{"/usr/bin/pause": program, "/usr/sbin/nft": program}, []string{"/usr/bin/pause"}}.archive()
	if err != nil {
		t.Fatal(err)
	}
	files, _ := parts(t, text)
	var manifest []struct {
		Config           string
		RepoTags, Layers []string
	}
	if err := json.Unmarshal(files["manifest.json"], &manifest); err != nil || len(manifest) != 1 || len(manifest[0].Layers) != 1 || !slices.Equal(manifest[0].RepoTags, []string{"registry.k8s.io/pause:3.10.2"}) {
		t.Fatalf("manifest %s, %v", files["manifest.json"], err)
	}
	layer := files[manifest[0].Layers[0]]
	if got := sum(layer) + ".tar"; got != manifest[0].Layers[0] {
		t.Errorf("the layer %s is called %s", got, manifest[0].Layers[0])
	}
	var config struct {
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
	}
	if err := json.Unmarshal(files[manifest[0].Config], &config); err != nil || !slices.Equal(config.RootFS.DiffIDs, []string{"sha256:" + sum(layer)}) {
		t.Errorf("config %s, %v", files[manifest[0].Config], err)
	}
	// Directories come before what is in them, each once.
	if _, names := parts(t, layer); !slices.Equal(names, []string{"usr/", "usr/bin/", "usr/bin/pause", "usr/sbin/", "usr/sbin/nft"}) {
		t.Errorf("layer %q", names)
	}
}

func TestLibrariesOfAProgram(t *testing.T) {
	t.Parallel()
	found, err := withLibraries(t.Context(), "/bin/ls")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 3 || found[0] != "/bin/ls" || !slices.ContainsFunc(found, func(f string) bool { return filepath.Base(f) == "libc.so.6" }) {
		t.Errorf("files %q", found)
	}
	for _, file := range found {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
}
