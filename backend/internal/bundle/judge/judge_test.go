package judge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func setup(t *testing.T) *Judge {
	t.Helper()
	j := New("ansible-playbook")
	t.Cleanup(j.Close)
	return j
}

func texts(kind Kind, all ...string) Request {
	r := Request{Job: []string{"job"}, Roles: map[string][]string{"hello": {"templates/x.j2"}}}
	for _, text := range all {
		r.Texts = append(r.Texts, Text{Kind: kind, Text: text, Role: "hello"})
	}
	return r
}

func TestJudge(t *testing.T) {
	t.Parallel()
	j := setup(t)
	for text, want := range map[string]string{
		"{{ job.size | int + 1 }}": "",
		"{{ lookup('ansible.builtin.template', 'x.j2', template_vars={'a': job, 'b': 'c'}) }}": "",
		"a\n{{ lookup('pipe', 'id') }}": "2: uses a lookup",
		// Whether backslashes are doubled or not, something must be wrong.
		`{{ 'x\' ~ lookup("pipe", "id") ~ '\'' }}`:    "1: has a backslash before a quote",
		`{{ 'a\\' ~ 'b' }}`:                           "1: has a backslash before a quote",
		`{{ 'a\n' ~ "b\Z" }}`:                         "",
		"{{ " + strings.Repeat("x | f(", 30):          "1: has brackets within",
		"{{ x" + strings.Repeat(" or x", 200) + " }}": "1: has a template that is nested more than",
		"{{ " + strings.Repeat("not ", 2000) + "x }}": "1: has a template that is nested too deep",
		"{% for a in job recursive %}{% endfor %}":    "1: has a loop that calls itself",
		"{% set a.b = 1 %}":                           "1: has NSRef",
		"{% set a %}{{ x.format }}{% endset %}":       "1: names the method format",
		"{{ x is regex('a', match_type='sub') }}":     "1: gives the test regex the argument match_type",
		"{{ x | hash(*y) }}":                          "1: spreads arguments",
		"{{ x.get(**y) }}":                            "1: spreads arguments",
		"{{ range(1, step=x) }}":                      "1: gives range",
		"{{ loop.index }}{{ loop.cycle }}":            "1: reads loop",
		"{{ job.date }}":                              "1: names the method date",
		"{{ x[1:y] }}":                                "1: looks into",
		"{{ [''] | map('join', ',', 'format') }}":     "1: gives the filter map",
	} {
		a, err := j.Judge(t.Context(), texts(Template, text))
		if err != nil {
			t.Fatalf("%.60s: %v", text, err)
		}
		got := ""
		if len(a.Faults) > 0 {
			got = fmt.Sprintf("%d: %s", a.Faults[0].Line, a.Faults[0].What)
		}
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%.60s: got %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"job.size > 3 and {'a': {'b': 1}}.get('a')": "",
		"true":                      "",
		"x %} y {% endif %}{% if z": "ends within itself",
		"x }} {{ y":                 "can't read",
		"lookup('pipe', 1)":         "uses a lookup",
	} {
		a, err := j.Judge(t.Context(), texts(Condition, text))
		if err != nil {
			t.Fatal(err)
		}
		if want == "" && len(a.Faults) > 0 || want != "" && (len(a.Faults) == 0 || !strings.Contains(a.Faults[0].What, want)) {
			t.Errorf("%s: got %v, want %q", text, a.Faults, want)
		}
	}
	a, err := j.Judge(t.Context(), texts(Template, "\n{% set a, b = job %}{% for c in a %}{% endfor %}"))
	if err != nil || fmt.Sprint(a.Declared) != "[{0 2 a} {0 2 b} {0 2 c}]" {
		t.Errorf("declared %v, %v", a.Declared, err)
	}
}

// A request that takes too long costs the process and nothing else; so does one that takes too much memory, and one whose
// caller is gone.
func TestHostileRequestsEnd(t *testing.T) {
	t.Parallel()
	j := setup(t)
	fine := func() {
		t.Helper()
		if a, err := j.Judge(t.Context(), texts(Template, "{{ lookup('pipe', 'id') }}")); err != nil || len(a.Faults) != 1 {
			t.Fatalf("the next request got %v, %v", a, err)
		}
	}
	fine()
	slow := texts(Template, strings.Repeat("{{ x | f }}", 500_000))
	j.timeout = 50 * time.Millisecond
	if _, err := j.Judge(t.Context(), slow); !errors.Is(err, ErrTooSlow) {
		t.Errorf("too slow: %v", err)
	}
	j.timeout = timeout
	fine()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := j.Judge(ctx, slow); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("caller gone: %v", err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("the request outlived its caller by %s", took)
	}
	fine()
	if _, err := j.Judge(t.Context(), texts(Template, strings.Repeat("{{ x }}", 100), strings.Repeat("y", 130<<20))); !errors.Is(err, ErrTooSlow) {
		t.Errorf("too large: %v", err)
	}
	fine()
}

// A job without variables, a role without files, and nothing to judge at all.
func TestLittleToJudge(t *testing.T) {
	t.Parallel()
	j := setup(t)
	if a, err := j.Judge(t.Context(), Request{}); err != nil || len(a.Faults) != 0 {
		t.Errorf("%v, %v", a, err)
	}
	r := Request{Roles: map[string][]string{"hello": nil}, Texts: []Text{{Kind: Template, Text: "{{ lookup('file', 'x') }}", Role: "hello"}}}
	if a, err := j.Judge(t.Context(), r); err != nil || len(a.Faults) != 1 || !strings.Contains(a.Faults[0].What, "the role does not have") {
		t.Errorf("%v, %v", a, err)
	}
}

func TestManyAtATime(t *testing.T) {
	t.Parallel()
	j := setup(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			text := strings.Repeat("{{ x }}\n", i) + "{{ lookup('pipe', 'id') }}"
			a, err := j.Judge(t.Context(), texts(Template, text))
			if err != nil || len(a.Faults) != 1 || a.Faults[0].Line != i+1 {
				t.Errorf("%d: %v, %v", i, a, err)
			}
		})
	}
	all.Wait()
}

func TestNothingIsJudgedWithoutAnsible(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := func(name, first string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(first+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for name, playbook := range map[string]string{
		"no ansible-playbook": filepath.Join(dir, "gone"),
		"no script":           script("binary", "ELF"),
		"no such Python":      script("python", "#!"+filepath.Join(dir, "python9")),
		"no Python":           script("false", "#!/bin/false"),
	} {
		j := New(playbook)
		if _, err := j.Judge(t.Context(), texts(Template, "{{ x }}")); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
		j.Close()
	}
}
