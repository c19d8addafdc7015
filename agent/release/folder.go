package release

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Endings of the two files beside a build.
const (
	ManifestEnding  = ".json"
	SignatureEnding = ".json.minisig"
)

// Build is one build of a folder.
type Build struct {
	Manifest
	Text, Signature []byte // the manifest as it was signed
	Path            string
}

// Folder reads the builds of a folder: each manifest with its signature, and beside it the build, whose bytes are checked. The
// signatures are for hosts: a backend has no key to check them with.
func Folder(dir string) ([]Build, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+ManifestEnding))
	if err != nil {
		return nil, err
	}
	var builds []Build
	for _, file := range files {
		b, err := Read(strings.TrimSuffix(file, ManifestEnding))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		builds = append(builds, b)
	}
	return builds, nil
}

// Read reads one build by its path, with the two files beside it.
func Read(path string) (Build, error) {
	b := Build{Path: path}
	var err error
	if b.Text, err = Limited(path+ManifestEnding, MaxManifest); err != nil {
		return b, err
	}
	if b.Signature, err = Limited(path+SignatureEnding, MaxSignature); err != nil {
		return b, err
	}
	if b.Manifest, err = Parse(b.Text); err != nil {
		return b, err
	}
	f, err := os.Open(path)
	if err != nil {
		return b, err
	}
	defer func() { _ = f.Close() }()
	return b, b.Copy(io.Discard, f)
}

// Limited reads a small file.
func Limited(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(content)) > most {
		err = fmt.Errorf("%s is larger than %d bytes", path, most)
	}
	return content, err
}
