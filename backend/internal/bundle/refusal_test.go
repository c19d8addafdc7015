package bundle

import (
	"slices"
	"strings"
	"testing"

	"kloigos/backend/internal/domain"
)

// refusal is a file that makes a good playbook a bad one, the place that must be told, and words of the reason.
type refusal struct{ file, text, place, why string }

// task puts one task into the good playbook's role, from line 2 on.
func task(text, why string) refusal { return taskAt(text, 2, why) }

func taskAt(text string, line int, why string) refusal {
	return refusal{"roles/hello/tasks/more.yml", "---\n" + text + "\n", place("roles/hello/tasks/more.yml", line), why}
}

func vars(text, why string) refusal {
	return refusal{"roles/hello/vars/main.yml", "---\nhello_file: x\nhello_map: {}\n" + text + "\n", "roles/hello/vars/main.yml:4", why}
}

func tmpl(text, why string) refusal {
	return refusal{"roles/hello/templates/hello.j2", text, "roles/hello/templates/hello.j2:1", why}
}

func play(text, line, why string) refusal {
	return refusal{"playbook.yml", "---\n- name: Say hello\n  hosts: all\n" + text + "\n  roles: [hello]\n", "playbook.yml:" + line, why}
}

func stranger(file, why string) refusal { return refusal{file, "x: 1\n", file, why} }

var refusals = map[string]refusal{
	// Places
	"ansible.cfg":          stranger("ansible.cfg", "Ansible's configuration"),
	"requirements":         stranger("roles/requirements.yml", "to be fetched"),
	"callback plugin":      stranger("callback_plugins/x.py", "run on the controller"),
	"lookup plugin":        stranger("lookup_plugins/x.py", "run on the controller"),
	"filter plugin":        stranger("roles/hello/filter_plugins/x.py", "run on the controller"),
	"action plugin":        stranger("action_plugins/x.py", "run on the controller"),
	"connection plugin":    stranger("connection_plugins/x.py", "run on the controller"),
	"inventory plugin":     stranger("inventory_plugins/x.py", "run on the controller"),
	"vars plugin":          stranger("vars_plugins/x.py", "run on the controller"),
	"module_utils":         stranger("module_utils/x.py", "code for Ansible itself"),
	"shared code changed":  {sharedFile, "import os\n", sharedFile, "as a release of Kloigos wrote it"},
	"shared code missing":  {"library/site_x.py", "#!/usr/bin/python\nfrom ansible.module_utils.kloigos import read\n", "library/site_x.py", "the playbook has no " + sharedFile},
	"collection":           stranger("collections/ansible_collections/x.yml", "code for Ansible itself"),
	"group_vars":           stranger("group_vars/all.yml", "variables of hosts"),
	"host_vars":            stranger("host_vars/h1.yml", "variables of hosts"),
	"inventory":            stranger("inventory/x.yml", "variables of hosts"),
	"role library":         stranger("roles/hello/library/site_x.py", "in library/ at the top"),
	"second playbook":      stranger("other.yml", "no job runs it"),
	"yaml ending":          stranger("roles/hello/tasks/main.yaml", "end with .yml"),
	"json ending":          stranger("roles/hello/vars/main.json", "end with .yml"),
	"nested tasks":         stranger("roles/hello/tasks/sub/x.yml", "no place in a role"),
	"meta runtime":         stranger("roles/hello/meta/runtime.yml", "no place in meta/"),
	"unknown folder":       stranger("misc/x.yml", "no place in a playbook"),
	"bytecode":             stranger("roles/hello/tasks/__pycache__/x.pyc", "left behind"),
	"not text":             {"roles/hello/files/x", "a\x00b", "roles/hello/files/x", "not text"},
	"not UTF-8":            {"roles/hello/files/x", "\xff\xfe", "roles/hello/files/x", "not text"},
	"shell module":         {"library/site_x.sh", "#!/bin/sh\n", "library/site_x.sh", "not Python"},
	"module without line":  {"library/site_x.py", "import os\n", "library/site_x.py:1", "does not begin with"},
	"module in other line": {"library/site_x.py", "#!/usr/bin/env python3\nfrom ansible.module_utils.basic import AnsibleModule\n", "library/site_x.py:1", "does not begin with"},
	"old module":           {"library/site_x.py", "#!/usr/bin/python\nprint('{}')\n", "library/site_x.py", "imports nothing"},
	"module with a name":   {"library/copy.py", "#!/usr/bin/python\nfrom ansible.module_utils.basic import AnsibleModule\n", "library/copy.py", "could stand for"},
	"binary module":        {"library/site_x.py", "#!/usr/bin/python\nfrom ansible.module_utils.basic import AnsibleModule\n\x01", "library/site_x.py", "binary"},

	// YAML
	"not YAML":           {"roles/hello/vars/main.yml", "---\na: [1\nb: 2\n", "roles/hello/vars/main.yml:2", "is not YAML"},
	"tab":                {"roles/hello/vars/main.yml", "a:\n\t- 1\n", "roles/hello/vars/main.yml:2", "is not YAML"},
	"two documents":      {"roles/hello/vars/main.yml", "---\na: 1\n---\nb: 2\n", "roles/hello/vars/main.yml", "more than one document"},
	"empty":              {"roles/hello/vars/main.yml", "", "roles/hello/vars/main.yml", "is empty"},
	"directive":          {"roles/hello/vars/main.yml", "%TAG ! tag:x,2000:\n---\na: 1\n", "roles/hello/vars/main.yml:1", "directive"},
	"python tag":         vars("hello_x: !!python/object/apply:os.system [id]", "tag"),
	"vault tag":          vars("hello_x: !vault abc", "tag !vault"),
	"unsafe tag":         vars("hello_x: !unsafe '{{ x }}'", "tag !unsafe"),
	"binary tag":         vars("hello_x: !!binary aWQ=", "tag !!binary"),
	"vault text":         vars("hello_x: $ANSIBLE_VAULT;1.1;AES256", "vault"),
	"twice":              {"roles/hello/vars/main.yml", "---\nhello_x: 1\nhello_x: 2\n", "roles/hello/vars/main.yml:3", "twice"},
	"merge":              {"roles/hello/vars/main.yml", "---\nhello_a: &a {b: 1}\nhello_c:\n  <<: *a\n", "roles/hello/vars/main.yml:4", "merges"},
	"key that is a list": {"roles/hello/vars/main.yml", "---\n? [a]\n: 1\n", "roles/hello/vars/main.yml:2", "not a plain text"},
	"template in a key":  vars("\"{{ x }}\": 1", "template in a key"),
	"key of Ansible":     vars("hello_x: {__ansible_unsafe: x}", "Ansible's own"),
	"carriage return":    {"roles/hello/vars/main.yml", "---\na: 1\r\n", "roles/hello/vars/main.yml:2", "do not agree"},
	"hidden line":        {"roles/hello/tasks/more.yml", "---\n# a\u2028- ansible.builtin.raw: id\n[]\n", "roles/hello/tasks/more.yml:2", "do not agree"},
	"hidden line, NEL":   {"roles/hello/tasks/more.yml", "---\n# a\u0085- ansible.builtin.raw: id\n[]\n", "roles/hello/tasks/more.yml:2", "do not agree"},
	"JSON":               {"roles/hello/tasks/more.yml", `[{"ansible.builtin.debug": {"msg": "x"}}]`, "roles/hello/tasks/more.yml:1", "JSON first"},
	"too deep":           {"roles/hello/vars/main.yml", "---\na: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\n", "roles/hello/vars/main.yml:2", "nested"},
	"too many values":    {"roles/hello/vars/main.yml", "---\na: [" + strings.Repeat("1,", 11_000) + "]\n", "roles/hello/vars/main.yml", "holds more than"},
	"too long":           {"roles/hello/vars/main.yml", "---\na: " + strings.Repeat("x", maxYAML) + "\n", "roles/hello/vars/main.yml", "bytes"},
	"billion laughs":     {"roles/hello/vars/main.yml", laughs(), "roles/hello/vars/main.yml", "explodes"},
	"alias of itself":    {"roles/hello/vars/main.yml", "---\na: &a [*a]\n", "roles/hello/vars/main.yml", "explodes"},

	// Modules that are banned, however they are named
	"raw":                 task("- raw: id", "around the fence"),
	"raw in full":         task("- ansible.builtin.raw: id", "around the fence"),
	"raw, legacy":         task("- ansible.legacy.raw: id", "around the fence"),
	"raw by action":       task("- action: raw id", "hides which module"),
	"raw by action map":   task("- action: {module: raw, _raw_params: id}", "hides which module"),
	"local_action":        task("- local_action: {module: ansible.builtin.ping}", "on the controller"),
	"script":              task("- ansible.builtin.script: x.sh", "around the fence"),
	"reboot":              task("- ansible.builtin.reboot:", "around the fence"),
	"synchronize":         task("- ansible.posix.synchronize: {src: a, dest: b}", "around the fence"),
	"synchronize, short":  task("- synchronize: {src: a, dest: b}", "around the fence"),
	"shell":               task("- ansible.builtin.shell: id", "no meaning in check mode"),
	"shell, short":        task("- shell: id", "no meaning in check mode"),
	"copy":                task("- ansible.builtin.copy: {src: /etc/shadow, dest: /tmp/x}", "any file of the controller"),
	"template module":     task("- template: {src: x, dest: y}", "any file of the controller"),
	"fetch":               task("- ansible.builtin.fetch: {src: x, dest: y}", "files on the controller"),
	"unarchive":           task("- ansible.builtin.unarchive: {src: x, dest: y}", "any file of the controller"),
	"assemble":            task("- ansible.builtin.assemble: {src: x, dest: y}", "any file of the controller"),
	"uri":                 task("- ansible.builtin.uri: {src: x, url: y}", "any file of the controller"),
	"patch":               task("- ansible.posix.patch: {src: x}", "around the fence"),
	"add_host":            task("- ansible.builtin.add_host: {name: x}", "inventory"),
	"group_by":            task("- ansible.builtin.group_by: {key: x}", "inventory"),
	"set_fact":            task("- ansible.builtin.set_fact: {hello_x: 1}", "evaluated once more"),
	"set_fact ansible_":   task("- set_fact: {ansible_connection: local}", "evaluated once more"),
	"include_vars":        task("- ansible.builtin.include_vars: /etc/x.yml", "further files"),
	"include":             task("- include: x.yml", "several things"),
	"pause":               task("- ansible.builtin.pause:", "waits for a person"),
	"wait_for_connection": task("- ansible.builtin.wait_for_connection:", "around the fence"),
	"windows":             task("- ansible.windows.win_shell: id", "no module or keyword"),
	"other collection":    task("- community.docker.docker_container: {name: x}", "no module or keyword"),
	"unknown":             task("- hello_world: {}", "no module or keyword"),
	"short name":          task("- file: {path: /x, state: absent}", "write ansible.builtin.file"),
	"legacy name":         task("- ansible.legacy.file: {path: /x, state: absent}", "write ansible.builtin.file"),
	"module not there":    task("- site_gone: {}", "nor a module in library/"),
	"free form":           task("- ansible.builtin.file: path=/x state=absent", "as a mapping"),
	"free form template":  task("- ansible.builtin.file: \"{{ x }}\"", "as a mapping"),
	"args template":       task("- ansible.builtin.file:\n  args: \"{{ x }}\"", "args is not a mapping").line(3),
	"two modules":         task("- ansible.builtin.ping:\n  ansible.builtin.debug: {msg: x}", "neither a keyword").line(3),
	"no module":           task("- name: x", "without a module"),
	"command free form":   task("- ansible.builtin.command: id", "as a mapping"),
	"command cmd":         task("- ansible.builtin.command: {cmd: id, creates: /x}", "argv"),
	"command unguarded":   task("- ansible.builtin.command: {argv: [id]}", "needs creates or removes"),
	"command as shell":    task("- ansible.builtin.command: {argv: [id], creates: /x, _uses_shell: true}", "Ansible's own"),
	"args as shell":       task("- ansible.builtin.command: {argv: [id], creates: /x}\n  args: {_uses_shell: true}", "Ansible's own").line(3),
	"refresh inventory":   task("- ansible.builtin.meta: refresh_inventory", "takes flush_handlers"),
	"debug var":           task("- ansible.builtin.debug: {var: \"hello_x\"}", "argument var"),
	"in a block":          task("- block:\n    - raw: id", "around the fence").line(3),
	"in a rescue":         task("- block: [{ansible.builtin.ping: }]\n  rescue:\n    - raw: id", "around the fence").line(4),
	"in an always":        task("- block: [{ansible.builtin.ping: }]\n  always:\n    - raw: id", "around the fence").line(4),
	"by an alias":         {"roles/hello/tasks/more.yml", "---\n- block: &x\n    - raw: id\n- block: *x\n", "roles/hello/tasks/more.yml:3", "around the fence"},
	"in a handler":        {"roles/hello/handlers/main.yml", "---\n- raw: id\n", "roles/hello/handlers/main.yml:2", "around the fence"},
	"in pre_tasks":        play("  pre_tasks:\n    - raw: id", "5", "around the fence"),
	"in post_tasks":       play("  post_tasks:\n    - raw: id", "5", "around the fence"),
	"in play handlers":    play("  handlers:\n    - raw: id", "5", "around the fence"),

	// Keywords that lead elsewhere
	"delegate_to":        task("- ansible.builtin.ping:\n  delegate_to: localhost", "elsewhere").line(3),
	"delegate_facts":     task("- ansible.builtin.ping:\n  delegate_facts: true", "another host").line(3),
	"connection":         task("- ansible.builtin.ping:\n  connection: local", "Kloigos'").line(3),
	"connection of play": play("  connection: local", "4", "Kloigos'"),
	"remote_user":        play("  remote_user: root", "4", "Kloigos'"),
	"port":               play("  port: 2222", "4", "Kloigos'"),
	"become_user":        task("- ansible.builtin.ping:\n  become_user: ada", "the fence").line(3),
	"become_exe":         play("  become_exe: /tmp/x", "4", "before the fence"),
	"become_method":      play("  become_method: su", "4", "the fence"),
	"become_flags":       play("  become_flags: -x", "4", "the fence"),
	"become template":    task("- ansible.builtin.ping:\n  become: \"{{ x }}\"", "true or false").line(3),
	"environment":        task("- ansible.builtin.ping:\n  environment: {LD_PRELOAD: /tmp/x}", "the fence").line(3),
	"module_defaults":    play("  module_defaults: {ansible.builtin.command: {_uses_shell: true}}", "4", "out of sight"),
	"collections":        play("  collections: [evil.things]", "4", "which module"),
	"strategy":           play("  strategy: debug", "4", "runs the tasks"),
	"vars_files":         play("  vars_files: [/etc/x.yml]", "4", "further files"),
	"vars_prompt":        play("  vars_prompt: [{name: x}]", "4", "waits for a person"),
	"debugger":           task("- ansible.builtin.ping:\n  debugger: always", "waits for a person").line(3),
	"async":              task("- ansible.builtin.ping:\n  async: 3600", "out of the job's sight").line(3),
	"check_mode no":      task("- ansible.builtin.ping:\n  check_mode: false", "never changes").line(3),
	"check_mode no 1.1":  task("- ansible.builtin.ping:\n  check_mode: no", "never changes").line(3),
	"hosts localhost":    {"playbook.yml", "---\n- hosts: localhost\n  roles: [hello]\n", "playbook.yml:2", "must be all"},
	"hosts template":     {"playbook.yml", "---\n- hosts: \"{{ lookup('pipe', 'id') }}\"\n  roles: [hello]\n", "playbook.yml:2", "must be all"},
	"no hosts":           {"playbook.yml", "---\n- roles: [hello]\n", "playbook.yml:2", "without hosts"},
	"import_playbook":    {"playbook.yml", "---\n- import_playbook: other.yml\n- hosts: all\n  roles: [hello]\n", "playbook.yml:2", "another playbook"},
	"unknown keyword":    play("  wibble: 1", "4", "no keyword of a play"),
	"with_pipe":          task("- ansible.builtin.ping:\n  with_pipe: id", "a lookup").line(3),
	"with_items":         task("- ansible.builtin.ping:\n  with_items: [1]", "a lookup").line(3),
	"play is a text":     {"playbook.yml", "---\n- hosts\n", "playbook.yml:2", "not a mapping"},
	"playbook is a map":  {"playbook.yml", "---\nhosts: all\n", "playbook.yml:2", "not a list"},

	// Roles and files
	"role not there":       {"playbook.yml", "---\n- hosts: all\n  roles: [hello, other]\n", "playbook.yml:3", "not in the bundle"},
	"role by path":         {"playbook.yml", "---\n- hosts: all\n  roles: [hello, ../../x]\n", "playbook.yml:3", "written out"},
	"role parameter":       {"playbook.yml", "---\n- hosts: all\n  roles:\n    - role: hello\n      ansible_connection: local\n", "playbook.yml:5", "below vars"},
	"role of a url":        {"roles/hello/meta/main.yml", "---\ndependencies:\n  - src: https://x\n", "roles/hello/meta/main.yml:3", "below vars"},
	"dependency":           {"roles/hello/meta/main.yml", "---\ndependencies: [other]\n", "roles/hello/meta/main.yml:2", "not in the bundle"},
	"meta collections":     {"roles/hello/meta/main.yml", "---\ncollections: [x.y]\n", "roles/hello/meta/main.yml:2", "no part of meta"},
	"include_role":         task("- ansible.builtin.include_role: {name: other}", "not in the bundle"),
	"include_role vars":    task("- ansible.builtin.include_role: {name: \"{{ x }}\"}", "written out"),
	"include_role from":    task("- ansible.builtin.include_role: {name: hello, tasks_from: ../../x}", "without a directory"),
	"include_role apply":   task("- ansible.builtin.include_role: {name: hello, apply: {delegate_to: localhost}}", "argument apply"),
	"include_tasks":        task("- ansible.builtin.include_tasks: /etc/x.yml", "without a directory"),
	"include_tasks vars":   task("- ansible.builtin.include_tasks: \"{{ x }}.yml\"", "written out"),
	"include_tasks gone":   task("- ansible.builtin.include_tasks: gone.yml", "has no tasks/gone.yml"),
	"include_tasks apply":  task("- ansible.builtin.include_tasks: {file: main.yml, apply: {connection: local}}", "argument apply"),
	"include_tasks args":   task("- ansible.builtin.include_tasks: main.yml\n  args: {apply: {connection: local}}", "argument apply"),
	"tasks of no role":     play("  tasks:\n    - ansible.builtin.include_tasks: x.yml", "5", "belongs into a role"),
	"validation of no use": task("- ansible.builtin.import_role: {name: hello, rolespec_validate: false}", "rolespec_validate"),

	// Variables
	"ansible_ in vars":       vars("ansible_connection: local", "sets ansible_connection"),
	"ansible_ in capitals":   vars("Ansible_Connection: local", "sets Ansible_Connection"),
	"ansible_ in defaults":   {"roles/hello/defaults/main.yml", "---\nansible_python_interpreter: /tmp/x\n", "roles/hello/defaults/main.yml:2", "sets ansible_python"},
	"ansible_ in a task":     task("- ansible.builtin.ping:\n  vars: {ansible_ssh_common_args: -oProxyCommand=x}", "sets ansible_ssh").line(3),
	"ansible_ in a block":    task("- block: [{ansible.builtin.ping: }]\n  vars: {ansible_host: x}", "sets ansible_host").line(3),
	"ansible_ in a play":     play("  vars: {ansible_become_exe: x}", "4", "sets ansible_become"),
	"ansible_ of a role":     {"playbook.yml", "---\n- hosts: all\n  roles:\n    - role: hello\n      vars: {ansible_connection: local}\n", "playbook.yml:5", "sets ansible_connection"},
	"ansible_ registered":    task("- ansible.builtin.ping:\n  register: ansible_host", "sets ansible_host").line(3),
	"ansible_ of a loop":     task("- ansible.builtin.ping:\n  loop: [1]\n  loop_control: {loop_var: ansible_host}", "sets ansible_host").line(4),
	"ansible_ in a template": tmpl("{% set ansible_host = 'x' %}", "sets ansible_host"),
	"role_path of a loop":    task("- ansible.builtin.ping:\n  loop: [/etc]\n  loop_control: {loop_var: role_path}", "sets role_path").line(4),
	"role_path in a for":     tmpl("{% for role_path in ['/etc'] %}{% endfor %}", "sets role_path"),
	"odd name":               vars("\"a b\": 1", "names are a-z"),
	"register template":      task("- ansible.builtin.ping:\n  register: \"{{ x }}\"", "written out").line(3),
	"job's variable":         vars("hello_units: \"{{ x }}\"", "variable of the job"),

	// Templates
	"pipe":                 vars("hello_x: \"{{ lookup('pipe', 'id') }}\"", "lookups run on the controller"),
	"pipe in full":         vars("hello_x: \"{{ lookup('ansible.builtin.pipe', 'id') }}\"", "lookups run on the controller"),
	"pipe by query":        vars("hello_x: \"{{ query('pipe', 'id') }}\"", "calls query"),
	"pipe by q":            vars("hello_x: \"{{ q('pipe', 'id') }}\"", "calls q"),
	"lookup url":           vars("hello_x: \"{{ lookup('url', 'http://x') }}\"", "lookups run on the controller"),
	"lookup env":           vars("hello_x: \"{{ lookup('env', 'HOME') }}\"", "lookups run on the controller"),
	"lookup password":      vars("hello_x: \"{{ lookup('password', '/tmp/x') }}\"", "lookups run on the controller"),
	"lookup computed":      vars("hello_x: \"{{ lookup('pi' ~ 'pe', 'id') }}\"", "lookups run on the controller"),
	"lookup variable":      vars("hello_x: \"{{ lookup(hello_kind, 'id') }}\"", "lookups run on the controller"),
	"lookup of lookup":     vars("hello_x: \"{{ lookup('template', lookup('pipe', 'id')) }}\"", "not written out"),
	"lookup as value":      vars("hello_x: \"{{ [lookup] | list }}\"", "more than a value"),
	"file, absolute":       vars("hello_x: \"{{ lookup('file', '/etc/shadow') }}\"", "leaves the role"),
	"file, up":             vars("hello_x: \"{{ lookup('file', '../../../etc/shadow') }}\"", "leaves the role"),
	"file, role_path":      vars("hello_x: \"{{ lookup('file', role_path ~ '/files/../../x') }}\"", "leaves the role"),
	"file, elsewhere":      vars("hello_x: \"{{ lookup('file', playbook_dir ~ '/files/x') }}\"", "not written out"),
	"file, gone":           vars("hello_x: \"{{ lookup('file', 'gone') }}\"", "does not have"),
	"file, spread":         vars("hello_x: \"{{ lookup(*['pipe', 'id']) }}\"", "spreads arguments"),
	"template of a file":   vars("hello_x: \"{{ lookup('template', role_path ~ '/files/hello.sh') }}\"", "does not lie as templates/"),
	"template of YAML":     {"roles/hello/vars/main.yml", "---\nhello_file: x\nhello_map: {}\nhello_x: \"{{ lookup('template', 'main.yml') }}\"\n", "roles/hello/vars/main.yml:4", "does not have"},
	"class by join":        vars("hello_x: \"{{ [''] | join(',', '__class__') }}\"", "plain name"),
	"template delimiters":  vars("hello_x: \"{{ lookup('template', 'hello.j2', variable_start_string='[[') }}\"", "argument \"variable_start_string\""),
	"file outside a role":  play("  vars: {hello_x: \"{{ lookup('file', 'x') }}\"}", "4", "outside of a role"),
	"in a name":            task("- name: \"{{ lookup('pipe', 'id') }}\"\n  ansible.builtin.ping:", "lookups run"),
	"in an argument":       task("- ansible.builtin.debug: {msg: \"{{ lookup('pipe', 'id') }}\"}", "lookups run"),
	"in an argument spec":  {"roles/hello/meta/argument_specs.yml", "---\nargument_specs:\n  main:\n    short_description: \"{{ lookup('pipe', 'id') }}\"\n", "roles/hello/meta/argument_specs.yml:4", "evaluates even descriptions"},
	"in tags":              task("- ansible.builtin.ping:\n  tags: [\"{{ lookup('pipe', 'id') }}\"]", "lookups run").line(3),
	"in block text":        {"roles/hello/vars/main.yml", "---\nhello_file: |\n  one\n  {{ lookup('pipe', 'id') }}\nhello_map: {}\n", "roles/hello/vars/main.yml:4", "lookups run"},
	"class":                vars("hello_x: \"{{ ''.__class__ }}\"", "keeps private"),
	"class by index":       vars("hello_x: \"{{ ''['__class__'] }}\"", "something else"),
	"class by escape":      vars(`hello_x: '{{ ""["\x5f\x5fclass__"] }}'`, "something else"),
	"class of none":        vars("hello_x: \"{{ none['__class__'] }}\"", "something else"),
	"class by variable":    vars("hello_x: \"{{ ''[hello_name] }}\"", "something else"),
	"class by attr":        vars("hello_x: \"{{ '' | attr('__class__') }}\"", "filter attr"),
	"class by map":         vars("hello_x: \"{{ [''] | map(attribute='__class__') | list }}\"", "plain name"),
	"class by map name":    vars("hello_x: \"{{ [''] | map('attr', '__class__') | list }}\"", "not written out, or not"),
	"class by sort":        vars("hello_x: \"{{ [''] | sort(attribute='a.__class__') }}\"", "plain name"),
	"class by groupby":     vars("hello_x: \"{{ [''] | groupby('__class__') }}\"", "plain name"),
	"class by variable 2":  vars("hello_x: \"{{ [''] | map(attribute=hello_name) }}\"", "plain name"),
	"class by selectattr":  vars("hello_x: \"{{ [''] | selectattr('__class__') }}\"", "plain name"),
	"class by extract":     vars("hello_x: \"{{ '__class__' | extract('') }}\"", "filter extract"),
	"lipsum":               vars("hello_x: \"{{ lipsum.x }}\"", "more than a value"),
	"cycler":               vars("hello_x: \"{{ cycler.x }}\"", "more than a value"),
	"generator":            vars("hello_x: \"{{ ([1] | map('string')).gi_frame }}\"", "keeps private"),
	"format":               vars("hello_x: \"{{ '{0.__class__}'.format(1) }}\"", "method format"),
	"method":               vars("hello_x: \"{{ hello_name.encode() }}\"", "method encode"),
	"call of a result":     vars("hello_x: \"{{ (hello_name or 1)() }}\"", "what an expression yields"),
	"function":             vars("hello_x: \"{{ foo() }}\"", "calls foo"),
	"filter":               vars("hello_x: \"{{ '/etc/*' | fileglob }}\"", "filter fileglob"),
	"filter of others":     vars("hello_x: \"{{ 'x' | community.general.json_query('y') }}\"", "filter community.general.json_query"),
	"filter, vault":        vars("hello_x: \"{{ 'x' | unvault('y') }}\"", "filter unvault"),
	"filter, random":       vars("hello_x: \"{{ 5 | random }}\"", "filter random"),
	"test":                 vars("hello_x: \"{{ '/etc/shadow' is file }}\"", "test file"),
	"test, negated":        vars("hello_x: \"{{ '/etc/shadow' is not ansible.builtin.exists }}\"", "test exists"),
	"jinja2 header":        tmpl("#jinja2: variable_start_string: '[['\n[[ lookup('pipe', 'id') ]]{{ x }}", "delimiters"),
	"jinja2 header in var": vars("hello_x: \"#jinja2: variable_start_string: '[['\\n[[ lookup('pipe', 'id') ]]\"", "delimiters"),
	"include statement":    tmpl("{% include '/etc/shadow' %}", `statement "include"`),
	"import statement":     tmpl("{%- import 'x' as y %}", `statement "import"`),
	"macro":                tmpl("{% macro x() %}{% endmacro %}", `statement "macro"`),
	"raw block":            tmpl("{% raw %}{{ x }}{% endraw %}", `statement "raw"`),
	"comment":              tmpl("{# {{ x }} #}", "within a comment"),
	"no end":               tmpl("{{ x", "does not end"),
	"string without end":   tmpl("{{ 'x }}", "does not end"),
	"odd character, more":  tmpl("{{ x ! }}", "character"),
	"odd character":        tmpl("{{ x ? y }}", "character"),
	"unicode name":         tmpl("{{ éclair }}", "character"),

	// A string that ends elsewhere: Ansible doubles backslashes before Jinja reads the text.
	"quote":            vars(`hello_x: '{{ "x\" ~ lookup("pipe", "id") ~ "\"" }}'`, "backslash before a quote"),
	"quote, single":    tmpl(`{{ 'x\' ~ lookup("pipe", "id") ~ '\'' }}`, "backslash before a quote"),
	"quote in a when":  task(`- ansible.builtin.ping:`+"\n"+`  when: hello_name == 'x\' ~ hello_kind ~ '\''`, "backslash before a quote").line(3),
	"quote in a block": tmpl(`{% if 'x\' == 'y' %}{% endif %}`, "backslash before a quote"),

	// Texts that Ansible evaluates twice
	"name of a play":             {"playbook.yml", "---\n- name: \"{{ '{' ~ '{ 1 }' ~ '}' }}\"\n  hosts: all\n  roles: [hello]\n", "playbook.yml:2", "name: must be written out"},
	"tags of a play":             play("  tags: [\"{{ hello_name }}\"]", "4", "tags: must be written out"),
	"serial":                     play("  serial: [\"{{ hello_name }}\"]", "4", "serial: must be written out"),
	"percentage":                 play("  max_fail_percentage: \"{{ hello_name }}\"", "4", "max_fail_percentage: must be written out"),
	"force_handlers":             play("  force_handlers: \"{{ hello_name }}\"", "4", "force_handlers: must be written out"),
	"gather_subset":              play("  gather_subset: [\"{{ hello_name }}\"]", "4", "gather_subset: must be written out"),
	"no_log of a play":           play("  no_log: \"{{ hello_name }}\"", "4", "no_log: must be written out"),
	"throttle of a play":         play("  throttle: \"{{ hello_name }}\"", "4", "throttle: must be written out"),
	"tags of a role":             {"playbook.yml", "---\n- hosts: all\n  roles:\n    - role: hello\n      tags: [\"{{ hello_name }}\"]\n", "playbook.yml:5", "tags: must be written out"},
	"tags of a dependency":       {"roles/hello/meta/main.yml", "---\ndependencies:\n  - role: hello\n    tags: [\"{{ hello_name }}\"]\n", "roles/hello/meta/main.yml:4", "template"},
	"name of a task":             task("- ansible.builtin.ping:\n  name: \"{{ hello_name }}\"", "name: must be written out").line(3),
	"name of a block":            task("- block: [{ansible.builtin.ping: }]\n  name: \"{{ hello_name }}\"", "name: must be written out").line(3),
	"name of a handler":          {"roles/hello/handlers/main.yml", "---\n- name: \"{{ hello_name }}\"\n  ansible.builtin.ping:\n", "roles/hello/handlers/main.yml:2", "name: must be written out"},
	"listen":                     {"roles/hello/handlers/main.yml", "---\n- listen: [\"{{ hello_name }}\"]\n  ansible.builtin.ping:\n", "roles/hello/handlers/main.yml:2", "listen: must be written out"},
	"notify":                     task("- ansible.builtin.ping:\n  notify: [\"{{ hello_name }}\"]", "notify: must be written out").line(3),
	"tags":                       task("- ansible.builtin.ping:\n  tags: [a, \"{{ hello_name }}\"]", "tags: must be written out").line(3),
	"tags in a mapping":          task("- ansible.builtin.ping:\n  tags: {a: \"{{ hello_name }}\"}", "tags: must be written out").line(3),
	"tags of a block":            task("- block: [{ansible.builtin.ping: }]\n  tags: [\"{{ hello_name }}\"]", "tags: must be written out").line(3),
	"run_once":                   task("- ansible.builtin.ping:\n  run_once: \"{{ hello_more }}\"", "run_once: must be written out").line(3),
	"throttle":                   task("- ansible.builtin.ping:\n  throttle: \"{{ hello_more }}\"", "throttle: must be written out").line(3),
	"timeout":                    task("- ansible.builtin.ping:\n  timeout: \"{{ hello_more }}\"", "timeout: must be written out").line(3),
	"retries":                    task("- ansible.builtin.ping:\n  retries: \"{{ hello_more }}\"", "retries: must be written out").line(3),
	"delay":                      task("- ansible.builtin.ping:\n  delay: \"{{ hello_more }}\"", "delay: must be written out").line(3),
	"no_log":                     task("- ansible.builtin.ping:\n  no_log: \"{{ hello_more }}\"", "no_log: must be written out").line(3),
	"diff":                       task("- ansible.builtin.ping:\n  diff: \"{{ hello_more }}\"", "diff: must be written out").line(3),
	"any_errors_fatal":           task("- ansible.builtin.ping:\n  any_errors_fatal: \"{{ hello_more }}\"", "any_errors_fatal: must be written out").line(3),
	"ignore_errors":              task("- ansible.builtin.ping:\n  ignore_errors: \"{{ hello_more }}\"", "ignore_errors: must be written out").line(3),
	"pause of a loop":            task("- ansible.builtin.ping:\n  loop: [1]\n  loop_control: {pause: \"{{ hello_more }}\"}", "pause: must be written out").line(4),
	"extended":                   task("- ansible.builtin.ping:\n  loop: [1]\n  loop_control: {extended: \"{{ hello_more }}\"}", "extended: must be written out").line(4),
	"label in a list":            task("- ansible.builtin.ping:\n  loop: [1]\n  loop_control: {label: [\"{{ hello_more }}\"]}", "label: is not a text").line(4),
	"public":                     task("- ansible.builtin.include_role: {name: hello, public: \"{{ hello_more }}\"}", "public: must be written out"),
	"allow_duplicates":           task("- ansible.builtin.import_role: {name: hello, allow_duplicates: \"{{ hello_more }}\"}", "allow_duplicates: must be written out"),
	"allow_duplicates of a role": {"roles/hello/meta/main.yml", "---\nallow_duplicates: \"{{ hello_more }}\"\n", "roles/hello/meta/main.yml:2", "has a template"},
	"template_vars, built":       vars(`hello_x: "{{ lookup('template', 'hello.j2', template_vars={'hello_y': '{' ~ '{ 1 }' ~ '}'}) }}"`, "evaluates them once more"),
	"template_vars, braces":      vars(`hello_x: "{{ lookup('template', 'hello.j2', template_vars={'hello_y': '{ {'}) }}"`, "evaluates them once more"),
	"template_vars, escaped":     vars(`hello_x: "{{ lookup('template', 'hello.j2', template_vars={'hello_y': '\\x7b'}) }}"`, "evaluates them once more"),
	"template_vars, other":       vars(`hello_x: "{{ lookup('template', 'hello.j2', template_vars={'hello_y': hello_file}) }}"`, "evaluates them once more"),
	"template_vars, whole":       vars(`hello_x: "{{ lookup('template', 'hello.j2', template_vars=hello_map) }}"`, "evaluates them once more"),
	"template_vars, ansible_":    vars(`hello_x: "{{ lookup('template', 'hello.j2', template_vars={'ansible_host': 'x'}) }}"`, "sets ansible_host"),
	"template_vars, job's":       tmpl("{% set hello_name = '{' ~ '{' %}{{ lookup('template', 'hello.j2', template_vars={'hello_y': hello_name}) }}", "a variable of the job"),
	"lookup with a value":        vars(`hello_x: "{{ lookup('template', 'hello.j2', convert_data=hello_more) }}"`, "something else than true or false"),

	// Methods that are not called, but handed on
	"method, uncalled":    vars(`hello_x: "{{ 'abc' | regex_replace('b', '{0.re}'.format) }}"`, "without calling it"),
	"method by index":     vars(`hello_x: "{{ 'abc' | regex_replace('b', '{0.re}'['format']) }}"`, "something else"),
	"method by map":       vars(`hello_x: "{{ ['{0.re}'] | map(attribute='format') | list }}"`, "plain name"),
	"method by default":   vars(`hello_x: "{{ {'a': hello_file} | to_json(default='{0}'.format) }}"`, "argument default, which"),
	"method by parse_int": vars(`hello_x: "{{ '[1]' | from_json(parse_int='{0}'.format) }}"`, "argument parse_int"),
	"class for json":      vars(`hello_x: "{{ '[1]' | from_json(cls=hello_file) }}"`, "argument cls"),
	"method in a loop":    task("- ansible.builtin.ping:\n  loop: \"{{ hello_units.pop }}\"", "a variable of the job").line(3),
	"brackets":            tmpl("{{ "+strings.Repeat("(", 30)+"1"+strings.Repeat(")", 30)+" }}", "deep"),

	// Conditions
	"template in when":     task("- ansible.builtin.ping:\n  when: \"{{ hello_name }}\"", "evaluated once more").line(3),
	"statement in when":    task("- ansible.builtin.ping:\n  when: \"x %}{{ lookup('pipe', 'id') }}{% if x\"", "evaluated once more").line(3),
	"lookup in when":       task("- ansible.builtin.ping:\n  when: lookup('pipe', 'id') == 'x'", "when: uses a lookup").line(3),
	"lookup in until":      task("- ansible.builtin.ping:\n  until: [x, \"lookup('pipe', 'id')\"]", "until: uses a lookup").line(3),
	"class in failed_when": task("- ansible.builtin.ping:\n  failed_when: x.__class__", "keeps private").line(3),
	"in changed_when":      task("- ansible.builtin.ping:\n  changed_when: q('pipe', 'id')", "calls q").line(3),
	"in assert":            task("- ansible.builtin.assert:\n    that: [\"lookup('pipe', 'id')\"]", "that: uses a lookup").line(3),
	"template in assert":   task("- ansible.builtin.assert:\n    that: \"{{ x }}\"", "evaluated once more").line(3),
	"when of a role":       {"playbook.yml", "---\n- hosts: all\n  roles:\n    - role: hello\n      when: lookup('pipe', 'id')\n", "playbook.yml:5", "uses a lookup"},
	"loop of a template":   task("- ansible.builtin.ping:\n  loop: \"{{ hello_ids }}\"", "a variable of the job").line(3),
	"loop of templates":    task("- ansible.builtin.ping:\n  loop: [\"{{ hello_ids }}\"]", "evaluated once more").line(3),
	"loop of private":      task("- ansible.builtin.ping:\n  loop: \"{{ hello_units.__class__ }}\"", "a variable of the job").line(3),
	"loop into the job's":  task("- ansible.builtin.ping:\n  loop: [1]\n  loop_control: {loop_var: hello_units}", "variable of the job").line(4),

	// The contract
	"entry missing":      {"playbook.yml", "", "playbook.yml", "is empty"},
	"entry without role": {"playbook.yml", "---\n- hosts: all\n  tasks: []\n", "playbook.yml", "does not use the role hello"},
	"entry point":        {"playbook.yml", "---\n- hosts: all\n  tasks:\n    - ansible.builtin.import_role: {name: hello, tasks_from: more}\n", "roles/hello/meta/argument_specs.yml", "no arguments of more"},
	"variable not taken": spec("hello_name: {type: str}\n      hello_kind: {type: str}", "does not take hello_units"),
	"another type":       spec("hello_name: {type: int}\n      hello_kind: {type: str}\n      hello_units: {type: list, elements: dict}", "takes hello_name as int; the job gives str"),
	"other elements":     spec("hello_name: {}\n      hello_kind: {type: str}\n      hello_units: {type: list, elements: str}", "elements of hello_units as str"),
	"required and more":  spec("hello_name: {}\n      hello_kind: {}\n      hello_units: {type: list, elements: dict}\n      hello_x: {required: true}", "requires hello_x"),
	"choices":            spec("hello_name: {}\n      hello_kind: {choices: [small]}\n      hello_units: {type: list, elements: dict}", "value large of hello_kind"),
	"choices of any":     spec("hello_name: {choices: [a]}\n      hello_kind: {}\n      hello_units: {type: list, elements: dict}", "the job may give any"),
	"field not taken":    spec("hello_name: {}\n      hello_kind: {}\n      hello_units: {type: list, elements: dict, options: {id: {type: str}}}", "does not take hello_units.size"),
	"field of spec":      spec("hello_name: {aliases: [x]}", "no part of an option"),
	"mutually exclusive": {"roles/hello/meta/argument_specs.yml", "---\nargument_specs:\n  main:\n    mutually_exclusive: [[a, b]]\n", "roles/hello/meta/argument_specs.yml:4", "no part of an argument spec"},
}

func (r refusal) line(n int) refusal {
	r.place = place(r.file, n)
	return r
}

func spec(options, why string) refusal {
	const file = "roles/hello/meta/argument_specs.yml"
	r := refusal{file, "---\nargument_specs:\n  main:\n    options:\n      " + options + "\n", file, why}
	if strings.Contains(options, "aliases") {
		r.place = file + ":5"
	}
	return r
}

func laughs() string {
	var b strings.Builder
	b.WriteString("---\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 8 {
		n, p := string(rune('1'+i)), string(rune('0'+i))
		b.WriteString("a" + n + ": &a" + n + " [" + strings.Repeat("*a"+p+", ", 9) + "*a" + p + "]\n")
	}
	return b.String()
}

func TestGateRefuses(t *testing.T) {
	t.Parallel()
	for name, r := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := good()
			files[r.file] = []byte(r.text)
			told := faults(t, Gate(t.Context(), testJudge, files, hello))
			found := slices.ContainsFunc(told, func(f domain.FieldError) bool { return f.Field == r.place && strings.Contains(f.Problem, r.why) })
			if !found {
				t.Errorf("nothing about %q at %s in\n%v", r.why, r.place, told)
			}
		})
	}
}
