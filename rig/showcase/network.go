package showcase

import "time"

// networks makes the network that all hosts carry, and one that none does yet.
func (w *world) networks() {
	t := &table{name: "networks", columns: []string{"id", "workspace_id", "name", "description", "cidr", "created_at", "updated_at"}}
	w.more = append(w.more, t)
	at := w.ago(41 * 24 * time.Hour)
	t.add(w.id(), w.workspace, "default", "Uplink of all racks", "", at, at)
	t.add(w.id(), w.workspace, "storage", "Between the disk shelves", "10.90.0.0/16", at, at)
}
