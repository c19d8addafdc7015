package bench

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"

	"kloigos/crdb/localdb"
	"kloigos/playbooks"
)

// playbookFiles are those of unit_allocate as it ships, but for the two modules that need LVM, systemd and AppArmor,
// whose stand-ins are in host/.
func playbookFiles() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, part := range []struct{ from, to string }{
		{"unit_allocate/playbook.yml", "playbook.yml"},
		{"roles/unit_allocate", "roles/unit_allocate"},
		{"library/kloigos_files.py", "library/kloigos_files.py"},
	} {
		err := fs.WalkDir(playbooks.Files, part.from, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := playbooks.Files.ReadFile(path)
			files[part.to+strings.TrimPrefix(path, part.from)] = text
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read the playbook: %w", err)
		}
	}
	for _, module := range []string{"kloigos_unit.py", "kloigos_live.py"} {
		text, err := hostFiles.ReadFile("host/" + module)
		if err != nil {
			return nil, fmt.Errorf("read the stand-ins: %w", err)
		}
		files["library/"+module] = text
	}
	return files, nil
}

// unpackPlaybook writes the files into a directory, for a bare run.
func unpackPlaybook(dir string) error {
	files, err := playbookFiles()
	if err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("unpack the playbook: %w", err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return fmt.Errorf("unpack the playbook: %w", err)
		}
	}
	return nil
}

// bindPlaybook makes the files the default version of unit_allocate in a database.
func (b *Bed) bindPlaybook(ctx context.Context, database string) error {
	files, err := playbookFiles()
	if err != nil {
		return err
	}
	content, decoded, err := pack(files)
	if err != nil {
		return err
	}
	url, err := localdb.WithDatabase(b.server.URL, database)
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", database, err)
	}
	defer func() { _ = conn.Close(ctx) }()
	sum := sha256.Sum256(content)
	if _, err := conn.Exec(ctx, `
INSERT INTO playbook_versions (id, playbook, version, sha256, content, size_bytes, decoded_bytes, files, seeded, created_by)
SELECT $1, 'unit_allocate', max(v.version) + 1, $2, $3, $4, $5, $6, false, 'bench'
  FROM playbook_versions v
 WHERE v.playbook = 'unit_allocate'`, uuid.New(), hex.EncodeToString(sum[:]), content, len(content), decoded, len(files)); err != nil {
		return fmt.Errorf("store the playbook: %w", err)
	}
	_, err = conn.Exec(ctx, `
UPDATE playbooks
   SET default_version = (SELECT max(v.version) FROM playbook_versions v WHERE v.playbook = 'unit_allocate')
 WHERE name = 'unit_allocate'`)
	if err != nil {
		return fmt.Errorf("make the playbook the default: %w", err)
	}
	return nil
}

func pack(files map[string][]byte) (content []byte, decoded int, err error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	names := make([]string, 0, len(files))
	seen := map[string]bool{}
	for name := range files {
		names = append(names, name)
		for dir := filepath.Dir(name); dir != "." && !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			names = append(names, dir+"/")
		}
	}
	slices.Sort(names)
	for _, name := range names {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(files[name]))}
		if strings.HasSuffix(name, "/") {
			h.Typeflag, h.Mode = tar.TypeDir, 0o755
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, 0, fmt.Errorf("pack the playbook: %w", err)
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, 0, fmt.Errorf("pack the playbook: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, 0, fmt.Errorf("pack the playbook: %w", err)
	}
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		return nil, 0, fmt.Errorf("pack the playbook: %w", err)
	}
	defer func() { _ = encoder.Close() }()
	return encoder.EncodeAll(archive.Bytes(), nil), archive.Len(), nil
}
