package showcase

import (
	"bytes"
	"time"
)

// playbookUpdates makes a delivery of a playbook that has ended, and one that waits behind its canary.
func (w *world) playbookUpdates() {
	if len(w.ended) < 4 {
		return
	}
	deliveries := &table{name: "playbook_deliveries", columns: []string{"id", "name", "playbook", "version", "before", "region", "zone", "open", "created_at"}}
	rollouts := &table{name: "rollouts", columns: []string{"id", "state", "plan", "wave", "waves", "reason", "ended_at", "created_at", "updated_at"}}
	targets := &table{name: "rollout_targets", columns: []string{
		"rollout_id", "target_id", "name", "region", "zone", "wave", "state", "reason", "told_at", "ended_at",
	}}
	w.more = append(w.more, deliveries, rollouts, targets)
	made, ended := w.ago(5*time.Hour), w.ago(4*time.Hour)
	id := w.id()
	deliveries.add(id, "initialize-2", "host_initialize", 2, 1, "", "", false, made)
	plan := map[string]any{"first": 10, "groups": 3, "gap_ms": 60_000, "within_ms": 900_000, "limit": 0, "by_zone": false, "window": map[string]any{}, "canaries": []string{w.ended[0].name}}
	for n, h := range w.ended[:4] {
		told := made.Add(2 * time.Minute)
		if n == 0 {
			targets.add(id, h.id, h.name, h.place.region, h.place.zone, 1, "returned", "Its jobs are bound to the default.", &told, &ended)
			continue
		}
		targets.add(id, h.id, h.name, h.place.region, h.place.zone, 2, "waiting", "", nil, nil)
	}
	rollouts.add(id, "returned", plan, 1, 2, "Each target that was told has gone back.", &ended, made, ended)
}

// releaseUpdate makes a delivery of a release that a condition halted behind its first machine.
func (w *world) releaseUpdate() {
	deliveries := &table{name: "release_deliveries", columns: []string{"id", "name", "version", "open", "created_at"}}
	rollouts := &table{name: "rollouts", columns: []string{"id", "state", "plan", "wave", "waves", "reason", "created_at", "updated_at"}}
	targets := &table{name: "rollout_targets", columns: []string{
		"rollout_id", "target_id", "name", "region", "zone", "wave", "state", "reason", "told_at", "ended_at",
	}}
	w.more = append(w.more, deliveries, rollouts, targets)
	made, ended := w.ago(3*time.Hour), w.ago(2*time.Hour)
	id, told := w.id(), made.Add(2*time.Minute)
	deliveries.add(id, "v1.5.0", "v1.5.0", true, made)
	plan := map[string]any{"first": 10, "groups": 3, "gap_ms": 60_000, "within_ms": 3_600_000, "limit": 0, "one_by_one": true, "window": map[string]any{}}
	wrong := "Something became wrong since it was told. policy on_time: The policy drift is 95 s late."
	targets.add(id, w.id(), "backend-1", "", "backend", 1, "failed", wrong, &told, &ended)
	targets.add(id, w.id(), "backend-2", "", "backend", 2, "waiting", "", nil, nil)
	targets.add(id, w.id(), "web-1.example.org:8090", "", "web app", 3, "waiting", "", nil, nil)
	rollouts.add(id, "halted", plan, 1, 3, "1 target failed. The last was backend-1: "+wrong, made, ended)
}

// updates makes two builds of the agent, and a delivery that a bad one halted and that was rolled back.
func (w *world) updates() {
	builds := &table{name: "agent_builds", columns: []string{
		"version", "arch", "manifest", "signature", "lowest_before", "expires_at", "size_bytes", "sha256", "parts", "created_at",
	}}
	deliveries := &table{name: "update_deliveries", columns: []string{"id", "workspace_id", "name", "version", "region", "zone", "open", "created_at"}}
	rollouts := &table{name: "rollouts", columns: []string{"id", "state", "plan", "wave", "waves", "reason", "ended_at", "created_at", "updated_at"}}
	targets := &table{name: "rollout_targets", columns: []string{
		"rollout_id", "target_id", "name", "region", "zone", "wave", "state", "reason", "told_at", "ended_at",
	}}
	w.more = append(w.more, builds, deliveries, rollouts, targets)
	made, ended := w.ago(7*time.Hour), w.ago(6*time.Hour)
	for n, version := range []string{"v1.3.0", "v1.4.0"} {
		for _, arch := range []string{"amd64", "arm64"} {
			sum := bytes.Repeat([]byte{byte(n + 1), arch[1]}, 16)
			builds.add(version, arch, []byte("{}"), []byte{}, "", w.now.AddDate(0, 5, 0), 7_900_000+n, sum, 0, w.ago(time.Duration(200-100*n)*time.Hour))
		}
	}
	id := w.id()
	deliveries.add(id, w.workspace, "agent-1.4.0", "v1.4.0", "", "", false, made)
	plan := map[string]any{"first": 10, "groups": 3, "gap_ms": 60_000, "within_ms": 900_000, "limit": 0, "by_zone": false, "window": map[string]any{}}
	for n, h := range w.ended[:min(8, len(w.ended))] {
		told := made.Add(2 * time.Minute)
		switch {
		case n == 0:
			plan["canaries"] = []string{h.name}
			targets.add(id, h.id, h.name, h.place.region, h.place.zone, 1, "failed", "It ended by itself 3 times before a heartbeat was accepted.", &told, &ended)
		case n < 3:
			targets.add(id, h.id, h.name, h.place.region, h.place.zone, 2, "returned", "", &told, &ended)
		default:
			targets.add(id, h.id, h.name, h.place.region, h.place.zone, 3, "skipped", "It was not told before the way back began.", nil, &ended)
		}
	}
	rollouts.add(id, "returned", plan, 2, 3, "Each host that was told is back.", &ended, made, ended)
}
