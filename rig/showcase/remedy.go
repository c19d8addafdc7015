package showcase

import "time"

// remedies makes one that was refused once, and one that nobody has enabled yet.
func (w *world) remedies() {
	t := &table{name: "remedies", columns: []string{
		"id", "workspace_id", "name", "noun", "condition", "job", "wait_seconds", "per_day", "at_once", "enabled", "created_at", "updated_at",
	}}
	runs := &table{name: "remedy_runs", columns: []string{"id", "remedy_id", "object_id", "object_name", "reason", "at", "outcome", "job_id", "message"}}
	w.more = append(w.more, t, runs)
	at, id := w.ago(20*24*time.Hour), w.id()
	t.add(id, w.workspace, "probe-again", "host", "healthy", "host_probe", 600, 3, 2, true, at, at)
	t.add(w.id(), w.workspace, "sync-again", "dns_zone", "synced", "zone_sync", 300, 3, 2, false, at, at)
	if len(w.ended) > 0 {
		h := w.ended[len(w.ended)-1]
		runs.add(w.id(), id, h.id, h.name, "unreachable", w.ago(3*24*time.Hour), "refused", nil, "The host is being probed already.")
	}
}
