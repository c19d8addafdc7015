package store

import (
	"cmp"
	"context"
	"math"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
)

// Wanted is what a unit must be to be picked for an allocation.
type Wanted struct {
	WorkspaceID  uuid.UUID
	UnitID       *uuid.UUID // this one
	HostID       *uuid.UUID // on this host
	MinCPUs      int
	Region, Zone string            // "" for any
	Network      string            // an address of it; "" for any that the host carries
	HostLabels   map[string]string // that the host must have
	LoginUser    string            // that nobody has on the host
}

// Picked is a unit that was picked and is now allocating.
type Picked struct {
	ID       uuid.UUID `db:"id"`
	HostID   uuid.UUID `db:"host_id"`
	Name     string    `db:"name"`
	Networks []string  `db:"networks"`
}

// One row for each filter of a placement: a name, a condition over u
// (compute_units) and h (hosts) and its value. The same rows pick a unit and
// explain why none fits.
type placementFilter struct {
	name      string
	condition statement
	value     any
	why       string
	one       statement // the condition for picking one, "" if it is the same
}

// Whether such a row exists. Where one unit is picked it has an offset, behind
// which PostgreSQL looks for each unit that it comes by; otherwise it may look
// for all units first.
const (
	loginTaken  = `allocations a WHERE a.host_id = u.host_id AND a.login_user = ? AND a.ended_at IS NULL`
	freeAddress = `addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND (? = '' OR p.network = ?)`
)

func (w Wanted) filters() []placementFilter {
	all := []placementFilter{{name: "unit_state", condition: "u.state = 'free'", why: "is not free"}}
	add := func(use bool, name string, condition statement, value any, why string, one ...statement) {
		if use {
			all = append(all, placementFilter{name, condition, value, why, cmp.Or(one...)})
		}
	}
	add(w.UnitID != nil, "unit", "u.id = ?", w.UnitID, "is not the unit that was named")
	add(w.HostID != nil, "host", "u.host_id = ?", w.HostID, "is not on the host that was named")
	add(true, "host_state", "h.state = 'ready'", nil, "is on a host that is not ready")
	add(true, "host_health", "h.health <> 'unreachable'", nil, "is on a host that was unreachable when last seen")
	add(w.MinCPUs > 0, "cpus", "u.cpu_count >= ?", w.MinCPUs, "has too few CPUs")
	add(w.Region != "", "region", "h.region = ?", w.Region, "is in another region")
	add(w.Zone != "", "zone", "h.zone = ?", w.Zone, "is in another zone")
	add(len(w.HostLabels) > 0, "host_labels", "h.labels @> ?", w.HostLabels, "is on a host without the labels")
	add(w.LoginUser != "", "admin_user", "h.admin_user <> ?", w.LoginUser, "is on a host whose administrator has the login user")
	add(w.LoginUser != "", "login_user", "NOT EXISTS (SELECT 1 FROM "+loginTaken+")", w.LoginUser, "is on a host where the login user is taken",
		"NOT EXISTS (SELECT 1 FROM "+loginTaken+" OFFSET 0)")
	add(w.Network != "", "network", "? = ANY(h.networks)", w.Network, "is on a host that does not carry the network")
	add(true, "address", "EXISTS (SELECT 1 FROM "+freeAddress+")", w.Network, "is on a host whose networks have no free address",
		"EXISTS (SELECT 1 FROM "+freeAddress+" OFFSET 0)")
	return all
}

// sqlPickFrom goes from unit to unit and looks at the host of each: the offset
// keeps PostgreSQL from beginning with the hosts.
const sqlPickFrom = `
SELECT u.id, u.host_id, u.name, h.networks
  FROM compute_units u
  JOIN LATERAL (SELECT k.state, k.health, k.region, k.zone, k.labels, k.admin_user, k.networks
                  FROM hosts k
                 WHERE k.id = u.host_id
                OFFSET 0) AS h ON true
 WHERE u.workspace_id = $1`

const sqlTakeUnit = `
UPDATE compute_units
   SET state = 'allocating', state_message = '', version = version + 1, updated_at = now()
 WHERE id = $1 AND state = 'free'`

// A host is roomy while of its CPUs, those of all its units, less than 72 % are
// in use: one that is aimed below full has room to mend and to grow. So says
// docs/architecture.md.
const (
	roomy = `sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72`
	// onRoomyHost adds up the units of one host for every unit that is looked at.
	onRoomyHost = `EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = u.host_id AND o.state <> 'removed'
                HAVING ` + roomy + `)`
	// onAnyRoomyHost adds up those of all hosts, once. As a value that is compared
	// it is no join, with which PostgreSQL would look at all units that are free.
	onAnyRoomyHost = `(u.host_id IN (SELECT o.host_id FROM compute_units o
                 WHERE o.workspace_id = $1 AND o.state <> 'removed'
                 GROUP BY o.host_id
                HAVING ` + roomy + `)) = true`
)

// PickUnit takes the smallest free unit that fits, on a host under 72 % use
// while there is one; among units alike in size, a random one. False if there is none:
// also none that another request holds and may give back, for whoever found
// nothing beside the locked rows waits for those and looks again.
func (tx *Tx) PickUnit(ctx context.Context, w Wanted) (Picked, bool, error) {
	if w.UnitID == nil && w.HostID == nil {
		picked, ok, err := tx.pickOnRoomyHost(ctx, w)
		if ok || err != nil {
			return picked, ok, err
		}
	}
	for range 16 {
		picked, ok, err := tx.pickFree(ctx, w.quick())
		if ok || err != nil {
			return picked, ok, err
		}
		sql, args := w.list(sqlPickFrom).locked("u.cpu_count, u.shuffle", 1, "FOR UPDATE OF u")
		picked, ok, err = tx.pickOnce(ctx, sql, args)
		if ok || err != nil {
			return picked, ok, err
		}
		// A row that was waited for and went to someone else gives no row, even
		// where others are free.
		sql, args = w.list(sqlPickFrom).page("u.cpu_count, u.shuffle", 1)
		left, err := collect[Picked](ctx, tx.q, sql, args...)
		if err != nil || len(left) == 0 {
			return Picked{}, false, err
		}
	}
	return Picked{}, false, nil
}

func (tx *Tx) pickOnRoomyHost(ctx context.Context, w Wanted) (Picked, bool, error) {
	for _, l := range w.onRoomyHosts(tx.postgres()) {
		if picked, ok, err := tx.pickFree(ctx, l); ok || err != nil {
			return picked, ok, err
		}
	}
	return Picked{}, false, nil
}

// onRoomyHosts looks at some of the units that a request is most likely to get,
// then at all. On CockroachDB a plain read waits for whoever writes the row, and
// the row must be the same at the commit: there nothing is read but what may be
// taken, and its host.
func (w Wanted) onRoomyHosts(postgres bool) []*list {
	if postgres {
		return []*list{w.some(shuffle()).and(onRoomyHost), w.some(0).and(onRoomyHost), w.quick().and(onAnyRoomyHost)}
	}
	ofThisSize := w.quick().and("u.cpu_count = ?", max(1, w.MinCPUs)).and("u.shuffle >= ?", shuffle())
	return []*list{ofThisSize.and(onRoomyHost), w.quick().and(onRoomyHost)}
}

// pickFree takes a unit that nobody else is about to take.
func (tx *Tx) pickFree(ctx context.Context, l *list) (Picked, bool, error) {
	sql, args := l.locked("u.cpu_count, u.shuffle", 1, "FOR UPDATE OF u SKIP LOCKED")
	return tx.pickOnce(ctx, sql, args)
}

// Whatever is wanted, a unit is found along an index of what is free, and that
// is how sqlPickFrom is planned also where no value is known. PostgreSQL would
// plan it with each request, which takes longer than to find the unit.
const (
	sqlPlanOnce    = `SET LOCAL plan_cache_mode = force_generic_plan`
	sqlPlanAsUsual = `SET LOCAL plan_cache_mode = auto`
)

func (tx *Tx) pickOnce(ctx context.Context, sql statement, args []any) (Picked, bool, error) {
	b, found := &batch{}, []Picked{}
	if tx.postgres() {
		b.pgx.Queue(sqlPlanOnce)
	}
	askAll(b, "pick a unit", &found, sql, args...)
	if tx.postgres() {
		b.pgx.Queue(sqlPlanAsUsual)
	}
	if err := tx.q.sendBatch(ctx, b); err != nil || len(found) == 0 {
		return Picked{}, false, err
	}
	n, err := tx.exec(ctx, sqlTakeUnit, found[0].ID)
	return found[0], n == 1, err
}

// The free units of the smallest size that is large enough, 32 of them in the
// order of their shuffle. If those who ask at once all began with the first,
// each would look at all that the others have locked; and where few hosts are
// roomy, they would look at all units of the others.
const (
	ofFreeSize = `(SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= ?
                 ORDER BY s.cpu_count LIMIT 1)`
	ofFreeSizeInZone = `(SELECT s.cpu_count FROM compute_units s
                 WHERE s.workspace_id = $1 AND s.state = 'free' AND s.cpu_count >= ? AND s.zone = ?
                 ORDER BY s.cpu_count LIMIT 1)`
	upToTheLast = `u.shuffle <= COALESCE((SELECT c.shuffle FROM compute_units c
                 WHERE c.workspace_id = $1 AND c.state = 'free' AND c.shuffle >= ? AND c.cpu_count = ` + ofFreeSize + `
                 ORDER BY c.shuffle OFFSET 31 LIMIT 1), 2147483647)`
	upToTheLastInZone = `u.shuffle <= COALESCE((SELECT c.shuffle FROM compute_units c
                 WHERE c.workspace_id = $1 AND c.state = 'free' AND c.shuffle >= ? AND c.zone = ? AND c.cpu_count = ` + ofFreeSizeInZone + `
                 ORDER BY c.shuffle OFFSET 31 LIMIT 1), 2147483647)`
)

// some is a look at a few units, from a place on.
func (w Wanted) some(from int32) *list {
	l := w.quick().and("u.shuffle >= ?", from)
	if w.Zone == "" {
		return l.and("u.cpu_count = "+ofFreeSize, w.MinCPUs).and(upToTheLast, from, w.MinCPUs)
	}
	return l.and("u.cpu_count = "+ofFreeSizeInZone, w.MinCPUs, w.Zone).and(upToTheLastInZone, from, w.Zone, w.MinCPUs, w.Zone)
}

// quick looks, in a zone, only at units that are noted as being there, which an
// index finds however many others are free. A unit without the note is found by
// a look that is not quick.
func (w Wanted) quick() *list {
	l := w.list(sqlPickFrom)
	if w.Zone != "" {
		l.and("u.zone = ?", w.Zone)
	}
	return l
}

func (w Wanted) list(base statement) *list {
	l := newList(base, w.WorkspaceID)
	l.plannedOnce()
	for _, f := range w.filters() {
		f.condition = cmp.Or(f.one, f.condition)
		f.add(l)
	}
	return l
}

func (f placementFilter) add(l *list) {
	switch {
	case f.name == "address":
		l.and(f.condition, f.value, f.value)
	case f.value == nil:
		l.and(f.condition)
	default:
		l.and(f.condition, f.value)
	}
}

const sqlCountFrom = `
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1`

// Explanation says why no unit fits.
type Explanation struct {
	Units    int // that the caller may use at all
	RuledOut []domain.RuledOut
	// LargestFree is the most CPUs that a unit has which fits but for its
	// size; 0 if there is none.
	LargestFree int
	// Without is the first filter without which something fits, "" if none.
	Without string
}

// WhyNot counts, filter by filter, what ruled the units out.
func (r Reads) WhyNot(ctx context.Context, w Wanted) (Explanation, error) {
	filters := w.filters()
	count := func(use func(int) bool) (n, largest int, err error) {
		l := newList(sqlCountFrom, w.WorkspaceID).and("u.state <> 'removed'")
		for i, f := range filters {
			if use(i) {
				f.add(l)
			}
		}
		sql, args := l.all()
		err = r.q.QueryRow(ctx, sql, args...).Scan(&n, &largest)
		return n, largest, err
	}
	var e Explanation
	left := math.MaxInt
	for i := -1; i < len(filters) && left > 0; i++ { // where nothing is left, no filter can rule anything out
		n, _, err := count(func(k int) bool { return k <= i })
		if err != nil {
			return Explanation{}, err
		}
		if i < 0 {
			e.Units = n
		} else if n < left {
			e.RuledOut = append(e.RuledOut, domain.RuledOut{Filter: filters[i].name, Why: filters[i].why, Units: left - n})
		}
		left = n
	}
	for i, f := range filters {
		if f.name != "cpus" && e.Without != "" && e.Without != "unit_state" {
			continue // the first one is told; only the size says more
		}
		n, largest, err := count(func(k int) bool { return k != i })
		if err != nil {
			return Explanation{}, err
		}
		if n == 0 {
			continue
		}
		if f.name == "cpus" {
			e.LargestFree = largest
		}
		if e.Without == "" || e.Without == "unit_state" {
			e.Without = f.name
		}
	}
	return e, nil
}
