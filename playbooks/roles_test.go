package playbooks

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

var names = []string{"host_probe", "host_measure", "host_initialize", "unit_allocate", "unit_deallocate", "host_decommission", "host_admin_key", "kube_prepare", "kubeadm_init", "kubeadm_join", "kubeadm_reset", "kube_etcd", "kubeadm_upgrade", "kubeadm_certs"}

// What goes around the fence or makes a check mean nothing.
var banned = regexp.MustCompile(`^(ansible\.(builtin|legacy|posix)\.)?(raw|script|shell|command|reboot|synchronize|patch|win_\w+)$`)

type task map[string]any

// use is what the tasks of some files use of ours.
type use struct {
	modules, roles map[string]string // name to the file that names it
}

func tasksOf(t *testing.T, file string) []task {
	t.Helper()
	text, err := Files.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var tasks []task
	if err := yaml.Unmarshal(text, &tasks); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return tasks
}

func (u use) look(t *testing.T, file string, tasks []task) {
	t.Helper()
	for _, one := range tasks {
		for key, value := range one {
			switch {
			case banned.MatchString(key):
				t.Errorf("%s uses %s", file, key)
			case strings.HasPrefix(key, "kloigos_"):
				u.modules[key] = file
			case strings.HasSuffix(key, "_role"):
				name, _ := value.(map[string]any)["name"].(string)
				u.roles[name] = file
			case key == "roles":
				for _, role := range value.([]any) {
					name, _ := role.(map[string]any)["role"].(string)
					u.roles[name] = file
				}
			case slices.Contains([]string{"block", "rescue", "always", "tasks", "pre_tasks", "post_tasks", "handlers"}, key):
				u.look(t, file, nested(value))
			}
			if variables, ok := value.(map[string]any); ok && (key == "vars" || strings.HasSuffix(key, "set_fact")) {
				for name := range variables {
					if strings.HasPrefix(name, "ansible_") {
						t.Errorf("%s sets %s", file, name)
					}
				}
			}
		}
	}
}

func nested(value any) []task {
	var tasks []task
	for _, one := range value.([]any) {
		tasks = append(tasks, one.(map[string]any))
	}
	return tasks
}

// A bundle names exactly what its playbook needs: what is missing would fail on a host, what is too much changes the
// bundle's checksum for nothing.
func TestBundlesNameWhatTheirPlaybooksUse(t *testing.T) {
	t.Parallel()
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := Files.ReadFile(name + "/bundle.yml")
			if err != nil {
				t.Fatal(err)
			}
			var bundle struct{ Roles, Modules []string }
			if err := yaml.Unmarshal(text, &bundle); err != nil {
				t.Fatal(err)
			}
			used := use{modules: map[string]string{}, roles: map[string]string{}}
			plays, err := fs.Glob(Files, name+"/*.yml")
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range plays {
				if path.Base(file) != "bundle.yml" {
					used.look(t, file, tasksOf(t, file))
				}
			}
			for _, role := range bundle.Roles {
				files, err := fs.Glob(Files, "roles/"+role+"/tasks/*.yml")
				if err != nil || len(files) == 0 {
					t.Errorf("the bundle names the role %s, which is not there", role)
				}
				for _, file := range files {
					used.look(t, file, tasksOf(t, file))
				}
				if _, err := fs.Stat(Files, "roles/"+role+"/meta/argument_specs.yml"); err != nil {
					t.Errorf("role %s declares no arguments", role)
				}
			}
			for role, file := range used.roles {
				if !slices.Contains(bundle.Roles, role) {
					t.Errorf("%s uses the role %s, which the bundle does not name", file, role)
				}
			}
			for _, role := range bundle.Roles {
				if used.roles[role] == "" {
					t.Errorf("the bundle names the role %s, which nothing uses", role)
				}
			}
			for module, file := range used.modules {
				if !slices.Contains(bundle.Modules, module) {
					t.Errorf("%s uses %s, which the bundle does not name", file, module)
				}
			}
			for _, module := range bundle.Modules {
				if _, err := fs.Stat(Files, "library/"+module+".py"); err != nil {
					t.Errorf("the bundle names %s, which is not there", module)
				}
				if used.modules[module] == "" {
					t.Errorf("the bundle names %s, which nothing uses", module)
				}
			}
		})
	}
}

// Packages install the same units as the play.
func TestTheAgentsUnitsAreThoseOfItsFolder(t *testing.T) {
	t.Parallel()
	units, err := fs.ReadDir(Files, "roles/host_agent/files")
	if err != nil || len(units) == 0 {
		t.Fatal(err)
	}
	for _, u := range units {
		brought, err := Files.ReadFile("roles/host_agent/files/" + u.Name())
		if err != nil {
			t.Fatal(err)
		}
		packaged, err := os.ReadFile("../agent/systemd/" + u.Name())
		if err != nil || string(brought) != string(packaged) {
			t.Errorf("agent/systemd/%s is another file than that of the role: %v", u.Name(), err)
		}
	}
}
