package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			t.Parallel()
			run(t, script)
		})
	}
}

func run(t *testing.T, script string) {
	s := apitest.New(t)
	releases := map[string]func(){}
	testscript.Run(t, testscript.Params{
		Files: []string{script}, RequireExplicitExec: true, UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			port, key := s.SSHServer()
			for name, value := range map[string]string{
				"HOME": env.WorkDir, "SERVER": s.URL, "ACCOUNT": s.Account, "SSHPORT": fmt.Sprint(port), "HOSTKEY": key,
				"KLOIGOS_URL": s.URL, "KLOIGOS_TOKEN": session(t, s),
			} {
				env.Setenv(name, value)
			}
			for name, text := range map[string]string{"password": s.Password, "key.pub": s.NewKey()} {
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
			// keep NAME: the output of the last command becomes a variable.
			"keep": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
			},
			"ready-host":    func(_ *testscript.TestScript, _ bool, args []string) { s.ReadyHost(args[0], args[1:]...) },
			"fail-playbook": func(_ *testscript.TestScript, _ bool, args []string) { s.Fail(args[0], args[1]) },
			"succeed":       func(*testscript.TestScript, bool, []string) { s.Succeed() },
			"hold-playbook": func(_ *testscript.TestScript, _ bool, args []string) { releases[args[0]] = s.Hold(args[0]) },
			"release":       func(_ *testscript.TestScript, _ bool, args []string) { releases[args[0]]() },
		},
	})
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
