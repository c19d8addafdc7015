package store

import "kloigos/backend/internal/kernel/db"

// On PostgreSQL a unit that may be on any host is found by walking along an
// index of what is free. The offsets keep the planner from joining all units
// with all hosts, or with all addresses, first; so the same plan is right for
// all requests and is kept, where otherwise each would be planned, which takes
// longer than the walk. A plan that was made while the tables were nearly empty
// stays until they are analysed.
const (
	sqlPlanOnce    = `SET LOCAL plan_cache_mode = force_generic_plan`
	sqlPlanAsUsual = `SET LOCAL plan_cache_mode TO DEFAULT`
)

const sqlWalkFrom = `
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN LATERAL (SELECT k.id, k.state, k.health, k.job_health, k.region, k.zone, k.labels, k.admin_user, k.networks, k.unit_networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1`

// What the filters of these names ask, of one unit at a time.
const (
	loginNotTaken = `NOT EXISTS (SELECT 1 FROM allocations a
                 WHERE a.host_id = u.host_id AND a.login_user = ? AND a.ended_at IS NULL
                OFFSET 0)`
	// By the order it takes the index, however many addresses the planner believes
	// to be free.
	withFreeAddress = `EXISTS (SELECT 1 FROM unnest(h.networks) AS n(name)
                 WHERE (? = '' OR n.name = ?)
                   AND (SELECT p.id FROM addresses p
                         WHERE p.workspace_id = u.workspace_id AND p.network = n.name AND p.state = 'free'
                         ORDER BY p.shuffle LIMIT 1) IS NOT NULL
                OFFSET 0)`
)

// sampleSearches looks at some of the units that a request is most likely to get: where it
// may be that many hosts fit, one of them mostly does, however few the planner
// believes in.
func (w Wanted) sampleSearches() []*db.List { return []*db.List{w.someFrom(shuffle()), w.someFrom(0)} }

func (w Wanted) all() []*db.List {
	return []*db.List{w.inZone(w.walk()).And(onAnyRoomyHost), w.inZone(w.walk())}
}

func (w Wanted) walk() *db.List {
	l := db.NewList(sqlWalkFrom, w.WorkspaceID)
	l.PlannedOnce()
	for _, f := range w.filters() {
		switch f.name {
		case "login_user":
			l.And(loginNotTaken, f.values...)
		case "address":
			l.And(withFreeAddress, f.values...)
		default:
			l.And(f.condition, f.values...)
		}
	}
	return l
}

// onAnyRoomyHost is onRoomyHost for many units: it adds up the units of all
// hosts, once. Compared with a value it does not become a join.
const onAnyRoomyHost = `(u.host_id IN (SELECT o.host_id FROM compute_units o
                 WHERE o.workspace_id = $1 AND o.state <> 'removed'
                 GROUP BY o.host_id
                HAVING ` + roomy + `)) = true`

// The free units of the smallest size that is large enough, 32 of them in the
// order of their shuffle: where few hosts are roomy, more of them would cost
// more than to add up all hosts.
const (
	freeSize = `(SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= ?` + onReadyHost + `
                 ORDER BY s.cpu_count LIMIT 1)`
	freeSizeInZone = `(SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= ? AND s.zone = ?` + onReadyHost + `
                 ORDER BY s.cpu_count LIMIT 1)`
	onReadyHost = ` AND EXISTS (SELECT 1 FROM hosts k
                         WHERE k.id = s.host_id AND k.state = 'ready' AND k.health <> 'unreachable' AND k.job_health <> 'degraded'
                        OFFSET 0)`
	upToTheLast = `u.shuffle <= COALESCE((SELECT c.shuffle FROM compute_units c
                 WHERE c.workspace_id = $1 AND c.state = 'free' AND c.shuffle >= ? AND c.cpu_count = ` + freeSize + `
                 ORDER BY c.shuffle OFFSET 31 LIMIT 1), 2147483647)`
	upToTheLastInZone = `u.shuffle <= COALESCE((SELECT c.shuffle FROM compute_units c
                 WHERE c.workspace_id = $1 AND c.state = 'free' AND c.shuffle >= ? AND c.zone = ? AND c.cpu_count = ` + freeSizeInZone + `
                 ORDER BY c.shuffle OFFSET 31 LIMIT 1), 2147483647)`
)

// someFrom looks at a few units, from a place on.
func (w Wanted) someFrom(from int32) *db.List {
	l := w.inZone(w.walk()).And("u.shuffle >= ?", from).And(onRoomyHost)
	if w.Zone == "" {
		return l.And("u.cpu_count = "+freeSize, w.MinCPUs).And(upToTheLast, from, w.MinCPUs)
	}
	return l.And("u.cpu_count = "+freeSizeInZone, w.MinCPUs, w.Zone).And(upToTheLastInZone, from, w.Zone, w.MinCPUs, w.Zone)
}
