package testhost

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What root's Python compiled out of an archive once is not compiled again, unless the source is another one.
func TestPythonKeepsWhatItCompiles(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("the test host's Python does this for root only")
	}
	dir := t.TempDir()
	archive := func(source string) string {
		file, err := os.CreateTemp(dir, "*.zip")
		if err != nil {
			t.Fatal(err)
		}
		w := zip.NewWriter(file)
		module, err := w.Create("shipped.py")
		if err == nil {
			_, err = module.Write([]byte(source))
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return file.Name()
	}
	packages, err := filepath.Abs("guest/rootfs/usr/local/lib/python3.11/dist-packages")
	if err != nil {
		t.Fatal(err)
	}
	// compile itself is counted: what is kept needs none.
	const script = `
import builtins, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import testhost_python
testhost_python.directory = sys.argv[2]
counted, real = [], builtins.compile
builtins.compile = lambda *a, **k: (counted.append(a), real(*a, **k))[1]
sys.path.insert(0, sys.argv[3])
import shipped
print(shipped.value, len(counted), end="")
`
	for _, c := range []struct{ source, want string }{
		{"value = 'first'", "first 1"},
		{"value = 'first'", "first 0"},
		{"value = 'other'", "other 1"},
		{"value = 'other'", "other 0"},
	} {
		said, err := exec.CommandContext(t.Context(), "python3", "-c", script, packages, filepath.Join(dir, "kept"), archive(c.source)).CombinedOutput()
		if err != nil || string(said) != c.want {
			t.Errorf("%s: %q, %v, want %q", c.source, said, err, c.want)
		}
	}
}
