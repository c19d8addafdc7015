package testhost

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func testRecipe() Recipe {
	return Recipe{
		Packages: []string{"sudo", "acl"},
		Modules:  []string{"virtio_blk"},
		Sources:  "Types: deb\n",
		GiB:      4,
		Files: fstest.MapFS{
			"init":           {Data: []byte("#!/bin/sh\n")},
			"rootfs/etc/one": {Data: []byte("1")},
		},
	}
}

func hashOf(t *testing.T, recipe Recipe) string {
	t.Helper()
	hash, err := recipe.Hash()
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestRecipeHashIgnoresThePackagesOrder(t *testing.T) {
	t.Parallel()
	recipe := testRecipe()
	before := hashOf(t, recipe)
	recipe.Packages = []string{"acl", "sudo"}
	if after := hashOf(t, recipe); after != before {
		t.Errorf("the order of packages changed the hash from %s to %s", before, after)
	}
}

func TestRecipeHashSeesEveryPart(t *testing.T) {
	t.Parallel()
	changes := map[string]func(*Recipe){
		"a package":          func(r *Recipe) { r.Packages = append(r.Packages, "at") },
		"a module":           func(r *Recipe) { r.Modules = append(r.Modules, "virtio_net") },
		"the order to load":  func(r *Recipe) { r.Modules = []string{"virtio_pci", "virtio_blk"} },
		"the mirror":         func(r *Recipe) { r.Sources = "Types: deb \n" },
		"the size":           func(r *Recipe) { r.GiB = 5 },
		"a file's content":   func(r *Recipe) { r.Files.(fstest.MapFS)["init"].Data = []byte("#!/bin/bash\n") },
		"a file's name":      func(r *Recipe) { move(r.Files.(fstest.MapFS), "rootfs/etc/one", "rootfs/etc/two") },
		"a file more":        func(r *Recipe) { r.Files.(fstest.MapFS)["rootfs/etc/two"] = &fstest.MapFile{} },
		"text moved between": func(r *Recipe) { r.Packages, r.Modules = []string{"acl"}, []string{"sudo", "virtio_blk"} },
	}
	seen := map[string]string{hashOf(t, testRecipe()): "no change"}
	for name, change := range changes {
		recipe := testRecipe()
		change(&recipe)
		hash := hashOf(t, recipe)
		if other, ok := seen[hash]; ok {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[hash] = name
	}
}

func move(files fstest.MapFS, from, to string) {
	files[to] = files[from]
	delete(files, from)
}

// The guest folder is embedded as it is: a file that an editor or a build leaves
// there would end up in every image.
func TestEmbeddedFilesAreTheOnesWeKnow(t *testing.T) {
	t.Parallel()
	recipe, err := NewRecipe()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = fs.WalkDir(recipe.Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if !entry.IsDir() {
			got = append(got, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"customize",
		"init",
		"rootfs/etc/default/locale",
		"rootfs/etc/fstab",
		"rootfs/etc/hosts",
		"rootfs/etc/resolv.conf",
		"rootfs/etc/ssh/sshd_config.d/10-testhost.conf",
		"rootfs/etc/sudoers.d/50-testhost-admin",
		"rootfs/etc/systemd/system/networking.service.d/50-testhost.conf",
		"rootfs/etc/systemd/system/systemd-udev-trigger.service.d/50-testhost.conf",
		"rootfs/usr/local/lib/python3.11/dist-packages/testhost.pth",
		"rootfs/usr/local/lib/python3.11/dist-packages/testhost_python.py",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("embedded files (-want +got):\n%s", diff)
	}
}

func TestMachineMirrors(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		files            map[string]string
		mirror, security string
	}{
		"nothing configured": {
			mirror: defaultMirror, security: defaultSecurityMirror,
		},
		"one-line style with options": {
			files: map[string]string{
				"sources.list": "# deb http://old.example/debian bookworm main\n" +
					"deb-src http://src.example/debian bookworm main\n" +
					"deb [signed-by=/k.gpg arch=amd64] https://mirror.example/debian/ bookworm main\n" +
					"deb http://security.example/debian-security bookworm-security main\n",
			},
			mirror: "https://mirror.example/debian/", security: "http://security.example/debian-security",
		},
		"deb822, a disabled stanza and a foreign archive first": {
			files: map[string]string{
				"sources.list.d/a.sources": "Types: deb\nURIs: https://deb.example.com/node_20.x\nSuites: nodistro\n",
				"sources.list.d/b.sources": "Enabled: no\nTypes: deb\nURIs: http://off.example/debian\n\n" +
					"Types: deb deb-src\n# why: it is near\nURIs: http://near.example/debian\nSuites: bookworm\n",
			},
			mirror: "http://near.example/debian", security: defaultSecurityMirror,
		},
		"another distribution": {
			files:  map[string]string{"sources.list": "deb http://archive.ubuntu.com/ubuntu noble main\n"},
			mirror: defaultMirror, security: defaultSecurityMirror,
		},
		"a scheme that the guest can't follow": {
			files:  map[string]string{"sources.list": "deb file:/srv/debian bookworm main\n"},
			mirror: defaultMirror, security: defaultSecurityMirror,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, "sources.list.d"), 0o755); err != nil {
				t.Fatal(err)
			}
			for file, content := range c.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			mirror, security := machineMirrors(dir)
			if mirror != c.mirror || security != c.security {
				t.Errorf("got %q and %q, want %q and %q", mirror, security, c.mirror, c.security)
			}
		})
	}
}

func TestMissingNamesProgramsAndPackages(t *testing.T) {
	t.Parallel()
	err := missing([]requirement{
		{name: "sh", pkg: "dash"},
		{name: "no-such-program", pkg: "no-such-package"},
		{name: "/no/such/file", pkg: "other-package"},
	})
	if err == nil {
		t.Fatal("nothing is missing")
	}
	for _, want := range []string{"no-such-program, /no/such/file", "apt-get install", "no-such-package other-package"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not mention %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "dash") {
		t.Errorf("%q asks for what is there", err)
	}
}
