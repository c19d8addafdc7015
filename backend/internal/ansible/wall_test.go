package ansible

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"kloigos/backend/internal/wall"
)

// Code that gets past the gate finds its run, and nothing of the backend: no keyset, no credential, no environment, no
// socket of the database, no other run, no kept modules. What listens on this machine it does reach (docs/security.md).
//
// The end-to-end test runs it under the shipped unit as well, with what the unit gives to a backend.
func TestPlaySeesNothingOfTheBackend(t *testing.T) {
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		t.Skip("ansible-playbook is not on the PATH (Debian: apt-get install ansible)")
	}
	dir, root := t.TempDir(), shortDir(t)
	if os.Getenv("RUNTIME_DIRECTORY") != "" {
		root = defaultRunRoot()
	}
	runner, err := NewRunner(Config{RunRoot: root}) // as a backend makes it
	if err != nil {
		t.Fatal(err)
	}
	plant := func(parts ...string) string {
		t.Helper()
		path := filepath.Join(parts...)
		t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(path)) })
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("hunter2"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	database, err := net.Listen("unix", filepath.Join(shortDir(t), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close()
	api, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	arguments := []string{
		"keyset=file:" + plant(dir, "keyset.json"),
		"credentials=dir:" + filepath.Dir(plant(dir, "credentials", "keyset.json")),
		"database=unix:" + database.Addr().String(),
		"other=file:" + plant(root, runPrefix+"other", "key-0"),
		"modules=dir:" + filepath.Dir(plant(root, modulesPrefix+"other", "x")),
		fmt.Sprintf("environ=file:/proc/%d/environ", os.Getpid()),
		"environment=says:" + hex.EncodeToString([]byte(os.Getenv(canaryVariable))),
	}
	seen := "keyset credentials database other modules environ environment"
	if keyset := os.Getenv("KLOIGOS_KEYSET_FILE"); keyset != "" { // the shipped unit's
		arguments = append(arguments, "credential=file:"+keyset)
		seen += " credential"
	}
	arguments = append(arguments,
		"var=dir:/var", "system=dir:/run/systemd", "sys=dir:/sys", "home=dir:/root", "shadow=file:/etc/shadow", "configuration=dir:/etc/kloigos",
		"devices=file:/dev/kmsg", "tunables=write:/proc/sys/kernel/core_pattern", "usr=write:/usr/bin/env",
		"first=holds:/proc/self/oom_score_adj:300", "bounded=holds:/proc/self/limits:"+strconv.Itoa(4<<30), "accounts=file:/etc/passwd", fmt.Sprintf("tcp=tcp:%d", api.Addr().(*net.TCPAddr).Port))

	key, _ := newKey(t)
	_, hostKey := newKey(t)
	bundle, err := filepath.Abs("testdata/bundle")
	if err != nil {
		t.Fatal(err)
	}
	var log recorder
	out, err := runner.Run(t.Context(), Play{
		Name: "look", Bundle: bundle, Playbook: "look.yml", Vars: map[string]any{"demo_args": strings.Join(arguments, " ")}, Timeout: 3 * time.Minute,
		Hosts: []Host{{Name: "h1", Address: "127.0.0.1", User: "root", PrivateKey: key, HostKeys: []string{hostKey}}},
	}, log.add)
	if err != nil || out.Failure != nil {
		t.Fatalf("%v, %+v\n%s", err, out.Failure, log.text())
	}
	if said := log.text(); !strings.Contains(said, `"seen: first bounded accounts tcp"`) {
		t.Errorf("a play sees more, or less:\n%s", said)
	}
	// Or the test would hold for what is not there at all.
	bare, err := exec.CommandContext(t.Context(), "/usr/bin/python3", append([]string{"-I", filepath.Join(bundle, "look.py")}, arguments...)...).Output()
	if err != nil || !strings.HasPrefix(string(bare), seen+" var ") {
		t.Errorf("without the wall: %s, %v", bare, err)
	}
}

// Where the kernel gives no namespaces, as behind the wall itself, there is no runner, and so no worker.
func TestNoRunnerWithoutTheWall(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ansible, err := exec.LookPath("ansible-playbook")
	if err != nil {
		t.Skip("ansible-playbook is not on the PATH (Debian: apt-get install ansible)")
	}
	root := shortDir(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	spec := wall.Spec{ReadOnly: append(wall.Program(ansible), self), Writable: []string{root}}
	cmd, err := wall.Command(t.Context(), spec, []string{"PATH=" + filepath.Dir(ansible) + ":" + systemPath}, self, runnerArg, root)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "set up the Ansible runner: the wall around Ansible can't be built: ") {
		t.Errorf("%v: %s", err, out)
	}
}
