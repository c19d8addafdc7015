package app_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"github.com/rogpeppe/go-internal/testscript"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/backend/apitest"
	"kloigos/cli/internal/app"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"kloigos": func() { os.Exit(app.Main()) },
		"ssh":     printArguments,
	})
}

// printArguments stands for ssh, which has nobody to log in to here.
func printArguments() {
	for _, a := range os.Args[1:] {
		fmt.Println(a)
	}
}

// TestScripts runs each script against an installation of its own.
func TestScripts(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	r, ran := newRecorder(), new(atomic.Int64)
	t.Cleanup(func() {
		if !t.Failed() && int(ran.Load()) == len(scripts) { // not when -run picked some
			r.check(t)
		}
	})
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ran.Add(1)
			run(t, r, script)
		})
	}
}

func run(t *testing.T, all *recorder, script string) {
	r := newRecorder()
	t.Cleanup(func() { all.merge(r) })
	s := apitest.New(t)
	server, overTLS := r.before(t, s.URL)
	hostile := hostileProxy(t, s.URL)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: overTLS.Certificate().Raw})
	var release func()
	testscript.Run(t, testscript.Params{
		Files: []string{script}, RequireExplicitExec: true, UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			port, key := s.SSHServer()
			for name, value := range map[string]string{
				"GORACE": "atexit_sleep_ms=0", // else each command with the race detector takes a second longer
				"HOME":   env.WorkDir, "SERVER": server, "TLSSERVER": overTLS.URL, "ACCOUNT": s.Account, "SSHPORT": fmt.Sprint(port), "HOSTKEY": key,
				"KLOIGOS_URL": server, "KLOIGOS_TOKEN": session(t, s),
			} {
				env.Setenv(name, value)
			}
			for name, text := range map[string]string{"password": s.Password, "key.pub": s.NewKey(), "ca.pem": string(authority)} {
				if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(text+"\n"), 0o600); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// code N COMMAND...: the command ends with this exit code.
			"code": func(ts *testscript.TestScript, _ bool, args []string) {
				err := ts.Exec(args[1], args[2:]...)
				got := "0"
				if err != nil {
					got = strings.TrimPrefix(err.Error(), "exit status ")
				}
				if got != args[0] {
					ts.Fatalf("exit code %s, want %s", got, args[0])
				}
			},
			// name-server RECORD...: a real one with these records beside; $DNS, $DNSKEY, and its secret in dns.key.
			"name-server": func(ts *testscript.TestScript, _ bool, args []string) {
				n := s.NameServer(args...)
				ts.Setenv("DNS", n.Address)
				ts.Setenv("DNSKEY", n.KeyName)
				ts.Check(os.WriteFile(ts.MkAbs("dns.key"), []byte(n.KeySecret), 0o600))
			},
			// receiver STATUS: an HTTP server that answers every request with the status; its URL is $RECEIVER.
			"receiver": func(ts *testscript.TestScript, _ bool, args []string) {
				status, err := strconv.Atoi(args[0])
				ts.Check(err)
				receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
				ts.Defer(receiver.Close)
				ts.Setenv("RECEIVER", receiver.URL)
			},
			// until TEXT COMMAND...: the command is run until it tells the text.
			"until": func(ts *testscript.TestScript, _ bool, args []string) {
				for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
					ts.Check(ts.Exec(args[1], args[2:]...))
					if strings.Contains(ts.ReadFile("stdout"), args[0]) {
						return
					}
					if time.Now().After(deadline) {
						ts.Fatalf("%v does not tell %q", args[1:], args[0])
					}
				}
			},
			// enrol-agent HOST TOKEN: the agent of a host uses a token.
			"enrol-agent": func(ts *testscript.TestScript, neg bool, args []string) {
				if err := s.EnrolAgent(args[0], args[1]); (err != nil) != neg {
					ts.Fatalf("enrol: %v", err)
				}
			},
			// drift HOST: the host is found otherwise than it was promised.
			"drift": func(ts *testscript.TestScript, _ bool, args []string) { ts.Check(s.Drift(args[0])) },
			// snapshot CLUSTER ID: a snapshot of the cluster was taken.
			"snapshot": func(ts *testscript.TestScript, _ bool, args []string) { ts.Check(s.Snapshot(args[0], args[1])) },
			// agent-build VERSION: a release of the agent is stored.
			"agent-build": func(ts *testscript.TestScript, _ bool, args []string) { ts.Check(s.StoreAgentBuild(args[0])) },
			// field NAME FIELD: a text in the last command's JSON becomes a variable.
			"field": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv(args[0], first(ts, `"`+args[1]+`": "([^"]+)"`))
			},
			// keep NAME: the output of the last command becomes a variable.
			"keep": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
			},
			// job-id STATE: the newest job in this state becomes $JOB.
			"job-id": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(ts.Exec("kloigos", "job", "list", "--state", args[0], "--sort=-created_at", "--limit=1", "-o", "json"))
				ts.Setenv("JOB", first(ts, `"id": "([^"]+)"`))
			},
			// link: the link in the last command's output, and a password for it, become the lines of link.txt.
			"link": func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Check(os.WriteFile(ts.MkAbs("link.txt"), []byte(first(ts, `"link": "([^"]+)"`)+"\na long new sentence\n"), 0o600))
			},
			// totp STEPS BEFORE FILE: the lines before it, and a code of $SECRET that is so many steps ahead, go to a file.
			"totp": func(ts *testscript.TestScript, _ bool, args []string) {
				ahead, err := strconv.Atoi(args[0])
				ts.Check(err)
				code, err := totp.GenerateCode(ts.Getenv("SECRET"), time.Now().Add(time.Duration(ahead)*30*time.Second))
				ts.Check(err)
				before := ""
				if args[1] != "" {
					before = ts.ReadFile(args[1])
				}
				ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(before+code+"\n"), 0o600))
			},
			// recovery BEFORE FILE: the same with the first recovery code of the last command's output.
			"recovery": func(ts *testscript.TestScript, _ bool, args []string) {
				code := first(ts, `"([a-z2-7]{4}(?:-[a-z2-7]{4}){3})"`)
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(ts.ReadFile(args[0])+code+"\n"), 0o600))
			},
			// secret NAME: the secret in the last command's output becomes a variable.
			"secret": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv(args[0], first(ts, `"secret": "([^"]+)"`))
			},
			// first-id NAME: the first id in the last command's output becomes a variable.
			"first-id": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv(args[0], first(ts, `"id": "([^"]+)"`))
			},
			"plan-id": func(ts *testscript.TestScript, _ bool, _ []string) { ts.Setenv("PLAN", first(ts, `(?m)^(\S+)`)) },
			"address": func(ts *testscript.TestScript, _ bool, _ []string) { ts.Setenv("ADDRESS", first(ts, `(?m)^(\S+)`)) },
			"fingerprint": func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Setenv("FINGERPRINT", first(ts, `"offered_fingerprint": "([^"]+)"`))
			},
			// wait-job: no job is active any more.
			"wait-job": func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Check(ts.Exec("kloigos", "job", "list", "--state", "active", "-o", "json"))
				for _, m := range regexp.MustCompile(`"id": "([^"]+)",\s+"workspace"`).FindAllStringSubmatch(ts.ReadFile("stdout"), -1) {
					_ = ts.Exec("kloigos", "job", "follow", m[1])
				}
			},
			// packaged NAME DIR: a playbook of this release is written to a folder.
			"packaged": func(ts *testscript.TestScript, _ bool, args []string) {
				for name, content := range s.Packaged(args[0]) {
					path := ts.MkAbs(filepath.Join(args[1], name))
					ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
					ts.Check(os.WriteFile(path, content, 0o644))
				}
			},
			// actions-are-commands NOUN: each action that was listed is a command.
			"actions-are-commands": func(ts *testscript.TestScript, _ bool, args []string) {
				for _, line := range strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")[1:] {
					name, _, _ := strings.Cut(line, " ")
					if cmd, _, err := tree().Find([]string{args[0], name}); err != nil || cmd.HasSubCommands() {
						ts.Fatalf("%s has no command %s", args[0], name)
					}
				}
			},
			// until-more ROUTE: a command in the background calls it once more.
			"until-more": func(ts *testscript.TestScript, _ bool, args []string) {
				if !r.until(args[0], r.count(args[0])+1) {
					ts.Fatalf("in vain: waited for a call of %s", args[0])
				}
			},
			// harmless COMMAND...: with a server whose every text is hostile, no format
			// has a control character.
			"harmless": func(ts *testscript.TestScript, _ bool, args []string) {
				for _, format := range []string{"table", "json", "yaml"} {
					_ = ts.Exec("kloigos", append(args, "--url", hostile, "-o", format)...)
					text := ts.ReadFile("stdout") + ts.ReadFile("stderr")
					if !strings.Contains(text, "[31m") {
						ts.Fatalf("no text of the server in the output")
					}
					if strings.ContainsAny(text, "\x1b\u202e") {
						ts.Fatalf("control characters in %q", text)
					}
				}
			},
			// masked FILE: the output, without what differs from run to run, becomes a file.
			"masked": func(ts *testscript.TestScript, _ bool, args []string) {
				text := ts.ReadFile("stdout")
				for _, m := range masks {
					text = m.of.ReplaceAllString(text, m.with)
				}
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
			},
			"ready-host":    func(_ *testscript.TestScript, _ bool, args []string) { s.ReadyHost(args[0], args[1:]...) },
			"fail-playbook": func(_ *testscript.TestScript, _ bool, args []string) { s.Fail(args[0], args[1]) },
			"succeed":       func(*testscript.TestScript, bool, []string) { s.Succeed() },
			"hold-probes":   func(*testscript.TestScript, bool, []string) { release = s.HoldProbes() },
			"release":       func(*testscript.TestScript, bool, []string) { release() },
			// until-called ROUTE N: a command in the background has called it, as the Nth.
			"until-called": func(ts *testscript.TestScript, _ bool, args []string) {
				n, err := strconv.Atoi(args[1])
				ts.Check(err)
				if !r.until(args[0], n) {
					ts.Fatalf("in vain: waited for a call of %s", args[0])
				}
			},
		},
	})
}

// masks are what differs from run to run.
var masks = []struct {
	of   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z( \([0-9a-z ]+\))?`), "TIME"},
	{regexp.MustCompile(`ssh-ed25519 [A-Za-z0-9+/=]+`), "KEY"},
	{regexp.MustCompile(`SHA256:[A-Za-z0-9+/]+`), "FINGERPRINT"},
	{regexp.MustCompile(`(port"?: +)\d+`), "${1}PORT"},
}

// first is what an expression captures in the output of the last command.
func first(ts *testscript.TestScript, expression string) string {
	m := regexp.MustCompile(expression).FindStringSubmatch(ts.ReadFile("stdout"))
	if m == nil {
		ts.Fatalf("%s is not in the output", expression)
	}
	return m[1]
}

// session logs in, so that scripts need not.
func session(t *testing.T, s *apitest.Site) string {
	t.Helper()
	c, err := client.New(client.Config{BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdle()
	got, err := c.CreateSession(t.Context(), api.Login{Account: s.Account, Password: s.Password})
	if err != nil {
		t.Fatal(err)
	}
	return got.Token
}
