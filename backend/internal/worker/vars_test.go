package worker_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/testkit/site"
	"kloigos/playbooks"
)

// option is one entry of an argument_specs.yml.
type option struct {
	Type     string            `yaml:"type"`
	Elements string            `yaml:"elements"`
	Required bool              `yaml:"required"`
	Default  any               `yaml:"default"`
	Choices  []any             `yaml:"choices"`
	Options  map[string]option `yaml:"options"`
}

func specOf(t *testing.T, role string) map[string]option {
	t.Helper()
	text, err := fs.ReadFile(playbooks.Files, "roles/"+role+"/meta/argument_specs.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Specs struct {
			Main struct {
				Options map[string]option `yaml:"options"`
			} `yaml:"main"`
		} `yaml:"argument_specs"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatalf("%s: %v", role, err)
	}
	return file.Specs.Main.Options
}

// compare holds variables as they were given to Ansible against a
// specification: the same names on both sides, at every depth, of its types.
func compare(at string, spec map[string]option, vars map[string]any) (problems []string) {
	for _, name := range slices.Sorted(maps.Keys(spec)) {
		o := spec[name]
		value, given := vars[name]
		if !given {
			problems = append(problems, at+name+" is specified, but never given")
			continue
		}
		if !o.Required && o.Default == nil {
			problems = append(problems, at+name+" is always given, but neither required nor has it a default")
		}
		problems = append(problems, fits(at+name, o, value)...)
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if _, ok := spec[name]; !ok {
			problems = append(problems, at+name+" is given, but not specified")
		}
	}
	return problems
}

func fits(at string, o option, value any) (problems []string) {
	wrong := func() []string { return []string{fmt.Sprintf("%s is %T, specified as %s", at, value, o.Type)} }
	if len(o.Choices) > 0 && !slices.Contains(o.Choices, value) {
		problems = append(problems, fmt.Sprintf("%s is %v, not one of %v", at, value, o.Choices))
	}
	switch v := value.(type) {
	case string:
		if o.Type != "str" {
			return wrong()
		}
	case bool:
		if o.Type != "bool" {
			return wrong()
		}
	case float64:
		if o.Type != "int" || v != math.Trunc(v) {
			return wrong()
		}
	case map[string]any:
		if o.Type != "dict" {
			return wrong()
		}
		if o.Options != nil {
			problems = append(problems, compare(at+".", o.Options, v)...)
		}
	case []any:
		if o.Type != "list" {
			return wrong()
		}
		for i, e := range v {
			problems = append(problems, fits(fmt.Sprintf("%s[%d]", at, i), option{Type: o.Elements, Options: o.Options}, e)...)
		}
	default:
		return wrong()
	}
	return problems
}

// TestVariablesAreThoseOfTheRoles runs a job of each kind and compares what its
// plays were given with what the roles ask for.
func TestVariablesAreThoseOfTheRoles(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 1)
	host := p.ready("h1")
	a := p.allocated()
	_, key := site.NewKey(t)
	p.Ended(p.must(p.Intents.ReplaceKeys(t.Context(), p.Call, a, 0, []string{key})), domain.JobSucceeded)
	p.Ended(p.must(p.Intents.MeasureHost(t.Context(), p.Call, host, 0, 3)), domain.JobSucceeded)
	p.Ended(p.deallocate(a), domain.JobSucceeded)
	p.Ended(p.must(p.Intents.DecommissionHost(t.Context(), p.Call, host, 0)), domain.JobSucceeded)

	roles := map[string]string{
		"host_probe/playbook.yml": "host_probe", "host_measure/playbook.yml": "host_measure", "host_initialize/bootstrap.yml": "host_bootstrap", "host_initialize/playbook.yml": "host_initialize",
		"host_decommission/bootstrap.yml": "host_bootstrap", "host_decommission/playbook.yml": "host_decommission",
		"unit_allocate/playbook.yml": "unit_allocate", "unit_deallocate/playbook.yml": "unit_deallocate",
	}
	unfenced := []string{"host_probe/playbook.yml", "host_measure/playbook.yml", "host_initialize/bootstrap.yml"}
	seen := map[string]bool{}
	for _, call := range p.Runner.Calls() {
		file := call.Play.Name + "/" + call.Play.Playbook
		seen[file] = true
		text, err := fs.ReadFile(playbooks.Files, file)
		if err != nil {
			t.Errorf("a job runs %s: %v", file, err)
			continue
		}
		if !strings.Contains(string(text), roles[file]) {
			t.Errorf("%s does not use the role %s", file, roles[file])
		}
		var vars map[string]any
		if err := json.Unmarshal(call.Vars, &vars); err != nil {
			t.Fatal(err)
		}
		for _, problem := range compare("", specOf(t, roles[file]), vars) {
			t.Errorf("%s: %s", file, problem)
		}
		if fenced := call.Play.Hosts[0].Fence != nil; fenced == slices.Contains(unfenced, file) {
			t.Errorf("%s: under the fence: %v", file, fenced)
		}
	}
	for file := range roles {
		if !seen[file] {
			t.Errorf("no job ran %s", file)
		}
	}
}

// TestCompareFindsDifferences, or the test above would find nothing.
func TestCompareFindsDifferences(t *testing.T) {
	t.Parallel()
	spec := specOf(t, "unit_allocate")
	var vars map[string]any
	if err := json.Unmarshal([]byte(`{"unit_allocate_host": {"id": 7}, "unit_allocate_unit": {"extra": 1}, "more": true}`), &vars); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(compare("", spec, vars), "\n")
	for _, want := range []string{
		"unit_allocate_host.id is float64, specified as str", "unit_allocate_host.name is specified, but never given",
		"unit_allocate_unit.extra is given, but not specified", "more is given, but not specified", "unit_allocate_uplink is specified, but never given",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q was not found in\n%s", want, got)
		}
	}
}

// TestRolesTakeWhatTheDomainTakes: a name that a role refuses, but that was
// handed out, could neither be set up nor cleaned away.
func TestRolesTakeWhatTheDomainTakes(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"unit_allocate", "unit_deallocate"} {
		text, err := fs.ReadFile(playbooks.Files, "roles/"+role+"/vars/main.yml")
		if err != nil {
			t.Fatal(err)
		}
		var vars map[string]any
		if err := yaml.Unmarshal(text, &vars); err != nil {
			t.Fatal(err)
		}
		reserved, _ := vars[role+"_reserved_names"].([]any)
		if len(reserved) == 0 {
			t.Errorf("%s reserves no names", role)
		}
		for _, name := range reserved {
			if domain.CheckLoginUser(fmt.Sprint(name)) == nil {
				t.Errorf("%s refuses the login user %v, the domain does not", role, name)
			}
		}
		if role != "unit_allocate" {
			continue
		}
		kind, _ := vars["unit_allocate_key_type"].(string)
		line, _ := vars["unit_allocate_key"].(string)
		accepted, err := regexp.Compile(strings.ReplaceAll(strings.ReplaceAll(line, "{{ unit_allocate_key_type }}", kind), `\Z`, `\z`))
		if err != nil || kind == "" {
			t.Fatalf("%q, %v", line, err)
		}
		for _, kind := range []string{"ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp521", "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"} {
			if !accepted.MatchString(kind + " AAAAC3NzaC1lZDI1NTE5AAAA= ada@work (home)") {
				t.Errorf("the role refuses keys of type %s", kind)
			}
		}
		_, key := site.NewKey(t)
		parsed, err := domain.ParseSSHKey(key + " a comment, with ~ and #")
		if err != nil || !accepted.MatchString(parsed.Line) {
			t.Errorf("%q, %v", parsed.Line, err)
		}
	}
}
