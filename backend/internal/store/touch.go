package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/work"
)

// The nouns that a transaction records when it writes them (Tx.Touch): policies
// that name one as a trigger are due with the commit.
const (
	nounHost       = "host"
	nounUnit       = "unit"
	nounAllocation = "allocation"
	nounAddress    = "address"
	nounPlan       = "plan"
	nounPlaybook   = "playbook"
	nounJob        = work.JobNoun // when it is made, asked for again, and ended
)

// playbookID stands for a playbook, whose key is its name.
func playbookID(name string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("playbook/"+name))
}

// touching runs a statement that returns the ids of the rows that it wrote, and
// records them.
func (tx *Tx) touching(ctx context.Context, noun string, sql db.Statement, args ...any) (int64, error) {
	type row struct {
		ID uuid.UUID `db:"id"`
	}
	wrote, err := db.Collect[row](ctx, tx.q, sql, args...)
	if err != nil {
		return 0, fmt.Errorf("write objects of the noun %s: %w", noun, err)
	}
	for _, r := range wrote {
		tx.Touch(noun, r.ID)
	}
	return int64(len(wrote)), nil
}
