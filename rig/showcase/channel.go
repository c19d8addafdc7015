package showcase

import (
	"time"

	"github.com/google/uuid"
)

// channels makes a webhook that delivers, and mail whose server does not take it.
func (w *world) channels() {
	rows := &table{name: "channels", columns: []string{
		"id", "workspace_id", "name", "type", "enabled", "subscribes", "url", "server", "tls", "username", "sender", "recipients", "created_at", "updated_at",
	}}
	deliveries := &table{name: "channel_deliveries", columns: []string{
		"id", "workspace_id", "channel_id", "message_id", "kind", "attempt", "at", "outcome", "status_code", "duration", "error", "retry", "fault",
	}}
	w.more = append(w.more, rows, deliveries)
	made := w.ago(9 * 24 * time.Hour)
	hook, mail := w.id(), w.id()
	rows.add(hook, w.workspace, "on-call", "webhook", true, []string{"dns_zone"}, "https://hooks.kloigos.example/on-call", "", "", "", "", []string{}, made, made)
	rows.add(mail, w.workspace, "ops-mail", "email", false, []string{"*"}, "", "mail.kloigos.example:587", "starttls", "kloigos", "kloigos@kloigos.example", []string{"ops@kloigos.example"}, made, made)
	w.event(made, people[1], "channel.create", "channel", hook, "on-call", nil, nil, map[string]any{"type": "webhook"})
	w.event(made, people[1], "channel.create", "channel", mail, "ops-mail", nil, nil, map[string]any{"type": "email"})
	w.delivery(deliveries, hook, 2*time.Hour, "conditions", "delivered", 204, "", "")
	w.delivery(deliveries, hook, 26*time.Hour, "test", "delivered", 204, "", "")
	w.delivery(deliveries, mail, 3*time.Hour, "test", "failed", 535, "The mail server did not accept user and password.", "user")
}

func (w *world) delivery(rows *table, channel uuid.UUID, age time.Duration, kind, outcome string, code int64, why, fault string) {
	rows.add(w.id(), w.workspace, channel, w.id(), kind, int64(1), w.ago(age), outcome, code, int64(20+w.randomBelow(90)), why, false, fault)
}
