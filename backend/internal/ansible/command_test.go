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

// TestForksAreWhatFits: as many as there are hosts, at most as many as are
// wanted, and no more than there is memory for; one at any rate.
func TestForksAreWhatFits(t *testing.T) {
	t.Parallel()
	for _, of := range []struct{ hosts, fit, want int }{{1, 0, 1}, {3, 9, 3}, {9, 9, 5}, {9, 2, 3}, {9, 0, 1}} {
		c := Config{Forks: 5, ForksFit: func() int { return of.fit }}
		if got := c.forks(of.hosts); got != of.want {
			t.Errorf("%d hosts, memory for %d more: %d forks, want %d", of.hosts, of.fit, got, of.want)
		}
	}
	if got := (&Config{Forks: 5}).forks(9); got != 5 {
		t.Errorf("where memory is not looked at: %d", got)
	}
}
