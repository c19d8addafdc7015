package playbook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/api"
)

func TestYAMLIsCutIntoPieces(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"# why: because":                      "comment(# why: because)",
		"- name: Say it":                      "- key(name): Say it",
		"    - ansible.builtin.copy: # now":   "    - key(ansible.builtin.copy): comment(# now)",
		`  mode: "0644"`:                      `  key(mode): string("0644")`,
		`  when: host_port == '22'`:           `  key(when): host_port == string('22')`,
		`  path: "/etc/{{ kloigos_user }}.d"`: `  key(path): template("/etc/{{ kloigos_user }}.d")`,
		"  become: true":                      "  key(become): value(true)",
		"  retries: 3":                        "  key(retries): value(3)",
		"  url: http://example.org/#top":      "  key(url): http://example.org/#top",
		"  - {{ item }}":                      "  - template({{ item }})",
		"    {% for x in y %}":                "    template({% for x in y %})",
		"":                                    "",
		"just: 'it''s' # and \"so\" <b>":      "key(just): string('it''s') comment(# and \"so\" <b>)",
	} {
		var got, text strings.Builder
		for _, p := range yamlPieces(line) {
			text.WriteString(p.text)
			if p.class == "" {
				got.WriteString(p.text)
			} else {
				got.WriteString(strings.TrimPrefix(p.class, "y-") + "(" + p.text + ")")
			}
		}
		if d := cmp.Diff(want, got.String()); d != "" {
			t.Errorf("%q: %s", line, d)
		}
		if text.String() != line {
			t.Errorf("%q became %q", line, text.String())
		}
	}
}

// FuzzYAMLLosesNothing: whatever a file holds, each character is shown once.
func FuzzYAMLLosesNothing(f *testing.F) {
	f.Add("- a: {{ b }} # c")
	f.Add(`"a\"b": '''`)
	f.Fuzz(func(t *testing.T, line string) {
		var text strings.Builder
		for _, p := range yamlPieces(line) {
			text.WriteString(p.text)
		}
		if text.String() != line {
			t.Errorf("%q became %q", line, text.String())
		}
	})
}

func TestAFileIsTextWithItsFindings(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	file := api.PlaybookFile{Path: "a.yml", Content: "- name: <script>x</script>\x1b[31m\n  b: 1\n"}
	findings := []api.LintFinding{{Rule: "name[casing]", Path: "a.yml", Line: 2, Message: "<i>"}, {Rule: "other", Path: "b.yml", Line: 1, Message: "not here"}}
	if err := fileText(file, findings).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	want := `<pre class="text file lines" tabindex="0"><span class="line" id="L1">- <span class="y-key">name</span>: &lt;script&gt;x&lt;/script&gt;
</span><span class="line" id="L2">  <span class="y-key">b</span>: <span class="y-value">1</span>
</span><span class="finding">name[casing]: &lt;i&gt;
</span></pre>`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}
