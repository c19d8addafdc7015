package reader

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const (
	missing = "missing"
	none    = "none"
)

// unit is what is on the host of what one unit was promised. The names of facts begin with that of their promise.
func (s *seen) unit(m manifest) map[string]string {
	facts := map[string]string{"manifest.allocation": m.Allocation.ID, "manifest.user": m.Allocation.LoginUser, "manifest.unit": m.Unit.Name}
	for _, read := range []func(manifest, map[string]string){s.user, s.keys, s.slice, s.mount, s.modes, s.filter, s.confinement, s.address} {
		read(m, facts)
	}
	return facts
}

func (s *seen) user(m manifest, facts map[string]string) {
	entry := s.users[m.Allocation.LoginUser]
	if len(entry) != 7 {
		facts["user.uid"] = missing
		return
	}
	facts["user.uid"], facts["user.gid"], facts["user.home"], facts["user.shell"] = entry[2], entry[3], entry[5], entry[6]
	var groups []string
	for _, g := range s.groups {
		if slices.Contains(g.members, m.Allocation.LoginUser) {
			groups = append(groups, g.name)
		}
	}
	slices.Sort(groups)
	facts["user.groups"] = strings.Join(groups, ",")
	facts["user.password"], facts["user.expires"] = missing, missing
	if shadow := s.passwords[m.Allocation.LoginUser]; len(shadow) == 9 {
		facts["user.password"], facts["user.expires"] = passwordState(shadow[1]), "never"
		if shadow[7] != "" {
			facts["user.expires"] = "day " + shadow[7]
		}
	}
}

// passwordState says whether there is a password, and never what it is.
func passwordState(field string) string {
	switch {
	case field == "*":
		return none
	case strings.HasPrefix(field, "!"):
		return "locked"
	case field == "":
		return "empty"
	}
	return "set"
}

func (s *seen) keys(m manifest, facts map[string]string) {
	path := "etc/kloigos/keys/" + m.Allocation.LoginUser
	if s.ownNetwork(m) {
		path = "etc/kloigos/unit-keys/" + m.Allocation.LoginUser
	}
	facts["keys.mode"] = s.mode(path)
	facts["keys.list"] = keyList(s.text(path))
}

// shownKeys is how many keys are named one by one.
const shownKeys = 6

// keyList names the keys of a file by their fingerprints, in order; many of them by one checksum.
func keyList(text string) string {
	var found []string
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		print := "unreadable " + checksum([]byte(line))
		if len(fields) >= 2 {
			if raw, err := base64.StdEncoding.DecodeString(fields[1]); err == nil {
				print = checksum(raw)
			}
		}
		found = append(found, print)
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

// mode is the mode and the owner of a file.
func (s *seen) mode(path string) string {
	info, err := os.Lstat(filepath.Join(s.Root, path))
	if err != nil {
		return missing
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return missing
	}
	return fmt.Sprintf("%04o %d:%d", stat.Mode&0o7777, stat.Uid, stat.Gid)
}

// value is the content of a small file of the kernel in one line.
func (s *seen) value(path string) string {
	text := strings.Join(s.fields(path), " ")
	if text == "" {
		return missing
	}
	return text
}

func sliceOf(uid int) string { return fmt.Sprintf("sys/fs/cgroup/user.slice/user-%d.slice", uid) }

func (s *seen) slice(m manifest, facts map[string]string) {
	base := sliceOf(m.uid()) + "/"
	quota, _, _ := strings.Cut(s.value(base+"cpu.max"), " ")
	facts["limits.cpu_quota"] = quota
	facts["limits.cgroups"] = s.value(base+"cgroup.max.descendants") + " " + s.value(base+"cgroup.max.depth")
	facts["limits.processes_outside"] = none
	if found := s.strays[m.uid()]; len(found) > 0 {
		facts["limits.processes_outside"] = fmt.Sprintf("%d: %s", len(found), strings.Join(found[:min(len(found), 3)], ", "))
	}
	facts["cpuset.cpus"], facts["cpuset.nodes"] = s.value(base+"cpuset.cpus.effective"), s.value(base+"cpuset.mems.effective")
	facts["memory.max"], facts["memory.high"], facts["memory.swap_max"] = s.value(base+"memory.max"), s.value(base+"memory.high"), s.value(base+"memory.swap.max")
	facts["tasks.max"] = s.value(base + "pids.max")
}

func (s *seen) mount(m manifest, facts map[string]string) {
	found, ok := s.mounts[m.Unit.Mount]
	if !ok {
		facts["mount.device"] = "not mounted"
		return
	}
	facts["mount.device"], facts["mount.type"], facts["mount.options"] = found.source, found.kind, found.options
}

func (s *seen) modes(m manifest, facts map[string]string) {
	at := strings.TrimPrefix(m.Unit.Mount, "/")
	for name, path := range map[string]string{
		"modes.volume": at, "modes.home": at + "/home", "modes.tmp": at + "/tmp", "modes.var_tmp": at + "/var-tmp",
		"modes.tenant_tmp": at + "/tmp/" + m.Allocation.LoginUser, "modes.tenant_var_tmp": at + "/var-tmp/" + m.Allocation.LoginUser,
		"modes.shell": "usr/local/lib/kloigos/shells/" + m.Unit.Name,
	} {
		facts[name] = s.mode(path)
	}
	// The tenant may close the home as they like; whose it is they cannot change.
	_, facts["modes.home_owner"], _ = strings.Cut(s.mode(at+"/home/"+m.Allocation.LoginUser), " ")
}

func (s *seen) filter(m manifest, facts map[string]string) {
	chain := fmt.Sprintf("unit_%d", m.uid())
	facts["nftables.rules"] = missing
	if rules, ok := s.table.chains[chain]; ok {
		facts["nftables.rules"] = strings.Join(rules, " ")
	}
	if s.ownNetwork(m) {
		facts["nftables.path"] = s.table.path()
	}
	facts["nftables.jump"] = missing
	if n := s.table.jumps[m.uid()]; n > 0 {
		facts["nftables.jump"] = strconv.Itoa(n)
	}
}

func (s *seen) confinement(m manifest, facts map[string]string) {
	profile := "kloigos-" + m.Unit.Name
	facts["apparmor.profile"] = missing
	if mode, ok := s.profiles[profile]; ok {
		facts["apparmor.profile"] = mode
	}
	manager := fmt.Sprintf("%s/user@%d.service/init.scope/cgroup.procs", sliceOf(m.uid()), m.uid())
	facts["apparmor.manager"] = "not running"
	if pids := s.fields(manager); len(pids) > 0 {
		facts["apparmor.manager"] = s.value("proc/" + pids[0] + "/attr/current")
	}
}

// ownNetwork tells whether the unit has a network of its own.
func (s *seen) ownNetwork(m manifest) bool {
	_, err := os.Stat(filepath.Join(s.Root, "etc/kloigos/networks", m.Unit.Name+".conf"))
	return err == nil
}

func (s *seen) address(m manifest, facts map[string]string) {
	facts["address.on"] = none
	if on := s.net.addresses[m.Allocation.Address]; len(on) > 0 {
		facts["address.on"] = strings.Join(on, " ")
	}
	facts["address.route"] = missing
	if route := s.net.routes[uint32(m.uid())]; route != "" {
		facts["address.route"] = route
	}
	if s.ownNetwork(m) {
		facts["address.namespace"] = missing
		if found, ok := s.mounts["/run/netns/kloigos-"+m.Unit.Name]; ok {
			facts["address.namespace"] = found.kind
		}
		facts["address.service"] = s.service("kloigos-net@"+m.Unit.Name+".service", "multi-user.target")
		facts["address.sshd"] = s.service("kloigos-sshd@"+m.Unit.Name+".service", "multi-user.target")
		return
	}
	facts["address.rule"] = missing
	if s.net.rules[uint32(m.uid())] {
		facts["address.rule"] = "present"
	}
	facts["address.service"] = s.service("kloigos-unit@"+m.Unit.Name+".service", "multi-user.target")
}
