package httpapi

import (
	"math"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
)

// describe completes the document once all routes are in it: what a name means
// wherever it stands, which values a field can have, how large a number can be,
// and an example of each body. A request's own bounds stand at its types, since
// requests are checked by them.
func describe(s *Server) {
	doc := s.api.OpenAPI()
	doc.Servers = []*huma.Server{{URL: "/", Description: "The origin that this document came from"}}
	for name, schema := range doc.Components.Schemas.Map() {
		for field, p := range schema.Properties {
			if p.Description == "" {
				p.Description = meanings[field]
			}
			if values := enums(s)[name+"."+field]; len(values) > 0 && len(p.Enum) == 0 {
				p.Enum = anyOf(values)
			}
			bounded(p)
		}
	}
	for _, r := range api.Routes {
		op := operationOf(doc.Paths[api.Prefix+r.Path], r.Method)
		for _, p := range op.Parameters {
			if p.Description == "" {
				p.Description = meanings[p.Name]
			}
			if values := enums(s)[r.ID+" "+p.Name]; len(values) > 0 {
				p.Schema.Enum, p.Schema.MaxLength = anyOf(values), nil
				p.Schema.PrecomputeMessages()
			}
		}
		if op.RequestBody == nil {
			continue
		}
		if body := op.RequestBody.Content["application/json"]; body != nil {
			body.Example = examples[r.ID]
			if example, ok := op.Metadata["example"]; ok {
				body.Example = example
			}
		}
	}
}

func operationOf(p *huma.PathItem, method string) *huma.Operation {
	return map[string]*huma.Operation{"GET": p.Get, "POST": p.Post, "PUT": p.Put, "PATCH": p.Patch, "DELETE": p.Delete}[method]
}

// bounded gives a number of an answer the bounds of its type. None is negative,
// but for a priority.
func bounded(s *huma.Schema) {
	if s.Type != huma.TypeInteger {
		return
	}
	least, most := 0.0, float64(maxSequence)
	if s.Format == "int32" {
		most = math.MaxInt32
	}
	if s.Minimum == nil {
		s.Minimum = &least
	}
	if s.Maximum == nil {
		s.Maximum = &most
	}
}

func anyOf(values []string) (out []any) {
	for _, v := range values {
		out = append(out, v)
	}
	return out
}

// enums are the values of fields ("Schema.field") and of query parameters
// ("operation parameter") that have a closed set of them.
func enums(s *Server) map[string][]string {
	hosts, units, allocations := domain.HostLifecycle.Names(), domain.UnitLifecycle.Names(), domain.AllocationLifecycle.Names()
	jobs, addresses, plans := domain.JobLifecycle.Names(), domain.AddressLifecycle.Names(), domain.PlanLifecycle.Names()
	logKinds := []string{"play_started", "task_started", "ok", "changed", "skipped", "failed", "unreachable", "ignored", "output", "finished", "note"}
	return map[string][]string{
		"Host.state": hosts, "CapacityHost.state": hosts, "ComputeUnit.host_state": hosts, "list-hosts state": hosts,
		"CapacityHost.health": {"unknown", "healthy", "degraded", "unreachable"},
		"ComputeUnit.state":   units, "list-compute-units state": units,
		"Allocation.state": allocations, "list-allocations state": append(slices.Clone(allocations), "live"),
		"Address.state": addresses, "list-addresses state": addresses,
		"Job.state": jobs, "list-jobs state": append(slices.Clone(jobs), "active", "ended"),
		"Job.kind": jobHandlers{s}.jobKinds(), "Plan.kind": jobHandlers{s}.jobKinds(), "list-jobs kind": jobHandlers{s}.jobKinds(),
		"list-plans state": append(slices.Clone(plans), "expired"),
		"LogEntry.kind":    logKinds, "LogResult.kind": {"ok", "changed", "skipped", "failed", "unreachable", "ignored"},
		"Whoami.role": {"administrator", "account"}, "Wipe.method": {"discard", "discard+zero", "zero"},
		"Removed.kind": {"crontab", "at", "mail", "linger", "journal", "ipc", "core_dump", "subordinate_ids", "file"},
	}
}

// meanings describes names that mean the same wherever they stand.
var meanings = map[string]string{
	"account": "name of the account", "account_id": "id of the account", "action": "what is done", "active_job": "id of the job at work", "actor_kind": "who acted: an account, a backend, a policy or the first start",
	"added": "lines that were added", "address": "IP address", "addresses": "single addresses and ranges", "after": "value after the change", "against": "the version that it is compared with",
	"allocation_id": "id of the allocation", "allowed": "it can be done now", "apparmor": "AppArmor is enabled", "architecture": "of its CPUs, as uname tells", "at": "when it happened", "attempt": "number of the attempt, from 1",
	"backends": "every backend process that is known", "before": "value before the change", "cancelling": "jobs that are being cancelled", "capabilities": "what it can do", "cgroup2": "it has the unified cgroup hierarchy",
	"change": "how many things would change, or how it differs", "changed": "it changed something on the host", "checked_at": "when the check ended", "core": "number of the core within its socket", "cpu": "number of the logical CPU", "cpu_count": "number of CPUs",
	"cpus": "set of CPUs, such as 0-3,8", "cpuset": "cgroups can be given CPUs of their own", "create": "how many things would be made", "created_at": "when it was made", "created_by": "name of the account that made it",
	"decoded_bytes": "size of its files together", "default": "new jobs are bound to it", "description": "what it does", "device": "path of the device", "devices": "disks, by-id", "diff": "difference, unified", "discard": "it takes discards",
	"disk_used_bytes": "used on its volume", "duration_ms": "how long it took, in milliseconds", "ended_at": "when it ended", "expires_at": "when it stops being valid", "facts_at": "when its facts were read", "failures": "attempts that failed",
	"fence_number": "with the incarnation, the token of who may change the host", "files": "number of its files", "findings": "what was found", "finished_at": "when it ended", "free_bytes": "bytes that are free", "gateway": "address of the default gateway",
	"health": "what was last seen of it", "health_at": "when that was seen", "health_message": "why it is not healthy; else empty", "host": "name of the host", "host_id": "id of the host", "host_labels": "labels of the host", "host_state": "state of its host",
	"hostname": "its own name for itself", "id": "id of the object", "interface": "name of the interface", "items": "what was found, in order", "job_id": "id of the job", "kernel": "release of its kernel", "kind": "what kind it is",
	"kind_means": "the kind in a sentence", "labels": "labels, key to value", "last_used_at": "when it was last used, to within a minute", "layout": "how it is cut into units", "leftovers_more": "leftovers that are not listed", "line": "number of the line",
	"lines_added": "lines that were added", "lines_removed": "lines that were removed", "login_user": "name under which the tenant logs in", "lvm": "it has the tools of LVM", "machine_id": "of /etc/machine-id", "max_attempts": "attempts that it has at most",
	"measured_at": "when it was measured", "memory_bytes": "memory in bytes", "memory_high_bytes": "from here on the kernel slows the unit down to take memory back", "memory_max_bytes": "memory that the unit can have at most", "memory_nodes": "set of NUMA nodes whose memory it uses",
	"message": "what happened, in a sentence", "model": "model of the disk", "mounted": "a file system of it is mounted", "name": "name of the object", "network": "name of the network of addresses", "nftables": "it has nftables", "node": "number of the NUMA node",
	"nodes": "NUMA nodes", "note": "remark", "object_id": "id of the object", "object_kind": "noun of the object: host, unit, allocation and so on", "operations": "what can be done with it now, and what prevents the rest", "ordinal": "its number on the host, from 1",
	"os": "its operating system", "partitions": "number of its partitions", "password": "password of the account", "path": "path of the file", "paused_at": "when it was paused", "paused_by": "name of the account that paused it",
	"permissions": "what the role may do", "play": "name of the play", "playbook": "name of the playbook", "playbook_version": "version of the playbook", "port": "port of SSH", "position": "its place among the steps, from 0", "prefix": "length of the network's prefix",
	"priority": "the lower, the sooner it is begun", "profile": "which packages tenants find", "purpose": "what the host is for", "python": "version of its Python", "read_only": "it can't be written", "reason": "why it is so", "region": "region of the host",
	"remove": "how many things would be removed", "removed": "lines that were removed", "request_id": "id of the request, as in the backend's log", "requested_by": "name of who asked for it", "role": "name of the role", "roles": "what it does: api, worker",
	"rotational": "it is a spinning disk", "rule": "rule of ansible-lint", "running": "jobs at work", "seen_at": "when it was last seen", "serial": "serial number of the disk", "severity": "how grave ansible-lint finds it", "size_bytes": "size in bytes",
	"socket": "number of the socket", "ssh_host": "name or address that SSH connects to", "ssh_keys": "public SSH keys of the tenant", "ssh_port": "port that SSH connects to", "started_at": "when it began", "state": "where it stands in its lifecycle",
	"state_means": "the state in a sentence", "step": "name of the step", "steps": "its steps, in order", "system_cpus": "set of CPUs that the system keeps", "system_memory_bytes": "memory that the system keeps", "systemd": "version of its systemd",
	"task": "name of Ansible's task", "tasks_max": "processes and threads at most", "time": "when it happened", "token_id": "id of the token", "token_kind": "a session or an API token", "uid": "UID and GID of the tenant", "unit_id": "id of the unit", "unit": "name of the unit",
	"units": "compute units", "updated_at": "when it last changed", "uplink": "its interface with the default route", "version": "number of the version", "version_id": "release of the operating system", "volume_bytes": "size of the volume in bytes", "volume_group": "name of the LVM volume group",
	"volume_groups": "LVM volume groups", "wiped_at": "when it was last wiped", "workspace": "id of its workspace", "zone": "zone of the host", "detail": "what happened, in a sentence", "status": "status of HTTP", "title": "the status in words", "type": "URI of the code",
	"code": "stable, for programs", "errors": "one entry for each bad field", "instance": "id of the request, as in the backend's log", "field": "path of the field", "filter": "condition of the request", "why": "reason, in a sentence",
}

// examples are bodies that the API takes.
var examples = map[string]any{
	"create-session":          api.Login{Account: "admin", Password: "correct horse battery staple"},
	"create-token":            api.CreateToken{Name: "ci runner", Days: 90},
	"register-host":           api.RegisterHost{Name: "fra1-042", Address: "192.0.2.42", AdminUser: "admin", Region: "fra", Zone: "fra1", Labels: map[string]string{"rack": "r7"}},
	"update-host":             api.UpdateHost{Zone: ref("fra2"), Labels: &map[string]string{"rack": "r8"}},
	"probe-hosts":             api.ProbeHosts{Hosts: []string{"fra1-042", "fra1-043"}},
	"confirm-host-key":        api.ConfirmHostKey{Fingerprint: "SHA256:" + strings.Repeat("A", 43)},
	"set-layout":              api.SetLayout{Count: 4, CPUsEach: 2, Devices: []string{"/dev/disk/by-id/nvme-disk0"}},
	"preview-layout":          api.SetLayout{Units: []api.SetUnit{{CPUs: "2-5"}, {CPUs: "6,7", VolumeBytes: 20 << 30}}, Devices: []string{"/dev/disk/by-id/nvme-disk0"}},
	"relayout-host":           api.SetLayout{Units: []api.SetUnit{{CPUs: "4-7"}}},
	"declare-host-lost":       api.DeclareLost{Confirm: "fra1-042"},
	"create-allocation":       api.CreateAllocation{CPUs: 2, Zone: "fra1", SSHKeys: []string{exampleKey}, Labels: map[string]string{"team": "web"}},
	"approve-plan":            api.DecidePlan{Reason: "the rack is empty"},
	"refuse-plan":             api.DecidePlan{Reason: "wrong host"},
	"cascade-organization":    api.Cascade{Confirm: "acme"},
	"cascade-project":         api.Cascade{Confirm: "web"},
	"cascade-workspace":       api.Cascade{Confirm: "live"},
	"replace-allocation-keys": api.ReplaceKeys{SSHKeys: []string{exampleKey}},
	"deallocate":              api.Deallocate{Confirm: "alice"},
	"add-addresses":           api.AddAddresses{Network: "default", Addresses: []api.AddRange{{Range: "198.51.100.10-198.51.100.20"}}},
	"upload-playbook":         api.UploadPlaybook{Base: 3, Files: map[string]*string{"roles/unit/tasks/main.yml": ref("- name: Greet\n  ansible.builtin.debug:\n    msg: hello\n")}, Note: "greet the tenant"},
	"retry-job":               api.RetryJob{Playbook: "default"},
	"pause-queue":             api.PauseQueue{Reason: "new switches in fra1"},
	"pause-policy":            api.PausePolicy{Reason: "the name server is being replaced"},
	"resume-policy":           api.OfObject{},
	"run-policy":              api.OfObject{},
	"pause-object":            api.PauseObject{ObjectID: "6d1f3f6e-7c0b-4d5a-9a55-0f1f7a3f2c11", Reason: "repair in progress"},
	"resume-object":           api.ThisObject{ObjectID: "6d1f3f6e-7c0b-4d5a-9a55-0f1f7a3f2c11"},
}

const exampleKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExampleEx alice@laptop"

func ref[T any](v T) *T { return &v }
