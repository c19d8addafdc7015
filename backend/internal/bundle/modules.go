package bundle

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

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
	for _, arg := range []string{"public", "allow_duplicates"} {
		if flag := args[arg]; flag != nil {
			s.plain(flag, arg)
		}
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
