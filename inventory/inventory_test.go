package inventory_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const token = "kl_test_token"

// host is a row of GET /api/v1/hosts as the script reads it.
type host map[string]any

func sampleHosts(canary string) []host {
	hostile := "{{ lookup('pipe', 'touch " + canary + "') }}"
	return []host{
		{
			"id": "6f2c7a52-3a0f-4c3c-9c1a-5a0a3f2c1d11", "name": "h1", "address": "192.0.2.11", "port": 22, "admin_user": "admin",
			"region": "eu-1", "zone": "a", "state": "ready", "health": "healthy", "host_key": "ssh-ed25519 AAAA",
			"labels": map[string]string{"rack": "r1", "tier.kloigos/x": "gold"},
		},
		{
			"id": "0d6f1f8e-6d0a-4b51-8a3e-96f7ab0c2b22", "name": "h2", "address": "2001:db8::12", "port": 2222, "admin_user": "root",
			"region": "eu-1", "zone": "b", "state": "registered", "health": "unknown",
			"labels": map[string]string{"note": hostile},
		},
		{
			"id": "a5c0a4f5-61a4-4d0e-9b4f-0d6c7d4a3c33", "name": "evil", "address": "-oProxyCommand=touch " + canary, "port": 22,
			"admin_user": "admin", "region": "eu-1", "zone": "b", "state": "registered",
		},
	}
}

// serve answers like the API, one host a page, and only to the token.
func serve(t *testing.T, hosts []host) *httptest.Server {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"title":"Unauthorized","detail":"the token is not valid"}`))
			return
		}
		at := 0
		if r.URL.Path != "/api/v1/hosts" {
			t.Errorf("asked for %s", r.URL)
		}
		if cursor := r.URL.Query().Get("cursor"); cursor != "" {
			at = slices.IndexFunc(hosts, func(h host) bool { return h["name"] == cursor })
		}
		page := map[string]any{"items": hosts[at : at+1], "next_cursor": ""}
		if at+1 < len(hosts) {
			page["next_cursor"] = hosts[at+1]["name"]
		}
		_ = json.NewEncoder(w).Encode(page)
	}))
	t.Cleanup(server.Close)
	return server
}

// environment is all that a command of a test sees.
func environment(t *testing.T, server *httptest.Server) []string {
	t.Helper()
	home := t.TempDir()
	ca := filepath.Join(home, "ca.crt")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C.UTF-8", "ANSIBLE_LOCAL_TEMP=" + home, "ANSIBLE_INVENTORY_UNPARSED_FAILED=true",
		"KLOIGOS_URL=" + server.URL, "KLOIGOS_TOKEN=" + token, "KLOIGOS_CA=" + ca,
	}
}

func run(t *testing.T, env []string, name string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var out, errOut strings.Builder
	cmd.Env, cmd.Stdout, cmd.Stderr = env, &out, &errOut
	if err := cmd.Run(); err != nil {
		exit, ok := err.(*exec.ExitError) //nolint:errorlint // Run returns it bare
		if !ok {
			t.Fatalf("run %s: %v", name, err)
		}
		code = exit.ExitCode()
	}
	return out.String(), errOut.String(), code
}

func TestScriptListsAllPages(t *testing.T) {
	t.Parallel()
	env := environment(t, serve(t, sampleHosts(filepath.Join(t.TempDir(), "canary"))))
	stdout, stderr, code := run(t, env, "./kloigos_inventory.py", "--list")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var listed map[string]struct {
		Hosts []string `json:"hosts"`
	}
	if err := json.Unmarshal([]byte(stdout), &listed); err != nil {
		t.Fatal(err)
	}
	got := make(map[string][]string)
	for name, group := range listed {
		if len(group.Hosts) > 0 && !strings.HasPrefix(name, "label_note_") {
			got[name] = group.Hosts
		}
	}
	want := map[string][]string{
		"all": {"h1", "h2"}, "region_eu_1": {"h1", "h2"}, "zone_a": {"h1"}, "zone_b": {"h2"}, "state_ready": {"h1"},
		"state_registered": {"h2"}, "label_rack_r1": {"h1"}, "label_tier_kloigos_x_gold": {"h1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if !strings.Contains(stderr, "left out host") {
		t.Errorf("nothing is said of the host whose address is an option: %q", stderr)
	}
}

func TestAnsibleReadsIt(t *testing.T) {
	t.Parallel()
	canary := filepath.Join(t.TempDir(), "canary")
	env := environment(t, serve(t, sampleHosts(canary)))
	stdout, stderr, code := run(t, env, "ansible-inventory", "-i", "./kloigos_inventory.py", "--host", "h2")
	if code != 0 {
		t.Fatalf("ansible-inventory: %s", stderr)
	}
	var vars map[string]any
	if err := json.Unmarshal([]byte(stdout), &vars); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"ansible_host": "2001:db8::12", "ansible_port": 2222.0, "ansible_user": "root", "kloigos_state": "registered"} {
		got := vars[name]
		if marked, ok := got.(map[string]any); ok {
			got = marked["__ansible_unsafe"] // how ansible-inventory shows a text that it will not template
		}
		if got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}

	// A playbook over it, with the connection replaced: every text comes through as it is, and no template in it runs.
	playbook := filepath.Join(t.TempDir(), "playbook.yml")
	text := `
- hosts: region_eu_1
  gather_facts: false
  connection: local
  tasks:
    - ansible.builtin.debug:
        msg: "{{ inventory_hostname }} {{ ansible_host }} {{ kloigos_labels }}"
`
	if err := os.WriteFile(playbook, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code = run(t, env, "ansible-playbook", "-i", "./kloigos_inventory.py", playbook)
	if code != 0 {
		t.Fatalf("ansible-playbook: %s\n%s", stdout, stderr)
	}
	for _, want := range []string{"h1 192.0.2.11", "h2 2001:db8::12", "lookup("} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the play did not see %q:\n%s", want, stdout)
		}
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("a template in a label was run on the controller")
	}
}

func TestSampleInventoryIsReadable(t *testing.T) {
	t.Parallel()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LC_ALL=C.UTF-8"}
	stdout, stderr, code := run(t, env, "ansible-inventory", "-i", "sample.yml", "--graph", "region_eu1")
	if code != 0 || !strings.Contains(stdout, "h3") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

func TestScriptFailsClearly(t *testing.T) {
	t.Parallel()
	server := serve(t, sampleHosts("/nonexistent/canary"))
	redirecting := httptest.NewServer(http.RedirectHandler(server.URL+"/api/v1/hosts", http.StatusFound))
	t.Cleanup(redirecting.Close)
	for name, test := range map[string]struct{ variable, want string }{
		"no URL":       {"KLOIGOS_URL=", "set KLOIGOS_URL"},
		"plain HTTP":   {"KLOIGOS_URL=http://kloigos.example", "must begin with https"},
		"wrong token":  {"KLOIGOS_TOKEN=kl_other", "401: the token is not valid"},
		"unknown CA":   {"KLOIGOS_CA=", "certificate verify failed"},
		"missing CA":   {"KLOIGOS_CA=/nonexistent/ca.crt", "read KLOIGOS_CA"},
		"nobody there": {"KLOIGOS_URL=https://127.0.0.1:1", "reach the API"},
		"to elsewhere": {"KLOIGOS_URL=" + redirecting.URL, "answered 302"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := run(t, append(environment(t, server), test.variable), "./kloigos_inventory.py", "--list")
			if code != 1 || stdout != "" || !strings.Contains(stderr, test.want) {
				t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, test.want)
			}
			if strings.Contains(stderr, "Traceback") || strings.Contains(stderr, token) {
				t.Errorf("stderr shows too much: %s", stderr)
			}
		})
	}
}
