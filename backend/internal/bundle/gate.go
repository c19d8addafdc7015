package bundle

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"kloigos/backend/internal/bundle/judge"
)

// Gate says whether a playbook from outside may be stored. Whoever can store one is root on every host: what is not
// known to be harmless to the controller, and to run under the fence on the host, is refused with the place and the
// reason. A *domain.Invalid holds one entry for each bad place.
// Whatever else goes wrong is another error: [judge.ErrUnavailable] where templates can't be judged, or the end of ctx,
// with which the look ends at once.
func Gate(ctx context.Context, j *judge.Judge, files map[string][]byte, c Contract) error {
	g := &gate{files: files, contract: c, roles: map[string]*role{}, docs: map[string]*yaml.Node{}, jobVars: map[string]bool{}}
	for _, e := range c.Entries {
		for name := range e.Variables {
			g.jobVars[name] = true
		}
	}
	g.findRoles()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("look at a playbook: %w", err)
		}
		g.file(name)
	}
	if err := g.judged(ctx, j); err != nil {
		return fmt.Errorf("look at a playbook: %w", err)
	}
	g.entries()
	return g.bad.OrNil()
}

type gate struct {
	files    map[string][]byte
	contract Contract
	roles    map[string]*role
	docs     map[string]*yaml.Node // every YAML file that could be read
	jobVars  map[string]bool       // what the job gives: marked as unsafe to template, and above all other variables
	values   int                   // of all YAML files so far
	asked    []asked               // the texts that are to be judged
	asking   int                   // their bytes
	bad      Faults
}

// role is one role of the bundle, by the names of its files below it.
type role struct {
	name  string
	files map[string]bool
}

func (r *role) has(file string) bool { return r.files[file] }

var (
	rolePattern   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
	yamlPattern   = regexp.MustCompile(`^[a-z0-9_]+\.yml$`)
	modulePattern = regexp.MustCompile(`^(kloigos|site)_[a-z0-9_]{1,50}$`)
	moduleImport  = regexp.MustCompile(`(?m)^from ansible\.module_utils\.[a-z_.]+ import `)
)

const (
	maxYAML   = 64 << 10 // bytes of one file
	maxNodes  = 6_000    // of one file, with aliases followed
	maxNested = 32

	maxAllNodes = 20_000 // of all files
)

// Folders of a role and what they hold.
var roleYAML = map[string]string{"tasks": "tasks", "handlers": "handlers", "defaults": "variables", "vars": "variables", "meta": "meta"}

func (g *gate) findRoles() {
	for name := range g.files {
		parts := strings.SplitN(name, "/", 3)
		if len(parts) < 3 || parts[0] != "roles" || !rolePattern.MatchString(parts[1]) {
			continue
		}
		r := g.roles[parts[1]]
		if r == nil {
			r = &role{name: parts[1], files: map[string]bool{}}
			g.roles[parts[1]] = r
		}
		r.files[parts[2]] = true
	}
}

// file looks at one file: whether it may be there at all, then at what is in it.
func (g *gate) file(name string) {
	content := g.files[name]
	if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
		g.bad.add(name, "is not text in UTF-8")
		return
	}
	dir, base := path.Split(name)
	parts := strings.Split(name, "/")
	switch {
	case dir == "" && (base == "README.md" || base == "CHANGELOG.md"):
	case dir == "":
		if _, run := g.contract.Entries[name]; !run {
			g.bad.add(name, "%s", strayReason(name, "no job runs it; at the top lie "+strings.Join(slices.Sorted(maps.Keys(g.contract.Entries)), ", ")+", README.md and CHANGELOG.md, beside roles/ and library/"))
			return
		}
		g.play(name)
	case name == sharedFile:
		if !sharedDigests[Digest(content)] {
			g.bad.add(name, "is not as a release of Kloigos wrote it; put what your modules need into them")
		}
	case dir == "library/":
		g.module(name, strings.TrimSuffix(base, ".py"))
	case parts[0] == "roles" && len(parts) >= 3 && g.roles[parts[1]] != nil:
		g.roleFile(name, g.roles[parts[1]], parts[2:])
	default:
		g.bad.add(name, "%s", strayReason(name, "has no place in a playbook; taken are roles/<role>/{tasks,handlers,defaults,vars,meta}/*.yml, roles/<role>/{templates,files}/ and library/*.py"))
	}
}

var stray = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`(^|/)ansible\.cfg$`), "is Ansible's configuration; a run has Kloigos' own"},
	{regexp.MustCompile(`(^|/)requirements\.ya?ml$`), "names things to be fetched; a playbook brings all that it needs"},
	{regexp.MustCompile(`(^|/)(action|become|cache|callback|cliconf|connection|doc_fragment|filter|httpapi|inventory|lookup|netconf|shell|strategy|terminal|test|vars)_plugins(/|$)`), "is a plugin, which would run on the controller"},
	{regexp.MustCompile(`(^|/)(module_utils|plugins|collections|callback|modules)(/|$)`), "is code for Ansible itself; taken are modules in library/, and " + sharedFile + " as a release wrote it"},
	{regexp.MustCompile(`(^|/)(group_vars|host_vars|inventory|inventories|hosts)(/|$|\.)`), "sets variables of hosts; those are the job's"},
	{regexp.MustCompile(`^roles/[^/]+/library/`), "is a module within a role; modules lie in library/ at the top"},
	{regexp.MustCompile(`(^|/)(__pycache__/|\.git/|.*\.pyc$)`), "is what a tool left behind"},
	{regexp.MustCompile(`\.(yaml|json)$`), "has an ending that Ansible would read too; YAML files end with .yml"},
}

func strayReason(name, otherwise string) string {
	for _, s := range stray {
		if s.pattern.MatchString(name) {
			return s.why
		}
	}
	return otherwise
}

func (g *gate) roleFile(name string, r *role, below []string) {
	switch folder, rest := below[0], below[1:]; {
	case len(rest) == 0 && folder == "README.md":
	case folder == "files" && len(rest) > 0:
	case folder == "templates" && len(rest) > 0:
		g.text(r, string(g.files[name]), func(line int) string { return place(name, line) })
	case roleYAML[folder] != "" && len(rest) == 1 && yamlPattern.MatchString(rest[0]):
		g.roleYAML(name, r, roleYAML[folder], rest[0])
	default:
		g.bad.add(name, "%s", strayReason(name, "has no place in a role; taken are tasks, handlers, defaults, vars and meta with *.yml in them (a-z, 0-9, _), templates/ and files/"))
	}
}

func (g *gate) roleYAML(name string, r *role, kind, base string) {
	doc := g.yaml(name, r, kind == "meta")
	if doc == nil {
		return
	}
	y := &structure{gate: g, file: name, role: r}
	switch {
	case kind == "tasks":
		y.tasks(doc, false)
	case kind == "handlers":
		y.tasks(doc, true)
	case kind == "variables":
		y.variables(doc)
	case base == "argument_specs.yml":
		y.argumentSpecs(doc)
	case base == "main.yml":
		y.meta(doc)
	default:
		g.bad.add(name, "has no place in meta/; taken are main.yml and argument_specs.yml")
	}
}

func (g *gate) play(name string) {
	if doc := g.yaml(name, nil, false); doc != nil {
		y := &structure{gate: g, file: name}
		y.plays(doc)
	}
}

// module looks at a module of the bundle. It runs on hosts only, and under the fence, because Ansible gives Python
// modules to the interpreter that the run names; any other kind would be started by itself.
func (g *gate) module(name, module string) {
	content := g.files[name]
	switch {
	case !strings.HasSuffix(name, ".py"):
		g.bad.add(name, "is not Python; a module that is started by itself goes around the fence")
	case !modulePattern.MatchString(module):
		g.bad.add(name, "has a name that could stand for something of Ansible's; modules are called kloigos_... or site_...")
	case !bytes.HasPrefix(content, []byte(moduleStart)):
		g.bad.add(place(name, 1), "does not begin with %q, by which Ansible gives it to the fence", strings.TrimSpace(moduleStart))
	case !moduleImport.Match(content):
		g.bad.add(name, "imports nothing of ansible.module_utils, by which Ansible knows a module in Python")
	case bytes.Contains(content, []byte("WANT_JSON")) || bytes.Contains(content, []byte("<<INCLUDE_ANSIBLE")):
		g.bad.add(name, "carries a mark of another kind of module")
	case sharedImport.Match(content) && g.files[sharedFile] == nil:
		g.bad.add(name, "imports ansible.module_utils.kloigos, and the playbook has no %s", sharedFile)
	case bytes.ContainsFunc(content, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f }):
		g.bad.add(name, "holds control characters; Ansible takes such a module for a binary")
	}
}

// magic are the names that Ansible or a rule of this gate gives a meaning.
var magic = set(`role_path role_name role_names playbook_dir inventory_dir inventory_file inventory_hostname inventory_hostname_short
	hostvars groups group_names vars omit play_hosts environment lookup query q self context loop range dict cycler joiner namespace lipsum
	none true false None True False`)

var variablePattern = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// declared looks at a name that is given to a variable.
func (g *gate) declared(where, name string) {
	switch {
	case strings.HasPrefix(strings.ToLower(name), "ansible_"):
		g.bad.add(where, "sets %s; ansible_* variables say how Ansible itself reaches hosts and runs", shown(name))
	case magic[name]:
		g.bad.add(where, "sets %s, which means something else already", name)
	case !variablePattern.MatchString(name):
		g.bad.add(where, "sets a variable called %s; names are a-z, 0-9 and _, and begin with a letter", shown(name))
	}
}

func (g *gate) entries() {
	for _, file := range slices.Sorted(maps.Keys(g.contract.Entries)) {
		e := g.contract.Entries[file]
		if _, ok := g.files[file]; !ok {
			if !e.Optional {
				g.bad.add(file, "is missing; the job runs it")
			}
			continue
		}
		doc := g.docs[file]
		if doc == nil {
			continue // told already
		}
		point, used := g.entryPoint(doc, e.Role)
		if !used {
			g.bad.add(file, "does not use the role %s, which takes the variables of the job", e.Role)
			continue
		}
		g.specs(e, point)
	}
}

// specs compares the argument spec of the role that a job's file uses with what the job gives.
func (g *gate) specs(e Entry, point string) {
	file := "roles/" + e.Role + "/meta/argument_specs.yml"
	if g.roles[e.Role] == nil {
		return // told where it is used
	}
	if _, ok := g.files[file]; !ok {
		g.bad.add(file, "is missing; the variables of the job are declared there")
		return
	}
	doc := g.docs[file]
	if doc == nil {
		return
	}
	var specs struct {
		Specs map[string]struct {
			Options map[string]Option `yaml:"options"`
		} `yaml:"argument_specs"`
	}
	if err := doc.Decode(&specs); err != nil {
		g.bad.add(file, "is not of the form of argument specs")
		return
	}
	spec, ok := specs.Specs[point]
	if !ok {
		g.bad.add(file, "declares no arguments of %s", point)
		return
	}
	for _, problem := range Accepts(spec.Options, e.Variables) {
		g.bad.add(file, "%s", problem)
	}
}
