package showcase

import "time"

// networks makes the network that all hosts carry, and one that none does yet.
func (w *world) networks() {
	t := &table{name: "networks", columns: []string{"id", "workspace_id", "name", "description", "cidr", "created_at", "updated_at"}}
	w.more = append(w.more, t)
	at := w.ago(41 * 24 * time.Hour)
	t.add(w.id(), w.workspace, "default", "Uplink of all racks", "", at, at)
	grants := &table{name: "host_grants", columns: []string{"id", "workspace_id", "host_id", "scope", "scope_id", "units", "created_by", "created_at", "updated_at"}}
	w.more = append(w.more, grants)
	for i, units := range []any{nil, int64(2)} { // of two hosts, if there are so many
		if i < len(w.hosts.rows) {
			grants.add(w.id(), w.workspace, w.hosts.rows[i][0], "organization", w.acmeID, units, "admin", at, at)
		}
	}
	t.add(w.id(), w.workspace, "storage", "Between the disk shelves", "10.90.0.0/16", at, at)
}
