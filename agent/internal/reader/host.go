package reader

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kloigos/backend/api"
)

// ourServices are the services of Kloigos that run on each host, with what wants them at boot.
var ourServices = map[string]string{"nft": "sysinit.target", "proc": "sysinit.target", "watch": "multi-user.target", "runs": "multi-user.target"}

// host is what is on the host of what the host itself was promised.
func (s *seen) host() map[string]string {
	facts := map[string]string{
		"page.size":         strconv.Itoa(os.Getpagesize()),
		"slices.system":     s.value("sys/fs/cgroup/system.slice/cpuset.cpus.effective"),
		"slices.init":       s.value("sys/fs/cgroup/init.scope/cpuset.cpus.effective"),
		"slices.users":      s.userSlices(),
		"fence.incarnation": s.value("etc/kloigos/fence/incarnation"),
		"fence.program":     s.mode("usr/local/lib/kloigos/fence-python"),
		"table.hook":        s.table.hook,
		"table.foreign":     s.table.foreign(),
		"schedulers.cron":   s.allowList("etc/cron.allow"),
		"schedulers.at":     s.allowList("etc/at.allow"),
		"hidepid.proc":      "shown",
	}
	if strings.Contains(","+s.mounts["/proc"].super+",", ",hidepid=invisible,") || strings.Contains(","+s.mounts["/proc"].super+",", ",hidepid=2,") {
		facts["hidepid.proc"] = "hidden"
	}
	for name, target := range ourServices {
		facts["services."+name] = s.service("kloigos-"+name+".service", target)
	}
	return facts
}

// userSlices are the CPUs of the slices of everybody who is no tenant: one set where they agree.
func (s *seen) userSlices() string {
	tenants := map[string]bool{}
	for _, m := range s.manifests {
		tenants[filepath.Base(sliceOf(m.uid()))] = true
	}
	found := map[string]string{}
	slices, _ := filepath.Glob(filepath.Join(s.Root, "sys/fs/cgroup/user.slice/user-*.slice"))
	for _, path := range slices {
		name := filepath.Base(path)
		if cpus := s.value("sys/fs/cgroup/user.slice/" + name + "/cpuset.cpus.effective"); !tenants[name] && cpus != missing {
			found[cpus] = name
		}
	}
	return oneOrMany(found)
}

// oneOrMany is the one value that there is, or each with an example.
func oneOrMany(found map[string]string) string {
	values := slices.Sorted(maps.Keys(found))
	switch len(values) {
	case 0:
		return none
	case 1:
		return values[0]
	}
	for i, v := range values {
		values[i] = v + " (" + found[v] + ")"
	}
	return strings.Join(values, "; ")
}

// allowList says whether a list of those who may use a scheduler names a tenant.
func (s *seen) allowList(path string) string {
	info, err := os.Stat(filepath.Join(s.Root, path))
	if err != nil || !info.Mode().IsRegular() {
		return missing
	}
	var let []string
	names := s.fields(path)
	for _, m := range s.manifests {
		if slices.Contains(names, m.Allocation.LoginUser) {
			let = append(let, m.Allocation.LoginUser)
		}
	}
	if len(let) > 0 {
		return "open to " + strings.Join(let, ", ")
	}
	return "closed"
}

// systemdUnit is what systemd says of a unit.
type systemdUnit struct {
	load, active string
}

// service says whether a service runs and comes back at a boot.
func (s *seen) service(name, target string) string {
	u, ok := s.units[name]
	if !ok {
		return missing
	}
	boot := "enabled"
	if _, err := os.Lstat(filepath.Join(s.Root, "etc/systemd/system", target+".wants", name)); err != nil {
		boot = "disabled"
	}
	if u.load != "loaded" {
		boot = u.load
	}
	return u.active + ", " + boot
}

// systemdUnits are all units of ours.
func (r *Reader) systemdUnits(ctx context.Context) map[string]systemdUnit {
	out, err := r.run(ctx, "systemctl", "list-units", "--all", "--plain", "--no-legend", "--no-pager", "--full", "kloigos*")
	if err != nil {
		return nil
	}
	all := map[string]systemdUnit{}
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) >= 4 {
			all[fields[0]] = systemdUnit{fields[1], fields[2]}
		}
	}
	return all
}

// noteFailed keeps which units of ours have failed for the next reports.
func (r *Reader) noteFailed(units map[string]systemdUnit) {
	failed := []string{}
	for _, name := range slices.Sorted(maps.Keys(units)) {
		if units[name].active == "failed" && len(failed) < api.AgentMaxUnits {
			failed = append(failed, name[:min(len(name), api.AgentMaxName)])
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked, r.failed = time.Now(), failed
}

// run asks a program of the host. A test answers in its place.
func (r *Reader) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	if r.Ask != nil {
		return r.Ask(name, args...)
	}
	command := exec.CommandContext(ctx, name, args...)
	command.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}
	return command.Output()
}

// readStrays finds processes of tenants outside of the slice that bounds them.
func (s *seen) readStrays(uids map[int]bool) map[int][]string {
	found := map[int][]string{}
	entries, err := os.ReadDir(filepath.Join(s.Root, "proc"))
	if err != nil || len(uids) == 0 {
		return found
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		uid := s.uidOf(e.Name())
		if !uids[uid] {
			continue
		}
		group := strings.TrimPrefix(s.value("proc/"+e.Name()+"/cgroup"), "0::")
		slice := "/user.slice/" + filepath.Base(sliceOf(uid))
		if group != missing && group != slice && !strings.HasPrefix(group, slice+"/") {
			found[uid] = append(found[uid], fmt.Sprintf("process %s in %s", e.Name(), group))
		}
	}
	return found
}

// uidOf is the real UID of a process; -1 if it is gone.
func (s *seen) uidOf(pid string) int {
	_, after, ok := strings.Cut(s.text("proc/"+pid+"/status"), "\nUid:")
	if fields := strings.Fields(after); ok && len(fields) > 0 {
		if uid, err := strconv.Atoi(fields[0]); err == nil {
			return uid
		}
	}
	return -1
}
