package playbook

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// structure looks at what a file says, node by node, once it is known to be sound YAML.
type structure struct {
	*gate
	file string
	role *role // nil in the files that jobs run
}

func (s *structure) fault(n *yaml.Node, format string, args ...any) {
	s.bad.add(place(s.file, n.Line), format, args...)
}

// real follows aliases; their number and depth are known to be bounded.
func real(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// each calls f for every key of a mapping with its value.
func (s *structure) each(n *yaml.Node, what string, f func(key, value *yaml.Node)) bool {
	n = real(n)
	if n.Kind != yaml.MappingNode {
		s.fault(n, "%s is not a mapping", what)
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		f(n.Content[i], real(n.Content[i+1]))
	}
	return true
}

// list returns the elements of a sequence.
func (s *structure) list(n *yaml.Node, what string) []*yaml.Node {
	n = real(n)
	if n.Kind != yaml.SequenceNode {
		s.fault(n, "%s is not a list", what)
		return nil
	}
	all := make([]*yaml.Node, len(n.Content))
	for i, c := range n.Content {
		all[i] = real(c)
	}
	return all
}

// literal is a text without a template.
func literal(n *yaml.Node) (string, bool) {
	return n.Value, n.Kind == yaml.ScalarNode && !isTemplate(n.Value)
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func yes(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value == "true" }

func no(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value == "false" }

// around are the keywords that lead around the host, the fence or check mode, wherever they stand.
var around = map[string]string{
	"delegate_to":        "runs the task elsewhere than on the job's host",
	"delegate_facts":     "gives facts to another host",
	"local_action":       "runs the task on the controller",
	"action":             "hides which module it is; write the module's name as the key",
	"connection":         "says how the host is reached, which is Kloigos' (local would be the controller)",
	"remote_user":        "says how the host is reached, which is Kloigos'",
	"port":               "says how the host is reached, which is Kloigos'",
	"environment":        "changes what the fence is started with",
	"module_defaults":    "changes the arguments of modules out of sight",
	"collections":        "changes which module a name means",
	"debugger":           "waits for a person at a terminal",
	"strategy":           "changes the program that runs the tasks",
	"vars_files":         "reads variables from further files; put them into defaults/ or vars/ of a role",
	"vars_prompt":        "waits for a person at a terminal",
	"async":              "leaves the task running out of the job's sight",
	"poll":               "leaves the task running out of the job's sight",
	"become_user":        "changes how the fence is started; become: true is root",
	"become_method":      "changes how the fence is started",
	"become_exe":         "names a program that is started before the fence",
	"become_flags":       "changes how the fence is started",
	"fact_path":          "names programs on the host that are started outside of any task",
	"import_playbook":    "runs another playbook; a job's file holds its plays itself",
	"gather_timeout":     "is not needed; facts are gathered by a task",
	"ignore_unreachable": "goes on where the job must stop",
}

func (s *structure) keyword(key *yaml.Node) (refused bool) {
	why, refused := around[key.Value]
	if !refused && strings.HasPrefix(key.Value, "with_") {
		why, refused = "is a lookup, which runs on the controller; write loop", true
	}
	if refused {
		s.fault(key, "%s: %s", key.Value, why)
	}
	return refused
}

func (s *structure) plays(n *yaml.Node) {
	for _, play := range s.list(n, "a playbook") {
		hosts := false
		s.each(play, "a play", func(key, value *yaml.Node) {
			if s.keyword(key) {
				return
			}
			switch key.Value {
			case "name", "tags", "serial", "max_fail_percentage", "any_errors_fatal", "force_handlers", "no_log", "diff", "timeout", "throttle":
			case "hosts":
				if text, ok := literal(value); !ok || text != "all" {
					s.fault(value, "hosts: must be all, which are the hosts of the job (localhost would be the controller)")
				}
				hosts = true
			case "become", "check_mode", "gather_facts":
				s.flag(key, value)
			case "gather_subset":
				s.plain(value, "gather_subset")
			case "vars":
				s.variables(value)
			case "roles":
				s.roleList(value)
			case "tasks", "pre_tasks", "post_tasks":
				s.tasks(value, false)
			case "handlers":
				s.tasks(value, true)
			default:
				s.fault(key, "%s: is no keyword of a play that is taken", shown(key.Value))
			}
		})
		if !hosts && real(play).Kind == yaml.MappingNode {
			s.fault(play, "a play without hosts: all")
		}
	}
}

// flag takes true and false written out, and no check_mode but true: a check must never change a host.
func (s *structure) flag(key, value *yaml.Node) {
	switch {
	case key.Value == "check_mode" && !yes(value):
		s.fault(key, "check_mode: may only be true; a check never changes a host")
	case !yes(value) && !no(value):
		s.fault(key, "%s: must be true or false", key.Value)
	}
}

// plain takes texts and lists of texts without templates.
func (s *structure) plain(n *yaml.Node, what string) {
	if n.Kind == yaml.SequenceNode {
		for _, e := range s.list(n, what) {
			s.plain(e, what)
		}
		return
	}
	if _, ok := literal(n); !ok {
		s.fault(n, "%s: must be written out", what)
	}
}

func (s *structure) variables(n *yaml.Node) {
	if isNull(real(n)) {
		return
	}
	s.each(n, "a set of variables", func(key, value *yaml.Node) {
		s.declared(place(s.file, key.Line), key.Value)
		// A loop relies on the job's variables holding no template, whichever of the job's files runs.
		if s.jobVars[key.Value] && firstTemplate(value) != nil {
			s.fault(key, "%s: is a variable of the job; a value of the playbook's own for it must be written out", key.Value)
		}
	})
}

func (s *structure) roleList(n *yaml.Node) {
	for _, entry := range s.list(n, "roles") {
		if entry.Kind == yaml.ScalarNode {
			s.roleName(entry)
			continue
		}
		named := false
		s.each(entry, "an entry of roles", func(key, value *yaml.Node) {
			if s.keyword(key) {
				return
			}
			switch key.Value {
			case "role", "name":
				s.roleName(value)
				named = true
			case "tags":
			case "when":
				s.condition(key, value)
			case "become", "check_mode":
				s.flag(key, value)
			case "vars":
				s.variables(value)
			default:
				s.fault(key, "%s: is no keyword of a role; its variables stand below vars", shown(key.Value))
			}
		})
		if !named {
			s.fault(entry, "an entry of roles names no role")
		}
	}
}

func (s *structure) roleName(n *yaml.Node) {
	name, ok := literal(n)
	if !ok || !rolePattern.MatchString(name) {
		s.fault(n, "the name of a role must be written out: a-z, 0-9 and _")
	} else if s.roles[name] == nil {
		s.fault(n, "the role %s is not in the bundle", name)
	}
}

func (s *structure) tasks(n *yaml.Node, handlers bool) {
	if isNull(real(n)) {
		return
	}
	for _, t := range s.list(n, "a list of tasks") {
		s.task(t, handlers)
	}
}

// task looks at one task or block.
func (s *structure) task(n *yaml.Node, handlers bool) {
	var modules []*yaml.Node
	var arguments, more *yaml.Node
	block := false
	ok := s.each(n, "a task", func(key, value *yaml.Node) {
		if s.keyword(key) {
			return
		}
		switch key.Value {
		case "name", "tags", "no_log", "diff", "run_once", "throttle", "timeout", "retries", "delay", "ignore_errors", "any_errors_fatal", "notify":
		case "listen":
			if !handlers {
				s.fault(key, "listen: belongs to handlers")
			}
		case "when", "changed_when", "failed_when", "until":
			s.condition(key, value)
		case "become", "check_mode":
			s.flag(key, value)
		case "register":
			if name, ok := literal(value); ok {
				s.declared(place(s.file, value.Line), name)
			} else {
				s.fault(value, "register: must be written out")
			}
		case "vars":
			s.variables(value)
		case "loop":
			s.loop(value)
		case "loop_control":
			s.loopControl(value)
		case "args":
			more = value
		case "block", "rescue", "always":
			block = true
			s.tasks(value, handlers)
		default:
			modules = append(modules, key)
			arguments = value
		}
	})
	switch {
	case !ok:
	case block && len(modules) > 0:
		s.fault(modules[0], "%s: is no keyword of a block", shown(modules[0].Value))
	case block:
	case len(modules) == 0:
		s.fault(n, "a task without a module")
	case len(modules) > 1:
		s.fault(modules[1], "%s: is neither a keyword of a task that is taken, nor the one module of it (%s)", shown(modules[1].Value), shown(modules[0].Value))
	default:
		s.module(modules[0], arguments, more)
	}
}

// condition takes true, false, and expressions without {{ }}.
func (s *structure) condition(key, value *yaml.Node) {
	if value.Kind == yaml.SequenceNode {
		for _, e := range s.list(value, key.Value) {
			s.condition(key, e)
		}
		return
	}
	if value.Kind != yaml.ScalarNode {
		s.fault(value, "%s: must be an expression, or a list of them", key.Value)
		return
	}
	t := template{
		text: value.Value, role: s.role,
		fault:   func(at int, why string) { s.bad.add(place(s.file, scalarLine(value, at)), "%s: %s", key.Value, why) },
		declare: func(int, string) {},
	}
	t.bare()
}

var loopFilters = set("list dict2items sort reverse unique flatten items")

// loop takes values that are written out, and the job's variables. What a template of the playbook's own yields could
// be a template again, and the items of a loop are templated once more (seen on 2.14); the job's values never are.
func (s *structure) loop(n *yaml.Node) {
	if n.Kind == yaml.SequenceNode {
		if first := firstTemplate(n); first != nil {
			s.fault(first, "loop: its items must be written out, or be a variable of the job; items that a template yields are evaluated once more")
		}
		return
	}
	text := strings.TrimSpace(n.Value)
	inner, ok := strings.CutPrefix(text, "{{")
	if ok {
		inner, ok = strings.CutSuffix(inner, "}}")
	}
	tokens, _, why := lex(inner, 0, "")
	ok = ok && n.Kind == yaml.ScalarNode && why == "" && len(tokens) > 0 && tokens[0].kind == tokName && s.jobVars[tokens[0].text]
	for i := 1; ok && i+1 < len(tokens); i += 2 {
		name := tokens[i+1]
		ok = name.kind == tokName && (tokens[i].is(".") && !private(name.text) || tokens[i].is("|") && loopFilters[name.text])
	}
	if !ok || len(tokens)%2 == 0 {
		s.fault(n, "loop: takes a list that is written out, or {{ a variable of the job }}, with the filters %s", list(loopFilters))
	}
}

func firstTemplate(n *yaml.Node) *yaml.Node {
	n = real(n)
	if n.Kind == yaml.ScalarNode && (isTemplate(n.Value) || strings.Contains(n.Value, "#jinja2:")) {
		return n
	}
	for _, c := range n.Content {
		if found := firstTemplate(c); found != nil {
			return found
		}
	}
	return nil
}

func (s *structure) loopControl(n *yaml.Node) {
	s.each(n, "loop_control", func(key, value *yaml.Node) {
		switch key.Value {
		case "label", "pause", "extended":
		case "loop_var", "index_var":
			name, ok := literal(value)
			if !ok {
				s.fault(value, "%s: must be written out", key.Value)
				return
			}
			s.declared(place(s.file, value.Line), name)
			if s.jobVars[name] {
				s.fault(value, "%s: takes the name of a variable of the job", key.Value)
			}
		default:
			s.fault(key, "%s: is no keyword of loop_control that is taken", shown(key.Value))
		}
	})
}

// taken are the modules of Ansible that a playbook may use: each is Python, runs on the host alone, and under the fence.
var taken = set(`apt apt_repository blockinfile command cron debconf dpkg_selections file find get_url getent group hostname
	known_hosts lineinfile package_facts ping replace service_facts setup slurp stat systemd systemd_service tempfile user wait_for
	assert debug fail meta import_tasks include_tasks import_role include_role`)

// banned tells of some others why not.
var banned = map[string]string{
	"raw":                 "goes around the fence: it needs no Python on the host",
	"script":              "goes around the fence: it starts a file that it copies there",
	"reboot":              "goes around the fence, and ends every unit of the host",
	"synchronize":         "goes around the fence: it starts rsync on the controller",
	"shell":               "has no meaning in check mode and no arguments that could be checked; write a module, or command with argv",
	"copy":                "sends files around the fence and can read any file of the controller; use kloigos_files with lookup",
	"template":            "sends files around the fence and can read any file of the controller; use kloigos_files with lookup",
	"assemble":            "sends files around the fence and can read any file of the controller",
	"unarchive":           "sends files around the fence and can read any file of the controller",
	"fetch":               "writes files on the controller",
	"uri":                 "can read any file of the controller",
	"set_fact":            "stores what a template yields, which would then be evaluated once more; use vars",
	"include_vars":        "reads variables from further files; put them into defaults/ or vars/ of a role",
	"add_host":            "changes the inventory, which is the job's",
	"group_by":            "changes the inventory, which is the job's",
	"set_stats":           "runs on the controller",
	"pause":               "waits for a person at a terminal",
	"include":             "means several things; write include_tasks or import_tasks",
	"import_playbook":     "runs another playbook; a job's file holds its plays itself",
	"async_status":        "looks at what runs out of the job's sight",
	"wait_for_connection": "goes around the fence",
	"patch":               "sends files around the fence",
	"expect":              "has no meaning in check mode",
	"package":             "starts another module than the one that is named; use apt",
	"service":             "starts another module than the one that is named; use systemd",
	"gather_facts":        "starts other modules than the one that is named; use setup",
}

func (s *structure) module(key, arguments, more *yaml.Node) {
	short, known := moduleOf(key.Value)
	if why, no := banned[short]; no && known {
		s.fault(key, "%s: %s", shown(key.Value), why)
		return
	}
	switch {
	case modulePattern.MatchString(key.Value):
		if _, ok := s.files["library/"+key.Value+".py"]; !ok {
			s.fault(key, "%s: is neither a keyword of a task that is taken nor a module in library/", key.Value)
			return
		}
	case !known || !taken[short]:
		s.fault(key, "%s: is no module or keyword that is taken; taken are the modules in library/ and ansible.builtin.{%s}", shown(key.Value), list(taken))
		return
	case !strings.HasPrefix(key.Value, "ansible.builtin."):
		s.fault(key, "%s: write ansible.builtin.%s, which can mean one thing only", key.Value, short)
		return
	}
	args := s.arguments(key, short, arguments, more)
	if args == nil {
		return
	}
	if check := special[short]; check != nil && strings.HasPrefix(key.Value, "ansible.builtin.") {
		check(s, key, args)
	}
}

// moduleOf tells which module of Ansible's own a name means, if any.
func moduleOf(name string) (short string, builtin bool) {
	for _, collection := range []string{"ansible.builtin.", "ansible.legacy.", "ansible.posix.", "ansible.windows.", "community.general."} {
		if rest, ok := strings.CutPrefix(name, collection); ok {
			name = rest
			break
		}
	}
	return name, !strings.Contains(name, ".")
}

// arguments returns the arguments of a module with those of args; nil if they can't be told.
func (s *structure) arguments(key *yaml.Node, short string, given, more *yaml.Node) map[string]*yaml.Node {
	args := map[string]*yaml.Node{}
	take := func(k, v *yaml.Node) {
		switch {
		case strings.HasPrefix(k.Value, "_"):
			s.fault(k, "%s: the argument %s is Ansible's own", key.Value, shown(k.Value))
		case args[k.Value] != nil:
			s.fault(k, "%s: has the argument %s twice", key.Value, shown(k.Value))
		}
		args[k.Value] = v
	}
	switch {
	case isNull(given):
	case given.Kind == yaml.MappingNode:
		s.each(given, key.Value, take)
	case given.Kind == yaml.ScalarNode && (short == "import_tasks" || short == "include_tasks"):
		args["file"] = given
	case given.Kind == yaml.ScalarNode && short == "meta":
		args["meta"] = given
	default:
		s.fault(given, "%s: give its arguments as a mapping, not as one text", key.Value)
		return nil
	}
	if more != nil && !s.each(more, "args", take) {
		return nil
	}
	return args
}

// special are the modules whose arguments matter.
var special = map[string]func(s *structure, key *yaml.Node, args map[string]*yaml.Node){
	"command": func(s *structure, key *yaml.Node, args map[string]*yaml.Node) {
		argv := args["argv"]
		if argv == nil || argv.Kind != yaml.SequenceNode {
			s.fault(key, "%s: takes its words as a list, argv", key.Value)
		}
		if args["creates"] == nil && args["removes"] == nil {
			s.fault(key, "%s: needs creates or removes, or it can't tell whether there is anything to do: twice must be once, and a check must show it", key.Value)
		}
		s.only(key, args, "argv", "creates", "removes", "chdir", "stdin", "stdin_add_newline", "strip_empty_ends")
	},
	"debug": func(s *structure, key *yaml.Node, args map[string]*yaml.Node) {
		s.only(key, args, "msg", "verbosity") // var is evaluated twice
	},
	"assert": func(s *structure, key *yaml.Node, args map[string]*yaml.Node) {
		if args["that"] != nil {
			s.condition(&yaml.Node{Value: "that", Line: key.Line}, args["that"])
		}
		s.only(key, args, "that", "msg", "fail_msg", "success_msg", "quiet")
	},
	"meta": func(s *structure, key *yaml.Node, args map[string]*yaml.Node) {
		s.only(key, args, "meta")
		if m := args["meta"]; m == nil || !slices.Contains([]string{"flush_handlers", "noop", "end_host", "end_play"}, m.Value) {
			s.fault(key, "%s: takes flush_handlers, noop, end_host and end_play", key.Value)
		}
	},
	"import_tasks":  (*structure).includeTasks,
	"include_tasks": (*structure).includeTasks,
	"import_role":   (*structure).includeRole,
	"include_role":  (*structure).includeRole,
}

func (s *structure) only(key *yaml.Node, args map[string]*yaml.Node, allowed ...string) {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !slices.Contains(allowed, name) {
			s.fault(key, "%s: the argument %s is not taken; taken are %s", key.Value, shown(name), strings.Join(allowed, ", "))
		}
	}
}

func (s *structure) includeTasks(key *yaml.Node, args map[string]*yaml.Node) {
	s.only(key, args, "file")
	file := args["file"]
	switch {
	case file == nil:
		s.fault(key, "%s: names no file", key.Value)
	case s.role == nil:
		s.fault(key, "%s: belongs into a role", key.Value)
	default:
		s.within(key, file, s.role, "tasks")
	}
}

var fromPattern = regexp.MustCompile(`^[a-z0-9_]+$`)

// within takes the plain name of a file that a role has in a folder.
func (s *structure) within(key, n *yaml.Node, r *role, folder string) {
	name, ok := literal(n)
	base := strings.TrimSuffix(name, ".yml")
	if !ok || !fromPattern.MatchString(base) {
		s.fault(n, "%s: the name of a file must be written out, without a directory", key.Value)
	} else if !r.has(folder + "/" + base + ".yml") {
		s.fault(n, "%s: the role %s has no %s/%s.yml", key.Value, r.name, folder, base)
	}
}

func (s *structure) includeRole(key *yaml.Node, args map[string]*yaml.Node) {
	s.only(key, args, "name", "tasks_from", "handlers_from", "vars_from", "defaults_from", "public", "allow_duplicates")
	name := args["name"]
	if name == nil {
		s.fault(key, "%s: names no role", key.Value)
		return
	}
	s.roleName(name)
	r := s.roles[name.Value]
	if r == nil {
		return
	}
	for arg, folder := range map[string]string{"tasks_from": "tasks", "handlers_from": "handlers", "vars_from": "vars", "defaults_from": "defaults"} {
		if from := args[arg]; from != nil {
			s.within(key, from, r, folder)
		}
	}
}

func (s *structure) meta(n *yaml.Node) {
	s.each(n, "meta/main.yml", func(key, value *yaml.Node) {
		switch key.Value {
		case "galaxy_info", "allow_duplicates":
		case "dependencies":
			s.roleList(value)
		default:
			s.fault(key, "%s: is no part of meta/main.yml that is taken; taken are galaxy_info, dependencies and allow_duplicates", shown(key.Value))
		}
	})
}

// argumentSpecs takes what can be compared with what a job gives.
func (s *structure) argumentSpecs(n *yaml.Node) {
	s.each(n, "argument_specs.yml", func(key, value *yaml.Node) {
		if key.Value != "argument_specs" {
			s.fault(key, "%s: is no part of argument specs", shown(key.Value))
			return
		}
		s.each(value, "argument_specs", func(point, spec *yaml.Node) {
			s.each(spec, point.Value, func(key, value *yaml.Node) {
				switch key.Value {
				case "short_description", "description", "author", "version_added":
				case "options":
					s.options(value)
				default:
					s.fault(key, "%s: is no part of an argument spec that is taken", shown(key.Value))
				}
			})
		})
	})
}

func (s *structure) options(n *yaml.Node) {
	if isNull(n) {
		return
	}
	s.each(n, "options", func(_, option *yaml.Node) {
		s.each(option, "an option", func(key, value *yaml.Node) {
			switch key.Value {
			case "type", "elements", "required", "default", "choices", "description", "no_log", "version_added":
			case "options":
				s.options(value)
			default:
				s.fault(key, "%s: is no part of an option that is taken", shown(key.Value))
			}
		})
	})
}

// entryPoint tells by which of its tasks files a play uses a role: main, or the name of another.
func (g *gate) entryPoint(plays *yaml.Node, role string) (point string, used bool) {
	var found []string
	var look func(n *yaml.Node)
	look = func(n *yaml.Node) {
		n = real(n)
		if n.Kind == yaml.SequenceNode {
			for _, c := range n.Content {
				look(c)
			}
			return
		}
		if n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i].Value, real(n.Content[i+1])
			switch key {
			case "roles":
				for _, e := range value.Content {
					if e = real(e); e.Value == role || field(e, "role") == role || field(e, "name") == role {
						found = append(found, "main")
					}
				}
			case "ansible.builtin.import_role", "ansible.builtin.include_role":
				if field(value, "name") == role {
					from := strings.TrimSuffix(field(value, "tasks_from"), ".yml")
					if from == "" {
						from = "main"
					}
					found = append(found, from)
				}
			case "tasks", "pre_tasks", "post_tasks", "block":
				look(value)
			}
		}
	}
	look(plays)
	if len(found) == 0 {
		return "", false
	}
	return found[0], true
}

// field is the text of a key of a mapping, "" if there is none.
func field(n *yaml.Node, name string) string {
	if n.Kind != yaml.MappingNode {
		return ""
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return real(n.Content[i+1]).Value
		}
	}
	return ""
}
