package network

import (
	"context"
	"testing"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/testkit/areatest"
)

func TestAssembledStatements(t *testing.T) {
	t.Parallel()
	areatest.Assembled(t, func(ctx context.Context, q db.Reader, after *db.Position) error {
		for _, sort := range Sorting.Names() {
			if _, err := Networks(ctx, q, Filter{Sort: sort, After: after, Limit: 1}); err != nil {
				return err
			}
		}
		return nil
	})
}
