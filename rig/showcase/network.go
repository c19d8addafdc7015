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
	w.zoneGrants(at)
	storage, theirs := w.id(), w.id()
	t.add(storage, w.workspace, "storage", "Between the disk shelves", "10.90.0.0/16", at, at)
	t.add(theirs, w.acmeLive, "shop-floor", "Ground floor", "10.91.0.0/24", at, at)
	lent := &table{name: "network_grants", columns: []string{"id", "workspace_id", "network_id", "scope", "scope_id", "addresses", "created_by", "created_at", "updated_at"}}
	w.more = append(w.more, lent)
	lent.add(w.id(), w.workspace, storage, "organization", w.acmeID, int64(20), "admin", at, at)
	lent.add(w.id(), w.acmeLive, theirs, "organization", w.org, nil, ownerOfAcme, at, at)
}

// zoneGrants shares a part of a zone with acme, and one of acme with everybody here.
func (w *world) zoneGrants(at time.Time) {
	theirs, live := w.id(), w.acmeLive
	w.zones.add(theirs, live, "shared.example.", "rfc2136", "ns1.acme.example:53", false, "acme-key.", "hmac-sha256", []byte("sealed"), []string{}, "sync",
		"live", "", "", int64(2), int64(2), int64(2026031401), int64(300), at, nil, 0, 0, int64(1), at)
	t := &table{name: "dns_zone_grants", columns: []string{"id", "workspace_id", "zone_id", "scope", "scope_id", "suffix", "created_by", "created_at", "updated_at"}}
	w.more = append(w.more, t)
	t.add(w.id(), w.workspace, w.zones.rows[0][0], "organization", w.acmeID, "acme.kloigos.example.", "admin", at, at)
	t.add(w.id(), live, theirs, "organization", w.org, "shared.example.", ownerOfAcme, at, at)
}
