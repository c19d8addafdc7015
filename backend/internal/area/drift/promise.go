package drift

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Host is what a host was promised, by its rows.
type Host struct {
	ID           uuid.UUID `db:"id"`
	WorkspaceID  uuid.UUID `db:"workspace_id"`
	Organization uuid.UUID `db:"organization_id"`
	Name         string    `db:"name"`
	State        string    `db:"state"`
	Gone         bool      `db:"gone"`
	Incarnation  uuid.UUID `db:"incarnation"`
	SystemCPUs   *string   `db:"system_cpus"`
	VolumeGroup  *string   `db:"volume_group"`
	Uplink       *string   `db:"uplink"`
	Gateway      *string   `db:"gateway"`
	Busy         bool      `db:"busy"` // a job is changing it, or did lately
}

// Unit is what a unit with a tenant was promised, by its rows.
type Unit struct {
	ID              uuid.UUID `db:"id"`
	Name            string    `db:"name"`
	Ordinal         int64     `db:"ordinal"`
	CPUs            string    `db:"cpus"`
	MemoryNodes     string    `db:"memory_nodes"`
	MemoryMaxBytes  int64     `db:"memory_max_bytes"`
	MemoryHighBytes int64     `db:"memory_high_bytes"`
	TasksMax        int64     `db:"tasks_max"`
	AllocationID    uuid.UUID `db:"allocation_id"`
	LoginUser       string    `db:"login_user"`
	UID             int64     `db:"uid"`
	Address         string    `db:"address"`
	UnitNetwork     string    `db:"unit_network"` // "unit": a network of its own
	SSHKeys         []string  `db:"ssh_keys"`
	Settled         bool      `db:"settled"` // allocated, with its keys applied
}

// Limits of a tenant's slice that no row has: every unit has them.
const (
	cgroups     = "1024 16"
	mountType   = "ext4"
	mountOption = "discard,noatime,nodev,nosuid,rw"
)

// pages are the sizes that the kernel counts memory in.
var pages = []int64{4096, 16384, 65536}

// inPages is how the kernel shows an amount of memory.
func inPages(bytes int64, size string) string {
	page, err := strconv.ParseInt(size, 10, 64)
	if err != nil || !slices.Contains(pages, page) {
		page = pages[0]
	}
	return strconv.FormatInt(bytes-bytes%page, 10)
}

// promises are the facts that an agent must see of a unit. The names are those of the agent.
func (u Unit) promises(h Host, page string) map[string]string {
	id, mount := strconv.FormatInt(u.UID, 10), fmt.Sprintf("/mnt/kloigos/%s/cu%02d", h.Name, u.Ordinal)
	facts := map[string]string{
		"manifest.allocation": u.AllocationID.String(), "manifest.user": u.LoginUser, "manifest.unit": u.Name,
		"user.uid": id, "user.gid": id, "user.home": mount + "/home/" + u.LoginUser, "user.shell": "/usr/local/lib/kloigos/shells/" + u.Name,
		"user.groups": "kloigos-tenants", "user.password": "none", "user.expires": "never",
		"keys.list": keyList(u.SSHKeys), "keys.mode": "0640 0:" + id,
		"limits.cpu_quota": "max", "limits.cgroups": cgroups, "limits.processes_outside": "none",
		"cpuset.cpus": u.CPUs, "cpuset.nodes": u.MemoryNodes,
		"memory.max": inPages(u.MemoryMaxBytes, page), "memory.high": inPages(u.MemoryHighBytes, page), "memory.swap_max": "0",
		"tasks.max":  strconv.FormatInt(u.TasksMax, 10),
		"mount.type": mountType, "mount.options": mountOption,
		"modes.volume": "0750 0:" + id, "modes.home": "0755 0:0", "modes.home_owner": id + ":" + id, "modes.tmp": "0711 0:0", "modes.var_tmp": "0711 0:0",
		"modes.tenant_tmp": "1777 0:0", "modes.tenant_var_tmp": "1777 0:0", "modes.shell": "0755 0:0",
		"nftables.jump": "1", "apparmor.profile": "enforce", "apparmor.manager": "kloigos-" + u.Name + " (enforce)",
		"address.rule": "present", "address.service": "active, enabled",
	}
	if h.VolumeGroup != nil {
		facts["mount.device"] = fmt.Sprintf("/dev/mapper/%s-cu%02d", strings.ReplaceAll(*h.VolumeGroup, "-", "--"), u.Ordinal)
	}
	if h.Uplink != nil {
		facts["nftables.rules"] = u.rules(*h.Uplink)
		facts["address.on"] = *h.Uplink
		facts["address.route"] = "unreachable"
		if h.Gateway != nil && *h.Gateway != "" {
			facts["address.route"] = fmt.Sprintf("via %s dev %s src %s", *h.Gateway, *h.Uplink, u.Address)
		}
	}
	if u.UnitNetwork == "unit" {
		u.promiseNetwork(h, facts)
	}
	return facts
}

// promiseNetwork is what is otherwise of a unit with a network of its own: nothing of its address is on the host's stack.
func (u Unit) promiseNetwork(h Host, facts map[string]string) {
	delete(facts, "address.rule")
	facts["address.namespace"], facts["address.sshd"] = "nsfs", "active, enabled"
	if h.Uplink == nil {
		return
	}
	facts["address.on"] = "none"
	facts["nftables.path"] = filterPath(*h.Uplink)
	facts["nftables.rules"] = hashes([][]any{{object{"counter": nil}, object{"reject": object{"type": "icmpx", "expr": "admin-prohibited"}}}})
	if h.Gateway != nil && *h.Gateway != "" {
		facts["address.route"] = fmt.Sprintf("via %s dev %s src none", *h.Gateway, *h.Uplink)
	}
}

// promises are the facts that an agent must see of the host itself.
func (h Host) promises() map[string]string {
	facts := map[string]string{
		"fence.incarnation": h.Incarnation.String(), "fence.program": "0755 0:0",
		"table.hook": "filter output 0 accept", "table.foreign": "none",
		"schedulers.cron": "closed", "schedulers.at": "closed", "hidepid.proc": "hidden",
		"services.nft": "active, enabled", "services.proc": "active, enabled", "services.watch": "active, enabled", "services.runs": "active, enabled",
	}
	if h.SystemCPUs != nil {
		facts["slices.system"], facts["slices.init"], facts["slices.users"] = *h.SystemCPUs, *h.SystemCPUs, *h.SystemCPUs
	}
	return facts
}

// shownKeys is how many keys are named one by one, as the agent does.
const shownKeys = 6

// keyList names keys by their fingerprints, in order; many of them by one checksum.
func keyList(lines []string) string {
	var found []string
	for _, line := range lines {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		if raw, err := base64.StdEncoding.DecodeString(fields[1]); err == nil {
			found = append(found, checksum(raw))
		}
	}
	slices.Sort(found)
	if len(found) > shownKeys {
		return fmt.Sprintf("%d keys, %s", len(found), checksum([]byte(strings.Join(found, " "))))
	}
	return strings.Join(found, " ")
}

func checksum(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

type object = map[string]any

func match(left object, right any) object {
	return object{"match": object{"op": "==", "left": left, "right": right}}
}

func field(protocol, name string) object {
	return object{"payload": object{"protocol": protocol, "field": name}}
}

func fib(flag string) object {
	return object{"fib": object{"result": "type", "flags": []any{flag}}}
}

// rules are the hashes of the rules of the unit's chain, as nft lists those of unit.nft.j2 (libnftables-json(5)).
func (u Unit) rules(uplink string) string {
	out, counter, accept := object{"meta": object{"key": "oifname"}}, object{"counter": nil}, object{"accept": nil}
	// nft sorts the elements of a set: the address comes before or behind 127.0.0.0/8.
	set := []any{object{"prefix": object{"addr": "127.0.0.0", "len": 8}}}
	if before(u.Address, 127) {
		set = append([]any{u.Address}, set...)
	} else {
		set = append(set, u.Address)
	}
	chain := [][]any{
		{match(field("tcp", "dport"), "@sshd_ports"), match(fib("daddr"), "local"), counter, object{"reject": object{"type": "tcp reset"}}},
		{match(out, "lo"), match(field("ip", "saddr"), object{"set": set}), accept},
		{match(out, "lo"), match(field("ip6", "saddr"), "::1"), accept},
		{match(out, "lo"), match(fib("saddr"), "local"), object{"reject": object{"type": "icmpx", "expr": "admin-prohibited"}}},
		{match(out, uplink), match(field("ip", "saddr"), u.Address), accept},
		{counter, object{"drop": nil}},
	}
	return hashes(chain)
}

// hashes are those of the rules of a chain, as the agent makes them.
func hashes(chain [][]any) string {
	all := make([]string, len(chain))
	for i, rule := range chain {
		text, _ := json.Marshal(rule) // maps, strings and numbers; keys are sorted
		sum := sha256.Sum256(text)
		all[i] = hex.EncodeToString(sum[:4])
	}
	return strings.Join(all, " ")
}

// before tells whether the first number of an address is less than n.
func before(address string, n int) bool {
	first, _, _ := strings.Cut(address, ".")
	i, err := strconv.Atoi(first)
	return err == nil && i < n
}
