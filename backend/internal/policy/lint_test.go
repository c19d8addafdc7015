package policy_test

import (
	"context"
	"errors"
	"testing"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/policy"
	"kloigos/backend/internal/testkit/site"
)

// linter says what a test wants it to say.
type linter struct {
	able bool
	says domain.Lint
	err  error
	seen []string
}

func (l *linter) Able() bool { return l.able }

func (l *linter) Lint(_ context.Context, content []byte) (domain.Lint, error) {
	l.seen = append(l.seen, string(content))
	return l.says, l.err
}

// Every version is looked at once; where there was no tool, once more by a
// backend that has it; and what was not ended is not lost.
func TestLintPlaybooks(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	without := &linter{says: domain.Lint{State: domain.LintUnavailable, Message: "none"}}
	with := &linter{able: true, says: domain.Lint{State: domain.LintDone, Tool: "x", Findings: []domain.LintFinding{{Rule: "r", Path: "p", Line: 1, Message: "m"}}}}
	all := func(l *linter) (rounds int) {
		t.Helper()
		lints := policy.LintPlaybooks(s.Intents, l)
		for ; rounds < 20; rounds++ {
			out, err := lints.Run(t.Context(), reconcile.Item{})
			if err != nil {
				t.Fatal(err)
			}
			if out.Changed == 0 {
				break
			}
		}
		return rounds
	}
	if n := all(without); n != len(site.Playbooks) {
		t.Errorf("without the tool %d versions were looked at, want %d", n, len(site.Playbooks))
	}
	if n := all(with); n != len(site.Playbooks) {
		t.Errorf("with the tool %d versions were looked at, want %d", n, len(site.Playbooks))
	}
	for _, l := range []*linter{without, with} {
		if n := all(l); n != 0 {
			t.Errorf("%d were looked at again", n)
		}
		got := map[string]bool{}
		for _, content := range l.seen {
			got[content] = true
		}
		if len(got) != len(site.Playbooks) {
			t.Errorf("looked at %v", l.seen)
		}
	}
	v, err := s.DB.PlaybookVersion(t.Context(), "host_probe", 1)
	if err != nil || v.LintState == nil || *v.LintState != domain.LintDone || *v.LintFindings != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestALintThatIsCutIsNotAResult(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	cut := &linter{able: true, err: errors.New("cut")}
	if out, err := policy.LintPlaybooks(s.Intents, cut).Run(t.Context(), reconcile.Item{}); out.Changed != 0 || err == nil {
		t.Fatalf("%d, %v", out.Changed, err)
	}
	running := 0
	for _, name := range site.Playbooks {
		v, err := s.DB.PlaybookVersion(t.Context(), name, 1)
		if err != nil {
			t.Fatal(err)
		}
		if v.LintState != nil && *v.LintState == domain.LintRunning {
			running++
		}
	}
	if running != 1 {
		t.Errorf("%d are running, want the one that was cut", running)
	}
}
