package ansible

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Secrets are in no event, result or failure of any kind of failing, however talkative Ansible is, in whatever
// alphabet; nor in the arguments or the environment of any process, nor in a file after the run.
func TestSecretsAreNowhere(t *testing.T) {
	b := setup(t)
	const secret, hidden = `hunter2 "quo'ted"\ <&> ünï 🔑`, "no_log-swordfish-0451"
	for _, way := range []string{"command", "template", "module"} {
		p := b.play("secrets.yml", map[string]any{"demo_dir": b.dir, "demo_secret": secret, "demo_hidden": hidden, "demo_way": way})
		p.Secrets = []string{secret}
		p.Verbosity = 3
		p.Diff = true
		forbidden := append(formsOf(secret), formsOf(hidden)...)
		for _, line := range keySecrets(p.Hosts[0].PrivateKey) {
			forbidden = append(forbidden, formsOf(line)...)
		}
		var log recorder
		out, err := b.runner.Run(t.Context(), p, func(e Event) {
			log.add(e)
			for pid, what := range b.visible() {
				// What a module hands to a command of its own on the host stands there; this machine plays the host as well.
				if found := anyOf(what, forbidden); found != "" && !strings.HasPrefix(what, "sh\x00-c\x00") {
					t.Errorf("%s: process %d shows %q: %.200q", way, pid, found, what)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if f := out.Failure; f == nil || !strings.HasPrefix(f.Task, "Fail by a "+way) {
			t.Errorf("%s: failure %+v\n%s", way, f, log.text())
		}
		all, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		text := log.text() + string(all)
		if !strings.Contains(text, "[redacted]") || !strings.Contains(text, "SSH: EXEC") || !strings.Contains(text, "bytes are not shown") {
			t.Errorf("%s: this test would show nothing:\n%s", way, text)
		}
		for line := range strings.SplitSeq(text, "\n") {
			if found := anyOf(line, forbidden); found != "" {
				t.Errorf("%s: %q in %s", way, found, line)
			}
		}
		for _, e := range log.events {
			if found := anyOf(e.Message+e.Output+e.Diff+e.Task+e.Item, forbidden); found != "" {
				t.Errorf("%s: %q in %+v", way, found, e)
			}
		}
		if left, err := os.ReadDir(b.root); err != nil || len(left) > 0 {
			t.Errorf("%s: files are left: %v, %v", way, left, err)
		}
		if err := os.Remove(filepath.Join(b.dir, "secret")); err != nil {
			t.Error(err)
		}
	}
}

// formsOf is written apart from secretForms, so that a mistake there shows.
func formsOf(s string) []string {
	coded := func(prefix string) string {
		whole := base64.StdEncoding.EncodeToString([]byte(prefix + s))
		return whole[4 : len(whole)-4] // without the ends, which other text may share
	}
	inJSON, _ := json.Marshal(s)
	return []string{
		s, strings.Trim(string(inJSON), `"`), coded(""), coded("x"), coded("xx"), hex.EncodeToString([]byte(s)), url.QueryEscape(s), url.PathEscape(s),
		s[:len(s)/2], s[len(s)/2:],
	}
}

func anyOf(text string, parts []string) string {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return p
		}
	}
	return ""
}

// visible is what others can see of the processes of this bed's runs: arguments, and the environment as their user can.
func (b *bed) visible() map[int]string {
	found := map[int]string{}
	for pid, cmdline := range b.processes() {
		environ, _ := os.ReadFile(filepath.Join("/proc", itoa(pid), "environ"))
		found[pid] = cmdline + "\n" + string(environ)
	}
	return found
}
