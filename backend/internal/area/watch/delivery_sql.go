package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

// Kinds of messages.
const (
	TestMessage      = "test"
	ConditionMessage = "conditions"
)

// Outcomes of deliveries.
const (
	Delivered = "delivered"
	Failed    = "failed"
)

// Outcomes are all outcomes of deliveries.
func Outcomes() []string { return []string{Delivered, Failed} }

// Delivery is one row of channel_deliveries: one attempt to deliver one message.
type Delivery struct {
	ID          uuid.UUID `db:"id"`
	WorkspaceID uuid.UUID `db:"workspace_id"`
	ChannelID   uuid.UUID `db:"channel_id"`
	MessageID   uuid.UUID `db:"message_id"`
	Kind        string    `db:"kind"`
	Attempt     int64     `db:"attempt"`
	At          time.Time `db:"at"`
	Outcome     string    `db:"outcome"`
	StatusCode  *int64    `db:"status_code"` // of HTTP or SMTP; nil if nothing was answered
	Duration    int64     `db:"duration"`    // milliseconds
	Error       string    `db:"error"`
	Retry       bool      `db:"retry"`
	Fault       string    `db:"fault"`
}

const sqlDelivery = `
SELECT d.id, d.workspace_id, d.channel_id, d.message_id, d.kind, d.attempt, d.at, d.outcome, d.status_code, d.duration, d.error, d.retry, d.fault
  FROM channel_deliveries d
 WHERE true`

const sqlInsertDelivery = `
INSERT INTO channel_deliveries (id, workspace_id, channel_id, message_id, kind, attempt, outcome, status_code, duration, error, retry, fault)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`

// RecordDelivery writes what became of an attempt. The policies of its channel are due with it.
func RecordDelivery(ctx context.Context, tx *db.Tx, d Delivery) error {
	_, err := tx.Exec(ctx, sqlInsertDelivery, uuid.New(), d.WorkspaceID, d.ChannelID, d.MessageID, d.Kind, d.Attempt, d.Outcome, d.StatusCode, d.Duration,
		d.Error, d.Retry, d.Fault)
	if err != nil {
		return fmt.Errorf("record a delivery: %w", err)
	}
	tx.Touch(ChannelNoun, d.ChannelID)
	return nil
}

// DeliverySorting is the order that deliveries are listed in.
var DeliverySorting = db.Sorting[Delivery]{
	{Name: "-at", Columns: []db.Column{db.ByTime("d.at"), db.ByID("d.id")}, At: func(d Delivery) db.Position { return db.Position{Time: d.At, ID: d.ID} }},
}

// DeliveryFilter narrows a list of deliveries.
type DeliveryFilter struct {
	WorkspaceID uuid.UUID
	ChannelID   uuid.UUID // the zero value for all channels
	Outcome     string
	Sort        string // one of DeliverySorting; "" for the first
	After       *db.Position
	Limit       int
}

// Deliveries lists deliveries.
func Deliveries(ctx context.Context, q db.Reader, f DeliveryFilter) ([]Delivery, error) {
	l := db.NewList(sqlDelivery).And("d.workspace_id = ?", f.WorkspaceID).AndIf(f.Outcome, "d.outcome = ?")
	if f.ChannelID != uuid.Nil {
		l.And("d.channel_id = ?", f.ChannelID)
	}
	return DeliverySorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

// Attempts are the deliveries of one message, in their order.
func Attempts(ctx context.Context, q db.Reader, message uuid.UUID) ([]Delivery, error) {
	return db.Collect[Delivery](ctx, q, sqlDelivery+" AND d.message_id = $1 ORDER BY d.attempt", message)
}

const sqlLastDeliveries = sqlDelivery + `
   AND d.channel_id = $1
 ORDER BY d.at DESC, d.id DESC
 LIMIT 10`

// LastDeliveries are the last ones of a channel, newest first.
func LastDeliveries(ctx context.Context, q db.Reader, channel uuid.UUID) ([]Delivery, error) {
	return db.Collect[Delivery](ctx, q, sqlLastDeliveries, channel)
}

const sqlExpireDeliveries = `
DELETE FROM channel_deliveries
 WHERE id IN (SELECT d.id FROM channel_deliveries d WHERE d.at < now() - $1::INT8 * INTERVAL '1 second' ORDER BY d.at LIMIT $2)`

// ExpireDeliveries removes deliveries that are older than keep, a bounded number at once. It returns how many.
func ExpireDeliveries(ctx context.Context, tx *db.Tx, keep time.Duration, limit int) (int64, error) {
	n, err := tx.Exec(ctx, sqlExpireDeliveries, int64(keep/time.Second), limit)
	if err != nil {
		return 0, fmt.Errorf("expire deliveries: %w", err)
	}
	return n, nil
}
