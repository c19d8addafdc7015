package showcase

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
)

// checked is what the check of a plan told, as a worker stores it.
type checked struct {
	Changes []api.PlanChange `json:"changes"`
	Counts  api.PlanCounts   `json:"counts"`
	Tasks   int              `json:"tasks"`
	LeftOut int              `json:"left_out"`
	Cut     bool             `json:"cut"`
}

func check(tasks int, changes ...api.PlanChange) *checked {
	c := &checked{Changes: changes, Tasks: tasks}
	for _, one := range changes {
		switch one.Action {
		case "create":
			c.Counts.Create++
		case "change":
			c.Counts.Change++
		case "remove":
			c.Counts.Remove++
		default:
			c.Counts.Follows++
		}
	}
	return c
}

const sliceBefore = `[Unit]
Description=%[1]s

[Slice]
AllowedCPUs=1-2
AllowedMemoryNodes=0
MemoryHigh=3800M
MemoryMax=4G
CPUAccounting=yes
MemoryAccounting=yes
IOAccounting=yes
`

const sliceAfter = `[Unit]
Description=%[1]s

[Slice]
AllowedCPUs=1-3
AllowedMemoryNodes=0
MemoryHigh=5700M
MemoryMax=6G
TasksMax=2048
CPUAccounting=yes
MemoryAccounting=yes
IOAccounting=yes
`

// widened is what initializing a host with another layout would do: each way in which a thing can change, and what could
// not be checked.
func widened(h *host) *checked {
	of := func(task, kind, name, action string) api.PlanChange {
		return api.PlanChange{Play: "playbook.yml", Role: "host_initialize", Task: task, Kind: kind, Name: name, Action: action}
	}
	file := func(path, action, before, after string) api.PlanChange {
		c := of("Write the slices of the units", "file", path, action)
		c.Before, c.After = before, after
		return c
	}
	var all []api.PlanChange
	for _, u := range h.units[:min(3, len(h.units))] {
		all = append(all, file("/etc/systemd/system/"+u.name+".slice", "change", fmt.Sprintf(sliceBefore, u.name), fmt.Sprintf(sliceAfter, u.name)))
	}
	added := h.name + "-cu31"
	volume := of("Make the volumes", "volume", "kloigos-vg/"+added, "create")
	volume.Note = "120 GiB"
	follows := of("Make the file systems", "file system", added, "follows")
	follows.Note = "the file system on kloigos-vg/" + added
	return check(41, append(all,
		file("/etc/systemd/system/"+added+".slice", "create", "", fmt.Sprintf(sliceAfter, added)),
		file("/etc/kloigos/retired.conf", "remove", "# no unit uses it\nretired = true\n", ""),
		volume, of("Let the units be started", "service", "kloigos-units.service", "change"), follows)...)
}

// plans makes one of each state that a plan can be looked at in. The one that is ready was checked before its host
// changed, as nothing here can check it anew.
func (w *world) plans() {
	if len(w.ended) == 0 {
		return
	}
	done, moved := pick(w, w.ended), pick(w, w.ended)
	w.plan(done, "applied", 3*time.Hour, widened(done))
	w.plan(moved, "ready", 20*time.Minute, widened(moved))
	w.plan(pick(w, w.ended), "ready", 26*time.Hour, check(38))
	w.plan(pick(w, w.ended), "failed", 2*time.Hour, nil)
}

// plan makes a plan to initialize a host, asked for that long ago, with the job that checked it.
func (w *world) plan(h *host, state string, ago time.Duration, told *checked) {
	id, asked, who := w.id(), w.ago(ago), pick(w, people[:4])
	checks := job{kind: "plan", playbook: "host_initialize", state: "succeeded", host: h, plan: &id, asked: asked, took: 14 * time.Second}
	if state == "failed" {
		checks.state = "failed"
	}
	var applied *uuid.UUID
	if state == "applied" {
		did := w.job(job{kind: "host_initialize", state: "succeeded", host: h, plan: &id, asked: asked.Add(2 * time.Minute), took: 70 * time.Second})
		applied = &did
	}
	var at *time.Time
	var counts, result any
	sums := [3]string{}
	if told != nil {
		over := asked.Add(15 * time.Second)
		at, counts, result = &over, told.Counts, told
		for i := range sums {
			sum := sha256.Sum256([]byte(fmt.Sprint(id, i)))
			sums[i] = hex.EncodeToString(sum[:])
		}
	}
	w.planned.add(id, w.workspace, "host_initialize", "initialize-host", map[string]any{}, h.id, state, w.job(checks), applied,
		w.playbooks["host_initialize"], w.sums["host_initialize"], sums[0], sums[1], sums[2], counts, result, who, asked, at, asked.Add(time.Hour))
}
