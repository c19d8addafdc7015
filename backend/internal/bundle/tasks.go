package bundle

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"kloigos/backend/internal/bundle/judge"
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
			case "name", "tags", "serial", "max_fail_percentage", "any_errors_fatal", "force_handlers", "no_log", "diff", "timeout", "throttle", "gather_subset":
				s.plain(value, key.Value)
			case "hosts":
				if text, ok := literal(value); !ok || text != "all" {
					s.fault(value, "hosts: must be all, which are the hosts of the job (localhost would be the controller)")
				}
				hosts = true
			case "become", "check_mode", "gather_facts":
				s.flag(key, value)
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

// inCheckMode is the one template that ignore_errors may hold: it can only be true or false.
const inCheckMode = "{{ ansible_check_mode }}"

// plain takes texts and lists of texts without templates. Ansible evaluates some keywords twice (the name of a play
// and of a handler, lists of tags), so an expression there could build a second one that nobody has looked at.
func (s *structure) plain(n *yaml.Node, what string) {
	if n.Kind == yaml.SequenceNode {
		for _, e := range s.list(n, what) {
			s.plain(e, what)
		}
		return
	}
	if _, ok := literal(n); !ok {
		s.fault(n, "%s: must be written out; Ansible may evaluate it twice", what)
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
				s.plain(value, key.Value)
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
		case "name", "tags", "no_log", "diff", "run_once", "throttle", "timeout", "retries", "delay", "any_errors_fatal", "notify":
			s.plain(value, key.Value)
		case "ignore_errors":
			if value.Kind != yaml.ScalarNode || value.Value != inCheckMode {
				s.plain(value, key.Value)
			}
		case "listen":
			if !handlers {
				s.fault(key, "listen: belongs to handlers")
			}
			s.plain(value, key.Value)
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
	text := value.Value
	where := func(line int) string { return place(s.file, scalarLine(value, line)) }
	switch {
	case isNull(value):
	case isTemplate(text) || strings.Contains(text, "%}") || strings.Contains(text, "#jinja2:"):
		s.bad.add(where(1), "%s: is a condition with {{ }} or {%% %%}; what such a template yields would be evaluated once more", key.Value)
	default:
		s.ask(judge.Condition, s.role, text, where, key.Value+": ")
	}
}

// loop takes values that are written out, and the job's variables. What a template of the playbook's own yields could
// be a template again, and the items of a loop are templated once more (seen on 2.14); the job's values never are.
func (s *structure) loop(n *yaml.Node) {
	switch {
	case n.Kind == yaml.SequenceNode:
		if first := firstTemplate(n); first != nil {
			s.fault(first, "loop: its items must be written out, or be a variable of the job; items that a template yields are evaluated once more")
		}
	case n.Kind == yaml.ScalarNode && isTemplate(n.Value):
		s.ask(judge.Loop, s.role, n.Value, func(line int) string { return place(s.file, scalarLine(n, line)) }, "loop: ")
	default:
		s.fault(n, "loop: takes a list that is written out, or {{ a variable of the job }}")
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
		case "label":
			if value.Kind != yaml.ScalarNode {
				s.fault(value, "label: is not a text")
			}
		case "pause", "extended", "extended_allitems":
			s.plain(value, key.Value)
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
