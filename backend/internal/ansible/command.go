package ansible

import (
	"embed"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apenella/go-ansible/v2/pkg/playbook"
)

//go:embed callback/kloigos_events.py
var callbackFiles embed.FS

const (
	callbackName = "kloigos_events"
	// remoteTemp is on the host, in the home of whoever runs the module. It carries our name, so that it can be told
	// from what others have there.
	remoteTemp = "~/.kloigos/tmp"
	// systemPath is where ssh and python3 are looked for.
	systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

	keyFilePrefix   = "key-"
	varsFile        = "vars.json"
	connectionFile  = "connection.json"
	inventoryFile   = "inventory.json"
	knownHostsFile  = "known_hosts"
	redactFile      = "redact.json"
	configFile      = "ansible.cfg"
	bundleDirectory = "bundle"
)

// commandLine lets go-ansible build the command. Only names of files and plain switches go into it: arguments can be
// read by every user of the machine.
func (c *Config) commandLine(p *Play, dir *runDir) ([]string, error) {
	cmd := playbook.NewAnsiblePlaybookCmd(
		playbook.WithBinary(c.AnsibleBin),
		playbook.WithPlaybooks(filepath.Join(dir.file(bundleDirectory), p.playbook())),
		playbook.WithPlaybookOptions(&playbook.AnsiblePlaybookOptions{
			Check:     p.Check,
			Diff:      p.Diff,
			Forks:     strconv.Itoa(c.forks(len(p.Hosts))),
			Inventory: dir.file(inventoryFile),
			// The later file wins.
			ExtraVarsFile: []string{"@" + dir.file(varsFile), "@" + dir.file(connectionFile)},
			VerboseV:      p.Verbosity == 1,
			VerboseVV:     p.Verbosity == 2,
			VerboseVVV:    p.Verbosity == 3,
		}),
	)
	argv, err := cmd.Command()
	if err != nil {
		return nil, fmt.Errorf("build command: %w", err)
	}
	return argv, nil
}

// forks is how many of so many hosts are worked on at a time.
func (c *Config) forks(hosts int) int {
	n := min(c.Forks, hosts)
	if n > 1 && c.ForksFit != nil {
		n = min(n, 1+c.ForksFit())
	}
	return n
}

// environment is all that Ansible and ssh get: nothing of the backend's own, which holds secrets of the service.
func (c *Config) environment(dir *runDir) []string {
	bundle := dir.file(bundleDirectory)
	env := []string{
		markName + "=" + dir.path,
		"PATH=" + systemPath,
		"HOME=" + dir.path,
		"TMPDIR=" + dir.file("tmp"),
		"LANG=C.UTF-8",
		"LC_ALL=C.UTF-8",
		"PYTHONDONTWRITEBYTECODE=1",
		"KLOIGOS_EVENTS_FD=" + strconv.Itoa(ansibleEventsFD),
		"KLOIGOS_REDACT_FILE=" + dir.file(redactFile),
	}
	for _, setting := range [][2]string{
		// Our own empty file: else one in the current directory, in the home or in /etc would be read.
		{"CONFIG", dir.file(configFile)},
		{"HOME", dir.file("ansible")},
		{"LOCAL_TEMP", dir.file("tmp")},
		{"REMOTE_TMP", remoteTemp},
		{"ROLES_PATH", filepath.Join(bundle, "roles")},
		{"LIBRARY", filepath.Join(bundle, "library")},
		{"MODULE_UTILS", filepath.Join(bundle, "module_utils")},
		{"CALLBACK_PLUGINS", dir.file("callback")},
		{"STDOUT_CALLBACK", callbackName},
		{"INVENTORY_ENABLED", "yaml"},
		{"INVENTORY_UNPARSED_FAILED", "true"},
		{"HOST_PATTERN_MISMATCH", "error"},
		{"GATHERING", "explicit"},
		// A fact comes from the host; it is looked up as ansible_facts.x and never poses as a variable of its own.
		{"INJECT_FACT_VARS", "false"},
		// Native types would turn the string "1" that a user gave into a number; the classic way leaves it a string.
		{"JINJA2_NATIVE", "false"},
		{"HOST_KEY_CHECKING", "true"},
		{"PIPELINING", "true"},
		{"SSH_PIPELINING", "true"},
		{"SSH_ARGS", c.sshArgs(dir)},
		{"SSH_TRANSFER_METHOD", "piped"},
		{"TIMEOUT", strconv.Itoa(int(c.ConnectTimeout.Seconds()))},
		{"NOCOLOR", "true"},
		{"NOCOWS", "true"},
		{"RETRY_FILES_ENABLED", "false"},
		{"DEPRECATION_WARNINGS", "false"},
		{"LOCALHOST_WARNING", "false"},
	} {
		env = append(env, "ANSIBLE_"+setting[0]+"="+setting[1])
	}
	return env
}

// sshArgs leaves nothing to the configuration files of the machine or the user.
func (c *Config) sshArgs(dir *runDir) string {
	options := []string{
		"StrictHostKeyChecking=yes",
		"UserKnownHostsFile=" + dir.file(knownHostsFile),
		"GlobalKnownHostsFile=/dev/null",
		"UpdateHostKeys=no",
		"VerifyHostKeyDNS=no",
		"CheckHostIP=no",
		"CanonicalizeHostname=no",
		"BatchMode=yes",
		"PreferredAuthentications=publickey",
		"PasswordAuthentication=no",
		"KbdInteractiveAuthentication=no",
		"IdentitiesOnly=yes",
		"IdentityAgent=none",
		"AddKeysToAgent=no",
		"ForwardAgent=no",
		"ForwardX11=no",
		"ClearAllForwardings=yes",
		"PermitLocalCommand=no",
		"ProxyCommand=none",
		"EscapeChar=none",
		"LogLevel=ERROR",
		// A connection that is cut without a word is noticed after 15 s.
		"ServerAliveInterval=5",
		"ServerAliveCountMax=3",
		// In the run's directory, and ended with the run by the supervisor.
		"ControlMaster=auto",
		"ControlPersist=600s",
		"ControlPath=" + dir.file("%C"),
	}
	return "-F none -o " + strings.Join(options, " -o ")
}
