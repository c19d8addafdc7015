package drift

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/testkit/areatest"
)

func TestAssembledStatements(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	areatest.Assembled(t, func(ctx context.Context, q db.Reader, after *db.Position) error {
		for _, sort := range Sorting.Names() {
			for _, f := range []Filter{
				{}, {State: "open"}, {HostID: id}, {UnitID: id}, {Promise: "memory"}, {State: "open", HostID: id, UnitID: id, Promise: "memory"},
			} {
				f.Sort, f.After, f.Limit = sort, after, 1
				if _, err := Drifts(ctx, q, f); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
