// Package bundle turns a playbook with its roles and modules into one artifact (a tar compressed with zstd), and
// such an artifact back into files.
//
// It owns the artifact's format. The same files always make the same tar: entries are sorted, and owner, time and
// mode are fixed, so that a checksum tells whether anything changed.
//
// It refuses what an artifact from elsewhere could carry to do harm: paths that leave the directory, links,
// devices, names twice, and content that grows beyond its limits while it is decompressed. What comes from outside
// also goes through the Gate, which looks at what its YAML and its templates could do, and takes only what is known
// to run on the host alone and under the fence.
package bundle

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/klauspost/compress/zstd"
)

// Bundle is one artifact.
type Bundle struct {
	Name string
	// SHA256 of Content in hex: what a download is checked against.
	SHA256 string
	// TreeSHA256 of the decompressed tar in hex. It stays the same when another release of the compressor packs
	// the same files into other bytes, and so it tells whether a playbook is already known.
	TreeSHA256   string
	Content      []byte
	DecodedBytes int64
	Files        int
}

// manifest is bundle.yml: what belongs to a playbook beside its own folder.
type manifest struct {
	Roles   []string `yaml:"roles"`
	Modules []string `yaml:"modules"`
}

var (
	namePattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
	// epoch stands for the time of every entry.
	epoch = time.Unix(0, 0).UTC()
)

const (
	moduleStart  = "#!/usr/bin/python\n"
	manifestFile = "bundle.yml"
	mainFile     = "playbook.yml"
	fileMode     = 0o644
	directory    = 0o755
)

// Build packs the playbook name out of a tree that has <name>/playbook.yml with <name>/bundle.yml, roles/<role>/ and
// library/<module>.py, with module_utils/kloigos.py where a module imports it. In the artifact the files of <name>/ lie at
// the top, beside roles/ and library/. The result keeps to [DefaultLimits], so that whatever was built can be unpacked.
func Build(fsys fs.FS, name string) (Bundle, error) {
	if !namePattern.MatchString(name) {
		return Bundle{}, fmt.Errorf("build bundle: %q is no name of a playbook", name)
	}
	files, err := collect(fsys, name)
	if err != nil {
		return Bundle{}, fmt.Errorf("build bundle %s: %w", name, err)
	}
	archive, err := pack(files)
	if err != nil {
		return Bundle{}, fmt.Errorf("build bundle %s: %w", name, err)
	}
	content, err := compress(archive)
	if err != nil {
		return Bundle{}, fmt.Errorf("build bundle %s: %w", name, err)
	}
	listed, err := Files(content, DefaultLimits)
	if err != nil {
		return Bundle{}, fmt.Errorf("build bundle %s: %w", name, err)
	}
	return Bundle{
		Name: name, SHA256: Digest(content), TreeSHA256: Digest(archive), Content: content,
		DecodedBytes: int64(len(archive)), Files: len(listed),
	}, nil
}

// Digest is the SHA-256 of b in hex.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// collect reads the files of a bundle, by their paths in it.
func collect(fsys fs.FS, name string) (map[string][]byte, error) {
	m, err := readManifest(fsys, name)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	if err := addTree(fsys, name, "", files); err != nil {
		return nil, err
	}
	delete(files, manifestFile)
	if _, ok := files[mainFile]; !ok {
		return nil, fmt.Errorf("%s/%s: %w", name, mainFile, fs.ErrNotExist)
	}
	for _, role := range m.Roles {
		if !namePattern.MatchString(role) {
			return nil, fmt.Errorf("%s: %q is no name of a role", manifestFile, role)
		}
		if err := addTree(fsys, "roles/"+role, "roles/"+role, files); err != nil {
			return nil, err
		}
	}
	for _, module := range m.Modules {
		if !namePattern.MatchString(module) {
			return nil, fmt.Errorf("%s: %q is no name of a module", manifestFile, module)
		}
		file := "library/" + module + ".py"
		if files[file], err = fs.ReadFile(fsys, file); err != nil {
			return nil, fmt.Errorf("read module: %w", err)
		}
		// Ansible chooses the interpreter by this line, and ours is the fence.
		if !bytes.HasPrefix(files[file], []byte(moduleStart)) {
			return nil, fmt.Errorf("%s: the first line is not %q", file, moduleStart)
		}
		if sharedImport.Match(files[file]) {
			if files[sharedFile], err = fs.ReadFile(fsys, sharedFile); err != nil {
				return nil, fmt.Errorf("read what modules share: %w", err)
			}
		}
	}
	return files, nil
}

func readManifest(fsys fs.FS, name string) (manifest, error) {
	var m manifest
	raw, err := fs.ReadFile(fsys, name+"/"+manifestFile)
	if err != nil {
		return m, fmt.Errorf("read manifest: %w", err)
	}
	// An empty file is a playbook that needs nothing beside its folder.
	if err := yaml.NewDecoder(bytes.NewReader(raw), yaml.Strict()).Decode(&m); err != nil && !errors.Is(err, io.EOF) {
		return m, fmt.Errorf("read %s: %w", manifestFile, err)
	}
	return m, nil
}

// addTree adds all files below dir, under the prefix in the bundle. What tools leave behind is left out.
func addTree(fsys fs.FS, dir, prefix string, files map[string][]byte) error {
	return fs.WalkDir(fsys, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if base == "__pycache__" {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(base, ".pyc") || strings.HasSuffix(base, "~") {
			return nil
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s: not a plain file", p)
		}
		content, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		files[path.Join(prefix, strings.TrimPrefix(p, dir+"/"))] = content
		return nil
	})
}

// pack writes the tar: directories before what is in them, everything sorted.
func pack(files map[string][]byte) ([]byte, error) {
	entries := map[string]bool{} // true for a directory
	for file := range files {
		entries[file] = false
		for dir := path.Dir(file); dir != "." && dir != "/"; dir = path.Dir(dir) {
			entries[dir] = true
		}
	}
	names := make([]string, 0, len(entries))
	for name := range entries {
		names = append(names, name)
	}
	slices.Sort(names)

	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, name := range names {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: fileMode, Size: int64(len(files[name])), ModTime: epoch}
		if entries[name] {
			h.Typeflag, h.Name, h.Mode, h.Size = tar.TypeDir, name+"/", directory, 0
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("pack %s: %w", name, err)
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, fmt.Errorf("pack %s: %w", name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return buf.Bytes(), nil
}

// compress uses one goroutine: the encoder's output depends on how work is split.
func compress(archive []byte) ([]byte, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderCRC(true))
	if err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	defer enc.Close()
	return enc.EncodeAll(archive, nil), nil
}
