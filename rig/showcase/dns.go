package showcase

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// zone is one of the DNS zones that are shown; of each state there is one.
type zone struct {
	name, server, mode, state, message, reason string
	sets                                       int
	id                                         uuid.UUID
}

var zones = []zone{
	{name: "kloigos.example.", server: "ns1.kloigos.example:53", mode: "sync", state: "live", message: "2 record sets need attention.", sets: 130},
	{name: "apps.kloigos.example.", server: "ns1.kloigos.example:53", mode: "upsert_only", state: "held", message: "The plan updates 14 and deletes 3 of 20 record sets.", sets: 20},
	{name: "xn--bcher-kva.example.", server: "192.0.2.53:53", mode: "observe", state: "live", sets: 6},
	{
		name: "lab.example.", server: "10.20.0.53:53", mode: "sync", state: "failed", reason: "wrong_key", sets: 4,
		message: "The name server does not know the key lab-key, or has another secret for it.",
	},
	{name: "51.100.198.in-addr.arpa.", server: "ns1.kloigos.example:53", mode: "sync", state: "syncing", sets: 40},
	{name: "new.example.", server: "ns.new.example:53", mode: "observe", state: "pending"},
}

// names makes zones with their record sets, what name servers told of them, and what belongs to others.
func (w *world) names() {
	for i := range zones {
		z := zones[i]
		z.id = w.id()
		w.zone(&z)
		for n := range z.sets {
			w.recordSet(&z, n)
		}
	}
}

func (w *world) zone(z *zone) {
	made := w.ago(10 * 24 * time.Hour)
	var serial *int64
	var synced *time.Time
	var plan []byte
	owned, touched := 0, 0
	if z.state != "pending" {
		number, at := int64(2026031400+w.randomBelow(90)), w.ago(time.Duration(1+w.randomBelow(9))*time.Minute)
		serial, synced = &number, &at
	}
	if z.state == "held" {
		plan, owned, touched = make([]byte, 32*17), 20, 17
	}
	w.zones.add(z.id, w.workspace, z.name, "rfc2136", z.server, z.state == "failed", "kloigos-key.", "hmac-sha256", []byte("sealed"), []string{}, z.mode,
		z.state, z.message, z.reason, int64(7), int64(6), serial, int64(300), synced, plan, owned, touched, int64(3), made)
	w.event(made, people[1], "dns_zone.create", "dns_zone", z.id, shown(z.name), nil, nil, map[string]any{"server": z.server, "mode": z.mode, "state": "pending"})
	w.event(w.ago(26*time.Hour), people[2], "dns_zone.change", "dns_zone", z.id, shown(z.name), nil, map[string]any{"mode": "observe"}, map[string]any{"mode": z.mode})
	w.looked("dns_zone", z.id)
	if z.state == "pending" {
		return
	}
	job, state := "succeeded", "true"
	switch z.state {
	case "syncing":
		job = "queued"
	case "failed", "held":
		state = "false"
	}
	if z.state == "failed" {
		job = "failed"
	}
	w.callJob("zone_sync", "sync", job, "zone", "dns_zone", z.id, z.name, z.message)
	reason, fault := "live", ""
	if state == "false" {
		reason, fault = "brake", "user"
		if z.reason != "" {
			reason = z.reason
		}
	}
	w.condition("dns_zone", z.id, "synced", state, reason, z.message, fault, []map[string]any{
		{"status": "true", "reason": "live", "message": "", "since": w.ago(9 * 24 * time.Hour)},
	})
	for i := range 14 {
		name, kind, value, whose := fmt.Sprintf("legacy-%02d.%s", i, z.name), "A", fmt.Sprintf("192.0.2.%d", 100+i), ""
		switch i {
		case 0:
			name, kind, value = z.name, "NS", "ns1.kloigos.example."
		case 1:
			name, kind, value = z.name, "SOA", "ns1.kloigos.example. admin.kloigos.example. 2026031401 3600 600 86400 300"
		case 2:
			whose = "Installation 5d3f1c1e-0000-4000-8000-00000000abcd owns it."
		}
		w.foreign.add(w.id(), w.workspace, z.id, name, kind, int64(3600), []string{value}, "foreign", whose, w.ago(time.Duration(i)*time.Hour))
	}
}

func (w *world) recordSet(z *zone, n int) {
	id, made := w.id(), w.ago(time.Duration(n)*time.Hour+time.Minute)
	name, kind, values := fmt.Sprintf("web-%03d.%s", n, z.name), "A", []string{fmt.Sprintf("198.51.100.%d", n%250), fmt.Sprintf("198.51.100.%d", (n+7)%250)}
	switch {
	case z.state == "syncing":
		name, kind, values = fmt.Sprintf("%d.%s", n, z.name), "PTR", []string{fmt.Sprintf("web-%03d.kloigos.example.", n)}
	case n == 0:
		name, kind, values = z.name, "MX", []string{"10 mx1.kloigos.example.", "20 mx2.kloigos.example."}
	case n == 1:
		name, kind, values = z.name, "TXT", []string{`"v=spf1 mx -all"`, `"site-verification=` + id.String() + `"`}
	case n == 2:
		name, kind, values = "www."+z.name, "CNAME", []string{"web-003." + z.name}
	}
	state, message, outcome, live := "live", "", "in_sync", int64(1)
	switch {
	case z.state == "failed":
		state, outcome, live = "pending", "", 0
	case z.mode == "observe":
		state, message, outcome, live = "pending", "The zone is in mode observe, so nothing is changed.", "create", 0
	case z.state == "held" && n < 14:
		state, message, outcome = "pending", "The plan of the zone waits for a confirmation.", "update"
	case z.state == "held" && n < 17:
		state, outcome = "deleting", "delete"
	case n == 3:
		state, message, outcome, live = "failed", "The name server holds a record here that is not marked as ours. Adopt it to manage it.", "adoption_needed", 0
	case n == 4:
		state, message, outcome, live = "failed", "A CNAME record stands at this name.", "blocked", 0
	}
	var alone *bool
	if state != "deleting" {
		is := kind == "CNAME"
		alone = &is
		if key := z.id.String() + name; !w.named[key] {
			w.named[key] = true
			w.dnsNames.add(z.id, name, is)
		}
	}
	var checked map[string]any
	var checkedAt *time.Time
	if state == "live" {
		at := w.ago(time.Duration(1+n) * time.Minute)
		checkedAt = &at
		servers := []map[string]any{}
		for i, server := range []string{"ns1.kloigos.example", "ns2.kloigos.example"} {
			told := map[string]any{"server": server, "address": fmt.Sprintf("192.0.2.%d:53", 53+i), "status": "current", "values": values, "ttl": 300}
			if n == 5 && i == 1 {
				told["status"], told["values"], told["text"] = "different", values[:1], "It tells other values."
			}
			servers = append(servers, told)
		}
		checked = map[string]any{"everywhere": n != 5, "servers": servers, "resolver": map[string]any{
			"server": "resolver", "address": "127.0.0.1:53", "status": "current", "values": values, "ttl": 212,
		}}
		status, reason, text := "true", "everywhere", ""
		if n == 5 {
			status, reason, text = "false", "server_differs", "ns2.kloigos.example (192.0.2.54:53): It tells other values."
		}
		w.condition("dns_record_set", id, "propagated", status, reason, text, map[bool]string{true: "provider"}[n == 5], []map[string]any{
			{"status": "progressing", "reason": "on_its_way", "message": "ns2.kloigos.example (192.0.2.54:53): It does not tell it yet.", "since": made},
		})
	}
	w.sets.add(id, w.workspace, z.id, name, kind, int64(300), values, "user", alone, state, message, outcome, int64(1), live, checked, checkedAt, int64(2), made)
	w.event(made, pick(w, people), "dns_record_set.create", "dns_record_set", id, shown(name)+" "+kind, nil, nil, map[string]any{"values": values, "ttl": 300})
	if n < 8 {
		w.callJob("record_set_check", "check", "succeeded", "record_set", "dns_record_set", id, shown(name)+" "+kind, "")
	}
	w.looked("dns_record_set", id)
}

// shown is a name as pages show it.
func shown(name string) string {
	return strings.Replace(strings.TrimSuffix(name, "."), "xn--bcher-kva", "bücher", 1)
}

// looked has a policy look at an object; its name is that of the noun.
func (w *world) looked(noun string, id uuid.UUID) {
	at := w.ago(4 * time.Minute)
	w.items.add(noun, id, w.now.Add(6*time.Minute), &at, &at, "ok")
}

func (w *world) condition(noun string, id uuid.UUID, kind, status, reason, message, fault string, history []map[string]any) {
	results := "tttttttt"
	if status == "false" {
		results = "tttttfff"
	}
	w.conditions.add(noun, id, kind, status, reason, message, fault, fault == "provider", 0, results, false, w.ago(40*time.Minute), w.ago(4*time.Minute), noun, history)
}

// callJob makes a job without a playbook, about one object.
func (w *world) callJob(kind, step, state, role, noun string, object uuid.UUID, name, why string) {
	id, asked := w.id(), w.ago(time.Duration(5+w.randomBelow(30))*time.Minute)
	begun, over := asked.Add(time.Second), asked.Add(3*time.Second)
	started, finished, worker, attempt, failures, outcome := &begun, &over, &w.worker, 1, 0, ""
	var failure map[string]string
	switch state {
	case "queued":
		started, finished, worker, attempt = nil, nil, nil, 0
	case "failed":
		failures, failure = 1, map[string]string{"code": "wrong_key", "message": why, "next_step": "Give the zone the key that its name server has, then synchronize it."}
	default:
		outcome = "Done."
	}
	w.jobs.add(id, w.workspace, kind, map[string]any{}, nil, nil, nil, nil, state, 10, asked, asked.Add(365*24*time.Hour), attempt, failures, 3, worker, nil, nil, people[3], failure, outcome, asked, started, finished)
	if state == "queued" {
		w.steps.add(id, 0, step, "pending", 0, nil, nil)
	} else {
		w.steps.add(id, 0, step, state, attempt, started, finished)
	}
	w.jobObjects.add(id, 0, role, noun, object, shown(name))
}
