package host

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// unit is what the host has of a compute unit.
type unit struct {
	Tenant string // id of the allocation; "" if it is clean
	Half   bool   // its setup or wipe was cut
}

// system is what modules change.
type system struct {
	host *Host

	mu      sync.Mutex
	units   map[string]*unit // by id
	active  map[string]int   // runs that change something now: job and number
	working int              // tasks that take their time now, those that only read among them
}

const (
	taskTakes = 60 * time.Millisecond // at most, without a pause
	tick      = 5 * time.Millisecond
)

// unfenced runs a module that no fence has checked: a probe, or the bootstrap
// that brings the fence. Anything else must not come.
func (s *system) unfenced(t Task) (Answer, int) {
	switch {
	case t.Playbook == "host_probe" || t.Check:
		return s.work(context.Background(), t, func() Answer { return Answer{Result: s.facts()} })
	case t.Playbook == "host_measure":
		return s.work(context.Background(), t, func() Answer { return Answer{Result: s.use(t)} })
	case t.Playbook == "bootstrap":
		return s.bootstrap(context.Background(), t)
	default:
		s.host.violate("a task of %s came around the fence", t.Playbook)
		return Answer{Message: "around the fence"}, ExitFailed
	}
}

func (s *system) bootstrap(ctx context.Context, t Task) (Answer, int) {
	if t.Part < t.Parts {
		return s.work(ctx, t, func() Answer { return Answer{} })
	}
	incarnation, _ := t.Vars["host_bootstrap_incarnation"].(string)
	refence, _ := t.Vars["host_bootstrap_refence"].(bool)
	number, _ := t.Vars["host_bootstrap_number"].(float64)
	switch known, why, alive := s.host.fence.claim(ctx, incarnation, refence, int64(number)); {
	case !alive:
		return Answer{}, ExitKilled
	case why != "":
		return Answer{Message: why}, ExitRefused
	case refence:
		return Answer{Changed: true, Result: map[string]any{"number": known}}, 0
	default:
		return Answer{Changed: true}, 0
	}
}

// module runs a module of a run that the fence let in.
func (s *system) module(g *group, t Task) (Answer, int) {
	switch {
	case t.Check || t.Playbook == "host_probe":
		return s.work(g.ctx, t, func() Answer { return Answer{Result: s.facts()} })
	case t.Playbook == "bootstrap":
		return s.bootstrap(g.ctx, t)
	}
	defer s.enter(g)()
	change, ok := map[string]func(Task) Answer{
		"host_initialize": s.initialize, "host_decommission": s.decommission,
		"unit_allocate": s.allocate, "unit_deallocate": s.deallocate,
	}[t.Playbook]
	if !ok {
		s.host.violate("nobody knows %s", t.Playbook)
		return Answer{Message: "unknown"}, ExitFailed
	}
	a, code := s.work(g.ctx, t, func() Answer {
		if s.host.manners.Load().Full { // by now
			return Answer{Message: "No space left on device"}
		}
		return change(t)
	})
	if code == 0 && t.Playbook == "host_decommission" && t.Part == t.Parts && !s.host.fence.remove(g.ctx) {
		return Answer{}, ExitKilled
	}
	return a, code
}

// enter notes that a run changes the host. There may be one at a time.
func (s *system) enter(g *group) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other := range s.active {
		if other != g.String() {
			s.host.violate("run %s changes it beside run %s", g, other)
		}
	}
	s.active[g.String()]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.active[g.String()]--; s.active[g.String()] == 0 {
			delete(s.active, g.String())
		}
	}
}

// work takes its time, fails now and then, and does the change at its end. A
// run that is ended changes nothing more.
func (s *system) work(ctx context.Context, t Task, change func() Answer) (Answer, int) {
	s.works(1)
	defer s.works(-1)
	m := s.host.manners.Load()
	end := time.Now().Add(s.host.someTime(taskTakes))
	if m.Of == "" || m.Of == t.Playbook {
		end = end.Add(m.Pause)
	}
	for time.Now().Before(end) {
		select {
		case <-ctx.Done():
			return Answer{}, ExitKilled
		case <-time.After(tick):
		}
	}
	if s.host.chanceOf(m.Failing) {
		return Answer{Message: "the stand-in fails now and then"}, ExitFailed
	}
	if ctx.Err() != nil {
		return Answer{}, ExitKilled
	}
	a := change()
	if a.Message != "" {
		return a, ExitFailed
	}
	a.Lines = m.Lines
	if t.Part < t.Parts && t.Playbook != "host_measure" { // which tells of each of its samples
		a.Result = nil
	}
	return a, 0
}

func (s *system) works(more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.working += more
}

// Working is how many tasks take their time on the host now, those that only
// read and those that no fence has checked among them.
func (h *Host) Working() int {
	h.system.mu.Lock()
	defer h.system.mu.Unlock()
	return h.system.working
}

// Active are the runs that change the host now, by number and job.
func (h *Host) Active() []string {
	h.system.mu.Lock()
	defer h.system.mu.Unlock()
	return slices.Sorted(maps.Keys(h.system.active))
}

// Tenants returns the allocation of each unit that is set up for a tenant, or
// was begun to be, or to be wiped of him, by the unit's id.
func (h *Host) Tenants() map[string]string {
	h.system.mu.Lock()
	defer h.system.mu.Unlock()
	tenants := map[string]string{}
	for id, u := range h.system.units {
		if u.Tenant != "" {
			tenants[id] = u.Tenant
		}
	}
	return tenants
}

// Half tells of each unit, by its id, whether what a play had begun there was
// never brought to its end.
func (h *Host) Half() map[string]bool {
	h.system.mu.Lock()
	defer h.system.mu.Unlock()
	half := map[string]bool{}
	for id, u := range h.system.units {
		half[id] = u.Half
	}
	return half
}

func text(of map[string]any, path ...string) string {
	for _, name := range path[:len(path)-1] {
		of, _ = of[name].(map[string]any)
	}
	s, _ := of[path[len(path)-1]].(string)
	return s
}

// initialize makes the units that are to be there, and removes all others: that
// is what a new layout is, too.
func (s *system) initialize(t Task) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted, _ := t.Vars["host_initialize_units"].([]any)
	stays := map[string]bool{}
	for _, w := range wanted {
		vars, _ := w.(map[string]any)
		id := text(vars, "id")
		if stays[id] = true; s.units[id] == nil {
			s.units[id] = &unit{}
		}
	}
	for id, u := range s.units {
		if stays[id] {
			continue
		}
		if u.Tenant != "" {
			s.host.violate("unit %s is removed with tenant %s in it", id, u.Tenant)
		}
		delete(s.units, id)
	}
	return Answer{Changed: true, Result: map[string]any{"units": []any{}, "volume_group": map[string]any{"size_bytes": 64 << 30, "free_bytes": 1 << 30}}}
}

func (s *system) decommission(t Task) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, u := range s.units {
		if u.Tenant != "" {
			s.host.violate("decommissioned while unit %s has tenant %s", id, u.Tenant)
		}
	}
	if t.Part == t.Parts {
		clear(s.units)
	}
	return Answer{Changed: true}
}

// allocate sets the tenant up, in as many tasks as the play has: until the
// last, the unit is half made. Once it is whole, to do it again, for other keys,
// leaves it so.
func (s *system) allocate(t Task) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, tenant := text(t.Vars, "unit_allocate_unit", "id"), text(t.Vars, "unit_allocate_allocation", "id")
	u := s.units[id]
	switch {
	case u == nil:
		s.host.violate("tenant %s is to have unit %s, which was never made", tenant, id)
		return Answer{Message: "no such unit"}
	case u.Tenant != "" && u.Tenant != tenant:
		s.host.violate("unit %s is given to %s while it holds what %s left", id, tenant, u.Tenant)
	}
	whole := u.Tenant == tenant && !u.Half
	u.Tenant, u.Half = tenant, !whole && t.Part < t.Parts
	return Answer{Changed: !whole}
}

func (s *system) deallocate(t Task) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, tenant := text(t.Vars, "unit_deallocate_unit", "id"), text(t.Vars, "unit_deallocate_allocation", "id")
	u := s.units[id]
	switch {
	case u == nil:
		s.host.violate("unit %s is to be wiped and was never made", id)
		return Answer{Message: "no such unit"}
	case u.Tenant != "" && u.Tenant != tenant:
		s.host.violate("unit %s of %s is wiped for %s", id, u.Tenant, tenant)
	}
	if u.Tenant, u.Half = tenant, true; t.Part == t.Parts { // what is half wiped is nobody else's yet
		u.Tenant, u.Half = "", false
	}
	vars, _ := t.Vars["unit_deallocate_unit"].(map[string]any)
	login := text(t.Vars, "unit_deallocate_allocation", "login_user")
	return Answer{Changed: true, Result: map[string]any{"wipe": map[string]any{
		"allocation_id": tenant, "unit_id": id, "method": "discard",
		"device": "/dev/" + text(t.Vars, "unit_deallocate_volume_group") + "/" + text(vars, "volume"),
		"bytes":  vars["volume_bytes"], "bytes_read_back": 66 << 20, "seconds": 0.4, "file_system": newUUID(),
		"wiped_at": time.Now().UTC().Format(time.RFC3339), "removed": []string{"/var/spool/cron/crontabs/" + login}, "leftovers": []string{},
	}}}
}

// use is what host_measure tells of the units that it was asked about.
func (s *system) use(t Task) map[string]any {
	asked, _ := t.Vars["host_measure_units"].([]any)
	units := []any{}
	for _, u := range asked {
		vars, _ := u.(map[string]any)
		units = append(units, map[string]any{
			"id": text(vars, "id"), "cpu_millis": 250, "memory_bytes": 3 << 20, "cache_bytes": 1 << 20, "processes": 7,
			"disk_used_bytes": 5 << 20, "disk_bytes": 64 << 20,
		})
	}
	return map[string]any{"units": units}
}

func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	x := hex.EncodeToString(b[:])
	return fmt.Sprintf("%s-%s-4%s-8%s-%s", x[:8], x[8:12], x[13:16], x[17:20], x[20:])
}

// Disk is the host's empty disk, and CPUs how many it has; one is the system's.
const (
	Disk = "/dev/disk/by-id/virtio-kloigos0"
	CPUs = 8
)

// facts are what host_probe returns.
func (s *system) facts() map[string]any {
	cpus := []any{}
	for c := range CPUs {
		cpus = append(cpus, map[string]any{"cpu": c, "node": c / 4, "socket": c / 4, "core": c % 4})
	}
	return map[string]any{
		"machine_id": s.host.MachineID(), "hostname": s.host.Name, "kernel": "6.1.0", "architecture": "x86_64", "memory_bytes": 16 << 30,
		"os":            map[string]any{"id": "debian", "version_id": "12", "name": "Debian GNU/Linux 12 (bookworm)"},
		"cpus":          cpus,
		"nodes":         []any{map[string]any{"node": 0, "cpus": "0-3", "memory_bytes": 8 << 30}, map[string]any{"node": 1, "cpus": "4-7", "memory_bytes": 8 << 30}},
		"devices":       []any{map[string]any{"path": "/dev/vdb", "by_id": Disk, "size_bytes": 64 << 30, "discard": true, "signatures": []any{}}},
		"volume_groups": []any{},
		"uplink":        map[string]any{"interface": "ens3", "address": "10.0.2.15", "prefix": 24, "gateway": "10.0.2.2"},
		"capabilities":  map[string]any{"cgroup2": true, "cpuset": true, "apparmor": true, "nftables": true, "lvm": true, "systemd": "252", "python": "3.11.2"},
	}
}
