package dns

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/lifecycle"
)

// perStatement bounds the rows of one statement.
const perStatement = 1000

// RecordSync writes the report of a synchronization that ended: the states of its zone and of its record sets, and the
// foreign records that it found. A record set that changed meanwhile keeps its state. It can be repeated.
func RecordSync(ctx context.Context, tx *db.Tx, work SyncWork, report Report) (Zone, error) {
	before, err := holdZone(ctx, tx, work.Zone.ID)
	if err != nil {
		return Zone{}, err
	}
	attention := countFailed(work.Sets)
	if !report.Unchanged {
		if attention, err = recordResults(ctx, tx, work, report); err != nil {
			return Zone{}, err
		}
	}
	end := endOf(before, work.Zone, report)
	if end.message == "" && attention > 0 {
		end.message = fmt.Sprintf("Record sets that need attention: %d.", attention)
	}
	state, err := ZoneLifecycle.Next(before.State, end.on)
	if err != nil {
		return Zone{}, err
	}
	err = tx.One(ctx, movedMeanwhile("dns_zone"), sqlEndSync, before.ID, before.State, state, end.message, end.reason, work.Zone.Revision,
		int64(report.Serial), end.negativeTTL, end.plan, end.owned, end.touched)
	if err != nil {
		return Zone{}, fmt.Errorf("record the end of a synchronization: %w", err)
	}
	tx.Touch(ZoneNoun, before.ID)
	return ZoneByID(ctx, tx.Reader, before.ID)
}

// RecordFailure writes what an attempt found before it failed, and its reason. The zone moves with its job.
func RecordFailure(ctx context.Context, tx *db.Tx, work SyncWork, report Report, failure Failure) error {
	if len(report.Results) > 0 {
		if _, err := recordResults(ctx, tx, work, report); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, sqlNoteReason, work.Zone.ID, failure.Reason); err != nil {
		return fmt.Errorf("note why a synchronization failed: %w", err)
	}
	return nil
}

func countFailed(sets []ManagedSet) int {
	failed := 0
	for _, set := range sets {
		if set.State == SetFailed {
			failed++
		}
	}
	return failed
}

// syncEnd is how a synchronization leaves its zone.
type syncEnd struct {
	on              lifecycle.Event
	message, reason string
	negativeTTL     int64
	plan            []byte
	owned, touched  int
}

// endOf decides how the zone ends. before is the zone now, loaded the one that the synchronization worked with.
func endOf(before, loaded Zone, report Report) syncEnd {
	end := syncEnd{on: SyncSucceeded, negativeTTL: int64(report.NegativeTTL)}
	if report.Unchanged {
		end.negativeTTL = before.NegativeTTL
	}
	switch {
	case before.Revision != loaded.Revision: // a plan would be that of another intent, which nobody should confirm
		end.on = SyncOutdated
	case report.Brake != nil:
		end.on, end.reason = SyncHeld, "brake"
		end.message = fmt.Sprintf("The plan updates or deletes %d of %d record sets. That is more than %d %%. Confirm it to go on.",
			report.Brake.Touched, report.Brake.Owned, report.Brake.Percent)
		end.plan, end.owned, end.touched = report.Plan, report.Brake.Owned, report.Brake.Touched
	}
	return end
}

// setRow is a row of sqlRecordResults.
type setRow struct {
	set      ManagedSet
	to       SetState
	message  string
	said     Outcome
	reached  bool
	resolver int64 // seconds for which resolvers may tell what was there before
}

// recordResults writes the results of record sets and the foreign records. It returns how many sets need attention.
func recordResults(ctx context.Context, tx *db.Tx, work SyncWork, report Report) (attention int, err error) {
	byKey := make(map[setKey]SetResult, len(report.Results))
	for _, result := range report.Results {
		byKey[setKey{result.Name, result.Type}] = result
	}
	var rows []setRow
	var gone []uuid.UUID
	ours := make(map[setKey]bool)
	for _, set := range work.Sets {
		key := setKey{set.Name, set.Type}
		result, found := byKey[key]
		row := setRow{set: set, said: result.Outcome}
		var on lifecycle.Event
		switch {
		case set.State == SetDeleting && (!found || result.ID != "" || result.Failure == nil && !staysOurs(result.Outcome, work.Zone.Mode)):
			gone = append(gone, set.ID)
			continue
		case set.State == SetDeleting:
			ours[key] = true
			on, row.message = SetKept, result.keptBecause(report.Brake != nil)
		default:
			ours[key] = true
			on, row.message = result.moves(work.Zone.Mode, report.Brake != nil)
		}
		if row.to, err = SetLifecycle.Next(set.State, on); err != nil {
			return 0, err
		}
		if row.to == SetFailed {
			attention++
		}
		row.reached = on == SetApplied
		row.resolver = int64(report.NegativeTTL)
		if set.LiveTTL != nil {
			row.resolver = *set.LiveTTL
		}
		if row.differs() {
			rows = append(rows, row)
		}
	}
	if err := writeResults(ctx, tx, rows); err != nil {
		return 0, err
	}
	for chunk := range slices.Chunk(gone, perStatement) {
		if _, err := tx.Exec(ctx, sqlForgetDeleted, chunk); err != nil {
			return 0, fmt.Errorf("forget deleted record sets: %w", err)
		}
		tx.Touch(RecordSetNoun, chunk...)
	}
	return attention, recordForeign(ctx, tx, work.Zone, report, ours)
}

// staysOurs reports whether a record set of ours that nobody wants is still on the server and should not be.
func staysOurs(outcome Outcome, mode Mode) bool {
	return mode == Sync && (outcome == Delete || outcome == NotDelegated)
}

func (r SetResult) keptBecause(held bool) string {
	switch {
	case r.Failure != nil:
		return r.Failure.Text
	case held:
		return "The plan of the zone waits for a confirmation."
	case r.Outcome == NotDelegated:
		return r.Text
	}
	return "The synchronization ended before its turn."
}

// differs reports whether there is anything to write.
func (r setRow) differs() bool {
	return r.to != r.set.State || r.message != r.set.StateMessage || r.said != r.set.Outcome ||
		r.reached && (r.set.Adopt != AdoptNone || r.set.LiveRevision != r.set.Revision)
}

func writeResults(ctx context.Context, tx *db.Tx, rows []setRow) error {
	for chunk := range slices.Chunk(rows, perStatement) {
		n := len(chunk)
		set, revision, wait, reached := make([]uuid.UUID, n), make([]int64, n), make([]int64, n), make([]bool, n)
		was, becomes, message, said := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		for i, row := range chunk {
			set[i], revision[i], wait[i], reached[i] = row.set.ID, row.set.Revision, row.resolver, row.reached
			was[i], becomes[i], message[i], said[i] = string(row.set.State), string(row.to), row.message, string(row.said)
		}
		if _, err := tx.Exec(ctx, sqlRecordResults, set, revision, was, becomes, message, said, reached, wait); err != nil {
			return fmt.Errorf("record what became of record sets: %w", err)
		}
		tx.Touch(RecordSetNoun, set...)
	}
	return nil
}

// recordForeign brings the list of foreign records to what the report found, and writes only what differs.
func recordForeign(ctx context.Context, tx *db.Tx, zone Zone, report Report, ours map[setKey]bool) error {
	known, err := foreignOfZone(ctx, tx.Reader, zone.ID)
	if err != nil {
		return fmt.Errorf("list the foreign records that are known: %w", err)
	}
	left := make(map[setKey]ForeignRecord, len(known))
	for _, row := range known {
		left[setKey{row.Name, row.Type}] = row
	}
	var changed []ForeignRecord
	for _, result := range report.Results {
		key := setKey{result.Name, result.Type}
		if result.ID != "" || result.Actual == nil || ours[key] {
			continue
		}
		row := ForeignRecord{
			Name: result.Name, Type: result.Type, TTL: int64(result.Actual.TTL), Contents: result.Actual.Values,
			Outcome: result.Outcome, Message: result.Text,
		}
		have, there := left[key]
		delete(left, key)
		if !there || have.TTL != row.TTL || !slices.Equal(have.Contents, row.Contents) || have.Outcome != row.Outcome || have.Message != row.Message {
			changed = append(changed, row)
		}
	}
	var names, types []string
	for key := range left {
		names, types = append(names, string(key.name)), append(types, string(key.kind))
	}
	if len(names) > 0 {
		if _, err := tx.Exec(ctx, sqlDeleteForeign, zone.ID, names, types); err != nil {
			return fmt.Errorf("forget foreign records: %w", err)
		}
	}
	for chunk := range slices.Chunk(changed, perStatement) {
		var batch db.Batch
		for _, row := range chunk {
			batch.Queue(sqlInsertForeign, zone.ID, row.Name, row.Type, row.TTL, row.Contents, row.Outcome, row.Message, zone.WorkspaceID)
		}
		if err := tx.Send(ctx, &batch); err != nil {
			return fmt.Errorf("record foreign records: %w", err)
		}
	}
	return nil
}

// moves says what a synchronization's result means for a record set, and in which words.
func (r SetResult) moves(mode Mode, held bool) (on lifecycle.Event, message string) {
	switch {
	case r.Failure != nil && r.Failure.Retry:
		return SetOpen, r.Failure.Text
	case r.Failure != nil:
		return SetRefused, r.Failure.Text
	case r.Outcome == InSync:
		return SetApplied, ""
	case r.Outcome.Writes() && held:
		return SetOpen, "The plan of the zone waits for a confirmation."
	case r.Outcome.Writes() && mode == Observe:
		return SetOpen, "The zone is in mode observe, so nothing is changed. " + r.Text
	case r.Outcome.Writes():
		return SetOpen, "The synchronization ended before its turn."
	}
	return SetRefused, r.Text
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
