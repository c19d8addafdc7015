package ansible

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"
)

// fencePath is the wrapper that the bootstrap step puts on every host (docs/host-contract.md).
const fencePath = "/usr/local/lib/kloigos/fence-python"

// connection holds what Ansible needs to reach one host. All of it is made of validated parts: Ansible evaluates
// templates in these values and splits them at spaces.
func (h *Host) connection(fence, keyFile string) map[string]any {
	python := "/usr/bin/python3"
	if h.Fence != nil {
		python = fmt.Sprintf("%s %s %d %s", fence, h.Fence.Incarnation, h.Fence.Number, h.Fence.Run)
	}
	vars := map[string]any{
		"ansible_host":                 h.Address,
		"ansible_port":                 h.port(),
		"ansible_user":                 h.User,
		"ansible_python_interpreter":   python,
		"ansible_ssh_private_key_file": keyFile,
		"ansible_ssh_common_args":      "-o HostKeyAlgorithms=" + strings.Join(h.hostKeyAlgorithms(), ","),
	}
	if h.Fence != nil {
		// Ansible looks for the interpreter by the name in a module's first line. A module that says python3 would
		// go around the fence, and one that says env fails rather than that.
		vars["ansible_python3_interpreter"] = python
		vars["ansible_env_interpreter"] = python
	}
	return vars
}

// fixedConnection goes into the extra variables, which nothing can override: neither a keyword of the play nor a host
// whose answer poses as one of add_host. So no module ever runs on the controller.
func fixedConnection(hosts []Host, fence string, keyFiles []string, sshArgs string) map[string]any {
	vars := map[string]any{
		"ansible_connection":            "ssh",
		"ansible_shell_type":            "sh",
		"ansible_shell_executable":      "/bin/sh",
		"ansible_remote_tmp":            remoteTemp,
		"ansible_ssh_args":              sshArgs,
		"ansible_ssh_extra_args":        "",
		"ansible_ssh_executable":        "ssh",
		"ansible_sftp_executable":       "sftp",
		"ansible_sftp_extra_args":       "",
		"ansible_scp_executable":        "scp",
		"ansible_scp_extra_args":        "",
		"ansible_ssh_transfer_method":   "piped",
		"ansible_ssh_pipelining":        true,
		"ansible_ssh_host_key_checking": true,
		"ansible_become_method":         "ansible.builtin.sudo",
		"ansible_become_exe":            "sudo",
		"ansible_become_flags":          "-H -S -n",
	}
	if len(hosts) == 1 {
		for key, value := range hosts[0].connection(fence, keyFiles[0]) {
			vars[key] = value
		}
		return vars
	}
	// Of several hosts each has its own values: what is fixed is where they are looked up, by the name that Ansible gives
	// to the host, and a host that is not among them can't be reached at all.
	byHost, count := map[string]any{}, map[string]int{}
	for i := range hosts {
		values := hosts[i].connection(fence, keyFiles[i])
		byHost[hosts[i].Name] = values
		for key := range values {
			count[key]++
		}
	}
	vars[connectionVariable] = byHost
	for key, n := range count {
		if n == len(hosts) {
			vars[key] = "{{ " + connectionVariable + "[inventory_hostname]['" + key + "'] }}"
		}
	}
	return vars
}

// connectionVariable holds the connection of each host, where there are several. No variable of a job begins so.
const connectionVariable = "ansible_kloigos_connections"

// inventory is read by Ansible's yaml plugin, the only one that is enabled; JSON is YAML.
func inventory(hosts []Host, fence string, keyFiles []string) ([]byte, error) {
	entries := map[string]any{}
	for i := range hosts {
		entries[hosts[i].Name] = hosts[i].connection(fence, keyFiles[i])
	}
	return json.Marshal(map[string]any{"all": map[string]any{"hosts": entries}})
}

// knownHosts is the only file that ssh looks at for host keys. Validate has accepted every line.
func knownHosts(hosts []Host) ([]byte, error) {
	var buf bytes.Buffer
	for i := range hosts {
		name := hosts[i].Address
		if hosts[i].port() != 22 {
			name = "[" + name + "]:" + strconv.Itoa(hosts[i].port())
		}
		for _, line := range hosts[i].HostKeys {
			key, err := parseHostKey(line)
			if err != nil {
				return nil, fmt.Errorf("host %s: %w", hosts[i].Name, err)
			}
			fmt.Fprintf(&buf, "%s %s", strings.ToLower(name), ssh.MarshalAuthorizedKey(key))
		}
	}
	return buf.Bytes(), nil
}

// hostKeyAlgorithms restricts what the host may prove itself with to the types that are known, so that a host with
// several keys does not show one that nobody has confirmed.
func (h *Host) hostKeyAlgorithms() []string {
	var algorithms []string
	for _, line := range h.HostKeys {
		key, err := parseHostKey(line)
		if err != nil {
			continue
		}
		for _, a := range keyAlgorithms[key.Type()] {
			if !slices.Contains(algorithms, a) {
				algorithms = append(algorithms, a)
			}
		}
	}
	return algorithms
}
