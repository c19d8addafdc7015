package bundle

import (
	"archive/tar"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func tree() fstest.MapFS {
	file := func(s string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(s), ModTime: time.Now(), Mode: 0o777}
	}
	return fstest.MapFS{
		"host_probe/playbook.yml":                  file("- hosts: all\n"),
		"host_probe/bundle.yml":                    file("roles: [host_probe]\nmodules: [kloigos_probe]\n"),
		"host_probe/templates/motd.j2":             file("hello\n"),
		"roles/host_probe/tasks/main.yml":          file("- kloigos_probe:\n"),
		"roles/host_probe/files/.hidden":           file("kept\n"),
		"roles/host_probe/files/__pycache__/x.pyc": file("junk"),
		"roles/unit_allocate/tasks/main.yml":       file("- other:\n"),
		"library/kloigos_probe.py":                 file("#!/usr/bin/python\nprint('{}')\n"),
		"library/kloigos_other.py":                 file("print('{}')\n"),
		"bare/playbook.yml":                        file("- hosts: all\n"),
		"bare/bundle.yml":                          file(""),
		"typo/playbook.yml":                        file("- hosts: all\n"),
		"typo/bundle.yml":                          file("role: [host_probe]\n"),
		"escape/playbook.yml":                      file("- hosts: all\n"),
		"escape/bundle.yml":                        file("roles: [../../etc]\n"),
		"unfenced/playbook.yml":                    file("- hosts: all\n"),
		"unfenced/bundle.yml":                      file("modules: [kloigos_other]\n"),
		"missing/playbook.yml":                     file("- hosts: all\n"),
		"missing/bundle.yml":                       file("modules: [not_there]\n"),
		"headless/bundle.yml":                      file(""),
		"link/playbook.yml":                        file("- hosts: all\n"),
		"link/bundle.yml":                          file(""),
		"link/shadow":                              {Data: []byte("/etc/shadow"), Mode: fs.ModeSymlink},
	}
}

func TestBuildTakesWhatTheManifestNames(t *testing.T) {
	t.Parallel()
	b, err := Build(tree(), "host_probe")
	if err != nil {
		t.Fatal(err)
	}
	files, err := Files(b.Content, DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	want := []File{
		{"library/kloigos_probe.py", 30, 0o644},
		{"playbook.yml", 13, 0o644},
		{"roles/host_probe/files/.hidden", 5, 0o644},
		{"roles/host_probe/tasks/main.yml", 17, 0o644},
		{"templates/motd.j2", 6, 0o644},
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Fatal(diff)
	}
	if b.Files != len(want) || b.SHA256 != Digest(b.Content) || b.DecodedBytes%512 != 0 {
		t.Fatalf("bundle says %d files, %s, %d bytes", b.Files, b.SHA256, b.DecodedBytes)
	}
	dir := t.TempDir()
	if err := Unpack(b.Content, dir, DefaultLimits); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "roles/host_probe/tasks/main.yml"))
	if err != nil || string(got) != "- kloigos_probe:\n" {
		t.Fatalf("unpacked %q, %v", got, err)
	}
	one, err := ReadFile(b.Content, "templates/motd.j2", DefaultLimits)
	if err != nil || string(one) != "hello\n" {
		t.Fatalf("read %q, %v", one, err)
	}
	if _, err := ReadFile(b.Content, "roles", DefaultLimits); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a directory was read: %v", err)
	}
}

func TestBuildIsDeterministic(t *testing.T) {
	t.Parallel()
	first, err := Build(tree(), "host_probe")
	if err != nil {
		t.Fatal(err)
	}
	changed := tree()
	for _, f := range changed {
		if f.Mode.IsRegular() {
			f.Mode, f.ModTime = 0o400, time.Unix(1, 0)
		}
	}
	second, err := Build(changed, "host_probe")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Content, second.Content) || first.TreeSHA256 != second.TreeSHA256 {
		t.Fatal("times or modes of the source change the bundle")
	}
	changed["roles/host_probe/tasks/main.yml"].Data = []byte("- kloigos_probe: \n")
	third, err := Build(changed, "host_probe")
	if err != nil {
		t.Fatal(err)
	}
	if third.TreeSHA256 == first.TreeSHA256 || third.SHA256 == first.SHA256 {
		t.Fatal("a changed file does not change the checksum")
	}
}

func TestBuildRefuses(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"typo": "role", "escape": "no name of a role", "missing": "not_there", "headless": "playbook.yml",
		"link": "not a plain file", "unfenced": "first line", "../x": "no name of a playbook", "nothing": "manifest",
	} {
		if _, err := Build(tree(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error about %q", name, err, want)
		}
	}
	if _, err := Build(tree(), "bare"); err != nil {
		t.Errorf("a playbook that needs nothing: %v", err)
	}
}

// artifact packs headers as they are, hostile or not.
func artifact(t interface{ Fatal(...any) }, headers ...tar.Header) []byte {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, h := range headers {
		body := bytes.Repeat([]byte{0}, int(h.Size))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := compress(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func file(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644} }

func TestUnpackRefusesHostileArtifacts(t *testing.T) {
	t.Parallel()
	dir := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755} }
	many := make([]tar.Header, 0, DefaultLimits.Files+1)
	for i := range DefaultLimits.Files + 1 {
		many = append(many, file("f"+strings.Repeat("x", i%100)+string(rune('a'+i%26))+Digest([]byte{byte(i), byte(i >> 8)})[:8]))
	}
	big := file("big")
	big.Size = DefaultLimits.FileBytes + 1
	bomb := make([]tar.Header, 0, 16)
	for i := range 9 {
		h := file(string(rune('a' + i)))
		h.Size = DefaultLimits.FileBytes
		bomb = append(bomb, h)
	}
	attr := file("attr")
	attr.PAXRecords = map[string]string{"SCHILY.xattr.security.capability": "x"}
	for name, content := range map[string][]byte{
		"absolute":         artifact(t, file("/etc/passwd")),
		"parent":           artifact(t, file("../up")),
		"parent inside":    artifact(t, dir("a/"), file("a/../../up")),
		"dot":              artifact(t, dir("./")),
		"not shortest":     artifact(t, dir("a/"), file("a//b")),
		"backslash":        artifact(t, file(`a\b`)),
		"control":          artifact(t, file("a\x1b[2Jb")),
		"option":           artifact(t, file("--extra-vars")),
		"symbolic link":    artifact(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "/etc"}),
		"link, then in it": artifact(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "/tmp"}, file("l/x")),
		"hard link":        artifact(t, file("a"), tar.Header{Typeflag: tar.TypeLink, Name: "l", Linkname: "a"}),
		"device":           artifact(t, tar.Header{Typeflag: tar.TypeChar, Name: "null", Devmajor: 1, Devminor: 3}),
		"fifo":             artifact(t, tar.Header{Typeflag: tar.TypeFifo, Name: "p"}),
		"twice":            artifact(t, file("a"), file("a")),
		"file, then dir":   artifact(t, file("a"), dir("a/")),
		"below a file":     artifact(t, file("a"), file("a/b")),
		"no directory":     artifact(t, file("a/b")),
		"attribute":        artifact(t, attr),
		"too many":         artifact(t, many...),
		"too big":          artifact(t, big),
		"bomb":             artifact(t, bomb...),
		"too deep":         artifact(t, file(strings.Repeat("d/", 20)+"f")),
		"no zstd":          []byte("this is not compressed"),
		"cut":              artifact(t, file("a"))[:20],
		"empty":            {0x28, 0xb5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			target := filepath.Join(parent, "in", "dir")
			if err := os.MkdirAll(target, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := Unpack(content, target, DefaultLimits); !errors.Is(err, ErrUnsafe) {
				t.Fatalf("got %v, want a refusal", err)
			}
			if _, err := Files(content, DefaultLimits); !errors.Is(err, ErrUnsafe) {
				t.Fatalf("listing: got %v, want a refusal", err)
			}
			for _, outside := range []string{"up", "in/up"} {
				if _, err := os.Lstat(filepath.Join(parent, outside)); err == nil {
					t.Fatalf("%s was written outside", outside)
				}
			}
		})
	}
}

// A link that was in the directory before must not lead out of it either.
func TestUnpackDoesNotFollowLinks(t *testing.T) {
	t.Parallel()
	outside, dir := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "roles")); err != nil {
		t.Fatal(err)
	}
	b, err := Build(tree(), "host_probe")
	if err != nil {
		t.Fatal(err)
	}
	if err := Unpack(b.Content, dir, DefaultLimits); err == nil {
		t.Fatal("unpacked into a directory that was not empty")
	}
	if left, _ := os.ReadDir(outside); len(left) != 0 {
		t.Fatalf("written outside: %v", left)
	}
}

// One flipped bit anywhere never goes unnoticed, and never breaks out or panics.
func TestDamagedArtifacts(t *testing.T) {
	t.Parallel()
	b, err := Build(tree(), "host_probe")
	if err != nil {
		t.Fatal(err)
	}
	want, err := Files(b.Content, DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		content := bytes.Clone(b.Content)
		content[rapid.IntRange(0, len(content)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		got, err := Files(content, DefaultLimits)
		if err == nil && !cmp.Equal(want, got) {
			t.Fatalf("a damaged bundle lists as %v", got)
		}
	})
}
