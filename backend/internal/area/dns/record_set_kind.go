package dns

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/work"
)

// AskStep is the one step of a check: it waits until all servers tell the record set.
const AskStep = "ask"

// RecordSetCheck is the job that watches a record set arrive at the servers of its zone and at a resolver.
var RecordSetCheck = work.Kind{
	Name:     "record_set_check",
	Means:    "asks each name server of the zone, and then a resolver, until they tell the record set",
	Steps:    []work.Step{{Name: AskStep, Means: "ask all servers, and again until they agree or the time of the old answer is over", Within: time.Hour}},
	Deadline: 2 * time.Hour,
}

// RecordSetJobs is what jobs know of record sets. A check moves none.
var RecordSetJobs = work.Noun{Name: RecordSetNoun}

// AskCheck asks for a check of a record set.
func AskCheck(ctx context.Context, tx *intent.Tx, kinds *work.Registry, set ManagedSet) (job uuid.UUID, err error) {
	return kinds.Ask(ctx, tx,
		work.New{Kind: RecordSetCheck.Name, Objects: []work.Object{{Role: RecordSetRole, Noun: RecordSetNoun, ID: set.ID, Name: set.String()}}},
		audit.Entry{Workspace: set.WorkspaceID, Action: RecordSetNoun + ".check", ObjectKind: RecordSetNoun, ObjectID: set.ID, ObjectName: set.String()},
	)
}
