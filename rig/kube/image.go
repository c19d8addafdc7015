package kube

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
)

// image is a container image of one layer, made of files of this machine.
type image struct {
	name       string            // such as registry.k8s.io/pause:3.10.2
	files      map[string]string // path in the image: file of this machine
	entrypoint []string
}

// layer is the one layer, not compressed: the host that unpacks it may be emulated.
func (i image) layer() ([]byte, error) {
	var text bytes.Buffer
	out := tar.NewWriter(&text)
	made := map[string]bool{"/": true, ".": true}
	places := make([]string, 0, len(i.files))
	for at := range i.files {
		places = append(places, at)
	}
	slices.Sort(places)
	for _, at := range places {
		for _, dir := range parents(at) {
			if made[dir] {
				continue
			}
			made[dir] = true
			if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(dir, "/") + "/", Mode: 0o755}); err != nil {
				return nil, err
			}
		}
		content, err := os.ReadFile(i.files[at])
		if err != nil {
			return nil, err
		}
		if err := writeFile(out, strings.TrimPrefix(at, "/"), content, 0o755); err != nil {
			return nil, err
		}
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// parents are the directories above a path, the highest first.
func parents(at string) []string {
	var all []string
	for dir := path.Dir(at); dir != "/" && dir != "."; dir = path.Dir(dir) {
		all = append(all, dir)
	}
	slices.Reverse(all)
	return all
}

// archive is the image as `docker save` writes it.
func (i image) archive() ([]byte, error) {
	layer, err := i.layer()
	if err != nil {
		return nil, fmt.Errorf("make the image %s: %w", i.name, err)
	}
	digest := sum(layer)
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "created": "2026-11-01T00:00:00Z",
		"config": map[string]any{"Env": []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, "Entrypoint": i.entrypoint},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + digest}},
	})
	if err != nil {
		return nil, err
	}
	manifest, err := json.Marshal([]any{map[string]any{"Config": sum(config) + ".json", "RepoTags": []string{i.name}, "Layers": []string{digest + ".tar"}}})
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	out := tar.NewWriter(&text)
	for _, part := range []struct {
		name    string
		content []byte
	}{{"manifest.json", manifest}, {sum(config) + ".json", config}, {digest + ".tar", layer}} {
		if err := writeFile(out, part.name, part.content, 0o644); err != nil {
			return nil, err
		}
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

func writeFile(out *tar.Writer, name string, content []byte, mode int64) error {
	if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := io.Copy(out, bytes.NewReader(content))
	return err
}

func sum(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:])
}
