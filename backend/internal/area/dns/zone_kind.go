package dns

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/lifecycle"
	"kloigos/backend/internal/kernel/work"
)

// Roles of the objects of jobs.
const (
	ZoneRole      = "zone"
	RecordSetRole = "record_set"
)

// SyncStep is the one step of a synchronization.
const SyncStep = "sync"

// ZoneSync is the job that brings a zone in line with its record sets. How it ended well is for RecordSync to say.
var ZoneSync = work.Kind{
	Name:     "zone_sync",
	Means:    "compares a DNS zone with its record sets and brings it in line",
	Steps:    []work.Step{{Name: SyncStep, Means: "read the zone, make each change in an update of its own, read it again"}},
	Deadline: 20 * time.Minute, // less than the deadline of the zone's state
	Locks:    []string{ZoneRole},

	Start:     []work.Move{{Role: ZoneRole, On: SyncStarted}},
	Failure:   []work.Move{{Role: ZoneRole, On: SyncFailed}},
	Withdrawn: []work.Move{{Role: ZoneRole, On: SyncOutdated}},
}

// ZoneJobs is what jobs know of zones.
var ZoneJobs = work.Noun{
	Name: ZoneNoun,
	Move: func(ctx context.Context, tx *db.Tx, id uuid.UUID, on lifecycle.Event, message string) error {
		if on == SyncOutdated {
			message = ""
		}
		return MoveZone(ctx, tx, id, on, message)
	},
}

// SyncArgs are the arguments of ZoneSync.
type SyncArgs struct {
	Force bool `json:"force,omitempty"` // read the zone even if neither serial nor intent changed
}

func (z Zone) syncJob(force bool) work.New {
	return work.New{
		Kind: ZoneSync.Name, Args: SyncArgs{force},
		Objects: []work.Object{{Role: ZoneRole, Noun: ZoneNoun, ID: z.ID, Name: z.Name.Display()}},
	}
}

// CanSync tells why a synchronization cannot be asked for; nil if it can.
func (z Zone) CanSync() error {
	if z.State == ZoneSyncing {
		return fault.Conflictf("dns_zone_state", "The zone is being synchronized already.")
	}
	return nil
}

// AskSync asks for a synchronization that reads the zone whatever its serial is.
func AskSync(ctx context.Context, tx *intent.Tx, kinds *work.Registry, zone Zone) (job uuid.UUID, err error) {
	held, err := holdZone(ctx, tx.Tx, zone.ID)
	if err != nil {
		return uuid.Nil, err
	}
	if err := held.CanSync(); err != nil {
		return uuid.Nil, err
	}
	return kinds.Ask(ctx, tx, held.syncJob(true), audit.Entry{
		Workspace: held.WorkspaceID, Action: ZoneNoun + ".sync", ObjectKind: ZoneNoun, ObjectID: held.ID, ObjectName: held.Name.Display(),
		Before: map[string]any{"state": held.State},
	})
}

// SyncDue asks for a synchronization on behalf of a policy. None is asked for while one is under way: its end makes the
// policy due again.
func SyncDue(ctx context.Context, tx *db.Tx, kinds *work.Registry, by string, zone uuid.UUID) error {
	held, err := holdZone(ctx, tx, zone)
	if err != nil || held.State == ZoneSyncing {
		return err
	}
	_, err = kinds.Enqueue(ctx, tx, by, held.WorkspaceID, held.syncJob(false))
	return err
}
