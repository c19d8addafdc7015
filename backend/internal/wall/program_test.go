package wall

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// A program runs behind the wall wherever it was installed, and of what lies around it nothing is there.
func TestProgram(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "/usr/bin/python3", "-m", "venv", "--without-pip", filepath.Join(top, "venv")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file := func(text string, parts ...string) string {
		t.Helper()
		path := filepath.Join(append([]string{top}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file("hunter2", "secret")
	python := filepath.Join(top, "venv", "bin", "python3")
	looks := "import os, sys; print(os.path.exists('" + top + "/secret'), sys.prefix)\n"
	for name, c := range map[string]struct {
		program string
		shown   []string
		said    string
	}{
		"of the system": {"/usr/bin/env", nil, ""},
		"by itself":     {file("#!/usr/bin/python3\n"+looks, "tool"), []string{filepath.Join(top, "tool")}, "False /usr\n"},
		"environment":   {file("#!"+python+"\n"+looks, "venv", "bin", "tool"), []string{filepath.Join(top, "venv")}, "False " + filepath.Join(top, "venv") + "\n"},
		"interpreter":   {file("#!"+python+"\n"+looks, "away"), []string{filepath.Join(top, "away"), filepath.Join(top, "venv")}, "False " + filepath.Join(top, "venv") + "\n"},
		"link": {func() string {
			link := filepath.Join(top, "link")
			if err := os.Symlink("venv/bin/tool", link); err != nil {
				t.Fatal(err)
			}
			return link
		}(), []string{filepath.Join(top, "link"), filepath.Join(top, "venv")}, ""},
		"beside": {file("#!/usr/bin/python3\n"+looks, "standin", "tool"), []string{filepath.Join(top, "standin")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "beside" {
				file("", "standin", "pyvenv.cfg")
			}
			shown := Program(c.program)
			if !slices.Equal(shown, c.shown) {
				t.Errorf("shown %q, want %q", shown, c.shown)
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			cmd, err := Command(t.Context(), Spec{ReadOnly: shown}, nil, c.program)
			if err != nil {
				t.Fatal(err)
			}
			if out, err := cmd.CombinedOutput(); err != nil || c.said != "" && string(out) != c.said {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
