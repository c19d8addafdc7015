package watchwork

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/watch"
	"kloigos/backend/internal/kernel/reconcile"
)

// condition writes one as a policy would, for an object of the workspace.
func (b *bench) condition(object uuid.UUID, kind, status string, flapping bool, age time.Duration) {
	b.t.Helper()
	b.Exec(b.t, `INSERT INTO conditions (noun, object_id, type, status, reason, message, fault, retry_helps, failing, results, flapping, since, observed_at, policy, history)
		VALUES ('dns_zone', $1, $2, $3, 'why', 'It is so.', '', false, 0, '', $4, now() - $5::INT8 * INTERVAL '1 second', now(), 'dns_zone', '[]')
		ON CONFLICT (noun, object_id, type) DO UPDATE SET status = excluded.status, flapping = excluded.flapping, since = excluded.since`, object, kind, status, flapping, int64(age/time.Second))
}

func (b *bench) object(name string, workspace uuid.UUID) uuid.UUID {
	b.t.Helper()
	id := uuid.New()
	b.Exec(b.t, `INSERT INTO events (id, workspace_id, actor_kind, actor_name, client, request_id, action, object_kind, object_id, object_name)
		VALUES (gen_random_uuid(), $1, 'account', 'ada', '', '', 'dns_zone.create', 'dns_zone', $2, $3)`, workspace, id, name)
	return id
}

func (b *bench) notify(c watch.Channel) reconcile.Outcome {
	b.t.Helper()
	out, err := newSteps(b.config).notify(b.t.Context(), c, watch.GroupWait)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// told is what a receiver was told since the last call: names of problems, then of what is over.
func (r *receiver) told(t *testing.T) string {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	for _, q := range r.got {
		var m watch.Message
		if err := json.Unmarshal(q.body, &m); err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Problems {
			all = append(all, "-"+p.Name)
		}
		for _, p := range m.Resolved {
			all = append(all, "+"+p.Name)
		}
		all = append(all, ";")
	}
	r.got = nil
	return strings.TrimSpace(strings.Join(all, " "))
}

// A condition that stays false is told once, with what belongs to it; again after four hours; and that it is over.
func TestNotify(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newReceiver(t, 204)
	c := b.channel(watch.Draft{Name: "hook", Type: watch.Webhook, Enabled: true, URL: r.URL, Subscribes: []string{"dns_zone/synced"}}, "")
	first, second, young, strange := b.object("first", b.Workspace), b.object("second", b.Workspace), b.object("young", b.Workspace), b.object("strange", b.NewWorkspace(t))
	want := func(what, want string) {
		t.Helper()
		b.notify(c)
		if got := r.told(t); got != want {
			t.Errorf("%s: told %q, want %q", what, got, want)
		}
	}
	want("nothing is wrong", "")
	b.condition(first, "synced", "false", false, 2*time.Minute)
	b.condition(second, "synced", "false", false, time.Minute)
	b.condition(young, "synced", "false", false, time.Second)
	b.condition(strange, "synced", "false", false, time.Minute)
	b.condition(second, "other", "false", false, time.Minute)
	b.condition(c.ID, "synced", "false", false, time.Minute)
	want("two are false for long enough", "-first -second ;")
	want("they were told", "")
	b.Exec(t, "UPDATE channel_notices SET told_at = now() - INTERVAL '241 minutes' WHERE object_id = $1", first)
	want("one is told again", "-first ;")
	b.condition(first, "synced", "true", true, 0)
	b.condition(young, "synced", "true", false, 0)
	want("one flaps, one was over before its time", "")
	b.condition(first, "synced", "true", false, 0)
	b.Exec(t, "DELETE FROM conditions WHERE object_id = $1", second)
	got := func() string { b.notify(c); return r.told(t) }()
	if got != "+first +second ;" && got != "+second +first ;" {
		t.Errorf("both are over: told %q", got)
	}
	want("that was told", "")
}

// What could not be delivered is not lost: it is tried again, as the same message, and later still.
func TestNotifyAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.config.Pauses = []time.Duration{time.Nanosecond, time.Nanosecond}
	r := newReceiver(t, 500, 500, 500, 204)
	c := b.channel(watch.Draft{Name: "hook", Type: watch.Webhook, Enabled: true, URL: r.URL, Subscribes: []string{"*"}}, "")
	b.condition(b.object("zone", b.Workspace), "synced", "false", false, time.Hour)
	for range 3 {
		b.notify(c)
	}
	if out := b.notify(c); out.Again < 59*time.Minute || len(r.got) != 3 {
		t.Errorf("after three attempts: %+v, %d requests", out, len(r.got))
	}
	ids := map[string]bool{}
	for _, q := range r.got {
		ids[q.header.Get("Webhook-Id")] = true
	}
	if len(ids) != 1 {
		t.Errorf("%d messages", len(ids))
	}
	b.Exec(t, "UPDATE channel_deliveries SET at = at - INTERVAL '61 minutes'")
	if out := b.notify(c); out.Changed != 1 || len(r.got) != 4 {
		t.Errorf("%+v, %d requests", out, len(r.got))
	}
	if out := b.notify(c); out.Changed != 0 || len(r.got) != 4 {
		t.Errorf("told twice: %+v", out)
	}
}

// A channel that is disabled, or observed only, is told nothing.
func TestNotifyIsOff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := newReceiver(t, 204)
	on := b.channel(watch.Draft{Name: "on", Type: watch.Webhook, Enabled: true, URL: r.URL, Subscribes: []string{"dns_zone"}}, "")
	off := b.channel(watch.Draft{Name: "off", Type: watch.Webhook, URL: r.URL, Subscribes: []string{"dns_zone"}}, "")
	b.condition(b.object("zone", b.Workspace), "synced", "false", false, time.Hour)
	p := notifyPolicy(b.config)
	for _, item := range []reconcile.Item{{ObjectID: off.ID}, {ObjectID: on.ID, Observe: true}} {
		if out, err := p.Run(t.Context(), item); err != nil || out.Changed != 0 || len(r.got) != 0 {
			t.Errorf("%+v, %v, %d requests", out, err, len(r.got))
		}
	}
	if out, err := p.Run(t.Context(), reconcile.Item{ObjectID: on.ID}); err != nil || out.Changed != 1 || len(r.got) != 1 {
		t.Errorf("%+v, %v, %d requests", out, err, len(r.got))
	}
	if out, err := p.Run(t.Context(), reconcile.Item{ObjectID: uuid.New()}); err != nil || !out.Gone {
		t.Errorf("%+v, %v", out, err)
	}
}
