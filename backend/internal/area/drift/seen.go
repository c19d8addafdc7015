package drift

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/agent"
	"kloigos/backend/internal/kernel/db"
)

// Seen is what the agent of a host sees there.
type Seen = agent.Seen

// SilentAfter is how long after its last heartbeat an agent is not believed any more.
const SilentAfter = agent.SilentAfter

// SeenOn reads what the agent of a host sees; ok is false if no agent speaks for it.
func SeenOn(ctx context.Context, q db.Reader, host uuid.UUID) (seen Seen, age time.Duration, ok bool, err error) {
	seen, ok, err = agent.SeenOn(ctx, q, host)
	return seen, time.Duration(seen.AgeMS) * time.Millisecond, ok, err
}
