package reconcile

import (
	"context"
	"errors"
	"time"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
)

// Linter says what it would write otherwise in a playbook's artifact.
type Linter interface {
	Able() bool // the tool is installed
	Lint(ctx context.Context, content []byte) (domain.Lint, error)
}

// LintPlaybooks looks at versions that nobody has looked at, one at a time: it
// takes seconds of a core, and nobody waits for it.
func LintPlaybooks(intents *intent.Intents, linter Linter) Policy {
	const name = "playbook_lint"
	return Policy{
		Name: name, Why: "whoever makes a version the default should have seen what ansible-lint says of it",
		Interval: 5 * time.Second, Jitter: 5 * time.Second, Timeout: 8 * time.Minute,
		Run: func(ctx context.Context, _ *store.DB) (int64, error) {
			task, err := intents.TakeLint(ctx, linter.Able())
			if errors.Is(err, domain.ErrNotFound) {
				return 0, nil
			}
			if err != nil {
				return 0, err
			}
			found, err := linter.Lint(ctx, task.Content)
			if err != nil {
				return 0, err // taken up again once it is stale
			}
			err = intents.EndLint(ctx, domain.Actor{Kind: domain.ActorPolicy, Name: name}, task, found)
			if errors.Is(err, store.ErrLost) {
				return 0, nil
			}
			return 1, err
		},
	}
}
