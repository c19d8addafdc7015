package intent

import (
	"testing"

	"kloigos/backend/internal/domain"
)

// A kind that can be withdrawn says how, and no other one does.
func TestWithdrawalsFollowTheJointTable(t *testing.T) {
	t.Parallel()
	for _, j := range domain.JointTable {
		if _, ok := withdrawals[j.Kind]; ok != (len(j.Withdrawn) > 0) {
			t.Errorf("%s: in the map: %t, in the table: %+v", j.Kind, ok, j.Withdrawn)
		}
	}
}
