package dns

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/lifecycle"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
)

// foreignKeyViolation is the SQLSTATE of a row that others refer to, or whose other is not there.
const foreignKeyViolation = "23503"

func movedMeanwhile(noun string) error {
	return fault.Conflictf(noun+"_state", "Another request changed it at the same time. Reload it.")
}

// Nouns, as events, jobs and problems name them.
const (
	ZoneNoun      = "dns_zone"
	RecordSetNoun = "dns_record_set"
)

// told writes the event of a change of a zone, and what a repeated request is answered with.
func (z Zone) told(ctx context.Context, tx *intent.Tx, action string, before, after map[string]any) error {
	err := tx.Event(ctx, audit.Entry{
		Workspace: z.WorkspaceID, Action: ZoneNoun + "." + action, ObjectKind: ZoneNoun, ObjectID: z.ID, ObjectName: z.Name.Display(),
		Before: before, After: after,
	})
	if err != nil {
		return err
	}
	return tx.Made(ctx, ZoneNoun, z.ID, uuid.Nil)
}

// CreateZone adds a zone to the workspace of the call. Its key is sealed.
func CreateZone(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, draft ZoneDraft) (Zone, error) {
	made, err := draft.check("")
	if err != nil {
		return Zone{}, err
	}
	if draft.NamesAllocations {
		if err := nameHere(ctx, tx.Tx, tx.Call().Workspace); err != nil {
			return Zone{}, err
		}
	}
	id := uuid.New()
	sealed, err := keys.Seal([]byte(draft.KeySecret), sealedFor(id))
	if err != nil {
		return Zone{}, fmt.Errorf("seal the key of a zone: %w", err)
	}
	taken := fault.Conflictf("dns_zone_exists", "The workspace already has a zone %s.", made.name.Display())
	err = tx.One(ctx, taken, sqlInsertZone, id, tx.Call().Workspace, made.name, RFC2136, made.server, draft.AllowPrivate, made.keyName,
		draft.KeyAlgorithm, sealed, made.patterns, draft.Mode, ZoneLifecycle.Initial, draft.NamesAllocations)
	if err != nil {
		return Zone{}, namingError("insert a zone", err)
	}
	tx.Touch(ZoneNoun, id)
	zone, err := ZoneByID(ctx, tx.Reader, id)
	if err != nil {
		return Zone{}, err
	}
	if zone.NamesAllocations || zone.reverse() {
		if err := touchNamed(ctx, tx.Tx, zone.WorkspaceID); err != nil {
			return Zone{}, err
		}
	}
	return zone, zone.told(ctx, tx, "create", nil, zone.facts())
}

// draft is the zone as a draft without its secret.
func (z Zone) draft() ZoneDraft {
	return ZoneDraft{
		Name: string(z.Name), Server: z.Server, AllowPrivate: z.AllowPrivate, KeyName: string(z.KeyName), KeyAlgorithm: z.KeyAlgorithm,
		Patterns: z.Patterns, Mode: z.Mode, NamesAllocations: z.NamesAllocations,
	}
}

// ChangeZone changes settings of a zone: change is given them as they are, without the secret, and an empty secret keeps the
// key that is there. The name cannot change. version is that of the zone that the change was made for; 0 for any.
func ChangeZone(ctx context.Context, tx *intent.Tx, keys *secret.Keyset, ref scope.Ref[Zone], version int64, change func(*ZoneDraft)) (Zone, error) {
	before, err := holdZone(ctx, tx.Tx, ref.ID())
	if err != nil {
		return Zone{}, err
	}
	if err := fault.CheckVersion("zone", before.Version, version); err != nil {
		return Zone{}, err
	}
	draft := before.draft()
	change(&draft)
	made, err := draft.check(before.Name)
	if err != nil {
		return Zone{}, err
	}
	if draft.NamesAllocations && !before.NamesAllocations {
		if err := nameHere(ctx, tx.Tx, before.WorkspaceID); err != nil {
			return Zone{}, err
		}
	}
	sealed := before.KeySealed
	if draft.KeySecret != "" {
		if sealed, err = keys.Seal([]byte(draft.KeySecret), sealedFor(before.ID)); err != nil {
			return Zone{}, fmt.Errorf("seal the key of a zone: %w", err)
		}
	}
	state, err := ZoneLifecycle.Next(before.State, SettingsChanged)
	if err != nil {
		return Zone{}, err
	}
	err = tx.One(ctx, movedMeanwhile(ZoneNoun), sqlChangeZone, before.ID, before.State, made.server, draft.AllowPrivate, made.keyName,
		draft.KeyAlgorithm, sealed, made.patterns, draft.Mode, state, draft.NamesAllocations)
	if err != nil {
		return Zone{}, namingError("change a zone", err)
	}
	tx.Touch(ZoneNoun, before.ID)
	if draft.NamesAllocations || before.NamesAllocations {
		if err := touchNamed(ctx, tx.Tx, before.WorkspaceID); err != nil {
			return Zone{}, err
		}
	}
	after, err := ZoneByID(ctx, tx.Reader, before.ID)
	if err != nil {
		return Zone{}, err
	}
	facts := after.facts()
	if draft.KeySecret != "" {
		facts["key_secret"] = "replaced"
	}
	return after, after.told(ctx, tx, "change", before.facts(), facts)
}

// uniqueViolation is the SQLSTATE of a second row where only one may be.
const uniqueViolation = "23505"

// namingError tells a second zone that names allocations from other errors.
func namingError(doing string, err error) error {
	if db.SQLState(err) == uniqueViolation {
		return errNamesAlready
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// MoveZone moves a zone on an event of its job. message says why, where the event is a failure.
func MoveZone(ctx context.Context, tx *db.Tx, id uuid.UUID, on lifecycle.Event, message string) error {
	zone, err := holdZone(ctx, tx, id)
	if err != nil {
		return err
	}
	state, err := ZoneLifecycle.Next(zone.State, on)
	if err != nil {
		return err
	}
	tx.Touch(ZoneNoun, id)
	return wrap("move a zone", tx.One(ctx, movedMeanwhile(ZoneNoun), sqlMoveZone, id, zone.State, state, message))
}

// CanConfirm tells why there is nothing to confirm; nil if a plan waits for it.
func (z Zone) CanConfirm() error {
	if z.State != ZoneHeld {
		return fault.Conflictf("dns_zone_not_held", "No plan of the zone waits for a confirmation.")
	}
	return nil
}

// ConfirmPlan lets the next synchronization make the updates and deletions that the brake held. The checksum is that of the
// plan that was shown.
func ConfirmPlan(ctx context.Context, tx *intent.Tx, ref scope.Ref[Zone], version int64, checksum string) (Zone, error) {
	before, err := holdZone(ctx, tx.Tx, ref.ID())
	if err != nil {
		return Zone{}, err
	}
	if err := fault.CheckVersion("zone", before.Version, version); err != nil {
		return Zone{}, err
	}
	if err := before.CanConfirm(); err != nil {
		return Zone{}, err
	}
	if Confirmation(before.Plan).Checksum() != checksum {
		return Zone{}, fault.Conflictf("dns_plan_changed", "The plan is another by now. Look at it again.")
	}
	state, err := ZoneLifecycle.Next(before.State, SettingsChanged)
	if err != nil {
		return Zone{}, err
	}
	if err := tx.One(ctx, movedMeanwhile(ZoneNoun), sqlConfirmZone, before.ID, before.State, state); err != nil {
		return Zone{}, fmt.Errorf("confirm a plan: %w", err)
	}
	tx.Touch(ZoneNoun, before.ID)
	after, err := ZoneByID(ctx, tx.Reader, before.ID)
	if err != nil {
		return Zone{}, err
	}
	return after, after.told(ctx, tx, "confirm", map[string]any{"state": before.State},
		map[string]any{"state": after.State, "checksum": checksum, "record_sets": before.PlanTouched})
}

// CanDelete tells why a zone cannot be deleted in its state; nil if it can.
func (z Zone) CanDelete() error {
	if z.State == ZoneSyncing {
		return fault.Conflictf("dns_zone_state", "The zone is being synchronized. Delete it afterwards.")
	}
	return nil
}

// DeleteZone forgets a zone without record sets, and revokes its grants. Nothing is changed on its server.
func DeleteZone(ctx context.Context, tx *intent.Tx, ref scope.Ref[Zone], version int64) error {
	before, err := holdZone(ctx, tx.Tx, ref.ID())
	if err != nil {
		return err
	}
	if err := errors.Join(fault.CheckVersion("zone", before.Version, version), before.CanDelete()); err != nil {
		return err
	}
	if err := noNamesOfOthers(ctx, tx.Reader, before.ID); err != nil {
		return err
	}
	inUse := fault.Conflictf("dns_zone_in_use", "The zone has record sets. Delete them first; in mode observe they stay on the server.")
	for _, sql := range []db.Statement{sqlForgetChoicesOfZone, sqlRevokeGrantsOfZone, sqlDeleteForeignOfZone, sqlDeleteNames, sqlDeleteZone} {
		if _, err := tx.Exec(ctx, sql, before.ID); db.SQLState(err) == foreignKeyViolation {
			return inUse
		} else if err != nil {
			return fmt.Errorf("delete a zone: %w", err)
		}
	}
	tx.Touch(ZoneNoun, before.ID)
	return before.told(ctx, tx, "delete", before.facts(), nil)
}

// OpenKey returns the secret of a zone's key, in base64.
func (z Zone) OpenKey(keys *secret.Keyset) (string, error) {
	plain, err := keys.Open(z.KeySealed, sealedFor(z.ID))
	if err != nil {
		return "", fmt.Errorf("open the key of %s: %w", z, err)
	}
	return string(plain), nil
}
