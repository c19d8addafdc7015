package policy

import (
	"context"
	"errors"
	"time"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/store"
)

// Linter says what it would write otherwise in a playbook's artifact.
type Linter interface {
	Able() bool // the tool is installed
	Lint(ctx context.Context, content []byte) (domain.Lint, error)
}

// LintPlaybooks looks at versions that nobody has looked at, one at a time: it
// takes seconds of a core, and nobody waits for it.
func LintPlaybooks(intents *intent.Intents, linter Linter) reconcile.Policy {
	const name = "playbook_lint"
	return reconcile.Policy{
		Name: name, Why: "whoever makes a version the default should have seen what ansible-lint says of it",
		Interval: 5 * time.Second, Jitter: 5 * time.Second, Timeout: 8 * time.Minute, Triggers: []string{"playbook"},
		Run: func(ctx context.Context, _ reconcile.Item) (out reconcile.Outcome, err error) {
			task, err := intents.TakeLint(ctx, linter.Able())
			if errors.Is(err, domain.ErrNotFound) {
				return out, nil
			}
			if err != nil {
				return out, err
			}
			found, err := linter.Lint(ctx, task.Content)
			if err != nil {
				return out, err // taken up again once it is stale
			}
			err = intents.EndLint(ctx, intent.By(domain.Actor{Kind: domain.ActorPolicy, Name: name}), task, found)
			if errors.Is(err, store.ErrLost) {
				return out, nil
			}
			return reconcile.Outcome{Changed: 1, Again: moreSoon}, err
		},
	}
}
