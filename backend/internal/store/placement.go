package store

import (
	"context"
	"math"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
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
	UnitNetworks bool              // on a host whose units can have networks of their own

	lent   bool // with an address of a network of another workspace that is granted to this one
	shared bool // on hosts of other workspaces that are granted to this one
}

// Picked is a unit that was picked and is now allocating.
type Picked struct {
	ID          uuid.UUID `db:"id"`
	WorkspaceID uuid.UUID `db:"workspace_id"` // of its host; addresses are those of its networks
	HostID      uuid.UUID `db:"host_id"`
	Name        string    `db:"name"`
	Networks    []string  `db:"networks"`
	// UnitNetworks tells whether the host can give the unit a network of its own.
	UnitNetworks bool `db:"unit_networks"`
	// Lent tells that it has no free address of its own workspace, but one of a network of another workspace.
	Lent bool `db:"lent"`
}

// One row for each filter of a placement: a name, a condition over u
// (compute_units) and h (hosts) and its values. The same rows pick a unit and
// explain why none fits.
type placementFilter struct {
	name      string
	condition db.Statement
	values    []any
	why       string
}

func (w Wanted) filters() []placementFilter {
	var all []placementFilter
	add := func(use bool, name, why string, condition db.Statement, values ...any) {
		if use {
			all = append(all, placementFilter{name, condition, values, why})
		}
	}
	add(true, "unit_state", "is not free", "u.state = 'free'")
	add(w.UnitID != nil, "unit", "is not the unit that was named", "u.id = ?", w.UnitID)
	add(w.HostID != nil, "host", "is not on the host that was named", "u.host_id = ?", w.HostID)
	add(true, "host_state", "is on a host that is not ready", "h.state = 'ready'")
	add(true, "host_health", "is on a host that is unreachable, or that a job found degraded", "h.health <> 'unreachable' AND h.job_health <> 'degraded'")
	add(w.MinCPUs > 0, "cpu_count", "has too few CPUs", "u.cpu_count >= ?", w.MinCPUs)
	add(w.Region != "", "region", "is in another region", "h.region = ?", w.Region)
	add(w.Zone != "", "zone", "is in another zone", "h.zone = ?", w.Zone)
	add(len(w.HostLabels) > 0, "host_labels", "is on a host without the labels", "h.labels @> ?", w.HostLabels)
	add(w.LoginUser != "", "admin_user", "is on a host whose administrator has the login user", "h.admin_user <> ?", w.LoginUser)
	add(w.LoginUser != "", "login_user", "is on a host where the login user is taken",
		"NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = ? AND a.ended_at IS NULL)", w.LoginUser)
	add(w.UnitNetworks, "unit_networks", "is on a host that can't give it a network of its own, or was not probed for it", "h.unit_networks")
	add(w.Network != "", "network", "is on a host that does not carry the network", "?::TEXT = ANY(h.networks)", w.Network)
	add(!w.lent, "address", noAddress, withOwnAddress, w.Network, w.Network)
	add(w.lent, "address", noAddress, withLentAddress, w.Network, w.Network)
	return all
}

const noAddress = "is on a host whose networks have no free address"

const withOwnAddress = `EXISTS (SELECT 1 FROM addresses p
                 WHERE p.workspace_id = u.workspace_id AND p.network = ANY(h.networks) AND p.state = 'free' AND (? = '' OR p.network = ?))`

// Hosts name the networks of other workspaces that they carry by their ids. What a workspace may take of them is for its own hosts:
// who uses those by a grant gets none of it.
const (
	withLentAddress = `u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM shared_networks ns
                 WHERE ns.room > 0 AND ns.network_id::TEXT = ANY(h.networks) AND (? = '' OR ns.network_id::TEXT = ?)
                   AND EXISTS (SELECT 1 FROM addresses np WHERE np.workspace_id = ns.workspace_id AND np.network = ns.name AND np.state = 'free'))`

	withAnyAddress = `(` + withOwnAddress + ` OR ` + withLentAddress + `)`

	// Hosts that carry a network of another workspace of which the grants give no more. Whether it has more free addresses is not told.
	atItsLimit = `u.workspace_id = $1
   AND EXISTS (SELECT 1 FROM networks nk
                WHERE nk.workspace_id <> $1 AND nk.id::TEXT = ANY(h.networks) AND (? = '' OR nk.id::TEXT = ?)
                  AND NOT EXISTS (SELECT 1 FROM shared_networks nr WHERE nr.network_id = nk.id AND nr.room > 0))`

	// Together they ask for an address that the workspace may use.
	withinGrants = `(` + withAnyAddress + ` OR NOT (` + atItsLimit + `))`
	withAddress  = `(` + withAnyAddress + ` OR ` + atItsLimit + `)`
)

// sharedNetworks is what the conditions about networks of other workspaces look at.
const sharedNetworks = `shared_networks AS (` + iam.RoomInSharedNetworks + `)`

const (
	unitOfOwnHost = `
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.workspace_id = $1`

	sqlPickFrom db.Statement = `
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent` + unitOfOwnHost

	sqlPickLentFrom db.Statement = `
WITH ` + sharedNetworks + `
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, true AS lent` + unitOfOwnHost
)

const sqlPickSharedFrom = `
SELECT u.id, u.workspace_id, u.host_id, u.name, h.networks, h.unit_networks, false AS lent
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE u.host_id IN (SELECT s.host_id
                       FROM (` + iam.RoomOnSharedHosts + `) s
                      WHERE s.room > 0)`

const sqlTakeUnit = `
UPDATE compute_units
   SET state = 'allocating', state_message = '', version = version + 1, updated_at = now()
 WHERE id = $1 AND state = 'free'`

// onRoomyHost holds for units of hosts of whose CPUs, those of all their units,
// less than 72 % are in use: a host that is aimed below full has room to mend
// and to grow. So says docs/architecture.md. It is asked of the host, so that a
// plan that begins with few hosts asks once for each of them.
const onRoomyHost = `EXISTS (SELECT 1 FROM compute_units o
                 WHERE o.host_id = h.id AND o.state <> 'removed'
                HAVING ` + roomy + `)`

const roomy = `sum(CASE WHEN o.state = 'free' THEN 0 ELSE o.cpu_count END) * 100 < sum(o.cpu_count) * 72`

// PickUnit takes a unit of the workspace's own hosts: with an address of its own, or else with one of a network that is granted to
// it. Otherwise it takes one of a host that is granted to it. Whoever gets one of those holds the grant next, with iam.Lend or
// iam.LetIn.
func (tx *Tx) PickUnit(ctx context.Context, w Wanted) (Picked, bool, error) {
	picked, ok, err := tx.pickUnit(ctx, w)
	if ok || err != nil {
		return picked, ok, err
	}
	w.lent = true
	if picked, ok, err = tx.pickUnit(ctx, w); ok || err != nil {
		return picked, ok, err
	}
	w.lent, w.shared = false, true
	return tx.pickUnit(ctx, w)
}

// pickUnit takes the smallest free unit that fits, on a host under 72 % use
// while there is one; among units alike in size, a random one. False if there is none:
// also none that another request holds and may give back, for whoever found
// nothing beside the locked rows waits for those and looks again.
func (tx *Tx) pickUnit(ctx context.Context, w Wanted) (Picked, bool, error) {
	for range 16 {
		for _, l := range w.searches(tx.Postgres()) {
			if picked, ok, err := tx.pickFree(ctx, l); ok || err != nil {
				return picked, ok, err
			}
		}
		picked, ok, err := tx.pickOnce(ctx, w.list(w.from()), "FOR UPDATE OF u")
		if ok || err != nil {
			return picked, ok, err
		}
		// A row that was waited for and went to someone else gives no row, even
		// where others are free.
		sql, args := w.list(w.from()).Page("u.cpu_count, u.shuffle", 1)
		left, err := db.Collect[Picked](ctx, tx.q, sql, args...)
		if err != nil || len(left) == 0 {
			return Picked{}, false, err
		}
	}
	return Picked{}, false, nil
}

// searches are where a unit is looked for, one after the other: on roomy hosts,
// then on all. Units of a size are taken from a random place on: if those who
// ask at once all began with the first, each would look at all that the others
// have locked.
func (w Wanted) searches(postgres bool) []*db.List {
	fewHosts := w.Region != "" || len(w.HostLabels) > 0 || w.Network != "" // perhaps: the database can begin with them
	switch {
	case w.shared || w.lent || w.UnitID != nil || w.HostID != nil || fewHosts && !postgres:
		return w.quickSearches()
	case fewHosts:
		return append(w.sampleSearches(), w.quickSearches()...)
	case postgres:
		return append(w.sampleSearches(), w.all()...)
	default:
		// Not as on PostgreSQL: a plain read waits here for whoever writes the row,
		// and keeps it from changing until the commit.
		ofThisSize := w.quick().And("u.cpu_count = ?", max(1, w.MinCPUs)).And("u.shuffle >= ?", shuffle())
		return append([]*db.List{ofThisSize.And(onRoomyHost)}, w.quickSearches()...)
	}
}

func (w Wanted) from() db.Statement {
	switch {
	case w.shared:
		return sqlPickSharedFrom
	case w.lent:
		return sqlPickLentFrom
	}
	return sqlPickFrom
}

func (w Wanted) quickSearches() []*db.List { return []*db.List{w.quick().And(onRoomyHost), w.quick()} }

// pickFree takes a unit that nobody else is about to take.
func (tx *Tx) pickFree(ctx context.Context, l *db.List) (Picked, bool, error) {
	return tx.pickOnce(ctx, l, "FOR UPDATE OF u SKIP LOCKED")
}

func (tx *Tx) pickOnce(ctx context.Context, l *db.List, lock db.Statement) (Picked, bool, error) {
	sql, args := l.Locked("u.cpu_count, u.shuffle", 1, lock)
	b, found := &db.Batch{}, []Picked{}
	if tx.Cockroach() {
		b.Queue(sqlLockReturned)
	}
	if l.IsPlannedOnce() {
		b.Queue(sqlPlanOnce)
	}
	db.AskAll(b, "pick a unit", &found, sql, args...)
	if l.IsPlannedOnce() {
		b.Queue(sqlPlanAsUsual)
	}
	if tx.Cockroach() {
		b.Queue(sqlLockRead)
	}
	if err := tx.q.Send(ctx, b); err != nil || len(found) == 0 {
		return Picked{}, false, err
	}
	tx.Touch(nounUnit, found[0].ID)
	n, err := tx.Exec(ctx, sqlTakeUnit, found[0].ID)
	return found[0], n == 1, err
}

// quick looks, in a zone, only at units that are noted as being there, which an
// index finds however many others are free. A unit without the note is found by
// a look that is not quick.
func (w Wanted) quick() *db.List { return w.inZone(w.list(w.from())) }

func (w Wanted) inZone(l *db.List) *db.List { return l.AndIf(w.Zone, "u.zone = ?") }

func (w Wanted) list(base db.Statement) *db.List {
	l := db.NewList(base, w.WorkspaceID)
	for _, f := range w.filters() {
		l.And(f.condition, f.values...)
	}
	return l
}

// Of a host of another workspace only as many units are counted as the grants still let in, free ones first.
const sqlCountFrom = "\nWITH " + sharedNetworks + `
SELECT count(*), COALESCE(max(u.cpu_count), 0)
  FROM compute_units u
  JOIN hosts h ON h.id = u.host_id
 WHERE (u.workspace_id = $1
    OR u.id IN (SELECT r.id
                  FROM (SELECT k.id, s.room,
                               row_number() OVER (PARTITION BY k.host_id
                                                  ORDER BY CASE WHEN k.state = 'free' THEN 0 ELSE 1 END, k.cpu_count DESC, k.id) AS n
                          FROM (` + iam.RoomOnSharedHosts + `) s
                          JOIN compute_units k ON k.host_id = s.host_id
                         WHERE k.state <> 'removed') r
                 WHERE r.n <= r.room))`

// On a host of another workspace it is not told who has which login user: a unit whose host has the name counts as not free.
const freeForLogin = `u.state = 'free'
  AND (u.workspace_id = ?
    OR h.admin_user <> ? AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = ? AND a.ended_at IS NULL))`

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

// explained are the filters by which a workspace is told why no unit fits: an address may be of any network that it may use, and
// a grant that gives no more is told apart from a pool that has none.
func explained(filters []placementFilter, w Wanted) []placementFilter {
	last := len(filters) - 1
	n := w.Network
	return append(slices.Clone(filters[:last]),
		placementFilter{"network_grant", withinGrants, []any{n, n, n, n, n, n}, "is on a host with a shared network whose grant gives no more addresses, or was revoked"},
		placementFilter{"address", withAddress, []any{n, n, n, n, n, n}, noAddress})
}

// WhyNot counts, filter by filter, what ruled the units out.
func (r Reads) WhyNot(ctx context.Context, w Wanted) (Explanation, error) {
	filters := w.filters()
	if w.LoginUser != "" {
		filters[0].condition, filters[0].values = freeForLogin, []any{w.WorkspaceID, w.LoginUser, w.LoginUser}
	}
	filters = explained(filters, w)
	count := func(use func(int) bool) (n, largest int, err error) {
		l := db.NewList(sqlCountFrom, w.WorkspaceID).And("u.state <> 'removed'")
		for i, f := range filters {
			if use(i) {
				l.And(f.condition, f.values...)
			}
		}
		sql, args := l.All()
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
		if f.name != "cpu_count" && e.Without != "" && e.Without != "unit_state" {
			continue // the first one is told; only the size says more
		}
		n, largest, err := count(func(k int) bool { return k != i })
		if err != nil {
			return Explanation{}, err
		}
		if n == 0 {
			continue
		}
		if f.name == "cpu_count" {
			e.LargestFree = largest
		}
		if e.Without == "" || e.Without == "unit_state" {
			e.Without = f.name
		}
	}
	return e, nil
}
