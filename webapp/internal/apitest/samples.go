package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"kloigos/backend/api"
)

// Ids of the samples.
const (
	HostID       = "5d3f1c1e-0000-4000-8000-000000000001"
	UnitID       = "5d3f1c1e-0000-4000-8000-000000000002"
	AllocationID = "5d3f1c1e-0000-4000-8000-000000000003"
	JobID        = "5d3f1c1e-0000-4000-8000-000000000004"
	AddressID    = "5d3f1c1e-0000-4000-8000-000000000005"
	TokenID      = "5d3f1c1e-0000-4000-8000-000000000006"
	PlanID       = "5d3f1c1e-0000-4000-8000-000000000007"
)

// Key is an SSH public key.
const Key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJu0t3Zk0cXSAMPLEsampleSAMPLEsampleSAMPLEsamp kloigos"

func ago(d time.Duration) time.Time { return Now.Add(-d) }

func timeAgo(d time.Duration) *time.Time {
	t := ago(d)
	return &t
}

// Facts are those of a host with two sockets of four CPUs.
func Facts() *api.HostFacts {
	f := &api.HostFacts{
		MachineID: "3f9d1c5a7b2e4d608f1a2b3c4d5e6f70", Hostname: "h1", Kernel: "6.1.0-28-amd64", Architecture: "x86_64",
		OS: api.HostOS{ID: "debian", VersionID: "12", Name: "Debian GNU/Linux 12 (bookworm)"}, MemoryBytes: 8 << 30,
		Uplink:       api.HostUplink{Interface: "ens3", Address: "10.0.2.15", Prefix: 24, Gateway: "10.0.2.2"},
		Capabilities: api.HostCapabilities{CGroup2: true, CPUSet: true, AppArmor: true, NFTables: true, LVM: true, Systemd: "252", Python: "3.11.2"},
		Devices: []api.HostDevice{
			{Path: "/dev/vda", ByID: "/dev/disk/by-id/virtio-root", SizeBytes: 20 << 30, Signatures: []string{"gpt"}, Partitions: 2, Mounted: true},
			{Path: "/dev/vdb", ByID: "/dev/disk/by-id/virtio-kloigos0", SizeBytes: 64 << 30, Discard: true, Model: "QEMU disk", Signatures: []string{}},
		},
	}
	for n := range 2 {
		f.Nodes = append(f.Nodes, api.HostNode{Node: n, CPUs: fmt.Sprintf("%d-%d", n*4, n*4+3), MemoryBytes: 4 << 30})
	}
	for c := range 8 {
		f.CPUs = append(f.CPUs, api.HostCPU{CPU: c, Node: c / 4, Socket: c / 4, Core: c % 4})
	}
	return f
}

// Layout is one of three units.
func Layout() *api.Layout {
	l := &api.Layout{SystemCPUs: "0", VolumeGroup: "kloigos-vg", Devices: []string{"/dev/disk/by-id/virtio-kloigos0"}, SystemMemoryBytes: 512 << 20, VolumeSpaceBytes: 63 << 30}
	for i, cpus := range []string{"1-3", "4-5", "6-7"} {
		n := 3 - min(i, 1)
		node := "0"
		if i > 0 {
			node = "1"
		}
		l.Units = append(l.Units, api.LayoutUnit{CPUs: cpus, CPUCount: n, MemoryNodes: node, MemoryMaxBytes: int64(n) << 30, MemoryHighBytes: int64(n) << 30 / 100 * 95, VolumeBytes: int64(n) * 9 << 30, TasksMax: 2048})
	}
	return l
}

func op(name string, prevents string) api.Operation {
	return api.Operation{Name: name, Allowed: prevents == "", Prevents: prevents}
}

// Host is a host that is ready.
func Host() api.Host {
	return api.Host{
		ID: HostID, Name: "h1", Address: "192.0.2.10", Port: 22, AdminUser: "admin", Region: "north", Zone: "a", Networks: []string{"default"},
		Labels: map[string]string{"rack": "b2", "disk": "nvme"}, Profile: "minimal", Purpose: "units", State: "ready", StateMeans: "its free units are available",
		Health: "healthy", HealthMessage: "the last job reached it", HealthAt: timeAgo(2 * time.Minute), HostKey: Key, Fingerprint: "SHA256:0ZxkqQnZkqZk3zE1rXk3HSxYHxqXGqLrJv5b5l2J2hU",
		AuthorizedKey: Key, Facts: Facts(), FactsAt: timeAgo(time.Hour), Layout: Layout(), Units: map[string]int{"allocated": 1, "free": 1, "allocation_failed": 1},
		Operations: []api.Operation{
			op("probe", ""), op("probe-together", ""), op("measure", ""), op("confirm-host-key", "it offers no key that waits"), op("set-layout", "it has units that are in use"), op("relayout", ""), op("initialize", ""), op("drain", ""),
			op("undrain", "it is not draining"), op("decommission", "it has an allocation"), op("declare-lost", ""), op("remove", "it is ready; decommission it first"),
		},
		Version: 7, CreatedAt: ago(26 * time.Hour), UpdatedAt: ago(time.Hour), Conditions: []string{}, FenceIncarnation: "a3e1", FenceNumber: 4,
	}
}

// WaitingHost is a host whose key a person must confirm.
func WaitingHost() api.Host {
	h := Host()
	h.ID, h.Name, h.Address, h.State = "5d3f1c1e-0000-4000-8000-0000000000a1", "h2", "192.0.2.11", "awaiting_host_key"
	h.StateMeans = "compare the fingerprint of its SSH host key and confirm it"
	h.Health, h.HealthAt, h.Facts, h.FactsAt, h.Layout, h.HostKey, h.Fingerprint = "unknown", nil, nil, nil, nil, "", ""
	h.OfferedKey, h.OfferedPrint = Key, "SHA256:9aYk3zE1rXk3HSxYHxqXGqLrJv5b5l2J2hU0ZxkqQnZ"
	h.Units, h.Operations = map[string]int{}, []api.Operation{op("probe", ""), op("confirm-host-key", ""), op("set-layout", "it has not been probed"), op("remove", "")}
	return h
}

// ProbedHost is a host that has no layout yet.
func ProbedHost() api.Host {
	h := Host()
	h.ID, h.Name, h.Address, h.State = "5d3f1c1e-0000-4000-8000-0000000000a2", "h3", "192.0.2.12", "probed"
	h.StateMeans, h.Layout, h.Units = "its facts are known; set a layout, then initialize it", nil, map[string]int{}
	h.Operations = []api.Operation{op("probe", ""), op("set-layout", ""), op("initialize", "it has no layout"), op("decommission", "nothing of Kloigos is on it"), op("remove", "")}
	return h
}

// Unit is a unit in a state.
func Unit(ordinal int, state string) api.ComputeUnit {
	l := Layout().Units[(ordinal-1)%3]
	u := api.ComputeUnit{
		ID: UnitID, Name: fmt.Sprintf("h1-cu%02d", ordinal), HostID: HostID, Host: "h1", Region: "north", Zone: "a", HostState: "ready", Ordinal: ordinal,
		State: state, StateMeans: "what the state means", CPUs: l.CPUs, CPUCount: l.CPUCount, MemoryNodes: l.MemoryNodes, MemoryMaxBytes: l.MemoryMaxBytes,
		MemoryHighBytes: l.MemoryHighBytes, VolumeBytes: l.VolumeBytes, TasksMax: 2048, Mount: fmt.Sprintf("/mnt/kloigos/h1/cu%02d", ordinal),
		Version: 3, CreatedAt: ago(20 * time.Hour), UpdatedAt: ago(time.Hour),
	}
	if state == "allocated" || state == "allocation_failed" {
		u.AllocationID, u.LoginUser = AllocationID, "ada"
	}
	if state == "free" {
		u.Wipe, u.WipedAt = Wipe(), timeAgo(3*time.Hour)
	}
	return u
}

// Wipe is the evidence of one, of a tenant who named a file to hurt whoever reads it.
func Wipe() *api.Wipe {
	return &api.Wipe{
		JobID: JobID, AllocationID: AllocationID, LoginUser: "eve", UID: 200000, Method: "discard", Device: "/dev/kloigos-vg/cu02", Bytes: 19327352832,
		BytesReadBack: 66 << 20, Seconds: 1.4, FileSystem: "0f1e2d3c-0000-4000-8000-00000000abcd", WipedAt: ago(3 * time.Hour), RemovedMore: 3, Leftovers: []string{},
		Removed: []api.Removed{{Kind: "crontab", What: "/var/spool/cron/crontabs/eve"}, {Kind: "ipc", What: "ipc shm 7"}, {Kind: "file", What: "/opt/<script>alert(1)</script>"}},
	}
}

// Use is what the tenant of a unit used.
func Use() *api.Use {
	n := func(v int64) *int64 { return &v }
	return &api.Use{
		MeasuredAt: ago(12 * time.Second), CPUMillis: n(1260), MemoryBytes: n(2 << 30), CacheBytes: n(1 << 30), Processes: n(1900),
		DiskUsedBytes: n(26 << 30), DiskBytes: n(27 << 30),
	}
}

// Allocation is one that its user can log in to.
func Allocation() api.Allocation {
	return api.Allocation{
		ID: AllocationID, UnitID: UnitID, Unit: "h1-cu01", HostID: HostID, Host: "h1", Region: "north", Zone: "a", LoginUser: "ada", UID: 200001,
		Address: "10.0.2.101", Network: "default", SSHCommand: "ssh -p 2201 ada@203.0.113.9", SSHHost: "203.0.113.9", SSHPort: 2201, SSHKeys: []string{Key}, KeysApplied: true,
		Labels: map[string]string{"team": "web"}, State: "allocated", StateMeans: "its user can log in", CPUCount: 3, CPUs: "1-3", MemoryBytes: 3 << 30, VolumeBytes: 27 << 30, TasksMax: 2048,
		HostKey: Key, Operations: []api.Operation{op("replace-keys", ""), op("deallocate", "")}, CreatedBy: "admin", Version: 2, CreatedAt: ago(5 * time.Hour), UpdatedAt: ago(time.Hour),
	}
}

// Job is a job in a state.
func Job(kind, state string) api.Job {
	j := api.Job{
		ID: JobID, Kind: kind, KindMeans: "what a job of this kind does", State: state, StateMeans: "what the state means", HoldsHost: kind != "host_probe" && kind != "host_measure", HostID: HostID, Host: "h1", Priority: 10, Attempt: 1,
		MaxAttempts: 5, RunAfter: ago(10 * time.Minute), DeadlineAt: Now.Add(50 * time.Minute), Worker: "backend-1", Playbook: "host_initialize", Version: 1, RequestedBy: "admin",
		Operations: []api.Operation{op("retry", "it is "+state), op("cancel", ""), op("give-up", "it has not failed")}, CreatedAt: ago(10 * time.Minute), StartedAt: timeAgo(9 * time.Minute),
		Steps: []api.JobStep{
			{Position: 1, Name: "bootstrap", State: "succeeded", Attempt: 1, StartedAt: timeAgo(9 * time.Minute), FinishedAt: timeAgo(7 * time.Minute)},
			{Position: 2, Name: "initialize", State: "running", Attempt: 1, StartedAt: timeAgo(7 * time.Minute)},
		},
	}
	switch state {
	case "running":
		until := Now.Add(20 * time.Second)
		j.LeaseExpires = &until
	case "failed":
		j.FinishedAt, j.Steps[1].State, j.Failures = timeAgo(time.Minute), "failed", 1
		j.Error = &api.JobError{Code: "task_failed", Message: "mkfs.ext4: /dev/vdb is mounted; will not make a filesystem here!", Host: "h1", Task: "Make the volumes", NextStep: "Read the host's message, fix the cause on the host, then retry the job. Completed steps are not repeated."}
		j.Operations = []api.Operation{op("retry", ""), op("cancel", "it has ended"), op("give-up", "")}
	case "succeeded":
		j.FinishedAt, j.Steps[1].State, j.Outcome = timeAgo(time.Minute), "succeeded", "3 units are ready"
		j.Operations = []api.Operation{op("retry", "it has succeeded"), op("cancel", "it has ended"), op("give-up", "it has succeeded")}
	}
	return j
}

// Log is the beginning of a job's log.
func Log() []api.LogEntry {
	log := []api.LogEntry{
		{Kind: "play_started", Play: "Bootstrap the host"},
		{Kind: "task_started", Task: "Install what the fence and the units need", Role: "host_bootstrap", Action: "ansible.builtin.apt"},
		{Kind: "changed", Host: "h1", Changed: true, DurationMS: 8423, Output: "Setting up lvm2 (2.03.16-2) ...\nSetting up \x1b[32mnftables\x1b[0m (1.0.6-2) ..."},
		{Kind: "task_started", Task: "Install the fence", Role: "host_bootstrap", Action: "ansible.builtin.copy"},
		{Kind: "changed", Host: "h1", Changed: true, DurationMS: 412, Diff: "--- before\n+++ after: /usr/local/lib/kloigos/fence-python\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+set -eu\n"},
		{Kind: "play_started", Play: "Initialize the host"},
		{Kind: "task_started", Task: "Keep the system on its CPUs", Role: "host_initialize"},
		{Kind: "ok", Host: "h1", DurationMS: 96},
		{Kind: "task_started", Task: "Say why it is skipped", Role: "host_initialize"},
		{Kind: "skipped", Host: "h1"},
		{Kind: "task_started", Task: "Make the volumes", Role: "host_initialize"},
		{Kind: "failed", Host: "h1", DurationMS: 1204, Message: "mkfs.ext4: /dev/vdb is mounted", Output: "<script>alert(1)</script> \x1b[31mwill not make a filesystem here!\x1b[0m"},
	}
	for i := range log {
		log[i].Sequence, log[i].Attempt, log[i].Step, log[i].Time = int64(i+1), 1, "initialize", ago(8*time.Minute-time.Duration(i)*4*time.Second)
	}
	return log
}

// Capacity is that of the sample hosts.
func Capacity() api.Capacity {
	c := api.Capacity{At: Now, Places: []api.CapacityPlace{{
		Region: "north", Zone: "a", Hosts: map[string]int{"ready": 1, "awaiting_host_key": 1, "probed": 1},
		Units: map[string]api.CapacityShare{
			"allocated": {Units: 1, CPUs: 3, MemoryBytes: 3 << 30, VolumeBytes: 27 << 30}, "free": {Units: 1, CPUs: 2, MemoryBytes: 2 << 30, VolumeBytes: 18 << 30},
			"allocation_failed": {Units: 1, CPUs: 2, MemoryBytes: 2 << 30, VolumeBytes: 18 << 30},
		},
	}}}
	for _, h := range []api.Host{WaitingHost(), ProbedHost(), Host()} {
		c.Hosts = append(c.Hosts, api.CapacityHost{
			ID: h.ID, Name: h.Name, Region: h.Region, Zone: h.Zone, State: h.State, StateMeans: h.StateMeans, Health: h.Health, HealthMessage: h.HealthMessage,
			OffersKey: h.OfferedKey != "", LaidOut: h.Layout != nil, Units: h.Units,
		})
	}
	return c
}

// Outline is a log in short that tells of three hosts.
func Outline() api.LogOutline {
	return api.LogOutline{
		Hosts: []string{"h1", "h2", "h3"}, Counts: map[string]int{"changed": 2, "ok": 1, "failed": 1}, Failed: 12, Last: 12,
		Tasks: []api.LogTask{
			{Sequence: 2, Attempt: 1, Step: "bootstrap", Role: "host_bootstrap", Task: "Install the fence", Results: []api.LogResult{
				{Host: "h1", Kind: "changed", Sequence: 3, DurationMS: 412}, {Host: "h3", Kind: "ok", Sequence: 4, Items: 3},
			}},
			{Sequence: 11, Attempt: 2, Step: "initialize", Task: "Make the volumes", Results: []api.LogResult{{Host: "h1", Kind: "failed", Sequence: 12}}},
		},
	}
}

// PlaybookVersion is a version of host_initialize: 1 part of Kloigos and is
// the default, 2 was uploaded.
func PlaybookVersion(n int) api.PlaybookVersion {
	v := api.PlaybookVersion{
		Playbook: "host_initialize", Version: n, SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", SizeBytes: 18342,
		DecodedBytes: 91234, Files: 3, Seeded: true, Default: true, CreatedBy: "init", CreatedAt: ago(24 * time.Hour), LintState: "waiting",
	}
	if n > 1 {
		v.SHA256, v.Seeded, v.Default, v.CreatedBy = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752", false, false, "ada"
		v.Note, v.CreatedAt, v.LintState, v.LintFindings = "a message of the day", ago(time.Hour), "done", 2
	}
	return v
}

// byID answers with the object whose id or name stands at the end of the path.
func byID[T any](objects map[string]T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		o, ok := objects[r.PathValue("id")]
		if !ok {
			Problem(w, api.Problem{Status: http.StatusNotFound, Code: "not_found", Title: "Not found"})
			return
		}
		write(w, "application/json", http.StatusOK, o)
	}
}

// Plan is one of other SSH keys.
func Plan() api.Plan {
	return api.Plan{
		ID: PlanID, Action: "replace-allocation-keys", Request: json.RawMessage(`{"ssh_keys":["` + Key + `"]}`), Kind: "allocation_keys",
		KindMeans: "replaces the SSH keys that may log in to a unit", HostID: HostID, Host: "h1", UnitID: UnitID, Unit: "h1-cu01",
		AllocationID: AllocationID, LoginUser: "ada", State: "ready", StateMeans: "checked; it shows what the action would change", JobID: JobID,
		Playbook: "unit_allocate", PlaybookVersion: 1, Counts: &api.PlanCounts{Create: 1, Change: 2, Follows: 1}, Tasks: 8,
		Changes: []api.PlanChange{
			{Play: "playbook.yml", Task: "Let the tenant in", Kind: "file", Name: "/etc/kloigos/keys/ada", Action: "change", Before: "old key\n", After: "new key\n"},
			{Play: "playbook.yml", Task: "Have the account", Kind: "user", Name: "ada", Action: "create"},
			{Play: "playbook.yml", Task: "Bring up the unit", Kind: "task", Name: "Bring up the unit", Action: "follows", Note: "profile kloigos-h1-cu01"},
		},
		Operations: []api.Operation{{Name: "apply", Allowed: true}}, RequestedBy: "admin", CreatedAt: ago(time.Minute), CheckedAt: timeAgo(30 * time.Second),
		ExpiresAt: Now.Add(time.Hour),
	}
}

// Workspace is the one that the samples are in.
const Workspace = "default/default/default"

func (a *API) samples() {
	short := Plan()
	short.Changes = nil
	a.Answer("list-plans", http.StatusOK, api.Page[api.Plan]{Items: []api.Plan{short}})
	a.Answer("get-plan", http.StatusOK, Plan())
	hosts := []api.Host{Host(), WaitingHost(), ProbedHost()}
	known := map[string]api.Host{}
	for _, h := range hosts {
		known[h.ID], known[h.Name] = h, h
	}
	a.Answer("whoami", 200, api.Whoami{Account: "admin", Role: "administrator", Workspace: Workspace, Permissions: api.Permissions(), TokenKind: "session", TokenID: TokenID, ExpiresAt: Now.Add(time.Hour)})
	a.Answer("get-capacity", 200, Capacity())
	a.Answer("list-hosts", 200, Page(hosts...))
	a.On("get-host", byID(known))
	a.Answer("preview-layout", 200, Layout())
	a.Answer("list-compute-units", 200, Page(Unit(1, "allocated"), Unit(2, "free"), Unit(3, "allocation_failed")))
	a.On("get-compute-unit", byID(map[string]api.ComputeUnit{UnitID: Unit(2, "free"), "h1-cu02": Unit(2, "free")}))
	a.Answer("list-allocations", 200, Page(Allocation()))
	a.On("get-allocation", byID(map[string]api.Allocation{AllocationID: Allocation()}))
	a.Answer("list-addresses", 200, Page(
		api.Address{ID: AddressID, Network: "default", Address: "10.0.2.101", Endpoint: "203.0.113.9:2201", State: "allocated", AllocationID: AllocationID, LoginUser: "ada"},
		api.Address{ID: AddressID, Network: "default", Address: "10.0.2.102", State: "free"},
		api.Address{ID: AddressID, Network: "default", Address: "10.0.2.103", State: "quarantined"},
	))
	a.Answer("list-playbooks", 200, Page(api.Playbook{Name: "host_initialize", Description: "Installs what units need, makes their volumes.", DefaultVersion: 1, Versions: 1, UpdatedAt: ago(24 * time.Hour)}))
	a.Answer("get-playbook", 200, api.Playbook{Name: "host_initialize", Description: "Installs what units need, makes their volumes.", DefaultVersion: 1, Versions: 2, Revision: 4})
	a.Answer("list-playbook-versions", 200, Page(PlaybookVersion(2), PlaybookVersion(1)))
	a.On("get-playbook-version", func(w http.ResponseWriter, r *http.Request) {
		v := PlaybookVersion(1)
		if r.PathValue("version") == "2" {
			v = PlaybookVersion(2)
			v.Lint = &api.Lint{State: "done", Tool: "ansible-lint 6.13.1", StartedAt: ago(time.Hour), EndedAt: timeAgo(time.Hour), Findings: []api.LintFinding{
				{Rule: "name[casing]", Severity: "major", Path: "roles/host_initialize/tasks/main.yml", Line: 7, Message: "All names should start with an uppercase letter."},
				{Rule: "jinja[spacing]", Severity: "minor", Path: "playbook.yml", Line: 3, Message: "Jinja2 spacing could be improved: <b>{{x}}</b>"},
			}}
		}
		JSON(w, v)
	})
	a.Answer("diff-playbook", 200, api.PlaybookDiff{Playbook: "host_initialize", Version: 2, Against: 1, Files: []api.PlaybookFileDiff{
		{Path: "playbook.yml", Change: "changed", Added: 1, Removed: 1, Diff: "--- a/playbook.yml\n+++ b/playbook.yml\n@@ -1,4 +1,4 @@\n ---\n-- name: Initialize\n+- name: <script>alert(1)</script>\n   hosts: all\n   roles:\n"},
		{Path: "roles/host_initialize/files/motd", Change: "added", Added: 1, Diff: "--- a/roles/host_initialize/files/motd\n+++ b/roles/host_initialize/files/motd\n@@ -0,0 +1 @@\n+hello\n"},
	}})
	a.Answer("list-playbook-files", 200, Page(api.PlaybookFile{Path: "playbook.yml", SizeBytes: 312}, api.PlaybookFile{Path: "roles/host_initialize/tasks/main.yml", SizeBytes: 8123}))
	a.Answer("get-playbook-file", 200, api.PlaybookFile{Path: "playbook.yml", SizeBytes: 312, Content: "---\n- name: Initialize\n  hosts: all\n  roles:\n    - host_initialize\n"})
	jobs := map[string]api.Job{JobID: Job("host_initialize", "failed")}
	a.On("get-job", byID(jobs))
	probe := Job("host_probe", "succeeded")
	probe.Steps = probe.Steps[:1]
	a.Answer("list-jobs", 200, Page(Job("host_initialize", "running"), Job("host_initialize", "failed"), probe))
	log := Log()
	a.Answer("get-job-log", 200, api.JobLog{Items: log, Last: int64(len(log)), Newest: int64(len(log)), Complete: true})
	a.Answer("get-job-outline", 200, Outline())
	a.Answer("list-events", 200, Page(
		api.Event{ID: "e1", At: ago(time.Minute), ActorKind: "account", Actor: "admin", Client: "198.51.100.7", Action: "host.initialize", ObjectKind: "host", ObjectID: HostID, Object: "h1", JobID: JobID, Before: json.RawMessage(`{"state":"probed"}`), After: json.RawMessage(`{"state":"initializing"}`)},
		api.Event{ID: "e2", At: ago(time.Hour), ActorKind: "backend", Actor: "backend-1", Action: "host.probe_succeeded", ObjectKind: "host", ObjectID: HostID, Object: "h1"},
	))
	a.Answer("list-tokens", 200, Page(
		api.Token{ID: TokenID, Kind: "session", Name: "web", Prefix: "kl_ab12", CreatedAt: ago(time.Hour), ExpiresAt: Now.Add(23 * time.Hour), LastUsedAt: timeAgo(time.Second)},
		api.Token{ID: AddressID, Kind: "api", Name: "ci runner", Prefix: "kl_cd34", CreatedAt: ago(48 * time.Hour), ExpiresAt: Now.Add(88 * 24 * time.Hour)},
	))
	a.Answer("get-queue", 200, api.Queue{Queued: 3, Delayed: 1, Running: 2, OldestQueuedSeconds: 75})
	slots := 8
	a.Answer("list-policies", 200, Policies())
	a.Answer("list-conditions", 200, api.Page[api.Condition]{Items: []api.Condition{{
		Noun: "policy", ObjectID: UnitID, Type: "succeeds", Status: "false", Reason: "internal_error", Message: "Internal error. The log of the backend that ran it has the text.",
		Fault: "ours", RetryHelps: true, Flapping: true, Since: ago(time.Hour), ObservedAt: ago(time.Minute), Policy: "old_plans", History: []api.ConditionChange{},
	}}})
	a.Answer("pause-policy", 200, Policies().Items[0])
	a.Answer("resume-policy", 200, Policies().Items[0])
	a.Answer("run-policy", 200, api.PolicyItem{Token: 1, DueAt: Now})
	a.Answer("get-system", 200, api.System{Version: "0.1.0", Database: "PostgreSQL 15.9", PublicKey: Key, Backends: []api.Backend{
		{ID: JobID, Name: "backend-1", Version: "0.1.0", Roles: "api,worker", Slots: &slots, Running: 5, StartedAt: ago(24 * time.Hour), SeenAt: ago(2 * time.Second), Alive: true},
		{ID: UnitID, Name: "backend-2", Version: "0.1.0", Roles: "api,worker", StartedAt: ago(30 * time.Hour), SeenAt: ago(time.Hour)},
	}})
}

// Policies returns three policies: one succeeds, one is paused, one fails.
func Policies() api.Policies {
	at := func(d time.Duration) *time.Time { t := Now.Add(d); return &t }
	var p api.Policies
	p.Items = []api.Policy{
		{
			ID: HostID, Name: "expired_idempotency_keys", Why: "a repeated request is recognised for a day", IntervalSeconds: 1800, TimeoutSeconds: 60, Triggers: []string{}, Items: 1,
			LastStartedAt: at(-time.Minute), LastEndedAt: at(-time.Minute), LastOutcome: "changed", LastChanged: 7, NextDueAt: at(29 * time.Minute),
		},
		{
			ID: JobID, Name: "old_job_logs", Why: "logs are by far the most that is stored", IntervalSeconds: 600, TimeoutSeconds: 300, Triggers: []string{}, Items: 1,
			Pause: &api.PolicyPause{Policy: "old_job_logs", Mode: "pause", PausedAt: Now, PausedBy: "ada", Reason: "new <b>disks</b>"},
		},
		{
			ID: UnitID, Name: "old_plans", Why: "a plan that was never applied is of no use once it has expired", IntervalSeconds: 3600, TimeoutSeconds: 60, Triggers: []string{}, Items: 1,
			Failing: 1, LastEndedAt: at(-time.Minute), LastOutcome: "failed", LastError: "The run took longer than its timeout.", NextDueAt: at(time.Minute), LagSeconds: 75,
		},
	}
	p.NotReconciled, p.Pauses = []api.NotReconciled{{What: "uids", Why: "a UID stays given until it is given again, after a wipe"}}, []api.PolicyPause{}
	return p
}
