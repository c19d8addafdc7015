package reconcile_test

import (
	"context"
	"errors"
	"testing"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/reconcile"
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
		policy := reconcile.LintPlaybooks(s.Intents, l)
		for ; rounds < 20; rounds++ {
			n, err := policy.Run(t.Context(), s.DB)
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
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
	if n, err := reconcile.LintPlaybooks(s.Intents, cut).Run(t.Context(), s.DB); n != 0 || err == nil {
		t.Fatalf("%d, %v", n, err)
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
