package iam

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
)

// PriceNoun is what events call a price.
const PriceNoun = "price"

func (p Price) facts() map[string]any {
	return map[string]any{"resource": p.Resource, "price": p.Price, "currency": p.Currency, "begins_at": p.BeginsAt}
}

func (p Price) told(ctx context.Context, tx *intent.Tx, action string, before, after map[string]any) error {
	err := tx.Event(ctx, audit.Entry{Action: PriceNoun + "." + action, ObjectKind: PriceNoun, ObjectID: p.ID, ObjectName: p.Resource, Before: before, After: after})
	if err != nil {
		return err
	}
	return tx.Made(ctx, PriceNoun, p.ID, uuid.Nil)
}

// AddPrice adds a price for all organizations.
func AddPrice(ctx context.Context, tx *intent.Tx, draft PriceDraft) (Price, error) {
	if err := draft.check(time.Now()); err != nil {
		return Price{}, err
	}
	id := uuid.New()
	taken := fault.Conflictf("price_exists", "%s already has a price that begins at this time.", draft.Resource)
	if err := tx.One(ctx, taken, sqlInsertPrice, id, draft.Resource, draft.Price, draft.Currency, draft.BeginsAt, tx.Call().Actor.Name); err != nil {
		return Price{}, fmt.Errorf("insert a price: %w", err)
	}
	made, err := PriceByID(ctx, tx.Reader, id)
	if err != nil {
		return Price{}, err
	}
	return made, made.told(ctx, tx, "create", nil, made.facts())
}

// DeletePrice takes a price away that has not begun.
func DeletePrice(ctx context.Context, tx *intent.Tx, id uuid.UUID) error {
	before, err := PriceByID(ctx, tx.Reader, id)
	if err != nil {
		return err
	}
	if err := before.CanDelete(time.Now()); err != nil {
		return err
	}
	// It may begin between the look and the statement.
	if err := tx.One(ctx, before.CanDelete(before.BeginsAt), sqlDeletePrice, id); err != nil {
		return fmt.Errorf("delete a price: %w", err)
	}
	return before.told(ctx, tx, "delete", before.facts(), nil)
}
