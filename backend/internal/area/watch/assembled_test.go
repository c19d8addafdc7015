package watch

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/testkit/areatest"
)

func TestAssembledStatements(t *testing.T) {
	t.Parallel()
	areatest.Assembled(t, func(ctx context.Context, q db.Reader, after *db.Position) error {
		for _, sort := range ChannelSorting.Names() {
			for _, kind := range []string{"", "email"} {
				if _, err := Channels(ctx, q, ChannelFilter{Type: kind, Sort: sort, After: after, Limit: 1}); err != nil {
					return err
				}
			}
		}
		for _, sort := range DeliverySorting.Names() {
			for _, f := range []DeliveryFilter{{}, {ChannelID: uuid.New()}, {Outcome: Failed}, {ChannelID: uuid.New(), Outcome: Failed}} {
				f.Sort, f.After, f.Limit = sort, after, 1
				if _, err := Deliveries(ctx, q, f); err != nil {
					return err
				}
			}
		}
		for _, sort := range RemedySorting.Names() {
			for _, noun := range []string{"", "host"} {
				if _, err := Remedies(ctx, q, RemedyFilter{Noun: noun, Sort: sort, After: after, Limit: 1}); err != nil {
					return err
				}
			}
		}
		for _, sort := range RemedyRunSorting.Names() {
			for _, remedy := range []uuid.UUID{uuid.Nil, uuid.New()} {
				if _, err := RemedyRuns(ctx, q, RemedyRunFilter{RemedyID: remedy, Sort: sort, After: after, Limit: 1}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
