package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// TestVerifyCommand on an installation that serves: its words, and its exit code.
func TestVerifyCommand(t *testing.T) {
	t.Parallel()
	p := start(t)
	if status, body := p.do(http.MethodGet, "/hosts", nil); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	environment := []string{"KLOIGOS_DATABASE_URL=" + p.database}
	out, err := program(t, environment, "verify").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "ok         one_allocation_a_unit") || !strings.Contains(string(out), "not asked  tokens_never_fall") {
		t.Errorf("%v\n%s", err, out)
	}
	told := filepath.Join(t.TempDir(), "told")
	if err := os.WriteFile(told, []byte(uuid.NewString()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, environment, "verify", "--acknowledged", told)
	if out, _ = cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "VIOLATED   acknowledged_is_there") {
		t.Errorf("exit %d\n%s", cmd.ProcessState.ExitCode(), out)
	}
	for _, args := range [][]string{{"verify", "more"}, {"verify", "--overdue", "soon"}, {"verify", "--token-logs", told + ".d"}} {
		cmd := program(t, environment, args...)
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("%q: exit %d\n%s", args, cmd.ProcessState.ExitCode(), out)
		}
	}
	cmd = program(t, nil, "verify")
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "KLOIGOS_DATABASE_URL") {
		t.Errorf("without a database: exit %d\n%s", cmd.ProcessState.ExitCode(), out)
	}
	// It reads one setting: the others are a backend's, and may be wrong or for another machine.
	if out, err := program(t, append(environment, "KLOIGOS_LEASE=soon", "KLOIGOS_RUN_ROOT=nowhere"), "verify").CombinedOutput(); err != nil {
		t.Errorf("beside settings that are wrong: %v\n%s", err, out)
	}
	if out, err := program(t, nil, "verify", "--help").CombinedOutput(); err != nil || !strings.Contains(string(out), "-token-logs") || !strings.Contains(string(out), "KLOIGOS_DATABASE_URL") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestAccountCommand: whoever has the server gets a person in again, with an event.
func TestAccountCommand(t *testing.T) {
	t.Parallel()
	p := start(t)
	environment := []string{"KLOIGOS_DATABASE_URL=" + p.database}
	out, err := program(t, environment, "account", "reset-password", "admin").CombinedOutput()
	link := regexp.MustCompile(`link: (kll_\S+)`).FindStringSubmatch(string(out))
	if err != nil || link == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	set := `{"link":"` + link[1] + `","password":"a long new sentence"}`
	for _, want := range []int{http.StatusOK, http.StatusUnprocessableEntity} {
		if status, body := p.do(http.MethodPost, "/passwords", json.RawMessage(set)); status != want {
			t.Errorf("the link answers %d, want %d: %s", status, want, body)
		}
	}
	for _, args := range [][]string{{"reset-password", "nobody"}, {"reset-second-factor", "admin"}} { // there is none
		cmd := program(t, environment, append([]string{"account"}, args...)...)
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("%q: exit %d\n%s", args, cmd.ProcessState.ExitCode(), out)
		}
	}
	for _, args := range [][]string{{}, {"reset-password"}, {"rename", "admin"}} {
		cmd := program(t, environment, append([]string{"account"}, args...)...)
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("%q: exit %d\n%s", args, cmd.ProcessState.ExitCode(), out)
		}
	}
}

func TestFailpointsCommand(t *testing.T) {
	t.Parallel()
	out, err := program(t, nil, "failpoints").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "before_end ") {
		t.Errorf("%v\n%s", err, out)
	}
}
