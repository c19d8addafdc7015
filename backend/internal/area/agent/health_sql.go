package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
)

// The health of a host is the worse of what jobs and its agent say. The store has the same rule for jobs.
const sqlSetHealth = `
UPDATE hosts
   SET agent_health = b.health, agent_health_message = b.message,
       health = CASE WHEN 'unreachable' IN (hosts.job_health, b.health) THEN 'unreachable'
                     WHEN 'degraded' IN (hosts.job_health, b.health) THEN 'degraded'
                     WHEN 'healthy' IN (hosts.job_health, b.health) THEN 'healthy'
                     ELSE 'unknown' END,
       health_message = CASE WHEN hosts.job_health_message = '' THEN b.message
                             WHEN b.message = '' THEN hosts.job_health_message
                             ELSE b.message || chr(10) || hosts.job_health_message END,
       health_at = now()
  FROM unnest($1::UUID[], $2::TEXT[], $3::TEXT[]) AS b (id, health, message)
 WHERE hosts.id = b.id AND (hosts.agent_health <> b.health OR hosts.agent_health_message <> b.message)
RETURNING hosts.id`

// setHealth writes what agents say of hosts. A host of which it is nothing new is not written.
func setHealth(ctx context.Context, tx *db.Tx, all []judged) error {
	hosts, healths, messages := make([]uuid.UUID, len(all)), make([]string, len(all)), make([]string, len(all))
	for i, j := range all {
		hosts[i], healths[i], messages[i] = j.Host, string(j.Health), j.Message
	}
	changed, err := db.IDs(ctx, tx.Reader, "set the health of hosts", sqlSetHealth, hosts, healths, messages)
	if err != nil {
		return err
	}
	tx.Touch(HostNoun, changed...)
	return nil
}

// found is a host of which something is to be judged or told.
type found struct {
	AgentID     uuid.UUID `db:"agent_id"`
	HostID      uuid.UUID `db:"host_id"`
	WorkspaceID uuid.UUID `db:"workspace_id"`
	HostName    string    `db:"host_name"`
	Region      string    `db:"region"`
	Zone        string    `db:"zone"`
	Health      Health    `db:"health"`
	Causes      Causes    `db:"causes"`
	Told        bool      `db:"told"`
	Ripe        bool      `db:"ripe"` // it was lost long enough ago for an event
	Now         time.Time `db:"now"`
	Why         string    `db:"why"` // a host that is asked over SSH does not answer
}

// watch is one way in which hosts are known to be there.
type watch struct {
	overdue, lost, back, dirty db.Statement // dirty "": nothing but silence is judged
	lose, tell, comeBack       db.Statement
	silent                     func(found) string // in words for people
}

var byAgent = watch{
	overdue: sqlOverdue, lost: sqlLost, back: sqlBack, dirty: sqlDirty, lose: sqlLose, tell: sqlTell, comeBack: sqlComeBack,
	silent: func(found) string { return silentMessage },
}

var bySSH = watch{
	overdue: sqlOverdueSSH, lost: sqlLostSSH, back: sqlBackSSH, lose: sqlLoseSSH, tell: sqlTellSSH, comeBack: sqlComeBackSSH,
	silent: func(h found) string { return "It has not answered over SSH for 60 seconds: " + h.Why + "." },
}

const foundColumns = `
SELECT l.agent_id, l.host_id, h.workspace_id, h.name AS host_name, h.region, h.zone, h.agent_health AS health, r.causes, l.told,
       COALESCE(l.lost_at < now() - $1::INT8 * INTERVAL '1 millisecond', false) AS ripe, now() AS now, '' AS why
  FROM agent_liveness l
  JOIN hosts h ON h.id = l.host_id
  LEFT JOIN agent_reports r ON r.agent_id = l.agent_id
`

const sqlOverdue = foundColumns + `
 WHERE l.lost_at IS NULL AND l.received_at < now() - $1::INT8 * INTERVAL '1 millisecond'
 ORDER BY l.received_at
 LIMIT 1000`

const sqlLost = foundColumns + `
 WHERE l.lost_at IS NOT NULL AND NOT l.told
 ORDER BY l.lost_at
 LIMIT 5000`

const sqlBack = foundColumns + `
 WHERE l.lost_at IS NOT NULL AND l.received_at > now() - $1::INT8 * INTERVAL '1 millisecond'
 ORDER BY l.lost_at
 LIMIT 1000`

const sqlDirty = foundColumns + `
 WHERE r.dirty_at IS NOT NULL AND r.dirty_at < now() - $1::INT8 * INTERVAL '1 millisecond' AND l.lost_at IS NULL
 ORDER BY r.dirty_at
 LIMIT 1000`

const sqlLose = `
UPDATE agent_liveness
   SET lost_at = now(), told = false
 WHERE agent_id = ANY($1::UUID[]) AND lost_at IS NULL AND received_at < now() - $2::INT8 * INTERVAL '1 millisecond'
RETURNING agent_id AS id`

const sqlTell = `
UPDATE agent_liveness
   SET told = true
 WHERE agent_id = ANY($1::UUID[]) AND lost_at IS NOT NULL AND NOT told`

const sqlComeBack = `
UPDATE agent_liveness
   SET lost_at = NULL, told = false
 WHERE agent_id = ANY($1::UUID[]) AND lost_at IS NOT NULL`

const sqlClean = `
UPDATE agent_reports
   SET dirty_at = CASE WHEN b.waiting THEN now() END
  FROM unnest($1::UUID[], $2::BOOL[]) AS b (agent_id, waiting)
 WHERE agent_reports.agent_id = b.agent_id`

// sqlReceiving: a backend that wrote lately and has received all the time, and none that fell silent. One that ends in good
// order has no row.
const sqlReceiving = `
SELECT count(*) FILTER (WHERE r.flushed_at > now() - $1::INT8 * INTERVAL '1 millisecond' AND r.since < now() - $2::INT8 * INTERVAL '1 millisecond') AS steady,
       count(*) FILTER (WHERE r.flushed_at <= now() - $1::INT8 * INTERVAL '1 millisecond'
                          AND r.flushed_at > now() - ($1::INT8 + $2::INT8) * INTERVAL '1 millisecond') AS broken
  FROM agent_receivers r`

const sqlForgetReceivers = `
DELETE FROM agent_receivers
 WHERE flushed_at < now() - INTERVAL '1 hour'`

// Receiving tells whether backends have received heartbeats without a gap for as long as a host may be silent.
func Receiving(ctx context.Context, q db.Reader) (bool, error) {
	type row struct {
		Steady int64 `db:"steady"`
		Broken int64 `db:"broken"`
	}
	r, err := db.First[row](ctx, q, errNoRow, sqlReceiving, gapAfter.Milliseconds(), SilentAfter.Milliseconds())
	return r.Steady > 0 && r.Broken == 0, err
}

// Pass is what one look at all hosts found and wrote.
type Pass struct {
	Receiving bool    // false: nothing was judged unreachable
	Changed   []Found // hosts that got another health
	Waiting   int     // hosts whose silence is not judged, since the backends had a gap
}

// Found is a host with its new health.
type Found struct {
	Host    uuid.UUID
	Health  Health
	Message string
}

// Look judges what is due: hosts whose heartbeats or answers stopped or came back, and those whose causes changed. by is the
// policy that events name. With observe it changes nothing.
func Look(ctx context.Context, d *db.DB, by string, observe bool) (Pass, error) {
	receiving, err := Receiving(ctx, d.Reader)
	if err != nil {
		return Pass{}, fmt.Errorf("look at the backends: %w", err)
	}
	reaching, err := sshReaches(ctx, d.Reader)
	if err != nil {
		return Pass{}, fmt.Errorf("look at the answers over SSH: %w", err)
	}
	pass := Pass{Receiving: receiving && reaching}
	for _, one := range []struct {
		watch
		trusted bool
	}{{byAgent, receiving}, {bySSH, reaching}} {
		if err := one.look(ctx, d, by, one.trusted, observe, &pass); err != nil {
			return pass, err
		}
	}
	return pass, nil
}

// look judges the hosts that are watched in one way. Silence counts only where the watch can be trusted.
func (w watch) look(ctx context.Context, d *db.DB, by string, trusted, observe bool, pass *Pass) error {
	overdue, err := db.Collect[found](ctx, d.Reader, w.overdue, SilentAfter.Milliseconds())
	if err != nil {
		return fmt.Errorf("list silent hosts: %w", err)
	}
	back, err := db.Collect[found](ctx, d.Reader, w.back, recoveredWithin.Milliseconds())
	if err != nil {
		return fmt.Errorf("list hosts that came back: %w", err)
	}
	var dirty []found
	if w.dirty != "" {
		if dirty, err = db.Collect[found](ctx, d.Reader, w.dirty, holdFor.Milliseconds()); err != nil {
			return fmt.Errorf("list reports to judge: %w", err)
		}
	}
	lost, err := db.Collect[found](ctx, d.Reader, w.lost, oneEvent.Milliseconds())
	if err != nil {
		return fmt.Errorf("list losses to tell of: %w", err)
	}
	if !trusted || observe {
		pass.Waiting += len(overdue)
		overdue = nil
	}
	if observe {
		return nil
	}
	policy := audit.Actor{Kind: audit.Policy, Name: by}
	for _, part := range []struct {
		hosts []found
		write func(context.Context, *db.Tx, audit.Actor, []found) ([]judged, error)
	}{{overdue, w.loseThem}, {lost, w.tellOf}, {back, w.takeBack}, {dirty, judge}} {
		if len(part.hosts) == 0 {
			continue
		}
		var done []judged
		err := d.InTx(ctx, func(tx *db.Tx) (err error) {
			done, err = part.write(ctx, tx, policy, part.hosts)
			return err
		})
		if err != nil {
			return err
		}
		for _, j := range done {
			pass.Changed = append(pass.Changed, Found(j))
		}
	}
	return nil
}

func agentsOf(hosts []found) []uuid.UUID {
	agents := make([]uuid.UUID, len(hosts))
	for i, h := range hosts {
		agents[i] = h.AgentID
	}
	return agents
}

// loseThem makes hosts unreachable. The event comes later: it tells of all that were lost together.
func (w watch) loseThem(ctx context.Context, tx *db.Tx, _ audit.Actor, hosts []found) ([]judged, error) {
	really, err := db.IDs(ctx, tx.Reader, "note silent hosts", w.lose, agentsOf(hosts), SilentAfter.Milliseconds())
	if err != nil {
		return nil, err
	}
	silent := make(map[uuid.UUID]bool, len(really))
	for _, id := range really {
		silent[id] = true
	}
	var all []judged
	for _, h := range hosts {
		if silent[h.AgentID] {
			all = append(all, judged{h.HostID, Unreachable, w.silent(h)})
		}
	}
	return all, setHealth(ctx, tx, all)
}

// tellOf writes one event for each zone of which the first loss is long enough ago.
func (w watch) tellOf(ctx context.Context, tx *db.Tx, by audit.Actor, hosts []found) ([]judged, error) {
	for _, g := range byZone(hosts) {
		if !g.hosts[0].Ripe {
			continue
		}
		if _, err := tx.Exec(ctx, w.tell, agentsOf(g.hosts)); err != nil {
			return nil, fmt.Errorf("note that losses were told: %w", err)
		}
		if err := g.event(ctx, tx, by, "host.unreachable"); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// takeBack makes hosts healthy or degraded again, by their last report.
func (w watch) takeBack(ctx context.Context, tx *db.Tx, by audit.Actor, hosts []found) ([]judged, error) {
	if _, err := tx.Exec(ctx, w.comeBack, agentsOf(hosts)); err != nil {
		return nil, fmt.Errorf("note hosts that came back: %w", err)
	}
	var told []found
	for _, h := range hosts {
		if h.Told { // otherwise nobody heard of the loss
			told = append(told, h)
		}
	}
	for _, g := range byZone(told) {
		if err := g.event(ctx, tx, by, "host.reachable"); err != nil {
			return nil, err
		}
	}
	return judge(ctx, tx, by, hosts)
}

// judge gives hosts the health that their lasting causes mean.
func judge(ctx context.Context, tx *db.Tx, _ audit.Actor, hosts []found) ([]judged, error) {
	all, waiting := make([]judged, len(hosts)), make([]bool, len(hosts))
	for i, h := range hosts {
		var names []string
		names, waiting[i] = h.Causes.lasting(h.Now)
		all[i].Host = h.HostID
		all[i].Health, all[i].Message = healthOf(names)
	}
	if _, err := tx.Exec(ctx, sqlClean, agentsOf(hosts), waiting); err != nil {
		return nil, fmt.Errorf("note reports that were judged: %w", err)
	}
	return all, setHealth(ctx, tx, all)
}

func (g group) event(ctx context.Context, tx *db.Tx, by audit.Actor, action string) error {
	e := audit.Entry{
		Workspace: g.workspace, Action: action, ObjectKind: HostNoun, ObjectName: g.place(),
		After: map[string]any{"hosts": g.names(), "count": len(g.hosts)},
	}
	if len(g.hosts) == 1 {
		e.ObjectID, e.ObjectName = g.hosts[0].HostID, g.hosts[0].HostName
	}
	return audit.Append(ctx, tx, by, e)
}

// Tidy forgets tokens and backends that are long gone.
func Tidy(ctx context.Context, d *db.DB) error {
	return d.InTx(ctx, func(tx *db.Tx) error {
		for _, sql := range []db.Statement{sqlForgetTokens, sqlForgetReceivers} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return fmt.Errorf("forget what is long gone: %w", err)
			}
		}
		return nil
	})
}
