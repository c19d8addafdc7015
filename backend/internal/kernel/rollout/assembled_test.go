package rollout

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
		for _, sort := range TargetSorting.Names() {
			for _, state := range []string{"", "failed"} {
				if _, err := Targets(ctx, q, TargetFilter{Rollout: uuid.New(), State: state, Sort: sort, After: after, Limit: 7}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
