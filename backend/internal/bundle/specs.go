package bundle

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

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
