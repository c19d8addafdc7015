package ansible

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommandLine(t *testing.T) {
	t.Parallel()
	c := Config{AnsibleBin: "/usr/bin/ansible-playbook", Forks: 5}
	p := validPlay(t)
	p.Check, p.Diff, p.Verbosity = true, true, 2
	p.Vars = map[string]any{"secret": "swordfish"}
	argv, err := c.commandLine(&p, &runDir{path: "/run/k/r-1"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"/usr/bin/ansible-playbook", "--check", "--diff", "--extra-vars=@/run/k/r-1/vars.json", "--extra-vars=@/run/k/r-1/connection.json",
		"--forks=1", "--inventory=/run/k/r-1/inventory.json", "-vv", "/run/k/r-1/bundle/playbook.yml",
	}
	if diff := cmp.Diff(want, argv); diff != "" {
		t.Error(diff)
	}
}
