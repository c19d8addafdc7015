package ansible

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// standbyBed is a bed whose runner makes one beginning ahead of time.
func standbyBed(t *testing.T) *bed {
	t.Helper()
	b := setup(t)
	config := b.runner.config
	config.Ahead = 1
	var err error
	if b.runner, err = NewRunner(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.runner.Close) // before it is looked whether anything is left
	return b
}

// warm runs a play and returns the beginning of the next one, when Ansible is loaded there.
func (b *bed) warm(t *testing.T) *standby {
	t.Helper()
	b.ping(t)
	var next *standby
	eventually(t, "the next play's beginning is there, with Ansible loaded", func() bool {
		b.runner.standbys.mu.Lock()
		if waiting := b.runner.standbys.waiting; len(waiting) > 0 {
			next = waiting[0]
		}
		b.runner.standbys.mu.Unlock()
		return next != nil && b.loaded(next) != 0
	})
	return next
}

func (b *bed) ping(t *testing.T) {
	t.Helper()
	if out, _ := b.run(t, b.play("modules.yml", nil)); out.Failure != nil {
		t.Fatalf("failed: %+v", out.Failure)
	}
}

// loaded is the process that waits with Ansible loaded, 0 if there is none, or not yet.
func (b *bed) loaded(s *standby) int {
	for pid, cmdline := range b.processes() {
		if !strings.Contains(cmdline, s.dir.file(launchName)) {
			continue
		}
		maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		if strings.Contains(string(maps), "_yaml") || strings.Contains(string(maps), "markupsafe") {
			return pid
		}
	}
	return 0
}

func TestNextPlayIsBegunAhead(t *testing.T) {
	b := standbyBed(t)
	next := b.warm(t)
	pid := b.loaded(next)
	var used bool
	out, err := b.runner.Run(t.Context(), b.play("modules.yml", nil), func(Event) {
		used = used || strings.Contains(b.processes()[pid], next.dir.path)
	})
	if err != nil || out.Failure != nil {
		t.Fatalf("%v, %+v", err, out.Failure)
	}
	if !used {
		t.Error("it was not played by the process that was there before")
	}
	if _, err := os.Stat(next.dir.path); err == nil {
		t.Error("its directory is left")
	}
}

// What the last play needed lies there for the next one, and nothing of it for
// one of another bundle.
func TestBundleIsUnpackedAhead(t *testing.T) {
	b := standbyBed(t)
	unpacked := make(chan string, 10)
	play := b.play("modules.yml", nil)
	play.Bundle, play.BundleSHA256 = "", strings.Repeat("c", 64)
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Join(b.root, play.modulesName())) })
	play.Unpack = func(dir string) error {
		unpacked <- dir
		return os.CopyFS(dir, os.DirFS(b.bundle))
	}
	b.run(t, play)
	<-unpacked
	var ahead string
	eventually(t, "the bundle is unpacked ahead", func() bool {
		b.runner.standbys.mu.Lock()
		defer b.runner.standbys.mu.Unlock()
		if waiting := b.runner.standbys.waiting; len(waiting) > 0 && waiting[0].bundle == play.BundleSHA256 {
			ahead = waiting[0].dir.file(bundleDirectory)
		}
		return ahead != ""
	})
	if dir := <-unpacked; dir != ahead {
		t.Errorf("it was unpacked in %s, not in %s", dir, ahead)
	}
	play.Unpack = func(string) error { return errors.New("unpacked once more") }
	if out, _ := b.run(t, play); out.Failure != nil {
		t.Errorf("the same bundle: %+v", out.Failure)
	}
	b.warm(t) // one that could not be unpacked ahead is left to the run, as this one's bundle is
	empty := play
	empty.BundleSHA256 = strings.Repeat("d", 64)
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Join(b.root, empty.modulesName())) })
	empty.Unpack = func(string) error { return nil }
	if out, _ := b.run(t, empty); out.Failure == nil {
		t.Error("another bundle, in which there is no playbook, was played out of the last one's")
	}
}

func TestDeadBeginningsDoNoHarm(t *testing.T) {
	b := standbyBed(t)
	next := b.warm(t)
	// The kernel would take it first when memory is short.
	pid := b.loaded(next)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is gone", func() bool { _, _, there := parentOf(pid); return !there })
	b.ping(t)
	next = b.warm(t)
	if err := next.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the supervisor is gone", func() bool { return len(next.died) > 0 })
	b.ping(t)
}

func TestBeginningsEnd(t *testing.T) {
	b := standbyBed(t)
	b.runner.standbys.keep = 3 * time.Second
	b.ping(t)
	eventually(t, "one was made", func() bool { return len(b.processes()) > 0 })
	eventually(t, "it did not wait for long", func() bool { return len(b.processes()) == 0 })
	b.runner.standbys.keep = time.Hour
	b.warm(t)
	b.runner.Close()
	b.checkNothingIsLeft(t)
	b.ping(t) // runs go on, and leave none behind
	b.runner.Close()
	b.checkNothingIsLeft(t)
}

func TestNoBeginningsWhereMemoryIsShort(t *testing.T) {
	b := standbyBed(t)
	asked := make(chan struct{}, 16)
	b.runner.config.MayLoad = func() bool { asked <- struct{}{}; return false }
	b.ping(t)
	<-asked
	b.runner.Close()
	b.checkNothingIsLeft(t)
}

// Where Ansible can't be loaded so, ansible-playbook itself is started.
func TestAnsibleThatCannotBeLoadedAhead(t *testing.T) {
	b := standbyBed(t)
	b.write(t, "bin/python-of-another-kind", []byte("#!/bin/sh\ncase $1 in *"+launchName+") exit 97 ;; esac\nexec /usr/bin/python3 \"$@\"\n"), 0o755)
	script, err := os.ReadFile(b.runner.config.AnsibleBin)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(script), "\n")
	b.write(t, "bin/ansible-playbook", []byte("#!"+filepath.Join(b.dir, "bin/python-of-another-kind")+"\n"+body), 0o755)
	b.runner.config.AnsibleBin = filepath.Join(b.dir, "bin/ansible-playbook")
	b.ping(t)
	b.ping(t)
	if interpreter(b.runner.config.AnsibleBin) == nil || interpreter("/bin/true") != nil {
		t.Error("this test shows nothing: it was not tried to load it")
	}
}

func TestModulesAreKept(t *testing.T) {
	b := setup(t)
	play := b.play("modules.yml", nil)
	play.BundleSHA256 = strings.Repeat("a", 64)
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Join(b.root, play.modulesName())) })
	if out, _ := b.run(t, play); out.Failure != nil {
		t.Fatalf("failed: %+v", out.Failure)
	}
	kept, err := filepath.Glob(filepath.Join(b.root, play.modulesName(), "*", "ansible.modules.*"))
	if err != nil || len(kept) == 0 {
		t.Fatalf("nothing was kept: %v", err)
	}
	for _, file := range kept {
		if names := packed(t, file); !slices.Contains(names, "ansible/module_utils/basic.py") || !slices.Contains(names, "ansible/module_utils/basic.pyc") {
			t.Errorf("%s has not both the source and its byte code: %q", filepath.Base(file), names)
		}
	}
	if out, _ := b.run(t, play); out.Failure != nil {
		t.Fatalf("the second run failed: %+v", out.Failure)
	}
	// That they are used shows when they are broken; another bundle has its own.
	for _, file := range kept {
		if err := os.WriteFile(file, []byte("bm90IGEgemlw"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, _ := b.run(t, play); out.Failure == nil {
		t.Error("what was kept is not used")
	}
	other := play
	other.BundleSHA256 = strings.Repeat("b", 64)
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Join(b.root, other.modulesName())) })
	if out, _ := b.run(t, other); out.Failure != nil {
		t.Errorf("another bundle uses the same: %+v", out.Failure)
	}
}

// packed lists what Ansible has packed.
func packed(t *testing.T, file string) (names []string) {
	t.Helper()
	encoded, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	content, err := base64.StdEncoding.DecodeString(string(encoded))
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.File {
		names = append(names, f.Name)
	}
	return names
}

// A host with another Python finds byte code of a version that it does not know.
func TestByteCodeOfAnotherPythonIsPassedOver(t *testing.T) {
	t.Parallel()
	script := `
import runpy, sys, tempfile, importlib.util
launch = runpy.run_path(sys.argv[1])
with tempfile.TemporaryDirectory() as d:
    for magic, want in (b'\0\0\r\n', 'source'), (importlib.util.MAGIC_NUMBER, 'byte code'):
        importlib.util.MAGIC_NUMBER, real = magic, importlib.util.MAGIC_NUMBER
        name = d + '/' + want.replace(' ', '') + '.zip'
        with launch['CompiledZip'](name, 'w') as z:
            z.writestr('it.py', 'said = __file__.endswith("c") and "byte code" or "source"')
            z.writestr('broken.py', 'print "of long ago"')
        importlib.util.MAGIC_NUMBER = real
        sys.path.insert(0, name)
        sys.modules.pop('it', None)
        import it
        assert it.said == want, (it.said, want)
`
	output, err := exec.Command("/usr/bin/python3", "-c", script, "launch/"+launchName).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestKeptModulesAreBounded(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var dirs []string
	for i := range maxModules + 3 {
		dir := (&Play{BundleSHA256: fmt.Sprintf("%064x", i)}).keptModules(root)
		if dir == "" {
			t.Fatal("no directory")
		}
		dirs = append(dirs, dir)
		long := time.Now().Add(time.Duration(i-100) * time.Minute)
		if err := os.Chtimes(dir, long, long); err != nil {
			t.Fatal(err)
		}
	}
	for i, dir := range dirs {
		if _, err := os.Stat(dir); (err == nil) != (i >= 3) {
			t.Errorf("%d of %d: %v", i, len(dirs), err)
		}
	}
	for _, sum := range []string{"", "../../etc", strings.Repeat("A", 64)} {
		if dir := (&Play{BundleSHA256: sum}).keptModules(root); dir != "" {
			t.Errorf("%q has %s", sum, dir)
		}
	}
}

// Another organization's hosts, which have another key, never get what a play of this one has left.
func TestModulesAreKeptForOneKey(t *testing.T) {
	t.Parallel()
	one, _ := newKey(t)
	other, _ := newKey(t)
	of := func(keys ...[]byte) string {
		p := Play{BundleSHA256: strings.Repeat("a", 64)}
		for _, key := range keys {
			p.Hosts = append(p.Hosts, Host{PrivateKey: key})
		}
		return p.modulesName()
	}
	if of(one) == "" || of(one) == of(other) || of(one) != of(one, one) || of(one, other) != of(other, one) || of(one, other) == of(one) {
		t.Errorf("%q, %q, %q", of(one), of(other), of(one, other))
	}
}

// A play hands over modules, and nothing else: no link to what it can't read itself, no pipe to wait at, no end.
func TestOnlyModulesAreKept(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	from, to := filepath.Join(top, "from"), filepath.Join(top, "to")
	file := func(size int64, parts ...string) string {
		t.Helper()
		path := filepath.Join(append([]string{top}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	keyset := file(9, "secret", "2.14.18-1", "ansible.modules.keyset-ZIP_DEFLATED")
	file(9, "from", "2.14.18-1", "ansible.modules.ping-ZIP_DEFLATED")
	file(9, "from", "2.14.18-1", "other")
	file(9, "from", "upwards..", "ansible.modules.a-ZIP_DEFLATED")
	file(maxModule+1, "from", "2.14.18-1", "ansible.modules.large-ZIP_DEFLATED")
	if err := errors.Join(
		os.Mkdir(to, 0o700),
		os.Symlink(keyset, filepath.Join(from, "2.14.18-1", "ansible.modules.link-ZIP_DEFLATED")),
		os.Symlink(filepath.Dir(keyset), filepath.Join(from, "2.14.18-2")),
		os.Symlink(filepath.Join(top, "secret"), filepath.Join(top, "linked")),
		unix.Mkfifo(filepath.Join(from, "2.14.18-1", "ansible.modules.pipe-ZIP_DEFLATED"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	copyModules(from, to)
	copyModules(filepath.Join(top, "linked"), to)
	kept, err := filepath.Glob(filepath.Join(to, "*", "*"))
	if want := []string{filepath.Join(to, "2.14.18-1", "ansible.modules.ping-ZIP_DEFLATED")}; err != nil || !slices.Equal(kept, want) {
		t.Errorf("%q, %v", kept, err)
	}
}
