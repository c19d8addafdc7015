package bundle

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kloigos/backend/internal/domain"
)

// hello is a contract for the tests: one file, one role, one variable.
var hello = Contract{Entries: map[string]Entry{"playbook.yml": {Role: "hello", Variables: map[string]Variable{
	"hello_name":  {Type: "str"},
	"hello_units": {Type: "list", Elements: "dict", Fields: map[string]Variable{"id": {Type: "str"}, "size": {Type: "int"}}},
	"hello_kind":  {Type: "str", Values: []string{"small", "large"}},
}}}}

// good is a playbook that uses much of what is allowed.
func good() map[string][]byte {
	files := map[string]string{
		"playbook.yml": "---\n- name: Say hello\n  hosts: all\n  become: true\n  gather_facts: false\n  roles:\n    - role: hello\n",
		"README.md":    "# Hello\n",
		"roles/hello/meta/argument_specs.yml": `---
argument_specs:
  main:
    short_description: Say hello
    options:
      hello_name: {type: str, required: true, description: To whom}
      hello_kind: {type: str, choices: [small, large], default: small}
      hello_units:
        type: list
        elements: dict
        required: true
        options:
          id: {type: str, required: true}
          size: {type: int}
      hello_more: {type: bool, default: false, description: "Not given by the job, and not required"}
`,
		"roles/hello/meta/main.yml":     "---\ngalaxy_info: {author: me}\ndependencies: []\n",
		"roles/hello/defaults/main.yml": "---\nhello_more: false\n",
		"roles/hello/vars/main.yml": `---
hello_file: "{{ lookup('ansible.builtin.template', 'hello.j2', template_vars={'hello_x': 'y'}) }}"
hello_other: "{{ lookup('ansible.builtin.file', role_path ~ '/templates/hello.j2') | hash('sha256') | truncate(12, true, '', 0) }}"
hello_ids: "{{ hello_units | selectattr('size', 'gt', 3) | map(attribute='id') | map('regex_replace', '^u', 'v') | sort | join(',') }}"
hello_map: {small: 1, large: "{{ {'a': {'b': 2}}.get('a')['b'] }}"}
`,
		"roles/hello/templates/hello.j2": "{# who #}\n{% for u in hello_units if u.size > 2 -%}\n{{ loop.index }} {{ u.id | upper }}\n{%- endfor %}\n{% set hello_n = 3 %}{{ hello_map.get(hello_kind) or hello_n }}\n",
		"roles/hello/files/hello.sh":     "#!/bin/sh\necho '{{ not a template here }}'\n",
		"roles/hello/handlers/main.yml":  "---\n- name: Reload\n  ansible.builtin.systemd:\n    daemon_reload: true\n  listen: hello changed\n",
		"roles/hello/tasks/main.yml": `---
- name: Refuse odd names
  ansible.builtin.assert:
    that:
      - hello_name is match('[a-z]{2,4}\Z')
      - hello_units | length > 0
    quiet: true

- name: Put the file
  site_hello:
    content: "{{ hello_file }}"
    mode: "0644"
  register: hello_put
  notify: hello changed

- name: One for each
  ansible.builtin.file:
    path: /srv/{{ item.id }}
    state: directory
    mode: "0755"
  loop: "{{ hello_units }}"
  loop_control: {label: "{{ item.id }}"}

- name: Guarded
  when:
    - hello_put is changed
    - not (hello_more | bool) or hello_kind in ['small', "large"]
  block:
    - name: Once
      ansible.builtin.command:
        argv: [/usr/bin/true, "{{ hello_name }}"]
        creates: /srv/hello
    - name: More
      ansible.builtin.import_tasks: more.yml
  rescue:
    - ansible.builtin.fail:
        msg: "{{ ansible_failed_result.msg | default('no reason') }}"
`,
		"roles/hello/tasks/more.yml": "---\n- ansible.builtin.apt:\n    name: &packages [tmux, less]\n    state: present\n- ansible.builtin.debug:\n    msg: *packages\n",
		"library/site_hello.py":      "#!/usr/bin/python\nfrom ansible.module_utils.basic import AnsibleModule\n\n\ndef main():\n    AnsibleModule(argument_spec={}).exit_json()\n\n\nmain()\n",
	}
	out := map[string][]byte{}
	for name, text := range files {
		out[name] = []byte(text)
	}
	return out
}

func TestGateTakesAGoodPlaybook(t *testing.T) {
	t.Parallel()
	if err := Gate(t.Context(), testJudge, good(), hello); err != nil {
		t.Fatal(strings.ReplaceAll(err.Error(), "; ", "\n"))
	}
}

// faults are the entries of a refusal.
func faults(t *testing.T, err error) []domain.FieldError {
	t.Helper()
	var bad *domain.Invalid
	if !errors.As(err, &bad) {
		t.Fatalf("got %v, want a refusal with places", err)
	}
	return bad.Fields
}

func TestGateNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	files := good()
	delete(files, "playbook.yml")
	if told := faults(t, Gate(t.Context(), testJudge, files, hello)); len(told) != 1 || told[0].Field != "playbook.yml" || !strings.Contains(told[0].Problem, "is missing") {
		t.Errorf("got %v", told)
	}
	files = good()
	delete(files, "roles/hello/meta/argument_specs.yml")
	if told := faults(t, Gate(t.Context(), testJudge, files, hello)); len(told) != 1 || !strings.Contains(told[0].Problem, "variables of the job are declared there") {
		t.Errorf("got %v", told)
	}
}

// One entry for each bad place, and an end to them.
func TestGateTellsEveryPlace(t *testing.T) {
	t.Parallel()
	files := good()
	files["roles/hello/tasks/more.yml"] = []byte("---\n- raw: id\n- shell: id\n- name: fine\n  ansible.builtin.ping:\n- script: x\n")
	files["ansible.cfg"] = nil
	var places []string
	for _, f := range faults(t, Gate(t.Context(), testJudge, files, hello)) {
		places = append(places, f.Field)
	}
	want := []string{"ansible.cfg", "roles/hello/tasks/more.yml:2", "roles/hello/tasks/more.yml:3", "roles/hello/tasks/more.yml:6"}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Error(diff)
	}
	var tasks strings.Builder
	for range 300 {
		tasks.WriteString("- raw: id\n")
	}
	files["roles/hello/tasks/more.yml"] = []byte(tasks.String())
	told := faults(t, Gate(t.Context(), testJudge, files, hello))
	if last := told[len(told)-1]; len(told) != maxFaults+1 || last.Problem != "has 251 further faults that are not listed" {
		t.Errorf("%d faults, the last: %v", len(told), last)
	}
}

// What passes comes back byte for byte, in whatever order it came.
func TestWhatIsTakenComesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		files := good()
		extra := rapid.MapOfN(rapid.StringMatching(`roles/hello/files/[a-zA-Z0-9_.+@]{1,40}`), rapid.String(), 0, 8).Draw(t, "files")
		for name, text := range extra {
			if base := name[len("roles/hello/files/"):]; strings.Trim(base, ".") != "" {
				files[name] = []byte(text)
			}
		}
		texts := map[string]string{}
		for name, content := range files {
			texts[name] = string(content)
		}
		taken, err := FromTexts(texts, UploadLimits)
		if err != nil {
			// Names that differ by case only are refused; nothing else here may be.
			for _, f := range err.(*domain.Invalid).Fields { //nolint:errorlint // made by this package
				if !strings.Contains(f.Problem, "case only") {
					t.Fatal(err)
				}
			}
			t.Skip("case")
		}
		if err := Gate(context.Background(), testJudge, taken, hello); err != nil {
			for _, f := range err.(*domain.Invalid).Fields { //nolint:errorlint // made by this package
				if !strings.Contains(f.Problem, "is not text") {
					t.Fatal(err)
				}
			}
			t.Skip("not text")
		}
		b, err := Pack("hello", taken)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Open(b.Content, UploadLimits)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := All(b.Content, DefaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range []map[string][]byte{again, stored} {
			if !maps.EqualFunc(files, got, bytes.Equal) {
				t.Fatal(cmp.Diff(files, got))
			}
		}
		if b.Files != len(files) {
			t.Fatalf("%d files, want %d", b.Files, len(files))
		}
	})
}

// Whatever a text holds, the gate ends, and what it lets pass holds none of the words that it is there for.
func FuzzGateYAML(f *testing.F) {
	for _, r := range refusals {
		f.Add([]byte(r.text))
	}
	for _, text := range good() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, file := range []string{"roles/hello/tasks/more.yml", "roles/hello/vars/main.yml", "roles/hello/templates/hello.j2", "playbook.yml"} {
			files := good()
			files[file] = text
			if Gate(t.Context(), testJudge, files, hello) != nil {
				continue
			}
			if file == "roles/hello/templates/hello.j2" && !isTemplate(string(text)) {
				continue
			}
			for _, word := range []string{"__class__", "__globals__"} {
				for _, before := range []string{".", "['", "[\"", "attribute='"} {
					if isTemplate(string(text)) && bytes.Contains(text, []byte("{{"+before+word)) {
						t.Errorf("%s with %q passed", file, before+word)
					}
				}
			}
		}
	})
}

func FuzzOpen(f *testing.F) {
	b, err := Pack("hello", good())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b.Content)
	f.Add(artifact(f, file("a"), file("b")))
	f.Add([]byte("\x28\xb5\x2f\xfd"))
	f.Fuzz(func(t *testing.T, content []byte) {
		files, err := Open(content, UploadLimits)
		if err != nil {
			return
		}
		total := 0
		for name, file := range files {
			total += len(file)
			if strings.HasPrefix(name, "/") || strings.Contains(name, "..") && strings.Contains("/"+name+"/", "/../") {
				t.Errorf("took the path %q", name)
			}
		}
		if int64(total) > UploadLimits.DecodedBytes {
			t.Errorf("took %d bytes", total)
		}
	})
}

// A lookup that is read in another role finds files of that one: of a template's name there is nothing but templates.
func TestLookupsOfTemplatesAreNamedLikeTemplates(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"main.yml", "sub/x.j2"} {
		files := good()
		files["roles/hello/templates/"+name] = []byte("{{ hello_name }}\n")
		files["roles/hello/vars/more.yml"] = []byte("---\nhello_x: \"{{ lookup('template', '" + name + "') }}\"\n")
		told := faults(t, Gate(t.Context(), testJudge, files, hello))
		if len(told) != 1 || told[0].Field != "roles/hello/vars/more.yml:2" || !strings.Contains(told[0].Problem, "templates/<name>.j2") {
			t.Errorf("%s: %v", name, told)
		}
	}
}
