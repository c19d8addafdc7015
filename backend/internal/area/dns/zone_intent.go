package dns

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/lifecycle"
	"kloigos/backend/internal/kernel/secret"
)

// Changed is what an intent did to an object, for its event. Before is nil if it was created, After if it is gone.
type Changed struct {
	Before, After map[string]any
}

// foreignKeyViolation is the SQLSTATE of a row that others refer to, or whose other is not there.
const foreignKeyViolation = "23503"

func checkVersion(noun string, have, want int64) error {
	if want != 0 && want != have {
		return fault.Conflictf("version_mismatch", "The %s is at version %d, not %d: another request changed it. Reload it.", noun, have, want)
	}
	return nil
}

func movedMeanwhile(noun string) error {
	return fault.Conflictf(noun+"_state", "Another request changed it at the same time. Reload it.")
}

// CreateZone adds a zone to a workspace. Its key is sealed.
func CreateZone(ctx context.Context, tx *db.Tx, keys *secret.Keyset, workspace uuid.UUID, draft ZoneDraft) (Zone, Changed, error) {
	made, err := draft.check("")
	if err != nil {
		return Zone{}, Changed{}, err
	}
	id := uuid.New()
	sealed, err := keys.Seal([]byte(draft.KeySecret), sealedFor(id))
	if err != nil {
		return Zone{}, Changed{}, fmt.Errorf("seal the key of a zone: %w", err)
	}
	taken := fault.Conflictf("dns_zone_exists", "The workspace already has a zone %s.", made.name.Display())
	err = tx.One(ctx, taken, sqlInsertZone, id, workspace, made.name, RFC2136, made.server, draft.AllowPrivate, made.keyName,
		draft.KeyAlgorithm, sealed, made.patterns, draft.Mode, ZoneLifecycle.Initial)
	if err != nil {
		return Zone{}, Changed{}, fmt.Errorf("insert a zone: %w", err)
	}
	zone, err := ZoneByID(ctx, tx.Reader, id)
	return zone, Changed{After: zone.facts()}, err
}

// ChangeZone replaces the settings of a zone, its name apart. An empty secret keeps the key that is there. version is that
// of the zone that the change was made for; 0 for any.
func ChangeZone(ctx context.Context, tx *db.Tx, keys *secret.Keyset, id uuid.UUID, version int64, draft ZoneDraft) (Zone, Changed, error) {
	before, err := holdZone(ctx, tx, id)
	if err != nil {
		return Zone{}, Changed{}, err
	}
	if err := checkVersion("zone", before.Version, version); err != nil {
		return Zone{}, Changed{}, err
	}
	made, err := draft.check(before.Name)
	if err != nil {
		return Zone{}, Changed{}, err
	}
	sealed := before.KeySealed
	if draft.KeySecret != "" {
		if sealed, err = keys.Seal([]byte(draft.KeySecret), sealedFor(id)); err != nil {
			return Zone{}, Changed{}, fmt.Errorf("seal the key of a zone: %w", err)
		}
	}
	state, err := ZoneLifecycle.Next(before.State, ZoneChanged)
	if err != nil {
		return Zone{}, Changed{}, err
	}
	err = tx.One(ctx, movedMeanwhile("dns_zone"), sqlChangeZone, id, before.State, made.server, draft.AllowPrivate, made.keyName,
		draft.KeyAlgorithm, sealed, made.patterns, draft.Mode, state)
	if err != nil {
		return Zone{}, Changed{}, fmt.Errorf("change a zone: %w", err)
	}
	after, err := ZoneByID(ctx, tx.Reader, id)
	return after, Changed{before.facts(), after.facts()}, err
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
	return wrap("move a zone", tx.One(ctx, movedMeanwhile("dns_zone"), sqlMoveZone, id, zone.State, state, message))
}

// ConfirmPlan lets the next synchronization make the updates and deletions that the brake held. The checksum is that of the
// plan that was shown.
func ConfirmPlan(ctx context.Context, tx *db.Tx, id uuid.UUID, version int64, checksum string) (Zone, Changed, error) {
	before, err := holdZone(ctx, tx, id)
	if err != nil {
		return Zone{}, Changed{}, err
	}
	if err := checkVersion("zone", before.Version, version); err != nil {
		return Zone{}, Changed{}, err
	}
	if before.State != ZoneHeld {
		return Zone{}, Changed{}, fault.Conflictf("dns_zone_not_held", "No plan of the zone waits for a confirmation.")
	}
	if Confirmation(before.Plan).Checksum() != checksum {
		return Zone{}, Changed{}, fault.Conflictf("dns_plan_changed", "The plan is another by now. Look at it again.")
	}
	state, err := ZoneLifecycle.Next(before.State, ZoneChanged)
	if err != nil {
		return Zone{}, Changed{}, err
	}
	if err := tx.One(ctx, movedMeanwhile("dns_zone"), sqlConfirmZone, id, before.State, state); err != nil {
		return Zone{}, Changed{}, fmt.Errorf("confirm a plan: %w", err)
	}
	after, err := ZoneByID(ctx, tx.Reader, id)
	return after, Changed{
		map[string]any{"state": before.State},
		map[string]any{"state": after.State, "confirmed": checksum, "record_sets": before.PlanTouched},
	}, err
}

// DeleteZone forgets a zone without record sets. Nothing is changed on its server.
func DeleteZone(ctx context.Context, tx *db.Tx, id uuid.UUID, version int64) (Zone, Changed, error) {
	before, err := holdZone(ctx, tx, id)
	if err != nil {
		return Zone{}, Changed{}, err
	}
	if err := checkVersion("zone", before.Version, version); err != nil {
		return Zone{}, Changed{}, err
	}
	if before.State == ZoneSyncing {
		return Zone{}, Changed{}, fault.Conflictf("dns_zone_state", "The zone is being synchronized. Delete it afterwards.")
	}
	inUse := fault.Conflictf("dns_zone_in_use", "The zone has record sets. Delete them first; in mode observe they stay on the server.")
	for _, sql := range []db.Statement{sqlDeleteForeignOfZone, sqlDeleteNames, sqlDeleteZone} {
		if _, err := tx.Exec(ctx, sql, id); db.SQLState(err) == foreignKeyViolation {
			return Zone{}, Changed{}, inUse
		} else if err != nil {
			return Zone{}, Changed{}, fmt.Errorf("delete a zone: %w", err)
		}
	}
	return before, Changed{Before: before.facts()}, nil
}

// OpenKey returns the secret of a zone's key, in base64.
func (z Zone) OpenKey(keys *secret.Keyset) (string, error) {
	plain, err := keys.Open(z.KeySealed, sealedFor(z.ID))
	if err != nil {
		return "", fmt.Errorf("open the key of %s: %w", z, err)
	}
	return string(plain), nil
}
