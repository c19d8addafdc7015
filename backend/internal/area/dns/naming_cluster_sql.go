package dns

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

// The first control plane of a cluster that is being made has not joined yet: the name leads to it. Afterwards it leads to those that are in
// the cluster, on hosts that are there.
const (
	sqlNamedCluster = `
SELECT o.id, o.workspace_id, o.name, o.endpoint, o.state,
       ARRAY(SELECT COALESCE(NULLIF(h.facts->'uplink'->>'address', ''), h.address)
               FROM kube_nodes n
               JOIN hosts h ON h.id = n.host_id
              WHERE n.cluster_id = o.id AND n.role = 'control_plane' AND n.state IN ('joined', 'ready', 'not_ready') AND h.state <> 'lost'
              ORDER BY n.name) AS joined,
       ARRAY(SELECT COALESCE(NULLIF(h.facts->'uplink'->>'address', ''), h.address)
               FROM kube_nodes n
               JOIN hosts h ON h.id = n.host_id
              WHERE n.cluster_id = o.id AND n.role = 'control_plane'
              ORDER BY n.name
              LIMIT 1) AS planned
  FROM kube_clusters o
 WHERE o.id = $1`

	sqlClustersToName = `
SELECT o.id
  FROM kube_clusters o
 WHERE o.id > $1 AND` + usesNames + `
 ORDER BY o.id
 LIMIT $2`

	sqlClustersOfWorkspace = `
SELECT o.id
  FROM kube_clusters o
 WHERE o.workspace_id = $1
 ORDER BY o.id`

	sqlClustersByGrant = `
SELECT o.id
  FROM kube_clusters o
  JOIN dns_naming_choices c ON c.workspace_id = o.workspace_id
 WHERE c.zone_grant_id = $1
 ORDER BY o.id`
)

// A cluster has its own name, from the request until it is being deleted. It leads to where its API server is reached: the address of
// its endpoint, or the control planes if the endpoint has a name.
var clusterNames = NamedNoun{
	Noun: ClusterNoun, ofWorkspace: sqlClustersOfWorkspace, byGrant: sqlClustersByGrant,
	Load: func(ctx context.Context, q db.Reader, id uuid.UUID) (Named, error) {
		return namedCluster(ctx, q, sqlNamedCluster, id)
	},
	keep: func(ctx context.Context, tx *db.Tx, id uuid.UUID) (Named, error) {
		return namedCluster(ctx, tx.Reader, sqlNamedCluster+" FOR SHARE OF o", id)
	},
	ToName: func(ctx context.Context, q db.Reader, after uuid.UUID, limit int) ([]uuid.UUID, error) {
		return db.IDs(ctx, q, "list clusters to name", sqlClustersToName, after, limit)
	},
}

func namedCluster(ctx context.Context, q db.Reader, sql db.Statement, id uuid.UUID) (Named, error) {
	type cluster struct {
		ID          uuid.UUID `db:"id"`
		WorkspaceID uuid.UUID `db:"workspace_id"`
		Name        string    `db:"name"`
		Endpoint    string    `db:"endpoint"`
		State       string    `db:"state"`
		Joined      []string  `db:"joined"`
		Planned     []string  `db:"planned"`
	}
	c, err := db.First[cluster](ctx, q, fault.ErrNotFound, sql, id)
	n := Named{Noun: ClusterNoun, ID: c.ID, WorkspaceID: c.WorkspaceID, Label: c.Name, Addresses: c.Joined}
	n.Ended = strings.HasPrefix(c.State, "delet")
	if len(n.Addresses) == 0 {
		n.Addresses = c.Planned
	}
	if host, _, err := net.SplitHostPort(c.Endpoint); err == nil {
		if _, err := netip.ParseAddr(host); err == nil {
			n.Addresses = []string{host}
		}
	}
	slices.Sort(n.Addresses)
	n.Has = !n.Ended && len(n.Addresses) > 0
	return n, err
}

// NameOfCluster is the name that a cluster is to have in a zone of its workspace, with its final dot, and whether the name servers
// have all of it. "" if no zone names it, or none may any more.
func NameOfCluster(ctx context.Context, q db.Reader, id uuid.UUID) (name string, live bool, err error) {
	n, err := clusterNames.Load(ctx, q, id)
	if err != nil {
		return "", false, err
	}
	zones, err := NamingZones(ctx, q, n.WorkspaceID)
	if err != nil {
		return "", false, err
	}
	wanted := n.Wanted(slices.DeleteFunc(zones, func(z NamingZone) bool { return z.Ended }))
	if len(wanted) == 0 {
		return "", false, nil
	}
	have, err := RecordSetsOf(ctx, q, n.owner())
	if err != nil {
		return "", false, err
	}
	for _, w := range wanted {
		there := slices.ContainsFunc(have, func(m ManagedSet) bool {
			return m.State == SetLive && m.Revision == m.LiveRevision && m.ZoneID == w.Zone.ID && string(m.Type) == w.Draft.Type && sameName(w.Draft.Name, m.Name)
		})
		if !there {
			return wanted[0].Draft.Name, false, nil
		}
	}
	return wanted[0].Draft.Name, true, nil
}
